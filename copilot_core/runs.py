"""A run: one turn as a task of its own, whoever reads it.

Readers subscribe to its log. Stopping, counting, storing and the last event all happen in the
run's task, so that a reader that goes away can't take them along.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from uuid import uuid4

from copilot_contracts import sse
from copilot_contracts.violations import ContractViolation, OrderViolation
from copilot_core import events as ev
from copilot_core.database import StorageError
from copilot_core.graph import ToolStepsUsedUp
from copilot_core.journal import TurnJournal
from copilot_core.llm.failures import ModelFailure
from copilot_core.messages import assistant_message, convert_langchain_to_openai
from copilot_core.tracebacks import outline
from copilot_core.turn import TurnRecord

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from copilot_contracts.stream import StreamContract
    from copilot_core.dialects.base import Dialect
    from copilot_core.event_log import EventLog, Subscription
    from copilot_core.journal import TurnStart
    from copilot_core.ports import JsonObject

log = logging.getLogger(__name__)

StopReason = ev.AbortReason | Literal["project_closed"]

LIMIT_TEXT = "I have used up the tool calls that one turn may make, and found no final answer."
_PROJECT_CLOSED = ev.TurnFailed(
    "project_closed", "The project was closed. Open it to go on.", retryable=False
)
_LIMIT_REACHED = ev.TurnFailed(
    "limit_reached",
    "The tool calls that one turn may make are used up. Ask for less at once.",
    retryable=False,
)
_BROKEN = ev.TurnFailed(
    "contract_violation",
    "The server was about to send something that breaks its own contract, and stopped.",
    retryable=False,
)
_INTERNAL = ev.TurnFailed("internal", "The server failed while it worked on this.", retryable=True)


@dataclass(frozen=True, slots=True)
class TurnResult:
    """A turn that has ended."""

    end: ev.TurnEnd
    #: As ``OpenAIMessage``, the user's first.
    messages: list[JsonObject]
    #: As ``TokenUsage``.
    usage: JsonObject


class Run:
    """One turn of one session. Make it, then ``start`` it. ``write`` is ``TurnJournal``'s."""

    def __init__(
        self,
        start: TurnStart,
        *,
        write: Callable[[int, JsonObject], Awaitable[None]],
        dialect: Dialect,
        contract: StreamContract,
        log: EventLog,
        stop_seconds: float,
        grace_seconds: float | None,
    ) -> None:
        self.run_id = start.run_id
        self.session_id = start.thread_id
        self.record = TurnRecord(start.message, cumulative=start.cumulative)
        self._journal = TurnJournal(self.record, write)
        self._model = start.model
        self._dialect = dialect
        self._contract = contract
        self._stream = contract.open()
        self._log = log
        self._stop_seconds = stop_seconds
        self._grace_seconds = grace_seconds
        beat = dialect.heartbeat()
        #: What says "still here": bytes outside the numbered log.
        self.heartbeat = sse.comment("keepalive") if beat is None else contract.encode_anytime(beat)
        self._stopped: ev.TurnEnd | None = None
        self._given_up = asyncio.get_running_loop().create_future()
        #: Why nothing more of the turn may be sent but its end.
        self._broken: ev.TurnFailed | None = None
        self._ending = False
        self._begun = asyncio.Event()
        #: Why the turn could not begin.
        self._refused: StorageError | None = None
        self._work: asyncio.Task[None] | None = None
        self._main: asyncio.Task[TurnResult] | None = None
        self._grace: asyncio.TimerHandle | None = None

    @property
    def ended(self) -> bool:
        """Whether the last event is in the log."""
        return self._log.closed

    @property
    def last(self) -> int:
        """The number of the newest event; 0 before the first."""
        return self._log.last

    def start(
        self,
        begin: Callable[[], Coroutine[None, None, None]],
        work: Callable[[], Coroutine[None, None, None]],
        store: Callable[[ev.TurnEnd], Coroutine[None, None, None]],
    ) -> None:
        """Begin. ``begin`` stores the turn's beginning, ``work`` drives the graph, and ``store``
        is awaited before the last event is sent. Nothing follows a ``begin`` that fails."""
        self._main = asyncio.create_task(self._run(begin, work, store), name=f"run {self.run_id}")
        self._log.on_abandoned = self._abandoned
        self._abandoned()

    async def begun(self) -> None:
        """Until the turn's beginning is stored. Raises the StorageError that kept it from that."""
        await self._begun.wait()
        if self._refused is not None:
            raise self._refused

    def subscribe(self, after: int = 0) -> Subscription:
        """A reader of the events after number ``after``. Raises ChatError ``resync_required``."""
        return self._log.subscribe(after)

    async def wait(self) -> TurnResult:
        """The turn's end. The caller counts as a reader while it waits."""
        async with self._log.subscribe(self._log.last):
            return await self._result()

    async def stop(self, reason: StopReason) -> None:
        """End the turn before its time, and wait until it has ended and is stored."""
        self._cancel(_PROJECT_CLOSED if reason == "project_closed" else ev.TurnAborted(reason))
        await self._result()

    async def _result(self) -> TurnResult:
        if self._main is None:
            raise RuntimeError("The run wasn't started.")
        return await asyncio.shield(self._main)

    # -- said by the graph's nodes -----------------------------------------------------

    def emit(self, event: ev.CoreEvent) -> None:
        """Count an event and put it on the wire.

        Raises CancelledError in a turn that is being stopped, because a task's cancellation can
        get lost on its way through the model's code (python/cpython#86296), and in one that has
        ended without its node: that isn't heard any more.
        """
        if not self._ending and self._broken is None:
            self.record.take(event)
            self._journal.take(event)
            self._send(event)
        if self._ending or self._stopped is not None:
            raise asyncio.CancelledError

    def _send(self, event: ev.CoreEvent) -> None:
        try:
            for data in self._dialect.events(event):
                event_id = f"{self.run_id}:{self._log.last + 1}"
                self._log.append(self._stream.encode(data, event_id))
        except (ContractViolation, OrderViolation) as violation:
            log.error("a turn was stopped by a violation: %s", violation)
            self._broken = self._broken or _BROKEN
        except Exception as error:
            log.error("an event could not be sent: %s", outline(error))
            self._broken = self._broken or _INTERNAL
        if self._broken is not None:
            self._cancel(self._broken)

    # -- the end -----------------------------------------------------------------------

    async def _run(
        self,
        begin: Callable[[], Coroutine[None, None, None]],
        work: Callable[[], Coroutine[None, None, None]],
        store: Callable[[ev.TurnEnd], Coroutine[None, None, None]],
    ) -> TurnResult:
        try:
            await self._in_time(begin(), or_never=True)
        except Exception as error:
            if not isinstance(error, StorageError):
                log.error("a turn could not begin: %s", outline(error))
                error = StorageError("their file can't be used")
            self._refused = error
            end: ev.TurnEnd = _not_stored(error)
        else:
            self._begun.set()
            end = await self._outcome(work)
        self._ending = True
        self._work = None  # a cancelled task holds what it was using, and a run is kept a while
        if self._grace is not None:
            self._grace.cancel()
        try:
            for event in self.record.interrupted(self._model):
                self._send(event)
                self.record.take(event)
            if end == _LIMIT_REACHED:
                self._say_limit()
            end = self._broken or end
            if self._refused is None:
                # The file's own lock has the store wait for an entry that is being written.
                self._journal.close()
                await self._in_time(store(end))
        except StorageError as error:
            end = _not_stored(error, kept=error.passing)
        except Exception as error:
            log.error("a turn could not be stored: %s", outline(error))
            end = _INTERNAL
        end = self._finish(end)
        self._begun.set()
        return TurnResult(end, convert_langchain_to_openai(self.record.messages), self._usage())

    async def _in_time(
        self, storing: Coroutine[None, None, None], *, or_never: bool = False
    ) -> None:
        """Wait for it, but not for ever: a disk that hangs is left behind. Raises StorageError.

        ``or_never``: what isn't stored by then is not to be stored later.
        """
        task = asyncio.create_task(storing, name=f"store {self.run_id}")
        await asyncio.wait({task}, timeout=self._stop_seconds)
        if not task.done():
            if or_never:
                task.cancel()
            task.add_done_callback(lambda late: late.cancelled() or late.exception())
            raise StorageError("the disk doesn't answer")
        task.result()

    async def _outcome(self, working: Callable[[], Coroutine[None, None, None]]) -> ev.TurnEnd:
        if self._stopped is not None:
            return self._stopped
        work = self._work = asyncio.create_task(working(), name=f"turn {self.run_id}")
        try:
            await asyncio.wait({work, self._given_up}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            # The event loop is being closed around us.
            self._cancel(ev.TurnAborted("shutdown"))
            self._stopped = ev.TurnAborted("shutdown")
            await asyncio.wait({work}, timeout=self._stop_seconds)
        if not work.done():
            log.error("a turn didn't stop within %g seconds", self._stop_seconds)
            work.add_done_callback(lambda late: late.cancelled() or late.exception())
            return self._stopped or _INTERNAL
        error = asyncio.CancelledError() if work.cancelled() else work.exception()
        if error is None:
            return ev.TurnDone()
        match error:
            case _ if self._stopped is not None:
                return self._stopped
            case ModelFailure():
                log.warning("the model failed: %s (%s)", error.end.code, error.cause)
                return error.end
            case ToolStepsUsedUp():
                return _LIMIT_REACHED
            case StorageError():
                return _not_stored(error)
            case _:
                log.error("a turn failed: %s", outline(error))
                return _INTERNAL

    def _say_limit(self) -> None:
        message = assistant_message(str(uuid4()), LIMIT_TEXT, model=self._model)
        self._send(ev.TextDelta(str(message.id), LIMIT_TEXT))
        self.record.messages.append(message)

    def _finish(self, end: ev.TurnEnd) -> ev.TurnEnd:
        """Send the last event, and say which it was."""
        self._send(end)
        if not self._stream.ended:
            # What broke may have left a pair open, which forbids any end: the last word alone.
            self._stream = self._contract.open()
            end = self._broken or _INTERNAL
            self._send(end)
        self._log.close()
        return end

    def _usage(self) -> JsonObject:
        told = [m for m in self.record.models.values() if m.input_tokens is not None]
        inputs = sum(m.input_tokens or 0 for m in told) if told else None
        outputs = sum(m.output_tokens or 0 for m in told) if told else None
        return {
            "llm_calls": sum(m.llm_calls for m in self.record.models.values()),
            "input_tokens": inputs,
            "output_tokens": outputs,
            "total_tokens": None if inputs is None or outputs is None else inputs + outputs,
        }

    def _cancel(self, end: ev.TurnEnd) -> None:
        if self._stopped is not None or self._ending:
            return
        if self._work is None:
            self._stopped = end
        elif not self._work.done():
            self._stopped = end
            self._work.cancel()
            asyncio.get_running_loop().call_later(self._stop_seconds, self._give_up)

    def _give_up(self) -> None:
        if not self._given_up.done():
            self._given_up.set_result(None)

    def _abandoned(self) -> None:
        """Nobody reads any more: after a grace, stop (A32)."""
        if self._grace_seconds is None or self._log.closed:
            return
        if self._grace is not None:
            self._grace.cancel()
        self._grace = asyncio.get_running_loop().call_later(self._grace_seconds, self._grace_over)

    def _grace_over(self) -> None:
        if self._log.readers == 0:
            self._cancel(ev.TurnAborted("disconnected"))


def _not_stored(error: StorageError, *, kept: bool = False) -> ev.TurnFailed:
    if not kept:
        return ev.TurnFailed("internal", error.message, retryable=True)
    message = f"{error.message} What was said is kept, and stored when that is over."
    return ev.TurnFailed("internal", message, retryable=False)
