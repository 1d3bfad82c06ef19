"""A turn's stream: shape, place and bytes in one step, under each policy, for any surface."""

import math
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from copilot_contracts import (
    ContractViolation,
    EventStream,
    Gate,
    NotJson,
    OrderViolation,
    Policy,
    Registry,
    StreamContract,
    Surface,
)
from copilot_contracts.sse import Decoder, InvalidFieldError, SseEvent
from story_surface import obj, story

Write = Callable[..., Path]
POLICIES: list[Policy] = ["enforce", "report", "off"]
CHAT = Registry.bundled().surface("gns3-chat")


def example(name: str, index: int = 0, **changes: Any) -> dict[str, Any]:
    return {**CHAT.contract("event", name).schema["examples"][index], **changes}


def opened(policy: Policy = "enforce", surface: Surface = CHAT) -> EventStream:
    return StreamContract(surface, Gate(policy)).open()


@pytest.fixture
def own(write: Write) -> Surface:
    return Registry.from_folder(write(story())).surface("story")


def named(event: str, **data: Any) -> dict[str, Any]:
    return {"event": event, "data": data}


TURN = [
    example("content"),
    example("tool_call", 0),
    example("tool_call", 3),
    example("heartbeat"),
    example("tool_start"),
    example("tool_end"),
    example("content"),
    example("done"),
]

STORY = [
    named("ping"),
    named("metadata", request_id="r"),
    named("thinking_start"),
    named("thinking", text="a", step_index=0),
    named("thinking", text="b", step_index=1),
    named("thinking_end", summary="ab"),
    named("chunk", content="x"),
    named("call", id="c1", arguments="{"),
    named("call", id="c2", arguments="{}", complete=True),
    named("call_start", call={"id": "c2"}),
    named("call", id="c1", arguments="{}"),
    named("call_start", call={"id": "c1"}),
    named("call_end", call={"id": "c1"}, output=""),
    named("thinking_start"),
    named("thinking", text="c", step_index=2),
    named("thinking_end", summary="c"),
    named("call_end", call={"id": "c2"}, output=""),
    named("complete", response="x", request_id="r"),
]


def test_a_turn_with_the_tag_in_the_data() -> None:
    stream = opened()
    blocks = [stream.encode(event, id=f"run:{n}") for n, event in enumerate(TURN, 1)]
    assert stream.ended
    stream.finish()
    assert blocks[-1] == (
        b'id: run:8\ndata: {"type":"done","session_id":"%s"}\n\n' % TURN[-1]["session_id"].encode()
    )
    read = Decoder().feed(b"".join(blocks))
    assert [(e.event, e.id) for e in read] == [("message", f"run:{n}") for n in range(1, 9)]
    assert [orjson.loads(e.data) for e in read] == TURN


def test_a_turn_of_a_users_own_surface_with_named_events(own: Surface) -> None:
    stream = opened(surface=own)
    blocks = [stream.encode(event) for event in STORY]
    assert stream.ended
    assert blocks[6] == b'event: chunk\ndata: {"content":"x"}\n\n'
    read = Decoder().feed(b"".join(blocks))
    assert read == [SseEvent(e["event"], orjson.dumps(e["data"]).decode(), "") for e in STORY]


# Whatever the policy


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("event", "error", "match"),
    [
        (example("content", content=math.nan), NotJson, "/content: expected a finite number"),
        (example("content", content=b"x"), NotJson, "JSON_TYPE"),
        (example("content", x={1: 2}), NotJson, "JSON_KEY"),
        (
            example("content", type="contnet"),
            ContractViolation,
            "contnet at /type: .*UNKNOWN_EVENT",
        ),
        (example("content", type="a long text that is no name"), ContractViolation, r"event \? at"),
        (example("content", type=7), ContractViolation, "got integer"),
        (example("content", type=["content"]), ContractViolation, "got array"),
        ({"content": "x"}, ContractViolation, "got no such key"),
        ([], ContractViolation, "expected object, got array"),
        (None, ContractViolation, "expected object, got null"),
    ],
)
def test_what_never_leaves(policy: Policy, event: Any, error: type[Exception], match: str) -> None:
    stream = opened(policy)
    with pytest.raises(error, match=match):
        stream.encode(event)
    stream.encode(example("done"))
    stream.finish()


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("event", "match"),
    [
        (named("suggestions"), "suggestions at /event: .*PLACEHOLDER"),
        (named("nothing"), "UNKNOWN_EVENT"),
        ({"event": "chunk", "data": {"content": "x"}, "id": "1"}, '"event" and "data" only'),
        ({"event": "chunk"}, '"event" and "data" only'),
    ],
)
def test_what_never_leaves_a_named_surface(
    own: Surface, policy: Policy, event: Any, match: str
) -> None:
    with pytest.raises(ContractViolation, match=match):
        opened(policy, own).encode(event)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("last", ["done", "error", "abort"])
@pytest.mark.parametrize("late", ["content", "heartbeat", "done"])
def test_nothing_follows_the_last_event(policy: Policy, last: str, late: str) -> None:
    stream = opened(policy)
    stream.encode(example(last))
    with pytest.raises(OrderViolation, match="nothing follows the last event"):
        stream.encode(example(late))
    assert stream.ended


def test_a_broken_last_event_under_report_still_ends_the_stream() -> None:
    gate = Gate("report")
    stream = StreamContract(CHAT, gate).open()
    stream.encode({"type": "done"})
    assert stream.ended
    with pytest.raises(OrderViolation):
        stream.encode({"type": "content"})
    assert gate.counts == {
        ("gns3-chat", "event", "done", "required"): 1,
        ("gns3-chat", "order", "content", "LAST"): 1,
    }


def test_b44_one_stream_is_of_one_session() -> None:
    """B44, ag-ui-protocol/ag-ui#1582: start and finish named different runs."""
    stream = opened()
    stream.encode(example("content"))
    with pytest.raises(OrderViolation, match="event 2, done: its /session_id differs from that"):
        stream.encode(example("done", session_id="another"))
    assert not stream.ended
    stream.encode(example("done"))
    gate = Gate("report")
    stream = StreamContract(CHAT, gate).open()
    stream.encode(example("content"))
    assert b"another" in stream.encode(example("done", session_id="another"))
    assert stream.ended
    assert gate.counts == {("gns3-chat", "order", "done", "SAME"): 1}


@pytest.mark.parametrize("policy", ["report", "off"])
def test_a_misplaced_last_event_that_was_delivered_ends_the_stream(policy: Policy) -> None:
    stream = opened(policy)
    stream.encode(example("tool_call", 3))
    assert b"done" in stream.encode(example("done"))
    assert stream.ended
    with pytest.raises(OrderViolation, match="event 3, tool_start: nothing follows"):
        stream.encode(example("tool_start"))


# By policy


def test_enforce_what_raised_was_not_sent_and_changed_nothing() -> None:
    stream = opened()
    stream.encode(example("tool_call", 3))
    with pytest.raises(ContractViolation, match="tool_output"):
        stream.encode({k: v for k, v in example("tool_end").items() if k != "tool_output"})
    with pytest.raises(OrderViolation, match="event 2, tool_end"):
        stream.encode(example("tool_end"))
    with pytest.raises(InvalidFieldError):
        stream.encode(example("tool_start"), id="a\nb")
    for name in ("tool_start", "tool_end", "done"):
        stream.encode(example(name))
    stream.finish()


def test_report_delivers_what_breaks_shape_or_order() -> None:
    gate = Gate("report")
    stream = StreamContract(CHAT, gate).open()
    assert b'"content":""' in stream.encode(example("content", content=""))
    assert b"tool_end" in stream.encode(example("tool_end"))
    stream.encode(example("tool_start"))
    assert b"done" in stream.encode(example("done"))
    assert stream.ended
    assert [key[2:] for key in gate.counts] == [
        ("content", "minLength"),
        ("tool_end", "PAIR"),
        ("tool_start", "REPEAT"),
    ]


def test_off_delivers_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate("off")
    stream = StreamContract(CHAT, gate).open()
    assert b'"content":""' in stream.encode(example("content", content=""))
    stream.encode(example("tool_end"))
    stream.encode({"type": "done"})
    assert stream.ended
    assert gate.counts == {}
    assert caplog.text == ""


@pytest.mark.parametrize("policy", POLICIES)
def test_a_stream_that_stops_without_its_last_event(policy: Policy) -> None:
    gate = Gate(policy)
    stream = StreamContract(CHAT, gate).open()
    stream.encode(example("content"))
    if policy == "enforce":
        with pytest.raises(OrderViolation, match="stopped without its last event"):
            stream.finish()
    else:
        stream.finish()
    assert sum(gate.counts.values()) == (policy != "off")


def test_streams_of_one_contract_know_nothing_of_each_other() -> None:
    contract = StreamContract(CHAT, Gate())
    one, other = contract.open(), contract.open()
    one.encode(example("done"))
    other.encode(example("content"))
    assert (one.ended, other.ended) == (True, False)


# Heartbeats outside the stream


def test_an_anytime_event_outside_the_stream(own: Surface) -> None:
    contract = StreamContract(CHAT, Gate())
    assert contract.encode_anytime(example("heartbeat")).startswith(b'data: {"type":"heartbeat"')
    assert StreamContract(own, Gate()).encode_anytime(named("ping")) == b"event: ping\ndata: {}\n\n"
    with pytest.raises(OrderViolation, match=r"only an anytime event .*Allowed here: heartbeat"):
        contract.encode_anytime(example("content"))
    with pytest.raises(ContractViolation, match="session_id"):
        contract.encode_anytime({"type": "heartbeat"})


def test_b27_a_heartbeat_between_two_deltas_ends_nothing() -> None:
    """B27, vercel/ai#20575: a keepalive failed a closed union and ended the run."""
    contract = StreamContract(CHAT, Gate())
    stream = contract.open()
    sent = stream.encode(example("content", content="a"))
    sent += stream.encode(example("heartbeat"))
    sent += contract.encode_anytime(example("heartbeat"))
    sent += stream.encode(example("content", content="b"))
    read = [orjson.loads(event.data) for event in Decoder().feed(sent)]
    assert [e["content"] for e in read if e["type"] == "content"] == ["a", "b"]
    with pytest.raises(ContractViolation, match="UNKNOWN_EVENT"):
        stream.encode({"type": "keepalive", "sequence_number": 5})


def test_b70_every_emit_site_is_checked_and_complete_is_last(own: Surface) -> None:
    """B70, sug1omyo/AI-Assistant stream.py: a second backend sent other keys, and went on."""
    stream = opened(surface=own)
    stream.encode(named("metadata", request_id="r"))
    with pytest.raises(ContractViolation) as other_keys:
        stream.encode(named("complete", full_response="x", request_id="r"))
    assert (other_keys.value.rule, other_keys.value.expected) == ("required", 'the key "response"')
    with pytest.raises(ContractViolation, match='expected the key "step_index"'):
        stream.encode(named("thinking", text="a"))
    stream.encode(named("complete", response="x", request_id="r"))
    for late in (named("chunk", content="cited"), named("ping")):
        with pytest.raises(OrderViolation, match="nothing follows the last event"):
            stream.encode(late)
    with pytest.raises(ContractViolation, match="PLACEHOLDER"):
        stream.encode(named("suggestions"))


# Bytes


def test_lone_surrogates_leave_as_u_fffd() -> None:
    sent = opened().encode(example("content", content="a\ud800b"))
    assert "a\ufffdb" in sent.decode("utf-8", "strict")


def test_keys_are_compared_as_they_were_sent() -> None:
    """Two ids that are one on the wire are one in the order rules."""
    stream = opened()
    stream.encode(
        example("tool_call", tool_call={**example("tool_call")["tool_call"], "id": "\ud800"})
    )
    stream.encode(example("tool_start", tool_call_id="\ud801"))
    stream.encode(example("tool_end", tool_call_id="\ufffd"))
    stream.encode(example("done"))


def test_line_ends_in_text_stay_inside_one_event() -> None:
    text = "a\nb\r\nc\rd\u2028e\x85f\n\ndata: x\n\n"
    (event,) = Decoder().feed(opened().encode(example("content", content=text)))
    assert orjson.loads(event.data)["content"] == text


def test_the_event_is_left_alone() -> None:
    event = example("content", content="\ud800")
    before = dict(event)
    opened().encode(event)
    assert event == before


def test_a_surface_without_events_has_no_stream(write: Write) -> None:
    files = {
        "surface.json": {
            "name": "own",
            "version": "1.0.0",
            "title": "Own",
            "description": "No events.",
            "models": {"M": {"schema": "m.json"}},
        },
        "m.json": obj(),
    }
    with pytest.raises(ValueError, match="own has no events"):
        StreamContract(Registry.from_folder(write(files)).surface("own"), Gate())


def test_one_content_event_costs_microseconds() -> None:
    """Measured at 2 us on the machine of the speed table; this only catches a lost fast path."""
    stream, event = opened(), example("content")
    best = min(timeit.repeat(lambda: stream.encode(event, "run:1"), number=2000, repeat=10)) / 2000
    assert best < 25e-6
