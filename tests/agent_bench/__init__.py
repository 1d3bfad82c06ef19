"""An agent over a real SQLite file and a scripted model behind real HTTP."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from copilot_contracts import Registry
from copilot_contracts.recording import verify_stream
from copilot_contracts.sse import Decoder
from copilot_core.llm.config import LAB_AUTOMATION, TEACHING, LlmConfig
from copilot_core.ports import Identity
from copilot_core.projects import ProjectAgentManager
from copilot_core.runs import Run
from copilot_core.service import AgentService, Turn
from copilot_core.settings import CoreSettings
from copilot_core.storage import FILE, FOLDER
from copilot_core.tools.base import Tool, ToolContext
from openai_server import Failure, OpenAIServer, Request, text
from openai_server import Turn as ModelTurn

PROJECT = "7a0c1b2d-3e4f-4a5b-8c6d-9e0f1a2b3c4d"
SURFACE = Registry.bundled().surface("gns3-chat")
ANN = Identity("ann")
Event = dict[str, Any]


@dataclass
class Bench:
    """Handles for one test: the model's server, the agents, and what tools do."""

    server: OpenAIServer
    path: Path
    settings: CoreSettings
    runs: dict[str, Callable[[dict[str, Any], ToolContext], Awaitable[Any]]] = field(
        default_factory=dict
    )
    #: What the model answers when it is asked for a title.
    title: ModelTurn | Failure = field(
        default_factory=lambda: text("Hosts of the lab").with_usage(20, 4)
    )
    manager: ProjectAgentManager = None  # type: ignore[assignment]  # set by `restart`

    def __post_init__(self) -> None:
        self.server.when(is_title, lambda request: self.title)
        self.restart()

    def restart(self, **settings: Any) -> None:
        """A new manager, as a new process would have; with other settings from now on."""
        self.settings = replace(self.settings, **settings)
        self.manager = ProjectAgentManager(
            [self._tool(name) for name in SURFACE.catalogue.tools], settings=self.settings
        )

    def _tool(self, name: str) -> Tool:
        async def run(arguments: dict[str, Any], context: ToolContext) -> Any:
            return await self.runs[name](arguments, context)

        modes = {LAB_AUTOMATION} | ({TEACHING} if name != "stop_gns3_node" else set())
        return Tool(name, run, frozenset(modes))

    @property
    def llm(self) -> LlmConfig:
        return LlmConfig(
            "scripted", self.server.base_url, SecretStr(self.server.api_key), silence_timeout=5
        )

    @property
    def file(self) -> Path:
        """The project's SQLite file."""
        return self.path / FOLDER / FILE

    async def agent(self) -> AgentService:
        return await self.manager.get_agent(PROJECT, self.path)

    async def chat(self, turn: Turn, identity: Identity = ANN, **llm: Any) -> Run:
        """A turn that is asked in full; ``llm`` is what is otherwise in its configuration."""
        agent = await self.agent()
        return await agent.stream_chat(
            turn, identity=identity, llm=replace(self.llm, **llm), surface="gns3-chat"
        )

    async def start(
        self, message: str, session_id: str | None = None, user: str = "ann", **llm: Any
    ) -> Run:
        return await self.chat(Turn(message, session_id), Identity(user), **llm)

    async def counting(self, session_id: str = "s1") -> tuple[Run, threading.Event]:
        """A turn that was asked to ``count`` and has said "one ": it says "two" when the event
        is set."""
        held = threading.Event()
        self.server.script(text("one two", pieces=2).until(held, after=1))
        run = await self.start("count", session_id)
        async with run.subscribe() as reader:
            await reader.next(5)
        return run, held

    async def ask(self, message: str, session_id: str | None = None, **more: Any) -> list[Event]:
        """A whole turn's events, each of which kept its contract and its place."""
        return await read(await self.start(message, session_id, **more))

    async def history(self, session_id: str, user: str = "ann") -> list[dict[str, Any]]:
        history = await (await self.agent()).get_history(session_id, user)
        assert SURFACE.contract("response", "get_history:200").violation(history) is None
        return history["messages"]

    async def session(self, session_id: str, user: str = "ann") -> dict[str, Any]:
        agent = await self.agent()
        sessions = await agent.list_sessions(user)
        assert SURFACE.contract("response", "list_sessions:200").violation(sessions) is None
        return next(s for s in sessions if s["thread_id"] == session_id)


def is_title(request: Request) -> bool:
    """Whether the model is asked for a title."""
    return "Write a title" in str(request.messages[-1].get("content"))


async def hang(arguments: dict[str, Any], context: ToolContext) -> Any:
    """A tool that doesn't answer."""
    await asyncio.Event().wait()


async def read(run: Run, after: int = 0) -> list[Event]:
    """The run's events after a position, until its end."""
    blocks: list[bytes] = []
    async with run.subscribe(after) as reader:
        with suppress(StopAsyncIteration):
            while True:
                block = await reader.next(20)
                assert block is not None, "the turn fell silent"
                blocks.append(block)
    if not after:
        assert verify_stream(SURFACE, blocks) == []
    return [json.loads(event.data) for event in Decoder().feed(b"".join(blocks))]


def said(events: list[Event]) -> str:
    """The text of all content events."""
    return "".join(e["content"] for e in events if e["type"] == "content")


def kinds(events: list[Event]) -> list[str]:
    """The events' types, each run of one type once."""
    names = [e["type"] for e in events]
    return [n for i, n in enumerate(names) if not i or names[i - 1] != n]
