"""What a tool returns, as the text that a model and a reader get (decision A8)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

from copilot_core.text import without_surrogates

if TYPE_CHECKING:
    from copilot_core.ports import JsonObject

# ECMA-48: CSI sequences; OSC, DCS, SOS, PM and APC strings; other escapes; their 8-bit forms.
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
_LINE_END = re.compile(r"\r+\n|\r")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

# A string inside a result isn't cut shorter than this, in bytes.
_SHORTEST = 200


def tool_text(result: JsonObject | str, *, max_bytes: int = 16 * 1024) -> tuple[str, int | None]:
    """A result as text of at most ``max_bytes`` of UTF-8, and its whole size if it was cut.

    An object is strict JSON, text is plain: without terminal sequences, control characters and
    lone surrogates, lines ended by LF. Of what is too long the head and the tail are kept: of the
    longest strings in an object, so that it stays JSON; where that isn't enough, of the whole
    text, which then is plain text.
    """
    cleaned = _cleaned(result)
    text = _text(cleaned)
    size = len(text.encode())
    if size <= max_bytes:
        return text, None
    return _json_within(cleaned, max_bytes) or head_and_tail(text, max_bytes), size


def plain(text: str) -> str:
    """``text`` without terminal sequences, control characters and lone surrogates."""
    if text.isprintable():
        return text
    text = _LINE_END.sub("\n", _SEQUENCES.sub("", text))
    return without_surrogates(_CONTROLS.sub("", text))


def head_and_tail(text: str, max_bytes: int) -> str:
    """The beginning and the end of ``text``, and between them how much was left out."""
    data = text.encode()
    if len(data) <= max_bytes:
        return text
    marker = f"\n[... {len(data) - max_bytes} bytes or more left out ...]\n"
    room = max(max_bytes - len(marker), 0) // 2
    if room < 1:
        return data[:max_bytes].decode(errors="ignore")
    return data[:room].decode(errors="ignore") + marker + data[-room:].decode(errors="ignore")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _json_within(value: Any, max_bytes: int) -> str | None:
    """``value`` as JSON with its long strings cut, as little as is enough; None if it can't be."""
    if isinstance(value, str):
        return None
    longest = max_bytes
    shortest = _text(_shortened(value, _SHORTEST))
    if len(shortest.encode()) > max_bytes:
        return None
    while longest > _SHORTEST:
        text = _text(_shortened(value, longest))
        if len(text.encode()) <= max_bytes:
            return text
        longest = longest * 3 // 4
    return shortest


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return plain(value)
        case dict():
            return {plain(str(key)): _cleaned(part) for key, part in value.items()}
        case list() | tuple():
            return [_cleaned(part) for part in value]
        case _:
            return value


def _shortened(value: Any, longest: int) -> Any:
    match value:
        case str():
            return head_and_tail(value, longest)
        case dict():
            return {key: _shortened(part, longest) for key, part in value.items()}
        case list():
            return [_shortened(part, longest) for part in value]
        case _:
            return value
