"""A turn that fails: by its model, or by a fault of our own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_bench import Bench, kinds, said
from copilot_contracts import Gate
from copilot_contracts.sse import Decoder
from copilot_core.dialects import gns3_chat
from copilot_core.projects import ProjectAgentManager
from copilot_core.tools.base import ToolContext
from openai_server import Failure, call, error, text

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


async def test_nobody_listens(bench: Bench) -> None:
    """A model that can't be reached at all."""
    events = await bench.ask("hello", "s1", base_url="http://127.0.0.1:9/v1")
    assert (events[-1]["type"], events[-1]["code"]) == ("error", "llm_unavailable")


async def _with_wrong_dialect(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, policy: Any, wrong: Any
) -> list[dict[str, Any]]:
    right = gns3_chat.convert_stream_event_to_openai
    monkeypatch.setattr(
        gns3_chat,
        "convert_stream_event_to_openai",
        lambda event, session_id: [wrong(dict(e)) for e in right(event, session_id)],
    )
    bench.manager = ProjectAgentManager(
        [bench._tool("get_gns3_templates")], gate=Gate(policy), settings=bench.settings
    )
    run = await bench.start("hello", "s1")
    blocks = b""
    async with run.subscribe() as reader:
        while True:
            try:
                blocks += await reader.next(5) or b""
            except StopAsyncIteration:
                break
    return [json.loads(e.data) for e in Decoder().feed(blocks)]


async def test_a_violation_of_ours_ends_the_turn(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row of "How a turn ends": policy `enforce`."""

    def wrong(event: dict[str, Any]) -> dict[str, Any]:
        return {**event, "undeclared": 1} if event["type"] == "tool_end" else event

    bench.server.script(text("Look: ") + call("get_gns3_templates", {}))
    events = await _with_wrong_dialect(bench, monkeypatch, "enforce", wrong)
    assert (events[-1]["type"], events[-1]["code"]) == ("error", "contract_violation")
    assert [e["type"] for e in events].count("error") == 1
    assert [m["role"] for m in await bench.history("s1")][:2] == ["user", "assistant"]


@pytest.mark.parametrize("policy", ["report", "off"])
async def test_a_violation_that_is_only_reported_is_delivered(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    bench.server.script(call("get_gns3_templates", {}), text("Done."))
    events = await _with_wrong_dialect(bench, monkeypatch, policy, lambda e: {**e, "undeclared": 1})
    assert kinds(events) == ["tool_call", "tool_start", "tool_end", "content", "done"]
    assert all(e["undeclared"] == 1 for e in events)


@pytest.mark.parametrize("policy", ["report", "off"])
async def test_a_tools_return_is_always_enforced(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    async def wrong(arguments: dict[str, Any], context: ToolContext) -> Any:
        return {"templates": "none"}

    bench.runs["get_gns3_templates"] = wrong
    bench.server.script(call("get_gns3_templates", {}), text("Done."))
    events = await _with_wrong_dialect(bench, monkeypatch, policy, lambda e: e)
    end = next(e for e in events if e["type"] == "tool_end")
    assert (end["status"], "none" in end["tool_output"]) == ("error", False)


@pytest.mark.parametrize("policy", ["report", "off"])
async def test_what_is_not_json_never_leaves(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    bench.server.script(text("Hello"))
    events = await _with_wrong_dialect(
        bench, monkeypatch, policy, lambda e: {**e, "n": float("nan")} if "content" in e else e
    )
    assert [(e["type"], e.get("code")) for e in events] == [("error", "contract_violation")]


@pytest.mark.parametrize("broken", ["content", "tool_start", "tool_end", "done"])
async def test_a_dialect_that_raises_ends_the_turn(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """Whichever event it is: one last event, the turn is stored, the session is free."""

    def wrong(event: dict[str, Any]) -> dict[str, Any]:
        if event["type"] == broken:
            raise KeyError("a bug")
        return event

    bench.server.script(text("Look. ") + call("get_gns3_templates", {}))
    if broken == "done":
        bench.server.script(text("Done."))
    events = await _with_wrong_dialect(bench, monkeypatch, "enforce", wrong)
    assert (events[-1]["type"], events[-1]["code"]) == ("error", "internal")
    assert [e["type"] for e in events].count("error") == 1
    assert (await bench.history("s1"))[0]["content"] == "hello"
    assert (await (await bench.agent()).find_run("s1", "ann")) is None
