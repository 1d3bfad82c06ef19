"""A pattern of the wire profile means the same to every engine that reads it."""

import json
import re
import shutil
import subprocess
import time
from typing import Annotated

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import StringConstraints, TypeAdapter, ValidationError

from copilot_contracts.patterns import (
    PatternError,
    SlowPatternError,
    check_pattern,
    python_pattern,
)

PORTABLE = [
    "",
    "^[A-Za-z0-9_-]{1,64}$",
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z$",
    "^[a-z][a-z0-9]*(-[a-z0-9]+)*$",
    r"^([a-z0-9_]+/)*[A-Za-z0-9_.-]+\.json$",
    r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$",
    "([0-9]{1,3}\\.){3}",
    "([a-z]{2}){3}",
    "(?:a|b)*?c",
    r"[^ \t\n\r\v\f]",
    r"^[\s\S]{0,9}\u00e9\x41\/\]$",
    "[-a]|[a-]|[\\-a]|[a^]",
    "^😀+$",
    "(a?b)*",
    "^a$|^b",
]
NOT_PORTABLE = [
    (r"\d", "write \\[0-9\\]"),
    (r"^\w+$", "write \\[A-Za-z0-9_\\]"),
    (r"\S", "characters meant"),
    (r"[\s]", "characters meant"),
    (r"\bx", "doesn't mean the same"),
    (r"\p{L}", "doesn't mean the same"),
    (r"(a)\1", "doesn't mean the same"),
    (r"\0", "doesn't mean the same"),
    ("a.b", "other line ends"),
    ("(?=a)", "only `\\(\\?:`"),
    ("(?<name>a)", "only `\\(\\?:`"),
    ("(?i)a", "only `\\(\\?:`"),
    ("a{,3}", "count"),
    ("a{3", "count"),
    ("a{3,2}", "wrong way round"),
    ("[b-a]", "wrong way round"),
    ("[]a]", "empty class"),
    ("[^]", "empty class"),
    ("[a", "not closed"),
    ("(a", "not closed"),
    ("a)", "closes no group"),
    ("[[a]", "in a class"),
    ("[a&&b]", "operator"),
    ("[a--b]", "operator"),
    ("[+--b]", "operator"),
    ("x**", "without a group"),
    ("x++", "without a group"),
    ("*x", "nothing stands before"),
    ("^*", "anchor"),
    ("}", "write"),
    ("a\\", "backslash"),
    (r"\ud800", "hexadecimal"),
    (r"\u12", "hexadecimal"),
    ("(" * 20 + ")" * 20, "deeper"),
    ("a" * 1001, "longer"),
]
SLOW = [
    "(a+)+$",
    "(a*)*",
    "(a|a)*$",
    "(a|ab|b)*$",
    "(a|b+)*c",
    "([a-z]+[0-9]*)+$",
    "((ab)*c?)*$",
    "a*a*a*a*b",
    "(a{1000}){1000}",
]


@pytest.mark.parametrize("pattern", PORTABLE)
def test_portable(pattern: str) -> None:
    check_pattern(pattern)


@pytest.mark.parametrize(("pattern", "why"), NOT_PORTABLE)
def test_not_portable(pattern: str, why: str) -> None:
    with pytest.raises(PatternError, match=why) as raised:
        check_pattern(pattern)
    assert not isinstance(raised.value, SlowPatternError)


@pytest.mark.parametrize("pattern", SLOW)
def test_slow(pattern: str) -> None:
    with pytest.raises(SlowPatternError):
        check_pattern(pattern)


PIECES = (
    r"a b é 😀 [ab] [^a] [a-c] [\s\S] [+--a] \n \. \u00e9 \/ ^ $ "
    r"| ( (?: ) * + ? {2} {0,2} {1,} *? -"
)
patterns = st.lists(st.sampled_from(PIECES.split()), max_size=8).map("".join)
texts = st.lists(st.text("abcé😀\n. -/\u2028\x85", max_size=6), min_size=1, max_size=5)


def accepted(pattern: str) -> bool:
    try:
        check_pattern(pattern)
    except PatternError:
        return False
    return True


@given(patterns, texts)
@settings(suppress_health_check=[HealthCheck.filter_too_much], max_examples=300, deadline=None)
def test_rust_and_python_agree(pattern: str, texts: list[str]) -> None:
    assume(accepted(pattern))
    gate = jsonschema_rs.Draft202012Validator({"pattern": pattern})
    model = TypeAdapter(Annotated[str, StringConstraints(pattern=pattern)])
    python = re.compile(python_pattern(pattern))
    for text in texts:
        matches = python.search(text) is not None
        assert gate.is_valid(text) == matches
        try:
            model.validate_python(text)
        except ValidationError:
            assert not matches
        else:
            assert matches


@pytest.mark.node
def test_javascript_agrees() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    texts = [
        "",
        "a",
        "ab",
        "lab-7",
        "a\n",
        "é",
        "😀😀",
        "1.2.3.4",
        "a/b.json",
        "\u2028",
        "x y",
        "aba",
    ]
    script = """
      const [patterns, texts] = JSON.parse(require('fs').readFileSync(0, 'utf8'));
      console.log(JSON.stringify(patterns.map(p => texts.map(t => new RegExp(p, 'u').test(t)))));
    """
    ran = subprocess.run(
        [node, "-e", script],
        input=json.dumps([PORTABLE, texts]),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(ran.stdout) == [
        [re.search(python_pattern(pattern), text) is not None for text in texts]
        for pattern in PORTABLE
    ]


@given(patterns)
@settings(suppress_health_check=[HealthCheck.filter_too_much], deadline=None)
def test_no_accepted_pattern_is_slow(pattern: str) -> None:
    assume(accepted(pattern))
    start = time.process_time()
    for char in "ab":
        re.search(python_pattern(pattern), char * 40 + "\x00")
    assert time.process_time() - start < 1
