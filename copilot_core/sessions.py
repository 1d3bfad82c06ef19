"""The table ``chat_sessions`` of a project's file (chat-api.md, Session Management).

Each query has the ``user_id`` in it (decision A17); somebody else's session and one that isn't
there are the same ``session_not_found``. What leaves is a ``ChatSession`` of the surface.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

from copilot_core import timestamps
from copilot_core.database import quoted
from copilot_core.database import rows as _rows
from copilot_core.errors import ChatError
from copilot_core.session_stats import added, count, session_stats, turn_stats
from copilot_core.text import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import aiosqlite

    from copilot_core.database import Database
    from copilot_core.ports import JsonObject
    from copilot_core.turn import TurnRecord

#: The title of a session that has none yet.
NEW_TITLE = "New Chat"
#: What else of a session is in the file, by its ``thread_id``: LangGraph's tables and ours.
SESSION_TABLES = ("checkpoints", "writes", "turn_journal", "turn_keys")

_MOST_TITLE = 255
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_THREAD_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

# In the order of the specification. ``title_by_user`` is ours and never leaves: a title that a
# user gave is never replaced by a generated one (decision A20).
_COLUMNS = {
    "id": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "thread_id": "TEXT",
    "user_id": "TEXT",
    "project_id": "TEXT",
    "title": f"TEXT DEFAULT '{NEW_TITLE}'",
    "message_count": "INTEGER DEFAULT 0",
    "llm_calls_count": "INTEGER DEFAULT 0",
    "input_tokens": "INTEGER DEFAULT 0",
    "output_tokens": "INTEGER DEFAULT 0",
    "total_tokens": "INTEGER DEFAULT 0",
    "last_message_at": "TIMESTAMP",
    "created_at": "TIMESTAMP",
    "updated_at": "TIMESTAMP",
    "metadata": "TEXT",
    "stats": "TEXT",
    "pinned": "BOOLEAN DEFAULT FALSE",
    "title_by_user": "BOOLEAN DEFAULT FALSE",
}
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM chat_sessions"  # noqa: S608 - the names are above


async def create_tables(database: Database) -> None:
    """Make the table and its indexes, or bring those of an older file up to date.

    Columns are only ever added. Points in time of older rows are written as the wire has them,
    so that they sort; everything else is left alone. Repeating it changes nothing.
    """
    async with database.transaction() as connection:
        columns = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
        await connection.execute(f"CREATE TABLE IF NOT EXISTS chat_sessions ({columns})")
        present = {row[1] for row in await _rows(connection, "PRAGMA table_info(chat_sessions)")}
        for name, kind in _COLUMNS.items():
            if name not in present:
                await connection.execute(f"ALTER TABLE chat_sessions ADD COLUMN {name} {kind}")
        await _date_older_rows(connection)
        # Without the unique index an older file may hold an id twice: the newest row keeps it,
        # the others get one that nobody can ask for.
        await connection.execute(
            "UPDATE chat_sessions SET thread_id = thread_id || '#' || id WHERE id NOT IN"
            " (SELECT max(id) FROM chat_sessions GROUP BY thread_id)"
        )
        for row in await _rows(connection, "PRAGMA index_list(chat_sessions)"):
            if row[1] == "idx_thread_id" and not row[2]:  # an older one, not unique
                await connection.execute("DROP INDEX idx_thread_id")
        for index in (
            "UNIQUE INDEX IF NOT EXISTS idx_thread_id ON chat_sessions(thread_id)",
            "INDEX IF NOT EXISTS idx_user_project ON chat_sessions(user_id, project_id)",
            "INDEX IF NOT EXISTS idx_pinned_updated ON chat_sessions(pinned DESC, updated_at DESC)",
        ):
            await connection.execute(f"CREATE {index}")


async def _date_older_rows(connection: aiosqlite.Connection) -> None:
    dated = "GLOB '????-??-??T??:??:??*Z'"
    rows = await _rows(
        connection,
        "SELECT id, created_at, updated_at, last_message_at FROM chat_sessions"  # noqa: S608 - ours
        f" WHERE created_at IS NULL OR created_at NOT {dated}"
        f" OR updated_at IS NULL OR updated_at NOT {dated} OR last_message_at NOT {dated}",
    )
    for row_id, *points in rows:
        created, updated, last = map(timestamps.as_utc, points)
        created = created or updated or last or timestamps.now()
        await connection.execute(
            "UPDATE chat_sessions SET created_at = ?, updated_at = ?, last_message_at = ?"
            " WHERE id = ?",
            (created, updated or last or created, last, row_id),
        )


class ChatSessionsRepository:
    """Sessions in a file that ``create_tables`` has prepared.

    Each method but ``update_session`` is one transaction, or a read between transactions. All
    raise StorageError.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connection

    async def create_session(self, thread_id: str, user_id: str, project_id: str) -> JsonObject:
        """Get or create. Raises ``session_not_found`` if the id is somebody else's."""
        if not _THREAD_ID.fullmatch(thread_id):
            raise _not_found()
        now = timestamps.now()
        async with self._database.transaction():
            await self._connection.execute(
                "INSERT INTO chat_sessions"
                " (thread_id, user_id, project_id, title, created_at, updated_at, metadata, stats)"
                " VALUES (?, ?, ?, ?, ?, ?, '{}', '{}') ON CONFLICT (thread_id) DO NOTHING",
                (thread_id, _checked(user_id), _checked(project_id), NEW_TITLE, now, now),
            )
            return await self._get(thread_id, user_id, project_id)

    async def get_session_by_thread(
        self, thread_id: str, user_id: str, project_id: str
    ) -> JsonObject:
        """The user's session. Raises ``session_not_found``."""
        async with self._database.reading():
            return await self._get(thread_id, user_id, project_id)

    async def list_sessions(
        self,
        user_id: str,
        project_id: str,
        *,
        limit: int = 100,
        offset: int = 0,
        q: str | None = None,
    ) -> list[JsonObject]:
        """The user's sessions: pinned ones first, then the last updated.

        ``q`` is text that the title must contain; ASCII letters of either case are the same.
        """
        sql = (
            f"{_SELECT} WHERE user_id = ? AND project_id = ?"
            " AND typeof(thread_id) = 'text' AND length(thread_id) BETWEEN 1 AND 64"
            " AND thread_id NOT GLOB '*[^A-Za-z0-9_-]*'"
        )
        parameters: list[Any] = [_checked(user_id), _checked(project_id)]
        if q:
            if len(q) > _MOST_TITLE or "\0" in q:
                return []
            sql += r" AND title LIKE ? ESCAPE '\'"
            escaped = re.sub(r"([%_\\])", r"\\\1", without_surrogates(q))
            parameters.append(f"%{escaped}%")
        sql += " ORDER BY pinned DESC, updated_at DESC, id DESC LIMIT ? OFFSET ?"
        parameters += [max(limit, 0), min(max(offset, 0), 2**62)]
        async with self._database.reading():
            return [_session(row) for row in await _rows(self._connection, sql, parameters)]

    async def wants_title(self, thread_id: str, user_id: str, project_id: str) -> bool:
        """Whether the session has no title yet, and no user has given it one."""
        async with self._database.reading():
            rows = await _rows(
                self._connection,
                "SELECT 1 FROM chat_sessions WHERE thread_id = ? AND user_id = ?"
                " AND project_id = ? AND coalesce(title, ?) IN (?, '') AND NOT title_by_user",
                (*_checked_all(thread_id, user_id, project_id), NEW_TITLE, NEW_TITLE),
            )
        return bool(rows)

    async def update_session(
        self,
        thread_id: str,
        user_id: str,
        project_id: str,
        record: TurnRecord,
        *,
        status: str,
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> JsonObject:
        """Add what a turn amounts to, in a transaction that is open (decision A13).

        ``status`` is done, error or abort; ``temperature`` and ``max_tokens`` are the request's
        overrides. The turn's title is taken unless the user gave one. Raises
        ``session_not_found``: a turn never brings back a deleted session.
        """
        turn = turn_stats(record, status=status, temperature=temperature, max_tokens=max_tokens)
        models = turn["models"].values()
        input_tokens = sum(model["input_tokens"] or 0 for model in models)
        output_tokens = sum(model["output_tokens"] or 0 for model in models)
        now = timestamps.now()
        title = without_surrogates(record.title or "")[:_MOST_TITLE] or None
        session = await self._get(thread_id, user_id, project_id)
        [[stored]] = await _rows(
            self._connection, "SELECT stats FROM chat_sessions WHERE id = ?", (session["id"],)
        )
        stats = _object(stored) | added(session["stats"], turn)
        await self._connection.execute(
            "UPDATE chat_sessions SET"
            " message_count = coalesce(message_count, 0) + ?,"
            " llm_calls_count = coalesce(llm_calls_count, 0) + ?,"
            " input_tokens = coalesce(input_tokens, 0) + ?,"
            " output_tokens = coalesce(output_tokens, 0) + ?,"
            " total_tokens = coalesce(total_tokens, 0) + ?,"
            " title = CASE WHEN title_by_user THEN title ELSE coalesce(?, title) END,"
            " stats = ?, last_message_at = ?, updated_at = ?"
            " WHERE id = ?",
            (
                len(record.messages),
                sum(model["llm_calls"] for model in models),
                input_tokens,
                output_tokens,
                input_tokens + output_tokens,
                title,
                orjson.dumps(stats).decode(),
                now,
                now,
                session["id"],
            ),
        )
        return await self._get(thread_id, user_id, project_id)

    async def rename_session(
        self, thread_id: str, user_id: str, project_id: str, title: str
    ) -> JsonObject:
        """Give a title for good (decision A20). Raises ``session_not_found``.

        Raises ``invalid_request`` for a title that isn't of 1 to 255 characters when trimmed.
        """
        title = _CONTROLS.sub(" ", without_surrogates(title)).strip()
        if not 1 <= len(title) <= _MOST_TITLE:
            raise ChatError(
                "invalid_request", f"A title has 1 to {_MOST_TITLE} characters, not {len(title)}."
            )
        return await self._set(
            (thread_id, user_id, project_id),
            "title = ?, title_by_user = TRUE, updated_at = ?",
            (title, timestamps.now()),
        )

    async def pin_session(
        self, thread_id: str, user_id: str, project_id: str, *, pinned: bool
    ) -> JsonObject:
        """Pin or unpin; ``updated_at`` stays (decision A35). Raises ``session_not_found``."""
        return await self._set((thread_id, user_id, project_id), "pinned = ?", (pinned,))

    async def set_metadata(
        self, thread_id: str, user_id: str, project_id: str, changes: JsonObject
    ) -> JsonObject:
        """Set some keys of the metadata; the others stay. Raises ``session_not_found``."""
        whose = (thread_id, user_id, project_id)
        async with self._database.transaction():
            session = await self._get(*whose)
            await self._connection.execute(
                "UPDATE chat_sessions SET metadata = ?, updated_at = ? WHERE id = ?",
                (
                    orjson.dumps(session["metadata"] | changes).decode(),
                    timestamps.now(),
                    session["id"],
                ),
            )
            return await self._get(*whose)

    async def delete_session(
        self,
        thread_id: str,
        user_id: str,
        project_id: str,
        *,
        tables: Sequence[str] = SESSION_TABLES,
    ) -> None:
        """Delete a session and its rows in ``tables``, all or nothing (decision A16).

        Each of the tables has a ``thread_id``; one that isn't in the file is passed over.
        Raises ``session_not_found``.
        """
        async with self._database.transaction():
            await self._get(thread_id, user_id, project_id)
            for table in ("chat_sessions", *await self._present(tables)):
                await self._connection.execute(
                    f"DELETE FROM {quoted(table)} WHERE thread_id = ?",  # noqa: S608 - quoted
                    (thread_id,),
                )

    async def delete_all_sessions(self, *, tables: Sequence[str] = SESSION_TABLES) -> None:
        """Delete every session in the file and everything in ``tables``, all or nothing."""
        async with self._database.transaction():
            for table in ("chat_sessions", *await self._present(tables)):
                await self._connection.execute(f"DELETE FROM {quoted(table)}")  # noqa: S608 - quoted

    async def _set(
        self, whose: tuple[str, str, str], assignments: str, values: tuple[Any, ...]
    ) -> JsonObject:
        async with self._database.transaction():
            session = await self._get(*whose)
            await self._connection.execute(
                f"UPDATE chat_sessions SET {assignments} WHERE id = ?",  # noqa: S608 - from above
                (*values, session["id"]),
            )
            return await self._get(*whose)

    async def _get(self, thread_id: str, user_id: str, project_id: str) -> JsonObject:
        """The session; to be called while the database is held."""
        rows = (
            await _rows(
                self._connection,
                f"{_SELECT} WHERE thread_id = ? AND user_id = ? AND project_id = ?",
                (thread_id, _checked(user_id), _checked(project_id)),
            )
            if _THREAD_ID.fullmatch(thread_id)
            else ()
        )
        for row in rows:
            return _session(row)
        raise _not_found()

    async def _present(self, tables: Iterable[str]) -> list[str]:
        rows = await _rows(self._connection, "SELECT name FROM sqlite_master WHERE type = 'table'")
        present = {row[0] for row in rows}
        return [table for table in tables if table in present]


def _session(row: tuple[Any, ...]) -> JsonObject:
    """A row as a ``ChatSession``, also a row that an older program wrote."""
    session: JsonObject = dict(zip(_COLUMNS, row, strict=True))
    del session["title_by_user"]
    session["title"] = str(session["title"] or "")[:_MOST_TITLE] or NEW_TITLE
    for key in ("message_count", "llm_calls_count", "input_tokens", "output_tokens"):
        session[key] = count(session[key])
    session["total_tokens"] = session["input_tokens"] + session["output_tokens"]
    session["last_message_at"] = timestamps.as_utc(session["last_message_at"])
    for key in ("created_at", "updated_at"):
        session[key] = timestamps.as_utc(session[key]) or "1970-01-01T00:00:00Z"
    session["metadata"] = _object(session["metadata"])
    session["stats"] = session_stats(_object(session["stats"]))
    session["pinned"] = bool(session["pinned"])
    return session


def _object(text: Any) -> JsonObject:
    try:
        value = orjson.loads(text)
    except (orjson.JSONDecodeError, TypeError):
        return {}
    return value if isinstance(value, dict) else {}


def _checked(identifier: str) -> str:
    """An identifier that SQLite can hold as it is; changed, it could be somebody else's."""
    try:
        identifier.encode()
    except UnicodeEncodeError:
        raise _not_found() from None
    return identifier


def _checked_all(*identifiers: str) -> tuple[str, ...]:
    return tuple(map(_checked, identifiers))


def _not_found() -> ChatError:
    return ChatError("session_not_found", "There is no such session.")
