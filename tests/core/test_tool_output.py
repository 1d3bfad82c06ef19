"""A tool's result as text: decision A8."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copilot_core.tools.output import tool_text


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        ("PC1> show ip\r\nIP: 10.0.0.1\r\n", "PC1> show ip\nIP: 10.0.0.1\n"),
        ("\x1b[1;31mred\x1b[0m \x1b[?25lhidden", "red hidden"),
        ("\x1b]0;title\x07text \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "text link"),
        ("\x1b]0;no end\nnext line", "\nnext line"),
        ("\x9b31mC1\x9b0m \x1b(Bcharset \x1bMup \x1b", "C1 charset up "),
        ("bell\x07 nul\x00 del\x7f tab\t", "bell nul del tab\t"),
        ("50%\r100%\r\r\n", "50%\n100%\n"),
        ("half \ud83d whole \ud83d\ude00", "half \ufffd whole 😀"),
        ("Grüße, 世界", "Grüße, 世界"),
        ("", ""),
    ],
)
def test_terminal_sequences_and_controls_are_gone(printed, told):
    assert tool_text(printed) == (told, None)
    assert tool_text({"output": [printed]}) == (
        json.dumps({"output": [told]}, ensure_ascii=False, separators=(",", ":")),
        None,
    )


def test_long_text_keeps_head_and_tail():
    text, size = tool_text("head" + "x" * 100_000 + "tail")
    assert size == 100_008
    assert 16_000 < len(text) <= 16 * 1024
    assert text.startswith("headxxx")
    assert text.endswith("xxxtail")
    assert "bytes or more left out" in text


def test_a_long_object_stays_json_with_its_short_strings_whole():
    result = {
        "items": [
            {"id": f"node-{at}", "output": f"{at} head " + "é\n" * 20_000 + "tail"}
            for at in range(3)
        ]
    }
    text, size = tool_text(result)
    assert size > 180_000
    assert 8 * 1024 < len(text.encode()) <= 16 * 1024
    for at, item in enumerate(json.loads(text)["items"]):
        assert item["id"] == f"node-{at}"
        assert item["output"].startswith(f"{at} head ")
        assert item["output"].endswith("tail")


def test_an_object_of_many_short_strings_becomes_plain_text():
    result = {"templates": [f"template {at}" for at in range(50_000)]}
    start = time.process_time()
    text, size = tool_text(result)
    assert time.process_time() - start < 1
    assert len(text) <= 16 * 1024 < size
    assert text.startswith('{"templates":["template 0"')
    assert text.endswith('"template 49999"]}')


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text() | st.floats(-1, 1),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(deadline=None)
@given(st.text() | st.dictionaries(st.text(), json_values), st.integers(1, 300))
def test_any_result_is_within_its_bound_and_strict(result, bound):
    whole, size = tool_text(result, max_bytes=10**9)
    assert size is None
    if not isinstance(result, str):
        json.loads(whole)
    text, size = tool_text(result, max_bytes=bound)
    assert len(text.encode()) <= bound
    assert (size is None) == (text == whole)
    assert size in {None, len(whole.encode())}
    assert not set(text) & {"\x1b", "\x00", "\x7f", "\x9b"}
