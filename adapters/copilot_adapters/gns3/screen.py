"""From a console's bytes to the text that a person would read on the screen."""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # OSC: a title, up to BEL or ST
    r"|\x1b[PX^_][^\x1b\n]*(?:\x1b\\)?"  # DCS, SOS, PM, APC: strings up to ST
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor
    r"|\x1b[ -/]*[0-~]?"  # the two-character ones
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain_text(raw: bytes) -> str:
    """Text without ANSI sequences and control characters, lines ended by ``\\n``.

    Backspaces and carriage returns are followed: what was overwritten on a line isn't there.
    """
    text = _ESCAPES.sub("", raw.decode("utf-8", "replace"))
    if "\x08" in text:
        text = _backspaced(text)
    lines = (_last_written(line) for line in text.split("\n"))
    return _CONTROLS.sub("", "\n".join(lines))


def _backspaced(text: str) -> str:
    kept: list[str] = []
    for character in text:
        if character != "\x08":
            kept.append(character)
        elif kept and kept[-1] not in "\r\n":
            kept.pop()
    return "".join(kept)


def _last_written(line: str) -> str:
    parts = [part for part in line.split("\r") if part]
    return parts[-1] if parts else ""


class Capture:
    """Keeps the first and the last half of ``limit`` bytes of what is fed."""

    def __init__(self, limit: int) -> None:
        self._half = max(limit // 2, 1024)
        self._head = bytearray()
        self._tail = bytearray()
        self.left_out = 0

    def feed(self, data: bytes) -> None:
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        excess = len(self._tail) - self._half
        if excess > 0:
            del self._tail[:excess]
            self.left_out += excess

    def ending(self, size: int) -> str:
        """The last ``size`` bytes, as text."""
        raw = self._tail[-size:]
        if len(raw) < size and not self.left_out:
            raw = (self._head + raw)[-size:]
        return plain_text(bytes(raw))

    def text(self) -> str:
        """All that is kept, with a line that says how much was left out between the halves."""
        if not self.left_out:
            return plain_text(bytes(self._head + self._tail))
        note = f"\n[{self.left_out} bytes left out]\n"
        return plain_text(bytes(self._head)) + note + plain_text(bytes(self._tail))
