"""Messages to the wire and back, and to a strict provider: A5, A14, A19, A21; B62, B63."""

from __future__ import annotations

import json
import time
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
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import tool_call_chunk
from langchain_openai.chat_models.base import _convert_message_to_dict
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from copilot_contracts import Registry
from copilot_contracts.strategies import contract_instances
from copilot_core.messages import (
    UNDATED,
    assistant_message,
    convert_langchain_to_openai,
    convert_openai_to_langchain,
    history_for_model,
    tool_message,
    unanswered_calls,
    user_message,
)
from copilot_core.tool_calls import ToolCallStreamAccumulator, finished_call
from copilot_core.tools.execution import ToolOutcome
from openai_server.strictness import check

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
    assert unanswered_calls(message) == finished
    history = to_wire(message).get("tool_calls", [])
    assert [(c["id"], c["function"]["arguments"]) for c in history] == list(shown.items())


# -- to a model --------------------------------------------------------------------------


def sent(messages: list[BaseMessage]) -> list[dict[str, Any]]:
    """What ChatOpenAI sends for a conversation; a strict provider has taken it."""
    body = [_convert_message_to_dict(message) for message in history_for_model(messages)]
    if body:
        check({"model": "m", "messages": body})
    return body


def test_a_balanced_conversation_is_sent_as_it_is() -> None:
    good = finished_call("a", "ping", '{"n": 1}')
    messages: list[BaseMessage] = [
        SystemMessage("be good"),
        HumanMessage("hi"),
        assistant_message("m", "let me see", [good], model="m"),
        tool_message("a", "ping", ToolOutcome("pong", "success", None)),
        AIMessage("done"),
    ]
    assert sent(messages) == [_convert_message_to_dict(message) for message in messages]


def test_what_the_model_is_told_of_calls_that_went_wrong() -> None:
    asked = [
        finished_call("a", "ping", '{"n'),
        finished_call("b", "ping", "{}"),
        finished_call("c", "no such tool!", "{}"),
        finished_call("c", "ping", '{"twice": 1}'),
        finished_call("d", "", "{}"),
    ]
    body = sent(
        [
            HumanMessage("hi"),
            assistant_message("m", "", asked, model="m"),
            tool_message("c", "no such tool!", ToolOutcome("unknown tool", "error", None)),
            tool_message("a", "ping", ToolOutcome("bad arguments", "error", None)),
            tool_message("orphan", "ping", ToolOutcome("lost", "success", None)),
            tool_message("a", "ping", ToolOutcome("second answer", "error", None)),
        ]
    )
    calls = [
        (call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in body[1]["tool_calls"]
    ]
    assert calls == [
        ("a", "ping", "{}"),
        ("b", "ping", "{}"),
        ("c", "no_such_tool_", "{}"),
        ("c_3", "ping", '{"twice": 1}'),
        ("d", "unknown", "{}"),
    ]
    a, b, c, c3, d = (message["content"] for message in body[2:])
    assert (a, c) == ("bad arguments", "unknown tool")
    assert "ended before this call was answered" in b
    assert "ended before this call was answered" in c3
    assert "names no tool" in d


def test_messages_that_say_nothing_and_orphans_are_left_out() -> None:
    assert sent(
        [
            HumanMessage("hi"),
            AIMessage(""),
            AIMessage(" \n"),
            ToolMessage("lost", tool_call_id="x"),
            AIMessage([{"type": "thinking", "thinking": "hm"}]),
            HumanMessage("you there? \ud83d"),
        ]
    ) == [
        {"role": "user", "content": "hi"},
        {"role": "user", "content": "you there? \ufffd"},
    ]


some_ids = st.sampled_from(["a", "b", "", "c"])
some_calls = st.lists(
    st.builds(
        finished_call,
        some_ids,
        st.sampled_from(["ping", "", "no such!", "x" * 99]),
        st.sampled_from(["{}", '{"n": 1}', "{", "[]", ""]),
        st.sampled_from([None, None, "cut"]),
    ),
    max_size=4,
)
some_text = st.sampled_from(["", " ", "hi", "\ud800"])
conversations = st.lists(
    st.one_of(
        st.builds(HumanMessage, some_text),
        st.builds(AIMessage, some_text | st.just([{"type": "text", "text": "hi"}])),
        st.builds(
            lambda said, calls: assistant_message("m", said, calls, model="m"),
            some_text,
            some_calls,
        ),
        st.builds(lambda said, call: ToolMessage(said, tool_call_id=call), some_text, some_ids),
        st.builds(
            lambda kept: AIMessage("hi").model_copy(update={"additional_kwargs": kept}),
            st.sampled_from(
                [
                    {"tool_calls": [{"id": "z", "function": {"name": "f", "arguments": "1"}}]},
                    {"function_call": {"name": "f", "arguments": "{}"}},
                ]
            ),
        ),
    ),
    max_size=12,
)


@settings(deadline=None)
@given(conversations)
def test_any_history_is_accepted_by_a_strict_provider(messages: list[BaseMessage]) -> None:
    body = sent(messages)
    said = [m.content for m in messages if isinstance(m, HumanMessage) and m.content.strip()]
    told = [m["content"] for m in body if m["role"] == "user"]
    assert told == [content.replace("\ud800", "\ufffd") for content in said]
    before = [message.model_copy(deep=True) for message in messages]
    history_for_model(messages)
    assert messages == before


def test_a_long_history_takes_linear_time() -> None:
    call = finished_call("a", "ping", '{"n": 1}')

    def seconds(turns: int) -> float:
        messages = [
            message
            for _ in range(turns)
            for message in (
                HumanMessage("hi"),
                assistant_message("m", "", [call], model="m"),
                *[ToolMessage("x", tool_call_id="a")] * 3,
            )
        ]
        start = time.process_time()
        assert len(history_for_model(messages)) == 3 * turns
        return time.process_time() - start

    seconds(100)
    assert seconds(4_000) < 3
