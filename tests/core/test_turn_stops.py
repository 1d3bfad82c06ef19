"""A turn that is stopped: by its user, by a delete, by a close, or because nobody reads it."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from typing import Any

import pytest

from agent_bench import PROJECT, Bench, kinds, read, said
from copilot_core.tools.base import ToolContext
from openai_server import call, text


async def test_abort_during_text(bench: Bench) -> None:
    run, held = await bench.counting()
    await (await bench.agent()).abort("s1", "ann")
    events = await read(run)
    assert (events[-1]["type"], events[-1]["reason"]) == ("abort", "user")
    messages = await bench.history("s1")
    assert messages[1]["content"] == said(events) == "one "
    assert messages[1]["metadata"]["interrupted"] is True
    assert await bench.server.requests[0].left()  # the model's request is closed
    held.set()
    session = await bench.session("s1")
    assert session["message_count"] == 2
    assert session["stats"]["unknown_usage_calls"] == 1
    bench.server.script(text("Go on."))
    assert said(await bench.ask("again", "s1")) == "Go on."


async def test_abort_during_a_tool(bench: Bench) -> None:
    begun = asyncio.Event()

    async def hang(arguments: dict[str, Any], context: ToolContext) -> Any:
        begun.set()
        await asyncio.sleep(60)

    bench.runs["get_gns3_templates"] = hang
    bench.server.script(call("get_gns3_templates", {}, id="h"))
    run = await bench.start("which templates?", "s1")
    await begun.wait()
    await (await bench.agent()).abort("s1", "ann")
    events = await read(run)
    assert kinds(events) == ["tool_call", "tool_start", "tool_end", "abort"]
    assert next(e for e in events if e["type"] == "tool_end")["status"] == "aborted"
    messages = await bench.history("s1")
    assert [m["role"] for m in messages] == ["user", "assistant", "tool"]
    assert messages[2]["metadata"]["status"] == "aborted"
    bench.server.script(text("Go on."))
    assert said(await bench.ask("again", "s1")) == "Go on."


async def test_abort_during_arguments(bench: Bench) -> None:
    """Every call that was shown is answered, in the stream and in history."""
    held = threading.Event()
    bench.server.script(call("start_gns3_node", {"node_ids": ["n1"]}, id="h").until(held, after=2))
    run = await bench.start("start", "s1")
    async with run.subscribe() as reader:
        assert await reader.next(5)
        await (await bench.agent()).abort("s1", "ann")
    held.set()
    events = await read(run)
    assert kinds(events) == ["tool_call", "tool_start", "tool_end", "abort"]
    messages = await bench.history("s1")
    shown = [e for e in events if e["type"] == "tool_call"][-1]["tool_call"]["function"]
    assert messages[1]["tool_calls"][0]["function"]["arguments"] == shown["arguments"]
    bench.server.script(text("Go on."))
    assert said(await bench.ask("again", "s1")) == "Go on."


async def test_abort_of_an_idle_session_changes_nothing(bench: Bench) -> None:
    bench.server.script(text("Hello"))
    await bench.ask("hello", "s1")
    before = await bench.session("s1")
    await (await bench.agent()).abort("s1", "ann")
    assert await bench.session("s1") == before


async def test_a_turn_that_nobody_reads_is_stopped(bench: Bench) -> None:
    """soliplex/soliplex#680: generation stops, what was produced is kept (B36)."""
    bench.restart(grace=0.2)
    run, held = await bench.counting()
    assert await bench.server.requests[0].left(3)
    held.set()
    events = await read(run)
    assert (events[-1]["type"], events[-1]["reason"]) == ("abort", "disconnected")
    assert (await bench.history("s1"))[1]["content"] == "one "


async def test_a_waiting_caller_is_a_reader(bench: Bench) -> None:
    """`stream: false` outlasts the grace."""
    bench.restart(grace=0.1)
    bench.server.script(text("slow answer").pause(0.5, after=1))
    result = await (await bench.start("hello", "s1")).wait()
    assert [m["content"] for m in result.messages] == ["hello", "slow answer"]
    assert result.usage["llm_calls"] == 2


async def test_deleting_a_session_during_its_turn(bench: Bench) -> None:
    """A16: the turn is stopped first; nothing of the thread is left in any table."""
    run, held = await bench.counting()
    await (await bench.agent()).delete_session("s1", "ann")
    held.set()
    events = await read(run)
    assert (events[-1]["type"], events[-1]["reason"]) == ("abort", "deleted")
    await bench.manager.close_all()
    with sqlite3.connect(bench.file) as file:
        for table in ("chat_sessions", "checkpoints", "writes"):
            rows = file.execute(f"SELECT count(*) FROM {table} WHERE thread_id = 's1'").fetchone()
            assert rows == (0,), table
    file.close()


async def test_deleting_a_project_in_mid_turn(bench: Bench) -> None:
    run, held = await bench.counting()
    await bench.manager.delete_project(PROJECT, bench.path)
    held.set()
    assert (await read(run))[-1]["code"] == "project_closed"
    agent = await bench.agent()
    assert await agent.list_sessions("ann") == []
    assert await agent._store.messages("s1") == []


async def test_a_turn_of_a_session_that_is_gone_stores_nothing(bench: Bench) -> None:
    run, held = await bench.counting()
    agent = await bench.agent()
    await agent._store.sessions.delete_all_sessions()  # as another process might
    held.set()
    events = await read(run)
    assert (events[-1]["type"], events[-1]["code"]) == ("error", "internal")
    assert await agent._store.messages("s1") == []


@pytest.mark.parametrize(("reason", "last"), [("shutdown", "abort"), ("project_closed", "error")])
async def test_closing_ends_turns(bench: Bench, reason: Any, last: str) -> None:
    """GNS3/gns3-server 258276c51: a close is bounded, running streams are ended first (B72)."""
    run, held = await bench.counting()
    async with asyncio.timeout(4):
        await bench.manager.remove_agent(PROJECT, reason)
    held.set()
    events = await read(run)
    assert events[-1]["type"] == last
    assert events[-1].get("code", events[-1].get("reason")) == reason
    assert (await bench.history("s1"))[1]["content"] == "one "
