"""The agents of all projects (chat-api.md, ProjectAgentManager)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from copilot_contracts import Gate, Registry, StreamContract
from copilot_core.dialects.gns3_chat import Gns3ChatDialect
from copilot_core.llm.openai import chat_model
from copilot_core.service import AgentService, CoreSettings, SurfaceVoice
from copilot_core.storage import ProjectStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from langchain_core.language_models import BaseChatModel

    from copilot_core.dialects.base import Dialect
    from copilot_core.llm.config import LlmConfig
    from copilot_core.runs import StopReason
    from copilot_core.tools.base import Tool

DIALECTS: dict[str, Callable[[str], Dialect]] = {"gns3-chat": Gns3ChatDialect}


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

    async def get_agent(self, project_id: str, project_path: Path) -> AgentService:
        """The project's agent. Raises OSError or sqlite3.Error when its file can't be opened."""
        opening = self._agents.get(project_id)
        if opening is None:
            opening = asyncio.create_task(self._open(project_id, project_path))
            self._agents[project_id] = opening
        try:
            # One caller that is cancelled doesn't take the others along.
            return await asyncio.shield(opening)
        except Exception:
            if self._agents.get(project_id) is opening:
                del self._agents[project_id]
            raise

    async def _open(self, project_id: str, project_path: Path) -> AgentService:
        return AgentService(
            project_id,
            await ProjectStore.open(project_path),
            tools=self._tools,
            voices=self._voices,
            settings=self._settings,
            model=self._model,
        )

    async def remove_agent(self, project_id: str, reason: StopReason = "project_closed") -> None:
        """Close the project's agent, if there is one: its turns are stopped and stored."""
        opening = self._agents.pop(project_id, None)
        if opening is not None:
            agent = await opening
            await agent.close(reason)

    async def delete_project(self, project_id: str, project_path: Path) -> None:
        """Delete all sessions of a project that is being deleted, and close its agent."""
        agent = await self.get_agent(project_id, project_path)
        await agent.delete_all_sessions()
        await self.remove_agent(project_id)

    async def close_all(self) -> None:
        """Close all agents, as the server shuts down."""
        await asyncio.gather(
            *(self.remove_agent(project_id, "shutdown") for project_id in list(self._agents))
        )
