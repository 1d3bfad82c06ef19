"""Tools in a turn: what is called, shown and stored, and tools that fail or hang."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import pytest

from agent_bench import Bench, hang, kinds, read, said
from copilot_core.llm.config import TEACHING
from copilot_core.tools.base import ToolContext
from openai_server import call, error, interleave, text


async def test_a_tool_call(bench: Bench) -> None:
    bench.server.script(
        text("Let me look. ") + call("get_gns3_templates", {}, id="call_a"), text("None.")
    )
    events = await bench.ask("which templates?", "s1")
    assert kinds(events) == [
        "content", "tool_call", "tool_start", "tool_end", "content", "done"
    ]  # fmt: skip
    last_call = [e for e in events if e["type"] == "tool_call"][-1]["tool_call"]
    assert last_call["function"] == {
        "name": "get_gns3_templates",
        "arguments": "{}",
        "complete": True,
    }
    end = next(e for e in events if e["type"] == "tool_end")
    assert (end["tool_call_id"], end["status"]) == ("call_a", "success")
    assert json.loads(end["tool_output"]) == {"templates": []}

    messages = await bench.history("s1")
    assert [m["role"] for m in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[1]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert messages[2]["id"] == end["message_id"]
    assert messages[2]["content"] == end["tool_output"]
    session = await bench.session("s1")
    assert session["message_count"] == 4
    assert session["stats"]["tool_calls"] == {"get_gns3_templates": 1}


async def test_two_interleaved_calls(bench: Bench) -> None:
    """A7: accumulated by message and index; each call gets a start and an end."""
    names: list[list[str]] = []

    async def start(arguments: dict[str, Any], context: ToolContext) -> Any:
        names.append(arguments["node_ids"])
        item = {
            "id": arguments["node_ids"][0],
            "name": "PC",
            "status": "success",
            "result": {"node_status": "started"},
        }
        return {"total": 1, "successful": 1, "failed": 0, "items": [item]}

    bench.runs["start_gns3_node"] = start
    bench.server.script(
        interleave(
            call("start_gns3_node", {"node_ids": ["n1"]}, id="a"),
            call("start_gns3_node", {"node_ids": ["n2"]}, id="b"),
        ),
        text("Both run."),
    )
    events = await bench.ask("start both", "s1")
    assert sorted(names) == [["n1"], ["n2"]]
    for call_id, node in (("a", "n1"), ("b", "n2")):
        growth = [
            e["tool_call"]["function"]
            for e in events
            if e["type"] == "tool_call" and e["tool_call"]["id"] == call_id
        ]
        assert [f.get("complete") for f in growth].count(True) == 1
        assert json.loads(growth[-1]["arguments"]) == {"node_ids": [node]}
        for earlier, later in itertools.pairwise(growth):
            assert later["arguments"].startswith(earlier["arguments"])
    assert said(events) == "Both run."


async def test_cut_arguments_are_never_executed(bench: Bench) -> None:
    """A6, A9: no `complete`, no execution, an error to the model and to the reader."""
    bench.server.script(
        call("start_gns3_node", '{"node_ids": ["n', id="cut", finish="length"), text("Sorry.")
    )
    events = await bench.ask("start n1", "s1")
    calls = [e["tool_call"]["function"] for e in events if e["type"] == "tool_call"]
    assert calls
    assert not any("complete" in c for c in calls)
    end = next(e for e in events if e["type"] == "tool_end")
    assert (end["tool_call_id"], end["status"]) == ("cut", "error")
    assert said(events) == "Sorry."
    messages = await bench.history("s1")
    assert messages[1]["tool_calls"][0]["function"]["arguments"] == '{"node_ids": ["n'
    # The strict server has accepted what we made of it.
    assert len(bench.server.requests) == 3


async def test_arguments_that_are_nested_too_deep(bench: Bench) -> None:
    """What couldn't be stored, or sent to the model again, is an invalid call."""
    deep = '{"a":' + "[" * 900 + "]" * 900 + "}"
    bench.server.script(call("get_gns3_templates", deep), text("Too deep."))
    events = await bench.ask("look", "s1")
    assert kinds(events) == ["tool_call", "tool_start", "tool_end", "content", "done"]
    assert "complete" not in str(events[0])
    assert "deeper" in next(e for e in events if e["type"] == "tool_end")["tool_output"]
    assert len(await bench.history("s1")) == 4


async def test_an_unknown_tool(bench: Bench) -> None:
    bench.server.script(call("reboot_world", {"now": True}), text("I can't."))
    events = await bench.ask("reboot", "s1")
    end = next(e for e in events if e["type"] == "tool_end")
    assert end["status"] == "error"
    assert "get_gns3_templates" in end["tool_output"]
    assert events[-1]["type"] == "done"


async def test_a_blocked_tool(bench: Bench) -> None:
    """The mode narrows what is executed, not only what is offered."""
    bench.server.script(call("stop_gns3_node", {"node_ids": ["n1"]}), text("Not allowed."))
    events = await bench.ask("stop n1", "s1", copilot_mode=TEACHING)
    end = next(e for e in events if e["type"] == "tool_end")
    assert end["status"] == "blocked"
    offered = [t["function"]["name"] for t in bench.server.requests[0].tools]
    assert "start_gns3_node" in offered
    assert "stop_gns3_node" not in offered


async def test_another_project_is_out_of_reach(bench: Bench) -> None:
    bench.server.script(call("gns3_topology_reader", {"project_id": "other"}), text("No."))
    events = await bench.ask("look elsewhere", "s1")
    assert next(e for e in events if e["type"] == "tool_end")["status"] == "blocked"
    parameters = bench.server.requests[0].tools[0]["function"]["parameters"]
    assert "project_id" not in json.dumps(parameters)


async def test_long_output_is_cut(bench: Bench) -> None:
    """A8; open-webui/open-webui#10302: a megabyte never reaches the wire (B34)."""

    async def verbose(arguments: dict[str, Any], context: ToolContext) -> Any:
        output = "\x1b[31mx\x1b[0m" * 200_000
        item = {
            "id": "n1",
            "name": "PC1",
            "status": "success",
            "result": {"outputs": [{"command": "show ip", "output": output}]},
        }
        return {"total": 1, "successful": 1, "failed": 0, "items": [item]}

    bench.runs["execute_vpcs_commands"] = verbose
    arguments = {"device_configs": [{"device_name": "PC1", "commands": ["show ip"]}]}
    bench.server.script(call("execute_vpcs_commands", arguments), text("Long."))
    events = await bench.ask("show ip", "s1")
    end = next(e for e in events if e["type"] == "tool_end")
    assert end["truncated"] is True
    assert end["original_size"] > 200_000
    assert len(end["tool_output"].encode()) <= 16 * 1024
    assert "\x1b" not in end["tool_output"]
    stored = (await bench.history("s1"))[2]
    assert stored["content"] == end["tool_output"]
    assert stored["metadata"]["original_size"] == end["original_size"]


async def test_the_last_answer_comes_without_tools(bench: Bench) -> None:
    """A27: when the tool steps are used up the model is asked once more, without tools."""
    bench.server.script(
        call("get_gns3_templates", {}), call("get_gns3_templates", {}), text("That is all.")
    )
    events = await bench.ask("loop", "s1", tool_steps=2)
    assert said(events) == "That is all."
    assert events[-1]["type"] == "done"
    assert bench.server.requests[1].tools
    assert not bench.server.requests[2].tools


@pytest.mark.parametrize(
    "last",
    [call("get_gns3_templates", {}), error(500, "no"), text("")],
    ids=["call", "500", "empty"],
)
async def test_when_that_fails_too_the_limit_is_said(bench: Bench, last: Any) -> None:
    bench.server.script(call("get_gns3_templates", {}), last)
    events = await bench.ask("loop", "s1", tool_steps=1)
    assert (events[-1]["type"], events[-1]["code"]) == ("error", "limit_reached")
    messages = await bench.history("s1")
    assert messages[-1]["role"] == "assistant"
    assert messages[-1]["content"]
    assert said(events).endswith(messages[-1]["content"])
    assert (await bench.session("s1"))["message_count"] == len(messages)
    bench.server.script(text("Go on."))
    assert said(await bench.ask("again", "s1")) == "Go on."


async def _raises(arguments: dict[str, Any], context: ToolContext) -> Any:
    raise RuntimeError("the secret is sk-1234567890abcdef in /etc/passwd")


async def _breaks_its_contract(arguments: dict[str, Any], context: ToolContext) -> Any:
    return {"templates": "none"}


async def _isnt_json(arguments: dict[str, Any], context: ToolContext) -> Any:
    return {"templates": {1, 2}}


async def _says_it_failed(arguments: dict[str, Any], context: ToolContext) -> Any:
    return {"error": "The lab does not answer."}


@pytest.mark.parametrize("run", [_raises, _breaks_its_contract, _isnt_json, _says_it_failed])
async def test_a_tool_that_fails_ends_with_an_error(
    bench: Bench, run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """langchain-ai/langgraphjs#1831: a tool's end always follows its start (B47)."""
    bench.runs["get_gns3_templates"] = run
    bench.server.script(call("get_gns3_templates", {}), text("It failed."))
    events = await bench.ask("which templates?", "s1")
    end = next(e for e in events if e["type"] == "tool_end")
    assert end["status"] == "error"
    assert set(json.loads(end["tool_output"])) == {"error"}
    assert "sk-1234" not in json.dumps(events)
    assert said(events) == "It failed."


class Odd(BaseException):
    """Not an Exception."""


@pytest.mark.parametrize(
    "wrong",
    [
        SystemExit(3),
        ExceptionGroup("several", [ValueError(), OSError()]),
        BaseExceptionGroup("several", [Odd()]),
        Odd(),
        asyncio.CancelledError(),
        TimeoutError(),
        StopAsyncIteration(),
    ],
    ids=lambda wrong: type(wrong).__name__,
)
async def test_whatever_a_tool_raises(bench: Bench, wrong: BaseException) -> None:
    async def fails(arguments: dict[str, Any], context: ToolContext) -> Any:
        raise wrong

    bench.runs["get_gns3_templates"] = fails
    bench.server.script(call("get_gns3_templates", {}), text("It failed."))
    events = await bench.ask("look", "s1")
    assert next(e for e in events if e["type"] == "tool_end")["status"] == "error"
    assert said(events) == "It failed."


async def test_a_tool_that_hangs_is_given_up(bench: Bench) -> None:
    bench.restart(tool_timeout=0.2)
    bench.runs["get_gns3_templates"] = hang
    bench.server.script(call("get_gns3_templates", {}), text("No answer."))
    events = await bench.ask("which templates?", "s1")
    end = next(e for e in events if e["type"] == "tool_end")
    assert end["status"] == "error"
    assert "0.2 seconds" in end["tool_output"]


async def test_a_tool_that_swallows_being_stopped(bench: Bench) -> None:
    """Its timeout and an abort are kept; its late answer reaches neither stream nor history."""
    begun, free = asyncio.Event(), asyncio.Event()

    async def stubborn(arguments: dict[str, Any], context: ToolContext) -> Any:
        begun.set()
        while not free.is_set():
            try:
                await free.wait()
            except asyncio.CancelledError:
                continue
        return {"templates": []}

    bench.restart(tool_timeout=0.1, stop_seconds=3)
    bench.runs["get_gns3_templates"] = stubborn
    bench.server.script(call("get_gns3_templates", {}), text("No answer."))
    events = await bench.ask("look", "s1")
    assert next(e for e in events if e["type"] == "tool_end")["status"] == "error"
    assert said(events) == "No answer."

    begun.clear()
    await bench.manager.close_all()
    bench.restart(tool_timeout=60)
    bench.server.script(call("get_gns3_templates", {}))
    run = await bench.start("look", "s2")
    await bench.server.wait_for_requests(4)
    async with asyncio.timeout(5):
        await begun.wait()
        await (await bench.agent()).abort("s2", "ann")
    before = await bench.history("s2")
    free.set()
    await asyncio.sleep(0.05)
    assert kinds(await read(run)) == ["tool_call", "tool_start", "tool_end", "abort"]
    assert await bench.history("s2") == before
