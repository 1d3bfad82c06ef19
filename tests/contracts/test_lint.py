"""The linter, rule by rule: the examples of docs/wire-profile.md are the test data."""

import json
import os
import re
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copilot_contracts import Registry
from copilot_contracts.lint import RULES, lint
from copilot_contracts.mutants import mutants
from copilot_contracts.profile import KNOWN

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs/wire-profile.md").read_text()

SURFACE = json.loads((ROOT / "schemas/surface.schema.json").read_text())

Files = dict[str, Any]


def _sections() -> dict[str, tuple[str, Files, Files]]:
    """Of each rule: its text, its bad and its good example."""
    found = {}
    for name, body in re.findall(r"^### ([A-Z_]+)\n(.*?)(?=^##)", DOCUMENT, re.M | re.S):
        blocks = re.findall(r"^(Bad|Good):\n\n```json\n(.*?)```", body, re.M | re.S)
        assert [label for label, _ in blocks] == ["Bad", "Good"], name
        found[name] = (body.split("Bad:")[0], *(json.loads(text) for _, text in blocks))
    return found


SECTIONS = _sections()
NOTES: Files = json.loads(re.findall(r"```json\n(.*?)```", DOCUMENT, re.S)[-1])


def patched(value: Any, patch: Any) -> Any:
    """A JSON merge patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(value) if isinstance(value, dict) else {}
    for key, change in patch.items():
        if change is None:
            result.pop(key, None)
        else:
            result[key] = patched(result.get(key), change)
    return result


def write(folder: Path, patch: Files) -> Path:
    """The notes surface with a change, on disk."""
    surface = folder / "notes"
    for path, content in patched(NOTES, patch).items():
        file = surface / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str) and content.startswith("link to "):
            file.symlink_to(content.removeprefix("link to "))
        else:
            file.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
    return surface


def rules(folder: Path, patch: Files) -> set[str]:
    return {finding.rule for finding in lint(write(folder, patch))}


def test_every_rule_is_in_the_document() -> None:
    assert SECTIONS.keys() == RULES.keys()
    for name, rule in RULES.items():
        assert SECTIONS[name][0].strip().startswith("A warning:") == (rule.level == "warning"), name


def test_profile_rules_stand_under_profile() -> None:
    profile = DOCUMENT.split("\n## Profile\n")[1]
    for name, rule in RULES.items():
        assert (f"### {name}\n" in profile) == (rule.group == "profile"), name


@pytest.mark.parametrize("rule", SECTIONS)
def test_bad_example(rule: str, tmp_path: Path) -> None:
    assert rules(tmp_path, SECTIONS[rule][1]) == {rule}


@pytest.mark.parametrize("rule", SECTIONS)
def test_good_example(rule: str, tmp_path: Path) -> None:
    assert rules(tmp_path, SECTIONS[rule][2]) == set()


def test_the_example_surface_is_clean(tmp_path: Path) -> None:
    assert lint(write(tmp_path, {})) == []


def test_our_own_surfaces_are_clean() -> None:
    """But for the key `_id`, which the document of `chatbot` gives its conversations."""
    found = [f for f in lint(ROOT / "schemas") if f.rule != "PROPERTY_ALIASED"]
    assert [str(finding) for finding in found] == []


def test_a_finding_says_where(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "surface.json").write_text(
        "{\n"
        '  "name": "notes", "version": "1.0.0", "title": "Notes", "description": "Notes.",\n'
        '  "models": {\n'
        '    "Ä": { "schema": "a.json" }, "Missing": { "schema": "missing.json" }\n'
        "  }\n"
        "}\n"
    )
    (folder / "a.json").write_text(
        '{ "$schema": "https://json-schema.org/draft/2020-12/schema",\n'
        '  "title": "Ä", "description": "An \\u00c4.", "type": "string",\n'
        '\t"examples": [\n'
        '    "one", [],\r\n'
        '    {"é": 1}, 2 ], "format": "x"}'
    )
    found = [(Path(f.path).name, f.line, f.column, f.rule) for f in lint(folder)]
    assert found == [
        ("a.json", 2, 3, "TITLE_NOT_PASCAL_CASE"),
        ("a.json", 4, 12, "EXAMPLE_INVALID"),
        ("a.json", 5, 5, "EXAMPLE_INVALID"),
        ("a.json", 5, 15, "EXAMPLE_INVALID"),
        ("a.json", 5, 20, "FORMAT_USED"),
        ("surface.json", 4, 47, "FILE_MISSING"),
    ]
    assert str(lint(folder)[-1]).startswith(f"{folder}/surface.json:4:47: FILE_MISSING There is")


@pytest.mark.parametrize(
    ("content", "line", "column", "message"),
    [
        (b"", 1, 1, "not JSON"),
        (b'{"a": 1,}', 1, 9, "must be a key"),
        (b'{"a" 1}', 1, 6, "colon"),
        (b'{"a": 1 "b"}', 1, 9, "comma"),
        (b"[1 2]", 1, 4, "comma"),
        (b'{"a":\n  tru}', 2, 3, "not JSON"),
        (b'{"a":\n "\xff"}', 2, 3, "not UTF-8"),
        (b'\xef\xbb\xbf{"a": 1}', 1, 1, "byte order mark"),
        (b'{"a": 1} x', 1, 10, "follows"),
        (b'{"a": NaN}', 1, 7, "not JSON"),
        (b'{"a": 1e999}', 1, 7, "no number"),
        (b'{"a": ' + b"9" * 5000 + b"}", 1, 7, "not JSON"),
        (b'{"a": "\\ud800"}', 1, 7, "surrogate"),
        (b'{"a": "x\ny"}', 1, 9, "not JSON"),
        (b"{'a': 1}", 1, 2, "must be a key"),
    ],
)
def test_what_is_not_json(
    content: bytes, line: int, column: int, message: str, tmp_path: Path
) -> None:
    file = write(tmp_path, {}) / "models/author.json"
    file.write_bytes(content)
    (finding,) = lint(tmp_path / "notes")
    assert (finding.path, finding.line, finding.column) == (str(file), line, column)
    assert finding.rule == "INVALID_JSON"
    assert message in finding.message


def test_a_folder_of_surfaces(tmp_path: Path) -> None:
    write(tmp_path, {"events/end.json": {"format": "x"}})
    (tmp_path / "notes").rename(tmp_path / "memos")
    write(tmp_path, {"events/end.json": {"format": "x"}})
    found = [(Path(f.path).relative_to(tmp_path).parts[0], f.rule) for f in lint(tmp_path)]
    assert found == [
        ("memos", "FORMAT_USED"),
        ("memos", "SURFACE_NAME"),
        ("notes", "FORMAT_USED"),
    ]


def test_only_a_folder_can_be_linted(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError, match=r"nowhere: lint reads a folder"):
        lint(tmp_path / "nowhere")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder = write(tmp_path, {})
    os.mkfifo(folder / "models/tag.json")
    (folder / "models/folder.json").mkdir()
    assert {finding.rule for finding in lint(folder)} == {"INVALID_JSON", "FILE_UNUSED"}


def _doubling(combine: str) -> Files:
    """Schemas that double at each of 40 refs."""
    definitions = {
        f"d{level}": {combine: [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(40)
    }
    return {
        "models/author.json": {
            "$ref": "#/$defs/d0",
            "type": None,
            "$defs": {**definitions, "d40": {"type": "string"}},
        }
    }


BOMBS: dict[str, Files] = {
    "anyOf doubles": _doubling("anyOf"),
    "allOf doubles": _doubling("allOf"),
    "properties double": {
        "models/author.json": {
            "$ref": "#/$defs/d0",
            "type": None,
            "$defs": {
                **{
                    f"d{level}": {
                        "type": "object",
                        "properties": {
                            key: {"$ref": f"#/$defs/d{level + 1}"} for key in ("a", "b")
                        },
                    }
                    for level in range(40)
                },
                "d40": {"type": "string"},
            },
        }
    },
    "a wide union": {
        "models/author.json": {"type": None, "anyOf": [{"const": n} for n in range(9000)]}
    },
    "a regular expression": {
        "models/author.json": {"pattern": "^(a+)+$", "examples": ["a" * 5000 + "!"]}
    },
    "a large regular expression": {"models/author.json": {"pattern": "((a{999}){999}){999}"}},
    "many defaults": {
        "models/author.json": {
            "type": "object",
            "properties": {f"p{n}": {"$ref": "#", "default": {}} for n in range(5000)},
        }
    },
    "many constants": {
        "models/author.json": {
            "type": "object",
            "properties": {f"p{n}": {"const": str(n)} for n in range(5000)},
        }
    },
    "many errors": {"models/author.json": {"examples": [[[n]] for n in range(20000)]}},
    "long keys": {"models/author.json": {"x-" + "k" * 500_000: 1}},
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_schemas_of_strangers_take_bounded_time(bomb: str, tmp_path: Path) -> None:
    folder = write(tmp_path, BOMBS[bomb])
    start = time.process_time()
    findings = lint(folder)
    assert time.process_time() - start < 20
    assert findings or bomb == "many constants"
    assert all(len(finding.message) < 1000 for finding in findings)


SLIPS = mutants(
    {
        "enum": ["#", "#/$defs/a", "../models/author.json", "string", "object", "note"],
        "properties": {key: {} for key in (*KNOWN, *SURFACE["properties"])},
    },
    st.just(NOTES),
)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(SLIPS)
def test_a_slip_is_found_or_harmless(files: Any) -> None:
    """No slip breaks the linter, and what it finds no error in is a surface that loads."""
    files = files if isinstance(files, dict) else {}
    with TemporaryDirectory() as folder:
        surface = Path(folder) / "notes"
        surface.mkdir()
        for path, content in files.items():
            file = surface / path
            file.parent.mkdir(exist_ok=True)
            file.write_text(json.dumps(content))
        if not any(finding.level == "error" for finding in lint(folder)):
            Registry.from_folder(folder)
