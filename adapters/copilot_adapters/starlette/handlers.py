"""What each route of the chat API does, once the request may go on."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect

from copilot_adapters.starlette.problems import ProblemError
from copilot_adapters.starlette.reading import idempotency_key
from copilot_adapters.starlette.streaming import EventStream, left
from copilot_contracts.generated.gns3_chat import (
    ChatRequest,
    HistoryQuery,
    RenameSessionRequest,
    SessionListQuery,
)
from copilot_core.dialects.gns3_chat import SURFACE
from copilot_core.events import TurnAborted, TurnFailed
from copilot_core.service import Turn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.types import Scope

    from copilot_adapters.starlette.endpoint import Call
    from copilot_core.runs import Run

_T = TypeVar("_T")

_EVENT_ID = re.compile(r"([A-Za-z0-9_-]{1,64}):([0-9]{1,15})")


async def _stream_chat(call: Call) -> Any:
    request = ChatRequest.model_validate(call.body)
    config = await call.chat.llm.llm_config(call.user_id)
    if config is None:
        raise ProblemError("llm_not_configured", "No model is configured. Configure one, then ask.")
    turn = Turn(
        request.message,
        session_id=call.session_id,
        temperature=_given(request.temperature, (int, float)),
        max_tokens=_given(request.max_tokens, int),
        key=idempotency_key(call.scope),
    )
    run = await call.agent.stream_chat(turn, identity=call.identity, llm=config, surface=SURFACE)
    if request.stream:
        # A repeat of a broken stream may say how far it had come.
        run_id, number = _last_event(call.scope) or ("", 0)
        return _events(call, run, number if run_id == run.run_id else 0)
    return await _whole_answer(call, run)


async def _whole_answer(call: Call, run: Run) -> Any:
    ending = asyncio.ensure_future(run.wait())
    leaving = asyncio.ensure_future(left(call.receive))
    try:
        await asyncio.wait((ending, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not ending.done():
            raise ClientDisconnect
        result = ending.result()
    finally:
        ending.cancel()
        leaving.cancel()
    answer = {
        "session_id": run.session_id,
        "status": "done",
        "messages": result.messages,
        "usage": result.usage,
    }
    match result.end:
        case TurnFailed(code, message, retryable, retry_after):
            headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
            raise ProblemError(
                code, message, headers=headers, session_id=run.session_id, retryable=retryable
            )
        case TurnAborted(reason):
            return {**answer, "status": "abort", "reason": reason}
    return answer


async def _resume_stream(call: Call) -> Any:
    last = _last_event(call.scope)
    if last is None:
        running = await call.agent.find_run(call.session_id, call.user_id)
        return None if running is None else _events(call, running)
    run_id, number = last
    run = await call.agent.find_run(call.session_id, call.user_id, run_id)
    if run is None or (run.ended and number == run.last):
        return None  # so that an EventSource doesn't come back again and again
    return _events(call, run, number)


def _last_event(scope: Scope) -> tuple[str, int] | None:
    """Run and number of the `Last-Event-ID`; None without one.

    An id that isn't one of ours names no run: resync_required, if the session is the user's.
    """
    last = Headers(scope=scope).getlist("last-event-id")
    if not last:
        return None
    known = _EVENT_ID.fullmatch(last[0]) if len(last) == 1 else None
    return (known[1], int(known[2])) if known else ("", 0)


def _events(call: Call, run: Run, after: int = 0) -> EventStream:
    settings = call.chat.settings
    return EventStream(run, after=after, heartbeat=settings.heartbeat, stalled=settings.stalled)


async def _list_sessions(call: Call) -> Any:
    asked = SessionListQuery.model_validate(call.query)
    return await call.agent.list_sessions(
        call.user_id, limit=asked.limit, offset=asked.offset, q=_given(asked.q, str)
    )


async def _get_history(call: Call) -> Any:
    asked = HistoryQuery.model_validate(call.query)
    return await call.agent.get_history(
        call.session_id, call.user_id, limit=asked.limit, before=_given(asked.before, str)
    )


async def _rename_session(call: Call) -> Any:
    title = RenameSessionRequest.model_validate(call.body).title
    return await call.agent.rename_session(call.session_id, call.user_id, title.strip())


async def _pin_session(call: Call) -> Any:
    return await call.agent.pin_session(call.session_id, call.user_id, True)


async def _unpin_session(call: Call) -> Any:
    return await call.agent.pin_session(call.session_id, call.user_id, False)


async def _delete_session(call: Call) -> None:
    await call.agent.delete_session(call.session_id, call.user_id)


async def _abort_session(call: Call) -> Any:
    await call.agent.abort(call.session_id, call.user_id)
    return {"status": "ok", "session_id": call.session_id}


#: By the route's name in the catalogue. None is answered 204.
HANDLERS: Mapping[str, Callable[[Call], Awaitable[Any]]] = {
    "stream_chat": _stream_chat,
    "list_sessions": _list_sessions,
    "get_history": _get_history,
    "rename_session": _rename_session,
    "delete_session": _delete_session,
    "pin_session": _pin_session,
    "unpin_session": _unpin_session,
    "abort_session": _abort_session,
    "resume_stream": _resume_stream,
}


def _given(value: Any, kind: type[_T] | tuple[type[_T], ...]) -> _T | None:
    """An optional field's value; None where it was absent or null."""
    return value if isinstance(value, kind) else None
