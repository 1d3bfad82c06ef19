"""`kill -9` of the server at any point of a turn, and what another server finds (decision A36)."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent_bench import is_title
from chat_edge import PREFIX, decoded, events, problem
from chat_turns import Json, messages_told
from copilot_core.storage import FILE, FOLDER
from openai_server import OpenAIServer, Request, Turn, call, text
from server_process import ServerProcess, server_process

STREAM = f"{PREFIX}/stream"
QUESTION = "Which nodes can be started?"

# What the model says: text, two calls, and the answer, all of it slowly.
LOOKING = "Let me look which templates there are, then I start what there is."
NODES = {"node_ids": [f"a-node-with-a-long-id-{n}" for n in range(12)]}
ANSWER = "There are no templates here, and none of the nodes that you named could be started."
STEP = 0.05
BETWEEN = 0.5
TITLE = 0.5


def model(request: Request) -> Turn:
    if is_title(request):
        return text("A title", pieces=1).pause(TITLE, 0)
    newest = request.messages[-1]
    if newest["role"] == "tool":
        return text(ANSWER).paced(STEP).pause(BETWEEN, 0)
    if newest["content"] != QUESTION:
        return text("Going on.")
    calls = call("get_gns3_templates", {}, pieces=1) + call("start_gns3_node", NODES, pieces=15)
    return (text(LOOKING) + calls).paced(STEP)


@pytest.fixture
def scripted(openai_server: OpenAIServer) -> OpenAIServer:
    openai_server.always(model)
    return openai_server


@dataclass
class Asked:
    """A turn that was asked for, and what came of it until the server was gone."""

    session_id: str = "s1"
    key: str = "k1"
    #: When each event came, and the event with its id.
    events: list[tuple[float, str, Json]] = field(default_factory=list)
    killed: float = float("inf")

    async def read(self, server: ServerProcess) -> None:
        """Until the end of the stream, or of the server."""
        with suppress(httpx.TransportError):
            async with server.client.stream("POST", STREAM, **self.request) as response:
                assert response.status_code == 200, await response.aread()
                async for event_id, data in events(response):
                    self.events.append((time.monotonic(), event_id, data))

    @property
    def request(self) -> Json:
        return {
            "json": {"message": QUESTION, "session_id": self.session_id},
            "headers": {"idempotency-key": self.key},
        }

    def told(self, until: float = float("inf")) -> list[Json]:
        return [data for at, _, data in self.events if at <= until]

    @property
    def phase(self) -> str:
        """How far the turn had come, as its reader saw it."""
        told = self.told()
        kinds = [data["type"] for data in told]
        if not kinds:
            return "start"
        if kinds[-1] == "done":
            return "done"
        if kinds[-1] == "content" and "tool_call" not in kinds:
            return "text"
        if kinds[-1] == "content":
            said = messages_told(told)[-1]["content"]
            return "title" if said == ANSWER else "answer"
        if kinds[-1] == "tool_call":
            return "arguments"
        return "tool" if kinds.count("tool_end") < 2 else "between"


async def asked_and_killed(
    server: ServerProcess, ripe: Callable[[Asked], bool], delay: float
) -> Asked:
    """The turn of a server that is killed `delay` seconds after the turn is `ripe`."""
    asked = Asked()
    reading = asyncio.create_task(asked.read(server))
    while not ripe(asked) and not reading.done():  # noqa: ASYNC110 - it is read in between
        await asyncio.sleep(0.002)
    await asyncio.sleep(delay)
    asked.killed = time.monotonic()
    await asyncio.to_thread(server.kill)
    await reading
    return asked


async def history(server: ServerProcess, session_id: str = "s1") -> Json:
    answer = await server.client.get(f"{PREFIX}/sessions/{session_id}/history")
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]  # its contract is checked by the server


def rows(folder: Path, sql: str) -> Any:
    with closing(sqlite3.connect(folder / "p1" / FOLDER / FILE)) as file:
        return file.execute(sql).fetchall()


async def check(server: ServerProcess, folder: Path, *turns: Asked) -> list[Json]:
    """What holds of a session whose turns were all killed. Returns its messages."""
    session_id = turns[0].session_id
    sessions = (await server.client.get(f"{PREFIX}/sessions")).json()
    [session] = [each for each in sessions if each["thread_id"] == session_id]
    found = await history(server, session_id)
    messages: list[Json] = found["messages"]
    assert session["message_count"] == len(messages)
    assert session["llm_calls_count"] == found["llm_calls"]
    stats = session["stats"]
    assert sum(m["llm_calls"] for m in stats["models"].values()) == found["llm_calls"]
    assert sum(stats["tool_calls"].values()) == sum(m["role"] == "tool" for m in messages)
    assert rows(folder, "SELECT count(*) FROM turn_journal") == [(0,)]
    starts = [at for at, message in enumerate(messages) if message["role"] == "user"]
    assert stats["turns"] == len(starts) == len(turns)
    for turn, begin, end in zip(turns, starts, [*starts[1:], None], strict=True):
        _check_turn(turn, messages[begin:end])
    # Either all of it was stored when it ended, or none of it.
    ended = stats["last_turn"]["status"] == "done"
    assert ended or stats["last_turn"]["status"] == "error"
    assert ended or turns[-1].phase != "done"
    assert session["title"] == ("A title" if ended else "New Chat")
    assert whole(messages) or not ended
    return messages


def whole(messages: list[Json]) -> bool:
    return messages[-1]["content"] == ANSWER and not interrupted(messages[-1])


def interrupted(message: Json) -> bool:
    return bool(message["metadata"].get("interrupted"))


def _check_turn(turn: Asked, messages: list[Json]) -> None:
    """A turn in history is the beginning of what the model said, and all that its reader had got
    a second before the kill."""
    question, *said = messages
    assert question["content"] == QUESTION
    assistants = [message for message in said if message["role"] == "assistant"]
    results = [message for message in said if message["role"] == "tool"]
    calls = [each for message in assistants for each in message.get("tool_calls") or []]
    assert len(assistants) <= 2
    for message, script in zip(assistants, (LOOKING, ANSWER), strict=False):
        assert script.startswith(message["content"])
    # Each call is answered once, behind the message that it stands in.
    assert sorted(each["id"] for each in calls) == sorted(m["tool_call_id"] for m in results)
    assert [m["role"] for m in said] == ["assistant", *["tool"] * len(results), "assistant"][
        : len(said)
    ]
    # Only the newest message can be half, and then it is marked.
    assert [m for m in assistants[:-1] if interrupted(m)] == []
    for message, script in zip(assistants, (LOOKING, ANSWER), strict=False):
        if not interrupted(message):
            assert message["content"] == script
            assert message["metadata"]["finish_reason"]
    stored = {message["id"]: message for message in said}
    for told in messages_told(turn.told(until=turn.killed - 1)):
        message = stored[told["id"]]
        if "answers" in told:
            assert message["content"] == told["content"]
            assert message["tool_call_id"] == told["answers"]
            continue
        assert message["content"].startswith(told["content"])
        kept = {each["id"]: each["function"] for each in message.get("tool_calls") or []}
        for call_id, (name, arguments) in told["calls"].items():
            assert kept[call_id]["name"] == name
            assert kept[call_id]["arguments"].startswith(arguments)


async def check_it_goes_on(server: ServerProcess, turn: Asked, scripted: OpenAIServer) -> None:
    """The session's next turn, the repeat of the killed turn's request, and its old reader."""
    before = (await history(server, turn.session_id))["messages"]
    if turn.events:
        headers = {"last-event-id": turn.events[-1][1]}
        path = f"{PREFIX}/sessions/{turn.session_id}/stream"
        assert (await server.client.get(path, headers=headers)).status_code == 410
    repeated = await server.client.post(STREAM, **turn.request)
    assert (repeated.status_code, problem(repeated)["code"]) == (410, "resync_required")
    assert problem(repeated)["session_id"] == turn.session_id
    ask = {"message": "Go on.", "session_id": turn.session_id}
    answer = await server.client.post(STREAM, json=ask)
    assert [data["type"] for _, data in decoded(answer.content)] == ["content", "content", "done"]
    after = (await history(server, turn.session_id))["messages"]
    assert after[: len(before)] == before
    assert [m["content"] for m in after[len(before) :]] == ["Go on.", "Going on."]
    assert scripted.refused == []


# -- twenty random points ----------------------------------------------------------------


#: How many points lie in each phase, and how many seconds after one of its events, at most.
WITHIN = {
    "text": (4, STEP),
    "arguments": (4, STEP),
    "tool": (3, 0.5),
    "between": (2, BETWEEN),
    "answer": (3, STEP),
    "title": (2, TITLE + 0.1),
}


def points(unharmed: Asked) -> list[tuple[int, float]]:
    """(events, seconds after the last of them): twenty points, spread over a turn."""
    chance = random.Random(3)
    count = len(unharmed.events)
    phases = [Asked(events=unharmed.events[:number]).phase for number in range(count + 1)]
    found: list[tuple[int, float]] = [(0, 0), (count, 0)]
    for phase, (times, seconds) in WITHIN.items():
        numbers = [number for number in range(count + 1) if phases[number] == phase]
        found.append((numbers[0], 0))
        found += [(chance.choice(numbers), chance.uniform(0, seconds)) for _ in range(times - 1)]
    return found


@pytest.mark.timeout(300)  # many processes, on a machine that may have other work
async def test_twenty_points_of_a_turn(tmp_path: Path, scripted: OpenAIServer) -> None:
    unharmed = Asked()
    (tmp_path / "unharmed").mkdir()
    async with server_process(tmp_path / "unharmed", scripted) as server:
        await unharmed.read(server)
        await check(server, tmp_path / "unharmed", unharmed)
    assert unharmed.phase == "done"
    phases = set[str]()
    few = asyncio.Semaphore(7)

    async def one(number: int, after: int, delay: float) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        async with few:
            async with server_process(folder, scripted) as server:
                turn = await asked_and_killed(server, lambda turn: len(turn.events) >= after, delay)
            phases.add(turn.phase)
            async with server_process(folder, scripted) as server:
                if await said(server):
                    await check(server, folder, turn)
                    await check_it_goes_on(server, turn, scripted)
                else:
                    assert turn.phase == "start"
                    again = Asked()
                    await again.read(server)
                    await check(server, folder, again)
        assert "Traceback" not in (folder / "log").read_text()

    async with asyncio.TaskGroup() as group:
        for number, (after, delay) in enumerate(points(unharmed)):
            group.create_task(one(number, after, delay))
    assert phases == {"start", *WITHIN, "done"}


# -- points that no clock hits -----------------------------------------------------------


def statements(folder: Path) -> list[str]:
    return (folder / "statements").read_text().split()


async def test_between_any_two_statements_of_a_turn(
    tmp_path: Path, openai_server: OpenAIServer
) -> None:
    """The kill comes before one SQL statement or another, from the first of a new file to the
    last commit of its first turn."""
    openai_server.always(text("Hello"))
    few = asyncio.Semaphore(4)
    ask: Json = {
        "json": {"message": "hello", "session_id": "s1"},
        "headers": {"idempotency-key": "k1"},
    }

    async def one(number: int) -> str:
        folder = tmp_path / str(number)
        folder.mkdir()
        async with few:
            async with server_process(folder, openai_server, dies_at=number) as server:
                with suppress(httpx.TransportError):
                    await server.client.post(STREAM, **ask)
            async with server_process(folder, openai_server) as server:
                found = await said(server)
                repeated = await server.client.post(STREAM, **ask)
                assert repeated.status_code == (410 if found else 200)
                assert rows(folder, "SELECT count(*) FROM turn_journal") == [(0,)]
                [session] = (await server.client.get(f"{PREFIX}/sessions")).json()
                assert session["message_count"] == len(found or ["hello", "Hello"])
                assert (await said(server))[:1] == ["hello"]
        return " ".join(found)

    assert await one(10_000) == "hello Hello"
    count = len(statements(tmp_path / "10000"))
    found = await asyncio.gather(*map(one, range(count, 0, -4)))
    # Nothing, or the question: never less after a later kill.
    assert sorted(found, reverse=True) == found
    assert set(found) == {"", "hello"}


async def said(server: ServerProcess) -> list[str]:
    answer = await server.client.get(f"{PREFIX}/sessions/s1/history")
    return [m["content"] for m in answer.json()["messages"]] if answer.status_code == 200 else []


async def test_while_an_unfinished_turn_is_stored(tmp_path: Path, scripted: OpenAIServer) -> None:
    """The next server is killed too as it opens the file, and the one after it."""
    (tmp_path / "killed").mkdir()
    async with server_process(tmp_path / "killed", scripted) as server:
        turn = await asked_and_killed(server, lambda turn: turn.phase == "tool", 0.3)
    few = asyncio.Semaphore(4)

    async def one(*dies_at: int) -> list[Json]:
        folder = tmp_path / "-".join(map(str, dies_at))
        shutil.copytree(tmp_path / "killed", folder)
        async with few:
            for number in dies_at:
                async with server_process(folder, scripted, dies_at=number) as server:
                    with suppress(httpx.TransportError):
                        await server.client.get(f"{PREFIX}/sessions")
            async with server_process(folder, scripted) as server:
                return await check(server, folder, turn)

    once = await one(10_000)
    assert once[-1]["metadata"]["status"] == "aborted"
    count = len(statements(tmp_path / "10000"))
    for again in await asyncio.gather(
        *(one(number) for number in range(count, 0, -5)),
        *(one(number, number - 1) for number in range(count, 1, -9)),
    ):
        assert timeless(again) == timeless(once)


def timeless(messages: list[Json]) -> list[Json]:
    """Without when, and under which id, they were stored: that is made up as they are."""
    return [
        {key: value for key, value in message.items() if key not in {"created_at", "id"}}
        for message in messages
    ]


async def test_two_turns_of_a_session_and_sessions_side_by_side(
    tmp_path: Path, scripted: OpenAIServer
) -> None:
    """One kill ends turns of several sessions at different points; then the next ends theirs."""
    sessions = ("s1", "s2", "s3", "s4")
    turns: dict[str, list[Asked]] = {session_id: [] for session_id in sessions}
    for kill in (1, 2):
        async with server_process(tmp_path, scripted) as server:
            reading = []
            for session_id in sessions:
                turn = Asked(session_id, key=f"{session_id}-{kill}")
                turns[session_id].append(turn)
                reading.append(asyncio.create_task(turn.read(server)))
                await asyncio.sleep(0.4)
            for session_id in sessions:
                turns[session_id][-1].killed = time.monotonic()
            await asyncio.to_thread(server.kill)
            await asyncio.gather(*reading)
    async with server_process(tmp_path, scripted) as server:
        for session_id in sessions:
            await check(server, tmp_path, *turns[session_id])
        for session_id in sessions:
            await check_it_goes_on(server, turns[session_id][-1], scripted)
