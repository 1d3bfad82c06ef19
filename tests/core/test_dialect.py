"""The core's events in the words of `gns3-chat` (chat-api.md, SSE Message Format; A2-A8)."""

from typing import Any

import pytest

from copilot_contracts import Registry
from copilot_core import events as ev
from copilot_core.dialects.gns3_chat import Gns3ChatDialect
from copilot_core.messages import tool_message
from copilot_core.tools.execution import ToolOutcome

SURFACE = Registry.bundled().surface("gns3-chat")
SESSION = {"session_id": "s1"}
DIALECT = Gns3ChatDialect("s1")

CUT = tool_message("c1", "ping", ToolOutcome("head ... tail", "success", 99_999))
WHOLE = tool_message("c1", "ping", ToolOutcome("{}", "blocked", None))


def call(arguments: str, **complete: bool) -> dict[str, Any]:
    function = {"name": "ping", "arguments": arguments, **complete}
    told = {"id": "c1", "type": "function", "function": function}
    return {"type": "tool_call", "tool_call": told, "message_id": "m1", **SESSION}


def ended(message: Any, output: str, status: str, **cut: Any) -> dict[str, Any]:
    named = {"tool_name": "ping", "tool_call_id": "c1", "message_id": message.id}
    return {"type": "tool_end", "tool_output": output, "status": status, **named, **cut, **SESSION}


SAID: list[tuple[ev.CoreEvent, dict[str, Any]]] = [
    (ev.TextDelta("m1", "Hi"), {"type": "content", "content": "Hi", "message_id": "m1", **SESSION}),
    (ev.CallDelta("m1", "c1", "ping", '{"to', complete=False), call('{"to')),
    (ev.CallDelta("m1", "c1", "ping", "{}", complete=True), call("{}", complete=True)),
    (
        ev.ToolStarted("m1", "c1", "ping"),
        {
            "type": "tool_start",
            "tool_name": "ping",
            "tool_call_id": "c1",
            "message_id": "m1",
            **SESSION,
        },
    ),
    (ev.ToolEnded("c1", "ping", "{}", "blocked", None, WHOLE), ended(WHOLE, "{}", "blocked")),
    (
        ev.ToolEnded("c1", "ping", "head ... tail", "success", 99_999, CUT),
        ended(CUT, "head ... tail", "success", truncated=True, original_size=99_999),
    ),
    (ev.TurnDone(), {"type": "done", **SESSION}),
    (
        ev.TurnFailed("internal", "It failed.", retryable=True),
        {"type": "error", "error": "It failed.", "code": "internal", "retryable": True, **SESSION},
    ),
    (ev.TurnAborted("user"), {"type": "abort", "reason": "user", **SESSION}),
]


@pytest.mark.parametrize(("event", "wire"), SAID, ids=lambda part: type(part).__name__)
def test_what_is_said(event: ev.CoreEvent, wire: dict[str, Any]) -> None:
    assert list(DIALECT.events(event)) == [wire]
    assert SURFACE.contract("event", wire["type"]).violation(wire) is None


@pytest.mark.parametrize(
    "event",
    [
        ev.TextDelta("m1", ""),
        ev.ReasoningDelta("m1", "hm"),
        ev.ModelCallStarted("big"),
        ev.ModelCallEnded("big", 1, 1, None),
    ],
    ids=lambda event: type(event).__name__,
)
def test_what_is_not_shown(event: ev.CoreEvent) -> None:
    assert list(DIALECT.events(event)) == []


def test_every_event_of_the_surface_has_its_place() -> None:
    beat = DIALECT.heartbeat()
    assert SURFACE.contract("event", "heartbeat").violation(beat) is None
    said = {wire["type"] for event, _ in SAID for wire in DIALECT.events(event)}
    assert said | {beat["type"]} == set(SURFACE.catalogue.events)
