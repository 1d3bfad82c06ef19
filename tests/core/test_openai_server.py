"""The scripted model server behaves as the real ones do, seen by their own clients."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest
from langchain_core.messages import AIMessageChunk
from langchain_openai import ChatOpenAI
from openai import APIConnectionError, APIError, AuthenticationError, RateLimitError
from pydantic import SecretStr

from openai_server import (
    RESET,
    OpenAIServer,
    Pause,
    Usage,
    call,
    error,
    interleave,
    raw,
    text,
    think,
)

TOOL = {
    "type": "function",
    "function": {"name": "show", "parameters": {"type": "object", "properties": {}}},
}
USER = {"role": "user", "content": "hello"}
CALLS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "show", "arguments": "{}"}}
    ],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "ok"}


def model(server: OpenAIServer, **settings: Any) -> ChatOpenAI:
    return ChatOpenAI(
        base_url=server.base_url,
        api_key=SecretStr(settings.pop("api_key", server.api_key)),
        model="scripted",
        stream_usage=True,
        max_retries=0,
        **settings,
    )


async def read(server: OpenAIServer, **settings: Any) -> AIMessageChunk:
    whole = None
    async for chunk in model(server, **settings).astream("hello"):
        whole = chunk if whole is None else whole + chunk
    assert isinstance(whole, AIMessageChunk)
    return whole


def post(server: OpenAIServer, **body: Any) -> httpx.Response:
    return httpx.post(
        f"{server.base_url}/chat/completions",
        content=json.dumps({"model": "scripted", "messages": [USER], **body}),
        headers={"authorization": f"Bearer {server.api_key}"},
        timeout=5,
    )


async def test_langchain_reads_text_and_usage(openai_server: OpenAIServer) -> None:
    openai_server.script(text("four small pieces here", pieces=4).with_usage(30, 4))
    answer = await read(openai_server, temperature=0.5)
    assert answer.content == "four small pieces here"
    assert answer.response_metadata["finish_reason"] == "stop"
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["total_tokens"] == 34
    request = openai_server.requests[0]
    assert request["temperature"] == 0.5
    assert request.messages == [USER]
    assert request.answered.wait(5)
    assert not request.disconnected.is_set()


async def test_langchain_reads_interleaved_calls(openai_server: OpenAIServer) -> None:
    openai_server.script(
        text("Let me look.")
        + interleave(call("show", {"host": "PC1"}, id="a"), call("show", {"host": "PC2"}, id="b"))
    )
    answer = await read(openai_server)
    assert answer.content == "Let me look."
    assert [(one["id"], one["args"]) for one in answer.tool_calls] == [
        ("a", {"host": "PC1"}),
        ("b", {"host": "PC2"}),
    ]
    assert answer.response_metadata["finish_reason"] == "tool_calls"


async def test_cut_arguments_and_length(openai_server: OpenAIServer) -> None:
    openai_server.script(call("show", '{"host": "PC', finish="length"))
    answer = await read(openai_server)
    assert answer.tool_call_chunks[0]["args"] == '{"host": "PC'
    assert answer.response_metadata["finish_reason"] == "length"


async def test_a_turn_may_depend_on_the_request(openai_server: OpenAIServer) -> None:
    openai_server.always(lambda request: text(f"you said {request.messages[-1]['content']}"))
    assert (await read(openai_server)).content == "you said hello"
    openai_server.when(lambda request: not request.tools, text("no tools"))
    assert (await read(openai_server)).content == "no tools"


async def test_a_cut_connection_is_an_error(openai_server: OpenAIServer) -> None:
    openai_server.script(
        text("one two three").cut(after=2), text("one two three").insert(RESET, after=1)
    )
    for _ in range(2):
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError, APIConnectionError)):
            await read(openai_server)


async def test_leaving_early_is_noticed(openai_server: OpenAIServer) -> None:
    openai_server.script(text("one two three").hang(after=1))
    stream = model(openai_server).astream("hello")
    assert isinstance(stream, AsyncGenerator)
    async for chunk in stream:
        if chunk.content:
            break
    request = openai_server.requests[0]
    assert not request.disconnected.is_set()
    await stream.aclose()
    assert await request.left()
    assert not request.answered.is_set()


async def test_the_test_may_hold_an_answer_back(openai_server: OpenAIServer) -> None:
    go = threading.Event()
    openai_server.script(text("one two").until(go, after=1))
    reading = asyncio.create_task(read(openai_server))
    await openai_server.wait_for_requests(1)
    await asyncio.sleep(0.05)
    assert not reading.done()
    go.set()
    assert (await reading).content == "one two"


@pytest.mark.parametrize(
    ("reply", "raised"),
    [
        (error(429, "slow down", headers={"retry-after": "7"}), RateLimitError),
        (error(500, body=b"<html>bad gateway</html>"), APIError),
    ],
)
async def test_http_errors(openai_server: OpenAIServer, reply: Any, raised: type) -> None:
    openai_server.script(reply)
    with pytest.raises(raised) as caught:
        await read(openai_server)
    if isinstance(caught.value, RateLimitError):
        assert caught.value.response.headers["retry-after"] == "7"


async def test_a_wrong_key_comes_back_in_the_message(openai_server: OpenAIServer) -> None:
    with pytest.raises(AuthenticationError, match="sk-wrong-0001"):
        await read(openai_server, api_key="sk-wrong-0001")
    assert openai_server.requests == []


def test_no_key(openai_server: OpenAIServer) -> None:
    assert httpx.get(f"{openai_server.base_url}/models").status_code == 401


def test_whole_answers(openai_server: OpenAIServer) -> None:
    openai_server.script(
        think("hm") + text("so") + call("show", {"host": "PC1"}, id="a"), text("cut").cut()
    )
    answer = post(openai_server, tools=[TOOL]).json()
    message = answer["choices"][0]["message"]
    assert (message["reasoning_content"], message["content"]) == ("hm", "so")
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"host": "PC1"}
    assert answer["usage"]["total_tokens"] == 18
    with pytest.raises(httpx.RemoteProtocolError):
        post(openai_server)


def test_raw_chunks_are_sent_as_they_are(openai_server: OpenAIServer) -> None:
    openai_server.script(raw([{"odd": 1}, Pause(0.01), b": comment\n\n", b"data: {"], done=False))
    assert post(openai_server, stream=True).text == 'data: {"odd": 1}\n\n: comment\n\ndata: {'


@pytest.mark.parametrize(
    ("told", "include", "prompts", "completions"),
    [
        ("last", True, [20], [6]),
        ("last", False, [], []),
        ("always", False, [20], [6]),
        ("each", True, [20, 0, 0], [2, 2, 2]),
        ("cumulative", True, [20, 20, 20], [2, 4, 6]),
        ("absent", True, [], []),
    ],
)
def test_ways_of_telling_usage(
    openai_server: OpenAIServer,
    told: Any,
    include: bool,
    prompts: list[int],
    completions: list[int],
) -> None:
    openai_server.script(text("a b", usage=Usage(20, 6, told)))
    lines = post(
        openai_server, stream=True, stream_options={"include_usage": include}
    ).text.splitlines()
    assert lines[-2] == "data: [DONE]"
    chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    usages = [chunk["usage"] for chunk in chunks if "usage" in chunk]
    assert [usage["prompt_tokens"] for usage in usages] == prompts
    assert [usage["completion_tokens"] for usage in usages] == completions


def assistant(**change: Any) -> dict[str, Any]:
    function = {"name": "show", "arguments": change.pop("arguments", "{}")}
    one = {"id": change.pop("id", "c1"), "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [one], **change}


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([USER, CALLS], "did not have response messages: c1"),
        ([USER, CALLS, USER], "did not have response messages: c1"),
        ([USER, RESULT], "must be a response"),
        ([USER, CALLS, RESULT, RESULT], "must be a response"),
        ([USER, CALLS, {"role": "tool", "content": "ok"}], "tool_call_id"),
        ([USER, assistant(arguments='{"a'), RESULT], "expected a JSON object"),
        ([USER, assistant(arguments='"x"'), RESULT], "expected a JSON object"),
        ([USER, assistant(id=""), RESULT], "expected a string of its own"),
        ([USER, assistant(tool_calls=[])], "too short"),
        ([USER, {"role": "assistant", "content": None}], "got null"),
        ([{"role": "human", "content": "hello"}], "Supported values"),
        ([{"role": "user", "content": "\ud800"}], "surrogate"),
        ([], "too short"),
    ],
)
def test_what_strict_providers_refuse(
    openai_server: OpenAIServer, messages: list[Any], why: str
) -> None:
    response = post(openai_server, messages=messages)
    assert response.status_code == 400
    assert why in response.json()["error"]["message"]
    assert why in openai_server.refused.pop()
    assert openai_server.requests == []


@pytest.mark.parametrize(
    "settings",
    [
        {"tools": []},
        {"tools": [TOOL, TOOL]},
        {"tool_choice": "none"},
        {"temperature": 2.5},
        {"max_tokens": 0},
        {"stream_options": {"include_usage": True}},
    ],
)
def test_settings_refused(openai_server: OpenAIServer, settings: dict[str, Any]) -> None:
    assert post(openai_server, **settings).status_code == 400
    assert openai_server.refused.pop()


def test_balanced_history_is_accepted(openai_server: OpenAIServer) -> None:
    openai_server.script(text("fine"))
    assert post(openai_server, messages=[USER, CALLS, RESULT], tools=[TOOL]).status_code == 200
