"""The table ``chat_sessions`` in real files: chat-api.md, decisions A10, A13, A16-A20, A35."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copilot_contracts import Registry
from copilot_core.database import Database, StorageError
from copilot_core.errors import ChatError
from copilot_core.messages import user_message
from copilot_core.sessions import NEW_TITLE, ChatSessionsRepository, create_tables
from copilot_core.turn import ModelFigures, TurnRecord

CONTRACT = Registry.bundled().surface("gns3-chat").contract("model", "ChatSession")
P = "7a0c1b2d-3e4f-4a5b-8c6d-9e0f1a2b3c4d"

COLUMNS = [
    "id", "thread_id", "user_id", "project_id", "title", "message_count", "llm_calls_count",
    "input_tokens", "output_tokens", "total_tokens", "last_message_at", "created_at",
    "updated_at", "metadata", "stats", "pinned",
]  # fmt: skip

#: What a first release wrote: no pinned, no metadata, times without a zone.
OLDER = """
CREATE TABLE chat_sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, thread_id TEXT NOT NULL UNIQUE, user_id TEXT NOT NULL,
    project_id TEXT NOT NULL, title TEXT, message_count INTEGER DEFAULT 0,
    llm_calls_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0,
    output_tokens INTEGER DEFAULT 0, total_tokens INTEGER DEFAULT 0,
    last_message_at TIMESTAMP, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP, stats TEXT
);
CREATE INDEX idx_thread_id ON chat_sessions(thread_id);
INSERT INTO chat_sessions (thread_id, user_id, project_id, title, message_count, input_tokens,
    output_tokens, total_tokens, last_message_at, created_at, updated_at, stats)
VALUES
    ('t1', 'ann', 'P', 'OSPF', 4, 9421, 684, 10105, '2025-03-01 10:00:05',
     '2025-03-01 10:00:00', '2025-03-01T12:00:05.5+02:00', '{"tool_calls_count": 3}'),
    ('t2', 'ann', 'P', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
""".replace("'P'", f"'{P}'")


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[ChatSessionsRepository]:
    database = await Database.open(path)
    try:
        await create_tables(database)
        yield ChatSessionsRepository(database)
    finally:
        await database.close()


async def add(
    sessions: ChatSessionsRepository,
    thread_id: str,
    record: TurnRecord,
    *,
    user_id: str = "ann",
    project_id: str = P,
    status: str = "done",
    **overrides: Any,
) -> dict[str, Any]:
    """The session after a turn of it was stored."""
    async with sessions._database.transaction():
        return await sessions.update_session(
            thread_id, user_id, project_id, record, status=status, **overrides
        )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "copilot_checkpoints.db"


@pytest.fixture
async def sessions(path: Path) -> AsyncIterator[ChatSessionsRepository]:
    async with opened(path) as repository:
        yield repository


def query(path: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.commit()
        connection.close()


def script(path: Path, sql: str) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(sql)
    connection.close()


def dump(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def turn(**figures: Any) -> TurnRecord:
    record = TurnRecord(user_message("hello"))
    for key, value in figures.items():
        setattr(record, key, value)
    return record


def valid(session: Any) -> Any:
    assert CONTRACT.violation(session) is None, CONTRACT.violation(session)
    return session


# -- the table ---------------------------------------------------------------------------


async def test_columns_and_indexes(path: Path) -> None:
    async with opened(path):
        pass
    columns = [row[1] for row in query(path, "PRAGMA table_info(chat_sessions)")]
    assert columns == [*COLUMNS, "title_by_user"]
    indexes = {row[1]: row[2] for row in query(path, "PRAGMA index_list(chat_sessions)")}
    assert indexes == {"idx_thread_id": 1, "idx_user_project": 0, "idx_pinned_updated": 0}
    for name, on in {
        "idx_thread_id": ["thread_id"],
        "idx_user_project": ["user_id", "project_id"],
        "idx_pinned_updated": ["pinned", "updated_at"],
    }.items():
        assert [row[2] for row in query(path, f"PRAGMA index_info({name})")] == on


async def test_an_older_file_opens_keeps_its_rows_and_repeating_changes_nothing(
    path: Path,
) -> None:
    script(path, OLDER)
    async with opened(path) as sessions:
        listed = [valid(session) for session in await sessions.list_sessions("ann", P)]
        once = dump(path)
    async with opened(path) as sessions:
        assert await sessions.list_sessions("ann", P) == listed
        assert dump(path) == once
        t2, t1 = listed  # t2 had no times: it is as new as the upgrade
        assert t1 == {
            "id": 1,
            "thread_id": "t1",
            "user_id": "ann",
            "project_id": P,
            "title": "OSPF",
            "message_count": 4,
            "llm_calls_count": 0,
            "input_tokens": 9421,
            "output_tokens": 684,
            "total_tokens": 10105,
            "last_message_at": "2025-03-01T10:00:05.000000Z",
            "created_at": "2025-03-01T10:00:00.000000Z",
            "updated_at": "2025-03-01T10:00:05.500000Z",
            "metadata": {},
            "stats": {
                "context_tokens": None,
                "unknown_usage_calls": 0,
                "turns": 0,
                "duration_ms": 0,
                "models": {},
                "tool_calls": {},
            },
            "pinned": False,
        }
        assert (t2["title"], t2["message_count"], t2["last_message_at"]) == (NEW_TITLE, 0, None)
        assert await sessions.wants_title("t2", "ann", P)
        assert (await sessions.pin_session("t1", "ann", P, pinned=True))["pinned"] is True
        updated = await add(sessions, "t1", turn())
        assert (updated["message_count"], updated["stats"]["turns"]) == (5, 1)
        [[stats]] = query(path, "SELECT stats FROM chat_sessions WHERE thread_id = 't1'")
        assert json.loads(stats)["tool_calls_count"] == 3
        assert (await sessions.create_session("t1", "ann", P))["id"] == 1


async def test_a_file_whose_index_was_not_unique(path: Path) -> None:
    script(path, OLDER.replace("NOT NULL UNIQUE", "NOT NULL").replace("('t2'", "('t1'"))
    async with opened(path) as sessions:
        once = dump(path)
        await create_tables(sessions._database)
        assert dump(path) == once
        assert (await sessions.create_session("t1", "ann", P))["id"] == 2
        assert len(await sessions.list_sessions("ann", P)) == 1
        assert query(path, "SELECT count(*) FROM chat_sessions") == [(2,)]


sqlite_values = (
    st.none()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
    | st.binary(max_size=8)
    | st.sampled_from(
        [
            "2026-01-01 00:00:00",
            "2026-01-01T00:00:00Z",
            "{}",
            "[]",
            '{"models": {"m": {"llm_calls": 1}}, "last_turn": {"status": "done"}, "turns": -1}',
            '{"tool_calls": {"t": 2, "u": "x"}}',
            '{"last_turn": {"status": "done", "max_tokens": true, "temperature": 1}}',
        ]
    )
)
rows = st.fixed_dictionaries(
    {name: sqlite_values for name in COLUMNS if name not in {"id", "user_id", "project_id"}}
    | {"thread_id": st.sampled_from(["t1", "", "a b", "x" * 65]) | sqlite_values}
)


@settings(max_examples=150, deadline=None)
@given(rows)
async def test_every_row_that_leaves_is_valid_whatever_a_file_holds(row: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = await Database.open(Path(folder) / "file.db")
        connection = database.connection
        for upgraded_before in (True, False):
            await create_tables(database)
            if upgraded_before:
                names = ", ".join(row)
                await connection.execute(
                    f"INSERT INTO chat_sessions (user_id, project_id, {names})"
                    f" VALUES ('ann', 'p', {', '.join('?' * len(row))})",
                    tuple(row.values()),
                )
            sessions = ChatSessionsRepository(database)
            for session in await sessions.list_sessions("ann", "p"):
                valid(session)
                thread_id = session["thread_id"]
                assert await sessions.get_session_by_thread(thread_id, "ann", "p") == session
                valid(await add(sessions, thread_id, turn(), project_id="p"))
        await database.close()


# -- whose -------------------------------------------------------------------------------


async def test_get_or_create_is_one_session_however_many_ask(
    sessions: ChatSessionsRepository,
) -> None:
    made = await asyncio.gather(*(sessions.create_session("t1", "ann", P) for _ in range(20)))
    assert {session["id"] for session in made} == {valid(made[0])["id"]}
    assert made[0]["title"] == NEW_TITLE
    with pytest.raises(ChatError, match="There is no such session") as refused:
        await sessions.create_session("t1", "bob", P)
    assert refused.value.code == "session_not_found"


HOSTILE = [
    "' OR 1=1 --", "t1' --", "%", "_", "", "x" * 65, "t1\0", "t1\n", "\uff541", "t1 ", "\ud800",
    '"; DROP TABLE chat_sessions; --',
]  # fmt: skip


@pytest.mark.parametrize(
    ("thread", "user", "project"),
    [
        ("t1", "bob", P),
        ("t1", "ann", "other"),
        ("t2", "ann", P),
        *((hostile, "ann", P) for hostile in HOSTILE),
        *(("t1", hostile, P) for hostile in HOSTILE),
    ],
)
async def test_what_is_not_yours_is_not_there_and_nothing_happens_to_it(
    path: Path, sessions: ChatSessionsRepository, thread: str, user: str, project: str
) -> None:
    await sessions.create_session("t1", "ann", P)
    before = dump(path)
    for attempt in (
        sessions.get_session_by_thread(thread, user, project),
        sessions.rename_session(thread, user, project, "mine"),
        sessions.pin_session(thread, user, project, pinned=True),
        add(sessions, thread, turn(), user_id=user, project_id=project),
        sessions.delete_session(thread, user, project),
    ):
        with pytest.raises(ChatError) as refused:
            await attempt
        assert refused.value.code == "session_not_found"
    assert dump(path) == before


async def test_the_list_is_the_users_own(sessions: ChatSessionsRepository) -> None:
    await sessions.create_session("t1", "ann", P)
    await sessions.create_session("t2", "bob", P)
    for user in HOSTILE[:-2]:
        assert await sessions.list_sessions(user, P) == []
    assert [s["thread_id"] for s in await sessions.list_sessions("ann", P)] == ["t1"]
    assert await sessions.list_sessions("ann", "other") == []


# -- the list ----------------------------------------------------------------------------


async def test_order_paging_and_pins(path: Path, sessions: ChatSessionsRepository) -> None:
    for at in range(5):
        await sessions.create_session(f"t{at}", "ann", P)
    await add(sessions, "t1", turn())
    before = await sessions.get_session_by_thread("t2", "ann", P)
    pinned = valid(await sessions.pin_session("t2", "ann", P, pinned=True))
    assert pinned == before | {"pinned": True}

    async def order(**paging: Any) -> list[str]:
        return [s["thread_id"] for s in await sessions.list_sessions("ann", P, **paging)]

    assert await order() == ["t2", "t1", "t4", "t3", "t0"]
    assert await order(limit=2, offset=1) == ["t1", "t4"]
    assert await order(offset=10**30) == []
    assert await sessions.pin_session("t2", "ann", P, pinned=False) == before
    query(path, "UPDATE chat_sessions SET updated_at = '2026-01-01T00:00:00Z'")
    assert await order() == ["t4", "t3", "t2", "t1", "t0"]


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("ospf", {"OSPF 100%"}),
        ("100%", {"OSPF 100%"}),
        ("%", {"OSPF 100%"}),
        ("_", {"snake_case"}),
        ("\\", {"back\\slash"}),
        ("'", {"it's"}),
        ("ü", {"für 世界"}),
        ("nothing", set()),
        ("x" * 100_000, set()),
        ("\0", set()),
        ("\ud800", set()),
        ("", {"OSPF 100%", "snake_case", "back\\slash", "it's", "für 世界"}),
        (None, {"OSPF 100%", "snake_case", "back\\slash", "it's", "für 世界"}),
    ],
)
async def test_search_takes_its_text_literally(
    sessions: ChatSessionsRepository, q: str | None, found: set[str]
) -> None:
    for at, title in enumerate(["OSPF 100%", "snake_case", "back\\slash", "it's", "für 世界"]):
        await sessions.create_session(f"t{at}", "ann", P)
        await sessions.rename_session(f"t{at}", "ann", P, title)
    assert {s["title"] for s in await sessions.list_sessions("ann", P, q=q)} == found


# -- titles ------------------------------------------------------------------------------


async def test_a_users_title_wins_for_ever(sessions: ChatSessionsRepository) -> None:
    await sessions.create_session("t1", "ann", P)
    assert await sessions.wants_title("t1", "ann", P)
    generated = turn(title="Hosts of the lab")
    session = await add(sessions, "t1", generated)
    assert session["title"] == "Hosts of the lab"
    assert not await sessions.wants_title("t1", "ann", P)
    renamed = valid(await sessions.rename_session("t1", "ann", P, f"  {NEW_TITLE} "))
    assert renamed["updated_at"] > session["updated_at"]
    assert not await sessions.wants_title("t1", "ann", P)
    session = await add(sessions, "t1", generated)
    assert session["title"] == NEW_TITLE


@pytest.mark.parametrize("title", ["", "  \n", "x" * 256, "\0"])
async def test_a_title_that_is_none(sessions: ChatSessionsRepository, title: str) -> None:
    await sessions.create_session("t1", "ann", P)
    with pytest.raises(ChatError) as refused:
        await sessions.rename_session("t1", "ann", P, title)
    assert refused.value.code == "invalid_request"


@pytest.mark.parametrize(
    ("title", "kept"),
    [("😀" * 255, "😀" * 255), ("two\nlines", "two lines"), ("half \ud83d", "half \ufffd")],
)
async def test_titles(sessions: ChatSessionsRepository, title: str, kept: str) -> None:
    await sessions.create_session("t1", "ann", P)
    assert valid(await sessions.rename_session("t1", "ann", P, title))["title"] == kept


# -- figures -----------------------------------------------------------------------------


async def test_turns_add_up(sessions: ChatSessionsRepository) -> None:
    await sessions.create_session("t1", "ann", P)
    first = turn(
        models={"big": ModelFigures(2, 0, 8674, 675), "small": ModelFigures(1, 1, None, None)},
        tool_calls=Counter({"ping": 2}),
        context_tokens=8000,
    )
    second = turn(models={"big": ModelFigures(1, 0, 10, 5), "small": ModelFigures(1, 0, 3, 4)})
    session = valid(await add(sessions, "t1", first, status="error", temperature=0.5, max_tokens=9))
    assert session["stats"]["models"]["small"]["input_tokens"] is None
    assert session["stats"]["unknown_usage_calls"] == 1
    assert session["stats"]["context_tokens"] == 8000
    last = session["stats"]["last_turn"]
    assert (last["status"], last["temperature"], last["max_tokens"]) == ("error", 0.5, 9)
    await add(sessions, "t1", second)
    # A turn that never reached the model leaves the context as it was: here unknown.
    session = valid(await add(sessions, "t1", turn(), status="abort"))
    figures = {key: value for key, value in session.items() if key.endswith(("count", "tokens"))}
    assert figures == {
        "message_count": 3,
        "llm_calls_count": 5,
        "input_tokens": 8687,
        "output_tokens": 684,
        "total_tokens": 9371,
    }
    stats = session["stats"]
    assert stats["models"] == {
        "big": {"llm_calls": 3, "input_tokens": 8684, "output_tokens": 680},
        "small": {"llm_calls": 2, "input_tokens": 3, "output_tokens": 4},
    }
    assert (stats["turns"], stats["tool_calls"], stats["context_tokens"]) == (3, {"ping": 2}, None)
    assert set(stats["last_turn"]) == {"status", "duration_ms"}
    assert session["last_message_at"] == session["updated_at"] > session["created_at"]


async def test_turns_at_the_same_time_are_all_counted(sessions: ChatSessionsRepository) -> None:
    await sessions.create_session("t1", "ann", P)
    record = turn(models={"m": ModelFigures(1, 0, 1, 2)}, tool_calls=Counter({"ping": 1}))
    await asyncio.gather(*(add(sessions, "t1", record) for _ in range(30)))
    session = await sessions.get_session_by_thread("t1", "ann", P)
    assert (session["message_count"], session["total_tokens"]) == (30, 90)
    assert (session["stats"]["turns"], session["stats"]["tool_calls"]) == (30, {"ping": 30})


# -- deletion ----------------------------------------------------------------------------

CHECKPOINTS = """
CREATE TABLE checkpoints (thread_id TEXT, checkpoint BLOB);
CREATE TABLE writes (thread_id TEXT, value BLOB);
CREATE TABLE "our ""log"" x" (thread_id TEXT, event TEXT);
INSERT INTO checkpoints VALUES ('t1', 'x'), ('t1', 'y'), ('t2', 'z');
INSERT INTO writes VALUES ('t1', 'x'), ('t2', 'z');
INSERT INTO "our ""log"" x" VALUES ('t1', 'x'), ('t2', 'z');
"""
TABLES = ("checkpoints", "writes", 'our "log" x', "not there")


def left(path: Path) -> list[list[str]]:
    return [
        sorted(row[0] for row in query(path, f"SELECT thread_id FROM {table}"))
        for table in ("chat_sessions", "checkpoints", "writes", '"our ""log"" x"')
    ]


async def test_delete_takes_the_session_from_every_table(
    path: Path, sessions: ChatSessionsRepository
) -> None:
    script(path, CHECKPOINTS)
    for thread in ("t1", "t2"):
        await sessions.create_session(thread, "ann", P)
    await sessions.delete_session("t1", "ann", P, tables=TABLES)
    assert left(path) == [["t2"]] * 4
    with pytest.raises(ChatError):
        await add(sessions, "t1", turn())
    await sessions.delete_all_sessions(tables=TABLES)
    assert left(path) == [[]] * 4


async def test_a_delete_that_fails_deletes_nothing_and_the_connection_goes_on(
    path: Path, sessions: ChatSessionsRepository
) -> None:
    script(path, CHECKPOINTS)
    script(
        path,
        "CREATE TRIGGER t BEFORE DELETE ON writes BEGIN SELECT raise(ABORT, 'no'); END;",
    )
    for thread in ("t1", "t2"):
        await sessions.create_session(thread, "ann", P)
    before = left(path)
    with pytest.raises(StorageError):
        await sessions.delete_session("t1", "ann", P)
    with pytest.raises(StorageError):
        await sessions.delete_all_sessions()
    assert left(path) == before
    await sessions.pin_session("t1", "ann", P, pinned=True)


async def test_a_cancelled_call_leaves_no_open_transaction(
    path: Path, sessions: ChatSessionsRepository
) -> None:
    await sessions.create_session("t1", "ann", P)
    for steps in range(12):
        task = asyncio.create_task(add(sessions, "t1", turn()))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        script(path, "BEGIN IMMEDIATE; ROLLBACK;")
    session = await sessions.get_session_by_thread("t1", "ann", P)
    assert session["message_count"] == session["stats"]["turns"]
