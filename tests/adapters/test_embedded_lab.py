"""The embedded lab against recordings of a real GNS3 server, and what is behind its consoles."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import signal
import socket
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from copilot_adapters.embedded_lab import EMBEDDED_PROJECT_ID, EmbeddedLab
from copilot_adapters.gns3 import Gns3Lab
from copilot_core.ports import ConsoleOutput, LabError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

RECORDINGS = Path(__file__).parent / "gns3-rest"
RECORDED_PROJECT = "a0f93d3c-646c-4960-9777-6dbd68b055d1"
RECORDED_PC1 = "3e512dc7-fcff-4a26-b5ef-88c1244583e3"
RECORDED_PC2 = "e70d0037-6430-4334-8a52-29695c4002f4"
RECORDED_RESTORED = "d062d29f-8a1f-4b4b-8a6e-c0b1deb56bd9"

VPCS = "52136454-1f50-590a-94e4-816bd02d1062"
SWITCH = "92a43283-9c7e-5a68-9695-1f05a2e8dd05"
HERE = f"/v3/projects/{EMBEDDED_PROJECT_ID}"


def recording(name: str) -> dict[str, Any]:
    return json.loads((RECORDINGS / f"{name}.json").read_text())


@pytest.fixture
async def lab() -> AsyncIterator[EmbeddedLab]:
    async with EmbeddedLab(ping_interval=0.01) as lab:
        yield lab


@pytest.fixture
async def http(lab: EmbeddedLab) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=lab.url) as client:
        yield client


async def new_pc(http: httpx.AsyncClient) -> dict[str, Any]:
    answer = await http.post(f"{HERE}/templates/{VPCS}", json={"x": 0, "y": 0})
    assert answer.status_code == 201
    return answer.json()


async def named(http: httpx.AsyncClient, name: str) -> dict[str, Any]:
    nodes = (await http.get(f"{HERE}/nodes")).json()
    return next(node for node in nodes if node["name"] == name)


# The recorded exchanges


def shape(value: Any) -> Any:
    """Keys and JSON types, without values; a list is the set of its elements' shapes."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in sorted(value.items())}
    if isinstance(value, list):
        return sorted({json.dumps(shape(item)) for item in value})
    return type(value).__name__


async def link_two_new(http: httpx.AsyncClient, first: str, second: str) -> None:
    ends = [{"node_id": n, "adapter_number": 0, "port_number": 0} for n in (first, second)]
    answer = await http.post(f"{HERE}/links", json={"nodes": ends})
    assert answer.status_code == 201


async def close(http: httpx.AsyncClient, first: str, second: str) -> None:
    assert (await http.post(f"{HERE}/close")).status_code == 204


async def start(http: httpx.AsyncClient, first: str, second: str) -> None:
    assert (await http.post(f"{HERE}/nodes/start")).status_code == 204


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("project_get", None),
        ("project_404", None),
        ("project_bad_uuid", None),
        ("project_open", close),
        ("project_open", None),
        ("project_stats", None),
        ("template_404", None),
        ("template_missing_y", None),
        ("create_node_closed_project", close),
        ("node_from_template_vpcs", None),
        ("nodes_list", None),
        ("nodes_list_started", start),
        ("nodes_list_closed_project", close),
        ("node_get", None),
        ("node_404", None),
        ("node_update", None),
        ("node_update_badname", None),
        ("node_update_dupname", None),
        ("node_start_ok", None),
        ("node_start_already", start),
        ("node_start_nobody", None),
        ("nodes_stop_all", start),
        ("link_create", None),
        ("link_create_in_use_error", link_two_new),
        ("link_bad_port_error", None),
        ("links_list", link_two_new),
        ("node_links", link_two_new),
    ],
)
async def test_the_lab_answers_as_the_real_server_did(
    http: httpx.AsyncClient, name: str, before: Any
) -> None:
    first, second = await new_pc(http), await new_pc(http)
    if before is not None:
        await before(http, first["node_id"], second["node_id"])
    text = json.dumps(recording(name))
    for recorded, here in (
        (RECORDED_PROJECT, EMBEDDED_PROJECT_ID),
        (RECORDED_PC1, first["node_id"]),
        (RECORDED_RESTORED, first["node_id"]),
        (RECORDED_PC2, second["node_id"]),
    ):
        text = text.replace(recorded, here)
    exchange = json.loads(text)
    answer = await http.request(exchange["method"], exchange["path"], json=exchange["request"])
    assert answer.status_code == exchange["status"], answer.text
    got, recorded = answer.json() if answer.content else None, exchange["response"]
    if name.startswith("nodes_list"):
        got = [node for node in got if node["node_type"] == "vpcs"]
    if name == "node_links":  # recorded while the link had a filter and a capture
        recorded[0] |= {"filters": {}, "capture_file_name": None, "capture_file_path": None}
    assert shape(got) == shape(recorded)


async def test_templates_are_the_built_in_ones(http: httpx.AsyncClient) -> None:
    recorded = {t["template_id"]: t for t in recording("templates")["response"]}
    templates = (await http.get("/v3/templates")).json()
    assert {t["template_id"] for t in templates} == {VPCS, SWITCH}
    assert all(t == recorded[t["template_id"]] for t in templates)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "message"),
    [
        ("GET", f"{HERE}/nodes/{RECORDED_PC1}", None, 404, f"Node ID {RECORDED_PC1} doesn't exist"),
        ("POST", f"{HERE}/templates/{RECORDED_PC1}", {"x": 1, "y": 1}, 404, "not found"),
        ("POST", f"{HERE}/templates/{VPCS}", {"x": "1", "y": 1}, 422, "valid integer"),
        ("POST", f"{HERE}/templates/{VPCS}", [1], 422, "valid dictionary"),
        ("POST", f"{HERE}/links", {"nodes": []}, 422, "two ports"),
        ("POST", f"{HERE}/links", {}, 422, "two ports"),
        ("PUT", f"{HERE}/nodes/{RECORDED_PC1}", {"name": "x"}, 404, "doesn't exist"),
        ("GET", f"{HERE}/nodes/nope", None, 422, "valid UUID"),
        ("GET", "/v3/nothing", None, 404, "Not Found"),
        ("DELETE", "/v3/version", None, 405, "Method Not Allowed"),
        ("POST", "/v3/access/users/authenticate", {"username": "admin"}, 422, "Field required"),
        ("POST", f"{HERE}/links", {"nodes": ["x" * 70_000]}, 413, "at most 65536 bytes"),
    ],
)
async def test_refusals_are_messages(
    http: httpx.AsyncClient, method: str, path: str, body: Any, status: int, message: str
) -> None:
    answer = await http.request(method, path, json=body)
    assert answer.status_code == status
    assert answer.json().keys() == {"message"}
    assert message in answer.json()["message"]


# The lab


async def test_four_pcs_on_a_switch_are_running(http: httpx.AsyncClient) -> None:
    assert (await http.get("/v3/version")).json()["version"] == "3.0.6"
    assert [p["project_id"] for p in (await http.get("/v3/projects")).json()] == [
        EMBEDDED_PROJECT_ID
    ]
    nodes = (await http.get(f"{HERE}/nodes")).json()
    names = {node["node_id"]: node["name"] for node in nodes}
    assert sorted(names.values()) == ["PC1", "PC2", "PC3", "PC4", "SW1"]
    assert {node["status"] for node in nodes} == {"started"}
    links = (await http.get(f"{HERE}/links")).json()
    ends = [{names[end["node_id"]] for end in link["nodes"]} for link in links]
    assert ends == [{f"PC{number}", "SW1"} for number in range(1, 5)]
    assert (await http.get(f"{HERE}/stats")).json()["links"] == 4


async def test_new_nodes_get_free_names_and_the_switch_has_ports(http: httpx.AsyncClient) -> None:
    assert (await new_pc(http))["name"] == "PC5"
    switch = (await http.post(f"{HERE}/templates/{SWITCH}", json={"x": 1, "y": 1})).json()
    assert (switch["name"], switch["status"], switch["console"]) == ("Switch1", "started", None)
    assert [port["short_name"] for port in switch["ports"]] == [f"e{n}" for n in range(8)]


async def test_names_are_sanitised_unique_and_not_changed_on_a_running_node(
    http: httpx.AsyncClient,
) -> None:
    node = f"{HERE}/nodes/{(await new_pc(http))['node_id']}"

    async def rename(name: str) -> httpx.Response:
        return await http.put(node, json={"name": name})

    assert (await rename("bad name!!")).json()["name"] == "badname!!"
    assert (await rename("PC2")).json()["name"] == "badname!!"
    assert (await rename(" \r\n")).json()["name"] == "badname!!"
    await http.post(f"{node}/start", json={})
    assert (await rename("other")).status_code == 409


async def test_the_lab_is_bounded(http: httpx.AsyncClient) -> None:
    for _ in range(95):
        await http.post(f"{HERE}/templates/{SWITCH}", json={"x": 0, "y": 0})
    answer = await http.post(f"{HERE}/templates/{SWITCH}", json={"x": 0, "y": 0})
    assert answer.status_code == 409
    assert "at most 100 nodes" in answer.json()["message"]


async def test_a_closed_project_runs_nothing_and_can_be_opened(http: httpx.AsyncClient) -> None:
    pc1 = await named(http, "PC1")
    await http.post(f"{HERE}/close")
    assert (await http.get(HERE)).json()["status"] == "closed"
    refused = await http.post(f"{HERE}/nodes/{pc1['node_id']}/start", json={})
    assert (refused.status_code, refused.json()) == (403, {"message": "The project is not opened"})
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", pc1["console"])
    assert (await http.post(f"{HERE}/open")).status_code == 201
    assert (await named(http, "PC1"))["status"] == "stopped"
    assert (await named(http, "SW1"))["status"] == "started"


# Who may ask


async def test_with_require_auth_a_token_is_needed() -> None:
    async with EmbeddedLab(require_auth=True) as lab, httpx.AsyncClient(base_url=lab.url) as http:
        assert (await http.get("/v3/version")).status_code == 200
        refused = await http.get(HERE)
        assert (refused.status_code, refused.json().keys()) == (401, {"message"})
        wrong = {"username": "admin", "password": "nimda"}
        assert (await http.post("/v3/access/users/authenticate", json=wrong)).status_code == 401
        login = {"username": "admin", "password": "admin"}
        answer = (await http.post("/v3/access/users/authenticate", json=login)).json()
        assert answer["token_type"] == "bearer"
        bearer = {"Authorization": f"Bearer {answer['access_token']}"}
        assert (await http.get(HERE, headers=bearer)).status_code == 200
        bearer = {"Authorization": f"Bearer {answer['access_token']}x"}
        assert (await http.get(HERE, headers=bearer)).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://evil.example"}, {"Host": "evil.example"}, {"Host": "127.evil.example:80"}],
)
async def test_web_pages_are_kept_out(http: httpx.AsyncClient, headers: dict[str, str]) -> None:
    assert (await http.post(f"{HERE}/nodes/stop", headers=headers)).status_code == 403
    assert (await named(http, "PC1"))["status"] == "started"


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::1"])
def test_only_ipv4_loopback_is_served(host: str) -> None:
    with pytest.raises(ValueError, match=re.escape(host)):
        EmbeddedLab(host)


# Consoles, as a plain telnet client sees them


class Telnet:
    """A client that shows every byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def until(self, end: str) -> str:
        async with asyncio.timeout(5):
            return (await self.reader.readuntil(end.encode())).decode("utf-8", "replace")

    async def run(self, line: str) -> str:
        self.writer.write(line.encode() + b"\r\n")
        return (await self.until("> ")).replace("\r\n", "\n")


@asynccontextmanager
async def telnet(
    http: httpx.AsyncClient, name: str, receive_buffer: int | None = None
) -> AsyncIterator[Telnet]:
    node = await named(http, name)
    sock = socket.socket()
    sock.setblocking(False)
    if receive_buffer is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    await asyncio.get_running_loop().sock_connect(sock, (node["console_host"], node["console"]))
    client = Telnet(*await asyncio.open_connection(sock=sock))
    try:
        await client.until("> ")
        yield client
    finally:
        client.writer.close()
        with contextlib.suppress(ConnectionError):
            await client.writer.wait_closed()


async def test_a_console_begins_with_options_a_banner_and_the_prompt(
    http: httpx.AsyncClient,
) -> None:
    node = await named(http, "PC1")
    reader, writer = await asyncio.open_connection("127.0.0.1", node["console"])
    greeting = await reader.readuntil(b"PC1> ")
    assert greeting.startswith(b"\xff\xfb\x01\xff\xfb\x03\xff\xfb\x00\xff\xfd\x00")
    assert b"Welcome" in greeting
    # Answers to the options, a sub-negotiation and an escaped 0xff are no input; backspace is.
    writer.write(b"\xff\xfd\x01\xff\xfa\x1f\x00\x50\xff\xff\x00\xff\xf0verz\x7fsion\r\x00")
    seen = await reader.readuntil(b"\r\nPC1> ")
    assert seen.startswith(b"verz\x08 \x08sion\r\n\r\nVirtual PC")
    writer.close()
    await writer.wait_closed()


async def test_show_ip_has_the_layout_of_vpcs(http: httpx.AsyncClient) -> None:
    async with telnet(http, "PC3") as pc3:
        assert await pc3.run("show ip") == (
            "show ip\n\n"
            "NAME        : PC3[1]\n"
            "IP/MASK     : 10.0.0.3/24\n"
            "GATEWAY     : 0.0.0.0\n"
            "DNS         : \n"
            "MAC         : 00:50:79:66:68:02\n"
            "LPORT       : 10004\n"
            "RHOST:PORT  : 127.0.0.1:10005\n"
            "MTU         : 1500\n\n"
            "PC3> "
        )


@pytest.mark.parametrize(
    ("line", "shown", "address"),
    [
        ("ip 10.1.1.9/16 10.1.0.254", "9 255.255.0.0 gateway 10.1.0.254\n", "10.1.1.9/16"),
        ("ip 10.1.1.9", "PC1 : 10.1.1.9 255.255.255.0\n", "10.1.1.9/24"),
        ("ip 10.1.1.9 255.255.0.0", "PC1 : 10.1.1.9 255.255.0.0\n", "10.1.1.9/16"),
        ("ip 10.1.1.9 10.1.1.254", "gateway 10.1.1.254\n", "10.1.1.9/24"),
        ("ip 10.1.1.9 255.255.0.0 10.1.1.1", "gateway 10.1.1.1\n", "10.1.1.9/16"),
        ("ip 10.0.0.2/24", "10.0.0.2 is being used by MAC 00:50:79:66:68:01", "10.0.0.1/24"),
        ("ip 10.0.0.300/24", "Usage: ip", "10.0.0.1/24"),
        ("ip", "Usage: ip", "10.0.0.1/24"),
        ("ip 10.0.0.9/24 nowhere", "Usage: ip", "10.0.0.1/24"),
    ],
)
async def test_ip_sets_the_address(
    http: httpx.AsyncClient, line: str, shown: str, address: str
) -> None:
    async with telnet(http, "PC1") as pc1:
        assert shown in await pc1.run(line)
        assert f"IP/MASK     : {address}\n" in await pc1.run("show ip")


@pytest.mark.parametrize(
    ("before", "ping", "shown"),
    [
        ([], "ping 10.0.0.2", "84 bytes from 10.0.0.2 icmp_seq=5 ttl=64 time=0.5 ms\n\nPC1"),
        ([], "ping 10.0.0.2 -c 1", "84 bytes from 10.0.0.2 icmp_seq=1 ttl=64 time=0.5 ms\n\nPC1"),
        ([], "ping 10.0.0.1 -c 1", "84 bytes from 10.0.0.1 icmp_seq=1"),
        ([], "ping 10.0.0.9", "host (10.0.0.9) not reachable"),
        ([], "ping 172.16.0.1", "host (172.16.0.1) not reachable"),
        ([("PC1", "ip 10.0.0.1/24 10.0.0.77")], "ping 172.16.0.1", "host (10.0.0.77) not reach"),
        ([("PC1", "ip 10.0.0.1/24 10.0.0.2")], "ping 172.16.0.1 -c 1", "icmp_seq=1 timeout"),
        ([("PC2", "ip 10.0.0.20/24")], "ping 10.0.0.2", "host (10.0.0.2) not reachable"),
        ([("PC2", "ip 10.0.0.20/24")], "ping 10.0.0.20 -c 1", "84 bytes from 10.0.0.20"),
        ([("PC2", "ip 10.0.0.2/31")], "ping 10.0.0.2 -c 1", "10.0.0.2 icmp_seq=1 timeout"),
        ([("PC2", "stop")], "ping 10.0.0.2", "host (10.0.0.2) not reachable"),
        ([("PC2", "stop"), ("PC2", "start")], "ping 10.0.0.2 -c 1", "84 bytes from 10.0.0.2"),
        ([], "ping", "Usage: ping"),
        ([], "ping PC2", "Cannot resolve PC2\n\nPC1"),
        ([], "ping PC2 -c 1", "Cannot resolve PC2\n\nPC1"),
        ([], "ping 10.0.0.256", "Cannot resolve 10.0.0.256"),
        ([], "ping -x 10.0.0.2", "Usage: ping"),
        ([], "ping 10.0.0.2 -c none", "Usage: ping"),
        ([], "ping 10.0.0.2 10.0.0.3", "Usage: ping"),
    ],
)
async def test_ping_follows_addresses_masks_and_power(
    http: httpx.AsyncClient, before: list[tuple[str, str]], ping: str, shown: str
) -> None:
    for name, what in before:
        if what in ("start", "stop"):
            node = await named(http, name)
            await http.post(f"{HERE}/nodes/{node['node_id']}/{what}", json={})
        else:
            async with telnet(http, name) as other:
                await other.run(what)
    async with telnet(http, "PC1") as pc1:
        assert shown in await pc1.run(ping)


async def test_ping_follows_the_cables(http: httpx.AsyncClient) -> None:
    """A new PC is reached when it is linked, over a second switch, and not before."""
    pc5 = await new_pc(http)
    await http.post(f"{HERE}/nodes/{pc5['node_id']}/start", json={})
    async with telnet(http, "PC5") as console:
        await console.run("ip 10.0.0.5/24")
        assert "not reachable" in await console.run("ping 10.0.0.1")

        switch1 = await named(http, "SW1")
        switch2 = (await http.post(f"{HERE}/templates/{SWITCH}", json={"x": 0, "y": 0})).json()
        for ends in ([(pc5, 0), (switch2, 0)], [(switch2, 7), (switch1, 7)]):
            nodes = [
                {"node_id": node["node_id"], "adapter_number": 0, "port_number": port}
                for node, port in ends
            ]
            answer = await http.post(f"{HERE}/links", json={"nodes": nodes})
            assert answer.status_code == 201
        assert "84 bytes from 10.0.0.1" in await console.run("ping 10.0.0.1 -c 1")


@pytest.mark.parametrize(
    ("lines", "address"),
    [(["ip 10.0.0.50/24"], "10.0.0.1/24"), (["ip 10.0.0.50/24", "save"], "10.0.0.50/24")],
)
async def test_what_is_not_saved_is_gone_after_a_restart(
    http: httpx.AsyncClient, lines: list[str], address: str
) -> None:
    async with telnet(http, "PC1") as pc1:
        for line in lines:
            await pc1.run(line)
    node = f"{HERE}/nodes/{(await named(http, 'PC1'))['node_id']}"
    await http.post(f"{node}/stop")
    await http.post(f"{node}/start", json={})
    async with telnet(http, "PC1") as pc1:
        assert address in await pc1.run("show ip")


async def test_small_commands(http: httpx.AsyncClient) -> None:
    async with telnet(http, "PC1") as pc1:
        assert 'Bad command: "configure terminal"' in await pc1.run("configure terminal")
        assert "Virtual PC" in await pc1.run("version")
        assert "ping ADDRESS" in await pc1.run("?")
        assert "ping ADDRESS" in await pc1.run("help")
        assert await pc1.run("") == "\nPC1> "
        assert await pc1.run("ver\x15show") == (
            'ver\b \b\b \b\b \bshow\nBad command: "show". Use ? for help.\n\nPC1> '
        )


@pytest.mark.parametrize("line", ["exit", "quit", "disconnect"])
async def test_leaving_closes_one_session(http: httpx.AsyncClient, line: str) -> None:
    async with telnet(http, "PC1") as leaver, telnet(http, "PC1") as stayer:
        leaver.writer.write(line.encode() + b"\r")
        assert (await leaver.reader.read()).decode() == f"{line}\r\n"
        assert await stayer.until("> ") == f"{line}\r\nPC1> "
        assert "Virtual PC" in await stayer.run("version")


async def test_two_clients_of_one_console_read_each_other(http: httpx.AsyncClient) -> None:
    async with telnet(http, "PC1") as first, telnet(http, "PC1") as second:
        output = await first.run("show ip")
        assert (await second.until("> ")).replace("\r\n", "\n") == output


async def test_ctrl_c_ends_an_endless_ping_and_typing_ahead_waits(http: httpx.AsyncClient) -> None:
    async with telnet(http, "PC1") as pc1:
        pc1.writer.write(b"ping 10.0.0.2 -t\r")
        await pc1.until("icmp_seq=7 ")
        pc1.writer.write(b"\x03")
        assert (await pc1.until("PC1> ")).endswith("^C\r\nPC1> ")
        pc1.writer.write(b"ping 10.0.0.2 -c 2\rversion\r")
        assert "version" not in await pc1.until("PC1> ")
        assert "Virtual PC" in await pc1.until("PC1> ")


async def test_a_stopped_node_refuses_and_stopping_closes_consoles(
    http: httpx.AsyncClient,
) -> None:
    node = await named(http, "PC1")
    async with telnet(http, "PC1") as pc1:
        pc1.writer.write(b"ping 10.0.0.2 -t\r")
        await pc1.until("icmp_seq=2 ")
        assert (await http.post(f"{HERE}/nodes/{node['node_id']}/stop")).status_code == 204
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await pc1.until("never")
    assert (await named(http, "PC1"))["status"] == "stopped"
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", node["console"])
    await http.post(f"{HERE}/nodes/{node['node_id']}/start", json={})
    async with telnet(http, "PC1"):
        assert await named(http, "PC1") == {**node, "status": "started"}  # on the same port


async def test_a_client_that_does_not_read_is_dropped_and_the_others_go_on(
    http: httpx.AsyncClient,
) -> None:
    async with telnet(http, "PC1", receive_buffer=4096) as idle, telnet(http, "PC1") as pc1:
        idle.writer.transport.pause_reading()
        for _ in range(10):  # 1 MB of help each, more than the system keeps for an idle reader
            pc1.writer.write(b"?\r" * 2000)
            for _ in range(2000):
                await pc1.until("> ")
        idle.writer.transport.resume_reading()
        with contextlib.suppress(ConnectionError):
            assert len(await idle.reader.read(-1)) < 8_000_000
        assert "Virtual PC" in await pc1.run("version")


# Starting and stopping the whole


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="counts open files in /proc")
async def test_a_clean_shutdown_leaves_nothing() -> None:
    tasks, files = asyncio.all_tasks(), open_files()
    async with EmbeddedLab(ping_interval=0.01) as lab, httpx.AsyncClient(base_url=lab.url) as http:
        port = (await named(http, "PC1"))["console"]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"ping 10.0.0.2 -t\r")
        await reader.readuntil(b"icmp_seq=2 ")
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
    assert asyncio.all_tasks() == tasks
    assert open_files() == files
    for closed in (port, int(lab.url.rpartition(":")[2])):
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", closed)


async def test_a_taken_port_is_an_error_that_leaves_nothing(lab: EmbeddedLab) -> None:
    port = int(lab.url.rpartition(":")[2])
    before = asyncio.all_tasks()
    with pytest.raises(OSError, match="in use"):
        async with EmbeddedLab(port=port):
            pass
    assert asyncio.all_tasks() == before


async def test_as_a_program() -> None:
    program = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "copilot_adapters.embedded_lab", "--port", "0"),
        stdout=asyncio.subprocess.PIPE,
    )
    assert program.stdout is not None
    url = (await program.stdout.readline()).decode().strip()
    async with httpx.AsyncClient() as http:
        assert (await http.get(url)).json()["name"] == "Embedded lab"
    program.send_signal(signal.SIGTERM)
    assert await program.wait() == 0


async def test_a_taken_port_is_wrong_usage(lab: EmbeddedLab) -> None:
    port = lab.url.rpartition(":")[2]
    program = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "copilot_adapters.embedded_lab", "--port", port),
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await program.communicate()
    assert program.returncode == 2
    assert f"port {port} can't be used" in said.decode()
    assert "Traceback" not in said.decode()


# By the client that reaches a real server


async def test_the_client_builds_runs_and_stops_a_pc(lab: EmbeddedLab) -> None:
    client = Gns3Lab(lab.url)
    project_id = lab.project_id
    project = await client.project(project_id)
    assert project is not None
    assert (project.name, project.status) == ("Embedded lab", "opened")
    switch = next(n for n in await client.nodes(project_id) if n["name"] == "SW1")

    pc = await client.create_node(project_id, VPCS, 10, 20, name="My PC")
    assert (pc["name"], pc["status"], pc["x"], pc["y"]) == ("MyPC", "stopped", 10, 20)
    await client.create_link(project_id, ((pc["node_id"], 0, 0), (switch["node_id"], 0, 4)))
    await client.start_node(project_id, pc["node_id"])
    assert (await client.node(project_id, pc["node_id"]))["status"] == "started"
    commands = ["ip 10.0.0.5/24", "ping 10.0.0.4 -c 1"]
    outputs = await client.console(pc["console_host"], pc["console"], commands, timeout=5)
    assert outputs == [
        ConsoleOutput(
            "ip 10.0.0.5/24",
            "Checking for duplicate address...\nMyPC : 10.0.0.5 255.255.255.0",
        ),
        ConsoleOutput("ping 10.0.0.4 -c 1", "84 bytes from 10.0.0.4 icmp_seq=1 ttl=64 time=0.5 ms"),
    ]
    await client.stop_node(project_id, pc["node_id"])
    assert (await client.node(project_id, pc["node_id"]))["status"] == "stopped"
    with pytest.raises(LabError, match="is the node started"):
        await client.console(pc["console_host"], pc["console"], ["show ip"], timeout=5)
    await client.close()
