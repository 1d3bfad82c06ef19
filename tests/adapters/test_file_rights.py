"""A project whose files may not be written or read, over HTTP.

One project suffers; its answers say so in a sentence, the other project is unharmed, and as soon
as the cause is gone it goes on, without a restart.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from copilot_core.storage import FILE, FOLDER
from openai_server import OpenAIServer
from project_view import View, edge, file_of, said
from server_process import server_process


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
    tmp_path: Path, model: OpenAIServer, path: str, mode: int
) -> None:
    async with edge(tmp_path, model) as (p1, _, _):
        await p1.works()
    async with server_process(tmp_path, model, obeys_modes=True) as server:
        p1, p2 = View(server.client), View(server.client, "p2")
        spoiled = tmp_path / "p1" / path
        allowed = spoiled.stat().st_mode
        spoiled.chmod(mode)
        assert "denied" in (why := await p1.refused()) or "may not be" in why or "can't be" in why
        await p2.works()
        spoiled.chmod(allowed)
        assert await p1.shown() == ["works?", "Hello"]
        await p1.works()
    assert "damaged" not in (tmp_path / "log").read_text()


async def test_a_folder_in_which_nothing_may_be_made(tmp_path: Path, model: OpenAIServer) -> None:
    (tmp_path / "p1").mkdir()
    async with server_process(tmp_path, model, obeys_modes=True) as server:
        p1 = View(server.client)
        (tmp_path / "p1").chmod(0o500)
        assert await p1.refused() == said("permission denied")
        (tmp_path / "p1").chmod(0o700)
        await p1.works()


async def test_a_damaged_file_that_cannot_be_kept_aside(
    tmp_path: Path, model: OpenAIServer
) -> None:
    """It isn't touched."""
    async with edge(tmp_path, model) as (p1, _, _):
        await p1.works()
    damaged = b"no database" * 1000
    file_of(tmp_path).write_bytes(damaged)
    async with server_process(tmp_path, model, obeys_modes=True) as server:
        p1, p2 = View(server.client), View(server.client, "p2")
        file_of(tmp_path).parent.chmod(0o500)
        assert await p1.refused() == said("permission denied")
        assert file_of(tmp_path).read_bytes() == damaged
        await p2.works()
        file_of(tmp_path).parent.chmod(0o700)
        await p1.works()
