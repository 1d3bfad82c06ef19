"""A surface's MCP tools through the protocol's SDK: checked before they run, and after.

Some tests are named as in the list of faults that others had: B54 to B60, of MCP.
"""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolRequestParams, CallToolResult

from copilot_adapters.mcp import mcp_server
from copilot_adapters.mcp.server import Function
from copilot_contracts import Gate, Registry
from copilot_contracts.strategies import contract_instances, contract_mutants, json_values
from copilot_core.tools.workspace.folders import Folders
from copilot_core.tools.workspace.functions import workspace_functions
from mcp_tools import own_surface, text, told
from story_surface import TEXT, obj

CHATBOT = Registry.bundled().surface("chatbot")
INTEGER = {"type": "integer"}
COUNTED = obj(n=INTEGER)
COUNTED_OR_NOT = {"type": "object", "anyOf": [COUNTED, obj(error=TEXT)]}


def returning(result: Any) -> Function:
    async def function(arguments: dict[str, Any]) -> Any:
        return result

    return function


def raising(error: BaseException) -> Function:
    async def function(arguments: dict[str, Any]) -> Any:
        raise error

    return function


async def called(folder: Path, returns: Any, function: Function, **how: Any) -> CallToolResult:
    """What a client gets from the tool `count`."""
    server = mcp_server(own_surface(folder, {"count": returns}), {"count": function}, Gate(), **how)
    async with Client(server) as client:
        return await client.call_tool("count", {})


# -- the tools of the chatbot surface ------------------------------------------------------


async def test_the_tools_are_those_of_the_surface_with_its_contracts(tmp_path: Path) -> None:
    server = mcp_server(CHATBOT, workspace_functions(Folders([tmp_path])), Gate())
    async with Client(server) as client:
        assert client.server_info.name == "chatbot"
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == list(CHATBOT.catalogue.mcp)
        for tool in tools:
            assert tool.input_schema == CHATBOT.contract("mcp_arguments", tool.name).bundled()
            assert tool.output_schema == CHATBOT.contract("mcp_return", tool.name).bundled()
            assert tool.description == CHATBOT.catalogue.mcp[tool.name].description
        assert told(await client.call_tool("calculate", {"expression": "6*7"}))["result"] == 42
        assert "error" in told(await client.call_tool("calculate", {"expression": "6*"}))


async def test_defaults_are_what_the_contracts_say() -> None:
    functions = workspace_functions(Folders([]))
    for name in CHATBOT.catalogue.mcp:
        properties = CHATBOT.contract("mcp_arguments", name).schema["properties"]
        defaults = {key: part["default"] for key, part in properties.items() if "default" in part}
        minimal = {"query": "", "file_path": "x", "expression": "1"}
        given = {key: minimal[key] for key in properties if key not in defaults}
        unknown = {"folders": 1, "self": 2, "unknown": 3}
        assert await functions[name](given | unknown) == await functions[name](given | defaults)


PATHS = st.sampled_from(
    ["..", "../secret.log", "/dev/zero", "out", "out.log", "zero", "a\0b", "\ud800", "", "a.log"]
)
EXPRESSIONS = st.sampled_from(["9**9**9", "(-1)**.5", "1e999", "__import__('os')", "\ud800"])
HOSTILE = st.dictionaries(
    st.sampled_from(["query", "file_type", "file_path", "directory", "service", "level"]),
    PATHS | st.text(max_size=300),
) | st.fixed_dictionaries({"expression": EXPRESSIONS | st.text(max_size=1100)})


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Function]:
    root = tmp_path_factory.mktemp("root")
    (root.parent / "secret.log").write_text("SECRET error")
    (root / "out").symlink_to("../secret.log")
    (root / "out.log").symlink_to("../secret.log")
    (root / "zero").symlink_to("/dev/zero")
    (root / "services").mkdir()
    (root / "a.log").write_text("error\n")
    (root / "b\udcff\n.md").write_text("x")
    return dict(workspace_functions(Folders([root])))


@pytest.mark.parametrize("name", CHATBOT.catalogue.mcp)
@given(st.data())
def test_whatever_is_asked_the_answer_keeps_its_contract(
    functions: dict[str, Function], name: str, data: st.DataObject
) -> None:
    contract = CHATBOT.contract("mcp_arguments", name)
    asked = data.draw(
        contract_instances(contract)
        | contract_mutants(contract).filter(lambda value: isinstance(value, dict))
        | HOSTILE
        | st.dictionaries(st.text(max_size=9), json_values(), max_size=3)
    )
    server = mcp_server(CHATBOT, functions, Gate("off"))
    entry = server.get_request_handler("tools/call")
    assert entry is not None
    params = CallToolRequestParams(name=name, arguments=asked)
    result: Any = asyncio.run(entry.handler(None, params))  # type: ignore[arg-type]  # not asked
    result.model_dump_json(by_alias=True)
    if result.structured_content is None:
        assert result.is_error is True
        assert text(result).startswith("The arguments don't fit: ")
    else:
        assert CHATBOT.contract("mcp_return", name).violation(told(result)) is None
    assert "SECRET" not in text(result)


# -- faults that others had ----------------------------------------------------------------


async def test_b54_mcp_a_tool_with_an_output_schema_reports_an_error(tmp_path: Path) -> None:
    """modelcontextprotocol/typescript-sdk#654: the missing structured content came first."""
    # An error shape of its own: the text and the structure.
    result = await called(tmp_path, COUNTED_OR_NOT, returning({"error": "No n."}))
    assert told(result) == {"error": "No n."}
    # None: the text alone, and the client doesn't miss the rest.
    result = await called(tmp_path, COUNTED, raising(RuntimeError("secret")))
    assert (result.is_error, result.structured_content) == (True, None)
    assert text(result) == "count failed (RuntimeError)."


@pytest.mark.parametrize(
    ("result", "pointer"),
    [
        ({"wrong": "shape"}, "at the root"),
        ({"n": "1"}, "/n"),
        ({"n": 1, "more": 2}, '(undeclared: "more")'),
        ({"n": float("nan")}, "/n"),
        ({"n": 2**70}, "/n"),
        ({"n": Path("/etc")}, "/n"),
        ([{"n": 1}], "at the root"),
        (None, "at the root"),
        ("text", "at the root"),
    ],
    ids=str,
)
@pytest.mark.parametrize("policy", ["enforce", "report", "off"])
async def test_b56_mcp_a_wrong_shape_is_an_error_naming_tool_and_place(
    tmp_path: Path, policy: Any, result: Any, pointer: str
) -> None:
    """PrefectHQ/fastmcp#5030: it came back as a success with text only."""
    for returns in (COUNTED, COUNTED_OR_NOT):
        surface = own_surface(tmp_path, {"count": returns})
        gate = Gate(policy)
        async with Client(mcp_server(surface, {"count": returning(result)}, gate)) as client:
            got = await client.call_tool("count", {})
        assert got.is_error is True
        error = text(got) if returns is COUNTED else told(got)["error"]
        assert error.startswith("The result broke its contract: own mcp_return count ")
        assert pointer in error
        assert sum(gate.counts.values()) == 1


async def test_b59_mcp_a_gateway_passes_text_and_structure_through(tmp_path: Path) -> None:
    """IBM/mcp-context-forge#4042: structured content was lost on the way."""
    origin = mcp_server(CHATBOT, workspace_functions(Folders([tmp_path])), Gate())
    (tmp_path / "folder").mkdir()  # its size is null

    async with Client(origin) as behind:

        def forwarded(name: str) -> Function:
            async def function(arguments: dict[str, Any]) -> Any:
                return (await behind.call_tool(name, arguments)).structured_content

            return function

        gateway = mcp_server(
            CHATBOT, {name: forwarded(name) for name in CHATBOT.catalogue.mcp}, Gate()
        )
        async with Client(gateway) as client:
            for name, arguments in {
                "list_directory": {},
                "calculate": {"expression": "(-1) ** .5"},
                "read_file_content": {"file_path": "nothing"},
            }.items():
                direct = await behind.call_tool(name, arguments)
                through = await client.call_tool(name, arguments)
                assert told(through) == told(direct)
                assert text(through) == text(direct)


async def test_b60_mcp_a_result_is_checked_as_it_leaves(tmp_path: Path) -> None:
    """nowireless4u/hpe-networking-mcp#545: middleware wrapped what had been wrapped already."""
    rows = [{"n": 1}, {"n": 2}]

    def enveloped(function: Function) -> Function:
        async def wrapped(arguments: dict[str, Any]) -> Any:
            return {"ok": True, "data": await function(arguments)}

        return wrapped

    listed = obj(result={"type": "array", "items": COUNTED})
    # Nothing wraps a list for a tool: its contract says what it returns.
    assert told(await called(tmp_path, listed, returning({"result": rows}))) == {"result": rows}
    bare = await called(tmp_path, listed, returning(rows))
    assert text(bare).startswith("The result broke its contract: own mcp_return count at the root")
    # An envelope that the contract doesn't have is seen; one that it has is what is published.
    wrong = await called(tmp_path, listed, enveloped(returning({"result": rows})))
    assert wrong.is_error is True
    envelope = obj(ok={"type": "boolean"}, data=listed)
    right = await called(tmp_path, envelope, enveloped(returning({"result": rows})))
    assert told(right) == {"ok": True, "data": {"result": rows}}


# -- calls that go wrong -------------------------------------------------------------------


async def test_wrong_arguments_dont_reach_the_tool(tmp_path: Path) -> None:
    ran = []

    async def count(arguments: dict[str, Any]) -> Any:
        ran.append(arguments)
        return {"n": arguments["n"]}

    surface = own_surface(tmp_path, {"count": COUNTED_OR_NOT}, {"count": obj(n=INTEGER)})
    async with Client(mcp_server(surface, {"count": count}, Gate())) as client:
        error = told(await client.call_tool("count", {"n": "secret"}))["error"]
        assert error.startswith("The arguments don't fit: own mcp_arguments count at /n: ")
        assert "secret" not in error
        assert ran == []
        assert told(await client.call_tool("count", {"n": 1})) == {"n": 1}


async def test_an_error_shape_that_repeats_the_arguments(tmp_path: Path) -> None:
    server = mcp_server(CHATBOT, workspace_functions(Folders([tmp_path])), Gate())
    async with Client(server) as client:
        long = told(await client.call_tool("calculate", {"expression": "1" * 1001}))
        assert long["expression"] == "1" * 1001
        result = await client.call_tool("calculate", {"expression": 1})
        assert (result.is_error, result.structured_content) == (True, None)


async def test_an_unknown_tool_is_an_error_of_the_protocol(tmp_path: Path) -> None:
    server = mcp_server(CHATBOT, workspace_functions(Folders([tmp_path])), Gate())
    async with Client(server) as client:
        with pytest.raises(MCPError, match=r"^Unknown tool: x{80}\. There are: calculate, "):
            await client.call_tool("x" * 100, {})


@pytest.mark.parametrize(
    "error", [RuntimeError("secret"), TimeoutError("secret"), SystemExit("secret")], ids=repr
)
async def test_what_a_tool_raises_is_told_without_its_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    result = await called(tmp_path, COUNTED_OR_NOT, raising(error))
    assert told(result) == {"error": f"count failed ({type(error).__name__})."}
    assert "in function" in caplog.text
    assert "secret" not in "".join(record.getMessage() for record in caplog.records)


async def test_a_tool_that_hangs(tmp_path: Path) -> None:
    async def hang(arguments: dict[str, Any]) -> Any:
        await asyncio.Event().wait()

    result = await called(tmp_path, COUNTED_OR_NOT, hang, timeout=0.05)
    assert told(result) == {"error": "It did not answer within 0.05 seconds."}


async def test_a_call_that_is_cancelled_stops(tmp_path: Path) -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def hang(arguments: dict[str, Any]) -> Any:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    surface = own_surface(tmp_path, {"count": COUNTED})
    async with Client(mcp_server(surface, {"count": hang}, Gate())) as client:
        call = asyncio.create_task(client.call_tool("count", {}))
        await began.wait()
        call.cancel()
        await asyncio.wait_for(ended.wait(), 5)
        with pytest.raises(asyncio.CancelledError):
            await call


def test_each_tool_has_one_function(tmp_path: Path) -> None:
    surface = own_surface(tmp_path, {"count": COUNTED})
    with pytest.raises(
        ValueError, match=r"^own: these have no tool, or no function: count, other\.$"
    ):
        mcp_server(surface, {"other": returning(1)}, Gate())


async def test_violations_are_logged_without_values(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        await called(tmp_path, COUNTED, returning({"n": "secret"}))
    assert "own mcp_return count at /n" in caplog.text
    assert "secret" not in caplog.text
