"""Session titles: how a model is asked for one, and what of its answer is kept (A20)."""

from __future__ import annotations

import re

from copilot_core.sessions import NEW_TITLE

MAX_LENGTH = 40
_EXCERPT = 500

# Some servers send a think block without its beginning, and a cut one has no end.
_THINKING = re.compile(
    r"<think(?:ing)?>.*?</think(?:ing)?>"
    r"|\A(?:(?!<think).)*</think(?:ing)?>"
    r"|<think(?:ing)?>.*\Z",
    re.DOTALL | re.IGNORECASE,
)
_PREFIX = re.compile(
    r"(?:(?:session|chat|conversation)\s+)?title\W*?(?::|\s[-–—]\s)\s*",  # noqa: RUF001 - dashes
    re.IGNORECASE,
)
_WRAPPING = "\"'`*_#“”‘’‚„«»‹›「」『』 \t"  # noqa: RUF001 - the quotes that models put around titles
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# Marks and overrides of direction, which could turn the text around the title about; and
# characters that show nothing. Joiners stay: scripts and emoji need them.
_INVISIBLE = re.compile(r"[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]")


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
        title = _without_prefix(_one_line(line).strip(_WRAPPING)).strip(_WRAPPING)
        if title:
            return _shortened(title)
    return None


def fallback_title(question: str) -> str:
    """A title when no model gave one: how the question begins."""
    return _shortened(_one_line(question)) or NEW_TITLE


def _one_line(text: str) -> str:
    return " ".join(_INVISIBLE.sub("", _CONTROLS.sub(" ", text)).split())


def _without_prefix(title: str) -> str:
    prefix = _PREFIX.match(title)
    return title[prefix.end() :] if prefix else title


def _shortened(title: str) -> str:
    if len(title) <= MAX_LENGTH:
        return title
    cut = title[: MAX_LENGTH - 1]
    head = cut.rsplit(" ", 1)[0]
    return (head if len(head) > MAX_LENGTH // 2 else cut).rstrip(" ,.;:") + "…"
