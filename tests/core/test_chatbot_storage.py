"""The chatbot's file: it can't be opened, written to, or is moved, damaged or closed."""

from __future__ import annotations

import asyncio
import os
import resource
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from chatbot_services import Json, kept, refused, services
from copilot_core.chatbot.health import database_health
from copilot_core.chatbot.services import ChatbotServices
from copilot_core.database import StorageError
from copilot_core.projects import ProjectAgentManager
from copilot_core.service import AgentService
from copilot_core.storage import FILE, FOLDER

OK = {"ok": True}


@pytest.fixture
async def chatbot(tmp_path: Path) -> AsyncIterator[ChatbotServices]:
    async with services(tmp_path, roots=[tmp_path]) as opened:
        yield opened


@pytest.fixture
async def agents() -> AsyncIterator[ProjectAgentManager]:
    manager = ProjectAgentManager()
    yield manager
    await manager.close_all()


async def health(agents: ProjectAgentManager, chatbot: ChatbotServices, data: Path) -> Json:
    async def agent() -> AgentService:
        return await agents.get_agent("chatbot", data)

    told = await database_health(agent, chatbot.file)
    kept(f"database_health:{200 if told['ok'] else 503}", told)
    return told


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def works(chatbot: ChatbotServices) -> None:
    saved = await chatbot.memories.save("ann", "Works", "again")
    assert saved["memory"] in (await chatbot.memories.search("ann", "again"))["memories"]


async def test_health(tmp_path: Path, agents: ProjectAgentManager) -> None:
    async with services(tmp_path) as chatbot:
        told = await health(agents, chatbot, tmp_path)
        assert (told["ok"], told["conversations"], told["memory"]) == (True, OK, OK)


async def test_another_program_writes(
    tmp_path: Path, chatbot: ChatbotServices, agents: ProjectAgentManager
) -> None:
    """Reading goes on; writing is refused until it has ended."""
    await works(chatbot)
    assert (await health(agents, chatbot, tmp_path))["ok"]
    for file, name in (
        (tmp_path / "chatbot.db", "memory"),
        (tmp_path / FOLDER / FILE, "conversations"),
    ):
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        told = await health(agents, chatbot, tmp_path)
        assert told[name]["error"].endswith("another program is writing to their file.")
        assert not told["ok"]
        if name == "memory":
            assert told["conversations"] == OK
            with pytest.raises(StorageError, match="another program is writing"):
                await chatbot.memories.save("ann", "t", "c")
            assert len((await chatbot.memories.list("ann"))["memories"]) == 1
        other.close()
        assert (await health(agents, chatbot, tmp_path))["ok"]
    await works(chatbot)


async def test_another_server_has_the_file(tmp_path: Path, chatbot: ChatbotServices) -> None:
    async with services(tmp_path) as first:
        await works(first)
        with pytest.raises(StorageError, match="open in another process"):
            await chatbot.memories.list("ann")
    await works(chatbot)


async def test_the_disk_is_full(
    tmp_path: Path, chatbot: ChatbotServices, agents: ProjectAgentManager
) -> None:
    await works(chatbot)
    assert (await health(agents, chatbot, tmp_path))["ok"]
    async with chatbot.file.reading() as connection:
        [[pages]] = await connection.execute_fetchall("PRAGMA page_count")
        await connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageError, match="Memories and settings can't be used: the disk is full"):
        await chatbot.memories.save("ann", "large", "x" * 90_000)
    assert (await chatbot.memories.search("ann", "large"))["memories"] == []
    async with chatbot.file.reading() as connection:
        await connection.execute("PRAGMA max_page_count = 1000000")
    await works(chatbot)
    # No file of this process may grow beyond that: nothing can be written to a log either.
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        told = await health(agents, chatbot, tmp_path)
        with pytest.raises(StorageError):
            await chatbot.folders.enable("ann")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not told["conversations"]["ok"]
    assert not told["memory"]["ok"]
    assert (await health(agents, chatbot, tmp_path))["ok"]
    await works(chatbot)


@pytest.mark.parametrize("how", ["moved", "replaced", "damaged"])
async def test_a_file_that_is_lost_is_opened_again(
    tmp_path: Path, chatbot: ChatbotServices, how: str
) -> None:
    file = tmp_path / "chatbot.db"
    await works(chatbot)
    match how:
        case "moved":
            file.rename(tmp_path / "elsewhere.db")
        case "replaced":
            (tmp_path / "other").write_bytes(b"")
            os.replace(tmp_path / "other", file)  # noqa: PTH105 - as tools do
        case "damaged":
            async with chatbot.file.reading() as connection:
                await connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                await connection.execute("PRAGMA cache_size=0")
            with file.open("r+b") as opened:
                opened.seek(4096)
                opened.write(os.urandom(file.stat().st_size - 4096))
    with pytest.raises(StorageError, match=r"moved or replaced|damaged"):
        await chatbot.memories.list("ann")
    assert (await chatbot.memories.list("ann"))["memories"] == []
    await works(chatbot)
    assert ("damaged" in " ".join(names(tmp_path))) == (how == "damaged")


async def test_a_folder_is_in_its_place(tmp_path: Path, chatbot: ChatbotServices) -> None:
    (tmp_path / "chatbot.db").mkdir()
    for _ in range(2):
        with pytest.raises(StorageError, match="their file can't be opened"):
            await chatbot.memories.list("ann")
    (tmp_path / "chatbot.db").rmdir()
    await works(chatbot)


async def test_who_leaves_while_it_is_opened_takes_nobody_along(
    chatbot: ChatbotServices, tmp_path: Path
) -> None:
    first = asyncio.create_task(chatbot.memories.list("ann"))
    others = [asyncio.create_task(chatbot.memories.list("ann")) for _ in range(3)]
    await asyncio.sleep(0)
    first.cancel()
    for other in others:
        assert await other == {"memories": []}
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_nothing_is_used_after_the_end(tmp_path: Path, agents: ProjectAgentManager) -> None:
    async with services(tmp_path) as chatbot:
        await works(chatbot)
    async with refused("project_not_opened"):
        await chatbot.memories.list("ann")
    told = await health(agents, chatbot, tmp_path)
    assert told["memory"] == {"ok": False, "error": "The server is shutting down."}
    await chatbot.close()


async def test_a_disk_that_does_not_answer(
    tmp_path: Path,
    chatbot: ChatbotServices,
    agents: ProjectAgentManager,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever asks for the health is told within the time, and the file works afterwards."""
    monkeypatch.setattr("copilot_core.chatbot.health._SECONDS", 0.1)
    await works(chatbot)
    async with chatbot.file.reading():
        told = await health(agents, chatbot, tmp_path)
        assert told["memory"] == {"ok": False, "error": "It didn't answer within 0.1 s."}
    assert (await health(agents, chatbot, tmp_path))["ok"]
    await works(chatbot)
