"""Turns over HTTP: who reads them, how they end, and what is read of them afterwards.

async with open_chat(tmp_path, openai_server) as chat:
    chat.model.script(text("one two").hang(after=1))
    async with chat.asked("count") as reader:
        await reader.until("content")
        await chat.abort()
        assert await reader.end() == {"type": "abort", "reason": "user", "session_id": "s1"}
    assert await chat.shown() == ["user: count", "assistant: one  (interrupted)"]
    await chat.settled(reader, llm_calls=1, untold=1)
"""

import asyncio
import http.client
import json
import socket
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from agent_bench import is_title
from chat_edge import JSON, PREFIX, SURFACE_CONTRACTS, chat_edge, user
from copilot_contracts import Gate, sse, verify_stream
from copilot_core.llm.config import LAB_AUTOMATION
from copilot_core.projects import ProjectAgentManager
from copilot_core.settings import CoreSettings
from copilot_core.tools.base import Tool, ToolContext
from openai_server import OpenAIServer, text

Json = dict[str, Any]
Edge = Callable[..., AbstractAsyncContextManager["Chat"]]
Runs = dict[str, Callable[[Json, ToolContext], Awaitable[Any]]]


class Reader:
    """One reader of one stream: what has come so far, and what comes next."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        #: Every byte.
        self.content = bytearray()
        #: (id, data) of each event; a heartbeat's id is that of the event before.
        self.events: list[tuple[str, Json]] = []
        self._pieces = response.aiter_raw()
        self._decoder = sse.Decoder()
        self._next = 0

    @property
    def told(self) -> list[Json]:
        """The events but for heartbeats."""
        return [data for _, data in self.events if data["type"] != "heartbeat"]

    @property
    def ids(self) -> list[str]:
        return [event_id for event_id, data in self.events if data["type"] != "heartbeat"]

    @property
    def numbers(self) -> list[int]:
        return [int(event_id.partition(":")[2]) for event_id in self.ids]

    @property
    def blocks(self) -> bytes:
        """The bytes of the numbered events."""
        blocks = bytes(self.content).split(b"\n\n")
        return b"".join(block + b"\n\n" for block in blocks if block.startswith(b"id: "))

    async def until(self, kind: str) -> Json:
        """The next event of a kind."""
        async with asyncio.timeout(10):
            while True:
                while self._next < len(self.events):
                    _, data = self.events[self._next]
                    self._next += 1
                    if data["type"] == kind:
                        return data
                assert await self._more(), f"the stream has ended without {kind}"

    async def one(self) -> None:
        """At least one event more."""
        before = len(self.told)
        async with asyncio.timeout(10):
            while len(self.told) == before:
                assert await self._more()

    async def end(self) -> Json:
        """The last event, when the connection has ended too."""
        async with asyncio.timeout(10):
            while await self._more():
                pass
        return self.events[-1][1]

    async def _more(self) -> bool:
        piece = await anext(self._pieces, None)
        if piece is None:
            return False
        self.content += piece
        for event in self._decoder.feed(piece):
            self.events.append((event.id, json.loads(event.data)))
        return True


@dataclass
class Chat:
    """Ann's view of project p1."""

    client: httpx.AsyncClient
    model: OpenAIServer
    agents: ProjectAgentManager
    folder: Path
    #: What tools do, by name.
    runs: Runs

    @asynccontextmanager
    async def asked(
        self, message: str = "hi", session_id: str = "s1", **more: Any
    ) -> AsyncIterator[Reader]:
        """The reader of a new turn."""
        body = {"message": message, "session_id": session_id, **more}
        async with self.client.stream("POST", f"{PREFIX}/stream", json=body) as response:
            assert response.status_code == 200, await response.aread()
            yield Reader(response)

    @asynccontextmanager
    async def joined(
        self, after: str | None = None, session_id: str = "s1"
    ) -> AsyncIterator[Reader]:
        """One more reader of the turn, or one that comes back after an event that it has seen."""
        headers = {} if after is None else {"last-event-id": after}
        async with self.client.stream("GET", self.path("stream", session_id), headers=headers) as r:
            assert r.status_code == 200, await r.aread()
            yield Reader(r)

    async def ask(self, message: str = "hi", session_id: str = "s1", **more: Any) -> Reader:
        """A whole turn."""
        async with self.asked(message, session_id, **more) as reader:
            await reader.end()
            return reader

    def path(self, what: str = "", session_id: str = "s1") -> str:
        return f"{PREFIX}/sessions/{session_id}/{what}".rstrip("/")

    async def abort(self, session_id: str = "s1") -> None:
        answer = await self.client.post(self.path("abort", session_id))
        assert (answer.status_code, answer.json()) == (
            200,
            {"status": "ok", "session_id": session_id},
        )

    async def history(self, session_id: str = "s1") -> Json:
        answer = await self.client.get(self.path("history", session_id), params={"limit": 1000})
        assert answer.status_code == 200, answer.text
        return answer.json()  # type: ignore[no-any-return]  # its contract is checked by the server

    async def session(self, session_id: str = "s1") -> Json:
        sessions = (await self.client.get(f"{PREFIX}/sessions")).json()
        return next(each for each in sessions if each["thread_id"] == session_id)

    async def shown(self, session_id: str = "s1") -> list[str]:
        """History as lines of text."""
        return [_line(message) for message in (await self.history(session_id))["messages"]]

    async def until_stored(self, turns: int = 1, session_id: str = "s1") -> None:
        """Until so many turns of the session are stored."""
        async with asyncio.timeout(10):
            while (await self.session(session_id))["stats"]["turns"] < turns:  # noqa: ASYNC110 - over HTTP
                await asyncio.sleep(0.02)

    async def agrees(self, *turns: Reader) -> None:
        """History and session are what readers of all the session's turns have seen."""
        [session_id] = {data["session_id"] for turn in turns for data in turn.told}
        for turn in turns:
            assert verify_stream(SURFACE_CONTRACTS, bytes(turn.content)) == []
        history, session = await self.history(session_id), await self.session(session_id)
        said = [_as_told(message) for message in history["messages"] if message["role"] != "user"]
        assert said == [message for turn in turns for message in messages_told(turn.told)]
        assert session["message_count"] == len(history["messages"]) == len(said) + len(turns)
        assert session["llm_calls_count"] == history["llm_calls"]
        stats = session["stats"]
        assert sum(m["llm_calls"] for m in stats["models"].values()) == history["llm_calls"]
        assert stats["turns"] == len(turns)
        assert stats["tool_calls"] == Counter(
            message["name"] for message in history["messages"] if message["role"] == "tool"
        )
        assert stats["last_turn"]["status"] == turns[-1].told[-1]["type"]

    async def settled(self, *turns: Reader, llm_calls: int, untold: int = 0) -> None:
        """What holds of a session after each of its turns, however they ended.

        `turns` are readers who have all of each turn, `llm_calls` the calls of the model (of which
        `untold` didn't come to tell their tokens, of 11 and 7 each).
        """
        await self.agrees(*turns)
        session_id = turns[0].told[0]["session_id"]
        session = await self.session(session_id)
        assert session["llm_calls_count"] == llm_calls
        told = llm_calls - untold
        tokens = [session[f"{kind}_tokens"] for kind in ("input", "output", "total")]
        assert tokens == [11 * told, 7 * told, 18 * told]
        assert session["stats"]["unknown_usage_calls"] == untold
        await self.goes_on(session_id)

    async def goes_on(self, session_id: str = "s1") -> None:
        """The next turn is accepted, by us and by a strict provider."""
        self.model.script(text("Going on."))
        turn = await self.ask("go on", session_id)
        assert [data["type"] for data in turn.told] == ["content", "content", "done"]
        assert self.model.refused == []


class SlowReader:
    """A reader that asks for a turn, and then takes no more than its small buffer has room for."""

    def __init__(self, chat: Chat) -> None:
        port = chat.client.base_url.port
        assert port
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._connection.sock = socket.socket()
        self._connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._connection.sock.settimeout(10)
        self._connection.sock.connect(("127.0.0.1", port))
        #: What it has taken.
        self.content = b""

    def __enter__(self) -> "SlowReader":
        return self

    def __exit__(self, *exc: object) -> None:
        self._connection.close()

    async def ask(self, message: str = "hi", session_id: str = "s1") -> None:
        """Takes no more than the first line."""
        await asyncio.to_thread(self._ask, message, session_id)

    async def read_on(self) -> None:
        """Takes all that is still to be had."""
        await asyncio.to_thread(self._read_on)

    @property
    def newest_id(self) -> str:
        """The id of the last whole event."""
        whole = self.content[: self.content.rindex(b"\n\n")]
        return whole.rpartition(b"\nid: ")[2].partition(b"\n")[0].decode()

    def _ask(self, message: str, session_id: str) -> None:
        body = json.dumps({"message": message, "session_id": session_id})
        self._connection.request("POST", f"{PREFIX}/stream", body, {**user("ann"), **JSON})
        self._answer = self._connection.getresponse()
        self.content = self._answer.readline()

    def _read_on(self) -> None:
        with suppress(ConnectionError):
            while piece := self._answer.read1(65536):
                self.content += piece


def messages_told(events: Sequence[Json]) -> list[Json]:
    """The messages of a turn as the reader of its events knows them."""
    messages: dict[str, Json] = {}
    for event in events:
        match event["type"]:
            case "content" | "tool_call":
                message = messages.setdefault(
                    event["message_id"], {"id": event["message_id"], "content": "", "calls": {}}
                )
                message["content"] += event.get("content", "")
                if call := event.get("tool_call"):
                    function = call["function"]
                    message["calls"][call["id"]] = (function["name"], function["arguments"])
            case "tool_end":
                messages[event["message_id"]] = {
                    "id": event["message_id"],
                    "content": event["tool_output"],
                    "answers": event["tool_call_id"],
                    "status": event["status"],
                }
    return list(messages.values())


def _as_told(message: Json) -> Json:
    """A message of history with what its stream tells of it."""
    told = {"id": message["id"], "content": message["content"]}
    if message["role"] == "tool":
        status = message.get("metadata", {}).get("status", "success")
        return told | {"answers": message["tool_call_id"], "status": status}
    calls = message.get("tool_calls") or []
    return told | {
        "calls": {
            call["id"]: (call["function"]["name"], call["function"]["arguments"]) for call in calls
        }
    }


def _line(message: Json) -> str:
    """One message of history: `assistant: Let me look. [c1] (interrupted)`."""
    metadata = message.get("metadata") or {}
    calls = [call["id"] for call in message.get("tool_calls") or []]
    if message["role"] == "tool":
        return f"tool {message['tool_call_id']}: {metadata.get('status', 'success')}"
    line = f"{message['role']}: {message['content']}"
    line += f" {calls}" if calls else ""
    return line + (" (interrupted)" if metadata.get("interrupted") else "")


async def _no_templates(arguments: Json, context: ToolContext) -> Any:
    return {"templates": []}


@asynccontextmanager
async def open_chat(
    folder: Path,
    server: OpenAIServer,
    *,
    core: CoreSettings | None = None,
    title: Any = None,
    agents: dict[str, Any] | None = None,
    **more: Any,
) -> AsyncIterator[Chat]:
    """A served chat API whose model is asked for titles apart.

    `agents` are further arguments for ProjectAgentManager, `more` those of `chat_edge`.
    """
    server.when(is_title, title or text("A title"))
    runs: Runs = {"get_gns3_templates": _no_templates}

    def tool(name: str) -> Tool:
        async def run(arguments: Json, context: ToolContext) -> Any:
            return await runs[name](arguments, context)

        return Tool(name, run, frozenset({LAB_AUTOMATION}))

    manager = ProjectAgentManager(
        [tool("get_gns3_templates"), tool("start_gns3_node")],
        gate=Gate("enforce"),
        settings=core,
        **(agents or {}),
    )
    async with chat_edge(folder, server, agents=manager, **more) as client:
        yield Chat(client, server, manager, folder, runs)
