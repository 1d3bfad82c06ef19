"""The Lab port over a GNS3 server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from copilot_adapters.gns3.console import run_commands
from copilot_adapters.gns3.rest import Rest, is_id
from copilot_core.ports import ConsoleOutput, JsonObject, LabError, LabProject, LinkEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: What a server says when a console listens on every address: reach it where the API is.
_ANY_ADDRESS = frozenset({"", "0.0.0.0", "::", "0:0:0:0:0:0:0:0"})  # noqa: S104 - compared only


class Gns3Lab:
    """A GNS3 server as a ``copilot_core.ports.Lab``.

    ``base_url`` is ``http://host:3080``; ``token`` is a bearer token or a function that gives
    the current one (None: no token). ``timeout`` is in seconds for a whole call, ``max_bytes``
    bounds an answer, ``max_output`` (bytes) what is kept of one console command's output.
    """

    def __init__(
        self,
        base_url: str,
        token: Callable[[], str | None] | str | None = None,
        *,
        timeout: float = 15.0,
        max_bytes: int = 8 * 1024 * 1024,
        max_output: int = 64 * 1024,
    ) -> None:
        self._rest = Rest(base_url, token, timeout=timeout, max_bytes=max_bytes)
        self._max_output = max_output

    async def project(self, project_id: str) -> LabProject | None:
        """The project; None where the server answers 403 (no permission), 404 or 422 (no id)."""
        if not is_id(project_id):
            return None
        try:
            found = _object(await self._rest.call("GET", "projects", project_id))
        except LabError as error:
            if error.status in (403, 404, 422):
                return None
            raise
        path = found.get("path")
        return LabProject(
            project_id=_text(found, "project_id"),
            name=_text(found, "name"),
            status=_text(found, "status"),
            path=path if isinstance(path, str) else None,
        )

    async def templates(self) -> list[JsonObject]:
        return _objects(await self._rest.call("GET", "templates"))

    async def nodes(self, project_id: str) -> list[JsonObject]:
        return _objects(await self._rest.call("GET", "projects", project_id, "nodes"))

    async def links(self, project_id: str) -> list[JsonObject]:
        return _objects(await self._rest.call("GET", "projects", project_id, "links"))

    async def node(self, project_id: str, node_id: str) -> JsonObject:
        return _object(await self._rest.call("GET", "projects", project_id, "nodes", node_id))

    async def create_node(
        self, project_id: str, template_id: str, x: int, y: int, name: str | None = None
    ) -> JsonObject:
        """A node from a template; its name is the one in the answer.

        A name that the server refuses isn't an error, because the node is there by then.
        """
        node = _object(
            await self._rest.call(
                "POST", "projects", project_id, "templates", template_id, body={"x": x, "y": y}
            )
        )
        if name is None or name == node.get("name"):
            return node
        node_id = _text(node, "node_id")
        try:
            return _object(
                await self._rest.call(
                    "PUT", "projects", project_id, "nodes", node_id, body={"name": name}
                )
            )
        except LabError:
            return node

    async def create_link(self, project_id: str, ends: tuple[LinkEnd, LinkEnd]) -> JsonObject:
        nodes = [
            {"node_id": node_id, "adapter_number": adapter_number, "port_number": port_number}
            for node_id, adapter_number, port_number in ends
        ]
        return _object(
            await self._rest.call("POST", "projects", project_id, "links", body={"nodes": nodes})
        )

    async def start_node(self, project_id: str, node_id: str) -> None:
        # 3.0.6 answers 422 to a start without a JSON body.
        await self._rest.call("POST", "projects", project_id, "nodes", node_id, "start", body={})

    async def stop_node(self, project_id: str, node_id: str) -> None:
        await self._rest.call("POST", "projects", project_id, "nodes", node_id, "stop")

    async def console(
        self,
        host: str,
        port: int,
        commands: Sequence[str],
        *,
        timeout: float,  # noqa: ASYNC109 - for each command, which asyncio.timeout can't say
    ) -> list[ConsoleOutput]:
        """Run commands on the console that a node's ``console_host`` and ``console`` name."""
        if host in _ANY_ADDRESS:
            host = self._rest.host
        return await run_commands(
            host, port, commands, seconds=timeout, max_output=self._max_output
        )

    async def close(self) -> None:
        await self._rest.close()


def _object(value: Any) -> JsonObject:
    if not isinstance(value, dict):
        raise LabError("The lab server's answer isn't the JSON object that GNS3 gives here.")
    return value


def _objects(value: Any) -> list[JsonObject]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise LabError("The lab server's answer isn't the list of objects that GNS3 gives here.")
    return value


def _text(found: JsonObject, key: str) -> str:
    value = found.get(key)
    if not isinstance(value, str):
        raise LabError(f"The lab server's answer has no text in {key!r}, which GNS3 gives here.")
    return value
