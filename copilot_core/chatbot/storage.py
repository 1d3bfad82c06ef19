"""What the chatbot keeps beside its conversations, in a file of its own: ``chatbot.db``.

Each table has the user in its rows and each query has the user in it: somebody else's things and
those that aren't there are the same.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from copilot_core.database import Database, StorageError
from copilot_core.errors import ChatError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from copilot_core.database import Connection

log = logging.getLogger(__name__)

FILE = "chatbot.db"
#: How long closing the file may take, in seconds.
_CLOSING = 5.0

# `owner` is the user's id as bytes: it comes from a login, and may be what SQLite's text can't
# hold. The words of a memory are found in `memory_index`, by the memory's `number`.
_TABLES = (
    "CREATE TABLE IF NOT EXISTS memories (number INTEGER PRIMARY KEY AUTOINCREMENT,"
    " owner BLOB NOT NULL, id TEXT NOT NULL UNIQUE, folder_name TEXT NOT NULL,"
    " title TEXT NOT NULL, content TEXT NOT NULL, tags TEXT NOT NULL, images TEXT NOT NULL,"
    " created_at TEXT NOT NULL, updated_at TEXT NOT NULL, size INTEGER NOT NULL)",
    "CREATE INDEX IF NOT EXISTS memories_of ON memories(owner, updated_at)",
    "CREATE VIRTUAL TABLE IF NOT EXISTS memory_index USING fts5(title, tags, content,"
    " tokenize = 'unicode61 remove_diacritics 2')",
    "CREATE TABLE IF NOT EXISTS folder_settings (owner BLOB PRIMARY KEY,"
    " enabled INTEGER NOT NULL, folders TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS image_requests (number INTEGER PRIMARY KEY AUTOINCREMENT,"
    " owner BLOB NOT NULL, day TEXT NOT NULL, at REAL NOT NULL, pictures INTEGER NOT NULL)",
    "CREATE INDEX IF NOT EXISTS image_requests_of ON image_requests(owner, day)",
)


class ChatbotFile:
    """The file at a path. It is opened when it is first used, and again when it was lost.

    Everything raises StorageError, and ChatError ``project_not_opened`` after ``close``.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opening: asyncio.Task[Database] | None = None
        self._closed = False

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Connection]:
        """The connection, between transactions."""
        with _named():
            async with (await self._database()).reading() as connection:
                yield connection

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """All or nothing; what is read in it stays true."""
        with _named():
            async with (await self._database()).transaction() as connection:
                yield connection

    async def check(self) -> None:
        """Write to the file, without changing what is in it."""
        with _named():
            await (await self._database()).check()

    async def close(self) -> None:
        """Give back the file, for good."""
        self._closed = True
        if self._opening is None:
            return
        closing = asyncio.create_task(_close(self._opening), name="close the chatbot's file")
        await asyncio.wait({closing}, timeout=_CLOSING)
        if not closing.done():
            log.error("%s wasn't closed within %g s", self._path, _CLOSING)

    async def _database(self) -> Database:
        if self._closed:
            raise ChatError("project_not_opened", "The server is shutting down.")
        if self._opening is None or _is_spent(self._opening):
            self._opening = asyncio.create_task(_open(self._path, self._opening))
        # A caller that is cancelled doesn't take the others along.
        return await asyncio.shield(self._opening)


async def _open(path: Path, before: asyncio.Task[Database] | None) -> Database:
    if before is not None:
        await _close(before)
    database = await Database.open(path)
    try:
        async with database.transaction() as connection:
            for table in _TABLES:
                await connection.execute(table)
    except BaseException:
        await database.close()
        raise
    return database


async def _close(opening: asyncio.Task[Database]) -> None:
    await asyncio.wait({opening})
    if opening.cancelled() or opening.exception() is not None:
        return
    try:
        await opening.result().close()
    except Exception as error:
        log.error("the chatbot's file could not be closed: %s", type(error).__name__)


def _is_spent(opening: asyncio.Task[Database]) -> bool:
    if not opening.done():
        return False
    if opening.cancelled() or opening.exception() is not None:
        return True
    database = opening.result()
    return database.lost or database.damaged


@contextmanager
def _named() -> Iterator[None]:
    """What can't be used, by its name."""
    try:
        yield
    except StorageError as error:
        raise StorageError(
            error.why, busy=error.busy, passing=error.passing, what="Memories and settings"
        ) from error


def owner(user_id: str) -> bytes:
    """A user's id as the tables hold it; two users' are never the same."""
    return user_id.encode("utf-8", "surrogatepass")
