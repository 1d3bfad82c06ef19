"""What the edges provide to the core: protocols, and the values that cross them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pydantic import SecretStr

    from copilot_core.llm.config import LlmConfig

JsonObject: TypeAlias = dict[str, Any]

LinkEnd: TypeAlias = tuple[str, int, int]
"""One end of a link: ``(node_id, adapter_number, port_number)``."""


class LabError(Exception):
    """A lab refused or couldn't be reached. Safe to show to a model and to a user.

    The message is one sentence without secrets, tracebacks or file paths.
    """

    #: The sentence.
    message: str
    #: The HTTP status that the lab answered, or None where no HTTP answer is behind it.
    status: int | None

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


@dataclass(frozen=True, slots=True)
class LabProject:
    """A project as the lab knows it."""

    project_id: str
    name: str
    #: ``opened`` or ``closed``.
    status: str
    #: The project's folder on the lab's machine, where the lab tells it.
    path: str | None


@dataclass(frozen=True, slots=True)
class ConsoleOutput:
    """What a device's console printed for one command, as plain text.

    Without the echoed command, the prompt, telnet bytes and ANSI sequences.
    """

    command: str
    output: str
    #: The command didn't end in time and was interrupted; ``output`` is what came until then.
    timed_out: bool = False
    #: There was more output than is kept; the middle was left out.
    truncated: bool = False


class Lab(Protocol):
    """A network lab that speaks GNS3's REST API v3 and telnet consoles, or answers as if it did.

    JSON objects are as the REST API answers them. Everything raises ``LabError``.
    """

    async def project(self, project_id: str) -> LabProject | None:
        """The project, or None if it is unknown or the identity has no permission on it."""

    async def templates(self) -> list[JsonObject]:
        """The node templates."""

    async def nodes(self, project_id: str) -> list[JsonObject]:
        """The project's nodes."""

    async def links(self, project_id: str) -> list[JsonObject]:
        """The project's links."""

    async def node(self, project_id: str, node_id: str) -> JsonObject:
        """One node as it is now."""

    async def create_node(
        self, project_id: str, template_id: str, x: int, y: int, name: str | None = None
    ) -> JsonObject:
        """Make a node from a template; the answer's ``name`` is the name that it really got."""

    async def create_link(self, project_id: str, ends: tuple[LinkEnd, LinkEnd]) -> JsonObject:
        """Connect two ports."""

    async def start_node(self, project_id: str, node_id: str) -> None:
        """Ask for a start; whether the node runs is what ``node`` then says."""

    async def stop_node(self, project_id: str, node_id: str) -> None:
        """Ask for a stop; whether the node has stopped is what ``node`` then says."""

    async def console(
        self,
        host: str,
        port: int,
        commands: Sequence[str],
        *,
        timeout: float,  # noqa: ASYNC109 - for each command, which asyncio.timeout can't say
    ) -> list[ConsoleOutput]:
        """Run commands on a VPCS-like console, one after the other.

        ``timeout`` is in seconds for each command. One caller at a time for each
        ``(host, port)`` in this process, because clients of one console read each other.
        """

    async def close(self) -> None:
        """Give back connections. Calling it again changes nothing."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks."""

    user_id: str
    #: The bearer towards GNS3. Lives in memory only.
    token: SecretStr | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """A project as the gate sees it."""

    project_id: str
    #: ``opened`` or ``closed``.
    status: str
    #: The folder whose ``gns3-copilot/`` holds the project's file.
    path: Path


class ProjectGate(Protocol):
    """Says which projects an identity may use."""

    async def project(self, project_id: str, identity: Identity) -> Project | None:
        """The project; None if it is unknown or the identity has no permission on it."""


class LlmConfigSource(Protocol):
    """Says which model a user has configured."""

    async def llm_config(self, user_id: str) -> LlmConfig | None:
        """The user's model, or None if none is configured."""
