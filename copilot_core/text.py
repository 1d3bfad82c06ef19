"""Text that strict UTF-8 can carry, and where a message has it."""

from __future__ import annotations

from typing import Any


def without_surrogates(text: str) -> str:
    """``text`` with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class SurrogateFilter:
    """``without_surrogates`` over text that comes in pieces: a pair may be split between two."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        """The text that is sure by now."""
        if piece.isascii() and not self._half:
            return piece
        text = self._half + piece
        self._half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return without_surrogates(text)

    @property
    def waiting(self) -> bool:
        """Whether half of a pair is held back."""
        return bool(self._half)

    def rest(self) -> str:
        """What is left when no piece follows."""
        half, self._half = self._half, ""
        return without_surrogates(half)


def plain_text(content: str | list[Any]) -> str:
    """The text of a LangChain message's content: a string, or blocks of which some are text."""
    if isinstance(content, str):
        return content
    return "".join(
        block if isinstance(block, str) else str(block.get("text") or "")
        for block in content
        if isinstance(block, str) or block.get("type") in {"text", "output_text"}
    )
