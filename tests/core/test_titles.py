"""Generated titles: one line, no think block, quotes or prefix, at most 40 characters (A20)."""

from __future__ import annotations

import pytest

from copilot_core.sessions import NEW_TITLE
from copilot_core.titles import MAX_LENGTH, clean_title, fallback_title

CASES: list[tuple[str, str | None]] = [
    ("Hosts of the lab", "Hosts of the lab"),
    ("  Hosts \t of the lab \r\n", "Hosts of the lab"),
    ('"Hosts"', "Hosts"),
    ("“Hosts”", "Hosts"),
    ("«Hosts»", "Hosts"),
    ("`Hosts`", "Hosts"),
    ("**Hosts**", "Hosts"),
    ("# Hosts", "Hosts"),
    ("Title: Hosts", "Hosts"),
    ("**Title:** Hosts", "Hosts"),
    ('"Title: Hosts"', "Hosts"),
    ("title - Hosts", "Hosts"),
    ("Session Title: Hosts", "Hosts"),
    ("Conversation title:\nHosts", "Hosts"),
    ("Title-case in names", "Title-case in names"),
    ("Entitled: hosts", "Entitled: hosts"),
    ("<think>four hosts?</think>Hosts", "Hosts"),
    ("<think>\nfour\n\nhosts?\n</think>\n\nHosts", "Hosts"),
    ("<THINKING>x</THINKING> Hosts", "Hosts"),
    ("four hosts?</think>Hosts", "Hosts"),
    ("Hosts <think>is that good?", "Hosts"),
    ("Hosts <think>is that good?</think>", "Hosts"),
    ("<think>never ended", None),
    ("\n\nHosts\nHere is why: ...", "Hosts"),
    ("a\x00b\x1b[31mc", "a b [31mc"),
    ("a\u2028b", "a"),
    ("\u202egnp.exe\u202c", "gnp.exe"),
    ("\u2067Hosts\u2069\u200e", "Hosts"),
    ("\ufeffHosts\u200b", "Hosts"),
    ("نص عربي", "نص عربي"),
    ("👩‍💻 lab", "👩‍💻 lab"),
    ("", None),
    (" \n\t ", None),
    ('""', None),
    ("\u200b\u200e", None),
    ("Title:", None),
]


@pytest.mark.parametrize(("answer", "title"), CASES)
def test_a_models_answer_as_a_title(answer: str, title: str | None) -> None:
    assert clean_title(answer) == title


@pytest.mark.parametrize(
    "long", ["word " * 40, "x" * 200, "界" * 200, "a" * 39 + " b", "word, " * 40, " " * 300 + "end"]
)
def test_length(long: str) -> None:
    title = clean_title(long)
    assert title is not None
    assert len(title) <= MAX_LENGTH
    assert title == title.strip()
    assert title.startswith(long.strip()[:20])


def test_40_characters_stay() -> None:
    assert clean_title("x" * 40) == "x" * 40


def test_a_title_without_a_model() -> None:
    assert fallback_title("which hosts\nare in  this lab?") == "which hosts are in this lab?"
    assert fallback_title("\u202e\n") == NEW_TITLE
    assert len(fallback_title("which hosts " * 30)) <= MAX_LENGTH


@pytest.mark.parametrize("hostile", ["<think>" * 20_000, "</think>" * 20_000, "-" * 100_000])
def test_titles_take_linear_time(hostile: str) -> None:
    clean_title(hostile)  # within the test's time
