"""How a turn ends, over real HTTP: a test for each cause, in the order of the decisions' table.

Each looks at the last event and that nothing comes after it, at what history then shows, message
for message, at the session's counters, and at the next turn (`Chat.settled`).
"""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from chat_edge import PREFIX, problem
from chat_turns import Chat, Edge, Json, Reader, SlowReader
from copilot_core.dialects import gns3_chat
from copilot_core.settings import CoreSettings
from copilot_core.storage import FILE, FOLDER
from openai_server import RESET, call, error, text

LOOKS = text("Let me look. ", pieces=1)
LOOK = call("get_gns3_templates", {}, id="c1", pieces=1)
#: A message that is being written when it is interrupted: text, and a call that isn't whole.
HALF = LOOKS + call("start_gns3_node", {"node_ids": ["n1", "n2"]}, id="c2", pieces=4).hang(after=3)
WHAT_CAME = [
    "user: hi",
    "assistant: Let me look.  ['c1']",
    "tool c1: success",
    "assistant: Let me look.  ['c2'] (interrupted)",
    "tool c2: aborted",
]


@asynccontextmanager
async def half(chat: Chat) -> AsyncIterator[Reader]:
    """A turn with a call that is answered, and a second one whose arguments are on their way."""
    chat.model.script(LOOKS + LOOK, HALF)
    async with chat.asked() as reader:
        await reader.until("tool_end")
        while "node" not in (await reader.until("tool_call"))["tool_call"]["function"]["arguments"]:
            pass
        yield reader


def last(kind: str, **more: Any) -> Json:
    return {"type": kind, **more, "session_id": "s1"}


def failed(event: Json) -> tuple[str, str, bool]:
    """An error event but for its sentence."""
    assert event["error"]
    return event["type"], event["code"], event["retryable"]


async def test_the_answer_is_complete(edge: Edge) -> None:
    async with edge() as chat:
        chat.model.script(LOOKS + LOOK, text("There are none."))
        reader = await chat.ask()
        assert await reader.end() == last("done")
        assert await chat.shown() == [*WHAT_CAME[:3], "assistant: There are none."]
        await chat.settled(reader, llm_calls=3)


async def test_the_user_aborts(edge: Edge) -> None:
    async with edge() as chat:
        async with half(chat) as reader:
            await chat.abort()
            assert await reader.end() == last("abort", reason="user")
        assert await chat.shown() == WHAT_CAME
        await chat.settled(reader, llm_calls=2, untold=1)


async def test_the_session_is_deleted(edge: Edge, tmp_path: Path) -> None:
    async with edge() as chat:
        async with half(chat) as reader:
            assert (await chat.client.delete(chat.path())).status_code == 204
            assert await reader.end() == last("abort", reason="deleted")
        await nothing_is_left(chat, tmp_path)
        chat.model.script(text("Who are you?"))
        again = await chat.ask("new")  # the id is free, for a session that knows nothing of it
        assert await chat.shown() == ["user: new", "assistant: Who are you?"]
        await chat.settled(again, llm_calls=2)


async def nothing_is_left(chat: Chat, folder: Path) -> None:
    for what in ("history", "stream"):
        gone = await chat.client.get(chat.path(what))
        assert (gone.status_code, problem(gone)["code"]) == (404, "session_not_found")
    assert (await chat.client.get(f"{PREFIX}/sessions")).json() == []
    with sqlite3.connect(folder / "p1" / FOLDER / FILE) as file:
        names = [name for (name,) in file.execute("SELECT name FROM sqlite_master") if name]
        rows = {
            name: file.execute(f"SELECT count(*) FROM {name} WHERE thread_id = 's1'").fetchone()[0]
            for name in names
            if "thread_id" in [column[1] for column in file.execute(f"PRAGMA table_info({name})")]
        }
    file.close()
    assert "turn_journal" in rows
    assert set(rows.values()) == {0}, rows


async def test_the_last_reader_is_gone(edge: Edge) -> None:
    async with edge(core=CoreSettings(grace=0.2)) as chat:
        async with half(chat) as left:
            pass
        await chat.until_stored()
        async with chat.joined(after=left.ids[0]) as reader:  # the end is in the log
            assert await reader.end() == last("abort", reason="disconnected")
        async with chat.joined(after=f"{left.ids[0].partition(':')[0]}:0") as whole:
            await whole.end()
        assert await chat.shown() == WHAT_CAME
        await chat.settled(whole, llm_calls=2, untold=1)


async def test_the_server_shuts_down(edge: Edge) -> None:
    async with edge() as chat, half(chat) as reader:
        await chat.agents.close_all()
        assert await reader.end() == last("abort", reason="shutdown")
    async with edge() as chat:
        assert await chat.shown() == WHAT_CAME
        await chat.settled(reader, llm_calls=2, untold=1)


async def test_the_project_is_closed(edge: Edge) -> None:
    async with edge() as chat:
        async with half(chat) as reader:
            await chat.agents.remove_agent("p1")
            assert failed(await reader.end()) == ("error", "project_closed", False)
        assert await chat.shown() == WHAT_CAME  # opened again by being asked
        await chat.settled(reader, llm_calls=2, untold=1)


async def test_the_project_is_deleted(edge: Edge, tmp_path: Path) -> None:
    async with edge() as chat:
        async with half(chat) as reader:
            await chat.agents.delete_project("p1", tmp_path / "p1")
            assert failed(await reader.end()) == ("error", "project_closed", False)
        await nothing_is_left(chat, tmp_path)


@pytest.mark.parametrize(
    ("fault", "code", "retryable"),
    [
        pytest.param(error(401, "Incorrect API key"), "llm_unauthorized", False, id="key"),
        pytest.param(error(429, "Slow down"), "llm_rate_limited", True, id="rate"),
        pytest.param(error(500, body=b"<html>Oops</html>"), "llm_unavailable", True, id="outage"),
    ],
)
async def test_the_model_fails(edge: Edge, fault: Any, code: str, retryable: bool) -> None:
    async with edge() as chat:
        chat.model.script(LOOKS + LOOK, fault)
        reader = await chat.ask()
        assert failed(await reader.end()) == ("error", code, retryable)
        assert await chat.shown() == WHAT_CAME[:3]
        await chat.settled(reader, llm_calls=2, untold=1)


@pytest.mark.parametrize("how", ["cut", "reset", "silence"])
async def test_the_model_is_cut_off(edge: Edge, how: str) -> None:
    async with edge(silence_timeout=0.5 if how == "silence" else 30) as chat:
        half = {"cut": HALF.cut(after=4), "reset": HALF.insert(RESET, after=4), "silence": HALF}
        chat.model.script(LOOKS + LOOK, half[how])
        reader = await chat.ask()
        kind, code, retryable = failed(await reader.end())
        assert (kind, retryable) == ("error", True)
        assert code == ("llm_unavailable" if how == "silence" else "upstream_disconnected")
        assert await chat.shown() == WHAT_CAME
        await chat.settled(reader, llm_calls=2, untold=1)


async def test_the_request_cannot_fit(edge: Edge) -> None:
    """As the provider says it."""
    async with edge() as chat:
        chat.model.script(
            error(
                400,
                "This model's maximum context length is 8 tokens",
                code="context_length_exceeded",
            )
        )
        reader = await chat.ask()
        assert failed(await reader.end()) == ("error", "context_window_exceeded", False)
        assert await chat.shown() == ["user: hi"]
        await chat.settled(reader, llm_calls=1, untold=1)


async def test_a_request_that_cannot_fit_is_not_made(edge: Edge) -> None:
    """As we know it ourselves; the next question, without this one, fits."""
    much = "0123456789 " * 5000
    async with edge(context_window=16_000) as chat:
        reader = await chat.ask(much)
        assert failed(await reader.end()) == ("error", "context_window_exceeded", False)
        assert await chat.shown() == [f"user: {much}"]
        assert chat.model.requests == []
        await chat.settled(reader, llm_calls=0)


async def test_the_last_answer_without_tools_fails_too(edge: Edge) -> None:
    async with edge(tool_steps=1) as chat:
        chat.model.script(LOOKS + LOOK, error(500, "no"))
        reader = await chat.ask()
        assert failed(await reader.end()) == ("error", "limit_reached", False)
        shown = await chat.shown()
        assert shown[:3] == WHAT_CAME[:3]
        assert shown[3].startswith("assistant: I have used up the tool calls")
        assert not chat.model.requests[1].tools
        await chat.settled(reader, llm_calls=2, untold=1)


def wrong_tool_ends(monkeypatch: pytest.MonkeyPatch, wrong: Any) -> None:
    right = gns3_chat.convert_stream_event_to_openai

    def events(event: Any, session_id: str) -> Any:
        return [wrong(e) if e["type"] == "tool_end" else e for e in right(event, session_id)]

    monkeypatch.setattr(gns3_chat, "convert_stream_event_to_openai", events)


def _raises(event: Any) -> Any:
    raise KeyError("a bug")


@pytest.mark.parametrize(
    ("wrong", "code", "retryable"),
    [
        pytest.param(lambda e: {**e, "undeclared": 1}, "contract_violation", False, id="contract"),
        pytest.param(_raises, "internal", True, id="anything else"),
    ],
)
async def test_a_fault_of_our_own(
    edge: Edge, monkeypatch: pytest.MonkeyPatch, wrong: Any, code: str, retryable: bool
) -> None:
    """An event that breaks its contract, under `enforce`; and a bug. The event is not sent."""
    async with edge() as chat:
        with monkeypatch.context() as patch:
            wrong_tool_ends(patch, wrong)
            chat.model.script(LOOKS + LOOK)
            reader = await chat.ask()
        assert failed(await reader.end()) == ("error", code, retryable)
        kinds = [data["type"] for data in reader.told]
        assert kinds == ["content", "tool_call", "tool_call", "tool_start", "error"]
        # The tool has run: its answer is known, though it could not be sent.
        assert await chat.shown() == WHAT_CAME[:3]
        assert (await chat.session())["message_count"] == 3
        assert (await chat.session())["stats"]["last_turn"]["status"] == "error"
        await chat.goes_on()


async def test_one_reader_is_too_slow(edge: Edge) -> None:
    """Events of 15 MB, as arguments come again and again; the log holds 2 MiB of them."""
    async with edge(core=CoreSettings(max_log=2 << 20)) as chat:
        much = call("get_gns3_templates", {"x": "a" * 900_000}, id="c1", pieces=300)
        chat.model.script(LOOKS + much.paced(0.002), text("There are none."))
        with SlowReader(chat) as slow:
            await slow.ask()
            async with chat.joined() as reader:
                assert await reader.end() == last("done")
            await slow.read_on()
        assert b"tool_start" not in slow.content  # nor any terminal event
        seen = {"last-event-id": slow.newest_id}
        back = await chat.client.get(chat.path("stream"), headers=seen)
        assert (back.status_code, problem(back)["code"]) == (410, "resync_required")
        assert await chat.shown() == [*WHAT_CAME[:3], "assistant: There are none."]
        await chat.settled(reader, llm_calls=3)
