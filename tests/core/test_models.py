"""Models that behave in ways their providers don't promise: each turn ends, bounded and stored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from agent_bench import read, said
from copilot_core.llm.answer import MAX_ANSWER
from copilot_core.llm.config import LlmConfig
from copilot_core.ports import Identity
from copilot_core.projects import ProjectAgentManager
from copilot_core.runs import Run
from copilot_core.service import AgentService, Turn
from copilot_core.settings import CoreSettings


class Model(BaseChatModel):
    """Streams what ``script`` yields."""

    script: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError

    async def _astream(self, messages: Any, *args: Any, **kw: Any) -> AsyncIterator[Any]:
        async for chunk in self.script():
            yield ChatGenerationChunk(message=chunk)


class Whole(BaseChatModel):
    """A model that doesn't stream."""

    answer: Any

    @property
    def _llm_type(self) -> str:
        return "whole"

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.answer)])


class Direct(BaseChatModel):
    """A model whose ``astream`` itself is ours, generator and all."""

    script: Any

    @property
    def _llm_type(self) -> str:
        return "direct"

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError

    def astream(self, *args: Any, **kwargs: Any) -> Any:
        return self.script()


class Lab:
    """One agent; each test gives it a model."""

    def __init__(self, folder: Path) -> None:
        self.model: BaseChatModel
        self.manager = ProjectAgentManager(
            settings=CoreSettings(stop_seconds=0.5), model=lambda llm: self.model
        )
        self._folder = folder

    async def agent(self) -> AgentService:
        return await self.manager.get_agent("p", self._folder)

    async def start(self, model: BaseChatModel, session_id: str = "s") -> Run:
        self.model = model
        return await (await self.agent()).stream_chat(
            Turn("hello", session_id),
            identity=Identity("ann"),
            llm=LlmConfig("m"),
            surface="gns3-chat",
        )

    async def history(self) -> list[dict[str, Any]]:
        return (await (await self.agent()).get_history("s", "ann"))["messages"]

    async def session(self) -> dict[str, Any]:
        return (await (await self.agent()).list_sessions("ann"))[0]


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    lab = Lab(tmp_path)
    yield lab
    await lab.manager.close_all()


def chunks(*made: AIMessageChunk) -> Model:
    async def stream() -> AsyncIterator[AIMessageChunk]:
        for chunk in made:
            yield chunk

    return Model(script=stream)


async def test_a_model_that_does_not_stream(lab: Lab) -> None:
    answer = AIMessage(
        "Hello.",
        usage_metadata={"input_tokens": 5, "output_tokens": 2, "total_tokens": 7},
        response_metadata={"finish_reason": "stop"},
    )
    events = await read(await lab.start(Whole(answer=answer)))
    assert said(events) == "Hello."
    assert events[-1]["type"] == "done"
    assert (await lab.history())[1]["metadata"]["finish_reason"] == "stop"
    assert (await lab.session())["input_tokens"] == 10  # the answer and the title


async def test_content_blocks(lab: Lab) -> None:
    model = chunks(
        AIMessageChunk([{"type": "reasoning", "reasoning": "hm", "index": 0}]),
        AIMessageChunk([{"type": "text", "text": "Hel", "index": 1}]),
        AIMessageChunk(["lo"]),
        AIMessageChunk([{"type": "image_url", "image_url": {"url": "data:"}}]),
        AIMessageChunk([{"type": "text", "text": ".", "index": 1}]),
    )
    events = await read(await lab.start(model))
    assert said(events) == "Hello."
    assert (await lab.history())[1]["content"] == "Hello."


@pytest.mark.parametrize("reason", [7, ["stop"], {"a": 1}, "", None, "STOP\ud800"])
async def test_odd_finish_reasons(lab: Lab, reason: Any) -> None:
    last = AIMessageChunk("", response_metadata={"finish_reason": reason})
    events = await read(await lab.start(chunks(AIMessageChunk("Hello."), last)))
    assert events[-1]["type"] == "done"
    told = (await lab.history())[1]["metadata"].get("finish_reason")
    assert told == ("STOP\ufffd" if isinstance(reason, str) and reason else None)


@pytest.mark.parametrize(("tokens", "known"), [((0, 0), False), ((-3, -1), False), ((4, 0), True)])
async def test_odd_usage(lab: Lab, tokens: tuple[int, int], known: bool) -> None:
    """A10: unknown usage is unknown, never a made-up 0, never negative."""
    usage: Any = {"input_tokens": tokens[0], "output_tokens": tokens[1], "total_tokens": 0}
    await (await lab.start(chunks(AIMessageChunk("Hi", usage_metadata=usage)))).wait()
    session = await lab.session()
    assert session["stats"]["unknown_usage_calls"] == (0 if known else 2)
    assert session["stats"]["context_tokens"] == (tokens[0] if known else None)
    assert session["total_tokens"] >= 0


async def test_an_answer_of_5_megabytes_is_stopped(lab: Lab) -> None:
    sent = 0

    async def stream() -> AsyncIterator[AIMessageChunk]:
        nonlocal sent
        while sent < 5_000_000:
            sent += 10_000
            yield AIMessageChunk("x" * 10_000)

    run = await lab.start(Model(script=stream))
    events = await read(run)
    assert (events[-1]["type"], events[-1]["code"]) == ("error", "llm_unavailable")
    assert sent < MAX_ANSWER + 30_000
    _, answer = await lab.history()
    assert answer["content"] == said(events)
    assert answer["metadata"]["interrupted"] is True


@pytest.mark.parametrize("kind", ["text", "arguments", "nothing"])
async def test_an_answer_that_never_ends(
    lab: Lab, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("copilot_core.llm.answer.MAX_ANSWER", 2000)
    monkeypatch.setattr("copilot_core.llm.answer.MAX_CHUNKS", 500)
    piece = {"name": None, "args": "x" * 50, "id": None, "index": 0}
    first = {**piece, "name": "get_gns3_templates", "id": "c1"}

    async def stream() -> AsyncIterator[AIMessageChunk]:
        if kind == "arguments":
            yield AIMessageChunk("", tool_call_chunks=[first])  # type: ignore[list-item]  # a TypedDict of it
        while True:
            await asyncio.sleep(0)
            match kind:
                case "text":
                    yield AIMessageChunk("x" * 50)
                case "arguments":
                    yield AIMessageChunk("", tool_call_chunks=[piece])  # type: ignore[list-item]  # as above
                case _:
                    yield AIMessageChunk("")

    async with asyncio.timeout(20):
        events = await read(await lab.start(Model(script=stream)))
    assert (events[-1]["type"], events[-1]["code"]) == ("error", "llm_unavailable")
    assert (await lab.history())[0]["role"] == "user"


@pytest.mark.parametrize("stubborn", ["swallows", "yields on"])
async def test_a_stream_that_ignores_being_stopped(lab: Lab, stubborn: str) -> None:
    """The turn ends in bounded time, and what the stream still says later reaches nothing."""
    free = asyncio.Event()

    async def stream() -> AsyncIterator[AIMessageChunk]:
        yield AIMessageChunk("one ")
        while not free.is_set():
            try:
                await free.wait()
            except asyncio.CancelledError:
                if stubborn == "yields on":
                    yield AIMessageChunk("again ")
        yield AIMessageChunk("late")

    run = await lab.start(Direct(script=stream))
    async with run.subscribe() as reader:
        await reader.next(5)
        async with asyncio.timeout(3):
            await (await lab.agent()).abort("s", "ann")
    events = await read(run)
    assert (events[-1]["type"], events[-1]["reason"]) == ("abort", "user")
    before = await lab.history()
    free.set()
    assert (await read(await lab.start(chunks(AIMessageChunk("Go on.")))))[-1]["type"] == "done"
    await asyncio.sleep(0.1)
    after = await lab.history()
    assert after[:2] == before
    assert [m["content"] for m in after[2:]] == ["hello", "Go on."]


class Odd(BaseException):
    """Not an Exception."""


@pytest.mark.parametrize(
    "wrong",
    [
        RuntimeError("sk-secret-in-a-text"),
        ExceptionGroup("several", [ValueError("sk-secret-in-a-text"), OSError("x")]),
        BaseExceptionGroup("several", [Odd("sk-secret-in-a-text")]),
        Odd("sk-secret-in-a-text"),
        asyncio.CancelledError("sk-secret-in-a-text"),
        StopAsyncIteration("sk-secret-in-a-text"),
    ],
    ids=lambda wrong: type(wrong).__name__,
)
async def test_whatever_a_model_raises(
    lab: Lab, wrong: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    async def stream() -> AsyncIterator[AIMessageChunk]:
        yield AIMessageChunk("one ")
        raise wrong

    events = await read(await lab.start(Model(script=stream)))
    # What a client raises, it raises about the answer; the rest is no exception of a client.
    code = "llm_unavailable" if isinstance(wrong, Exception) else "internal"
    assert (events[-1]["type"], events[-1].get("code")) == ("error", code)
    assert caplog.records
    assert "sk-secret" not in caplog.text + str(events)
    assert [m["content"] for m in await lab.history()] == ["hello", "one "]
    assert (await read(await lab.start(chunks(AIMessageChunk("Hi")))))[-1]["type"] == "done"


async def test_a_model_that_cannot_be_made(lab: Lab, caplog: pytest.LogCaptureFixture) -> None:
    secret = "sk-secret-in-a-text"

    def fail(llm: LlmConfig) -> BaseChatModel:
        raise ValueError(secret)

    (await lab.agent())._model = fail
    events = await read(await lab.start(chunks()))
    assert (events[-1]["type"], events[-1]["code"]) == ("error", "internal")
    assert "ValueError" in caplog.text
    assert "sk-secret" not in caplog.text


async def test_an_answer_of_nothing_at_all(lab: Lab) -> None:
    """LangChain itself refuses a stream without a chunk."""
    events = await read(await lab.start(chunks()))
    assert [e["type"] for e in events] == ["error"]
    assert [m["role"] for m in await lab.history()] == ["user"]
