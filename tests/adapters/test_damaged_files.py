"""A project's file that is damaged, or none at all, over HTTP: it is kept, never mended."""

from __future__ import annotations

import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

from chat_edge import problem
from copilot_core.storage import FILE
from openai_server import OpenAIServer, text
from project_view import View, edge, file_of, said
from server_process import server_process

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
