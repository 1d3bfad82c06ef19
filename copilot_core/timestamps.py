"""Points in time as the wire has them: UTC, ISO 8601, with ``Z`` (decision A19)."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_WIRE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z")


def now() -> str:
    """This moment, with microseconds."""
    return _text(datetime.now(UTC))


def as_utc(value: object) -> str | None:
    """A point in time in the wire's form, or None if ``value`` isn't one.

    Takes ISO 8601 text, with a space or ``T``, where no offset means UTC (as SQLite's
    ``CURRENT_TIMESTAMP`` writes it), and numbers as seconds since 1970.
    """
    try:
        match value:
            case str() if _WIRE.fullmatch(value):
                return value
            case str():
                point = datetime.fromisoformat(value.strip())
            case int() | float():
                point = datetime.fromtimestamp(value, UTC)
            case _:
                return None
        return _text(point if point.tzinfo else point.replace(tzinfo=UTC))
    except (ValueError, OverflowError, OSError):
        return None


def _text(point: datetime) -> str:
    return point.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
