"""Session titles: how a model is asked for one, and what of its answer is kept (A20)."""

from __future__ import annotations

import re

NEW_SESSION = "New Chat"
MAX_LENGTH = 40
_EXCERPT = 500

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_PREFIX = re.compile(r"^\W*(?:session\s+)?title\W*[:\-]\s*", re.IGNORECASE)
_WRAPPING = "\"'`*_#“”‘’«»„ \t"  # noqa: RUF001 - the quotes that models put around titles
_UNWANTED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def title_prompt(question: str, answer: str) -> str:
    """What the model is asked."""
    return (
        "Write a title for this conversation: at most five words, no quotes, no punctuation at "
        f"the end. Answer with the title only.\n\nUser: {question[:_EXCERPT]}\n\n"
        f"Assistant: {answer[:_EXCERPT]}"
    )


def clean_title(text: str) -> str | None:
    """A model's answer as a title: one line, no think block, quotes or prefix; None if empty."""
    for line in _THINKING.sub("", text).splitlines():
        title = _PREFIX.sub("", _UNWANTED.sub(" ", line).strip(_WRAPPING)).strip(_WRAPPING)
        if title:
            return _shortened(title)
    return None


def fallback_title(question: str) -> str:
    """A title when no model gave one: how the question begins."""
    words = " ".join(_UNWANTED.sub(" ", question).split())
    return _shortened(words) if words else NEW_SESSION


def _shortened(title: str) -> str:
    if len(title) <= MAX_LENGTH:
        return title
    cut = title[: MAX_LENGTH - 1]
    head = cut.rsplit(" ", 1)[0]
    return (head if len(head) > MAX_LENGTH // 2 else cut).rstrip(" ,.;:") + "…"
