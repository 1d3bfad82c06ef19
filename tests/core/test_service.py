"""Turns: what is streamed, what is stored, what is counted (chat-api.md; decisions A2-A34)."""

from __future__ import annotations

import asyncio
import itertools
import json
import sqlite3
import threading
from typing import Any

import pytest
from pydantic import SecretStr

from agent_bench import PROJECT, Bench, kinds, read, said
from copilot_core.errors import ChatError
from copilot_core.llm.config import TEACHING
from copilot_core.ports import Identity
from copilot_core.tools.base import ToolContext
from openai_server import Failure, call, error, interleave, text


async def test_a_turn_without_tools(bench: Bench) -> None:
    bench.server.script(text("There are four hosts.").with_usage(100, 6))
    events = await bench.ask("how many hosts?", "s1")
    assert said(events) == "There are four hosts."
    assert kinds(events) == ["content", "done"]
    assert {e["session_id"] for e in events} == {"s1"}

    question, answer = await bench.history("s1")
    assert (question["role"], question["content"]) == ("user", "how many hosts?")
    assert (answer["role"], answer["content"]) == ("assistant", "There are four hosts.")
    assert answer["id"] == events[0]["message_id"]
    assert answer["metadata"] == {"model": "scripted", "finish_reason": "stop"}

    session = await bench.session("s1")
    assert session["title"] == "Hosts of the lab"
    assert session["message_count"] == 2
    assert session["llm_calls_count"] == 2  # the answer and the title (A11)
    assert (session["input_tokens"], session["output_tokens"]) == (120, 10)
    assert session["total_tokens"] == 130
    assert session["stats"]["context_tokens"] == 100
    assert session["stats"]["unknown_usage_calls"] == 0
    assert session["stats"]["last_turn"]["status"] == "done"


async def test_a_new_session_is_named_by_its_first_event(bench: Bench) -> None:
    bench.server.script(text("Hello"))
    events = await bench.ask("hello")
    assert len(await bench.history(events[0]["session_id"])) == 2


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


async def test_a_tool_that_hangs_is_given_up(bench: Bench) -> None:
    async def hang(arguments: dict[str, Any], context: ToolContext) -> Any:
        await asyncio.sleep(60)

    bench.settings = type(bench.settings)(tool_timeout=0.2)
    bench.restart()
    bench.runs["get_gns3_templates"] = hang
    bench.server.script(call("get_gns3_templates", {}), text("No answer."))
    events = await bench.ask("which templates?", "s1")
    end = next(e for e in events if e["type"] == "tool_end")
    assert end["status"] == "error"
    assert "0.2 seconds" in end["tool_output"]


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


KEY = "sk-scripted-4f1c9a7e2b8d"
FAILURES: list[tuple[Any, str, bool]] = [
    (error(401, f"Incorrect API key provided: {KEY}"), "llm_unauthorized", False),
    (error(403, "no"), "llm_unauthorized", False),
    (error(404, "no such model"), "llm_unavailable", False),
    (error(429, f"slow down {KEY}"), "llm_rate_limited", True),
    (error(500, f"<html>Oops {KEY}</html>"), "llm_unavailable", True),
    (error(503, "busy"), "llm_unavailable", True),
    (
        error(400, "This model's maximum context length is 8 tokens"),
        "context_window_exceeded",
        False,
    ),
    (text("half an ans").cut(after=2), "upstream_disconnected", True),
]


@pytest.mark.parametrize(("turn", "code", "retryable"), FAILURES)
async def test_a_model_that_fails(
    bench: Bench, turn: Any, code: str, retryable: bool, caplog: pytest.LogCaptureFixture
) -> None:
    bench.server.script(turn)
    events = await bench.ask("hello", "s1")
    last = events[-1]
    assert (last["type"], last["code"], last["retryable"]) == ("error", code, retryable)
    assert KEY not in json.dumps(events)
    assert KEY not in caplog.text
    messages = await bench.history("s1")
    assert messages[0]["content"] == "hello"
    assert "".join(m["content"] for m in messages[1:]) == said(events)
    if said(events):
        assert messages[1]["metadata"]["interrupted"] is True
    assert (await bench.session("s1"))["message_count"] == len(messages)
    # The next turn is accepted by a strict provider.
    bench.server.script(text("Better now."))
    assert said(await bench.ask("again", "s1")) == "Better now."


@pytest.mark.parametrize(
    "answer",
    [
        Failure(200, b"<html>Welcome</html>", {"content-type": "text/html"}),
        Failure(200, b"data: {{{\n\n", {"content-type": "text/event-stream"}),
        Failure(200, b"data: [DONE]\n\n", {"content-type": "text/event-stream"}),
        Failure(200, b'data: {"choices": "none"}\n\n', {"content-type": "text/event-stream"}),
    ],
    ids=["html", "no json", "nothing", "no choices"],
)
async def test_an_answer_that_is_none(bench: Bench, answer: Failure) -> None:
    bench.server.script(answer)
    events = await bench.ask("hello", "s1")
    assert (events[-1]["type"], events[-1]["code"]) == ("error", "llm_unavailable")
    assert events[-1]["retryable"] is True


@pytest.mark.parametrize("count", [2**63, 10**30, -5])
async def test_a_count_that_is_none_costs_no_statistics(bench: Bench, count: int) -> None:
    bench.server.script(text("Hello").with_usage(count, 3))
    assert (await bench.ask("hello", "s1"))[-1]["type"] == "done"
    session = await bench.session("s1")
    assert session["message_count"] == 2
    assert (session["input_tokens"], session["output_tokens"]) == (20, 7)  # 20 are the title's


async def test_nobody_listens(bench: Bench) -> None:
    """A model that can't be reached at all."""
    events = await bench.ask("hello", "s1", base_url="http://127.0.0.1:9/v1")
    assert (events[-1]["type"], events[-1]["code"]) == ("error", "llm_unavailable")


async def test_secrets_reach_no_file(bench: Bench) -> None:
    token = "eyJhbGciOiJIUzI1NiJ9.c2VjcmV0.c2lnbmF0dXJl"
    bench.server.script(text("Hello"))
    agent = await bench.agent()
    from copilot_core.service import Turn

    run = await agent.stream_chat(
        Turn("hello", "s1"),
        identity=Identity("ann", SecretStr(token)),
        llm=bench.llm,
        surface="gns3-chat",
    )
    await run.wait()
    await bench.manager.close_all()
    stored = b"".join(p.read_bytes() for p in bench.path.rglob("*") if p.is_file())
    assert b"hello" in stored
    assert bench.server.api_key.encode() not in stored
    assert token.encode() not in stored


async def test_the_second_turn_is_refused_while_one_runs(bench: Bench) -> None:
    """A15: one turn a session; sessions run side by side."""
    held = threading.Event()
    bench.server.script(text("slow").until(held))
    first = await bench.start("one", "s1")
    await bench.server.wait_for_requests(1)
    with pytest.raises(ChatError) as refused:
        await bench.start("two", "s1")
    assert refused.value.code == "session_busy"
    bench.server.script(text("quick"))
    assert said(await bench.ask("three", "s2")) == "quick"
    held.set()
    assert said(await read(first)) == "slow"


@pytest.mark.parametrize("verb", ["history", "rename", "pin", "delete", "abort", "run", "chat"])
async def test_somebody_elses_session_is_unknown(bench: Bench, verb: str) -> None:
    """A17: 404 for both, before any effect."""
    bench.server.script(text("Hello"))
    await bench.ask("hello", "s1")
    agent = await bench.agent()
    verbs = {
        "history": lambda s: agent.get_history(s, "eve"),
        "rename": lambda s: agent.rename_session(s, "eve", "mine"),
        "pin": lambda s: agent.pin_session(s, "eve", True),
        "delete": lambda s: agent.delete_session(s, "eve"),
        "abort": lambda s: agent.abort(s, "eve"),
        "run": lambda s: agent.find_run(s, "eve"),
        "chat": lambda s: bench.start("hello", s, user="eve"),
    }
    before = await bench.session("s1")
    with pytest.raises(ChatError) as foreign:
        await verbs[verb]("s1")
    assert foreign.value.code == "session_not_found"
    if verb != "chat":
        with pytest.raises(ChatError) as unknown:
            await verbs[verb]("nowhere")
        assert str(unknown.value) == str(foreign.value)
    assert await bench.session("s1") == before
    assert await agent.list_sessions("eve") == []


async def test_abort_during_text(bench: Bench) -> None:
    held = threading.Event()
    bench.server.script(text("", pieces=["one ", "two ", "three"]).until(held, after=2))
    run = await bench.start("count", "s1")
    async with run.subscribe() as reader:
        while (block := await reader.next(5)) and b"two" not in block:
            pass
        await (await bench.agent()).abort("s1", "ann")
    events = await read(run)
    assert (events[-1]["type"], events[-1]["reason"]) == ("abort", "user")
    messages = await bench.history("s1")
    assert messages[1]["content"] == said(events) == "one two "
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


async def test_a_reader_that_comes_back_misses_and_repeats_nothing(bench: Bench) -> None:
    """A32: from any position, the rest of the same stream."""
    bench.server.script(text("one two three four", pieces=4))
    run = await bench.start("count", "s1")
    events = await read(run)
    for position in range(len(events)):
        assert await read(run, position) == events[position:]
    found = await (await bench.agent()).find_run("s1", "ann", run.run_id)
    assert found is run
    assert await (await bench.agent()).find_run("s1", "ann") is None
    with pytest.raises(ChatError) as gone:
        await (await bench.agent()).find_run("s1", "ann", "other")
    assert gone.value.code == "resync_required"


async def test_an_ended_turn_can_be_read_for_a_while(bench: Bench) -> None:
    """A32: then its log is dropped, and who comes back is told to resync."""
    bench.settings = type(bench.settings)(keep_log=0.3)
    bench.restart()
    bench.server.script(text("Hello"))
    run = await bench.start("hello", "s1")
    events = await read(run)
    agent = await bench.agent()
    found = await agent.find_run("s1", "ann", run.run_id)
    assert found is not None
    assert await read(found) == events
    await asyncio.sleep(0.4)
    with pytest.raises(ChatError) as gone:
        await agent.find_run("s1", "ann", run.run_id)
    assert gone.value.code == "resync_required"


async def test_an_ended_turn_can_be_read_beside_the_next_one(bench: Bench) -> None:
    bench.server.script(text("One."))
    first = await bench.start("one", "s1")
    events = await read(first)
    bench.server.script(text("Two."))
    second = await bench.start("two", "s1")
    agent = await bench.agent()
    found = await agent.find_run("s1", "ann", first.run_id)
    assert found is first
    assert await read(first) == events
    assert await agent.find_run("s1", "ann", second.run_id) is second
    await read(second)
    bench.server.script(text("Mine."))
    await bench.ask("hello", "s2", user="eve")
    with pytest.raises(ChatError) as foreign:
        await agent.find_run("s2", "eve", first.run_id)
    assert foreign.value.code == "resync_required"


async def test_a_turn_that_nobody_reads_is_stopped(bench: Bench) -> None:
    """soliplex/soliplex#680: generation stops, what was produced is kept (B36)."""
    held = threading.Event()
    bench.settings = type(bench.settings)(grace=0.2)
    bench.restart()
    bench.server.script(text("one two", pieces=2).until(held, after=1))
    run = await bench.start("count", "s1")
    async with run.subscribe() as reader:
        await reader.next(5)
    assert await bench.server.requests[0].left(3)
    held.set()
    events = await read(run)
    assert (events[-1]["type"], events[-1]["reason"]) == ("abort", "disconnected")
    assert (await bench.history("s1"))[1]["content"] == "one "


async def test_a_waiting_caller_is_a_reader(bench: Bench) -> None:
    """`stream: false` outlasts the grace."""
    bench.settings = type(bench.settings)(grace=0.1)
    bench.restart()
    bench.server.script(text("slow answer").pause(0.5, after=1))
    result = await (await bench.start("hello", "s1")).wait()
    assert [m["content"] for m in result.messages] == ["hello", "slow answer"]
    assert result.usage["llm_calls"] == 2


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


async def test_cumulative_usage(bench: Bench) -> None:
    """A10, with the figures of chat-api.md's worked example."""
    bench.title = text("A title").with_usage(9421, 684)
    bench.server.script(text("Hello").with_usage(8674, 675))
    await bench.ask("hello", "s1", usage="cumulative")
    session = await bench.session("s1")
    assert (session["input_tokens"], session["output_tokens"]) == (9421, 684)
    assert session["total_tokens"] == 10105
    bench.server.script(text("Hello").with_usage(10, 5))
    await bench.ask("again", "s1", usage="cumulative")
    session = await bench.session("s1")
    assert session["total_tokens"] == 10105 + 15  # turns add up (A35)


async def test_unknown_usage_is_never_a_made_up_zero(bench: Bench) -> None:
    from openai_server import Usage

    bench.server.script(text("Hello", usage=Usage(told="absent")))
    result = await (await bench.start("hello", "s1")).wait()
    assert result.usage["llm_calls"] == 2
    session = await bench.session("s1")
    assert session["stats"]["unknown_usage_calls"] == 1
    assert session["stats"]["context_tokens"] is None


async def test_a_users_title_wins_for_ever(bench: Bench) -> None:
    """A20."""
    held = threading.Event()
    bench.server.script(text("Hello").until(held))
    run = await bench.start("hello", "s1")
    agent = await bench.agent()
    await agent.rename_session("s1", "ann", "  Mine  ")
    held.set()
    await read(run)
    assert (await bench.session("s1"))["title"] == "Mine"
    bench.server.script(text("Hello"))
    asked = len(bench.server.requests)
    await bench.ask("again", "s1")
    assert (await bench.session("s1"))["title"] == "Mine"
    assert len(bench.server.requests) == asked + 1  # and no title is asked for


async def test_a_failed_title_fails_no_turn(bench: Bench) -> None:
    bench.title = error(500, "no")
    bench.server.script(text("Hello"))
    events = await bench.ask("which hosts\nare in this lab, and what is PC1's address?", "s1")
    assert kinds(events) == ["content", "done"]
    title = (await bench.session("s1"))["title"]
    assert title.startswith("which hosts are in this lab")
    assert len(title) <= 40


async def test_history_pages(bench: Bench) -> None:
    """A21: the newest messages, oldest first; ids never change."""
    for n in range(3):
        bench.server.script(text(f"answer {n}"))
        await bench.ask(f"question {n}", "s1")
    agent = await bench.agent()
    everything = await bench.history("s1")
    assert everything == await bench.history("s1")
    page = await agent.get_history("s1", "ann", limit=4)
    assert page["messages"] == everything[2:]
    assert page["has_more"] is True
    rest = await agent.get_history("s1", "ann", limit=4, before=page["messages"][0]["id"])
    assert rest["messages"] == everything[:2]
    assert rest["has_more"] is False
    with pytest.raises(ChatError):
        await agent.get_history("s1", "ann", before="no such message")


async def test_sessions_survive_a_restart(bench: Bench) -> None:
    bench.server.script(text("Hello"))
    await bench.ask("hello", "s1")
    before, session = await bench.history("s1"), await bench.session("s1")
    await bench.manager.close_all()
    bench.restart()
    assert await bench.history("s1") == before
    assert await bench.session("s1") == session
    bench.server.script(text("Still here."))
    assert said(await bench.ask("are you there?", "s1")) == "Still here."
    told = [m["content"] for m in bench.server.requests[-1].messages if m["role"] == "user"]
    assert told == ["hello", "are you there?"]


async def test_deleting_a_session_during_its_turn(bench: Bench) -> None:
    """A16: the turn is stopped first; nothing of the thread is left in any table."""
    held = threading.Event()
    bench.server.script(text("one two", pieces=2).until(held, after=1))
    run = await bench.start("count", "s1")
    async with run.subscribe() as reader:
        await reader.next(5)
        await (await bench.agent()).delete_session("s1", "ann")
    held.set()
    events = await read(run)
    assert (events[-1]["type"], events[-1]["reason"]) == ("abort", "deleted")
    await bench.manager.close_all()
    with sqlite3.connect(bench.path / "gns3-copilot" / "copilot_checkpoints.db") as file:
        for table in ("chat_sessions", "checkpoints", "writes"):
            rows = file.execute(f"SELECT count(*) FROM {table} WHERE thread_id = 's1'").fetchone()
            assert rows == (0,), table
    file.close()


@pytest.mark.parametrize(("reason", "last"), [("shutdown", "abort"), ("project_closed", "error")])
async def test_closing_ends_turns(bench: Bench, reason: Any, last: str) -> None:
    """GNS3/gns3-server 258276c51: a close is bounded, running streams are ended first (B72)."""
    held = threading.Event()
    bench.server.script(text("one two", pieces=2).until(held, after=1))
    run = await bench.start("count", "s1")
    async with run.subscribe() as reader:
        await reader.next(5)
    async with asyncio.timeout(4):
        await bench.manager.remove_agent(PROJECT, reason)
    held.set()
    events = await read(run)
    assert events[-1]["type"] == last
    assert events[-1].get("code", events[-1].get("reason")) == reason
    assert (await bench.history("s1"))[1]["content"] == "one "


async def test_overrides_last_one_turn(bench: Bench) -> None:
    """A23."""
    from copilot_core.service import Turn

    agent = await bench.agent()
    bench.server.script(text("Hello"))
    run = await agent.stream_chat(
        Turn("hello", "s1", temperature=0.5, max_tokens=77),
        identity=Identity("ann"),
        llm=bench.llm,
        surface="gns3-chat",
    )
    await run.wait()
    assert bench.server.requests[0]["temperature"] == 0.5
    assert bench.server.requests[0]["max_completion_tokens"] == 77
    stats = (await bench.session("s1"))["stats"]
    assert stats["last_turn"]["temperature"] == 0.5
    assert stats["last_turn"]["max_tokens"] == 77


async def test_a_violation_of_ours_ends_the_turn(bench: Bench, monkeypatch: Any) -> None:
    """A row of "How a turn ends": policy `enforce`."""
    from copilot_core.dialects import gns3_chat

    right = gns3_chat.convert_stream_event_to_openai

    def wrong(event: Any, session_id: str) -> Any:
        return [
            {**e, "undeclared": 1} if e["type"] == "tool_end" else e
            for e in right(event, session_id)
        ]

    monkeypatch.setattr(gns3_chat, "convert_stream_event_to_openai", wrong)
    bench.server.script(text("Look: ") + call("get_gns3_templates", {}))
    run = await bench.start("hello", "s1")
    result = await run.wait()
    events = await read_unchecked(run)
    assert (events[-1]["type"], events[-1]["code"]) == ("error", "contract_violation")
    assert [e["type"] for e in events].count("error") == 1
    assert len(result.messages) >= 2
    assert [m["role"] for m in await bench.history("s1")][:2] == ["user", "assistant"]


async def read_unchecked(run: Any) -> list[dict[str, Any]]:
    from copilot_contracts.sse import Decoder

    async with run.subscribe() as reader:
        block = await reader.next(5)
    return [json.loads(e.data) for e in Decoder().feed(block or b"")]


async def test_the_first_turn_that_ends_gives_the_title(bench: Bench) -> None:
    held = threading.Event()
    bench.server.script(text("one two", pieces=2).until(held, after=1))
    run = await bench.start("count", "s1")
    async with run.subscribe() as reader:
        await reader.next(5)
        await (await bench.agent()).abort("s1", "ann")
    held.set()
    assert (await bench.session("s1"))["title"] == "New Chat"
    bench.server.script(text("Hello"))
    await bench.ask("again", "s1")
    assert (await bench.session("s1"))["title"] == "Hosts of the lab"
