"""The JSON that GNS3 3.0.6 answers for a project, its nodes and links: same keys, same types.

GNS3 leaves out unset fields in some answers and spells them as null in others; ``full`` is the
second kind (the answer to a creation, and to ``GET`` of one node).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from copilot_adapters.embedded_lab.project import Link, Node, Port, Project, Template

#: The version whose API this lab speaks.
GNS3_VERSION = "3.0.6"

_LABEL_STYLE = (
    "font-family: TypeWriter;font-size: 10.0;font-weight: bold;fill: #000000;fill-opacity: 1.0;"
)


def project_json(project: Project) -> dict[str, Any]:
    return {
        "name": project.name,
        "project_id": project.project_id,
        # GNS3 names a folder here. This project has none: a path that can't come to exist.
        "path": f"/dev/null/{project.project_id}",
        "auto_close": True,
        "auto_open": False,
        "auto_start": False,
        "scene_height": 1000,
        "scene_width": 2000,
        "zoom": 100,
        "show_layers": False,
        "snap_to_grid": False,
        "show_grid": False,
        "grid_size": 75,
        "drawing_grid_size": 25,
        "show_interface_labels": False,
        "supplier": None,
        "variables": None,
        "status": project.status,
        "filename": f"{project.name}.gns3",
    }


def template_json(template: Template) -> dict[str, Any]:
    return {
        "template_id": template.template_id,
        "name": template.name,
        "category": template.category,
        "default_name_format": template.name_format,
        "symbol": template.symbol,
        "template_type": template.node_type,
        "compute_id": None,
        "builtin": True,
        **dict(template.extra),
    }


def node_json(project: Project, node: Node, *, full: bool = False) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "compute_id": "local",
        "name": node.name,
        "node_type": node.template.node_type,
        "node_id": node.node_id,
        "console": node.console.port if node.console else None,
        "console_type": "telnet" if node.console else "none",
        "console_auto_start": False,
        "aux": None,
        "aux_type": None,
        "properties": _properties(node),
        "label": {"text": node.name, "style": None, "x": None, "y": -40, "rotation": 0},
        "symbol": node.template.symbol,
        "x": node.x,
        "y": node.y,
        "z": 1,
        "locked": False,
        "port_name_format": "Ethernet{0}",
        "port_segment_size": 0,
        "first_port_name": None,
        "custom_adapters": [],
        "template_id": node.template.template_id,
        "width": 60,
        "height": 60,
    }
    if project.status == "opened":
        answer |= {
            "project_id": project.project_id,
            "node_directory": "",
            "status": node.status,
            "command_line": "",
            "ports": [_port_json(number, full) for number in range(node.port_count)],
            "console_host": project.host,
        }
    return answer


def link_json(project: Project, link: Link, *, full: bool = False) -> dict[str, Any]:
    return {
        "nodes": [_end_json(end, full) for end in link.ends],
        "suspend": False,
        "link_style": {"color": None, "width": None, "type": None} if full else {},
        "filters": {},
        "link_id": link.link_id,
        "project_id": project.project_id,
        "link_type": "ethernet",
        "capturing": False,
        "capture_file_name": None,
        "capture_file_path": None,
        "capture_compute_id": None,
    }


def _properties(node: Node) -> dict[str, Any]:
    if node.pc is not None:
        return {"builtin": True, "usage": None}
    ports = [
        {"name": f"Ethernet{number}", "port_number": number, "type": "access", "vlan": 1}
        for number in range(node.port_count)
    ]
    return {"builtin": True, "usage": None, "ports_mapping": ports}


def _port_json(number: int, full: bool) -> dict[str, Any]:
    port: dict[str, Any] = {
        "name": f"Ethernet{number}",
        "short_name": f"e{number}",
        "adapter_number": 0,
        "port_number": number,
        "link_type": "ethernet",
        "data_link_types": {"Ethernet": "DLT_EN10MB"},
    }
    return port | {"adapter_type": None, "mac_address": None} if full else port


def _end_json(end: Port, full: bool) -> dict[str, Any]:
    label: dict[str, Any] = {
        "text": f"{end.adapter_number}/{end.port_number}",
        "style": _LABEL_STYLE,
    }
    return {
        "node_id": end.node_id,
        "adapter_number": end.adapter_number,
        "port_number": end.port_number,
        "label": label | {"x": None, "y": None, "rotation": None} if full else label,
    }
