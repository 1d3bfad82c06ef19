"""The agents of all projects (chat-api.md, ProjectAgentManager)."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from copilot_contracts import Gate, Registry, StreamContract
from copilot_core.dialects import DIALECTS
from copilot_core.errors import ChatError
from copilot_core.llm.openai import chat_model
from copilot_core.service import AgentService, SurfaceVoice
from copilot_core.settings import CoreSettings
from copilot_core.storage import ProjectStore
from copilot_core.tracebacks import outline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from langchain_core.language_models import BaseChatModel

    from copilot_core.llm.config import LlmConfig
    from copilot_core.runs import StopReason
    from copilot_core.tools.base import Tool

log = logging.getLogger(__name__)


class ProjectAgentManager:
    """Hands out one ``AgentService`` a project, opened when it is first asked for.

    ``tools`` are those of every project; ``model`` makes a LangChain model of a user's settings.
    """

    def __init__(
        self,
        tools: Sequence[Tool] = (),
        *,
        registry: Registry | None = None,
        gate: Gate | None = None,
        settings: CoreSettings | None = None,
        model: Callable[[LlmConfig], BaseChatModel] = chat_model,
    ) -> None:
        registry = registry or Registry.bundled()
        gate = gate or Gate()
        self._tools = tools
        self._settings = settings or CoreSettings()
        self._model = model
        self._voices = {
            name: SurfaceVoice(StreamContract(registry.surface(name), gate), dialect)
            for name, dialect in DIALECTS.items()
        }
        self._agents: dict[str, asyncio.Task[AgentService]] = {}
        self._closing: dict[str, asyncio.Task[None]] = {}
        self._closed = False

    async def get_agent(self, project_id: str, project_path: Path) -> AgentService:
        """The project's agent. Raises StorageError when its file can't be had.

        Raises ChatError ``project_not_opened`` after ``close_all``.
        """
        if self._closed:
            raise ChatError("project_not_opened", "The server is shutting down.")
        opening = self._agents.get(project_id)
        if opening is not None and await _is_lost(opening):
            if self._agents.get(project_id) is opening:
                await self.remove_agent(project_id)
            opening = self._agents.get(project_id)
        if opening is None:
            before = self._closing.get(project_id)
            opening = asyncio.create_task(self._open(project_id, project_path, before))
            self._agents[project_id] = opening
            opening.add_done_callback(lambda opened: self._forget_failed(project_id, opened))
        # One caller that is cancelled doesn't take the others along.
        return await asyncio.shield(opening)

    def _forget_failed(self, project_id: str, opened: asyncio.Task[AgentService]) -> None:
        failed = opened.cancelled() or opened.exception() is not None
        if failed and self._agents.get(project_id) is opened:
            del self._agents[project_id]

    async def _open(
        self, project_id: str, project_path: Path, before: asyncio.Task[None] | None
    ) -> AgentService:
        if before is not None:
            await asyncio.wait({before})
        return AgentService(
            project_id,
            await ProjectStore.open(project_path),
            tools=self._tools,
            voices=self._voices,
            settings=self._settings,
            model=self._model,
        )

    async def remove_agent(self, project_id: str, reason: StopReason = "project_closed") -> None:
        """Close the project's agent, if there is one: its turns are stopped and stored.

        Goes on to its end when the caller is cancelled; who asks again waits for the same end.
        """
        opening = self._agents.pop(project_id, None)
        closing = self._closing.get(project_id)
        if opening is not None:
            closing = asyncio.create_task(self._close(opening, reason))
            self._closing[project_id] = closing
            closing.add_done_callback(lambda closed: self._forget_closed(project_id, closed))
        if closing is not None:
            await asyncio.shield(closing)

    async def _close(self, opening: asyncio.Task[AgentService], reason: StopReason) -> None:
        await asyncio.wait({opening})
        if opening.cancelled() or opening.exception() is not None:
            return
        try:
            await opening.result().close(reason)
        except Exception as error:
            log.error("a project's file could not be closed: %s", outline(error))

    def _forget_closed(self, project_id: str, closed: asyncio.Task[None]) -> None:
        if self._closing.get(project_id) is closed:
            del self._closing[project_id]

    async def delete_project(self, project_id: str, project_path: Path) -> None:
        """Delete all sessions of a project that is being deleted, and close its agent."""
        await self.get_agent(project_id, project_path)
        await self.remove_agent(project_id, "deleted")

    async def close_all(self) -> None:
        """Close all agents for good, as the server shuts down. None is opened after it."""
        self._closed = True
        await asyncio.gather(
            *(self.remove_agent(key, "shutdown") for key in {*self._agents, *self._closing})
        )


async def _is_lost(opening: asyncio.Task[AgentService]) -> bool:
    done = opening.done() and not opening.cancelled() and opening.exception() is None
    return done and await opening.result().lost()
