"""What a running turn has said so far, in the project's file (decision A36).

A turn is stored once, when it ends. Until then its beginning and its events are journalled, at
most a second behind, so that a process that dies loses no more than that: read again, the events
make the same record of the turn, which is then ended and stored as any interrupted turn.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import orjson
from langchain_core.messages import BaseMessage, HumanMessage

from copilot_core import events as ev
from copilot_core.database import rows
from copilot_core.errors import ChatError
from copilot_core.messages import convert_langchain_to_openai, convert_openai_to_langchain
from copilot_core.tracebacks import outline
from copilot_core.turn import TurnRecord

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator

    from copilot_core.database import Connection, Database
    from copilot_core.ports import JsonObject

log = logging.getLogger(__name__)

#: Seconds between two entries of a turn.
INTERVAL = 0.5

#: The events that a record counts, by the name under which they are written.
_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        ev.TextDelta,
        ev.CallDelta,
        ev.ToolStarted,
        ev.ToolEnded,
        ev.ModelCallStarted,
        ev.ModelCallEnded,
    )
}


@dataclass(frozen=True, slots=True)
class TurnStart:
    """A turn's beginning: who asked what of which model."""

    run_id: str
    thread_id: str
    user_id: str
    project_id: str
    model: str
    message: HumanMessage
    #: How the model tells its usage: see ``TurnRecord``.
    cumulative: bool = False
    #: The request's overrides.
    temperature: float | None = None
    max_tokens: int | None = None


class Journal:
    """The table ``turn_journal``: a turn's beginning at place 0, then what it said since."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create_table(self) -> None:
        """Make the table, if it isn't there."""
        async with self._database.transaction() as connection:
            await connection.execute(
                "CREATE TABLE IF NOT EXISTS turn_journal (run_id TEXT NOT NULL, place INTEGER"
                " NOT NULL, thread_id TEXT NOT NULL, entry TEXT, PRIMARY KEY (run_id, place))"
            )
            await connection.execute(
                "CREATE INDEX IF NOT EXISTS idx_journal_thread ON turn_journal(thread_id)"
            )

    async def write(self, start: TurnStart, place: int, entry: JsonObject) -> None:
        """Add an entry. Raises StorageError; nothing happens for a session that is gone."""
        async with self._database.transaction() as connection:
            await add_entry(connection, start, place, entry)

    async def unfinished(self, thread_id: str | None = None) -> list[tuple[TurnStart, TurnRecord]]:
        """The turns, of one session or of all, that were begun and not stored, oldest first.

        One that can't be read is passed over, and logged.
        """
        async with self._database.reading() as connection:
            entries = await rows(
                connection,
                "SELECT run_id, thread_id, entry FROM turn_journal"
                " WHERE ? IS NULL OR thread_id = ? ORDER BY rowid",
                (thread_id, thread_id),
            )
        turns: dict[tuple[str, str], list[Any]] = {}
        for run_id, thread, entry in entries:
            turns.setdefault((run_id, thread), []).append(entry)
        return list(_read_turns(turns))


async def add_entry(
    connection: Connection, start: TurnStart, place: int, entry: JsonObject
) -> None:
    """Add an entry in a transaction that is open."""
    await connection.execute(
        "INSERT OR REPLACE INTO turn_journal (run_id, place, thread_id, entry)"
        " SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM chat_sessions WHERE thread_id = ?)",
        (
            start.run_id,
            place,
            start.thread_id,
            orjson.dumps(entry).decode(),
            start.thread_id,
        ),
    )


async def drop_entries(connection: Connection, run_id: str) -> None:
    """Forget a turn, as it is stored in the same transaction."""
    await connection.execute("DELETE FROM turn_journal WHERE run_id = ?", (run_id,))


def first_entry(start: TurnStart) -> JsonObject:
    """A turn's beginning as its entry at place 0."""
    entry = {field.name: getattr(start, field.name) for field in fields(start)}
    return {**entry, "message": convert_langchain_to_openai(start.message)}


class TurnJournal:
    """Takes a turn's events and writes them from time to time, from one event loop.

    ``write`` gets a place from 1 and an entry. What can't be written is tried again with what
    comes next: a full disk fails no turn that may still have room at its end.
    """

    def __init__(
        self, record: TurnRecord, write: Callable[[int, JsonObject], Awaitable[None]]
    ) -> None:
        self._record = record
        self._write = write
        self._place = 1
        self._waiting: list[ev.CoreEvent] = []
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._closed = False

    def take(self, event: ev.CoreEvent) -> None:
        """Keep an event until the next entry is written."""
        if type(event).__name__ in _KINDS:
            self._waiting.append(event)
            self._arm()

    async def close(self) -> None:
        """Write no more. Returns when nothing is being written."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._writing is not None:
            await asyncio.wait({self._writing})

    def _arm(self) -> None:
        if self._timer is None and self._writing is None and not self._closed:
            self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._due)

    def _due(self) -> None:
        self._timer = None
        self._writing = asyncio.create_task(self._write_waiting(), name="turn journal")

    async def _write_waiting(self) -> None:
        events, self._waiting = _merged(self._waiting), []
        try:
            entry = {"ms": self._record.duration_ms, "events": list(map(_written, events))}
            await self._write(self._place, entry)
            self._place += 1
        except ChatError as error:
            log.warning("a turn's journal is behind: %s", error)
            self._waiting = events + self._waiting
        except Exception as error:
            log.error("a part of a turn can't be journalled: %s", outline(error))
        finally:
            self._writing = None
            if self._waiting:
                self._arm()


def _merged(events: Iterable[ev.CoreEvent]) -> list[ev.CoreEvent]:
    """The same in fewer events: texts joined, of each call the newest growth."""
    merged: list[ev.CoreEvent] = []
    texts: list[str] = []
    calls: dict[str, int] = {}
    for event in events:
        newest = merged[-1] if merged else None
        match event, newest:
            case ev.TextDelta(message_id, text), ev.TextDelta(same) if same == message_id:
                texts.append(text)
                continue
            case (ev.CallDelta(call_id=call_id), _) if call_id in calls:
                merged[calls[call_id]] = event
                continue
        _join(merged, texts)
        if isinstance(event, ev.CallDelta):
            calls[event.call_id] = len(merged)
        merged.append(event)
    _join(merged, texts)
    return merged


def _join(merged: list[ev.CoreEvent], texts: list[str]) -> None:
    if texts and isinstance(newest := merged[-1], ev.TextDelta):
        merged[-1] = ev.TextDelta(newest.message_id, newest.text + "".join(texts))
        texts.clear()


def _written(event: ev.CoreEvent) -> list[Any]:
    values = (getattr(event, field.name) for field in fields(event))
    return [
        type(event).__name__,
        *(
            convert_langchain_to_openai(value) if isinstance(value, BaseMessage) else value
            for value in values
        ),
    ]


def _read(entry: list[Any]) -> ev.CoreEvent:
    name, *values = entry
    event: ev.CoreEvent = _KINDS[name](
        *(convert_openai_to_langchain(v) if isinstance(v, dict) else v for v in values)
    )
    return event


def _read_turns(
    turns: dict[tuple[str, str], list[Any]],
) -> Iterator[tuple[TurnStart, TurnRecord]]:
    for (run_id, thread_id), entries in turns.items():
        try:
            first, *more = map(orjson.loads, entries)
            message = convert_openai_to_langchain(first["message"])
            assert isinstance(message, HumanMessage)
            start = TurnStart(
                **{**first, "message": message, "run_id": run_id, "thread_id": thread_id}
            )
            record = TurnRecord(message, cumulative=bool(start.cumulative))
            for entry in more:
                for event in entry["events"]:
                    record.take(_read(event))
                record.ended_ms = int(entry["ms"])
            record.end(start.model)
        except Exception as error:  # the file may be a stranger's
            log.error("the journal of a turn can't be read: %s", type(error).__name__)
            continue
        yield start, record
