"""Server-sent events as bytes: an encoder and an incremental decoder.

Both follow the WHATWG event-stream format
(https://html.spec.whatwg.org/multipage/server-sent-events.html, sections 9.2.5 and 9.2.6).
"""

import re
from dataclasses import dataclass

__all__ = [
    "Decoder",
    "EventTooLargeError",
    "InvalidFieldError",
    "SseEvent",
    "UnfinishedBlock",
    "comment",
    "encode",
]

MAX_EVENT_BYTES = 16 * 1024 * 1024

_LINE_END = re.compile(rb"\r\n|\r|\n")
_FORBIDDEN_IN_FIELD = re.compile("[\r\n\0]")
_BOM = b"\xef\xbb\xbf"

# 10**18 ms is 30 million years; int() of thousands of digits is slow, then refused by Python.
_MAX_RETRY_DIGITS = 18


class InvalidFieldError(ValueError):
    """A field that would break the block it stands in, or that readers would ignore."""


class EventTooLargeError(Exception):
    """One event of the stream is larger than the reader's limit. Reading can't go on after it."""

    def __init__(self, limit: int, events: "list[SseEvent]") -> None:
        super().__init__(
            f"An event of the stream is larger than {limit} bytes. "
            "Raise `max_event_bytes`, or have the server send smaller events."
        )
        self.limit = limit
        #: Whole events that came before it in the same chunk.
        self.events = events


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One dispatched event."""

    #: The event's type; `message` when the block named none.
    event: str
    #: The data lines, joined by LF.
    data: str
    #: The last event id of the stream at this event; empty when none was sent yet.
    id: str
    #: The reconnection time in milliseconds that this block asked for.
    retry: int | None = None


@dataclass(frozen=True, slots=True)
class UnfinishedBlock:
    """What stood after the last blank line when the stream ended. It is never dispatched."""

    event: str
    data: str
    #: Bytes of its lines, without line ends.
    size: int


def encode(
    data: bytes,
    event: str | None = None,
    id: str | None = None,  # noqa: A002  (the field's name on the wire)
    retry: int | None = None,
) -> bytes:
    """One event as a block that ends with a blank line. Line ends are LF.

    `data` is UTF-8 and may hold any line ends; a reader sees them as LF. `id=""` resets the
    reader's last event id, `retry=0` is sent like any other number of milliseconds.

    Raises InvalidFieldError when `event` or `id` holds CR, LF, NUL or a lone surrogate, or when
    `retry` is negative.
    """
    if b"\n" in data or b"\r" in data:
        data = b"\ndata: ".join(_LINE_END.split(data))
    block = b"data: " + data + b"\n\n"
    if retry is not None:
        if retry < 0:
            raise InvalidFieldError(f"retry is a number of milliseconds from 0, not {retry}.")
        block = b"retry: %d\n" % retry + block
    if event is not None:
        block = b"event: " + _field("event", event) + b"\n" + block
    if id is not None:
        block = b"id: " + _field("id", id) + b"\n" + block
    return block


def comment(text: str) -> bytes:
    """A block that every reader ignores. Each line of `text` becomes one comment line."""
    lines = _LINE_END.split(text.encode("utf-8", "replace"))
    return b"".join(b": " + line + b"\n" for line in lines) + b"\n"


def _field(name: str, value: str) -> bytes:
    if value.isprintable():  # neither line ends nor NUL nor surrogates
        return value.encode()
    if _FORBIDDEN_IN_FIELD.search(value):
        raise InvalidFieldError(f"The SSE field `{name}` holds CR, LF or NUL: {value!r:.100}.")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise InvalidFieldError(
            f"The SSE field `{name}` holds a lone surrogate, which UTF-8 can't carry: "
            f"{value!r:.100}."
        ) from None


class Decoder:
    """An incremental reader: bytes in any chunks in, events out, in time linear in the bytes.

    Invalid UTF-8 becomes U+FFFD. `max_event_bytes` bounds one block (its lines without line
    ends and finished comments), and so the memory held.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.max_event_bytes = max_event_bytes
        #: The last event id, as a reader would send it in `Last-Event-ID`.
        self.last_event_id = ""
        #: The reconnection time in milliseconds last asked for, by a block with data or without.
        self.retry: int | None = None
        self._line = bytearray()
        self._at_start = True
        self._after_cr = False
        self._too_large = False
        self._id = ""
        self._begin_block()

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The events that this chunk finishes. Raises EventTooLargeError."""
        events: list[SseEvent] = []
        if self._too_large:
            raise EventTooLargeError(self.max_event_bytes, events)
        if not chunk:
            return events
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._after_cr = chunk.endswith(b"\r")
        lines = chunk.splitlines()  # of bytes: at CR, LF and CRLF only
        rest = lines.pop() if lines and not chunk.endswith((b"\r", b"\n")) else b""
        for line in lines:
            if self._line:
                line = bytes(self._line + line)
                self._line.clear()
            self._check_size(len(line), events)
            self._read_line(line, events)
        self._line += rest
        self._check_size(len(self._line), events)
        return events

    def close(self) -> UnfinishedBlock | None:
        """End of the stream: what was left after the last blank line, if anything was."""
        line = bytes(self._line)
        self._line.clear()
        if not (line or self._size):
            return None
        self._size += len(line)
        if line:
            self._read_field(self._without_bom(line))
        unfinished = UnfinishedBlock(self._event or "message", "\n".join(self._data), self._size)
        self._begin_block()
        return unfinished

    def _begin_block(self) -> None:
        self._event = ""
        self._data: list[str] = []
        self._block_retry: int | None = None
        self._size = 0

    def _check_size(self, line_size: int, events: list[SseEvent]) -> None:
        if self._size + line_size > self.max_event_bytes:
            self._too_large = True
            self._line.clear()
            self._begin_block()
            raise EventTooLargeError(self.max_event_bytes, events)

    def _without_bom(self, line: bytes) -> bytes:
        if self._at_start:
            self._at_start = False
            return line.removeprefix(_BOM)
        return line

    def _read_line(self, line: bytes, events: list[SseEvent]) -> None:
        line = self._without_bom(line)
        if line:
            if not line.startswith(b":"):
                self._size += len(line)
                self._read_field(line)
            return
        self.last_event_id = self._id
        if self._data:
            events.append(
                SseEvent(
                    self._event or "message", "\n".join(self._data), self._id, self._block_retry
                )
            )
        self._begin_block()

    def _read_field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value.decode("utf-8", "replace"))
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        elif name == b"id":
            if b"\0" not in value:
                self._id = value.decode("utf-8", "replace")
        elif name == b"retry" and value.isdigit():
            digits = value.lstrip(b"0")
            if len(digits) <= _MAX_RETRY_DIGITS:
                self.retry = self._block_retry = int(digits or b"0")
