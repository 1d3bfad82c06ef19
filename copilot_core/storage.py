"""One project's file: LangGraph's checkpoints and our tables in one SQLite database (A28)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

import aiosqlite
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from copilot_core.messages import with_ids
from copilot_core.sessions import ChatSessionsRepository, create_tables

if TYPE_CHECKING:
    from pathlib import Path

    from langchain_core.messages import AnyMessage
    from langchain_core.runnables import RunnableConfig

FOLDER = "gns3-copilot"
FILE = "copilot_checkpoints.db"

_KINDS = (HumanMessage, AIMessage, SystemMessage, ToolMessage)

# The write-ahead log is folded back every megabyte, so that it doesn't outgrow the data.
_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    "PRAGMA busy_timeout=5000",
    "PRAGMA wal_autocheckpoint=256",
    "PRAGMA journal_size_limit=1048576",
)


class ProjectStore:
    """The open file. Two connections, because the saver commits on its own one."""

    def __init__(
        self, saver: AsyncSqliteSaver, connection: aiosqlite.Connection, path: Path
    ) -> None:
        self.saver = saver
        self.path = path
        self.sessions = ChatSessionsRepository(connection)
        self._connection = connection

    @classmethod
    async def open(cls, project_path: Path) -> Self:
        """Open or make ``{project_path}/gns3-copilot/copilot_checkpoints.db``.

        Raises OSError or sqlite3.Error when it can't be had.
        """
        path = project_path / FOLDER / FILE
        await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
        first = await _connect(path)
        try:
            second = await _connect(path)
            try:
                # A project's file may come from a stranger: none of its types but messages
                # and plain values are made, where LangGraph by itself would call any function.
                serde = JsonPlusSerializer(allowed_msgpack_modules=None)
                saver = AsyncSqliteSaver(first, serde=serde)
                await saver.setup()
                await create_tables(second)
            except BaseException:
                await second.close()
                raise
        except BaseException:
            await first.close()
            raise
        return cls(saver, second, path)

    async def close(self) -> None:
        """Give back both connections."""
        try:
            await self._connection.close()
        finally:
            await self.saver.conn.close()

    async def messages(self, thread_id: str) -> list[AnyMessage]:
        """A session's stored messages with their ids, oldest first; no kinds but the four."""
        config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
        found = await self.saver.aget_tuple(config)
        if found is None:
            return []
        messages = with_ids(found.checkpoint["channel_values"].get("messages") or [])
        return [message for message in messages if isinstance(message, _KINDS)]

    async def prune(self, thread_id: str) -> None:
        """Keep a session's newest checkpoint only: each one holds the whole conversation."""
        newest = (
            "(SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ? "
            "AND checkpoint_ns = '')"
        )
        async with self.saver.lock:
            for table in ("writes", "checkpoints"):
                await self.saver.conn.execute(
                    f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_id < {newest}",  # noqa: S608 - both names are ours
                    (thread_id, thread_id),
                )
            await self.saver.conn.commit()

    async def rollback(self) -> None:
        """Give up what the saver began to write and could not commit: it holds the write lock."""
        async with self.saver.lock:
            await self.saver.conn.rollback()


async def _connect(path: Path) -> aiosqlite.Connection:
    connection = await aiosqlite.connect(path)
    try:
        for pragma in _PRAGMAS:
            await connection.execute(pragma)
    except BaseException:
        await connection.close()
        raise
    return connection
