"""The journal of a running turn, and what is made of it after a crash (decision A36)."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from agent_bench import PROJECT, Bench, read, said
from copilot_core import events as ev
from copilot_core import journal
from copilot_core.database import StorageError
from copilot_core.journal import TurnJournal, TurnStart
from copilot_core.messages import user_message
from copilot_core.storage import FOLDER, ProjectStore
from copilot_core.tools.base import ToolContext
from copilot_core.turn import TurnRecord
from openai_server import call, text


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries every few milliseconds."""
    monkeypatch.setattr(journal, "INTERVAL", 0.01)


def entries(bench: Bench) -> list[Any]:
    with sqlite3.connect(bench.file) as file:
        found = file.execute("SELECT entry FROM turn_journal ORDER BY rowid").fetchall()
    file.close()
    return [orjson.loads(entry) for [entry] in found]


async def until(holds: Any) -> None:
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 - what it asks for is in a file
            await asyncio.sleep(0.01)


Crash = Callable[[Path], Bench]


@pytest.fixture
async def crashed(bench: Bench) -> AsyncIterator[Crash]:
    """What another process would find if this one died now: a copy of the file as it is."""
    found: list[Bench] = []

    def crash(folder: Path) -> Bench:
        shutil.copytree(bench.path / FOLDER, folder / FOLDER)
        found.append(Bench(bench.server, folder, bench.settings, bench.runs))
        return found[-1]

    yield crash
    for other in found:
        await other.manager.close_all()


async def test_a_turn_is_journalled_and_forgotten_when_it_is_stored(bench: Bench) -> None:
    held = threading.Event()
    bench.server.script(text("one two three", pieces=3).until(held, after=2))
    run = await bench.start("count", "s1")
    assert entries(bench)[0]["message"]["content"] == "count"  # before the model is asked
    await until(lambda: len(entries(bench)) > 1 and run.last == 2)
    await until(lambda: "one two " in str(entries(bench)) or len(entries(bench)) > 2)
    held.set()
    assert said(await read(run)) == "one two three"
    assert entries(bench) == []


async def test_a_crash_in_mid_text(bench: Bench, crashed: Crash, tmp_path: Path) -> None:
    bench.server.script(text("Hello").with_usage(5, 7))
    await bench.ask("hello", "s1")
    held = threading.Event()
    bench.server.script(text("one two three", pieces=3).until(held, after=2))
    run = await bench.start("count", "s1")
    await until(lambda: run.last == 2)
    await asyncio.sleep(0.1)
    other = crashed(tmp_path / "after")
    history = await other.history("s1")
    streamed = said(await _so_far(run))
    assert [m["content"] for m in history] == ["hello", "Hello", "count", streamed]
    assert history[3]["metadata"]["interrupted"] is True
    session = await other.session("s1")
    assert session["message_count"] == 4
    assert session["llm_calls_count"] == 3  # the title's too
    assert session["stats"]["turns"] == 2
    assert session["stats"]["last_turn"]["status"] == "error"
    assert entries(other) == []
    bench.server.script(text("Better."))
    assert said(await other.ask("again", "s1")) == "Better."
    assert [m["content"] for m in bench.server.requests[-1].messages[-2:]] == [streamed, "again"]
    held.set()
    await read(run)


async def test_a_crash_while_a_tool_runs(bench: Bench, crashed: Crash, tmp_path: Path) -> None:
    """The call is answered `aborted`, as far as anybody knows; what was answered stays."""
    held = asyncio.Event()

    async def hang(arguments: dict[str, Any], context: ToolContext) -> Any:
        await held.wait()
        return {"templates": []}

    async def quick(arguments: dict[str, Any], context: ToolContext) -> Any:
        return {"error": "no such node"}

    bench.runs |= {"get_gns3_templates": hang, "gns3_topology_reader": quick}
    calls = text("Looking. ") + call("get_gns3_templates", {}, id="a")
    bench.server.script(calls + call("gns3_topology_reader", {}, id="b"))
    run = await bench.start("look", "s1")
    await until(lambda: "no such node" in str(entries(bench)))
    other = crashed(tmp_path / "after")
    user, assistant, *results = await other.history("s1")
    assert user["content"] == "look"
    assert assistant["content"] == "Looking. "
    assert [c["id"] for c in assistant["tool_calls"]] == ["a", "b"]
    assert "interrupted" not in assistant["metadata"]  # it had ended
    told = {m["tool_call_id"]: m for m in results}
    assert told["a"]["metadata"]["status"] == "aborted"
    assert told["b"]["content"] == '{"error":"no such node"}'
    assert (await other.session("s1"))["message_count"] == 4
    bench.server.script(text("Better."))
    assert said(await other.ask("again", "s1")) == "Better."
    bench.server.script(text("Done."))
    held.set()
    await read(run)


async def test_a_journal_that_cannot_be_read_harms_nobody(
    bench: Bench, crashed: Crash, tmp_path: Path
) -> None:
    bench.server.script(text("Hello"), text("Hello"))
    await bench.ask("hello", "s1")
    await bench.ask("hello", "s2")
    other = crashed(tmp_path / "after")
    with sqlite3.connect(other.file) as file:
        for run_id, entry in (
            ("r1", "{"),
            ("r2", "[]"),
            ("r3", '{"message":{"role":"assistant","content":"x"}}'),
            ("r4", '{"message":{"role":"user","content":"x"},"events":[]}'),
            ("r5", None),
        ):
            file.execute("INSERT INTO turn_journal VALUES (?, 0, 's1', ?)", (run_id, entry))
        good = {
            "user_id": "ann",
            "project_id": PROJECT,
            "model": "m",
            "message": {"role": "user", "content": "good"},
        }
        file.execute(
            "INSERT INTO turn_journal VALUES ('r6', 0, 's2', ?)", (orjson.dumps(good).decode(),)
        )
        file.execute(
            "INSERT INTO turn_journal VALUES ('r6', 1, 's2', ?)",
            ('{"ms": 5, "events": [["TextDelta", "m9", "said"], ["exec", 1]]}',),
        )
    file.close()
    assert [m["content"] for m in await other.history("s1")] == ["hello", "Hello"]
    assert [m["content"] for m in await other.history("s2")][:2] == ["hello", "Hello"]
    bench.server.script(text("Better."))
    assert said(await other.ask("again", "s1")) == "Better."


async def test_a_deleted_session_is_not_brought_back(
    bench: Bench, crashed: Crash, tmp_path: Path
) -> None:
    """Nor by an entry that comes late, nor by what another process finds."""
    held = threading.Event()
    bench.server.script(text("one two three", pieces=3).until(held, after=2))
    run = await bench.start("count", "s1")
    await until(lambda: len(entries(bench)) > 1)
    agent = await bench.agent()
    await agent.delete_session("s1", "ann")
    held.set()
    assert (await read(run))[-1]["reason"] == "deleted"
    await asyncio.sleep(0.05)
    assert entries(bench) == []
    other = crashed(tmp_path / "after")
    assert await (await other.agent()).list_sessions("ann") == []


async def _so_far(run: Any) -> list[Any]:
    from copilot_contracts.sse import Decoder

    async with run.subscribe() as reader:
        block = await reader.next(5)
    return [orjson.loads(event.data) for event in Decoder().feed(block)]


async def test_what_could_not_be_written_comes_with_the_next_entry() -> None:
    """Joined, so that a disk that is full for long costs no more memory than the turn itself."""
    full = True
    written: list[Any] = []

    async def write(place: int, entry: Any) -> None:
        if full:
            raise StorageError("the disk is full")
        written.append((place, entry["events"]))

    waiting = TurnJournal(TurnRecord(user_message("hi")), write)
    for number in range(30):
        waiting.take(ev.TextDelta("m", f"{number} "))
        waiting.take(ev.CallDelta("m", "c", "ping", "x" * number, False))
        await asyncio.sleep(0.003)
    full = False
    await until(lambda: written)
    waiting.close()
    [(place, events)] = written
    assert place == 1
    assert "".join(e[2] for e in events if e[0] == "TextDelta") == "".join(
        f"{number} " for number in range(30)
    )
    assert [e[4] for e in events if e[0] == "CallDelta"] == ["x" * 29]


async def test_arguments_are_journalled_once() -> None:
    """Each entry tells what is new of a call, not all of it again."""
    written: list[Any] = []

    async def write(place: int, entry: Any) -> None:
        written.extend(entry["events"])

    growing = TurnJournal(TurnRecord(user_message("hi")), write)
    for number in range(1, 40):
        growing.take(ev.CallDelta("m", "c", "ping", "x" * 1000 * number, False))
        await asyncio.sleep(0.005)
    await until(lambda: sum(len(e[4]) for e in written) == 39_000)
    assert len(written) > 3
    growing.close()


async def test_a_deleted_session_takes_no_entry(bench: Bench) -> None:
    """Neither of a turn that it had, nor of one that was to begin just then."""
    bench.server.script(text("Hello"))
    await bench.ask("hello", "s1")
    agent = await bench.agent()
    start = TurnStart("r1", "s1", "ann", PROJECT, "m", user_message("count"))
    await agent._store.begin(start, None)
    assert len(entries(bench)) == 1
    await agent.delete_session("s1", "ann")
    await agent._store.journal.write(start, 1, {"ms": 5, "events": []})
    assert entries(bench) == []
    await agent._store.begin(start, None)
    assert entries(bench) == []


async def test_what_cannot_be_stored_at_the_opening_is_stored_before_the_next_turn(
    bench: Bench, crashed: Crash, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, held = await bench.counting()
    await until(lambda: "one " in str(entries(bench)))
    other = crashed(tmp_path / "after")
    held.set()
    await read(run)
    reconcile = ProjectStore.reconcile

    async def forbidden(store: ProjectStore, thread_id: str | None = None) -> None:
        await store.saver.conn.execute("PRAGMA query_only = ON")
        try:
            await reconcile(store, thread_id)
        finally:
            await store.saver.conn.execute("PRAGMA query_only = OFF")

    with monkeypatch.context() as patch:
        patch.setattr(ProjectStore, "reconcile", forbidden)
        assert await other.history("s1") == []
        with pytest.raises(StorageError):  # no newer turn before this one
            await other.start("again", "s1")
    bench.server.script(text("Better."))
    assert said(await other.ask("again", "s1")) == "Better."
    history = [m["content"] for m in await other.history("s1")]
    assert history == ["count", "one ", "again", "Better."]
    assert entries(other) == []
    await other.manager.close_all()
