"""The project's file: it can't be opened, is moved or damaged, or comes from a stranger."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agent_bench import PROJECT, Bench, said
from copilot_core.database import StorageError
from copilot_core.storage import FILE, FOLDER
from openai_server import text


def _folder_is_a_file(project: Path) -> None:
    project.mkdir()
    (project / FOLDER).write_text("in the way")


def _file_is_a_folder(project: Path) -> None:
    (project / FOLDER / FILE).mkdir(parents=True)


def _table_is_a_view(project: Path) -> None:
    (project / FOLDER).mkdir(parents=True)
    with sqlite3.connect(project / FOLDER / FILE) as file:
        file.execute("CREATE VIEW chat_sessions AS SELECT 1")
    file.close()


@pytest.mark.parametrize("spoil", [_folder_is_a_file, _file_is_a_folder, _table_is_a_view])
async def test_a_file_that_cannot_be_opened(bench: Bench, tmp_path: Path, spoil: Any) -> None:
    """An error for that project; the others work, nothing is left open, and it can be mended."""
    spoil(tmp_path / "broken")
    for _ in range(2):
        with pytest.raises(StorageError):
            await bench.manager.get_agent("broken", tmp_path / "broken")
    bench.server.script(text("Hello"))
    assert said(await bench.ask("hello", "s1")) == "Hello"
    links = [Path(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")]  # noqa: PTH208 - as /proc is read
    assert not [link for link in links if str(tmp_path / "broken") in str(link.resolve())]
    agent = await bench.manager.get_agent("broken", tmp_path / "mended")
    assert await agent.list_sessions("ann") == []


@pytest.mark.parametrize("how", ["moved", "deleted", "replaced"])
async def test_a_file_that_is_moved_while_it_is_open(
    bench: Bench, tmp_path: Path, how: str
) -> None:
    """What would be written to it nobody would find: the next request opens what is there."""
    bench.server.script(text("Other."))
    await bench.ask("other", "s1")
    await bench.manager.close_all()
    shutil.copytree(bench.path / FOLDER, tmp_path / "snapshot")
    bench.restart()
    bench.server.always(text("Hello"))
    await bench.ask("hello", "s2")
    match how:
        case "moved":
            (bench.path / FOLDER).rename(tmp_path / "elsewhere")
        case "deleted":
            shutil.rmtree(bench.path / FOLDER)
        case "replaced":
            os.replace(tmp_path / "snapshot" / FILE, bench.file)  # noqa: PTH105 - as tools do
    with pytest.raises(StorageError, match="moved or replaced"):
        await bench.ask("lost", "s2")
    await bench.ask("again", "s3")
    sessions = await (await bench.agent()).list_sessions("ann")
    there = {"s1", "s3"} if how == "replaced" else {"s3"}
    assert {session["thread_id"] for session in sessions} == there
    await bench.manager.close_all()
    bench.restart()
    sessions = await (await bench.agent()).list_sessions("ann")
    assert {session["thread_id"] for session in sessions} == there


async def test_damage_that_is_found_while_open_is_set_aside_by_the_next_request(
    bench: Bench,
) -> None:
    bench.server.always(text("Hello"))
    await bench.ask("x" * 50_000, "s1")
    store = (await bench.agent())._store
    await store.saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    await store.saver.conn.execute("PRAGMA cache_size=0")
    with bench.file.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(4096 * 30))
    with pytest.raises(StorageError, match="damaged"):
        await bench.ask("again", "s2")
    assert said(await bench.ask("again", "s3")) == "Hello"
    assert list(bench.file.parent.glob("*.damaged-*"))


async def test_a_file_that_breaks_while_it_is_open(bench: Bench) -> None:
    bench.server.script(text("Hello"))
    await bench.ask("hello", "s1")
    agent = await bench.agent()
    await agent._store.saver.conn.execute("UPDATE checkpoints SET checkpoint = x'c1c1c1'")
    await agent._store.saver.conn.commit()
    bench.server.script(text("Hello"))
    events = await bench.ask("again", "s1")
    assert [(e["type"], e.get("code")) for e in events] == [("error", "internal")]
    assert said(await bench.ask("hi", "s2")) == "Hello"
    await agent.delete_session("s1", "ann")
    assert [s["thread_id"] for s in await agent.list_sessions("ann")] == ["s2"]


async def test_a_journal_that_names_a_file_deletes_none(bench: Bench, tmp_path: Path) -> None:
    """SQLite deletes the "super-journal" that a rollback journal names."""
    bench.server.always(text("Hello"))
    await bench.ask("hello", "s1")
    await bench.manager.close_all()
    victim = tmp_path / "victim"
    victim.write_text("mine")
    name = str(victim).encode()
    magic = bytes.fromhex("d9d505f920a163d7")
    sizes = len(name).to_bytes(4, "big") + (sum(name) & 0xFFFFFFFF).to_bytes(4, "big")
    tail = (1).to_bytes(4, "big") + name + sizes + magic
    bench.file.with_name(f"{FILE}-journal").write_bytes(magic + bytes(504) + tail)
    bench.restart()
    await bench.ask("hello", "s2")
    assert victim.read_text() == "mine"


async def test_a_strangers_triggers_are_dropped(bench: Bench) -> None:
    bench.server.script(text("Hello"), text("Secret"))
    await bench.ask("hello", "s1")
    await bench.manager.close_all()
    with sqlite3.connect(bench.file) as file:
        file.execute(
            'CREATE TRIGGER "a ""trigger" AFTER INSERT ON turn_journal BEGIN'
            " INSERT INTO chat_sessions (thread_id, user_id, project_id, title)"
            f" VALUES ('m' || new.run_id, 'mallory', '{PROJECT}', new.entry); END"
        )
        file.execute(
            "CREATE TRIGGER b BEFORE DELETE ON checkpoints BEGIN SELECT RAISE(IGNORE); END"
        )
    file.close()
    bench.restart()
    await bench.ask("my secret", "s1")
    agent = await bench.agent()
    assert await agent.list_sessions("mallory") == []
    await agent.delete_session("s1", "ann")
    assert await agent._store.messages("s1") == []


async def test_a_strangers_tables_by_our_names(bench: Bench) -> None:
    bench.file.parent.mkdir(parents=True)
    with sqlite3.connect(bench.file) as file:
        file.execute("CREATE TABLE turn_journal (thread_id TEXT, something TEXT)")
        file.execute("CREATE TABLE turn_keys (user_id TEXT)")
    file.close()
    bench.server.script(text("Hello"))
    assert said(await bench.ask("hello", "s1")) == "Hello"
