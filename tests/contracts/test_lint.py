"""The linter, rule by rule: the examples of docs/wire-profile.md are the test data."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from copilot_contracts.lint import RULES, lint

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs/wire-profile.md").read_text()

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
    assert list(SECTIONS) == sorted(SECTIONS, key=list(SECTIONS).index)
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
    assert [str(finding) for finding in lint(ROOT / "schemas")] == []
