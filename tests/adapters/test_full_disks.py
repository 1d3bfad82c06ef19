"""A disk that is full, over HTTP.

One project suffers; its answers say so in a sentence, the other project is unharmed, and as soon
as the cause is gone it goes on, without a restart.
"""

from __future__ import annotations

import asyncio
import resource
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from chat_edge import problem
from copilot_core.storage import FILE
from openai_server import OpenAIServer, text
from project_view import View, command, edge, file_of, said
from server_process import server_process


@asynccontextmanager
async def full_file(folder: Path, model: OpenAIServer) -> AsyncIterator[tuple[View, View, Any]]:
    """SQLite's own bound: SQLITE_FULL."""
    async with edge(folder, model) as (p1, p2, agents):

        async def fill(full: bool) -> None:
            agent = await agents.get_agent("p1", folder / "p1")
            async with agent._store._database.reading() as connection:
                [[pages]] = await connection.execute_fetchall("PRAGMA page_count")
                await connection.execute(f"PRAGMA max_page_count = {pages if full else 1 << 30}")

        yield p1, p2, fill


@asynccontextmanager
async def bounded_file(folder: Path, model: OpenAIServer) -> AsyncIterator[tuple[View, View, Any]]:
    """A server whose files may not grow any more: its writes really fail (EFBIG)."""
    async with server_process(folder, model) as server:

        async def fill(full: bool) -> None:
            files = file_of(folder).parent.glob(f"{FILE}*")
            now = max((file.stat().st_size for file in files), default=0)
            soft = now if full else resource.RLIM_INFINITY
            resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (soft, resource.RLIM_INFINITY))

        yield View(server.client), View(server.client, "p2"), fill


@asynccontextmanager
async def full_disk(folder: Path, model: OpenAIServer) -> AsyncIterator[tuple[View, View, Any]]:
    """A server with a small disk under p1, which something else fills (ENOSPC)."""
    async with server_process(folder, model, disk="p1") as server:
        disk = Path(f"/proc/{server.pid}/root") / str(folder).lstrip("/") / "p1"
        if not disk.is_mount():
            pytest.skip(
                "Linux lets nobody mount a file system here, neither this user nor a user namespace"
                " (containers forbid both by default): no disk can be made that gets full."
            )

        async def fill(full: bool) -> None:
            if full:
                with suppress(OSError), (disk / "filler").open("wb", 0) as filler:
                    while True:
                        filler.write(bytes(4096))
            else:
                (disk / "filler").unlink()

        yield View(server.client), View(server.client, "p2"), fill


@pytest.mark.parametrize(
    ("disk", "why"),
    [
        (full_file, "the disk is full"),
        (bounded_file, "the disk failed"),
        (full_disk, "the disk is full"),
    ],
)
async def test_a_full_disk(tmp_path: Path, model: OpenAIServer, disk: Any, why: str) -> None:
    held = threading.Event()
    long = "long " * 100_000
    async with disk(tmp_path, model) as (p1, p2, fill):
        assert (await p1.ask())["type"] == "done"
        model.script(text(long, pieces=3).until(held))
        running = asyncio.create_task(p1.ask("run", "s2"))
        await model.wait_for_requests(3)
        await fill(True)
        held.set()
        last = await running
        kept = f"{said(why)} What was said is kept, and stored when that is over."
        assert (last["code"], last["error"], last["retryable"]) == ("internal", kept, False)
        refused = await p1.post("long " * 6000)
        assert (refused.status_code, problem(refused)["detail"]) == (503, said(why))
        assert await p1.shown() == ["hello", "Hello"]
        assert await p1.shown("s2") == []
        await p2.works()
        await fill(False)
        await p1.works()
        # What was said into the full disk is gone, what was asked before it isn't.
        assert (await p1.ask("again", "s2"))["type"] == "done"
        assert (await p1.shown("s2"))[0] == "run"
        assert (await p1.shown("s2"))[-2:] == ["again", "Hello"]
        session = next(s for s in (await p1.get()).json() if s["thread_id"] == "s2")
        assert session["message_count"] == len(await p1.shown("s2"))


@pytest.mark.parametrize("disk", [bounded_file, full_disk])
async def test_a_disk_that_is_full_from_the_beginning(
    tmp_path: Path, model: OpenAIServer, disk: Any
) -> None:
    async with disk(tmp_path, model) as (p1, p2, fill):
        await fill(True)
        assert "disk" in await p1.refused()
        await fill(False)
        await p1.works()
        await p2.works()
        assert "damaged" not in (tmp_path / "log").read_text()


async def test_a_command_that_can_write_nothing(tmp_path: Path, model: OpenAIServer) -> None:
    """Not even its log."""
    unbounded = resource.RLIM_INFINITY
    async with command(tmp_path, model) as (p, process):
        await p.works()
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1, unbounded))
        refused = await p.post()
        assert (refused.status_code, problem(refused)["detail"]) == (503, said("the disk failed"))
        assert await p.shown() == ["works?", "Hello"]
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (unbounded, unbounded))
        await p.works()
