"""The REST side of the GNS3 client, against recorded answers served over real HTTP."""

from __future__ import annotations

import asyncio
import json
import logging
import zlib
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import uvicorn
from starlette.responses import JSONResponse, Response, StreamingResponse

from copilot_adapters.embedded_lab import EmbeddedLab
from copilot_adapters.gns3 import Gns3Lab
from copilot_core.ports import LabError, LabProject

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

RECORDINGS = Path(__file__).parent / "gns3-rest"
PROJECT = "a0f93d3c-646c-4960-9777-6dbd68b055d1"
UNKNOWN = "00000000-0000-0000-0000-000000000000"
PC1 = "3e512dc7-fcff-4a26-b5ef-88c1244583e3"
PC2 = "e70d0037-6430-4334-8a52-29695c4002f4"
RENAMED = "d062d29f-8a1f-4b4b-8a6e-c0b1deb56bd9"
VPCS = "52136454-1f50-590a-94e4-816bd02d1062"
SWITCH = "92a43283-9c7e-5a68-9695-1f05a2e8dd05"


def recording(name: str) -> dict[str, Any]:
    return json.loads((RECORDINGS / f"{name}.json").read_text())


class Recorded:
    """Answers recorded exchanges in their order, and keeps what was asked."""

    def __init__(self, *exchanges: dict[str, Any]) -> None:
        self._exchanges = list(exchanges)
        self.asked: list[tuple[str, str, Any]] = []
        self.headers: list[dict[str, str]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        path = scope["raw_path"].decode()
        self.asked.append((scope["method"], path, json.loads(body) if body else None))
        self.headers.append({k.decode(): v.decode() for k, v in scope["headers"]})
        exchange = self._exchanges.pop(0)
        answer = exchange["response"]
        response = (
            Response(status_code=exchange["status"])
            if answer is None
            else JSONResponse(answer, exchange["status"])
        )
        await response(scope, receive, send)


@asynccontextmanager
async def serving(app: ASGIApp) -> AsyncIterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, port=0, lifespan="off", ws="none", log_config=None))
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.001)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


@asynccontextmanager
async def asking(app: ASGIApp, **options: Any) -> AsyncIterator[Gns3Lab]:
    async with serving(app) as url:
        lab = Gns3Lab(url, **options)
        try:
            yield lab
        finally:
            await lab.close()


ENDS = ((PC1, 0, 0), (PC2, 0, 0))
NEW_VPCS = lambda lab: lab.create_node(PROJECT, VPCS, 1, 1)  # noqa: E731 - used as a table cell


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("templates", lambda lab: lab.templates()),
        ("nodes_list", lambda lab: lab.nodes(PROJECT)),
        ("nodes_list_started", lambda lab: lab.nodes(PROJECT)),
        ("nodes_list_closed_project", lambda lab: lab.nodes(PROJECT)),
        ("node_get", lambda lab: lab.node(PROJECT, PC1)),
        ("links_list", lambda lab: lab.links(PROJECT)),
        ("link_create", lambda lab: lab.create_link(PROJECT, ENDS)),
        ("node_from_template_vpcs", lambda lab: lab.create_node(PROJECT, VPCS, -100, 0)),
        ("node_start_ok", lambda lab: lab.start_node(PROJECT, PC1)),
        ("node_start_already", lambda lab: lab.start_node(PROJECT, PC1)),
    ],
)
async def test_what_was_recorded_is_sent_and_read(
    name: str, call: Callable[[Gns3Lab], Awaitable[Any]]
) -> None:
    exchange = recording(name)
    server = Recorded(exchange)
    async with asking(server) as lab:
        assert await call(lab) == exchange["response"]
    assert server.asked == [(exchange["method"], exchange["path"], exchange["request"])]


@pytest.mark.parametrize(
    ("name", "call", "message"),
    [
        ("node_404", lambda lab: lab.node(PROJECT, UNKNOWN), f"Node ID {UNKNOWN} doesn't exist"),
        (
            "template_404",
            lambda lab: lab.create_node(PROJECT, UNKNOWN, 1, 1),
            f"Template '{UNKNOWN}' not found",
        ),
        ("create_node_closed_project", NEW_VPCS, "The project is not opened"),
        (
            "node_from_template_switch",
            lambda lab: lab.create_node(PROJECT, SWITCH, 0, 100),
            "Could not find Dynamips",
        ),
        (
            "link_create_in_use_error",
            lambda lab: lab.create_link(PROJECT, ENDS),
            "Port is already used",
        ),
        (
            "link_bad_port_error",
            lambda lab: lab.create_link(PROJECT, ((PC1, 7, 9), (PC2, 0, 0))),
            "Port 7/9 for PC1 not found",
        ),
        (
            "student_start_node",
            lambda lab: lab.start_node(PROJECT, PC1),
            "Permission denied (privilege Node.PowerMgmt is required)",
        ),
    ],
)
async def test_a_recorded_refusal_is_a_lab_error_with_its_reason(
    name: str, call: Callable[[Gns3Lab], Awaitable[Any]], message: str
) -> None:
    exchange = recording(name)
    server = Recorded(exchange)
    async with asking(server) as lab:
        with pytest.raises(LabError) as refused:
            await call(lab)
    assert server.asked == [(exchange["method"], exchange["path"], exchange["request"])]
    assert refused.value.status == exchange["status"]
    assert refused.value.message == f"The lab answered {exchange['status']}: {message}"


async def test_a_project_is_read() -> None:
    async with asking(Recorded(recording("project_get"))) as lab:
        assert await lab.project(PROJECT) == LabProject(PROJECT, "lab1", "opened", "/opt/gns3/data")


@pytest.mark.parametrize(
    ("name", "project_id"), [("project_404", UNKNOWN), ("project_bad_uuid", "notauuid")]
)
async def test_an_unknown_project_is_none(name: str, project_id: str) -> None:
    async with asking(Recorded(recording(name))) as lab:
        assert await lab.project(project_id) is None


async def test_a_project_without_permission_is_none_but_a_refused_token_is_an_error() -> None:
    refusals = [
        {"status": 403, "response": {"message": "Permission denied"}},
        {"status": 401, "response": {"message": "Could not validate credentials"}},
    ]
    async with asking(Recorded(*refusals)) as lab:
        assert await lab.project(PROJECT) is None
        with pytest.raises(LabError) as refused:
            await lab.project(PROJECT)
    assert refused.value.status == 401


@pytest.mark.parametrize(
    ("name", "asked", "got"),
    [
        ("node_update_badname", "bad name!!", "badname!!"),
        ("node_update_dupname", "PC2", "PC1"),
    ],
)
async def test_a_new_node_has_the_name_that_came_back(name: str, asked: str, got: str) -> None:
    created = json.loads(json.dumps(recording("node_from_template_vpcs")).replace(PC1, RENAMED))
    update = recording(name)
    server = Recorded(created, update)
    async with asking(server) as lab:
        node = await lab.create_node(PROJECT, VPCS, -100, 0, name=asked)
    assert server.asked[1] == (update["method"], update["path"], update["request"])
    assert node["name"] == got


async def test_a_refused_name_leaves_the_node_with_its_own() -> None:
    refusal = {"status": 409, "response": {"message": "must be stopped"}}
    async with asking(Recorded(recording("node_from_template_vpcs"), refusal)) as lab:
        assert (await lab.create_node(PROJECT, VPCS, -100, 0, name="R1"))["name"] == "PC1"


async def test_the_shapes_of_3_1_are_read() -> None:
    """A start answers 200 and the node; an error carries a code."""
    started = {"status": 200, "response": recording("node_get")["response"]}
    refusal = {"status": 409, "response": {"message": "Port is already used", "code": "conflict"}}
    async with asking(Recorded(started, refusal)) as lab:
        await lab.start_node(PROJECT, PC1)
        with pytest.raises(LabError, match=r"^The lab answered 409: Port is already used$"):
            await lab.create_link(PROJECT, ENDS)


# Messages are safe to show


@pytest.mark.parametrize("name", ["node_start_nobody", "template_missing_y"])
async def test_tracebacks_and_paths_stay_out_of_messages(name: str) -> None:
    assert 'File "/opt' in recording(name)["response"]["message"]
    async with asking(Recorded(recording(name))) as lab:
        with pytest.raises(LabError) as refused:
            await lab.start_node(PROJECT, PC1)
    assert "Field required" in refused.value.message
    for leak in ("File", "/opt", "line ", "/v3/", "\n"):
        assert leak not in refused.value.message


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("Cannot read /opt/gns3/images/x.bin: gone", "Cannot read [path] gone"),
        ("Cannot read 'C:\\GNS3\\x.bin'", "Cannot read '[path]'"),
        ("Cannot reach 10.0.0.1/24 on 7/9", "Cannot reach 10.0.0.1/24 on 7/9"),
        ("Oops\nTraceback (most recent call last):\n  File x", "Oops"),
        ("\x1b[31mred\x00", "[31mred"),
        ("x" * 1000, "x" * 300 + "…"),
        ("y" * 299 + "S3CRET" * 100, "y" * 299 + "[…"),
        ("S3CRET is no token", "[token] is no token"),
    ],
)
async def test_messages_are_one_short_clean_line(message: str, shown: str) -> None:
    refusal = {"status": 409, "response": {"message": message}}
    async with asking(Recorded(refusal), token="S3CRET") as lab:
        with pytest.raises(LabError) as refused:
            await lab.start_node(PROJECT, PC1)
    assert refused.value.message == f"The lab answered 409: {shown}"


@pytest.mark.parametrize("body", [b"<html>/opt/secret</html>", b"", b'["x"]', b'{"message": 1}'])
async def test_an_error_without_a_message_shows_its_status_only(body: bytes) -> None:
    async with asking(Response(body, 502)) as lab:
        with pytest.raises(LabError) as refused:
            await lab.nodes(PROJECT)
    assert refused.value.message == "The lab answered 502."


# The token


async def test_the_token_is_asked_for_each_call_and_shown_nowhere(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    tokens = iter(["first-s3cret", "second-s3cret", None])
    echo = {"status": 403, "response": {"message": "bad token second-s3cret"}}
    empty = {"status": 200, "response": []}
    server = Recorded(empty, echo, empty)
    async with asking(server, token=lambda: next(tokens)) as lab:
        await lab.nodes(PROJECT)
        with pytest.raises(LabError) as refused:
            await lab.nodes(PROJECT)
        await lab.nodes(PROJECT)
    assert [headers.get("authorization") for headers in server.headers] == [
        "Bearer first-s3cret",
        "Bearer second-s3cret",
        None,
    ]
    assert "s3cret" not in caplog.text + str(refused.value) + repr(refused.value)


@pytest.mark.parametrize("token", ["s3cret\r\nX-Evil: 1", "s3cret x", "s3crét", ""])
async def test_a_token_that_no_header_can_carry_is_refused(token: str) -> None:
    lab = Gns3Lab("http://127.0.0.1:1", token)
    with pytest.raises(LabError) as refused:
        await lab.templates()
    assert "s3cr" not in str(refused.value)
    await lab.close()


async def test_with_a_token_a_lab_that_asks_for_one_opens() -> None:
    token: str | None = None
    async with EmbeddedLab(require_auth=True) as embedded:
        lab = Gns3Lab(embedded.url, lambda: token)
        with pytest.raises(LabError) as refused:
            await lab.project(embedded.project_id)
        assert refused.value.status == 401
        async with httpx.AsyncClient(base_url=embedded.url) as http:
            login = {"username": "admin", "password": "admin"}
            answer = await http.post("/v3/access/users/authenticate", json=login)
        token = answer.json()["access_token"]
        assert await lab.project(embedded.project_id) is not None
        await lab.close()


@pytest.mark.parametrize(
    "url",
    ["http://admin:admin@127.0.0.1:3080", "ftp://127.0.0.1", "127.0.0.1:3080", "file:///etc", ""],
)
def test_an_address_is_plain_http(url: str) -> None:
    with pytest.raises(ValueError, match="A GNS3 server's address"):
        Gns3Lab(url)


# Nothing reaches another path, another server, or grows without bound


@pytest.mark.parametrize(
    "bad", ["../x", "a/b", "%2e%2e", "..", ".", "", "x?y=1", "x#y", "x\n", "é", "x" * 65]
)
async def test_an_id_cannot_reach_another_path(bad: str) -> None:
    server = Recorded()
    async with asking(server) as lab:
        assert await lab.project(bad) is None
        for call in (
            lab.nodes(bad),
            lab.node(PROJECT, bad),
            lab.start_node(PROJECT, bad),
            lab.stop_node(bad, PC1),
            lab.create_node(PROJECT, bad, 0, 0),
            lab.create_link(bad, ENDS),
        ):
            with pytest.raises(LabError, match="isn't an id"):
                await call
    assert server.asked == []


async def test_a_base_path_is_kept() -> None:
    server = Recorded({"status": 200, "response": []})
    async with serving(server) as url:
        lab = Gns3Lab(f"{url}/behind/")
        await lab.templates()
        await lab.close()
    assert server.asked == [("GET", "/behind/v3/templates", None)]


async def test_redirects_are_not_followed() -> None:
    other = Recorded()
    async with serving(other) as elsewhere:
        redirect = Response(status_code=307, headers={"Location": f"{elsewhere}/v3/templates"})
        async with asking(redirect, token="s3cret") as lab:
            with pytest.raises(LabError, match="answered 307, a redirect"):
                await lab.templates()
    assert other.asked == []


async def test_a_large_answer_is_cut_off() -> None:
    sent = 0

    async def large() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(1000):
            sent += 65536
            yield b" " * 65536
            await asyncio.sleep(0)

    async with asking(StreamingResponse(large()), max_bytes=100_000) as lab:
        with pytest.raises(LabError, match="larger than 100000 bytes"):
            await lab.nodes(PROJECT)
        assert sent < 20_000_000


async def test_a_compressed_answer_is_refused() -> None:
    bomb = zlib.compress(b"0" * 10_000_000)
    async with asking(Response(bomb, headers={"Content-Encoding": "deflate"})) as lab:
        with pytest.raises(LabError, match="compressed"):
            await lab.nodes(PROJECT)


async def test_a_slow_answer_ends_at_the_timeout_however_steadily_it_drips() -> None:
    async def dripping() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.05)

    async with asking(StreamingResponse(dripping()), timeout=0.4) as lab:
        async with asyncio.timeout(3):
            with pytest.raises(LabError, match=r"gave no answer in 0\.4 s"):
                await lab.nodes(PROJECT)


async def test_a_server_that_is_not_there_is_an_error() -> None:
    async with serving(Recorded()) as url:
        pass
    lab = Gns3Lab(url)
    with pytest.raises(LabError) as refused:
        await lab.nodes(PROJECT)
    assert refused.value.message == f"The lab server at {url} can't be reached (ConnectError)."
    assert refused.value.status is None
    await lab.close()


async def test_a_cut_connection_is_an_error() -> None:
    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[")
        writer.close()

    async with await asyncio.start_server(cut, "127.0.0.1", 0) as server:
        lab = Gns3Lab(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        with pytest.raises(LabError, match=r"can't be reached \(RemoteProtocolError\)"):
            await lab.nodes(PROJECT)
        await lab.close()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>", "isn't JSON"),
        (b"{}", "isn't the list of objects"),
        (b"[1]", "isn't the list of objects"),
        (b"", "isn't the list of objects"),
        (b"[NaN]", "isn't JSON"),
        (b"[" * 100_000, "isn't JSON"),
    ],
)
async def test_an_answer_of_another_kind_is_an_error(body: bytes, message: str) -> None:
    async with asking(Response(body)) as lab:
        with pytest.raises(LabError, match=message):
            await lab.nodes(PROJECT)


async def test_a_project_without_a_status_is_an_error() -> None:
    async with asking(JSONResponse({"project_id": PROJECT, "name": "x"})) as lab:
        with pytest.raises(LabError, match="no text in 'status'"):
            await lab.project(PROJECT)
