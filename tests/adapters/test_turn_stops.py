"""Turns that are stopped, over real HTTP: at every moment, by whatever stops them.

How a stopped turn ends and what is stored of it is in test_turn_endings.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from chat_edge import PREFIX, SURFACE_CONTRACTS, problem
from chat_turns import Chat, Edge, Json, open_chat
from copilot_core.settings import CoreSettings
from openai_server import OpenAIServer, Turn, call, text

T = TypeVar("T")

PATIENT = CoreSettings(stop_seconds=30)  # a turn that has to be given up fails its test


@pytest.fixture
def edge(tmp_path: Path, openai_server: OpenAIServer) -> Edge:
    return partial(open_chat, tmp_path, openai_server, core=PATIENT)


@dataclass
class HangingTool:
    """A tool that has been called, and not answered unless it was stopped."""

    begun: asyncio.Event
    stopped: asyncio.Event

    async def __call__(self, arguments: Json, context: object) -> Any:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped.set()


@pytest.fixture
def tool() -> HangingTool:
    return HangingTool(asyncio.Event(), asyncio.Event())


async def post(chat: Chat, session_id: str = "s1", message: str = "hi") -> tuple[int, Json]:
    """A turn as one document."""
    body = {"message": message, "session_id": session_id, "stream": False}
    answer = await chat.client.post(f"{PREFIX}/stream", json=body)
    return answer.status_code, answer.json() if answer.is_success else problem(answer)


# -- aborts ------------------------------------------------------------------------------

NODES = call("start_gns3_node", {"node_ids": ["n1", "n2"]}, id="c1", pieces=4)
STOPPED = "tool c1: aborted"


@pytest.mark.parametrize(
    ("said", "until", "shown"),
    [
        pytest.param(text("one two").hang(after=0), None, [], id="before the first word"),
        pytest.param(
            text("one two").hang(after=1),
            "content",
            ["assistant: one  (interrupted)"],
            id="text",
        ),
        pytest.param(
            text("one two").hang(), "content", ["assistant: one two (interrupted)"], id="last word"
        ),
        pytest.param(
            NODES.hang(after=1),
            "tool_call",
            ["assistant:  ['c1'] (interrupted)", STOPPED],
            id="a call's name",
        ),
        pytest.param(
            NODES.hang(after=3),
            "tool_call",
            ["assistant:  ['c1'] (interrupted)", STOPPED],
            id="arguments",
        ),
        pytest.param(
            NODES.hang(),
            "tool_call",
            ["assistant:  ['c1'] (interrupted)", STOPPED],
            id="last argument",
        ),
    ],
)
async def test_an_abort_while_the_model_speaks(
    edge: Edge, said: Turn, until: str | None, shown: list[str]
) -> None:
    """It is answered when all is stored and the stream has ended; the model's request is closed."""
    async with edge() as chat:
        chat.model.script(said)
        async with chat.asked() as reader:
            await chat.model.wait_for_requests(1)
            if until:
                await reader.until(until)
            async with asyncio.timeout(1):
                await chat.abort()
            assert await chat.shown() == ["user: hi", *shown]
            assert (await reader.end())["type"] == "abort"
        assert await chat.model.requests[0].left()
        await chat.settled(reader, llm_calls=1, untold=1)


async def test_an_abort_while_tools_work(edge: Edge, tool: HangingTool) -> None:
    """What a tool has answered is kept; the others are stopped, and answered for."""
    async with edge() as chat:
        chat.runs["start_gns3_node"] = tool
        chat.model.script(NODES + call("get_gns3_templates", {}, id="c2"))
        async with chat.asked() as reader:
            await reader.until("tool_end")
            await tool.begun.wait()
            async with asyncio.timeout(1):
                await chat.abort()
            assert tool.stopped.is_set()
            assert (await reader.end())["type"] == "abort"
        assert await chat.shown() == [
            "user: hi",
            "assistant:  ['c1', 'c2']",
            "tool c2: success",
            "tool c1: aborted",
        ]
        await chat.settled(reader, llm_calls=1)


async def test_an_abort_while_a_title_is_sought(edge: Edge) -> None:
    """The answer is whole; the next turn gives the title."""
    titles = iter([text("A title").hang(after=1), text("Another title")])
    async with edge(title=lambda request: next(titles)) as chat:
        chat.model.script(text("Hello there"))
        async with chat.asked() as reader:
            await chat.model.wait_for_requests(2)
            await chat.abort()
            assert (await reader.end())["type"] == "abort"
        assert await chat.model.requests[1].left()
        assert await chat.shown() == ["user: hi", "assistant: Hello there"]
        assert (await chat.session())["title"] == "New Chat"
        await chat.settled(reader, llm_calls=2, untold=1)
        assert (await chat.session())["title"] == "Another title"


async def later(milliseconds: float, what: Callable[[], Awaitable[T]]) -> T:
    await asyncio.sleep(max(0, milliseconds) / 1000)
    return await what()


async def test_an_abort_that_races_the_start(edge: Edge) -> None:
    """Whatever comes first: the stream has its one end, and history what it said."""
    async with edge() as chat:
        chat.model.always(text("one two"))
        ended = set()
        for n in range(-5, 35):
            path = chat.path("abort", f"s{n}")
            reader, answer = await asyncio.gather(
                later(-n, partial(chat.ask, session_id=f"s{n}")),
                later(n * 0.8, partial(chat.client.post, path)),
            )
            assert answer.status_code in (200, 404)  # there was no such session yet
            ended.add((answer.status_code, reader.told[-1]["type"]))
            await chat.agrees(reader)
        assert {(404, "done"), (200, "abort")} <= ended
        assert chat.model.refused == []
    for request in chat.model.requests:  # none is forgotten
        assert request.answered.is_set() or await request.left()


async def test_an_abort_of_an_idle_session_changes_nothing(edge: Edge) -> None:
    async with edge() as chat:
        chat.model.script(text("Hello"))
        reader = await chat.ask()
        before = await chat.history(), await chat.session()
        await chat.abort()
        assert (await chat.history(), await chat.session()) == before
        await chat.settled(reader, llm_calls=2)


async def test_several_aborts_at_once(edge: Edge) -> None:
    async with edge() as chat:
        chat.model.script(text("one two").hang(after=1))
        async with chat.asked() as reader:
            await reader.until("content")
            await asyncio.gather(*(chat.abort() for _ in range(5)))
            await reader.end()
        assert [data["type"] for data in reader.told] == ["content", "abort"]
        await chat.settled(reader, llm_calls=1, untold=1)


async def test_a_turn_that_is_not_streamed_can_be_stopped_too(edge: Edge) -> None:
    async with edge() as chat:
        chat.model.script(text("one two").hang(after=1))
        asking = asyncio.create_task(post(chat))
        await chat.model.wait_for_requests(1)
        async with chat.joined() as reader:
            await reader.until("content")
            await chat.abort()
            await reader.end()
        status, body = await asking
        assert SURFACE_CONTRACTS.contract("response", "stream_chat:200").violation(body) is None
        assert (status, body["status"], body["reason"]) == (200, "abort", "user")
        assert body["messages"] == (await chat.history())["messages"]
        await chat.settled(reader, llm_calls=1, untold=1)


# -- deletes -----------------------------------------------------------------------------


async def test_a_delete_at_any_moment_of_a_turn(edge: Edge) -> None:
    """Two at once. Afterwards nothing is there and nothing comes back, unless they came first."""
    async with edge() as chat:
        chat.model.always(text("one two"))
        ended, kept = set(), set()
        for n in range(-3, 25):
            path = chat.path("", f"s{n}")
            reader, *deletes = await asyncio.gather(
                later(-n, partial(chat.ask, session_id=f"s{n}")),
                *(later(n, partial(chat.client.delete, path)) for _ in range(2)),
            )
            statuses = {answer.status_code for answer in deletes}
            last = reader.told[-1]
            ended.add(last.get("reason", last["type"]))
            if statuses == {404}:  # there was no such session yet
                await chat.agrees(reader)
                kept.add(f"s{n}")
            else:
                assert 204 in statuses
                assert (await chat.client.get(f"{path}/history")).status_code == 404
        assert ended == {"done", "deleted"}
        sessions = (await chat.client.get(f"{PREFIX}/sessions")).json()
        assert {each["thread_id"] for each in sessions} == kept


# -- a project that is closed, a server that ends ------------------------------------------


@pytest.mark.parametrize("how", ["closed", "shutdown"])
async def test_all_turns_of_a_project_are_stopped_at_once(
    edge: Edge, tool: HangingTool, how: str
) -> None:
    """In text, in a tool, before the first word, not streamed: all end, each reader is told."""
    async with edge() as chat:
        chat.runs["start_gns3_node"] = tool
        turns = {
            "s1": text("one two").hang(after=1),
            "s2": NODES,
            "s3": text("one").hang(after=0),
            "s4": text("one two").hang(after=1),
        }
        chat.model.always(lambda request: turns[request.messages[-1]["content"]])
        async with AsyncExitStack() as stack:
            readers = [
                await stack.enter_async_context(chat.asked(session_id, session_id))
                for session_id in ("s1", "s2", "s3")
            ]
            document = asyncio.create_task(post(chat, "s4", "s4"))
            await chat.model.wait_for_requests(4)
            await readers[0].until("content")
            await (await stack.enter_async_context(chat.joined(session_id="s4"))).until("content")
            await tool.begun.wait()
            if how == "closed":
                await chat.agents.remove_agent("p1")
            else:
                await chat.agents.close_all()
            assert tool.stopped.is_set()
            ends = [await reader.end() for reader in readers]
            status, body = await document
        told = "project_closed" if how == "closed" else "shutdown"
        assert [end.get("code", end.get("reason")) for end in ends] == [told] * 3
        assert (status, body.get("code", body.get("reason"))) == (
            (500, "project_closed") if how == "closed" else (200, "shutdown")
        )
        for request in chat.model.requests:
            assert request.answered.is_set() or await request.left()
    async with edge() as chat:  # all is stored
        for reader in readers:
            await chat.agrees(reader)
        assert await chat.shown("s4") == ["user: s4", "assistant: one  (interrupted)"]
