"""Tool calls as a reader of the chat API sees them, and a file that an older program wrote."""

import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from chat_edge import PREFIX, SURFACE_CONTRACTS, Edge, chat_edge, decoded
from copilot_contracts import verify_stream
from copilot_core.llm.config import LAB_AUTOMATION
from copilot_core.tools.base import Tool, ToolContext
from openai_server import OpenAIServer, Turn, call, interleave, text

Event = dict[str, Any]


async def templates(arguments: dict[str, Any], context: ToolContext) -> dict[str, Any]:
    return {"templates": []}


async def start(arguments: dict[str, Any], context: ToolContext) -> dict[str, Any]:
    done = {"status": "success", "result": {"node_status": "started"}}
    items = [{"id": node, "name": node, **done} for node in arguments["node_ids"]]
    return {"total": len(items), "successful": len(items), "failed": 0, "items": items}


TOOLS = [
    Tool("get_gns3_templates", templates, frozenset({LAB_AUTOMATION})),
    Tool("start_gns3_node", start, frozenset({LAB_AUTOMATION})),
]


@pytest.fixture
def edge(tmp_path: Path, openai_server: OpenAIServer) -> Edge:
    openai_server.always(text("A title"))
    return partial(chat_edge, tmp_path, openai_server, tools=TOOLS)


async def asked(edge: Edge, server: OpenAIServer, *turns: Turn) -> tuple[list[Event], list[Event]]:
    """What a turn streams and what is read of it afterwards; the model says ``turns``."""
    server.script(*turns)
    async with edge() as client:
        answer = await client.post(f"{PREFIX}/stream", json={"message": "go", "session_id": "s1"})
        history = (await client.get(f"{PREFIX}/sessions/s1/history")).json()
    assert verify_stream(SURFACE_CONTRACTS, answer.content) == []
    return [data for _, data in decoded(answer.content)], history["messages"]


def shown(events: list[Event], call_id: str) -> list[Event]:
    """The functions of a call's `tool_call` events."""
    calls = [event["tool_call"] for event in events if event["type"] == "tool_call"]
    return [each["function"] for each in calls if each["id"] == call_id]


def ends(events: list[Event]) -> dict[str, str]:
    """How each call ended."""
    return {e["tool_call_id"]: e["status"] for e in events if e["type"] == "tool_end"}


async def test_two_interleaved_calls(edge: Edge, openai_server: OpenAIServer) -> None:
    events, messages = await asked(
        edge,
        openai_server,
        interleave(
            call("start_gns3_node", {"node_ids": ["n1"]}, id="a"),
            call("start_gns3_node", {"node_ids": ["n2"]}, id="b"),
        ),
        text("Both run."),
    )
    order = [event["tool_call"]["id"] for event in events if event["type"] == "tool_call"]
    assert "".join(order).strip("a").strip("b")  # they did interleave
    for call_id, arguments in (("a", '{"node_ids": ["n1"]}'), ("b", '{"node_ids": ["n2"]}')):
        assert shown(events, call_id)[-1] == {
            "name": "start_gns3_node",
            "arguments": arguments,
            "complete": True,
        }
    assert ends(events) == {"a": "success", "b": "success"}
    assert events[-1]["type"] == "done"
    assert [message["role"] for message in messages] == [
        "user", "assistant", "tool", "tool", "assistant"
    ]  # fmt: skip


async def test_cut_arguments(edge: Edge, openai_server: OpenAIServer) -> None:
    events, messages = await asked(
        edge,
        openai_server,
        call("start_gns3_node", '{"node_ids": ["n', id="cut", finish="length"),
        text("Sorry."),
    )
    assert shown(events, "cut")
    assert not any("complete" in function for function in shown(events, "cut"))
    assert ends(events) == {"cut": "error"}
    assert events[-1]["type"] == "done"
    assert messages[1]["tool_calls"][0]["function"]["arguments"] == '{"node_ids": ["n'


async def test_an_unknown_tool(edge: Edge, openai_server: OpenAIServer) -> None:
    events, messages = await asked(
        edge, openai_server, call("reboot_world", {}, id="x"), text("I can't.")
    )
    kinds = [event["type"] for event in events if event["type"].startswith("tool_")]
    assert kinds[-2:] == ["tool_start", "tool_end"]
    assert ends(events) == {"x": "error"}
    assert "start_gns3_node" in messages[2]["content"]  # the model is told what there is
    assert events[-1]["type"] == "done"


# As chat-api.md has the table, before it got its column `pinned`.
OLDER = """
CREATE TABLE chat_sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, thread_id TEXT UNIQUE, user_id TEXT, project_id TEXT,
  title TEXT, message_count INTEGER, llm_calls_count INTEGER, input_tokens INTEGER,
  output_tokens INTEGER, total_tokens INTEGER, last_message_at TIMESTAMP, created_at TIMESTAMP,
  updated_at TIMESTAMP, metadata TEXT, stats TEXT
);
INSERT INTO chat_sessions VALUES
  (1, 'old', 'ann', 'p1', 'From before', 2, 1, 10, 5, 15, '2025-03-01 10:00:00',
   '2025-03-01 09:00:00', '2025-03-01 10:00:00', '{}', '{}');
"""


async def test_an_older_file(tmp_path: Path, edge: Edge, openai_server: OpenAIServer) -> None:
    def kept(route: str, answer: httpx.Response) -> Any:
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert SURFACE_CONTRACTS.contract("response", f"{route}:200").violation(body) is None
        return body

    file = tmp_path / "p1" / "gns3-copilot" / "copilot_checkpoints.db"
    file.parent.mkdir(parents=True)
    connection = sqlite3.connect(file)
    connection.executescript(OLDER)
    connection.close()
    openai_server.script(text("Still here."))
    for _ in range(2):  # opening it again changes nothing
        async with edge() as client:
            [old] = kept("list_sessions", await client.get(f"{PREFIX}/sessions"))
            assert (old["thread_id"], old["title"]) == ("old", "From before")
            assert (old["message_count"], old["pinned"]) == (2, False)
            assert old["created_at"].startswith("2025-03-01T09:00:00")
    async with edge() as client:
        pinned = await client.put(f"{PREFIX}/sessions/old/pin")
        assert kept("pin_session", pinned)["pinned"] is True
        body = {"message": "are you there?", "session_id": "old", "stream": False}
        answer = kept("stream_chat", await client.post(f"{PREFIX}/stream", json=body))
        assert answer["messages"][-1]["content"] == "Still here."
        [old] = kept("list_sessions", await client.get(f"{PREFIX}/sessions"))
        assert (old["message_count"], old["pinned"]) == (4, True)
