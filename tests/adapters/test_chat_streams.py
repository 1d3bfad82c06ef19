"""Turns over real HTTP that are watched, left, joined again, stopped, and run side by side."""

import asyncio
import threading
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from chat_edge import (
    PREFIX,
    SURFACE_CONTRACTS,
    Edge,
    Event,
    chat_edge,
    decoded,
    events,
    problem,
    until_idle,
    user,
)
from copilot_adapters.starlette.endpoint import ChatSettings
from copilot_contracts import verify_stream
from copilot_core.settings import CoreSettings
from openai_server import OpenAIServer, text


@pytest.fixture
def edge(tmp_path: Path, openai_server: OpenAIServer) -> Edge:
    openai_server.always(text("A title"))
    return partial(chat_edge, tmp_path, openai_server)


def asked(message: str = "hi", session_id: str = "s1", **more: Any) -> dict[str, Any]:
    return {"message": message, "session_id": session_id, **more}


async def first_content(stream: AsyncIterator[Event]) -> str:
    """Reads until the model has said something; the id of that event."""
    async with asyncio.timeout(10):
        async for event_id, data in stream:
            if data["type"] == "content":
                return event_id
    raise AssertionError("the stream ended")


async def test_the_first_word_is_there_before_the_model_says_the_next(
    edge: Edge, openai_server: OpenAIServer
) -> None:
    go_on = threading.Event()
    openai_server.script(text("one two").until(go_on, after=1))
    async with (
        edge() as client,
        client.stream("POST", f"{PREFIX}/stream", json=asked()) as response,
    ):
        stream = events(response)
        await first_content(stream)
        go_on.set()
        assert [data["type"] async for _, data in stream][-1] == "done"


async def test_one_turn_at_a_time_in_a_session_and_others_beside_it(
    edge: Edge, openai_server: OpenAIServer
) -> None:
    go_on = threading.Event()
    openai_server.script(text("one two").until(go_on, after=1))
    async with (
        edge() as client,
        client.stream("POST", f"{PREFIX}/stream", json=asked()) as response,
    ):
        stream = events(response)
        await first_content(stream)
        for streamed in (True, False):
            second = await client.post(f"{PREFIX}/stream", json=asked(stream=streamed))
            assert (second.status_code, problem(second)["code"]) == (409, "session_busy")
        other = await client.post(f"{PREFIX}/stream", json=asked(session_id="s2", stream=False))
        assert other.status_code == 200
        go_on.set()
        assert [data["type"] async for _, data in stream][-1] == "done"
        history = (await client.get(f"{PREFIX}/sessions/s1/history")).json()
    assert [m["content"] for m in history["messages"]] == ["hi", "one two"]


async def test_abort_ends_the_stream_with_abort(edge: Edge, openai_server: OpenAIServer) -> None:
    openai_server.script(text("one two").hang(after=1))
    async with (
        edge() as client,
        client.stream("POST", f"{PREFIX}/stream", json=asked()) as response,
    ):
        stream = events(response)
        await first_content(stream)
        answer = await client.post(f"{PREFIX}/sessions/s1/abort")
        assert answer.json() == {"status": "ok", "session_id": "s1"}
        rest = [data async for _, data in stream]
        assert rest[-1]["type"] == "abort"
        assert rest[-1]["reason"] == "user"
        history = (await client.get(f"{PREFIX}/sessions/s1/history")).json()
    assert [m["content"] for m in history["messages"]] == ["hi", "one "]


async def test_a_turn_that_is_not_streamed_can_be_stopped_too(
    edge: Edge, openai_server: OpenAIServer
) -> None:
    openai_server.script(text("one two").hang(after=1))
    async with edge() as client:
        waiting = asyncio.create_task(client.post(f"{PREFIX}/stream", json=asked(stream=False)))
        for _ in range(500):
            if openai_server.requests and openai_server.requests[0].sent:
                break
            await asyncio.sleep(0.02)
        await client.post(f"{PREFIX}/sessions/s1/abort")
        answer = await waiting
    body = answer.json()
    assert SURFACE_CONTRACTS.contract("response", "stream_chat:200").violation(body) is None
    assert (answer.status_code, body["status"], body["reason"]) == (200, "abort", "user")


async def test_a_reader_comes_back_after_the_last_event_it_saw(
    edge: Edge, openai_server: OpenAIServer
) -> None:
    """faults.jsonl B37: a lost connection is no abort."""
    go_on = threading.Event()
    openai_server.script(text("one two three").until(go_on, after=1))
    url = f"{PREFIX}/sessions/s1/stream"
    async with edge() as client:
        async with client.stream("POST", f"{PREFIX}/stream", json=asked()) as response:
            seen = await first_content(events(response))
        async with client.stream("GET", url, headers={"last-event-id": seen}) as response:
            assert response.status_code == 200
            go_on.set()
            rest = [event async for event in events(response)]
        whole = await client.get(url, headers={"last-event-id": f"{seen.partition(':')[0]}:0"})
        # ended: nothing runs, though its log can still be read from a known place
        assert (await client.get(url)).status_code == 204
        assert (await client.get(url, headers=user("bob"))).status_code == 404
        for stale in (f"{'0' * 16}:1", "nonsense", "", seen + "x", f"{seen}, {seen}", "a:b:1"):
            gone = await client.get(url, headers={"last-event-id": stale})
            assert (gone.status_code, problem(gone)["code"]) == (410, "resync_required"), stale
        future = f"{seen.partition(':')[0]}:9999"
        gone = await client.get(url, headers={"last-event-id": future})
        assert (gone.status_code, problem(gone)["code"]) == (410, "resync_required")
    everything = decoded(whole.content)
    numbers = [int(event_id.partition(":")[2]) for event_id, _ in rest]
    assert numbers == list(range(int(seen.partition(":")[2]) + 1, len(everything) + 1))
    assert rest == everything[-len(rest) :]
    assert verify_stream(SURFACE_CONTRACTS, whole.content) == []


async def test_a_second_reader_sees_the_running_turn_from_its_beginning(
    edge: Edge, openai_server: OpenAIServer
) -> None:
    go_on = threading.Event()
    openai_server.script(text("one two").until(go_on, after=1))
    async with (
        edge() as client,
        client.stream("POST", f"{PREFIX}/stream", json=asked()) as first,
    ):
        mine = events(first)
        await first_content(mine)
        async with client.stream("GET", f"{PREFIX}/sessions/s1/stream") as second:
            theirs = events(second)
            await first_content(theirs)
            go_on.set()
            assert [event async for event in mine] == [event async for event in theirs]


async def test_a_silent_model_is_filled_with_heartbeats_that_keep_the_contract(
    edge: Edge, openai_server: OpenAIServer
) -> None:
    openai_server.script(text("one two").pause(0.5, after=1))
    async with edge(settings=ChatSettings(heartbeat=0.1)) as client:
        answer = await client.post(f"{PREFIX}/stream", json=asked())
    assert verify_stream(SURFACE_CONTRACTS, answer.content) == []
    types = [data["type"] for _, data in decoded(answer.content)]
    assert types.count("heartbeat") >= 3
    assert types[-1] == "done"
    assert b"id: " not in b"".join(
        block for block in answer.content.split(b"\n\n") if b'"heartbeat"' in block
    )


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_turn_that_nobody_reads_is_stopped_after_the_grace(
    edge: Edge, openai_server: OpenAIServer, streamed: bool
) -> None:
    """faults.jsonl B36."""
    openai_server.script(text(" ".join(["word"] * 1000)).paced(0.02))
    async with edge(core=CoreSettings(grace=0.2)) as client:
        body = asked(stream=streamed)
        if streamed:
            async with client.stream("POST", f"{PREFIX}/stream", json=body) as response:
                await first_content(events(response))
        else:
            with pytest.raises(httpx.ReadTimeout):
                await client.post(f"{PREFIX}/stream", json=body, timeout=0.5)
        assert await openai_server.requests[0].left(5)
        await until_idle(client, "s1")
        history = (await client.get(f"{PREFIX}/sessions/s1/history")).json()
        session = (await client.get(f"{PREFIX}/sessions")).json()[0]
        again = await client.post(f"{PREFIX}/stream", json=asked("more", stream=False))
    assert history["messages"][1]["content"].startswith("word ")
    assert session["message_count"] == 2
    assert again.status_code == 200


async def test_a_turn_that_nobody_reads_goes_on_if_the_server_says_so(
    edge: Edge, openai_server: OpenAIServer
) -> None:
    openai_server.script(text("one two three four").paced(0.1))
    async with edge(core=CoreSettings(grace=None)) as client:
        async with client.stream("POST", f"{PREFIX}/stream", json=asked()) as response:
            await first_content(events(response))
        await until_idle(client, "s1")
        history = (await client.get(f"{PREFIX}/sessions/s1/history")).json()
    assert history["messages"][1]["content"] == "one two three four"


async def test_a_session_is_deleted_under_its_running_turn(
    edge: Edge, openai_server: OpenAIServer
) -> None:
    openai_server.script(text("one two").hang(after=1))
    async with (
        edge() as client,
        client.stream("POST", f"{PREFIX}/stream", json=asked()) as response,
    ):
        stream = events(response)
        await first_content(stream)
        assert (await client.delete(f"{PREFIX}/sessions/s1")).status_code == 204
        rest = [data async for _, data in stream]
        assert (rest[-1]["type"], rest[-1]["reason"]) == ("abort", "deleted")
        assert (await client.get(f"{PREFIX}/sessions/s1/history")).status_code == 404
