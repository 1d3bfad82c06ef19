"""The core's events in the words of the surface `gns3-chat` (chat-api.md, SSE Message Format)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copilot_core.events import (
    CallDelta,
    TextDelta,
    ToolEnded,
    ToolStarted,
    TurnAborted,
    TurnDone,
    TurnFailed,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copilot_contracts.generated.gns3_chat import types as wire
    from copilot_core.events import CoreEvent

SURFACE = "gns3-chat"


def convert_stream_event_to_openai(event: CoreEvent, session_id: str) -> Sequence[wire.Event]:
    """The event of the stream for one event of the core; none for what isn't shown."""
    match event:
        case TextDelta(message_id, text):
            content: wire.ContentEvent = {
                "type": "content",
                "content": text,
                "message_id": message_id,
                "session_id": session_id,
            }
            return (content,) if text else ()
        case CallDelta(message_id, call_id, name, arguments, complete):
            function: wire.StreamedFunctionCall = {"name": name, "arguments": arguments}
            if complete:
                function["complete"] = True
            tool_call: wire.ToolCallEvent = {
                "type": "tool_call",
                "tool_call": {"id": call_id, "type": "function", "function": function},
                "message_id": message_id,
                "session_id": session_id,
            }
            return (tool_call,)
        case ToolStarted(message_id, call_id, name):
            tool_start: wire.ToolStartEvent = {
                "type": "tool_start",
                "tool_name": name,
                "tool_call_id": call_id,
                "message_id": message_id,
                "session_id": session_id,
            }
            return (tool_start,)
        case ToolEnded():
            tool_end: wire.ToolEndEvent = {
                "type": "tool_end",
                "tool_name": event.name,
                "tool_call_id": event.call_id,
                "tool_output": event.output,
                "status": event.status,
                "message_id": str(event.message.id),
                "session_id": session_id,
            }
            if event.original_size is not None:
                tool_end["truncated"] = True
                tool_end["original_size"] = event.original_size
            return (tool_end,)
        case TurnDone():
            done: wire.DoneEvent = {"type": "done", "session_id": session_id}
            return (done,)
        case TurnFailed(code, message, retryable, retry_after):
            error: wire.ErrorEvent = {
                "type": "error",
                "error": message,
                "code": code,
                "retryable": retryable,
                "session_id": session_id,
            }
            if retry_after is not None:
                error["retry_after"] = retry_after
            return (error,)
        case TurnAborted(reason):
            abort: wire.AbortEvent = {"type": "abort", "reason": reason, "session_id": session_id}
            return (abort,)
        case _:
            return ()


class Gns3ChatDialect:
    """`gns3-chat` for one session."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id

    def events(self, event: CoreEvent) -> Sequence[wire.Event]:
        """The surface's events for a core event."""
        return convert_stream_event_to_openai(event, self._session_id)

    def heartbeat(self) -> wire.HeartbeatEvent:
        """Nothing happened for a while; the connection lives."""
        return {"type": "heartbeat", "session_id": self._session_id}
