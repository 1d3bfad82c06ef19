"""The one project of the embedded lab: nodes, links, and what runs."""

from __future__ import annotations

import asyncio
import re
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from copilot_adapters.embedded_lab.console import Console
from copilot_adapters.embedded_lab.vpcs import IpConfig, VirtualPc

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_NODES = 100
SWITCH_PORTS = 8


class RefusalError(Exception):
    """What GNS3 refuses, with the status and the message of its answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class Template:
    """A built-in template of GNS3; the ids are the same on every server."""

    template_id: str
    name: str
    category: str
    name_format: str
    symbol: str
    node_type: str
    extra: tuple[tuple[str, str], ...]


VPCS = Template(
    "52136454-1f50-590a-94e4-816bd02d1062",
    "VPCS",
    "guest",
    "PC{0}",
    ":/symbols/affinity/square/blue/client.svg",
    "vpcs",
    (("base_script_file", "vpcs_base_config.txt"),),
)
SWITCH = Template(
    "92a43283-9c7e-5a68-9695-1f05a2e8dd05",
    "Ethernet switch",
    "switch",
    "Switch{0}",
    ":/symbols/affinity/square/blue/switch.svg",
    "ethernet_switch",
    (("console_type", "none"),),
)
TEMPLATES = {template.template_id: template for template in (VPCS, SWITCH)}


@dataclass(slots=True)
class Node:
    """A PC (with a virtual PC and a console behind it) or a switch (always running)."""

    node_id: str
    name: str
    template: Template
    x: int
    y: int
    status: str
    pc: VirtualPc | None = None
    console: Console | None = None

    @property
    def port_count(self) -> int:
        return SWITCH_PORTS if self.pc is None else 1


@dataclass(frozen=True, slots=True)
class Port:
    """One port of one node."""

    node_id: str
    adapter_number: int
    port_number: int


@dataclass(frozen=True, slots=True)
class Link:
    """A cable between two ports."""

    link_id: str
    ends: tuple[Port, Port]


@dataclass(slots=True)
class Project:
    """State in memory. ``host`` is where consoles listen, ``ping_interval`` is in seconds."""

    project_id: str
    name: str
    host: str
    ping_interval: float
    status: str = "opened"
    nodes: dict[str, Node] = field(default_factory=dict)
    links: dict[str, Link] = field(default_factory=dict)
    _power: asyncio.Lock = field(default_factory=asyncio.Lock)

    # Reading

    def node(self, node_id: str) -> Node:
        try:
            return self.nodes[node_id]
        except KeyError:
            raise RefusalError(404, f"Node ID {node_id} doesn't exist") from None

    def links_of(self, node_id: str) -> list[Link]:
        return [
            link for link in self.links.values() if any(end.node_id == node_id for end in link.ends)
        ]

    # Building

    def create_node(
        self,
        template_id: str,
        x: int,
        y: int,
        *,
        node_id: str | None = None,
        name: str | None = None,
        saved: IpConfig | None = None,
    ) -> Node:
        self._require_open()
        template = TEMPLATES.get(template_id)
        if template is None:
            raise RefusalError(404, f"Template '{template_id}' not found")
        if len(self.nodes) >= MAX_NODES:
            raise RefusalError(409, f"This lab holds at most {MAX_NODES} nodes")
        node = Node(
            node_id=node_id or str(uuid.uuid4()),
            name=name or self._free_name(template),
            template=template,
            x=x,
            y=y,
            status="stopped",
        )
        if template is VPCS:
            node.pc = VirtualPc(
                node.name,
                sum(other.pc is not None for other in self.nodes.values()),
                lambda: self._neighbours(node),
                saved=saved or IpConfig(),
                ping_interval=self.ping_interval,
            )
            node.console = Console(node.pc, self.host)
        else:
            node.status = "started"
        self.nodes[node.node_id] = node
        return node

    def rename(self, node_id: str, name: str) -> Node:
        """Spaces go, and a name that another node has changes nothing: as GNS3 does."""
        self._require_open()
        node = self.node(node_id)
        name = re.sub(r"[\x00-\x20\x7f]", "", name)
        if not name or any(name == other.name for other in self.nodes.values()):
            return node
        if node.pc is not None:
            if node.status == "started":
                raise RefusalError(409, f"{node.name} must be stopped to be renamed")
            node.pc.name = name
        node.name = name
        return node

    def create_link(self, ends: tuple[Port, Port]) -> Link:
        self._require_open()
        used = {end for link in self.links.values() for end in link.ends}
        for end in ends:
            node = self.node(end.node_id)
            if end.adapter_number != 0 or not 0 <= end.port_number < node.port_count:
                port = f"{end.adapter_number}/{end.port_number}"
                raise RefusalError(404, f"Port {port} for {node.name} not found")
            if end in used:
                raise RefusalError(409, "Port is already used")
        if ends[0].node_id == ends[1].node_id:
            raise RefusalError(409, "Cannot connect to itself")
        link = Link(str(uuid.uuid4()), ends)
        self.links[link.link_id] = link
        return link

    # Running

    async def start(self, nodes: Sequence[Node]) -> None:
        self._require_open()
        async with self._power:
            for node in nodes:
                if node.pc is None or node.console is None or node.status == "started":
                    continue
                node.pc.boot()
                await node.console.open()
                node.status = "started"

    async def stop(self, nodes: Sequence[Node]) -> None:
        self._require_open()
        async with self._power:
            for node in nodes:
                if node.console is None or node.status == "stopped":
                    continue
                node.status = "stopped"
                await node.console.close()

    def open(self) -> None:
        self.status = "opened"

    async def close(self) -> None:
        """Stop everything; what runs in a closed project is nothing."""
        if self.status == "opened":
            await self.stop(list(self.nodes.values()))
            self.status = "closed"

    async def release(self) -> None:
        """Give back every console port, for good."""
        for node in self.nodes.values():
            if node.console is not None:
                await node.console.release()

    # Inside

    def _require_open(self) -> None:
        if self.status != "opened":
            raise RefusalError(403, "The project is not opened")

    def _free_name(self, template: Template) -> str:
        taken = {node.name for node in self.nodes.values()}
        number = 1
        while (name := template.name_format.format(number)) in taken:
            number += 1
        return name

    def _neighbours(self, node: Node) -> list[VirtualPc]:
        """The other running PCs that the cables and switches from ``node`` reach."""
        reached = {node.node_id}
        waiting = [node]
        pcs = []
        while waiting:
            current = waiting.pop()
            for link in self.links_of(current.node_id):
                for end in link.ends:
                    if end.node_id in reached:
                        continue
                    reached.add(end.node_id)
                    other = self.nodes[end.node_id]
                    if other.pc is None:
                        waiting.append(other)
                    elif other.status == "started":
                        pcs.append(other.pc)
        return pcs
