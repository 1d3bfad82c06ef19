"""A recorded stream against its surface's contracts.

Three forms are read: the raw bytes of an SSE response, JSON lines (an event a line), and one JSON
array of events. With named framing an event of the JSON forms is `{"event": name, "data": {}}`.
"""

import contextlib
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

MAX_FINDINGS = 1000

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
    #: `UNKNOWN_EVENT`, `PLACEHOLDER`; and `JSON`, `UTF8`, `FRAMING`, `SIZE`, `UNFINISHED`,
    #: `STOPPED`).
    rule: str
    message: str


def verify_stream(surface: Surface, chunks: bytes | Iterable[bytes]) -> list[StreamFinding]:
    """All that is wrong with one recorded stream of the surface, in the order of the file.

    `chunks` are its bytes, cut anywhere. An empty recording is one that stopped without its last
    event. Time grows with the bytes, memory doesn't: reading stops, with a finding, at a line, an
    event or an array larger than `sse.MAX_EVENT_BYTES`, and after 1,000 findings.
    """
    check = _Check(surface)
    with contextlib.suppress(_StoppedError):
        _read(check, _lines([chunks] if isinstance(chunks, bytes) else chunks))
        check.finish()
    return check.findings


class _StoppedError(Exception):
    """There are more findings than anybody reads."""


_Lines = Iterator[tuple[int, bytes, bool]]


def _read(check: "_Check", lines: _Lines) -> None:
    """The first line that isn't blank tells the form."""
    blank: list[tuple[int, bytes, bool]] = []
    for number, line, ended in lines:
        begin = _without_bom(number, line).lstrip()[:1]
        if begin:
            lines = chain([(number, line, ended)], lines)
            break
        # Of blank lines the last is enough for the decoder: it begins a block after them.
        blank = [(number, line, ended)]
    else:
        begin = b""
    if begin == b"[":
        _read_array(check, lines)
    elif begin == b"{":
        _read_json_lines(check, lines)
    else:
        _read_sse(check, chain(blank, lines))


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
        position = self._state.position + 1
        if len(self.findings) == MAX_FINDINGS:
            message = f"reading stopped here, after {MAX_FINDINGS} findings."
            self.findings.append(StreamFinding(position, self.line, "STOPPED", message))
            raise _StoppedError
        self.findings.append(StreamFinding(position, self.line, rule, message))

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


def _without_bom(number: int, line: bytes) -> bytes:
    return line.removeprefix(_BOM) if number == 1 else line


def _read_json_lines(check: _Check, lines: _Lines) -> None:
    for number, line, _ in lines:
        if len(line) > sse.MAX_EVENT_BYTES:
            check.line = number
            check.found("SIZE", f"a line is larger than {sse.MAX_EVENT_BYTES} bytes.")
            return
        line = _without_bom(number, line)
        if line.strip():
            check.event(number, None, line)


def _read_sse(check: _Check, lines: _Lines) -> None:
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


def _read_array(check: _Check, lines: _Lines) -> None:
    content = bytearray()
    begin = 0
    for number, part, _ in lines:
        begin = begin or number
        content += b"\n" + part if content else _without_bom(number, part)
        if len(content) > sse.MAX_EVENT_BYTES:
            check.line = begin
            check.found(
                "SIZE",
                f"the array is larger than {sse.MAX_EVENT_BYTES} bytes: write an event a line.",
            )
            return
    try:
        text = content.decode()
    except UnicodeDecodeError:
        check.found("UTF8", "the recording is not UTF-8.")
        return
    line, seen = begin, 0
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


def _lines(chunks: Iterable[bytes]) -> _Lines:
    """Lines that end with LF, CR or CRLF: number, content, and whether it was ended.

    A line that is larger than any reader takes is the last one, and cut.
    """
    number, after_cr = 1, False
    rest: list[bytes] = []  # of a line that goes on
    size = 0  # of the rest
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
                size += len(line)
                break
            rest.clear()
            size = 0
            yield number, line.rstrip(b"\r\n"), True
            number += 1
        if size > sse.MAX_EVENT_BYTES:
            break
    if rest:
        yield number, b"".join(rest), False


def _ends(line: bytes) -> bool:
    return line.endswith((b"\n", b"\r"))
