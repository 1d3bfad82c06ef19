"""Streams of the chatbot surface: what may come where, and what is refused, with its place."""

import json

import pytest

from chatbot_streams import (
    CHATBOT,
    COMPLETE,
    ERROR,
    GOOD,
    METADATA,
    TURN,
    Event,
    block,
    chunks,
    event,
)
from copilot_contracts import (
    ContractViolation,
    Gate,
    OrderViolation,
    StreamContract,
    verify_stream,
)
from copilot_contracts.sse import Decoder

CONTRACT = StreamContract(CHATBOT, Gate())


@pytest.mark.parametrize("name", GOOD)
def test_what_may_come(name: str) -> None:
    stream = CONTRACT.open()
    sent = [stream.encode(one) for one in GOOD[name]]
    stream.finish()
    keepalive = CONTRACT.keepalive
    assert keepalive == b": keepalive\n\n"
    assert verify_stream(CHATBOT, keepalive.join(sent)) == []
    read = Decoder().feed(keepalive.join(sent))
    assert [{"event": one.event, "data": json.loads(one.data)} for one in read] == GOOD[name]


def without(one: Event, key: str) -> Event:
    return {"event": one["event"], "data": {k: v for k, v in one["data"].items() if k != key}}


#: Name to the events, and the place and rule of the first that is refused.
BAD: dict[str, tuple[list[Event], int, str]] = {
    "thinking before thinking_start": ([METADATA, *block(0, 1)[1:], COMPLETE], 2, "PAIR"),
    "thinking after thinking_end": (
        [METADATA, *block(0, 1), event("thinking", 1, step_index=1), COMPLETE],
        5,
        "PAIR",
    ),
    "a block in a block": ([METADATA, block(0, 0)[0], *block(0, 1), COMPLETE], 3, "PAIR"),
    "an end without its start": ([METADATA, event("thinking_end"), COMPLETE], 2, "PAIR"),
    "a chunk inside a block": ([METADATA, *block(0, 1)[:2], *chunks(0, 1), COMPLETE], 4, "PAIR"),
    "complete inside a block": ([METADATA, *block(0, 1)[:2], COMPLETE], 4, "PAIR"),
    "no category in thinking_start": (
        [METADATA, without(event("thinking_start"), "category"), *block(0, 1)[1:], COMPLETE],
        2,
        "required",
    ),
    "no category in thinking": (
        [
            METADATA,
            event("thinking_start"),
            without(event("thinking"), "category"),
            event("thinking_end"),
            COMPLETE,
        ],
        3,
        "required",
    ),
    "no category in thinking_end": (
        [METADATA, *block(0, 1)[:2], without(event("thinking_end"), "category"), COMPLETE],
        4,
        "required",
    ),
    "no step_index": (
        [
            METADATA,
            event("thinking_start"),
            without(event("thinking"), "step_index"),
            event("thinking_end"),
            COMPLETE,
        ],
        3,
        "required",
    ),
    "steps that don't begin at 0": ([METADATA, *block(1, 1), COMPLETE], 3, "COUNT"),
    "a second block that counts from 0 again": (
        [METADATA, *block(0, 1), *block(0, 1), COMPLETE],
        6,
        "COUNT",
    ),
    "chunks with a gap": ([METADATA, *chunks(0, 1), *chunks(2, 1), COMPLETE], 3, "COUNT"),
    "no metadata": ([*chunks(0, 1), COMPLETE], 1, "FIRST"),
    "metadata again": ([METADATA, *chunks(0, 1), METADATA, COMPLETE], 3, "FIRST"),
    "a chunk after complete": ([*TURN, *chunks(2, 1)], 9, "LAST"),
    "an error after complete": ([*TURN, ERROR], 9, "LAST"),
    "complete after an error": ([METADATA, ERROR, COMPLETE], 3, "LAST"),
    "complete twice": ([*TURN, COMPLETE], 9, "LAST"),
    "suggestions": (
        [METADATA, {"event": "suggestions", "data": {}}, COMPLETE],
        2,
        "PLACEHOLDER",
    ),
    "an event that nobody knows": (
        [METADATA, {"event": "tool_start", "data": {}}, COMPLETE],
        2,
        "UNKNOWN_EVENT",
    ),
    "another request's id": (
        [METADATA, event("chunk") | {"data": {**event("chunk")["data"], "request_id": "0" * 12}}],
        2,
        "SAME",
    ),
    "complete without the request's id": (
        [METADATA, without(COMPLETE, "request_id")],
        2,
        "required",
    ),
    "complete with full_response": (
        [METADATA, event("complete", full_response="x")],
        2,
        "additionalProperties",
    ),
    "null for an unknown time": (
        [METADATA, event("complete", time_to_first_chunk=None)],
        2,
        "type",
    ),
    "null for an unknown id": (
        [METADATA, {"event": "error", "data": {"error": "It failed.", "request_id": None}}],
        2,
        "type",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_refused(name: str) -> None:
    events, position, rule = BAD[name]
    recording = b"".join(json.dumps(one).encode() + b"\n" for one in events)
    first = verify_stream(CHATBOT, recording)[0]
    assert (first.position, first.line, first.rule) == (position, position, rule)

    stream = CONTRACT.open()
    for one in events[: position - 1]:
        stream.encode(one)
    with pytest.raises((ContractViolation, OrderViolation)) as refused:
        stream.encode(events[position - 1])
    assert refused.value.rule == rule
    if isinstance(refused.value, OrderViolation):
        assert refused.value.position == position


@pytest.mark.parametrize("events", [[], [METADATA], TURN[:-1]])
def test_a_stream_without_its_last_event(events: list[Event]) -> None:
    stream = CONTRACT.open()
    for one in events:
        stream.encode(one)
    with pytest.raises(OrderViolation):
        stream.finish()
