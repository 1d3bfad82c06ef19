"""How many pictures a user may still make: pictures a day, requests a minute."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from copilot_core.chatbot.storage import owner
from copilot_core.database import StorageError, rows
from copilot_core.errors import ChatError

if TYPE_CHECKING:
    from copilot_core.chatbot.storage import ChatbotFile

log = logging.getLogger(__name__)

_MINUTE = 60.0


class ImageQuota:
    """Counted in the file, so that a restart doesn't forget it."""

    def __init__(self, file: ChatbotFile) -> None:
        self._file = file

    async def take(self, user_id: str, pictures: int, *, daily: int, per_minute: int) -> int:
        """Count a request before it is made; its number. A day is UTC's.

        Raises ChatError ``rate_limited`` and ``quota_exceeded``, and StorageError; then nothing
        is counted.
        """
        whose, now = owner(user_id), time.time()
        day = datetime.fromtimestamp(now, UTC).date().isoformat()
        async with self._file.transaction() as connection:
            # The clock may have been set back: what lies ahead counts a minute at most, too.
            near = (now - _MINUTE, now + _MINUTE)
            await connection.execute(
                "DELETE FROM image_requests WHERE day <> ? AND at NOT BETWEEN ? AND ?",
                (day, *near),
            )
            [[recent, oldest]] = await rows(
                connection,
                "SELECT count(*), min(at) FROM image_requests"
                " WHERE owner = ? AND at BETWEEN ? AND ?",
                (whose, *near),
            )
            if recent >= per_minute:
                wait = min(max(1, round(oldest + _MINUTE - now)), round(_MINUTE)) if recent else 60
                raise ChatError(
                    "rate_limited",
                    f"You have asked for pictures {recent} times within a minute. Wait {wait} s.",
                    retry_after=wait,
                )
            [[made]] = await rows(
                connection,
                "SELECT coalesce(sum(pictures), 0) FROM image_requests WHERE owner = ? AND day = ?",
                (whose, day),
            )
            if made + pictures > daily:
                left = max(daily - made, 0)
                raise ChatError(
                    "quota_exceeded",
                    f"Of the {daily} pictures that you may make a day, {left} are left today.",
                )
            inserted = await connection.execute(
                "INSERT INTO image_requests (owner, day, at, pictures) VALUES (?, ?, ?, ?)",
                (whose, day, now, pictures),
            )
            assert inserted.lastrowid is not None
            return inserted.lastrowid

    async def settle(self, number: int, pictures: int) -> None:
        """A request made so many pictures only. What can't be stored is logged."""
        try:
            async with self._file.transaction() as connection:
                await connection.execute(
                    "UPDATE image_requests SET pictures = ? WHERE number = ?", (pictures, number)
                )
        except (StorageError, ChatError) as error:
            log.error("a user's pictures could not be given back: %s", error)
