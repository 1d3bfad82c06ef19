"""What a running turn has said so far, in the project's file (decision A36).

A turn is stored once, when it ends. Until then its beginning and its events are journalled, at
most a second behind, so that a process that dies loses no more than that: read again, the events
make the same record of the turn, which is then ended and stored as any interrupted turn.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import orjson
from langchain_core.messages import BaseMessage, HumanMessage

from copilot_core import events as ev
from copilot_core.database import own_table, rows
from copilot_core.errors import ChatError
from copilot_core.message_content import json_text
from copilot_core.messages import convert_langchain_to_openai, convert_openai_to_langchain
from copilot_core.tracebacks import outline
from copilot_core.turn import TurnRecord

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from copilot_core.database import Connection, Database
    from copilot_core.ports import JsonObject

log = logging.getLogger(__name__)

#: Seconds between two entries of a turn.
INTERVAL = 0.5

_COLUMNS = {
    "run_id": "TEXT NOT NULL",
    "place": "INTEGER NOT NULL",
    "thread_id": "TEXT NOT NULL",
    "entry": "TEXT",
}

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
_TYPES = frozenset(_KINDS.values())


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
            await own_table(connection, "turn_journal", _COLUMNS, key="run_id, place")
            await connection.execute(
                "CREATE INDEX IF NOT EXISTS idx_journal_thread ON turn_journal(thread_id)"
            )

    async def write(self, start: TurnStart, place: int, entry: JsonObject) -> None:
        """Add an entry to a turn. Nothing happens for one that is stored or deleted.

        Raises StorageError.
        """
        async with self._database.transaction() as connection:
            await connection.execute(
                "INSERT OR REPLACE INTO turn_journal SELECT ?, ?, ?, ? WHERE EXISTS"
                " (SELECT 1 FROM turn_journal WHERE run_id = ? AND place = 0)",
                (start.run_id, place, start.thread_id, json_text(entry), start.run_id),
            )

    async def unfinished(self, thread_id: str | None = None) -> list[str]:
        """The ids of the turns, of one session or of all, that were begun and not stored."""
        async with self._database.reading() as connection:
            found = await rows(
                connection,
                "SELECT run_id FROM turn_journal WHERE ? IS NULL OR thread_id = ?"
                " GROUP BY run_id ORDER BY min(rowid)",
                (thread_id, thread_id),
            )
        return [run_id for [run_id] in found]

    async def read(self, run_id: str) -> tuple[TurnStart, TurnRecord]:
        """A turn as far as it was journalled, and ended there.

        Raises ValueError if there is no sense in it: the file may be a stranger's.
        """
        async with self._database.reading() as connection:
            found = await rows(
                connection,
                "SELECT thread_id, entry FROM turn_journal WHERE run_id = ? ORDER BY place",
                (run_id,),
            )
        try:
            return _read_turn(run_id, found)
        except Exception as error:
            raise ValueError(type(error).__name__) from None

    async def drop(self, run_id: str) -> None:
        """Forget a turn that can't be stored."""
        async with self._database.transaction() as connection:
            await drop_entries(connection, run_id)


async def add_first_entry(connection: Connection, start: TurnStart) -> None:
    """Journal a turn's beginning, in a transaction that is open."""
    entry = {field.name: getattr(start, field.name) for field in fields(start)}
    entry["message"] = convert_langchain_to_openai(start.message)
    await connection.execute(
        "INSERT INTO turn_journal SELECT ?, 0, ?, ? WHERE EXISTS"
        " (SELECT 1 FROM chat_sessions WHERE thread_id = ?)",
        (start.run_id, start.thread_id, json_text(entry), start.thread_id),
    )


async def drop_entries(connection: Connection, run_id: str) -> bool:
    """Forget a turn, in a transaction that is open. False: there was nothing of it."""
    cursor = await connection.execute("DELETE FROM turn_journal WHERE run_id = ?", (run_id,))
    return cursor.rowcount > 0


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
        #: How much of each call's arguments is written.
        self._told: dict[str, int] = {}
        self._waiting: list[ev.CoreEvent] = []
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._closed = False

    def take(self, event: ev.CoreEvent) -> None:
        """Keep an event until the next entry is written."""
        if type(event) in _TYPES:
            self._waiting.append(event)
            if self._timer is None:
                self._arm()

    def close(self) -> None:
        """Begin no further entry."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()

    def _arm(self) -> None:
        if self._timer is None and self._writing is None and not self._closed:
            self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._due)

    def _due(self) -> None:
        self._timer = None
        self._writing = asyncio.create_task(self._write_waiting(), name="turn journal")

    async def _write_waiting(self) -> None:
        events, self._waiting = _merged(self._waiting), []
        try:
            entry = {"ms": self._record.duration_ms, "events": list(map(self._written, events))}
            await self._write(self._place, entry)
            self._place += 1
            calls = (event for event in events if isinstance(event, ev.CallDelta))
            self._told |= {call.call_id: len(call.arguments) for call in calls}
        except ChatError as error:
            log.warning("a turn's journal is behind: %s", error)
            self._waiting = events + self._waiting
        except Exception as error:
            log.error("a part of a turn can't be journalled: %s", outline(error))
        finally:
            self._writing = None
            if self._waiting:
                self._arm()

    def _written(self, event: ev.CoreEvent) -> list[Any]:
        if isinstance(event, ev.CallDelta):
            # What is new: the whole each time would make a file that grows with its square.
            told = self._told.get(event.call_id, 0)
            event = replace(event, arguments=event.arguments[told:])
        values = (getattr(event, field.name) for field in fields(event))
        return [
            type(event).__name__,
            *(
                convert_langchain_to_openai(value) if isinstance(value, BaseMessage) else value
                for value in values
            ),
        ]


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


def _read_turn(run_id: str, found: list[tuple[Any, ...]]) -> tuple[TurnStart, TurnRecord]:
    (thread_id, first), *entries = found
    begun = orjson.loads(first)
    message = convert_openai_to_langchain(begun["message"])
    if not isinstance(message, HumanMessage):
        raise TypeError
    told = {**begun, "message": message, "run_id": run_id, "thread_id": thread_id}
    start = TurnStart(**told)
    record = TurnRecord(message, cumulative=bool(start.cumulative))
    arguments: dict[str, str] = {}
    for _, entry in entries:
        written = orjson.loads(entry)
        for event in map(_read_event, written["events"]):
            if isinstance(event, ev.CallDelta):
                whole = arguments.get(event.call_id, "") + event.arguments
                arguments[event.call_id] = whole
                event = replace(event, arguments=whole)
            record.take(event)
        record.ended_ms = int(written["ms"])
    record.end(start.model)
    return start, record


def _read_event(entry: list[Any]) -> ev.CoreEvent:
    name, *values = entry
    event: ev.CoreEvent = _KINDS[name](
        *(convert_openai_to_langchain(v) if isinstance(v, dict) else v for v in values)
    )
    return event
