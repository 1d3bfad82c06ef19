"""The lab tools on the embedded lab, over its REST API and its consoles."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from copilot_adapters.embedded_lab import EMBEDDED_PROJECT_ID, EmbeddedLab
from copilot_adapters.gns3 import Gns3Lab
from copilot_contracts import Registry
from copilot_core.llm.config import LAB_AUTOMATION, TEACHING
from copilot_core.ports import Identity, JsonObject, Lab, LabError
from copilot_core.tools.base import Tool, ToolContext
from copilot_core.tools.lab import lab_tools

SURFACE = Registry.bundled().surface("gns3-chat")
VPCS = "52136454-1f50-590a-94e4-816bd02d1062"


class Tools:
    """The tools by name; arguments and results are held against their contracts."""

    def __init__(self, lab: Lab, project_id: str = EMBEDDED_PROJECT_ID, **bounds: float) -> None:
        self.lab = lab
        self.by_name: dict[str, Tool] = {tool.name: tool for tool in lab_tools(lab, **bounds)}
        self._context = ToolContext(project_id, Identity("user", None))

    async def __call__(self, name: str, **arguments: Any) -> JsonObject:
        assert SURFACE.contract("tool_arguments", name).violation(arguments) is None
        result = await self.by_name[name].run(arguments, self._context)
        assert isinstance(result, dict)
        assert SURFACE.contract("tool_return", name).violation(result) is None
        if "items" in result:
            by_status = [item["status"] for item in result["items"]]
            assert result["total"] == len(by_status)
            assert result["successful"] == by_status.count("success")
            assert result["failed"] == by_status.count("failed")
        return result

    async def nodes(self) -> JsonObject:
        return (await self("gns3_topology_reader"))["nodes"]


@pytest.fixture
async def client() -> AsyncIterator[Gns3Lab]:
    async with EmbeddedLab(ping_interval=0.02) as server:
        lab = Gns3Lab(server.url)
        yield lab
        await lab.close()


@pytest.fixture
def tools(client: Gns3Lab) -> Tools:
    return Tools(client)


def test_every_tool_of_the_surface_is_there_and_the_teaching_mode_stops_nothing(tools: Tools):
    assert set(tools.by_name) == set(SURFACE.catalogue.tools)
    assert all(LAB_AUTOMATION in tool.modes for tool in tools.by_name.values())
    withheld = [name for name, tool in tools.by_name.items() if TEACHING not in tool.modes]
    assert withheld == ["stop_gns3_node"]


async def test_topology(tools: Tools):
    topology = await tools("gns3_topology_reader")
    assert topology["status"] == "opened"
    assert set(topology["nodes"]) == {"PC1", "PC2", "PC3", "PC4", "SW1"}
    assert topology["nodes"]["PC1"]["status"] == "started"
    assert topology["nodes"]["PC1"]["ports"] == ["e0"]
    ends = {
        frozenset([(link["node1"], link["port1"]), (link["node2"], link["port2"])])
        for link in topology["links"]
    }
    assert frozenset([("PC2", "e0"), ("SW1", "e1")]) in ends
    assert len(ends) == 4


async def test_templates(tools: Tools):
    templates = (await tools("get_gns3_templates"))["templates"]
    assert {
        "template_id": VPCS,
        "name": "VPCS",
        "template_type": "vpcs",
        "category": "guest",
    } in templates


async def test_commands_run_on_each_device_and_each_fails_alone(tools: Tools):
    nodes = await tools.nodes()
    await tools("stop_gns3_node", node_ids=[nodes["PC4"]["node_id"]])
    result = await tools(
        "execute_vpcs_commands",
        device_configs=[
            {"device_name": "PC1", "commands": ["show ip", "ping 10.0.0.2 -c 1"]},
            {"device_name": "PC9", "commands": ["show ip"]},
            {"device_name": "pc2", "commands": ["show ip"]},
            {"device_name": "SW1", "commands": ["show ip"]},
            {"device_name": "PC4", "commands": ["show ip"]},
        ],
    )
    pc1, pc9, pc2, sw1, pc4 = result["items"]
    shown, pinged = pc1["result"]["outputs"]
    assert (pc1["id"], pc1["name"]) == (nodes["PC1"]["node_id"], "PC1")
    assert "10.0.0.1/24" in shown["output"]
    assert "84 bytes from 10.0.0.2" in pinged["output"]
    assert "10.0.0.2/24" in pc2["result"]["outputs"][0]["output"]
    assert (pc9["id"], pc9["name"]) == ("PC9", None)
    assert pc9["error"].startswith("There is no node PC9. There is: ")
    assert "PC1" in pc9["error"]
    assert "no VPCS host" in sw1["error"]
    assert (pc4["id"], pc4["name"]) == (nodes["PC4"]["node_id"], "PC4")
    assert "start_gns3_node" in pc4["error"]
    assert (result["successful"], result["failed"]) == (2, 3)


async def test_a_device_named_twice_gets_its_commands_in_order(tools: Tools):
    result = await tools(
        "execute_vpcs_commands",
        device_configs=[
            {"device_name": "PC1", "commands": [f"ip 10.0.0.{10 + at}/24", "show ip"]}
            for at in range(3)
        ],
    )
    for at, item in enumerate(result["items"]):
        assert f"10.0.0.{10 + at}/24" in item["result"]["outputs"][1]["output"]


async def test_different_devices_run_side_by_side_and_an_endless_command_is_broken_off(
    client: Gns3Lab,
):
    tools = Tools(client, command_seconds=0.7)
    start = time.monotonic()
    result = await tools(
        "execute_vpcs_commands",
        device_configs=[
            {"device_name": f"PC{at}", "commands": ["ping 10.0.0.1 -t"]} for at in (2, 3, 4)
        ],
    )
    assert time.monotonic() - start < 1.9
    for item in result["items"]:
        [output] = item["result"]["outputs"]
        assert output["timed_out"] is True
        assert "84 bytes from 10.0.0.1" in output["output"]


async def test_stop_and_start_are_seen(tools: Tools):
    nodes = await tools.nodes()
    pc1 = nodes["PC1"]["node_id"]
    result = await tools("stop_gns3_node", node_ids=[pc1, "PC2", "no such"])
    first, second, third = result["items"]
    assert first == {
        "id": pc1,
        "name": "PC1",
        "status": "success",
        "result": {"node_status": "stopped"},
    }
    assert second["id"] == nodes["PC2"]["node_id"]
    assert third["status"] == "failed"
    nodes = await tools.nodes()
    assert [nodes[f"PC{at}"]["status"] for at in (1, 2, 3)] == ["stopped", "stopped", "started"]
    result = await tools("start_gns3_node", node_ids=[pc1, pc1])
    assert [item["result"]["node_status"] for item in result["items"]] == ["started"] * 2
    assert (await tools.nodes())["PC1"]["status"] == "started"


async def test_create_nodes_and_links(tools: Tools):
    result = await tools(
        "create_gns3_node",
        nodes=[
            {"template_id": VPCS, "x": 0, "y": 50, "name": "Guest"},
            {"template_id": "no-such", "x": 0, "y": 0},
            {"template_id": "vpcs", "x": 10, "y": 50},
            {"template_id": VPCS, "x": 10, "y": 50, "name": "PC1"},
        ],
    )
    guest, failed, unnamed, taken = result["items"]
    assert guest["name"] == "Guest"
    assert guest["result"] == {
        "node_id": guest["id"],
        "node_type": "vpcs",
        "status": "stopped",
        "ports": ["e0"],
    }
    assert "There is no template no-such." in failed["error"]
    assert "VPCS" in failed["error"]
    nodes = await tools.nodes()
    assert {item["name"]: item["id"] for item in (guest, unnamed, taken)} == {
        name: nodes[name]["node_id"] for name in set(nodes) - {"PC1", "PC2", "PC3", "PC4", "SW1"}
    }

    link, bad_port, used = (
        await tools(
            "create_gns3_link",
            links=[
                {"node_id1": guest["id"], "port1": "Ethernet0", "node_id2": "SW1", "port2": "E6"},
                {"node_id1": "PC1", "port1": "e9", "node_id2": "SW1", "port2": "e7"},
                {"node_id1": "PC1", "port1": "e0", "node_id2": "SW1", "port2": "e7"},
            ],
        )
    )["items"]
    assert link["name"] == "Guest e0 - SW1 e6"
    assert link["result"]["port2"] == "e6"
    assert bad_port["error"] == "PC1 has no port e9. It has: e0."
    assert used["id"] == "PC1 e0 - SW1 e7"
    assert "used" in used["error"]
    links = (await tools("gns3_topology_reader"))["links"]
    assert link["id"] in {each["link_id"] for each in links}
    assert len(links) == 5


async def test_a_project_that_is_not_there(client: Gns3Lab):
    tools = Tools(client, project_id="9e0c1a9e-7d3b-4c1e-9a55-0e4bedded1ab")
    for name in ("gns3_topology_reader", "start_gns3_node"):
        arguments = {"node_ids": ["PC1"]} if name == "start_gns3_node" else {}
        result = await tools(name, **arguments)
        assert set(result) == {"error"}


async def test_a_lab_that_does_not_answer():
    async with EmbeddedLab() as server:
        url = server.url
    lab = Gns3Lab(url, timeout=2)
    tools = Tools(lab)
    for name in ("gns3_topology_reader", "get_gns3_templates"):
        assert set(await tools(name)) == {"error"}
    await lab.close()


class Stuck:
    """A lab whose nodes take orders and don't change, and of which one refuses them."""

    def __init__(self) -> None:
        self.running = self.most_running = 0
        self.all = [
            {"node_id": f"id{at}", "name": f"R{at}", "status": "stopped"} for at in range(20)
        ]
        self.all.append({"node_id": "twin", "name": "R1", "status": "stopped"})

    async def nodes(self, project_id: str) -> list[JsonObject]:
        return self.all

    async def node(self, project_id: str, node_id: str) -> JsonObject:
        return next(node for node in self.all if node["node_id"] == node_id)

    async def start_node(self, project_id: str, node_id: str) -> None:
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await asyncio.sleep(0.01)
        self.running -= 1
        if node_id == "id0":
            raise LabError("R0 is broken.")


async def test_a_node_that_does_not_start_has_failed_and_items_run_side_by_side():
    lab = Stuck()
    tools = Tools(lab, change_seconds=0.2)  # type: ignore[arg-type]  # what these tools ask of it
    start = time.monotonic()
    asked = ["R1", *(f"id{at}" for at in range(20))]
    result = await tools("start_gns3_node", node_ids=asked)
    assert time.monotonic() - start < 2
    ambiguous, broken, *stuck = result["items"]
    assert ambiguous["error"] == "There are 2 nodes named R1: use the id."
    assert (broken["name"], broken["error"]) == ("R0", "R0 is broken.")
    assert {item["status"] for item in stuck} == {"failed"}
    assert stuck[0]["error"] == "R1 is stopped, not started, 0.2 seconds after it was asked."
    assert 1 < lab.most_running <= 8
