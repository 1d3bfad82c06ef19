"""What of a conversation is sent: history that a strict provider accepts (A14)."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_openai.chat_models.base import _convert_message_to_dict

from copilot_core.history import history_for_model
from copilot_core.messages import assistant_message, tool_message
from copilot_core.tool_calls import finished_call
from copilot_core.tools.execution import ToolOutcome
from openai_server.strictness import check

UNANSWERED = '{"error":"The turn ended before this call was answered."}'
Body = list[dict[str, Any]]


def as_body(messages: list[BaseMessage]) -> Body:
    """What ChatOpenAI sends for messages."""
    return [_convert_message_to_dict(message) for message in messages]


def sent(messages: list[Any]) -> Body:
    """What ChatOpenAI sends for a conversation; a strict provider has taken it."""
    body = as_body(history_for_model(messages))
    if not body:
        return []
    check({"model": "m", "messages": body})
    ids = [call["id"] for message in body for call in message.get("tool_calls", ())]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", call_id) for call_id in ids)
    return body


def asks(*ids: str, said: str = "") -> AIMessage:
    calls = [finished_call(call_id, "ping", "{}") for call_id in ids]
    return assistant_message("m", said, calls, model="m")


def answers(call_id: str, said: Any = "pong") -> ToolMessage:
    return ToolMessage(said, tool_call_id=call_id)


def outline(body: Body) -> list[str]:
    """A line a message: who, and what of calls."""
    told = {"user": "user", "system": "system"}
    return [
        " ".join(["asks", *(call["id"] for call in message["tool_calls"])])
        if message.get("tool_calls")
        else f"{message['tool_call_id']}: {message['content']}"
        if message["role"] == "tool"
        else f"{told.get(message['role'], 'says')} {message['content']}"
        for message in body
    ]


def test_a_balanced_conversation_is_sent_as_it_is() -> None:
    good = finished_call("a", "ping", '{"n": 1}')
    messages: list[BaseMessage] = [
        SystemMessage("be good"),
        HumanMessage("hi"),
        assistant_message("m", "let me see", [good], model="m"),
        tool_message("a", "ping", ToolOutcome("pong", "success", None)),
        AIMessage("done"),
    ]
    assert sent(messages) == as_body(messages)


HI = HumanMessage("hi")
CASES: dict[str, tuple[list[Any], list[str]]] = {
    "a call without a result": (
        [HI, asks("a"), HI],
        ["user hi", "asks a", f"a: {UNANSWERED}", "user hi"],
    ),
    "a result that stands later": (
        [HI, asks("a"), AIMessage("well"), HI, answers("a")],
        ["user hi", "asks a", "a: pong", "says well", "user hi"],
    ),
    "a result that stands behind the next call": (
        [HI, asks("a"), asks("b"), answers("a"), answers("b")],
        ["user hi", "asks a", "a: pong", "asks b", "b: pong"],
    ),
    "results in another order": (
        [asks("a", "b"), answers("b", "2"), answers("a", "1")],
        ["asks a b", "a: 1", "b: 2"],
    ),
    "a second result": (
        [asks("a"), answers("a", "1"), answers("a", "2"), HI, answers("a", "3")],
        ["asks a", "a: 1", "user hi"],
    ),
    "a result before its call": (
        [answers("a"), HI, asks("a")],
        ["user hi", "asks a", f"a: {UNANSWERED}"],
    ),
    "a result of no call": ([HI, answers("x"), AIMessage("so")], ["user hi", "says so"]),
    "a message that says nothing": (
        [HI, AIMessage(""), AIMessage(" \n"), AIMessage([{"type": "thinking", "thinking": "hm"}])],
        ["user hi"],
    ),
    "a result that says nothing": ([asks("a"), answers("a", "")], ["asks a", 'a: ""']),
    "only the newest user message may be blank": (
        [HumanMessage(" "), HI, HumanMessage(" "), AIMessage("?")],
        ["user hi", "user  ", "says ?"],
    ),
    "kinds that a provider doesn't know": (
        [
            FunctionMessage(content="x", name="f"),
            ChatMessage(content="x", role="critic"),
            HI,
            RemoveMessage(id="i"),
        ],
        ["user hi"],
    ),
    "content of other types": (
        [
            SystemMessage(["be ", {"type": "text", "text": "good"}]),
            HumanMessage([{"type": "text", "text": "hi \ud83d"}]),
            AIMessage("").model_copy(update={"content": None}),
            AIMessageChunk(content=[{"type": "text", "text": "so"}, {"type": "reasoning"}]),
        ],
        ["system be good", "user hi \ufffd", "says so"],
    ),
    "an interrupted message": (
        [HI, assistant_message("m", "half an ans", model="m", interrupted=True), HI],
        ["user hi", "says half an ans", "user hi"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_sent(case: str) -> None:
    messages, told = CASES[case]
    assert outline(sent(messages)) == told


def test_an_id_that_is_used_again_is_another_calls() -> None:
    body = sent(
        [
            asks("a", "a"),
            answers("a", "1"),
            answers("a", "2"),
            HI,
            asks("a"),
            answers("a", "3"),
            asks("a"),
            HI,
            asks("a"),
            answers("a", "4"),
        ]
    )
    assert [m["content"] for m in body if m["role"] == "tool"] == ["1", "2", "3", UNANSWERED, "4"]
    ids = [call["id"] for m in body for call in m.get("tool_calls", ())]
    assert ids[0] == "a"
    assert ids == [m["tool_call_id"] for m in body if m["role"] == "tool"]


@pytest.mark.parametrize("call_id", ["x" * 41, "functions.ping:0", "ä", "a b", "\ud800"])
def test_an_id_that_no_strict_provider_takes(call_id: str) -> None:
    longer = [HI, asks(call_id), answers(call_id), HI, asks("b"), answers("b")]
    body = sent(longer)
    assert body[1]["tool_calls"][0]["id"] == body[2]["tool_call_id"]
    assert body[2]["content"] == "pong"
    assert sent(longer[:3]) == body[:3]


def test_what_the_model_is_told_of_calls_that_went_wrong() -> None:
    asked = [
        finished_call("a", "ping", '{"n'),
        finished_call("b", "ping", "{}"),
        finished_call("c", "no such tool!", "{}"),
        finished_call("d", "", "{}"),
        finished_call("e", "x" * 65, '{"n": 1}'),
    ]
    body = sent(
        [
            HI,
            assistant_message("m", "", asked, model="m"),
            tool_message("c", "no such tool!", ToolOutcome("unknown tool", "error", None)),
            tool_message("a", "ping", ToolOutcome("bad arguments", "error", None)),
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
        ("d", "unknown", "{}"),
        ("e", "x" * 64, '{"n": 1}'),
    ]
    told = [message["content"] for message in body[2:]]
    names_no_tool = '{"error":"The call names no tool."}'
    assert told == ["bad arguments", UNANSWERED, "unknown tool", names_no_tool, UNANSWERED]


# -- any history -------------------------------------------------------------------------

some_ids = st.sampled_from(["a", "b", "", "c", "x" * 41, "functions.ping:0", "\ud800"])
some_text = st.sampled_from(["", " ", "hello", "\ud800", "so be it"])
some_content = some_text | st.sampled_from(
    [
        None,
        [],
        ["one ", {"type": "text", "text": "two \udc00"}],
        [{"type": "thinking", "thinking": "hm"}],
        [{"type": "image_url", "image_url": {"url": "x"}}],
        {"a": [1]},
    ]
)
our_calls = st.lists(
    st.builds(
        finished_call,
        some_ids,
        st.sampled_from(["ping", "", "no such!", "x" * 99]),
        st.sampled_from(["{}", '{"n": 1}', "{", "[]", "", '{"s": "\ud800"}', '{"n": 1e999}']),
        st.sampled_from([None, None, "cut"]),
    ),
    max_size=4,
)
others_calls = st.fixed_dictionaries(
    {
        "tool_calls": st.lists(
            st.fixed_dictionaries(
                {
                    "id": some_ids | st.none(),
                    "name": st.sampled_from(["ping", "", "nö"]),
                    "args": st.sampled_from([{}, {"to": "ü"}, {"s": "\ud800"}, {"n": 2**70}]),
                }
            ),
            max_size=2,
        ),
        "invalid_tool_calls": st.lists(
            st.fixed_dictionaries(
                {
                    "id": some_ids | st.none(),
                    "name": st.sampled_from(["ping", None]),
                    "args": st.sampled_from(["{", None]),
                    "error": st.sampled_from(["cut", None]),
                }
            ),
            max_size=2,
        ),
    }
)
others_keys = st.sampled_from(
    [
        {},
        {"tool_calls": [{"id": "z", "function": {"name": "f", "arguments": "1"}}]},
        {"function_call": {"name": "f", "arguments": "{}"}},
        {"audio": {"id": "x"}, "name": "\ud800 <x>"},
    ]
)


def a_message(message: BaseMessage, content: Any, **more: Any) -> BaseMessage:
    """Also with what LangChain would refuse, and a file may hold."""
    return message.model_copy(update={"content": content, **more})


plain = st.sampled_from(
    [
        HumanMessage(""),
        HumanMessage("", name="a <b>"),
        SystemMessage("", additional_kwargs={"__openai_role__": "critic"}),
        AIMessage(""),
        AIMessageChunk(content=""),
        ChatMessage(content="", role="critic"),
        FunctionMessage(content="", name="f"),
        RemoveMessage(id="i"),
    ]
)
any_message = st.one_of(
    st.none(),
    st.builds(a_message, plain, some_content),
    st.builds(
        lambda said, calls: assistant_message("m", said, calls, model="m"), some_text, our_calls
    ),
    st.builds(
        lambda said, calls, keys: a_message(AIMessage("", **calls), said, additional_kwargs=keys),
        some_content,
        others_calls,
        others_keys,
    ),
    st.builds(lambda said, call_id: a_message(answers(call_id), said), some_content, some_ids),
)
conversations = st.lists(any_message, max_size=14)


@settings(deadline=None, max_examples=300)
@given(conversations)
def test_any_history_is_accepted_by_a_strict_provider(messages: list[Any]) -> None:
    before = [message and message.model_copy(deep=True) for message in messages]
    told = history_for_model(messages)
    assert messages == before
    body = sent(messages)
    assert as_body(history_for_model(told)) == body
    if users := [m for m in messages if isinstance(m, HumanMessage)]:
        newest = [m for m in told if isinstance(m, HumanMessage)][-1]
        assert newest.content == history_for_model([users[-1]])[0].content


@settings(deadline=None)
@given(conversations)
def test_who_speaks_is_heard_in_order(messages: list[Any]) -> None:
    """Each message has its number as its id; results follow their calls instead."""
    numbered = [m and m.model_copy(update={"id": str(n)}) for n, m in enumerate(messages)]
    told = history_for_model(numbered)
    order = [int(str(m.id)) for m in told if not isinstance(m, ToolMessage)]
    assert order == sorted(set(order))
    assert set(order) >= {
        n
        for n, m in enumerate(messages)
        if isinstance(m, (HumanMessage, SystemMessage, AIMessage)) and "hello" in str(m.content)
    }


# -- its cost ----------------------------------------------------------------------------


def work(of: Callable[[], Any]) -> int:
    """How many functions are called, in Python and in C."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        of()
    finally:
        sys.setprofile(before)
    return calls


SHAPES: dict[str, Callable[[int], list[Any]]] = {
    "turns of one id": lambda n: [HI, asks("a"), *[answers("a")] * 3] * n,
    "turns of their own ids": lambda n: [m for i in range(n) for m in (asks(f"a{i}"), HI)],
    "calls of one message": lambda n: [asks(*["a"] * n), *[answers("a")] * n],
    "results at the end": lambda n: [
        *(asks(f"a{i}") for i in range(n)),
        *(answers(f"a{i}") for i in range(n)),
    ],
    "orphans": lambda n: [answers(f"a{i}") for i in range(n)],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_work_grows_with_the_history_and_no_faster(shape: str) -> None:
    short, long = SHAPES[shape](100), SHAPES[shape](1000)
    history_for_model(short)
    assert work(lambda: history_for_model(long)) <= 10.5 * work(lambda: history_for_model(short))


def test_json_is_what_is_sent() -> None:
    """Arguments arrive as the model wrote them, whatever else they hold."""
    call = finished_call("a", "ping", '{"to": "ü", "n": [1, 2.5, null]}')
    body = sent([assistant_message("m", "", [call], model="m")])
    arguments = body[0]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"to": "ü", "n": [1, 2.5, None]}
