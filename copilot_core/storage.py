"""One project's file: LangGraph's checkpoints and our tables in one SQLite database (A28)."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Self

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from copilot_core.database import Database, StorageError, rows
from copilot_core.errors import ChatError
from copilot_core.graph import build_graph
from copilot_core.journal import Journal, add_first_entry, drop_entries
from copilot_core.messages import with_ids
from copilot_core.sessions import ChatSessionsRepository, create_tables
from copilot_core.tracebacks import outline
from copilot_core.turn_keys import TurnKeys, remember

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from langchain_core.messages import AnyMessage
    from langchain_core.runnables import RunnableConfig

    from copilot_core.database import Connection
    from copilot_core.graph import ConversationState
    from copilot_core.journal import TurnStart
    from copilot_core.turn import TurnRecord
    from copilot_core.turn_keys import TurnKey

log = logging.getLogger(__name__)

FOLDER = "gns3-copilot"
FILE = "copilot_checkpoints.db"

_KINDS = (HumanMessage, AIMessage, SystemMessage, ToolMessage)


class _StoredAlready(Exception):
    """Rolls back what would be stored twice."""


class ProjectStore:
    """The open file, as the agent uses it. Everything raises StorageError."""

    def __init__(self, database: Database, saver: AsyncSqliteSaver) -> None:
        self.saver = saver
        self.sessions = ChatSessionsRepository(database)
        self.journal = Journal(database)
        self.keys = TurnKeys(database)
        self._database = database
        #: What stores the last turn of a session, as long as that has not been possible.
        self._unstored: dict[str, Callable[[], Awaitable[None]]] = {}
        self._graph = build_graph(saver)

    @classmethod
    async def open(cls, project_path: Path) -> Self:
        """Open or make ``{project_path}/gns3-copilot/copilot_checkpoints.db``.

        Turns that a process which died has left unfinished are stored (A36).
        """
        database = await Database.open(project_path / FOLDER / FILE)
        try:
            # A project's file may come from a stranger: none of its types but messages
            # and plain values are made, where LangGraph by itself would call any function.
            serde = JsonPlusSerializer(allowed_msgpack_modules=None)
            saver = AsyncSqliteSaver(database.connection, serde=serde)
            async with database.reading():
                await saver.setup()
            await create_tables(database)
            store = cls(database, saver)
            await store.journal.create_table()
            await store.keys.create_table()
            await store.reconcile()
        except BaseException:
            await database.close()
            raise
        return store

    async def close(self) -> None:
        """Give back the file."""
        await self._database.close()

    async def check(self) -> None:
        """Write to the file, without changing what is in it."""
        await self._database.check()

    async def messages(self, thread_id: str) -> list[AnyMessage]:
        """A session's stored messages with their ids, oldest first; no kinds but the four."""
        config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
        async with self._database.reading():
            found = await self.saver.aget_tuple(config)
        if found is None:
            return []
        messages = with_ids(found.checkpoint["channel_values"].get("messages") or [])
        return [message for message in messages if isinstance(message, _KINDS)]

    async def begin(self, start: TurnStart, key: TurnKey | None) -> None:
        """Journal a turn's beginning, before anybody works on it."""
        async with self._database.transaction() as connection:
            await add_first_entry(connection, start)
            if key is not None:
                await remember(connection, start, key)

    async def store_turn(self, start: TurnStart, record: TurnRecord, status: str) -> None:
        """Store what a turn amounts to: its messages, its figures and its title, once.

        ``status`` is done, error or abort. All or nothing; what was journalled goes. Raises
        ChatError ``session_not_found``: a turn never brings back a deleted session.
        """
        said: ConversationState = {"messages": record.messages}
        if record.title:
            said["conversation_title"] = record.title
        # Identifiers only, because LangGraph stores them.
        config: RunnableConfig = {
            "configurable": {"thread_id": start.thread_id, "project_id": start.project_id},
            "metadata": {"user_id": start.user_id},
        }
        try:
            async with self._database.transaction() as connection:
                await self.sessions.update_session(
                    start.thread_id,
                    start.user_id,
                    start.project_id,
                    record,
                    status=status,
                    temperature=start.temperature,
                    max_tokens=start.max_tokens,
                )
                if not await drop_entries(connection, start.run_id) and await self._holds(start):
                    raise _StoredAlready
                stored = await self._graph.aupdate_state(
                    config, said, as_node="title_generator_node"
                )
                await _prune(connection, start.thread_id, stored["configurable"]["checkpoint_id"])
        except _StoredAlready:
            log.warning("a turn was to be stored twice")

    async def _holds(self, start: TurnStart) -> bool:
        """Whether a turn's question is stored; to be asked in a transaction."""
        found = await self.saver.aget_tuple({"configurable": {"thread_id": start.thread_id}})
        messages = found.checkpoint["channel_values"].get("messages") if found else None
        return any(message.id == start.message.id for message in messages or ())

    async def lost(self) -> bool:
        """Whether the file has to be opened again: it was moved or replaced, or what all sessions
        share is damaged. Damage in one session's messages is that session's only."""
        if self._database.damaged:
            try:
                async with self._database.reading() as connection:
                    for table in ("chat_sessions", "turn_journal", "turn_keys"):
                        await rows(connection, f"SELECT * FROM {table}")  # noqa: S608 - ours
            except StorageError:
                return True
            self._database.damaged = False
        return self._database.lost

    async def retry(self) -> None:
        """Store what could not be stored, if that can be done now. Whoever reads waits for it."""
        with suppress(StorageError):  # it would stop the others too
            for thread_id in list(self._unstored):
                await self._store_now(thread_id)

    async def finish(self, start: TurnStart, record: TurnRecord, status: str) -> None:
        """``store_turn``, which is tried again when it fails: now, or before the session's next
        turn, or at the end."""
        self._unstored[start.thread_id] = partial(self.store_turn, start, record, status)
        await self._store_late(start.thread_id)

    async def catch_up(self, thread_id: str) -> None:
        """Store what earlier turns of a session have said, if that is still to be done.

        Raises StorageError, so that no newer turn comes before an older one.
        """
        await self._store_late(thread_id)
        await self.reconcile(thread_id)

    async def finish_all(self, seconds: float) -> None:
        """Try for so long to store what could not be stored. The journal has what fails again."""
        if not self._unstored:
            return
        late = asyncio.gather(*map(self._store_late, self._unstored), return_exceptions=True)
        await asyncio.wait({late}, timeout=seconds)
        if self._unstored:
            log.error("turns that could not be stored: %d", len(self._unstored))

    def give_up(self, thread_id: str) -> None:
        """Store no turn of a session any more: it is being deleted."""
        self._unstored.pop(thread_id, None)

    async def _store_late(self, thread_id: str) -> None:
        """``_store_now``, several times while another program is writing."""
        for pause in (0.1, 0.3, 0.6, None):
            try:
                await self._store_now(thread_id)
            except StorageError as error:
                if pause is None or not error.busy:
                    raise
                await asyncio.sleep(pause)
            else:
                break

    async def _store_now(self, thread_id: str) -> None:
        store = self._unstored.get(thread_id)
        if store is None:
            return
        try:
            await store()
        except (StorageError, asyncio.CancelledError):
            raise  # it isn't given up
        except Exception:
            self._forget(thread_id, store)
            raise
        self._forget(thread_id, store)

    def _forget(self, thread_id: str, store: Callable[[], Awaitable[None]]) -> None:
        # Not a newer one: two may have tried to store the same, and this is the later of them.
        if self._unstored.get(thread_id) is store:
            del self._unstored[thread_id]

    async def reconcile(self, thread_id: str | None = None) -> None:
        """Store the turns, of one session or of all, that were begun and never stored.

        Of one session: raises StorageError, so that no newer turn comes before an older one. Of
        all: what can't be stored now is logged, and tried again before the session's next turn.
        """
        for run_id in await self.journal.unfinished(thread_id):
            try:
                start, record = await self.journal.read(run_id)
                await self.store_turn(start, record, "error")
            except StorageError as error:
                if thread_id is not None:
                    raise
                log.error("an unfinished turn could not be stored: %s", error)
            except (ChatError, ValueError) as error:
                log.error("an unfinished turn is given up: %s", error)
                await self.journal.drop(run_id)
            except Exception as error:
                log.error("an unfinished turn could not be stored: %s", outline(error))
            else:
                log.warning("a turn that was never finished is stored as interrupted")


async def _prune(connection: Connection, thread_id: str, newest: str) -> None:
    """Keep a session's newest checkpoint only: each one holds the whole conversation.

    It is named, because it needn't be the greatest: LangGraph's ids follow the clock.
    """
    for table in ("writes", "checkpoints"):
        await connection.execute(
            f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_id <> ?",  # noqa: S608 - both names are ours
            (thread_id, newest),
        )
