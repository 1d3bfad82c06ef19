"""Messages to the wire and back: A5, A14, A19, A21; B62, B63."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    ToolMessage,
)
from langchain_core.messages.tool import tool_call_chunk
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from copilot_contracts import Registry
from copilot_contracts.strategies import contract_instances
from copilot_core.messages import (
    UNDATED,
    assistant_message,
    calls_of,
    convert_langchain_to_openai,
    convert_openai_to_langchain,
    tool_message,
    user_message,
)
from copilot_core.tool_calls import ToolCallStreamAccumulator, finished_call
from copilot_core.tools.execution import ToolOutcome

CONTRACT = Registry.bundled().surface("gns3-chat").contract("model", "OpenAIMessage")
AT = "2026-11-30T09:15:00.000000Z"


def valid(message: Any) -> Any:
    assert CONTRACT.violation(message) is None, CONTRACT.violation(message)
    return message


def to_wire(message: BaseMessage) -> Any:
    return valid(convert_langchain_to_openai(message))


def stored(messages: list[Any]) -> list[Any]:
    """As they come back from a checkpoint."""
    serializer = JsonPlusSerializer()
    return serializer.loads_typed(serializer.dumps_typed(messages))


# -- to the wire -------------------------------------------------------------------------


def test_the_three_kinds_that_we_make() -> None:
    call = finished_call("call_1", "ping", '{"to": "PC2"}')
    outcome = ToolOutcome('{"error":"no"}', "blocked", 99_999)
    messages = stored(
        [
            user_message("hi \ud83d"),
            assistant_message("m1", "", [call], model="big", finish_reason="tool_calls"),
            tool_message("call_1", "ping", outcome),
            tool_message("call_1", "ping", ToolOutcome("ok", "success", None)),
            assistant_message("m2", "half an ans", model="big", interrupted=True),
        ]
    )
    user, calling, blocked, fine, cut = map(to_wire, messages)
    assert [message.id for message in messages] == [
        message["id"] for message in (user, calling, blocked, fine, cut)
    ]
    assert (user["role"], user["content"]) == ("user", "hi \ufffd")
    assert calling["tool_calls"] == [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "ping", "arguments": '{"to": "PC2"}'},
        }
    ]
    assert calling["metadata"] == {"model": "big", "finish_reason": "tool_calls"}
    assert blocked["metadata"] == {
        "status": "blocked",
        "truncated": True,
        "original_size": 99_999,
    }
    assert (blocked["tool_call_id"], blocked["name"]) == ("call_1", "ping")
    assert "metadata" not in fine
    assert cut["metadata"] == {"model": "big", "interrupted": True}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        ("half \ud83d whole \ud83d\ude00", "half \ufffd whole 😀"),
        ([], ""),
        (["one ", {"type": "text", "text": "two"}], "one two"),
        ([{"type": "output_text", "text": "two"}], "two"),
        (
            [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "so"},
                {"type": "tool_use", "id": "a", "name": "ping", "input": {}},
            ],
            "so",
        ),
        (
            [{"type": "image_url", "image_url": {"url": "x"}}],
            '{"type":"image_url","image_url":{"url":"x"}}',
        ),
    ],
)
def test_content_of_every_type_is_text(content: Any, text: str) -> None:
    assert to_wire(HumanMessage(content, id="m"))["content"] == text


@pytest.mark.parametrize(
    ("content", "text"), [(None, ""), ({"a": [1]}, '{"a":[1]}'), (2**70, str(2**70)), (1.5, "1.5")]
)
def test_content_that_langchain_does_not_allow_but_a_file_may_hold(content: Any, text: str) -> None:
    message = AIMessage("", id="m").model_copy(update={"content": content})
    assert to_wire(message)["content"] == text


def test_a_message_of_another_program() -> None:
    message = AIMessage(
        "",
        tool_calls=[
            {"id": "a", "name": "ping", "args": {"to": "ü", "n": 2**70}},
            {"id": None, "name": "ping", "args": {}},
            {"id": "", "name": "ping", "args": {}},
        ],
        invalid_tool_calls=[{"id": "b", "name": "ping", "args": '{"to', "error": None}],
        response_metadata={"model_name": "m", "finish_reason": "stop", "logprobs": None},
    )
    wire = to_wire(message)
    assert wire == to_wire(message)
    assert wire["created_at"] == UNDATED
    assert wire["metadata"] == {"model": "m", "finish_reason": "stop"}
    arguments = [call["function"]["arguments"] for call in wire["tool_calls"]]
    assert json.loads(arguments[0]) == {"to": "ü", "n": 2**70}
    assert arguments[1:] == ["{}", "{}", '{"to']
    assert len({call["id"] for call in wire["tool_calls"]}) == 4
    failed = to_wire(ToolMessage("no", tool_call_id="", status="error"))
    assert failed["metadata"] == {"status": "error"}


def test_messages_without_an_id_get_the_same_one_at_every_read() -> None:
    messages = [HumanMessage("hi"), AIMessage("hi"), HumanMessage("hi")]
    once = convert_langchain_to_openai(messages, undated=AT)
    longer = convert_langchain_to_openai([*messages, AIMessage("more")], undated=AT)
    assert longer[:3] == once
    assert len({message["id"] for message in longer}) == 4
    assert {message["created_at"] for message in once} == {AT}


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("2026-11-30 09:15:00", "2026-11-30T09:15:00.000000Z"),
        ("2026-11-30T09:15:00+02:00", "2026-11-30T07:15:00.000000Z"),
        (AT, AT),
        (0, "1970-01-01T00:00:00.000000Z"),
        ("yesterday", UNDATED),
        (1e300, UNDATED),
        ([], UNDATED),
    ],
)
def test_points_in_time_are_utc(written: Any, told: str) -> None:
    message = HumanMessage("hi", additional_kwargs={"created_at": written})
    assert to_wire(message)["created_at"] == told


def test_a_kind_that_the_wire_does_not_have() -> None:
    with pytest.raises(ValueError, match="type function has no form"):
        convert_langchain_to_openai(FunctionMessage("x", name="f"))


# -- and back ----------------------------------------------------------------------------


def test_arguments_as_an_object_or_as_text() -> None:
    wire = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "function": {"name": "ping", "arguments": {"to": "ü"}}},
            {"id": "b", "function": {"name": "ping", "arguments": '{"to": "ü"}'}},
            {"id": "c", "function": {"name": "ping", "arguments": None}},
            {"id": "d", "function": {"name": "ping", "arguments": "[1"}},
            {"function": {"name": "ping", "arguments": "{}"}},
        ],
    }
    message = convert_openai_to_langchain(wire)
    assert isinstance(message, AIMessage)
    assert message.content == ""
    assert [call["args"] for call in message.tool_calls] == [{"to": "ü"}, {"to": "ü"}, {}, {}]
    assert [call["id"] for call in message.invalid_tool_calls] == ["d"]
    arguments = [call["function"]["arguments"] for call in to_wire(message)["tool_calls"]]
    assert arguments == ['{"to":"ü"}', '{"to": "ü"}', "", "[1", "{}"]


@pytest.mark.parametrize(
    ("wire", "sentence"),
    [
        ({"content": "x"}, "role must be one of user, assistant, system, tool"),
        ({"role": "function", "content": "x"}, "role must be one of"),
        ({"role": ["user"], "content": "x"}, "role must be one of"),
        ({"role": "tool", "content": "x"}, "tool_call_id"),
        ({"role": "tool", "content": "x", "tool_call_id": 3}, "tool_call_id"),
        ({"role": "assistant", "tool_calls": {}}, "tool_calls must be a list"),
        ({"role": "assistant", "tool_calls": ["x"]}, r"tool_calls\[0\] must have a function"),
        ({"role": "assistant", "tool_calls": [{"function": {"name": 3}}]}, "with a name"),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": []}}]},
            r"tool_calls\[0\]\.function\.arguments must be text or an object",
        ),
    ],
)
def test_what_is_no_message(wire: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        convert_openai_to_langchain(wire)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "system", "tool"])},
        optional={
            "id": json_values,
            "content": json_values,
            "created_at": json_values,
            "name": json_values,
            "tool_call_id": json_values,
            "tool_calls": json_values
            | st.lists(
                st.fixed_dictionaries(
                    {
                        "function": st.fixed_dictionaries(
                            {"name": json_values, "arguments": json_values}
                        )
                    }
                )
            ),
            "metadata": json_values
            | st.dictionaries(
                st.sampled_from(["interrupted", "status", "truncated", "original_size", "model"]),
                json_values,
            ),
        },
    )
)
def test_whatever_is_read_is_refused_or_comes_out_valid(wire: dict[str, Any]) -> None:
    try:
        message = convert_openai_to_langchain(wire)
    except ValueError:
        return
    to_wire(message)


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
ids = text.filter(bool)


def as_stored(message: Any, call_id: str, arguments: str | None) -> Any:
    """Only with what a message of its role can have; with arguments that a model writes."""
    if message["role"] != "assistant":
        message.pop("tool_calls", None)
    message.pop("tool_call_id", None)
    if message["role"] == "tool":
        message["tool_call_id"] = call_id
    for call in message.get("tool_calls", ()):
        if arguments is not None:
            call["function"]["arguments"] = arguments
    return message


written = st.sampled_from([None, "", "{}", '{"a": 1}', '{"a":1.0, "a": 2}', "[", "null"])
wire_messages = st.builds(as_stored, contract_instances(CONTRACT), ids, written)


@settings(deadline=None)
@given(st.lists(wire_messages, max_size=5))
def test_to_langchain_into_a_checkpoint_and_back_is_the_identity(wire: list[Any]) -> None:
    for message in wire:
        valid(message)
    assert convert_langchain_to_openai(stored(convert_openai_to_langchain(wire))) == wire


PIECES = ['{"to', '": "PC1"', "}", "{}", "[", '{"n": 1, "n": 2}', ""]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(PIECES)), max_size=12),
    st.sampled_from(["tool_calls", "length"]),
)
def test_history_has_the_calls_as_they_were_streamed(
    pieces: list[tuple[int, str]], reason: str
) -> None:
    accumulator = ToolCallStreamAccumulator()
    growth = []
    for index, arguments in pieces:
        piece = tool_call_chunk(index=index, id=f"id{index}", name="ping", args=arguments)
        growth += accumulator.feed(AIMessageChunk("", tool_call_chunks=[piece]))
    last, finished = accumulator.finish(reason)
    shown = {event.call_id: event.arguments for event in growth + last}
    [message] = stored([assistant_message("m", "", finished, model="m")])
    assert calls_of(message) == finished
    history = to_wire(message).get("tool_calls", [])
    assert [(c["id"], c["function"]["arguments"]) for c in history] == list(shown.items())
