"""A project's file has one owner: another process, or another server in this one, is refused.

The lock goes with the process, however it ends, and with nothing that the process leaves behind.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from pathlib import Path

import pytest

from chat_edge import decoded
from openai_server import OpenAIServer, call, text
from project_view import View, command, edge, file_of
from server_process import server_process

OTHER_PROCESS = (
    "The project's conversations can't be used: they are open in another process or project, or "
    "still being closed."
)


async def test_a_second_process_is_refused(tmp_path: Path, model: OpenAIServer) -> None:
    """For that project, as long as the first one has it; what the first does isn't disturbed."""
    held = threading.Event()
    async with server_process(tmp_path, model) as one, server_process(tmp_path, model) as other:
        model.script(text("one two three").until(held, after=1))
        running = asyncio.create_task(View(one.client).ask())
        await model.wait_for_requests(1)
        assert await View(other.client).refused() == OTHER_PROCESS
        await View(other.client, "p2").works()
        assert await View(one.client, "p2").refused() == OTHER_PROCESS
        held.set()
        assert (await running)["type"] == "done"
        assert await View(one.client).shown() == ["hello", "one two three"]
        one.end()
        assert await View(other.client).shown() == ["hello", "one two three"]
        other.kill()
    async with server_process(tmp_path, model) as third:
        await View(third.client).works()
        await View(third.client, "p2").works()


async def test_a_second_server_in_one_process_is_refused(
    tmp_path: Path, model: OpenAIServer
) -> None:
    async with edge(tmp_path, model) as (other, _, _):
        async with edge(tmp_path, model) as (p1, _, _):
            await p1.works()
            assert await other.refused() == OTHER_PROCESS
            await p1.works()
        await other.works()


async def test_a_link_to_a_file_that_is_in_use(tmp_path: Path, model: OpenAIServer) -> None:
    """It is the same file: a project that came with such a link doesn't meddle with its turns."""
    file_of(tmp_path, "link").parent.mkdir(parents=True)
    file_of(tmp_path, "link").symlink_to(file_of(tmp_path))
    held = threading.Event()
    async with edge(tmp_path, model) as (p1, p2, _):
        link = View(p1.client, "link")
        model.script(text("one two three").until(held, after=1))
        running = asyncio.create_task(p1.ask())
        await model.wait_for_requests(1)
        refused = await link.refused()
        held.set()
        assert (await running)["type"] == "done"
        [session] = (await p1.get()).json()
        assert (session["message_count"], session["stats"]["turns"]) == (2, 1)
        assert refused == OTHER_PROCESS
        await p2.works()


@pytest.mark.parametrize("tool", ["gns3_topology_reader", "stop_gns3_node"])
async def test_a_process_that_a_tool_has_left_keeps_nothing(
    tmp_path: Path, model: OpenAIServer, tool: str
) -> None:
    """A child of a killed server lives on, and another server has the project."""
    arguments = {"node_ids": ["n1"]} if tool == "stop_gns3_node" else {}
    async with server_process(tmp_path, model) as server:
        model.script(call(tool, arguments), text("Done."))
        answer = await View(server.client).post()
        [ended] = [data for _, data in decoded(answer.content) if data["type"] == "tool_end"]
        left = int(json.loads(ended["tool_output"])["error"])
        server.kill()
    try:
        os.kill(left, 0)
        async with server_process(tmp_path, model) as server:
            await View(server.client).works()
    finally:
        os.kill(left, signal.SIGKILL)


async def test_two_commands_with_one_data_folder(tmp_path: Path, model: OpenAIServer) -> None:
    """`serve`, twice; the first is killed."""
    async with command(tmp_path, model) as (one, first), command(tmp_path, model) as (other, _):
        await one.works()
        assert await other.refused() == OTHER_PROCESS
        first.kill()
        await first.wait()
        assert await other.shown() == ["works?", "Hello"]
        await other.works()
