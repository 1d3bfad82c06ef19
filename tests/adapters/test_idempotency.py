"""`Idempotency-Key` on POST /stream: a repeated request joins the turn of the first."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest

from chat_edge import PREFIX, chat_edge, decoded, events, problem, until_idle, user
from copilot_core import timestamps
from copilot_core.settings import CoreSettings
from copilot_core.storage import FILE, FOLDER
from openai_server import OpenAIServer, text

STREAM = f"{PREFIX}/stream"


def keyed(key: str, **more: str) -> dict[str, str]:
    return {"idempotency-key": key, **more}


async def questions(client: httpx.AsyncClient, session_id: str) -> list[str]:
    answer = await client.get(f"{PREFIX}/sessions/{session_id}/history")
    return [m["content"] for m in answer.json()["messages"] if m["role"] == "user"]


def age_keys(folder: Path, hours: float) -> list[str]:
    """Make all keys so much older; which there are."""
    with sqlite3.connect(folder / "p1" / FOLDER / FILE) as file:
        found = file.execute("SELECT key, created_at FROM turn_keys ORDER BY key").fetchall()
        for key, created_at in found:
            older = datetime.fromisoformat(created_at) - timedelta(hours=hours)
            file.execute(
                "UPDATE turn_keys SET created_at = ? WHERE key = ?",
                (timestamps.as_utc(older.isoformat()), key),
            )
    file.close()
    return [key for key, _ in found]


async def test_a_repeated_request_gets_the_same_stream(
    tmp_path: Path, openai_server: OpenAIServer
) -> None:
    """During the turn and after it, whether it names the session or not."""
    openai_server.always(text("Hello", pieces=3))
    async with chat_edge(tmp_path, openai_server) as client:
        ask = {"message": "hello"}
        first = await client.post(STREAM, json=ask, headers=keyed("k1"))
        again = await client.post(STREAM, json=ask, headers=keyed("k1"))
        quoted = await client.post(STREAM, json=ask, headers=keyed('"k1"'))
        session_id = decoded(first.content)[0][1]["session_id"]
        named = await client.post(
            STREAM, json={**ask, "session_id": session_id}, headers=keyed("k1")
        )
        assert len(decoded(first.content)) > 2
        assert first.content == again.content == quoted.content == named.content
        whole = await client.post(STREAM, json={**ask, "stream": False}, headers=keyed("k1"))
        assert whole.json()["messages"][1]["content"] == "Hello"
        assert await questions(client, session_id) == ["hello"]
        assert len(openai_server.requests) == 2  # the turn's and its title's
        assert len((await client.get(f"{PREFIX}/sessions")).json()) == 1


async def test_of_many_at_once_one_starts(tmp_path: Path, openai_server: OpenAIServer) -> None:
    openai_server.always(text("Hello", pieces=3))
    async with chat_edge(tmp_path, openai_server) as client:
        answers = await asyncio.gather(
            *(client.post(STREAM, json={"message": "hello"}, headers=keyed("k1")) for _ in range(8))
        )
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.content for answer in answers}) == 1
        assert len((await client.get(f"{PREFIX}/sessions")).json()) == 1
        assert len(openai_server.requests) == 2


async def test_a_broken_stream_is_joined_where_it_broke(
    tmp_path: Path, openai_server: OpenAIServer
) -> None:
    held = threading.Event()
    openai_server.script(text("one two three", pieces=3).until(held, after=2), text("Title"))
    async with chat_edge(tmp_path, openai_server) as client:
        ask = {"message": "count"}
        async with client.stream("POST", STREAM, json=ask, headers=keyed("k1")) as response:
            stream = events(response)
            seen = [await anext(stream), await anext(stream)]
        held.set()
        rest = await client.post(
            STREAM, json=ask, headers=keyed("k1", **{"last-event-id": seen[-1][0]})
        )
        got = seen + decoded(rest.content)
        assert [int(event_id.split(":")[1]) for event_id, _ in got] == list(range(1, len(got) + 1))
        assert "".join(data.get("content", "") for _, data in got) == "one two three"


async def test_a_key_of_another_request_is_refused(
    tmp_path: Path, openai_server: OpenAIServer
) -> None:
    openai_server.always(text("Hello"))
    async with chat_edge(tmp_path, openai_server) as client:
        await client.post(STREAM, json={"message": "hello"}, headers=keyed("k1"))
        for other in (
            {"message": "bye"},
            {"message": "hello", "temperature": 1.0},
            {"message": "hello", "max_tokens": 5},
            {"message": "hello", "session_id": "another"},
        ):
            answer = await client.post(STREAM, json=other, headers=keyed("k1"))
            assert (answer.status_code, problem(answer)["code"]) == (422, "invalid_request")
        assert len(openai_server.requests) == 2


async def test_a_key_is_its_users_own(tmp_path: Path, openai_server: OpenAIServer) -> None:
    openai_server.always(text("Hello"))
    async with chat_edge(tmp_path, openai_server) as client:
        ask = {"message": "hello"}
        mine = await client.post(STREAM, json=ask, headers=keyed("k1"))
        theirs = await client.post(STREAM, json=ask, headers=keyed("k1", **user("bob")))
        assert theirs.status_code == 200
        sessions = {decoded(a.content)[0][1]["session_id"] for a in (mine, theirs)}
        assert len(sessions) == 2


async def test_a_turn_that_is_no_longer_kept_is_not_started_again(
    tmp_path: Path, openai_server: OpenAIServer
) -> None:
    """Neither after its log was dropped, nor in another process."""
    openai_server.always(text("Hello"))
    ask = {"message": "hello"}
    for core in (CoreSettings(keep_log=0.05), CoreSettings()):
        async with chat_edge(tmp_path, openai_server, core=core) as client:
            if core.keep_log < 1:
                first = await client.post(STREAM, json=ask, headers=keyed("k1"))
                session_id = decoded(first.content)[0][1]["session_id"]
                await asyncio.sleep(0.2)
            answer = await client.post(STREAM, json=ask, headers=keyed("k1"))
            assert answer.status_code == 410
            assert problem(answer)["code"] == "resync_required"
            assert problem(answer)["session_id"] == session_id
            assert await questions(client, session_id) == ["hello"]
    assert len(openai_server.requests) == 2


async def test_a_key_is_remembered_for_a_day(tmp_path: Path, openai_server: OpenAIServer) -> None:
    openai_server.always(text("Hello"))
    async with chat_edge(tmp_path, openai_server) as client:
        ask = {"message": "hello", "session_id": "s1"}
        first = await client.post(STREAM, json=ask, headers=keyed("k1"))
        await client.post(STREAM, json=ask, headers=keyed("k2"))
        assert age_keys(tmp_path, 23) == ["k1", "k2"]
        again = await client.post(STREAM, json=ask, headers=keyed("k1"))
        assert again.content == first.content
        assert age_keys(tmp_path, 2) == ["k1", "k2"]
        anew = await client.post(STREAM, json=ask, headers=keyed("k1"))
        assert decoded(anew.content)[-1][1]["type"] == "done"
        assert anew.content != first.content
        assert await questions(client, "s1") == ["hello"] * 3
        assert age_keys(tmp_path, 0) == ["k1"]  # what is too old isn't kept


async def test_a_refused_request_uses_up_no_key(
    tmp_path: Path, openai_server: OpenAIServer
) -> None:
    held = threading.Event()
    openai_server.script(text("one two", pieces=2).until(held, after=1), text("Title"))
    async with chat_edge(tmp_path, openai_server) as client:
        ask = {"message": "count", "session_id": "s1"}
        async with client.stream("POST", STREAM, json=ask) as response:
            stream = events(response)
            await anext(stream)
            busy = await client.post(STREAM, json=ask, headers=keyed("k1"))
            assert problem(busy)["code"] == "session_busy"
            held.set()
            async for _ in stream:
                pass
        await until_idle(client, "s1")
        openai_server.always(text("Again."))
        answer = await client.post(STREAM, json=ask, headers=keyed("k1"))
        assert decoded(answer.content)[-1][1]["type"] == "done"


async def test_a_deleted_session_takes_its_keys_along(
    tmp_path: Path, openai_server: OpenAIServer
) -> None:
    openai_server.always(text("Hello"))
    async with chat_edge(tmp_path, openai_server) as client:
        ask = {"message": "hello", "session_id": "s1"}
        await client.post(STREAM, json=ask, headers=keyed("k1"))
        assert (await client.delete(f"{PREFIX}/sessions/s1")).status_code == 204
        answer = await client.post(STREAM, json=ask, headers=keyed("k1"))
        assert decoded(answer.content)[-1][1]["type"] == "done"
        assert await questions(client, "s1") == ["hello"]


@pytest.mark.parametrize("key", ["", "a b", "x" * 256, '"unclosed quote'])
async def test_a_malformed_key(tmp_path: Path, openai_server: OpenAIServer, key: str) -> None:
    async with chat_edge(tmp_path, openai_server) as client:
        answer = await client.post(STREAM, json={"message": "hello"}, headers=keyed(key))
        assert problem(answer)["code"] == "invalid_request"
        assert openai_server.requests == []
