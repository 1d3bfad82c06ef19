"""What goes wrong with a project's file, over HTTP: a full disk, rights, damage.

One project suffers; its answers say so in a sentence, the other project is unharmed, and as soon
as the cause is gone it goes on, without a restart.
"""

from __future__ import annotations

import asyncio
import os
import random
import resource
import shutil
import sqlite3
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any

import pytest

from chat_edge import problem
from chat_turns import is_title
from copilot_core.storage import FILE, FOLDER
from openai_server import OpenAIServer, text
from project_view import View, command, edge, file_of, said
from server_process import server_process


@pytest.fixture
def model(openai_server: OpenAIServer) -> OpenAIServer:
    openai_server.when(is_title, text("A title"))
    openai_server.always(text("Hello"))
    return openai_server


# -- a full disk -------------------------------------------------------------------------


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
            pytest.skip("no file system may be mounted here")

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


# -- rights ------------------------------------------------------------------------------

NOBODY = 65534


@pytest.fixture
def own() -> Iterator[Path]:
    """A folder of the user that the server is: root may write to everything."""
    folder = Path(tempfile.mkdtemp())
    (folder / "log").touch()
    yield folder
    shutil.rmtree(folder)


def as_user(folder: Path) -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    needed = [*Path(sys.prefix).parents, *Path(__file__).parents]
    if not all(each.stat().st_mode & 0o001 for each in needed):
        pytest.skip("only root may read this program")
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    return {"uid": NOBODY}


@pytest.mark.parametrize(
    ("path", "mode"),
    [
        (f"{FOLDER}/{FILE}", 0o400),
        (f"{FOLDER}/{FILE}", 0o000),
        (f"{FOLDER}/{Path(FILE).with_suffix('.lock')}", 0o400),
        (FOLDER, 0o500),
        (FOLDER, 0o000),
        ("", 0o000),
    ],
)
async def test_what_may_not_be_written(
    own: Path, model: OpenAIServer, path: str, mode: int
) -> None:
    async with edge(own, model) as (p1, _, _):
        await p1.works()
    async with server_process(own, model, **as_user(own)) as server:
        p1, p2 = View(server.client), View(server.client, "p2")
        spoiled = own / "p1" / path
        allowed = spoiled.stat().st_mode
        spoiled.chmod(mode)
        assert "denied" in (why := await p1.refused()) or "may not be" in why or "can't be" in why
        await p2.works()
        spoiled.chmod(allowed)
        assert await p1.shown() == ["works?", "Hello"]
        await p1.works()
    assert "damaged" not in (own / "log").read_text()


async def test_a_folder_in_which_nothing_may_be_made(own: Path, model: OpenAIServer) -> None:
    (own / "p1").mkdir()
    async with server_process(own, model, **as_user(own)) as server:
        p1 = View(server.client)
        (own / "p1").chmod(0o500)
        assert await p1.refused() == said("permission denied")
        (own / "p1").chmod(0o700)
        await p1.works()


async def test_a_damaged_file_that_cannot_be_kept_aside(own: Path, model: OpenAIServer) -> None:
    """It isn't touched."""
    async with edge(own, model) as (p1, _, _):
        await p1.works()
    damaged = b"no database" * 1000
    file_of(own).write_bytes(damaged)
    async with server_process(own, model, **as_user(own)) as server:
        p1, p2 = View(server.client), View(server.client, "p2")
        file_of(own).parent.chmod(0o500)
        assert await p1.refused() == said("permission denied")
        assert file_of(own).read_bytes() == damaged
        await p2.works()
        file_of(own).parent.chmod(0o700)
        await p1.works()


# -- damage ------------------------------------------------------------------------------

RANDOM = random.Random(5)
PAGE = 4096


def _overwrite(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def _is_text(path: Path) -> None:
    path.write_text("This is no database. " * 500)


def _is_short(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\x00")


def _is_noise(path: Path) -> None:
    path.write_bytes(RANDOM.randbytes(path.stat().st_size))


def _is_truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 + 100)


def _has_one_page(path: Path) -> None:
    os.truncate(path, PAGE)


def _has_no_header(path: Path) -> None:
    _overwrite(path, 0, bytes(100))


def _has_a_broken_page(path: Path) -> None:
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as file:
        [page] = file.execute("SELECT rootpage FROM sqlite_master WHERE name = 'writes'").fetchone()
    _overwrite(path, (page - 1) * PAGE, RANDOM.randbytes(PAGE))


DAMAGES = (
    _is_text,
    _is_short,
    _is_noise,
    _is_truncated,
    _has_one_page,
    _has_no_header,
    _has_a_broken_page,
)


def _is_empty(path: Path) -> None:
    path.write_bytes(b"")


async def fill(p: View, model: OpenAIServer) -> None:
    """Most of it is in the file itself by now, the newest is in its log."""
    model.script(text("long " * 200_000, pieces=3))
    await p.ask("Tell me all.", "s2")
    await p.works()


async def test_damaged_files_are_kept_aside(tmp_path: Path, model: OpenAIServer) -> None:
    """Byte for byte; new ones are begun, and stay."""
    async with edge(tmp_path, model) as (p1, p2, _):
        await p2.works()
        for spoil in DAMAGES:
            await fill(View(p1.client, spoil.__name__), model)
    damaged = {}
    for spoil in DAMAGES:
        file = file_of(tmp_path, spoil.__name__)
        spoil(file)
        damaged[spoil.__name__] = file.read_bytes()
    for reopened in (False, True):
        async with edge(tmp_path, model) as (p1, p2, _):
            assert await p2.shown() == ["works?", "Hello"]
            for name, kept in damaged.items():
                p = View(p1.client, name)
                if reopened:
                    assert await p.shown() == ["works?", "Hello"]
                else:
                    assert (await p.get()).json() == []
                    await p.works()
                [aside] = file_of(tmp_path, name).parent.glob(f"{FILE}.damaged-*Z")
                assert aside.read_bytes() == kept, name


async def test_damaged_files_of_a_killed_server(tmp_path: Path, model: OpenAIServer) -> None:
    """What that server had written last is in their logs (`-wal`), which are kept too."""
    spoils = (*DAMAGES, _is_empty)
    async with server_process(tmp_path, model) as server:
        for spoil in spoils:
            await fill(View(server.client, spoil.__name__), model)
        server.kill()
    damaged = {}
    for spoil in spoils:
        file = file_of(tmp_path, spoil.__name__)
        spoil(file)
        damaged[spoil.__name__] = file.read_bytes(), _log(file).read_bytes()
        assert damaged[spoil.__name__][1]
    async with edge(tmp_path, model) as (p1, _, _):
        for name, kept in damaged.items():
            p = View(p1.client, name)
            if (await p.get()).json():
                # Its log had the whole page that was spoilt.
                assert name in {"_has_no_header", "_has_a_broken_page"}
                assert await p.shown() == ["works?", "Hello"]
                assert len(await p.shown("s2")) == 2
                continue
            await p.works()
            [aside] = file_of(tmp_path, name).parent.glob(f"{FILE}.damaged-*Z")
            assert (aside.read_bytes(), _log(aside).read_bytes()) == kept, name


def _log(file: Path) -> Path:
    return file.with_name(f"{file.name}-wal")


async def test_a_log_that_is_noise(tmp_path: Path, model: OpenAIServer) -> None:
    """SQLite takes it for one that was never finished: the file itself is all there is."""
    async with edge(tmp_path, model) as (p1, _, _):
        await p1.works()
    _log(file_of(tmp_path)).write_bytes(RANDOM.randbytes(50_000))
    async with edge(tmp_path, model) as (p1, _, _):
        assert await p1.shown() == ["works?", "Hello"]
        await p1.works()


async def test_what_is_no_file(tmp_path: Path, model: OpenAIServer) -> None:
    """A folder, or a link to nowhere, is left as it is. A link to a file is as good as the file."""
    async with edge(tmp_path, model) as (p1, p2, _):
        await p1.works()
        await p2.works()
    elsewhere = tmp_path / "elsewhere.db"
    file_of(tmp_path).rename(elsewhere)
    file_of(tmp_path).mkdir()
    async with edge(tmp_path, model) as (p1, p2, _):
        assert await p1.refused() == said("their file can't be opened")
        file_of(tmp_path).rmdir()
        file_of(tmp_path).symlink_to(tmp_path / "no folder" / FILE)
        assert "file" in await p1.refused()
        assert not (tmp_path / "no folder").exists()
        file_of(tmp_path).unlink()
        file_of(tmp_path).symlink_to(elsewhere)
        assert await p1.shown() == ["works?", "Hello"]
        await p1.works()
        await p2.works()


async def test_a_session_whose_pages_break_while_the_file_is_open(
    tmp_path: Path, model: OpenAIServer
) -> None:
    """Only answers about that session suffer; the next opening sets the file aside."""
    file = file_of(tmp_path)
    async with edge(tmp_path, model) as (p1, p2, _):
        model.script(text("broken " * 50_000, pieces=3))
        await p1.ask("Tell me all.", "broken")
        await p1.works()
        await p2.works()
    with closing(sqlite3.connect(file)) as opened:
        opened.execute("VACUUM")  # what is still found in it is in use
    async with edge(tmp_path, model) as (p1, p2, agents):
        await p1.works()
        kept = file.read_bytes()
        inside = kept.index(b"broken " * 500, len(kept) // 2)
        _overwrite(file, inside // PAGE * PAGE, RANDOM.randbytes(PAGE))
        agent = await agents.get_agent("p1", tmp_path / "p1")
        async with agent._store._database.reading() as connection:
            await connection.execute("PRAGMA shrink_memory")  # which may happen at any time
        damaged = said("their file is damaged")
        history = await p1.get("sessions/broken/history")
        assert (history.status_code, problem(history)["detail"]) == (503, damaged)
        last = await p1.ask("and?", "broken")
        assert (last["type"], last["code"], last["error"]) == ("error", "internal", damaged)
        assert len((await p1.get()).json()) == 2
        await p1.works()
        await p2.works()
    async with edge(tmp_path, model) as (p1, p2, _):
        assert (await p1.get()).json() == []
        await p1.works()
        await p2.works()
    assert len(list(file.parent.glob(f"{FILE}.damaged-*Z"))) == 1
