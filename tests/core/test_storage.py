"""Turns on their way into the project's file, and what keeps them from getting there."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_bench import PROJECT, Bench, read, said
from copilot_core.database import StorageError
from copilot_core.journal import TurnStart
from copilot_core.messages import user_message
from copilot_core.storage import ProjectStore
from copilot_core.turn import TurnRecord
from openai_server import text

_Begun = tuple[TurnStart, TurnRecord]


async def _full(store: ProjectStore) -> None:
    [[pages]] = await store.saver.conn.execute_fetchall("PRAGMA page_count")
    await store.saver.conn.execute(f"PRAGMA max_page_count = {pages}")


async def _read_only(store: ProjectStore) -> None:
    await store.saver.conn.execute("PRAGMA query_only = ON")


async def _mended(store: ProjectStore) -> None:
    await store.saver.conn.execute("PRAGMA max_page_count = 100000")
    await store.saver.conn.execute("PRAGMA query_only = OFF")


@contextmanager
def _writing(file: Path) -> Iterator[sqlite3.Connection]:
    """Another program that holds the write lock."""
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other


@asynccontextmanager
async def _hanging(store: ProjectStore) -> AsyncIterator[None]:
    """A disk that doesn't answer: the connection's thread is stuck."""
    stuck = threading.Event()
    waiting = asyncio.ensure_future(store.saver.conn._execute(stuck.wait))
    try:
        yield
    finally:
        stuck.set()
        await waiting


async def _begun(store: ProjectStore, thread_id: str, question: str) -> _Begun:
    start = TurnStart(
        f"{thread_id} {question}", thread_id, "ann", PROJECT, "m", user_message(question)
    )
    await store.sessions.create_session(thread_id, "ann", PROJECT)
    await store.begin(start, None)
    return start, TurnRecord(start.message)


async def _unstored(store: ProjectStore, thread_id: str, question: str) -> None:
    """A turn that could not be stored; now it could be."""
    begun = await _begun(store, thread_id, question)
    await _read_only(store)
    with pytest.raises(StorageError):
        await store.finish(*begun, "done")
    await _mended(store)


@pytest.mark.parametrize("spoil", [_full, _read_only])
async def test_a_turn_that_cannot_be_stored(bench: Bench, spoil: Any) -> None:
    """It ends with `error internal`; the session isn't busy. When there is room again it goes on,
    and nothing is lost of the turn that could not be stored."""
    bench.server.script(text("Hello"))
    await bench.ask("hello", "s1")
    before = await bench.history("s1")
    agent = await bench.agent()
    held = threading.Event()
    bench.server.script(text("x" * 200_000, pieces=3).until(held))
    run = await bench.start("long", "s1")
    await spoil(agent._store)
    held.set()
    events = await read(run)
    assert (events[-1]["type"], events[-1]["code"]) == ("error", "internal")
    assert await bench.history("s1") == before
    async with asyncio.timeout(4):  # no write lock is left behind for its 5 seconds
        await _mended(agent._store)
        assert (await agent.pin_session("s1", "ann", True))["pinned"] is True
        bench.server.script(text("Better."))
        assert said(await bench.ask("again", "s1")) == "Better."
    session = await bench.session("s1")
    history = await bench.history("s1")
    told = [m["content"] for m in history]
    assert told == ["hello", "Hello", "long", "x" * 200_000, "again", "Better."]
    assert session["message_count"] == 6
    assert session["stats"]["turns"] == 3


@pytest.mark.parametrize("when", ["read", "closed"])
async def test_a_turn_that_could_not_be_stored_is_stored_later(bench: Bench, when: str) -> None:
    """When somebody reads it or the project is closed: all of it, not what was journalled."""
    run, held = await bench.counting()
    store = (await bench.agent())._store
    await _read_only(store)
    held.set()
    assert (await read(run))[-1]["type"] == "error"
    await _mended(store)
    if when == "closed":
        await bench.manager.close_all()
        bench.restart()
    assert [m["content"] for m in await bench.history("s1")] == ["count", "one two"]


@pytest.mark.parametrize("attempt", ["reader", "turn"])
async def test_an_attempt_that_is_cancelled_gives_nothing_up(bench: Bench, attempt: str) -> None:
    """A reader that leaves; a turn that has waited too long for the disk to begin."""
    store = (await bench.agent())._store
    await _unstored(store, "s1", "one")
    await store.saver.conn.execute("PRAGMA busy_timeout = 600")
    with _writing(bench.file), pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await (store.retry() if attempt == "reader" else store.catch_up("s1"))
    assert [m["content"] for m in await bench.history("s1")] == ["one"]


async def test_who_stored_a_turn_too_late_gives_up_no_newer_one(bench: Bench) -> None:
    store = (await bench.agent())._store
    await store.saver.conn.execute("PRAGMA busy_timeout = 0")
    begun = await _begun(store, "s1", "one")
    with _writing(bench.file):
        late = asyncio.create_task(store.finish(*begun, "done"))
        await asyncio.sleep(0.5)  # it has tried three times, and pauses before the last
    await store.catch_up("s1")
    await _unstored(store, "s1", "two")
    await asyncio.wait({late})
    assert [m["content"] for m in await bench.history("s1")] == ["one", "two"]


async def test_a_reader_does_not_wait_for_each_turn_that_could_not_be_stored(bench: Bench) -> None:
    agent = await bench.agent()
    for n in range(8):
        await _unstored(agent._store, f"s{n}", "hello")
    with _writing(bench.file):
        async with asyncio.timeout(1.5):  # a quarter of a second for the first of them
            assert len(await agent.list_sessions("ann")) == 8
    assert [s["message_count"] for s in await agent.list_sessions("ann")] == [1] * 8


async def test_one_projects_full_disk_leaves_the_others(bench: Bench, tmp_path: Path) -> None:
    agent = await bench.agent()
    await _read_only(agent._store)
    with pytest.raises(StorageError, match="may not be written"):
        await bench.start("hello", "s1")
    other = await bench.manager.get_agent("other", tmp_path / "other")
    assert await other.list_sessions("ann") == []
    await _mended(agent._store)


async def test_another_program_that_writes_for_a_moment_is_waited_for(bench: Bench) -> None:
    run, held = await bench.counting()
    with _writing(bench.file) as other:
        asyncio.get_running_loop().call_later(1.2, other.execute, "ROLLBACK")
        held.set()
        assert (await read(run))[-1]["type"] == "done"
    assert len(await bench.history("s1")) == 2


async def test_a_disk_that_hangs_ends_the_turn_and_the_close(bench: Bench) -> None:
    """GNS3/gns3-server 258276c51: the connection's thread is stuck, and everybody waited (B72)."""
    bench.restart(stop_seconds=0.3)
    run, held = await bench.counting()
    async with _hanging((await bench.agent())._store):
        held.set()
        events = await read(run)
        assert (events[-1]["type"], events[-1]["code"]) == ("error", "internal")
        async with asyncio.timeout(3):
            await bench.manager.remove_agent(PROJECT)
    async with asyncio.timeout(5):
        while True:  # until the file is given back
            with contextlib.suppress(StorageError):
                assert [m["content"] for m in await bench.history("s1")] == ["count", "one two"]
                break
            await asyncio.sleep(0.05)


async def test_an_entry_that_is_still_waiting_costs_no_answer(bench: Bench) -> None:
    """The file was busy when the turn ended: what the reader saw is stored, not what was
    journalled."""
    bench.restart(stop_seconds=0.3)
    run, held = await bench.counting()
    async with _hanging((await bench.agent())._store):
        await asyncio.sleep(0.7)  # an entry waits by now
        held.set()
        assert said(await read(run)) == "one two"
    assert [m["content"] for m in await bench.history("s1")] == ["count", "one two"]
    session = await bench.session("s1")
    assert (session["message_count"], session["stats"]["turns"]) == (2, 1)


async def test_a_turn_that_was_refused_is_not_stored_later(bench: Bench) -> None:
    bench.restart(stop_seconds=0.3)
    store = (await bench.agent())._store
    await store.saver.conn.execute("PRAGMA busy_timeout = 2000")
    with contextlib.ExitStack() as written:

        async def write() -> None:
            async with store._database.reading():
                written.enter_context(_writing(bench.file))

        # The file is had in the order in which it was asked for: the session can be made, the
        # turn's beginning can't be stored.
        async with store._database.reading():
            starting = asyncio.create_task(bench.start("hello", "s1"))
            await asyncio.sleep(0.05)
            writing = asyncio.create_task(write())
            await asyncio.sleep(0)
        with pytest.raises(StorageError, match="doesn't answer"):
            await starting
        await writing
    await asyncio.sleep(0.3)
    bench.server.script(text("Better."))
    await bench.ask("again", "s1")
    assert [m["content"] for m in await bench.history("s1")] == ["again", "Better."]


async def test_a_clock_that_went_back_loses_no_turn(bench: Bench) -> None:
    """LangGraph's checkpoints are named by the clock; the newest needn't have the greatest id."""
    bench.server.script(text("One."), text("Two."))
    await bench.ask("one", "s1")
    await bench.manager.close_all()
    with sqlite3.connect(bench.file) as file:
        file.execute("UPDATE checkpoints SET checkpoint_id = 'f' || substr(checkpoint_id, 2)")
    file.close()
    bench.restart()
    await bench.ask("two", "s1")
    history = [m["content"] for m in await bench.history("s1")]
    assert history == ["one", "One.", "two", "Two."]
    assert (await bench.session("s1"))["message_count"] == 4


async def test_a_turn_is_never_stored_twice(bench: Bench) -> None:
    run, held = await bench.counting()
    store = (await bench.agent())._store
    start, record = await store.journal.read(run.run_id)
    held.set()
    await read(run)
    await store.store_turn(start, record, "error")
    assert [m["content"] for m in await bench.history("s1")] == ["count", "one two"]
    assert (await bench.session("s1"))["message_count"] == 2


async def test_the_title_is_in_the_checkpoint_too(bench: Bench) -> None:
    """chat-api.md, Automatic Title Synchronization."""
    bench.server.script(text("Hello"), text("Hello"))
    await bench.ask("hello", "s1")
    await bench.ask("again", "s1")
    agent = await bench.agent()
    found = await agent._store.saver.aget_tuple({"configurable": {"thread_id": "s1"}})
    assert found is not None
    assert found.checkpoint["channel_values"]["conversation_title"] == "Hosts of the lab"
