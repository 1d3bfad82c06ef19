"""A recorded stream against its surface's contracts.

Three forms are read: the raw bytes of an SSE response, JSON lines (an event a line), and one JSON
array of events. With named framing an event of the JSON forms is `{"event": name, "data": {}}`.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, NoReturn

from . import sse
from .explain import show_key
from .gate import Gate
from .registry import Surface
from .stream import StreamContract
from .strict_json import repair
from .violations import ContractViolation, OrderViolation

__all__ = ["StreamFinding", "verify_stream"]

_BOM = b"\xef\xbb\xbf"
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class StreamFinding:
    """One thing that is wrong in a recording."""

    #: The event's place in the stream, counted from 1.
    position: int
    #: The line of the file that its block or value begins at, counted from 1.
    line: int
    #: A JSON Schema keyword, or a rule in capitals (those of NotJson and OrderViolation;
    #: `UNKNOWN_EVENT`, `PLACEHOLDER`; and `JSON`, `UTF8`, `FRAMING`, `SIZE`, `UNFINISHED`).
    rule: str
    message: str


def verify_stream(surface: Surface, chunks: bytes | Iterable[bytes]) -> list[StreamFinding]:
    """All that is wrong with one recorded stream of the surface, in the order of the file.

    `chunks` are its bytes, cut anywhere. An empty recording is one that stopped without its last
    event.
    """
    check = _Check(surface)
    chunks = iter([chunks] if isinstance(chunks, bytes) else chunks)
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= len(_BOM) and head.removeprefix(_BOM).lstrip():
            break
    begin = head.removeprefix(_BOM).lstrip()[:1]
    lines = _lines(chain([head], chunks))
    if begin == b"[":
        _read_array(check, b"\n".join(line for _, line, _ in lines))
    elif begin == b"{":
        for number, line, _ in lines:
            line = line.removeprefix(_BOM) if number == 1 else line
            if line.strip():
                check.event(number, None, line)
    else:
        _read_sse(check, lines)
    check.finish()
    return check.findings


class _Check:
    """The events of one recording, as they come."""

    def __init__(self, surface: Surface) -> None:
        self.findings: list[StreamFinding] = []
        self.line = 1
        self._stream = StreamContract(surface, Gate("enforce"))
        self._state = surface.order.start()

    def event(self, line: int, sse_event: str | None, data: bytes | str) -> None:
        """One event: its JSON, and the name that its SSE block had."""
        self.line = line
        try:
            value = _parsed(data)
        except UnicodeDecodeError:
            self.found("UTF8", "the data is not UTF-8.")
        except (ValueError, RecursionError) as error:
            why = error if isinstance(error, ValueError) else "nested too deeply"
            self.found("JSON", f"the data is not strict JSON: {why}.")
        else:
            if repair(value) != value:
                self.found("UTF8", "the data holds a lone surrogate.")
            self.value(self._framed(sse_event, value))
            return
        self._state.skip("")

    def value(self, event: Any) -> None:
        """One event as a value."""
        name = ""
        try:
            name, data = self._stream.named(event)
            violation = self._stream.surface.contract("event", name).violation(data)
            if violation is not None:
                self.found(violation.rule, str(violation))
            self._state.step(name, data)
        except (ContractViolation, OrderViolation) as refused:
            self.found(refused.rule, str(refused))
            self._state.skip(name)

    def found(self, rule: str, message: str) -> None:
        """A finding at the event that comes next in the stream."""
        self.findings.append(StreamFinding(self._state.position + 1, self.line, rule, message))

    def finish(self) -> None:
        try:
            self._state.finish()
        except OrderViolation as violation:
            self.found(violation.rule, str(violation))

    def _framed(self, sse_event: str | None, value: Any) -> Any:
        if sse_event is None:
            return value
        if self._stream.tag is None:
            return {"event": sse_event, "data": value}
        if sse_event != "message":
            self.found(
                "FRAMING",
                f"the SSE field `event` says {show_key(sse_event) or 'something'}; this surface "
                f"names its events in the data, at `{self._stream.tag}`.",
            )
        return value


def _read_sse(check: _Check, lines: Iterator[tuple[int, bytes, bool]]) -> None:
    decoder = sse.Decoder()
    begin: int | None = None  # of the block being read
    number = 1
    for number, line, ended in lines:
        check.line = begin = begin or number
        try:
            line.decode()
        except UnicodeDecodeError:
            check.found("UTF8", f"line {number} is not UTF-8.")
        try:
            for event in decoder.feed(line + b"\n" if ended else line):
                check.event(begin, event.event, event.data)
        except sse.EventTooLargeError as error:
            check.found("SIZE", str(error))
            return
        if not line or line.startswith(b":"):
            begin = None if not line or begin == number else begin
    unfinished = decoder.close()
    if unfinished is None:
        check.line = number
    else:
        check.found(
            "UNFINISHED",
            f"the recording ends inside a block ({unfinished.size} bytes): readers discard it.",
        )


def _read_array(check: _Check, content: bytes) -> None:
    try:
        text = content.removeprefix(_BOM).decode()
    except UnicodeDecodeError:
        check.found("UTF8", "the recording is not UTF-8.")
        return
    line, seen = 1, 0
    at = _skip(text, 0) + 1
    while True:
        at = _skip(text, at)
        line, seen = line + text.count("\n", seen, at), at
        check.line = line
        if text[at : at + 1] == "]":
            break
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            why = error if isinstance(error, ValueError) else "nested too deeply"
            check.found("JSON", f"the array is not strict JSON: {why}.")
            return
        check.value(value)
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at += 1
        elif text[at : at + 1] != "]":
            check.found("JSON", "an event is followed by neither `,` nor `]`.")
            return
    if text[at + 1 :].strip():
        check.found("JSON", "something follows the array.")


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("an object has a key twice")
    return value


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_once)


def _parsed(data: bytes | str) -> Any:
    return _DECODER.decode(data.decode() if isinstance(data, bytes) else data)


def _lines(chunks: Iterable[bytes]) -> Iterator[tuple[int, bytes, bool]]:
    """Lines that end with LF, CR or CRLF: number, content, and whether it was ended."""
    number, after_cr = 1, False
    rest: list[bytes] = []  # of a line that goes on
    for chunk in chunks:
        if after_cr and chunk[:1] == b"\n":
            chunk, after_cr = chunk[1:], False
        if not chunk:
            continue
        after_cr = chunk.endswith(b"\r")
        first, *more = chunk.splitlines(keepends=True)
        for line in (b"".join([*rest, first]), *more) if _ends(first) else (first, *more):
            if not _ends(line):
                rest.append(line)
                break
            rest.clear()
            yield number, line.rstrip(b"\r\n"), True
            number += 1
    if rest:
        yield number, b"".join(rest), False


def _ends(line: bytes) -> bool:
    return line.endswith((b"\n", b"\r"))
