"""The core's own events: what happens in a turn, before any surface's words for it.

Nodes of the graph say them, the run counts and stores by them, a dialect turns them into
the events of one surface. Those above the line reach a reader; those below only count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, ToolMessage

ToolStatus = Literal["success", "error", "blocked", "aborted"]
AbortReason = Literal["user", "deleted", "disconnected", "shutdown"]
TurnErrorCode = Literal[
    "llm_unauthorized",
    "llm_rate_limited",
    "llm_unavailable",
    "upstream_disconnected",
    "context_window_exceeded",
    "limit_reached",
    "project_closed",
    "contract_violation",
    "internal",
]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer's text."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's own reasoning."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A tool call as it grows; ``arguments`` is the text so far, from its beginning."""

    message_id: str
    call_id: str
    name: str
    arguments: str
    #: True once, on the call's last event, when the arguments are a JSON object.
    complete: bool


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool begins to run, or a call that can't run is about to be answered."""

    #: The assistant message that calls.
    message_id: str
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A call was answered. ``message`` is the answer as it is stored."""

    call_id: str
    name: str
    #: Strict JSON or plain text, capped.
    output: str
    status: ToolStatus
    #: The whole output's size in bytes when ``output`` is only a part of it, else None.
    original_size: int | None
    message: ToolMessage


@dataclass(frozen=True, slots=True)
class TurnDone:
    """The turn ended normally."""


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The turn failed. ``message`` is for a person, without secrets, paths and tracebacks."""

    code: TurnErrorCode
    message: str
    retryable: bool
    #: Seconds to wait before the next try, 1 to a day, where the model's server said so.
    retry_after: int | None = None


@dataclass(frozen=True, slots=True)
class TurnAborted:
    """The turn was stopped."""

    reason: AbortReason


TurnEnd: TypeAlias = TurnDone | TurnFailed | TurnAborted

# -- counted, never shown --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelCallStarted:
    """The model was asked. Source: ``on_chat_model_start`` of the specification."""

    model: str


@dataclass(frozen=True, slots=True)
class ModelCallEnded:
    """The model has answered. Tokens are None where it did not tell them.

    ``message`` is None for a call whose text isn't part of the conversation: the title's.
    """

    model: str
    input_tokens: int | None
    output_tokens: int | None
    message: AIMessage | None


CoreEvent: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | CallDelta
    | ToolStarted
    | ToolEnded
    | TurnDone
    | TurnFailed
    | TurnAborted
    | ModelCallStarted
    | ModelCallEnded
)
