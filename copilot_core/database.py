"""One project's SQLite file, owned by this process, with one connection for all who use it.

LangGraph's saver commits whenever it has written something. Here its commits are held until the
transaction around it ends, so that a turn's messages and its figures are stored together or not
at all.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import sqlite3
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import aiosqlite
from filelock import FileLock, Timeout

from copilot_core import timestamps
from copilot_core.errors import ChatError
from copilot_core.tracebacks import outline

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from filelock import BaseFileLock

log = logging.getLogger(__name__)

# The write-ahead log is folded back every megabyte, so that it doesn't outgrow the data. Others
# who write to the file are not waited for long, because all sessions of the project wait along.
_PRAGMAS = (
    "PRAGMA busy_timeout=250",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    "PRAGMA wal_autocheckpoint=256",
    "PRAGMA journal_size_limit=1048576",
)
#: By SQLite's primary result code.
_WHY = {
    sqlite3.SQLITE_BUSY: "another program is writing to their file",
    sqlite3.SQLITE_CANTOPEN: "their file can't be opened",
    sqlite3.SQLITE_CORRUPT: "their file is damaged",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk failed",
    sqlite3.SQLITE_LOCKED: "another program is writing to their file",
    sqlite3.SQLITE_NOTADB: "their file is damaged",
    sqlite3.SQLITE_PERM: "their file may not be written to",
    sqlite3.SQLITE_READONLY: "their file may not be written to",
}
#: What a rollback journal begins with, and ends with if it names a super-journal.
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class StorageError(ChatError):
    """A file can't be had, read or written. The message says why, for people."""

    def __init__(
        self,
        why: str,
        *,
        busy: bool = False,
        passing: bool = True,
        what: str = "The project's conversations",
    ) -> None:
        super().__init__("internal", f"{what} can't be used: {why}.", retry_after=5)
        #: The rest of the sentence, where ``what`` is several.
        self.why = why
        #: It may be mended while the file is open.
        self.passing = passing
        #: Somebody else was writing: a moment later it may work.
        self.busy = busy


class Connection(aiosqlite.Connection):
    """Doesn't commit while it is ``held``: then whoever holds it does."""

    held = False

    async def commit(self) -> None:
        """Commit, unless a transaction of ours is open around it."""
        if not self.held:
            await super().commit()


class Database:
    """The open file. What uses the connection does so in ``reading`` or ``transaction``."""

    def __init__(self, connection: Connection, path: Path, owned: BaseFileLock) -> None:
        self.connection = connection
        #: The file was moved or replaced: what is in its place has to be opened.
        self.lost = False
        #: A part of the file was found damaged.
        self.damaged = False
        self._path = path
        self._log_path = path.with_name(f"{path.name}-wal")
        self._file = _inode(path)
        self._log: tuple[int, int] | None = None
        self._owned = owned
        self._lock = asyncio.Lock()
        self._closed = False

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open or make the file at ``path``, for this process alone.

        A file that is damaged is moved aside, to ``{name}.damaged-{time}``, and a new one begun.
        Raises StorageError: it is owned by somebody else, or can't be opened or written to.
        """
        with _told(path):
            path, owned = await asyncio.to_thread(_own, path)
            try:
                try:
                    connection = await _connect(path)
                except sqlite3.DatabaseError as error:
                    if _code(error) not in _DAMAGED:
                        raise
                    connection = await _connect(path)  # in the place of the one moved aside
            except BaseException:
                owned.release()
                raise
        return cls(connection, path, owned)

    async def close(self) -> None:
        """Give back the file. What waits for it is refused with ``project_not_opened``.

        Takes as long as what the disk is doing now; being cancelled doesn't shorten that.
        """
        self._closed = True
        try:
            async with self._lock:
                pass  # what is being done now comes to its end
        finally:
            try:
                self._keep_log_from_others()
                await self.connection.close()
            finally:
                self._owned.release()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Connection]:
        """The connection, between transactions. Raises StorageError."""
        async with self._lock:
            self._refuse_when_closed()
            with self._watched():
                yield self.connection

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """All or nothing. Raises StorageError.

        It holds the write lock from its beginning, so what it reads stays true. A task that is
        cancelled leaves statements behind in the connection's own thread; they are run in order,
        the rollback last.
        """
        connection = self.connection
        async with self._lock:
            self._refuse_when_closed()
            with self._watched():
                try:
                    await connection.execute("BEGIN IMMEDIATE")
                    connection.held = True
                    try:
                        yield connection
                    finally:
                        connection.held = False
                    await connection.commit()
                    self._log = self._log or _inode(self._log_path)
                except BaseException:
                    await connection.rollback()
                    raise

    async def check(self) -> None:
        """Write to the file, without changing what is in it. Raises StorageError."""
        async with self.transaction() as connection:
            [[version]] = await rows(connection, "PRAGMA user_version")
            await connection.execute(f"PRAGMA user_version = {version}")

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Notes that the file is lost: what is written to one that was moved, nobody finds."""
        if _inode(self._path) != self._file:
            self.lost = True
            raise StorageError("their file was moved or replaced")
        try:
            with _told(self._path):
                yield
        except StorageError as error:
            self.damaged = self.damaged or _code(error.__cause__) in _DAMAGED
            raise

    def _keep_log_from_others(self) -> None:
        """SQLite would play the log of a file that was replaced over the one in its place."""
        if _inode(self._path) != self._file and _inode(self._log_path) == self._log:
            self._log_path.unlink(missing_ok=True)

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise ChatError("project_not_opened", "The project is being closed.")


async def rows(
    connection: aiosqlite.Connection, sql: str, parameters: Sequence[Any] = ()
) -> list[tuple[Any, ...]]:
    """All rows of a query."""
    return [tuple(row) for row in await connection.execute_fetchall(sql, parameters)]


def quoted(name: str) -> str:
    """A name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


async def own_table(
    connection: aiosqlite.Connection, name: str, columns: dict[str, str], *, key: str
) -> None:
    """Make a table that only this program knows, in place of one that is made otherwise."""
    described = ", ".join(f"{column} {kind}" for column, kind in columns.items())
    sql = f"CREATE TABLE {quoted(name)} ({described}, PRIMARY KEY ({key}))"
    made = await rows(connection, "SELECT type, sql FROM sqlite_master WHERE name = ?", (name,))
    if made == [("table", sql)]:
        return
    for kind, _ in made:
        await connection.execute(f"DROP {kind} {quoted(name)}")
    await connection.execute(sql)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What goes wrong with the file, as a sentence; the log has the rest."""
    try:
        yield
    except Timeout:
        why = "they are open in another process or project, or still being closed"
        log.error("%s can't be opened: %s", path, why)
        raise StorageError(why) from None
    except sqlite3.Error as error:
        code = _code(error)
        why = _WHY.get(code, "their file can't be used")
        log.error("%s failed: %s", path, why if code in _WHY else outline(error))
        raise StorageError(why, busy=code in _BUSY, passing=code not in _DAMAGED) from error
    except OSError as error:
        why = (error.strerror or "the disk failed").lower()
        log.error("%s failed: %s", path, why)
        raise StorageError(why) from error


def _code(error: BaseException | None) -> int:
    """SQLite's primary result code; 0 where the error isn't SQLite's own."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _own(path: Path) -> tuple[Path, BaseFileLock]:
    """The file itself, and the right to use it. It ends with the process, however that ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():  # it and the file that it leads to have one owner
        path = Path(os.path.realpath(path, strict=True))
    owned = FileLock(path.with_suffix(".lock"), blocking=False, thread_local=False)
    owned.acquire()
    try:
        if path.exists() and not os.access(path, os.W_OK):
            # SQLite would only read it, and leave a log that may not be written to later either.
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        log_of_it = path.with_name(f"{path.name}-wal")
        if (not _size(path) and _size(log_of_it)) or _names_a_file(path):
            # SQLite would delete the log of a file that is empty, and whatever file a journal of
            # the older kind names.
            _move_aside(path)
    except BaseException:
        owned.release()
        raise
    return path, owned


def _names_a_file(path: Path) -> bool:
    """Whether there is a rollback journal that names a super-journal; we never write one."""
    journal = path.with_name(f"{path.name}-journal")
    if _size(journal) <= len(_JOURNAL_MAGIC):
        return False
    with journal.open("rb") as file:
        file.seek(-len(_JOURNAL_MAGIC), os.SEEK_END)
        return file.read() == _JOURNAL_MAGIC


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


async def _connect(path: Path) -> Connection:
    # Without Python's own transactions: each is begun and ended here.
    connection = Connection(partial(sqlite3.connect, path, isolation_level=None), 64)
    await connection
    try:
        # First, because what is damaged is kept as it is.
        [[found]] = await rows(connection, "PRAGMA quick_check(1)")
        if found != "ok":
            damaged = sqlite3.DatabaseError("quick_check found damage")
            damaged.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise damaged
        for pragma in _PRAGMAS:
            await connection.execute(pragma)
        # The file may come from a stranger, whose triggers would copy what others say.
        for [name] in await rows(
            connection, "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ):
            await connection.execute(f"DROP TRIGGER {quoted(name)}")
    except BaseException as error:
        try:
            if isinstance(error, sqlite3.Error) and _code(error) in _DAMAGED:
                # While it is open: SQLite folds no log into a file that has been moved.
                await asyncio.to_thread(_move_aside, path)
        finally:
            await connection.close()
        raise
    return connection


def _move_aside(path: Path) -> None:
    aside = path.with_name(f"{path.name}.damaged-{timestamps.now().replace(':', '')}")
    log.error("%s is damaged: it is kept as %s, and a new one begun", path, aside.name)
    for tail in ("-journal", "-wal", "-shm", ""):
        part = path.with_name(path.name + tail)
        if part.exists():
            part.rename(aside.with_name(aside.name + tail))
