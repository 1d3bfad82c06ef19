"""Which turn an ``Idempotency-Key`` started: a request that is repeated joins it.

The header is that of the IETF's draft-ietf-httpapi-idempotency-key-header.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID, uuid4, uuid5

from copilot_core import timestamps
from copilot_core.database import own_table, rows
from copilot_core.errors import ChatError
from copilot_core.message_content import json_text

if TYPE_CHECKING:
    from copilot_core.database import Connection, Database
    from copilot_core.journal import TurnStart

#: How long a key is remembered.
KEPT = timedelta(hours=24)
_SESSIONS = UUID("0d9b0d5e-6a3f-4d0c-8f43-2f1f6f8e9a57")
_COLUMNS = {
    "user_id": "TEXT NOT NULL",
    "key": "TEXT NOT NULL",
    "thread_id": "TEXT NOT NULL",
    "run_id": "TEXT NOT NULL",
    "fingerprint": "TEXT NOT NULL",
    "created_at": "TEXT NOT NULL",
}


@dataclass(frozen=True, slots=True)
class TurnKey:
    """A key as its user sent it, and what it was sent with."""

    key: str
    #: Of the message and its settings: another request under the same key has another one.
    fingerprint: str

    @classmethod
    def of(cls, key: str, *request: object) -> TurnKey:
        """A key and the request, as JSON values, that it came with."""
        return cls(key, hashlib.sha256(json_text(request).encode()).hexdigest())


def new_session_id(user_id: str, key: str | None) -> str:
    """The id of a session that a request didn't name: one and the same for a key's repeats."""
    return str(uuid4() if key is None else uuid5(_SESSIONS, repr((user_id, key))))


class TurnKeys:
    """The table ``turn_keys``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create_table(self) -> None:
        """Make the table, if it isn't there."""
        async with self._database.transaction() as connection:
            await own_table(connection, "turn_keys", _COLUMNS, key="user_id, key")

    async def find(self, user_id: str, session_id: str, key: TurnKey) -> str | None:
        """The id of the run that the user's key started within the last day.

        Raises ChatError ``invalid_request``: it was another request, or in another session.
        """
        try:
            user_id.encode()
        except UnicodeEncodeError:  # SQLite can't hold it, so it isn't there
            return None
        async with self._database.reading() as connection:
            found = await rows(
                connection,
                "SELECT run_id, thread_id, fingerprint FROM turn_keys"
                " WHERE user_id = ? AND key = ? AND created_at > ?",
                (user_id, key.key, _oldest()),
            )
        for run_id, *request in found:
            if request != [session_id, key.fingerprint]:
                raise ChatError(
                    "invalid_request", "This Idempotency-Key was used for another request."
                )
            return str(run_id)
        return None


async def remember(connection: Connection, start: TurnStart, key: TurnKey) -> None:
    """Note the turn that a key starts, in a transaction that is open; forget old keys."""
    await connection.execute("DELETE FROM turn_keys WHERE created_at <= ?", (_oldest(),))
    await connection.execute(
        "INSERT OR REPLACE INTO turn_keys VALUES (?, ?, ?, ?, ?, ?)",
        (
            start.user_id,
            key.key,
            start.thread_id,
            start.run_id,
            key.fingerprint,
            timestamps.now(),
        ),
    )


def _oldest() -> str:
    return timestamps.as_utc((datetime.now(UTC) - KEPT).isoformat()) or ""
