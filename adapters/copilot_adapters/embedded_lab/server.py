"""The embedded lab as one thing to start and stop."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import uuid
from ipaddress import IPv4Interface
from typing import TYPE_CHECKING, Self

import uvicorn

from copilot_adapters.embedded_lab.console import bound_socket
from copilot_adapters.embedded_lab.project import SWITCH, VPCS, Port, Project
from copilot_adapters.embedded_lab.rest import create_app
from copilot_adapters.embedded_lab.vpcs import IpConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The id of the one project, the same in every process.
EMBEDDED_PROJECT_ID = "5e0c1a9e-7d3b-4c1e-9a55-0e4bedded1ab"


class EmbeddedLab:
    """A lab of four PCs on a switch, 10.0.0.1/24 to 10.0.0.4/24, all running.

    ``async with EmbeddedLab() as lab`` serves it on loopback; ``lab.url`` is what a GNS3 client
    takes as the server's address. ``port`` 0 takes a free one. With ``require_auth`` calls need
    the token that ``POST /v3/access/users/authenticate`` gives for admin/admin.
    ``ping_interval`` is the time between two echo requests, in seconds.

    Raises ``ValueError`` for a host that isn't an IPv4 loopback address, and ``OSError`` when
    the port is taken.
    """

    project_id = EMBEDDED_PROJECT_ID

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        require_auth: bool = False,
        ping_interval: float = 0.2,
    ) -> None:
        address = ipaddress.ip_address(host)
        if address.version != 4 or not address.is_loopback:
            raise ValueError(f"The embedded lab serves 127.0.0.0/8 only, not {host}.")
        self._host = host
        self._port = port
        self._require_auth = require_auth
        self._ping_interval = ping_interval
        self._running = contextlib.AsyncExitStack()

    @property
    def url(self) -> str:
        """The server's address, once it runs."""
        return f"http://{self._host}:{self._port}"

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as starting:
            project = Project(EMBEDDED_PROJECT_ID, "Embedded lab", self._host, self._ping_interval)
            starting.push_async_callback(project.release)
            _build(project)
            await project.start(list(project.nodes.values()))
            listening = starting.enter_context(bound_socket(self._host, self._port))
            listening.listen()
            self._port = listening.getsockname()[1]
            server = _Server(
                uvicorn.Config(
                    create_app(project, require_auth=self._require_auth),
                    lifespan="off",
                    ws="none",
                    log_config=None,
                    access_log=False,
                    server_header=False,
                    proxy_headers=False,
                    timeout_graceful_shutdown=1,
                )
            )
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            starting.push_async_callback(_stop, server, serving)
            self._running = starting.pop_all()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._running.aclose()


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals belong to the program that this lab runs in."""
        yield


async def _stop(server: uvicorn.Server, serving: asyncio.Task[None]) -> None:
    server.should_exit = True
    await serving


def _build(project: Project) -> None:
    def fixed_id(name: str) -> str:
        return str(uuid.uuid5(uuid.UUID(project.project_id), name))

    switch = project.create_node(SWITCH.template_id, 0, 0, node_id=fixed_id("SW1"), name="SW1")
    for number in range(4):
        pc = project.create_node(
            VPCS.template_id,
            -225 + 150 * number,
            150,
            node_id=fixed_id(f"PC{number + 1}"),
            saved=IpConfig(IPv4Interface(f"10.0.0.{number + 1}/24")),
        )
        project.create_link((Port(pc.node_id, 0, 0), Port(switch.node_id, 0, number)))
