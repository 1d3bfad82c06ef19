"""A chat server in a process of its own, for tests that kill it or take its rights away.

async with server_process(folder, openai_server) as server:
    await server.client.get("/v3/projects/p1/chat/sessions")
    server.kill()

Each is forked from one process that has everything imported, which else takes two seconds. Every
project is open, in a folder of its name. What it logs is in `{folder}/log`.
"""

import asyncio
import ctypes
import logging
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from chat_edge import SECRET, user
from copilot_adapters.starlette.identity import JwtAuthenticator
from copilot_adapters.starlette.llm import OneLlm
from copilot_adapters.starlette.routes import chat_routes
from copilot_contracts import Gate
from copilot_core.llm.config import LAB_AUTOMATION, LlmConfig
from copilot_core.ports import Identity, Project
from copilot_core.projects import ProjectAgentManager
from copilot_core.tools.base import Tool, ToolContext
from openai_server import OpenAIServer
from serving import serving

_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(
    [
        "copilot_adapters.starlette.routes",
        "copilot_core.projects",
        "langchain_openai",
        "pytest",  # the main module of this process, which every new one imports
        "uvicorn",
        "uvicorn.lifespan.on",
        "uvicorn.protocols.http.httptools_impl",
    ]
)


@dataclass(frozen=True)
class Settings:
    folder: Path
    base_url: str
    api_key: str
    #: Whether files' modes bind it also where it is root.
    obeys_modes: bool = False
    #: A folder that gets a disk of its own, of two megabytes, where that may be done.
    disk: str | None = None
    #: Before which SQL statement it kills itself, counted from 1; it notes each in `statements`.
    dies_at: int | None = None


@dataclass
class ServerProcess:
    client: httpx.AsyncClient
    process: ForkServerProcess

    @property
    def pid(self) -> int:
        assert self.process.pid
        return self.process.pid

    def kill(self) -> None:
        """kill -9, and wait until it is gone."""
        self.process.kill()
        self.process.join()

    def end(self) -> None:
        """As a server ends: what runs is stopped and stored."""
        self.process.terminate()
        self.process.join(10)
        assert self.process.exitcode == 0


@asynccontextmanager
async def server_process(
    folder: Path, model: OpenAIServer, **more: Any
) -> AsyncIterator[ServerProcess]:
    """Started, and killed at the latest at the end. `more` are further `Settings`."""
    settings = Settings(folder, model.base_url, model.api_key, **more)
    receiver, sender = _PROCESSES.Pipe(duplex=False)
    process = _PROCESSES.Process(target=_serve, args=(settings, sender), daemon=True)
    await asyncio.to_thread(process.start)
    sender.close()
    try:
        url = await asyncio.to_thread(receiver.recv)
        async with httpx.AsyncClient(base_url=url, headers=user("ann"), timeout=20) as client:
            yield ServerProcess(client, process)
    finally:
        receiver.close()
        process.kill()
        process.join()
        process.close()


class Projects:
    """Any project, open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def project(self, project_id: str, identity: Identity) -> Project:
        return Project(project_id, "opened", self._folder / project_id)


def routes(settings: Settings, agents: ProjectAgentManager) -> list[BaseRoute]:
    config = LlmConfig(
        model="scripted", base_url=settings.base_url, api_key=SecretStr(settings.api_key)
    )
    return chat_routes(
        agents,
        authenticator=JwtAuthenticator(SECRET),
        projects=Projects(settings.folder),
        llm=OneLlm(config),
        gate=Gate("enforce"),
    )


def _serve(settings: Settings, ready: Connection) -> None:
    log = os.open(settings.folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 2)
    logging.basicConfig(level=logging.WARNING)
    if settings.dies_at is not None:
        _count_statements(settings.folder / "statements", settings.dies_at)
    if settings.disk is not None:
        _mount(settings.folder / settings.disk)
    if settings.obeys_modes:
        _obey_modes()
    asyncio.run(_main(settings, ready))


async def _main(settings: Settings, ready: Connection) -> None:
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    agents = ProjectAgentManager(TOOLS, gate=Gate("enforce"))
    async with serving(Starlette(routes=routes(settings, agents))) as url:
        ready.send(url)
        await ended.wait()
        await agents.close_all()


def _mount(disk: Path) -> None:
    """Seen by this process alone, and gone with it. Nothing where it may not mount."""
    disk.mkdir()
    if sys.platform != "linux":
        return
    new_mounts, new_users, private = 0x20000, 0x10000000, 0x44000  # as in <sched.h>, <sys/mount.h>
    libc, uid, gid = ctypes.CDLL(None), os.getuid(), os.getgid()
    if libc.unshare(new_mounts) != 0:
        # Who isn't root may mount where a user namespace of its own is root.
        if libc.unshare(new_mounts | new_users) != 0:
            return
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    if libc.mount(None, b"/", None, ctypes.c_ulong(private), None) == 0:
        libc.mount(b"none", os.fsencode(disk), b"tmpfs", ctypes.c_ulong(0), b"size=2m")


def _obey_modes() -> None:
    """Give up root's right to read and write whatever it likes."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    header = (ctypes.c_uint32 * 2)(0x20080522)  # version 3, of this thread
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then those above 31
    libc.capget(header, sets)
    for at in range(3):
        sets[at] &= ~0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    if libc.capset(header, sets) != 0:
        raise PermissionError("CAP_DAC_OVERRIDE can't be given up")


def _count_statements(notes: Path, last: int) -> None:
    connect, note = sqlite3.connect, os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    count = 0

    def traced(statement: str) -> None:
        nonlocal count
        count += 1
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)
        os.write(note, statement.split()[0].encode() + b"\n")

    def connected(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        connection = connect(*args, **kwargs)
        connection.set_trace_callback(traced)
        return connection

    sqlite3.connect = connected  # type: ignore[assignment]  # of fewer overloads


# -- its tools ---------------------------------------------------------------------------


async def _wait(seconds: float, answer: Any, arguments: Any, context: ToolContext) -> Any:
    await asyncio.sleep(seconds)
    return answer


async def _leave_a_process(arguments: Any, context: ToolContext) -> Any:
    """A process that lives on when the server is gone; the caller learns its id."""
    left = subprocess.Popen(["sleep", "60"], close_fds=False)  # noqa: ASYNC220 - at once
    return {"error": str(left.pid)}


async def _leave_a_fork(arguments: Any, context: ToolContext) -> Any:
    """Likewise, without another program in it."""
    left = os.fork()
    if left == 0:
        time.sleep(60)  # noqa: ASYNC251 - in a process of its own
        os._exit(0)
    return {"error": str(left)}


TOOLS = [
    Tool(name, run, frozenset({LAB_AUTOMATION}))
    for name, run in (
        ("get_gns3_templates", partial(_wait, 0.15, {"templates": []})),
        ("start_gns3_node", partial(_wait, 0.5, {"error": "There is no such node."})),
        ("gns3_topology_reader", _leave_a_process),
        ("stop_gns3_node", _leave_a_fork),
    )
]
