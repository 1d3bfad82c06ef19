"""The agent of one project (chat-api.md, AgentService)."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from copilot_core import events as ev
from copilot_core.context import set_current_jwt_token, set_current_llm_config
from copilot_core.conversation import conversation
from copilot_core.errors import ChatError
from copilot_core.event_log import EventLog
from copilot_core.graph import ConversationState, TurnContext, build_graph
from copilot_core.journal import TurnStart
from copilot_core.kept_runs import KeptRuns
from copilot_core.llm.openai import chat_model
from copilot_core.messages import user_message
from copilot_core.prompt import opening
from copilot_core.runs import Run
from copilot_core.tools.base import ToolContext
from copilot_core.tools.execution import ToolSet
from copilot_core.turn_keys import TurnKey, new_session_id

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from langchain_core.language_models import BaseChatModel

    from copilot_contracts.stream import StreamContract
    from copilot_core.dialects.base import Dialect
    from copilot_core.llm.config import LlmConfig
    from copilot_core.ports import Identity, JsonObject
    from copilot_core.runs import StopReason
    from copilot_core.settings import CoreSettings
    from copilot_core.storage import ProjectStore
    from copilot_core.tools.base import Tool


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SurfaceVoice:
    """How a turn speaks on one surface."""

    contract: StreamContract
    #: Makes the dialect for a session.
    dialect: Callable[[str], Dialect]


@dataclass(frozen=True, slots=True)
class Turn:
    """What a user asks."""

    message: str
    session_id: str | None = None
    #: Overrides of the user's settings, for this turn.
    temperature: float | None = None
    max_tokens: int | None = None
    #: The request's ``Idempotency-Key``.
    key: str | None = None


class AgentService:
    """Sessions and turns of one project, in the project's own file.

    Sessions run side by side, one turn each at a time. That is kept in this process's memory,
    which is why one process has a project's file for itself. Made by ``ProjectAgentManager``.
    """

    def __init__(
        self,
        project_id: str,
        store: ProjectStore,
        *,
        tools: Sequence[Tool],
        voices: dict[str, SurfaceVoice],
        settings: CoreSettings,
        model: Callable[[LlmConfig], BaseChatModel] = chat_model,
    ) -> None:
        self.project_id = project_id
        self._store = store
        #: A turn runs in memory; one place stores it. So a turn that was given up and still
        #: goes on can't write.
        self._graph = build_graph()
        self._tools = tools
        self._voices = voices
        self._settings = settings
        self._model = model
        self._runs = KeptRuns(settings.keep_log)
        self._deleting: dict[str, asyncio.Task[None]] = {}
        self._closed = False
        #: A request and its repeat start one after the other.
        self._keyed = asyncio.Lock()

    async def lost(self) -> bool:
        """Whether the project's file has to be opened again: damaged, moved or replaced."""
        return await self._store.lost()

    async def check(self) -> None:
        """Write to the project's file, without changing what is in it. Raises StorageError."""
        self._refuse_when_closed()
        await self._store.check()

    # -- turns -------------------------------------------------------------------------

    async def stream_chat(
        self, turn: Turn, *, identity: Identity, llm: LlmConfig, surface: str
    ) -> Run:
        """Start a turn that speaks on a surface. It runs on its own; read it by ``subscribe``
        or ``wait``.

        A turn with a key that the user has used within a day isn't started again: its run is
        returned. Raises ChatError: ``session_not_found`` for somebody else's session,
        ``session_busy`` while its turn runs, ``project_not_opened`` after ``close``,
        ``invalid_request`` for a key of another request, ``resync_required`` for one whose run
        isn't kept any more; StorageError.
        """
        self._refuse_when_closed()
        session_id = turn.session_id or new_session_id(identity.user_id, turn.key)
        if turn.key is None:
            return await self._start(turn, session_id, None, identity, llm, surface)
        key = TurnKey.of(turn.key, turn.message, turn.temperature, turn.max_tokens, surface)
        async with self._keyed:
            run_id = await self._store.keys.find(identity.user_id, session_id, key)
            if run_id is None:
                return await self._start(turn, session_id, key, identity, llm, surface)
            run = self._runs.find(run_id)
        if run is None:
            raise ChatError(
                "resync_required",
                "The turn of this Idempotency-Key can't be read any more. Read the session's "
                "history instead.",
                session_id=session_id,
            )
        return run

    async def _start(
        self,
        turn: Turn,
        session_id: str,
        key: TurnKey | None,
        identity: Identity,
        llm: LlmConfig,
        surface: str,
    ) -> Run:
        voice = self._voices[surface]
        await self._store.sessions.create_session(session_id, identity.user_id, self.project_id)
        # From here to the claim nothing is awaited: two turns can't both pass, no delete comes
        # between, and a caller that is cancelled leaves nothing claimed.
        self._refuse_when_closed()
        if self._is_busy(session_id):
            raise ChatError(
                "session_busy", "The session is at work. Wait for its answer, or stop it."
            )
        start = TurnStart(
            run_id=uuid4().hex[:16],
            thread_id=session_id,
            user_id=identity.user_id,
            project_id=self.project_id,
            model=llm.model,
            message=user_message(turn.message),
            cumulative=llm.usage == "cumulative",
            temperature=turn.temperature,
            max_tokens=turn.max_tokens,
        )
        run = Run(
            start,
            write=partial(self._store.journal.write, start),
            dialect=voice.dialect(session_id),
            contract=voice.contract,
            log=EventLog(max_bytes=self._settings.max_log),
            stop_seconds=self._settings.stop_seconds,
            grace_seconds=self._settings.grace,
        )
        self._runs.add(run)
        run.start(
            lambda: self._begin(start, key),
            lambda: self._work(run, _overridden(llm, turn), identity, voice),
            lambda end: self._store_turn(run, start, end),
        )
        try:
            await run.begun()
        except ChatError:
            self._runs.drop(run)
            raise
        return run

    async def _begin(self, start: TurnStart, key: TurnKey | None) -> None:
        # What an earlier turn said and could not store comes before this one.
        await self._store.catch_up(start.thread_id)
        await self._store.begin(start, key)

    async def _work(
        self, run: Run, llm: LlmConfig, identity: Identity, voice: SurfaceVoice
    ) -> None:
        """Drive the graph through one turn. Runs in the turn's own task and context."""
        set_current_jwt_token(identity.token)
        set_current_llm_config(llm)
        context = TurnContext(
            emit=run.emit,
            model=await asyncio.to_thread(self._model, llm),
            model_name=llm.model,
            opening=opening(llm),
            tools=ToolSet(
                self._tools,
                voice.contract.surface,
                voice.contract.gate,
                ToolContext(self.project_id, identity),
                mode=llm.copilot_mode,
                timeout=self._settings.tool_timeout,
                max_output=self._settings.max_tool_output,
            ),
            tool_steps=llm.tool_steps,
            wants_title=await self._store.sessions.wants_title(
                run.session_id, identity.user_id, self.project_id
            ),
        )
        asked: ConversationState = {
            "messages": [*await self._store.messages(run.session_id), run.record.user_message]
        }
        async for update in self._graph.astream(
            asked, {"recursion_limit": 1000}, context=context, stream_mode="updates"
        ):
            titled = update.get("title_generator_node") or {}
            run.record.title = titled.get("conversation_title") or run.record.title

    async def _store_turn(self, run: Run, start: TurnStart, end: ev.TurnEnd) -> None:
        """Store what the turn amounts to, however it ended (A13, A14)."""
        self._runs.end(run)
        if end != ev.TurnAborted("deleted"):
            await self._store.finish(start, run.record, _status(end))

    async def find_run(
        self, session_id: str, user_id: str, run_id: str | None = None
    ) -> Run | None:
        """The run to read: the one that is named, while its log is kept; else one that runs.

        Raises ChatError ``session_not_found``; ``resync_required`` for a run that isn't kept.
        """
        await self._own(session_id, user_id)
        if run_id is None:
            return self._runs.at_work(session_id)
        run = self._runs.find(run_id)
        if run is None or run.session_id != session_id:
            raise ChatError(
                "resync_required",
                "That turn can't be read any more. Read the session's history instead.",
            )
        return run

    async def abort(self, session_id: str, user_id: str) -> None:
        """Stop the session's turn and wait until it is stored. Nothing happens without one."""
        await self._own(session_id, user_id)
        await self._stop(session_id, "user")

    def _is_busy(self, session_id: str) -> bool:
        return session_id in self._deleting or self._runs.at_work(session_id) is not None

    async def _stop(self, session_id: str, reason: StopReason) -> None:
        run = self._runs.at_work(session_id)
        if run is not None:
            await run.stop(reason)

    # -- sessions ----------------------------------------------------------------------

    async def get_history(
        self, session_id: str, user_id: str, *, limit: int = 100, before: str | None = None
    ) -> JsonObject:
        """The newest messages as ``ConversationHistory``, oldest first (A21).

        The question of a turn that runs is among them; what it has said so far is in its stream.

        Raises ChatError ``session_not_found``; ``invalid_request`` for an unknown ``before``.
        """
        await self._store.retry()
        session = await self._own(session_id, user_id)
        # Asked before the file is read: the turn may end, and be stored, in between.
        run = self._runs.at_work(session_id)
        asked = [] if run is None else [run.record.user_message]
        stored = await self._store.messages(session_id)
        stored += [message for message in asked if all(message.id != m.id for m in stored)]
        return conversation(session, stored, limit=limit, before=before)

    async def list_sessions(
        self, user_id: str, *, limit: int = 100, offset: int = 0, q: str | None = None
    ) -> list[JsonObject]:
        """The user's sessions as ``ChatSession``: pinned first, then the newest."""
        self._refuse_when_closed()
        await self._store.retry()
        return await self._store.sessions.list_sessions(
            user_id, self.project_id, limit=limit, offset=offset, q=q
        )

    async def get_session(self, session_id: str, user_id: str) -> JsonObject:
        """The user's session as ``ChatSession``. Raises ChatError ``session_not_found``."""
        return await self._own(session_id, user_id)

    async def create_session(self, user_id: str) -> JsonObject:
        """A new session as ``ChatSession``."""
        self._refuse_when_closed()
        return await self._store.sessions.create_session(str(uuid4()), user_id, self.project_id)

    async def set_metadata(self, session_id: str, user_id: str, changes: JsonObject) -> JsonObject:
        """Set some keys of a session's metadata. Raises ChatError ``session_not_found``."""
        self._refuse_when_closed()
        return await self._store.sessions.set_metadata(
            session_id, user_id, self.project_id, changes
        )

    async def rename_session(self, session_id: str, user_id: str, title: str) -> JsonObject:
        """Give a session a title for good (A20). Raises ChatError ``session_not_found``."""
        self._refuse_when_closed()
        return await self._store.sessions.rename_session(
            session_id, user_id, self.project_id, title.strip()
        )

    async def pin_session(self, session_id: str, user_id: str, pinned: bool) -> JsonObject:
        """Pin or unpin. Raises ChatError ``session_not_found``."""
        self._refuse_when_closed()
        return await self._store.sessions.pin_session(
            session_id, user_id, self.project_id, pinned=pinned
        )

    async def delete_session(self, session_id: str, user_id: str) -> None:
        """Stop the session's turn, then delete all that is stored of it (A16)."""
        await self._own(session_id, user_id)
        deletion = self._deleting.get(session_id)
        if deletion is None:
            # A task, because a caller that leaves between the stop and the delete must not
            # leave a session behind whose last turn is lost.
            deletion = asyncio.create_task(self._delete(session_id, user_id))
            self._deleting[session_id] = deletion
            deletion.add_done_callback(lambda _: self._deleting.pop(session_id))
        await asyncio.shield(deletion)

    async def _delete(self, session_id: str, user_id: str) -> None:
        await self._stop(session_id, "deleted")
        self._runs.drop_session(session_id)
        self._store.give_up(session_id)
        await self._store.sessions.delete_session(session_id, user_id, self.project_id)

    async def delete_all_sessions(self) -> None:
        """Delete every session of the project, as the project is being deleted."""
        await self._stop_all("project_closed")
        await self._store.sessions.delete_all_sessions()

    async def close(self, reason: StopReason = "shutdown") -> None:
        """Stop all turns, store them, and give back the file.

        With the reason ``deleted`` all sessions are deleted instead. Stopping and giving back
        take at most ``stop_seconds`` each.
        """
        if self._closed:
            return
        self._closed = True
        try:
            await self._stop_all("project_closed" if reason == "deleted" else reason)
            await asyncio.gather(*self._deleting.values(), return_exceptions=True)
            if reason == "deleted":
                await self._store.sessions.delete_all_sessions()
            else:
                await self._store.finish_all(self._settings.stop_seconds)
        finally:
            self._runs.clear()
            await self._give_back()

    async def _give_back(self) -> None:
        closing = asyncio.create_task(self._store.close(), name="close a project's file")
        await asyncio.wait({closing}, timeout=self._settings.stop_seconds)
        if not closing.done():
            closing.add_done_callback(lambda late: late.cancelled() or late.exception())
            log.error("a project's file wasn't closed within %g s", self._settings.stop_seconds)
        else:
            closing.result()

    async def _stop_all(self, reason: StopReason) -> None:
        await asyncio.gather(*(run.stop(reason) for run in self._runs.all_at_work()))

    async def _own(self, session_id: str, user_id: str) -> JsonObject:
        """The user's session. Raises ChatError ``session_not_found``, somebody else's alike."""
        self._refuse_when_closed()
        return await self._store.sessions.get_session_by_thread(
            session_id, user_id, self.project_id
        )

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise ChatError("project_not_opened", "The project is being closed.")


def _overridden(llm: LlmConfig, turn: Turn) -> LlmConfig:
    if turn.temperature is not None:
        llm = replace(llm, temperature=turn.temperature)
    if turn.max_tokens is not None:
        llm = replace(llm, max_tokens=turn.max_tokens)
    return llm


def _status(end: ev.TurnEnd) -> str:
    match end:
        case ev.TurnDone():
            return "done"
        case ev.TurnFailed():
            return "error"
        case _:
            return "abort"
