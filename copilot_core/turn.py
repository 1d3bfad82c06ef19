"""What a turn amounts to: its messages and its figures. The one place that counts."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import orjson

from copilot_core import events as ev
from copilot_core.messages import assistant_message, tool_message
from copilot_core.tool_calls import FinishedCall
from copilot_core.tools.execution import ToolOutcome

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage, HumanMessage

STOPPED = ToolOutcome('{"error":"The turn ended before this call was answered."}', "aborted", None)


@dataclass(slots=True)
class ModelFigures:
    """What one model did in a turn. Tokens are None until the model told some."""

    llm_calls: int = 0
    unknown: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(slots=True)
class _Call:
    message_id: str
    name: str
    arguments: str = ""
    complete: bool = False
    started: bool = False

    def finished(self, call_id: str) -> FinishedCall:
        if self.complete:
            args = orjson.loads(self.arguments)
            return FinishedCall(call_id, self.name, self.arguments, args)
        return FinishedCall(call_id, self.name, self.arguments, None, "The call was cut off.")


@dataclass(slots=True)
class TurnRecord:
    """Fed with the turn's events in order; knows at any moment what is to be stored."""

    user_message: HumanMessage
    #: ``cumulative``: each model call tells the turn's tokens so far, and the last one counts.
    cumulative: bool = False
    #: The turn's messages in the order in which they were finished, the user's first.
    messages: list[AnyMessage] = field(default_factory=list)
    models: dict[str, ModelFigures] = field(default_factory=dict)
    tool_calls: Counter[str] = field(default_factory=Counter)
    #: Input tokens of the newest call of the conversation itself.
    context_tokens: int | None = None
    #: What the title node made, if it was asked.
    title: str | None = None
    started: float = field(default_factory=time.monotonic)
    #: How long the turn took, where this is a turn of another time, read again; else None.
    ended_ms: int | None = None
    _draft_id: str | None = None
    _draft_text: list[str] = field(default_factory=list)
    #: Calls that were shown and not answered yet, by id.
    _open: dict[str, _Call] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.messages.append(self.user_message)

    def take(self, event: ev.CoreEvent) -> None:
        """Count an event in."""
        match event:
            case ev.TextDelta(message_id, text):
                self._draft_id = message_id
                self._draft_text.append(text)
            case ev.CallDelta(message_id, call_id, name, arguments, complete):
                self._draft_id = message_id
                self._open[call_id] = _Call(message_id, name, arguments, complete)
            case ev.ToolStarted(message_id, call_id, name):
                self._open.setdefault(call_id, _Call(message_id, name)).started = True
                self.tool_calls[name] += 1
            case ev.ToolEnded(call_id=call_id, message=message):
                self._open.pop(call_id, None)
                self.messages.append(message)
            case ev.ModelCallStarted(model):
                self._figures(model).llm_calls += 1
                self._figures(model).unknown += 1
            case ev.ModelCallEnded():
                self._model_ended(event)
            case _:
                pass

    def _figures(self, model: str) -> ModelFigures:
        return self.models.setdefault(model, ModelFigures())

    def _model_ended(self, event: ev.ModelCallEnded) -> None:
        figures = self._figures(event.model)
        if event.input_tokens is not None or event.output_tokens is not None:
            told_in, told_out = event.input_tokens or 0, event.output_tokens or 0
            before_in = 0 if self.cumulative else figures.input_tokens or 0
            before_out = 0 if self.cumulative else figures.output_tokens or 0
            figures.unknown -= 1
            figures.input_tokens = before_in + told_in
            figures.output_tokens = before_out + told_out
        if event.message is not None:
            self.messages.append(event.message)
            self.context_tokens = event.input_tokens
            self._draft_id = None
            self._draft_text.clear()

    def interrupted(self, model: str) -> list[ev.CoreEvent]:
        """End what is open, as the turn ends before its time (A14).

        The unfinished message is kept as far as it was streamed; every call that was shown gets
        its start and its end. Returns the events that say so.
        """
        if self._draft_id is not None:
            calls = [
                call.finished(call_id)
                for call_id, call in self._open.items()
                if call.message_id == self._draft_id
            ]
            self.messages.append(
                assistant_message(
                    self._draft_id,
                    "".join(self._draft_text),
                    calls,
                    model=model,
                    finish_reason=None,
                    interrupted=True,
                )
            )
            self._draft_id = None
            self._draft_text.clear()
        closing: list[ev.CoreEvent] = []
        for call_id, call in self._open.items():
            if not call.started:
                closing.append(ev.ToolStarted(call.message_id, call_id, call.name))
            closing.append(
                ev.ToolEnded(
                    call_id,
                    call.name,
                    STOPPED.text,
                    STOPPED.status,
                    STOPPED.original_size,
                    tool_message(call_id, call.name, STOPPED),
                )
            )
        return closing

    def end(self, model: str) -> None:
        """``interrupted`` and count in what it gives."""
        for event in self.interrupted(model):
            self.take(event)

    @property
    def duration_ms(self) -> int:
        """Since the turn began, in milliseconds."""
        if self.ended_ms is not None:
            return self.ended_ms
        return round((time.monotonic() - self.started) * 1000)
