"""`grep`: lines of the open folders, in bounded time, off the event loop."""

import asyncio
import os
import random
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import re2  # type: ignore[import-untyped]  # has no types
from hypothesis import given
from hypothesis import strategies as st

from copilot_contracts import Registry
from copilot_core.tools.workspace.folders import Bounds, Folders
from copilot_core.tools.workspace.grep import BadPattern, Grepped, grep

MATCH = Registry.bundled().surface("chatbot").contract("model", "GrepMatch")


def lines(found: Grepped) -> list[tuple[str, int, str]]:
    for match in found.results:
        assert MATCH.violation(match) is None
    return [(match["relative"], match["line"], match["content"]) for match in found.results]


async def in_text(text: bytes, folder: Path, pattern: str, **how: Any) -> list[tuple[int, str]]:
    (folder / "file").write_bytes(text)
    found = await grep(Folders([folder]), pattern, **{"regex": True, "max_results": 500, **how})
    assert not found.truncated
    return [(line, content) for _, line, content in lines(found)]


async def test_lines_by_file_and_number(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("import a\n\ndef A(): pass\n")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "c.md").write_text("no\r\nA here\r\n")
    found = await grep(Folders([tmp_path]), "a")
    assert lines(found) == [
        ("a/c.md", 2, "A here"),
        ("b.py", 1, "import a"),
        ("b.py", 3, "def A(): pass"),
    ]
    assert found.results[0]["file"] == f"{tmp_path}/a/c.md"
    assert not found.truncated
    of_python = await grep(Folders([tmp_path]), "a", file_type="py", case_sensitive=True)
    assert lines(of_python) == [("b.py", 1, "import a"), ("b.py", 3, "def A(): pass")]
    first = await grep(Folders([tmp_path]), "a", max_results=2)
    assert (len(first.results), first.truncated) == (2, True)


@pytest.mark.parametrize(
    ("pattern", "numbers"),
    [
        ("^a$", [1]),
        ("a", [1, 4]),
        (r"b\s*c", [4]),
        (r"a\nb", []),
        ("[^x]b", [4]),
        ("x*", [1, 2, 3, 4, 5]),
        ("^", [1, 2, 3, 4, 5]),
        ("$", [1, 2, 3, 4, 5]),
        ("c$", [3, 4]),
        (r"\d", []),
    ],
)
async def test_a_pattern_is_about_lines(tmp_path: Path, pattern: str, numbers: list[int]) -> None:
    found = await in_text(b"a\nb\r\nc\nab c\n\n", tmp_path, pattern)
    assert [number for number, _ in found] == numbers


async def test_literal_text_is_no_pattern(tmp_path: Path) -> None:
    assert await in_text(b"a+b\naab\n", tmp_path, "A+B", regex=False) == [(1, "a+b")]
    assert await in_text(b"(?i)\n", tmp_path, "(?i", regex=False) == [(1, "(?i)")]
    assert await in_text("NGỮ CẢNH\n".encode(), tmp_path, "ngữ", regex=False) == [(1, "NGỮ CẢNH")]
    assert await in_text(b"x\n", tmp_path, "\ud800", regex=False) == []


async def test_long_lines_are_cut_around_what_fits(tmp_path: Path) -> None:
    ((_, content),) = await in_text(b"a" * 900 + b"needle" + b"b" * 900, tmp_path, "needle")
    assert content == "a" * 100 + "needle" + "b" * 394
    ((_, content),) = await in_text(b"needle" + b"b" * 900, tmp_path, "needle")
    assert content == "needle" + "b" * 494
    assert await in_text(b"a\xffneedle\n", tmp_path, "needle") == [(1, "a\ufffdneedle")]


async def test_files_longer_than_a_piece(tmp_path: Path) -> None:
    text = b"".join(b"%d needle\n%s\n" % (number, b"x" * 997) for number in range(400))
    found = await in_text(text, tmp_path, r"^\d+ needle$")
    assert found == [(2 * number + 1, f"{number} needle") for number in range(400)]
    one = b"x" * 200_000 + b"\nneedle\n"
    assert await in_text(one, tmp_path, "needle") == [(2, "needle")]


async def test_what_isnt_text_or_outside_isnt_searched(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside").write_text("needle")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "zero").symlink_to("/dev/zero")
    (root / "binary").write_bytes(b"\0needle")
    os.mkfifo(root / "pipe")
    (root / "in").write_text("needle")
    assert lines(await grep(Folders([root]), "needle")) == [("in", 1, "needle")]
    assert lines(await grep(Folders([]), "needle")) == []


@pytest.mark.parametrize(
    "pattern", ["(", "[z-a]", "a{2000}", r"\1", "(?=a)", "(?P<a", "\ud800", r"((\pL{100}){100}){9}"]
)
async def test_a_pattern_that_isnt_one(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(BadPattern, match=r"^The pattern isn't a regular expression of RE2's\.$"):
        await grep(Folders([tmp_path]), pattern, regex=True)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|aa)+$",
        "(.*a){30}q",
        "((a?){30}){30}q",
        "[ax][abxy ]{1000}q",
        "(([ab]{1,30}){1,30}x?y?)*q",
        r"(\w+\s?)*\pL{50}!",
    ],
)
async def test_hostile_patterns_end(
    tmp_path: Path, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("copilot_core.tools.workspace.grep.Bounds", partial(Bounds, seconds=1))
    text = "".join(random.Random(1).choices("abxy ", k=200_000))
    for number in range(40):
        (tmp_path / f"{number}").write_text(text + "\n" + "a" * 50_000 + "!\n")
    waited = []

    async def beat() -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.01)
            waited.append(time.monotonic() - began)

    beating = asyncio.create_task(beat())
    began = time.monotonic()
    await grep(Folders([tmp_path]), pattern, regex=True)
    assert time.monotonic() - began < 3
    beating.cancel()
    assert max(waited, default=0) < 1  # the loop went on


async def test_time_and_bytes_end_it(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.write(b"needle\n" + b"x" * 4 * 2**20 + b"\nneedle\n")
    os.truncate(tmp_path / "huge", 100 * 2**30)
    found = await grep(Folders([tmp_path]), "needle")
    assert (lines(found), found.truncated) == ([("huge", 1, "needle")], True)


def test_patterns_arent_kept(tmp_path: Path) -> None:
    asyncio.run(grep(Folders([tmp_path]), "needle", regex=True))
    assert re2._Regexp._make.cache_info().currsize == 0


@given(st.text(max_size=20), st.booleans(), st.booleans())
def test_any_pattern(pattern: str, regex: bool, case_sensitive: bool) -> None:
    folders = Folders([Path(__file__).parent / "nothing"])
    try:
        asyncio.run(grep(folders, pattern, regex=regex, case_sensitive=case_sensitive))
    except BadPattern:
        assert regex
