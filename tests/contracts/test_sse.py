"""The SSE wire against the WHATWG event-stream format."""

import itertools
import re
import time
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from copilot_contracts.sse import (
    Decoder,
    EventTooLargeError,
    InvalidFieldError,
    SseEvent,
    UnfinishedBlock,
    comment,
    encode,
)


@dataclass
class Reference:
    """The specification's algorithm (9.2.6) over the whole text at once, word for word."""

    events: list[tuple[str, str, str]] = field(default_factory=list)
    last_event_id: str = ""
    retry: int | None = None


def reference(stream: bytes) -> Reference:
    text = stream.decode("utf-8", "replace").removeprefix("\ufeff")
    lines = re.split("\r\n|\n|\r", text)[:-1]  # what has no line end is not a line yet
    read = Reference()
    data = event_type = last_event_id_buffer = ""
    for line in lines:
        if line == "":
            read.last_event_id = last_event_id_buffer
            if data != "":
                data = data.removesuffix("\n")
                read.events.append((event_type or "message", data, read.last_event_id))
            data = event_type = ""
            continue
        if line.startswith(":"):
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            event_type = value
        elif name == "data":
            data += value + "\n"
        elif name == "id":
            if "\0" not in value:
                last_event_id_buffer = value
        elif name == "retry" and re.fullmatch("[0-9]+", value):
            read.retry = int(value)
    return read


def decode(chunks: list[bytes]) -> tuple[list[SseEvent], Decoder]:
    decoder = Decoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)], decoder


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return [stream[a:b] for a, b in itertools.pairwise(edges)]


CASES: dict[str, tuple[bytes, list[SseEvent]]] = {
    "three lines of data (the specification's first example)": (
        b"data: YHOO\ndata: +2\ndata: 10\n\n",
        [SseEvent("message", "YHOO\n+2\n10", "")],
    ),
    "four blocks: comment, id, empty id, cut off": (
        b": test stream\n\ndata: first event\nid: 1\n\n"
        b"data:second event\nid\n\ndata:  third event\n",
        [SseEvent("message", "first event", "1"), SseEvent("message", "second event", "")],
    ),
    "two events, the last block discarded": (
        b"data\n\ndata\ndata\n\ndata:",
        [SseEvent("message", "", ""), SseEvent("message", "\n", "")],
    ),
    "only one leading space is removed": (
        b"data:test\n\ndata: test\n\ndata:  test\n\ndata:\ttest\n\n",
        [SseEvent("message", text, "") for text in ("test", "test", " test", "\ttest")],
    ),
    "CR": (b"data: a\rdata: b\r\r", [SseEvent("message", "a\nb", "")]),
    "CRLF": (b"data: a\r\ndata: b\r\n\r\n", [SseEvent("message", "a\nb", "")]),
    "line ends mixed": (b"data: a\rdata: b\ndata: c\r\n\r", [SseEvent("message", "a\nb\nc", "")]),
    "LF CR is two line ends": (
        b"data: a\n\rdata: b\n\n",
        [SseEvent("message", x, "") for x in "ab"],
    ),
    "CR LF is one": (b"data: a\r\ndata: b\n\n", [SseEvent("message", "a\nb", "")]),
    "other Unicode line ends are text": (
        "data: a\u2028b\u2029c\x0b\x0c\x1c\x85d\n\n".encode(),
        [SseEvent("message", "a\u2028b\u2029c\x0b\x0c\x1c\x85d", "")],
    ),
    "BOM at the start": (b"\xef\xbb\xbfdata: a\n\n", [SseEvent("message", "a", "")]),
    "only one BOM": (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),
    "BOM later is text": (
        b"data: a\n\n\xef\xbb\xbfdata: b\n\ndata: \xef\xbb\xbfc\n\n",
        [SseEvent("message", "a", ""), SseEvent("message", "\ufeffc", "")],
    ),
    "an empty line first, then no BOM": (b"\n\xef\xbb\xbfdata: a\n\n", []),
    "comments": (
        b":\n: data: no\n:data: no\ndata: a\n:in between\n\n",
        [SseEvent("message", "a", "")],
    ),
    "event type, reset after each event": (
        b"event: add\ndata: 1\n\ndata: 2\n\n",
        [SseEvent("add", "1", ""), SseEvent("message", "2", "")],
    ),
    "event type without data is forgotten": (
        b"event: add\n\ndata: 1\n\n",
        [SseEvent("message", "1", "")],
    ),
    "the last of two types counts": (
        b"event: a\nevent: b\ndata: 1\n\nevent: a\nevent\ndata: 2\n\n",
        [SseEvent("b", "1", ""), SseEvent("message", "2", "")],
    ),
    "an id persists, also from a block without data": (
        b"id: 7\n\ndata: a\n\ndata: b\n\n",
        [SseEvent("message", "a", "7"), SseEvent("message", "b", "7")],
    ),
    "an id with NUL is ignored": (
        b"id: 7\ndata: a\n\nid: 8\0\ndata: b\n\n",
        [SseEvent("message", "a", "7"), SseEvent("message", "b", "7")],
    ),
    "an empty id resets": (
        b"id: 7\ndata: a\n\nid:\ndata: b\n\n",
        [SseEvent("message", "a", "7"), SseEvent("message", "b", "")],
    ),
    "retry: digits only": (
        b"retry: 10\ndata: a\n\nretry: 1x\ndata: b\n\nretry: -1\ndata: c\n\n"
        b"retry: \xd9\xa1\ndata: d\n\n"
        b"retry\ndata: e\n\nretry: 0\ndata: f\n\nretry:  5\ndata: g\n\n",
        [
            SseEvent("message", "a", "", 10),
            SseEvent("message", "b", ""),
            SseEvent("message", "c", ""),
            SseEvent("message", "d", ""),
            SseEvent("message", "e", ""),
            SseEvent("message", "f", "", 0),
            SseEvent("message", "g", ""),
        ],
    ),
    "retry beyond any delay is ignored": (
        b"retry: " + b"9" * 5000 + b"\ndata: a\n\nretry: " + b"0" * 5000 + b"7\ndata: b\n\n",
        [SseEvent("message", "a", ""), SseEvent("message", "b", "", 7)],
    ),
    "unknown fields, other letter case, space before the name": (
        b"Data: no\n data: no\ndata : no\nfoo: no\nfoo\ndata: a\n\n",
        [SseEvent("message", "a", "")],
    ),
    "a colon in the value": (b"data: a: b:c\n\n", [SseEvent("message", "a: b:c", "")]),
    "NUL in the data": (b"data: a\0b\n\n", [SseEvent("message", "a\0b", "")]),
    "invalid UTF-8": (
        b"data: \xff \xe2\x82 \xed\xa0\x80 \xf0\x9f\x98\n\ndata: \xe2\ndata: \x82\xac\n\n",
        [
            SseEvent("message", "\ufffd \ufffd \ufffd\ufffd\ufffd \ufffd", ""),
            SseEvent("message", "\ufffd\n\ufffd\ufffd", ""),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_decodes_as_the_specification_says(name: str) -> None:
    stream, expected = CASES[name]
    assert decode([stream])[0] == expected
    assert decode([bytes([byte]) for byte in stream])[0] == expected
    for at in range(len(stream)) if len(stream) < 500 else ():
        assert decode([stream[:at], b"", stream[at:]])[0] == expected


PIECES = b"data|event|id|retry|:| |\n|\r|\r\n|\n\n|\0|\xef\xbb\xbf|\xef|\xbb|\xbf|\xff|7|x".split(
    b"|"
)
soup = st.lists(
    st.sampled_from(PIECES) | st.binary(max_size=3),
    max_size=40,
).map(b"".join)
places = st.lists(st.integers(0, 10_000), max_size=20)


@settings(deadline=None)
@given(soup, places)
@example(b"data: a\r\n\r\nid: 1\r\ndata: b\r\n\r\n", [8, 10, 12])
def test_any_bytes_in_any_chunks_decode_like_the_whole_text(stream: bytes, at: list[int]) -> None:
    events, decoder = decode(cut(stream, at))
    expected = reference(stream)
    assert [(event.event, event.data, event.id) for event in events] == expected.events
    assert (decoder.last_event_id, decoder.retry) == (expected.last_event_id, expected.retry)


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
one_line = text.filter(lambda value: not re.search("[\r\n\0]", value))


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            text | st.text("\r\n a", max_size=8),
            one_line | st.none(),
            one_line | st.none(),
            st.integers(0, 10**12) | st.none(),
        ),
        max_size=4,
    ),
    places,
)
def test_what_is_encoded_is_decoded(
    sent: list[tuple[str, str | None, str | None, int | None]], at: list[int]
) -> None:
    blocks = []
    expected = []
    last_id = ""
    for data, event, event_id, retry in sent:
        blocks += [comment("between\rthe\nblocks"), encode(data.encode(), event, event_id, retry)]
        last_id = last_id if event_id is None else event_id
        lines = re.sub("\r\n|\r", "\n", data)
        expected.append(SseEvent(event or "message", lines, last_id, retry))
    stream = b"".join(blocks)
    assert b"\r" not in stream
    events, decoder = decode(cut(stream, at))
    assert events == expected
    assert decoder.close() is None


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (encode(b"{}"), b"data: {}\n\n"),
        (encode(b""), b"data: \n\n"),
        (encode(b"a\nb\rc\r\nd\n"), b"data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n"),
        (encode(b"{}", "add", "r:1"), b"id: r:1\nevent: add\ndata: {}\n\n"),
        (encode(b"{}", id="", retry=0), b"id: \nretry: 0\ndata: {}\n\n"),
        (comment("ping"), b": ping\n\n"),
        (comment("two\r\nlines"), b": two\n: lines\n\n"),
    ],
)
def test_blocks(block: bytes, expected: bytes) -> None:
    assert block == expected


@pytest.mark.parametrize("bad", ["a\rb", "a\nb", "a\0", "\ud800"])
@pytest.mark.parametrize("name", ["event", "id"])
def test_fields_that_would_break_the_block_are_refused(name: str, bad: str) -> None:
    with pytest.raises(InvalidFieldError, match=f"`{name}`"):
        encode(b"{}", **{name: bad})


def test_a_negative_retry_is_refused() -> None:
    with pytest.raises(InvalidFieldError, match="retry"):
        encode(b"{}", retry=-1)


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: a\n\n", None),
        (b"data: a\n\n: bye\n", None),
        (b"", None),
        (b"data: a\n\ndata: b\n", UnfinishedBlock("message", "b", 7)),
        (b"event: add\ndata: b\ndata: c", UnfinishedBlock("add", "b\nc", 24)),
        (b"\xef\xbb\xbfdata: b", UnfinishedBlock("message", "b", 10)),
        (b"id: 1\n", UnfinishedBlock("message", "", 5)),
        (b"data: a\n\nda", UnfinishedBlock("message", "", 2)),
    ],
)
def test_an_unfinished_last_block_is_reported(
    stream: bytes, expected: UnfinishedBlock | None
) -> None:
    decoder = Decoder()
    decoder.feed(stream)
    assert decoder.close() == expected


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
@pytest.mark.parametrize("big", [b"data: " + b"x" * 95, b"data: x\n" * 15, b": " + b"x" * 99])
def test_an_event_beyond_the_limit_is_a_typed_error(size: int, big: bytes) -> None:
    stream = b"data: " + b"x" * 94 + b"\n\n" + big + b"\n\ndata: never\n\n"
    decoder = Decoder(max_event_bytes=100)
    events: list[SseEvent] = []
    chunks = [stream[at : at + size] for at in range(0, len(stream), size)]
    with pytest.raises(EventTooLargeError, match="100 bytes") as raised:
        events.extend(event for chunk in chunks for event in decoder.feed(chunk))
    events += raised.value.events
    assert [event.data for event in events] == ["x" * 94]
    with pytest.raises(EventTooLargeError):
        decoder.feed(b"data: later\n\n")


def test_comments_never_add_up_to_the_limit() -> None:
    decoder = Decoder(max_event_bytes=100)
    for _ in range(1000):
        assert decoder.feed(b": heartbeat\n") == []
    assert decoder.feed(b"data: a\n\n") == [SseEvent("message", "a", "")]


@pytest.mark.parametrize("unit", [b"x", b"data\n", b"\r", b": x\n"])
def test_time_is_linear_whatever_the_chunks(unit: bytes) -> None:
    def seconds(size: int) -> float:
        stream = b"data: " + unit * (size // len(unit)) + b"\n\n"
        decoder = Decoder()
        start = time.process_time()
        for byte in stream:
            decoder.feed(bytes([byte]))
        return time.process_time() - start

    small = min(seconds(60_000) for _ in range(3))
    assert seconds(960_000) < 16 * small * 4
