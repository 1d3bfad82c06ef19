"""Worked examples that a conversation with a small model begins with, as OpenAI messages.

Without them the 1.5B model asks the same tools again and again. Both calls of the third example
stand in one message, the harmless example is the last, because the last is copied most, and the
addresses are none, because they were copied too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from copilot_core.ports import JsonObject


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _user(text: str) -> JsonObject:
    return {"role": "user", "content": text}


def _answer(text: str) -> JsonObject:
    return {"role": "assistant", "content": text}


def _calls(**calls: tuple[str, JsonObject]) -> JsonObject:
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {
                "id": call_id,
                "type": "function",
                "function": {"name": name, "arguments": _json(arguments)},
            }
            for call_id, (name, arguments) in calls.items()
        ],
    }


def _result(call_id: str, result: JsonObject) -> JsonObject:
    return {"role": "tool", "tool_call_id": call_id, "content": _json(result)}


def _done(node_id: str, name: str, result: JsonObject) -> JsonObject:
    item = {"id": node_id, "name": name, "status": "success", "result": result}
    return {"total": 1, "successful": 1, "failed": 0, "items": [item]}


def _node(node_id: str, kind: str = "vpcs", status: str = "started") -> JsonObject:
    return {"node_id": node_id, "node_type": kind, "status": status}


_LAB = {
    "project_id": "p",
    "name": "Example",
    "status": "opened",
    "nodes": {
        "host6": _node("n6"),
        "host7": _node("n7"),
        "host8": _node("n8"),
        "host9": _node("n9", status="stopped"),
        "SW1": _node("n5", "ethernet_switch"),
    },
    "links": [],
}


def _show_ip(host: str) -> tuple[str, JsonObject]:
    config = {"device_name": host, "commands": ["show ip"]}
    return "execute_vpcs_commands", {"device_configs": [config]}


def _shown(number: int) -> JsonObject:
    output = f"NAME        : host{number}[1]\nIP/MASK     : A.B.C.{number}/24"
    outputs = {"outputs": [{"command": "show ip", "output": output}]}
    return _done(f"n{number}", f"host{number}", outputs)


EXAMPLES: tuple[JsonObject, ...] = (
    _user("start host8"),
    _calls(ex0=("start_gns3_node", {"node_ids": ["host8"]})),
    _result("ex0", _done("n8", "host8", {"node_status": "started"})),
    _answer("host8 is started."),
    _user("host6's ip?"),
    _calls(ex1=_show_ip("host6")),
    _result("ex1", _shown(6)),
    _answer("host6 has the address A.B.C.6/24."),
    _user("which hosts are there, and what is the address of host7?"),
    _calls(ex2=("gns3_topology_reader", {}), ex3=_show_ip("host7")),
    _result("ex2", _LAB),
    _result("ex3", _shown(7)),
    _answer(
        "The hosts are host6, host7, host8 and host9 (stopped). host7 has the address A.B.C.7/24."
    ),
    _user("list the nodes"),
    _calls(ex4=("gns3_topology_reader", {})),
    _result("ex4", _LAB),
    _answer("The nodes are host6, host7, host8, host9 (stopped) and the switch SW1."),
)
