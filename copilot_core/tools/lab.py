"""The agent's tools on a network lab, with upstream's names (gns3-facts.md).

Success means that the effect was observed. Where the contract asks for an id, a name is taken
too if exactly one thing has it, because models mix them up; what comes back has the real id.
Things that can't be found are told with what there is.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from copilot_core.llm.config import LAB_AUTOMATION, TEACHING
from copilot_core.ports import JsonObject, Lab, LabError
from copilot_core.tools.base import Tool
from copilot_core.tools.report import Done, report

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from copilot_core.tools.base import Run, ToolContext

_ALL_MODES = frozenset({TEACHING, LAB_AUTOMATION})

_AT_ONCE = 8
# Names are given by the lab in the order of creation, and a port takes one link.
_IN_ORDER = 1
_MOST_NAMED = 30


def lab_tools(
    lab: Lab, *, change_seconds: float = 15.0, command_seconds: float = 20.0
) -> tuple[Tool, ...]:
    """The seven tools.

    ``change_seconds`` is how long a node may take until it is seen started or stopped,
    ``command_seconds`` how long one console command may take.
    """

    def tool(
        name: str,
        run: Callable[..., Awaitable[JsonObject]],
        modes: frozenset[str] = _ALL_MODES,
    ) -> Tool:
        return Tool(name, _told(partial(run, lab)), modes)

    change = partial(_change_nodes, seconds=change_seconds)
    return (
        tool("gns3_topology_reader", _read_topology),
        tool("get_gns3_templates", _read_templates),
        tool("create_gns3_node", _create_nodes),
        tool("create_gns3_link", _create_links),
        tool("start_gns3_node", partial(change, wanted="started")),
        tool("stop_gns3_node", partial(change, wanted="stopped"), frozenset({LAB_AUTOMATION})),
        tool("execute_vpcs_commands", partial(_run_commands, seconds=command_seconds)),
    )


def _told(run: Callable[[JsonObject, ToolContext], Awaitable[JsonObject]]) -> Run:
    """``run``, with a failure of the whole told as an error object."""

    async def told(arguments: JsonObject, context: ToolContext) -> JsonObject:
        try:
            return await run(arguments, context)
        except LabError as error:
            return {"error": error.message}

    return told


async def _read_topology(lab: Lab, _: JsonObject, context: ToolContext) -> JsonObject:
    project_id = context.project_id
    project, nodes, links = await asyncio.gather(
        lab.project(project_id), lab.nodes(project_id), lab.links(project_id)
    )
    if project is None:
        raise LabError("There is no such project, or you have no permission on it.")
    by_id = {node["node_id"]: node for node in nodes}
    return {
        "project_id": project_id,
        "name": project.name,
        "status": project.status,
        "nodes": {
            node["name"]: {
                "node_id": node["node_id"],
                "node_type": node["node_type"],
                "status": node["status"],
                "console_type": node.get("console_type"),
                "console_port": node.get("console"),
                "x": node["x"],
                "y": node["y"],
                "tags": node.get("tags") or [],
                "ports": _short_names(node),
            }
            for node in nodes
        },
        "links": [_topology_link(link, by_id) for link in links if len(link["nodes"]) == 2],
    }


def _topology_link(link: JsonObject, nodes: dict[str, JsonObject]) -> JsonObject:
    told = {"link_id": link["link_id"], "link_type": link["link_type"]}
    for number, end in enumerate(link["nodes"], 1):
        node = nodes.get(end["node_id"], {})
        place = (end["adapter_number"], end["port_number"])
        port = next((port for port in _ports(node) if _place(port) == place), None)
        told[f"node{number}"] = node.get("name", end["node_id"])
        told[f"port{number}"] = port["short_name"] if port else f"{place[0]}/{place[1]}"
    return told


async def _read_templates(lab: Lab, _: JsonObject, __: ToolContext) -> JsonObject:
    return {
        "templates": [
            {
                "template_id": template["template_id"],
                "name": template["name"],
                "template_type": template["template_type"],
                "category": template.get("category"),
            }
            for template in await lab.templates()
        ]
    }


async def _create_nodes(lab: Lab, arguments: JsonObject, context: ToolContext) -> JsonObject:
    templates = await lab.templates()

    async def create(wish: JsonObject) -> Done:
        template = _find("template", wish["template_id"], templates, "template_id")
        node = await lab.create_node(
            context.project_id, template["template_id"], wish["x"], wish["y"], wish.get("name")
        )
        made = {key: node[key] for key in ("node_id", "node_type", "status")}
        return Done(node["node_id"], node["name"], made | {"ports": _short_names(node)})

    def label(wish: JsonObject) -> tuple[str, str | None]:
        return wish["template_id"], wish.get("name")

    return await report(arguments["nodes"], create, label, at_once=_IN_ORDER)


async def _create_links(lab: Lab, arguments: JsonObject, context: ToolContext) -> JsonObject:
    nodes = await lab.nodes(context.project_id)

    async def create(wish: JsonObject) -> Done:
        ends = [
            _end(wish["node_id1"], wish["port1"], nodes),
            _end(wish["node_id2"], wish["port2"], nodes),
        ]
        first, second = ((node["node_id"], *_place(port)) for node, port in ends)
        link = await lab.create_link(context.project_id, (first, second))
        made = {"link_id": link["link_id"]}
        for number, (node, port) in enumerate(ends, 1):
            made |= {f"node_id{number}": node["node_id"], f"port{number}": port["short_name"]}
        name = " - ".join(f"{node['name']} {port['short_name']}" for node, port in ends)
        return Done(link["link_id"], name, made)

    def label(wish: JsonObject) -> tuple[str, str | None]:
        name = f"{wish['node_id1']} {wish['port1']} - {wish['node_id2']} {wish['port2']}"
        return name, name

    return await report(arguments["links"], create, label, at_once=_IN_ORDER)


async def _change_nodes(
    lab: Lab, arguments: JsonObject, context: ToolContext, *, wanted: str, seconds: float
) -> JsonObject:
    project_id = context.project_id
    nodes = await lab.nodes(project_id)
    ask = lab.start_node if wanted == "started" else lab.stop_node

    async def change(asked: str) -> Done:
        node = _find("node", asked, nodes, "node_id")
        node_id = node["node_id"]
        await ask(project_id, node_id)
        deadline = asyncio.get_running_loop().time() + seconds
        pause = 0.05
        while (status := (await lab.node(project_id, node_id))["status"]) != wanted:
            if asyncio.get_running_loop().time() >= deadline:
                raise LabError(
                    f"{node['name']} is {status}, not {wanted}, {seconds:g} seconds after it was "
                    "asked."
                )
            await asyncio.sleep(pause)
            pause = min(pause * 2, 1.0)
        return Done(node_id, node["name"], {"node_status": wanted})

    return await report(arguments["node_ids"], change, partial(_label, nodes), at_once=_AT_ONCE)


async def _run_commands(
    lab: Lab, arguments: JsonObject, context: ToolContext, *, seconds: float
) -> JsonObject:
    nodes = await lab.nodes(context.project_id)
    turns: dict[str, asyncio.Lock] = {}

    async def run(config: JsonObject) -> Done:
        node = _find("node", config["device_name"], nodes, "node_id")
        name = node["name"]
        if node["node_type"] != "vpcs":
            raise LabError(f"{name} is no VPCS host but of type {node['node_type']}.")
        if node["status"] != "started":
            raise LabError(f"{name} is {node['status']}: start it with start_gns3_node.")
        if node.get("console") is None or node.get("console_type") != "telnet":
            raise LabError(f"{name} has no telnet console.")
        # A device that is named twice gets its commands in the order asked.
        async with turns.setdefault(node["node_id"], asyncio.Lock()):
            outputs = await lab.console(
                node.get("console_host") or "",
                node["console"],
                config["commands"],
                timeout=seconds,
            )
        told = [
            {"command": output.command, "output": output.output}
            | ({"timed_out": True} if output.timed_out else {})
            for output in outputs
        ]
        return Done(node["node_id"], name, {"outputs": told})

    def label(config: JsonObject) -> tuple[str, str | None]:
        return _label(nodes, config["device_name"])

    return await report(arguments["device_configs"], run, label, at_once=_AT_ONCE)


def _find(kind: str, asked: str, things: Sequence[JsonObject], id_key: str) -> JsonObject:
    """The thing with this id, or the only one with this name. Raises ``LabError``."""
    folded = asked.strip().casefold()
    for found in (
        [thing for thing in things if thing[id_key] == asked],
        [thing for thing in things if thing["name"] == asked],
        [thing for thing in things if thing["name"].casefold() == folded],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            raise LabError(f"There are {len(found)} {kind}s named {asked[:100]}: use the id.")
    there = _listed(thing["name"] for thing in things)
    raise LabError(f"There is no {kind} {asked[:100]}. There is: {there}.")


def _end(asked: str, port_name: str, nodes: Sequence[JsonObject]) -> tuple[JsonObject, JsonObject]:
    """A node and one of its ports, by name or short name in either case."""
    node = _find("node", asked, nodes, "node_id")
    wanted = port_name.strip().casefold()
    for port in _ports(node):
        if wanted in {port["name"].casefold(), port["short_name"].casefold()}:
            return node, port
    there = _listed(_short_names(node))
    raise LabError(f"{node['name']} has no port {port_name[:100]}. It has: {there}.")


def _label(nodes: Sequence[JsonObject], asked: str) -> tuple[str, str | None]:
    try:
        node = _find("node", asked, nodes, "node_id")
    except LabError:
        return asked, None
    return node["node_id"], node["name"]


def _listed(names: Iterable[str]) -> str:
    told = list(names)
    if len(told) > _MOST_NAMED:
        told[_MOST_NAMED:] = ["..."]
    return ", ".join(told) or "none"


def _short_names(node: JsonObject) -> list[str]:
    return [port["short_name"] for port in _ports(node)]


def _ports(node: JsonObject) -> list[JsonObject]:
    return node.get("ports") or []


def _place(port: JsonObject) -> tuple[Any, Any]:
    return port["adapter_number"], port["port_number"]
