"""A project as its user sees it over HTTP, when something may be wrong with its file."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from starlette.applications import Starlette

from chat_edge import decoded, problem, user
from chat_turns import Json
from copilot_contracts import Gate
from copilot_core.projects import ProjectAgentManager
from copilot_core.storage import FILE, FOLDER
from openai_server import OpenAIServer
from server_process import Settings, routes
from serving import serving


def said(why: str) -> str:
    return f"The project's conversations can't be used: {why}."


def file_of(folder: Path, project: str = "p1") -> Path:
    return folder / project / FOLDER / FILE


@dataclass
class View:
    """Ann's view of one project."""

    client: httpx.AsyncClient
    project: str = "p1"

    def path(self, what: str) -> str:
        return f"/v3/projects/{self.project}/chat/{what}"

    async def post(self, message: str = "hello", session_id: str = "s1") -> httpx.Response:
        body = {"message": message, "session_id": session_id}
        return await self.client.post(self.path("stream"), json=body)

    async def ask(self, message: str = "hello", session_id: str = "s1") -> Json:
        """A turn's last event."""
        answer = await self.post(message, session_id)
        assert answer.status_code == 200, answer.text
        return decoded(answer.content)[-1][1]

    async def get(self, what: str = "sessions") -> httpx.Response:
        return await self.client.get(self.path(what))

    async def shown(self, session_id: str = "s1") -> list[str]:
        """What the session's messages say."""
        answer = await self.get(f"sessions/{session_id}/history")
        assert answer.status_code == 200, answer.text
        return [message["content"] for message in answer.json()["messages"]]

    async def refused(self) -> str:
        """Why the project can't be read or asked: 503, in a sentence without a path."""
        answers = [await self.get(), await self.post(), await self.get("sessions/s1/history")]
        assert [answer.status_code for answer in answers] == [503] * 3
        [why] = {problem(answer)["detail"] for answer in answers}
        assert {problem(answer)["code"] for answer in answers} == {"internal"}
        assert "/" not in why
        return str(why)

    async def works(self) -> None:
        """A turn can be had, and is there afterwards."""
        before = await self.shown() if (await self.get("sessions/s1/history")).is_success else []
        assert (await self.ask("works?"))["type"] == "done"
        assert await self.shown() == [*before, "works?", "Hello"]


@asynccontextmanager
async def edge(
    folder: Path, model: OpenAIServer
) -> AsyncIterator[tuple[View, View, ProjectAgentManager]]:
    """Two projects, served in this process."""
    agents = ProjectAgentManager(gate=Gate("enforce"))
    settings = Settings(folder, model.base_url, model.api_key)
    async with (
        serving(Starlette(routes=routes(settings, agents))) as url,
        httpx.AsyncClient(base_url=url, headers=user("ann"), timeout=20) as client,
    ):
        try:
            yield View(client), View(client, "p2"), agents
        finally:
            await agents.close_all()


@asynccontextmanager
async def command(
    folder: Path, model: OpenAIServer
) -> AsyncIterator[tuple[View, asyncio.subprocess.Process]]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("COPILOT_")}
    program = "from copilot_adapters.cli import main; main()"
    arguments = ["serve", "--port", "0", "--data", str(folder)]
    endpoint = ["--llm-base-url", model.base_url, "--llm-model", "scripted"]
    with (folder / "log").open("a") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", program, *arguments, *endpoint),
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            env={**clean, "COPILOT_LLM_API_KEY": model.api_key},
        )
    try:
        assert process.stdout is not None
        page = (await process.stdout.readline()).decode().split()[1]
        url, _, project = page.partition("/projects/")
        async with httpx.AsyncClient(base_url=url, timeout=20) as client:
            yield View(client, project), process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
