"""The chatbot surface beside the document that it was written from, row by row."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import chatbot_document as document
from copilot_contracts import Contract, Gate, Registry, StreamContract
from copilot_contracts.profile import branches

CHATBOT = Registry.bundled().surface("chatbot")
CATALOGUE = CHATBOT.catalogue
ROUTES = {(route.method, route.path): name for name, route in CATALOGUE.routes.items()}
JSON_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}

#: What the surface may answer beside a row's statuses: on every route, and on some.
EVERYWHERE = {400, 401, 403, 413, 500, 503}
ADDED = {
    "stream_chat": {404, 409, 410},
    "chat": {404, 409},
    "delete_conversation": {404},
    "archive_conversation": {404},
}


def compare(root: Mapping[str, Any], schema: Any, shape: Any, at: str = "") -> Iterator[str]:
    """What of a shape the schema doesn't say, or says differently."""
    there = branches(root, schema)
    if isinstance(shape, str):
        wanted = {JSON_TYPES.get(name, name) for name in shape.split("|")}
        found = {type_ for branch in there for type_ in branch["types"]}
        if found != wanted:
            yield f"{at}: {sorted(found)}, not {sorted(wanted)}"
        return
    if len(there) != 1:
        yield f"{at}: a union"
        return
    (branch,) = there
    if isinstance(shape, list):
        if branch["types"] != ("array",):
            yield f"{at}: {list(branch['types'])}, not an array"
            return
        yield from compare(root, branch["items"], shape[0], f"{at}/*")
        return
    if branch["types"] != ("object",):
        yield f"{at}: {list(branch['types'])}, not an object"
        return
    if branch.get("additionalProperties") is not False:
        yield f"{at}: not closed"
    properties = branch["properties"]
    keys = {key.rstrip("?"): not key.endswith("?") for key in shape}
    for key, inner in shape.items():
        name = key.rstrip("?")
        if name not in properties:
            yield f"{at}/{name}: absent"
            continue
        if (name in branch["required"]) is not keys[name]:
            yield f"{at}/{name}: required in one of the two only"
        yield from compare(root, properties[name], inner, f"{at}/{name}")
    for name, schema in properties.items():
        additive = schema.get("x-additive", False)
        if additive is (name in keys):
            yield f"{at}/{name}: {'in' if additive else 'not in'} the document, x-additive wrong"
        if additive and name in branch["required"]:
            yield f"{at}/{name}: additive, and required"


def differences(contract: Contract, shapes: list[Any]) -> list[str]:
    """How a contract differs from the shapes, each of which is one branch of it."""
    root = contract.bundled()
    there = branches(root, root)
    if len(there) != len(shapes):
        return [f"{len(there)} branches, not {len(shapes)}"]
    return [
        text
        for branch, shape in zip(there, shapes, strict=True)
        for text in compare(root, branch, shape)
    ]


# Events


def test_the_events_are_the_documents() -> None:
    assert list(CATALOGUE.events) == list(document.EVENTS)
    assert not any(event.additive for event in CATALOGUE.events.values())


@pytest.mark.parametrize("name", document.EVENTS)
def test_an_event(name: str) -> None:
    shape = document.EVENTS[name]
    if shape is None:
        assert CATALOGUE.events[name].status == "placeholder"
        assert CATALOGUE.events[name].schema is None
        return
    assert CATALOGUE.events[name].status == "active"
    assert differences(CHATBOT.contract("event", name), [shape]) == []


def test_what_is_additive_in_events() -> None:
    """The emitter attaches the request's id everywhere; the rest is declared once, here."""
    additive = {
        name: {
            key
            for key, schema in CHATBOT.contract("event", name).schema["properties"].items()
            if schema.get("x-additive")
        }
        for name, shape in document.EVENTS.items()
        if shape is not None
    }
    expected: dict[str, set[str]] = {name: {"request_id"} for name in additive}
    expected["metadata"] |= {"conversation_id"}
    expected["complete"] = expected["error"] = set()
    assert additive == expected


def test_values_that_the_document_names() -> None:
    modes = CHATBOT.contract("model", "ThinkingMode").schema["enum"]
    assert modes == document.THINKING_MODES
    metadata = CHATBOT.contract("event", "metadata").bundled()["properties"]
    assert metadata["stream_contract_version"]["const"] == "v2"
    assert metadata["streaming"]["const"] is True
    assert {"flask", "starlette"} <= set(metadata["stream_backend"]["examples"])
    assert StreamContract(CHATBOT, Gate()).keepalive == document.KEEPALIVE


# Routes


def test_the_routes_are_the_documents() -> None:
    assert set(ROUTES) == set(document.ROUTES)
    assert not any(route.additive or route.aliases for route in CATALOGUE.routes.values())


@pytest.mark.parametrize("row", document.ROUTES, ids=" ".join)
def test_a_route(row: tuple[str, str]) -> None:
    shape, failures = document.ROUTES[row]
    name = ROUTES[row]
    route = CATALOGUE.routes[name]
    assert route.status == "active"
    if shape is None:
        assert (route.responses["200"].stream, route.responses["200"].schema) == (True, None)
    else:
        assert differences(CHATBOT.contract("response", f"{name}:200"), [shape]) == []
    added = {int(status) for status in route.responses} - {200} - failures
    assert added == (EVERYWHERE | ADDED.get(name, set())) - failures
    additive = {int(status) for status, answer in route.responses.items() if answer.additive}
    assert additive == added - document.ANY_ROUTE


@pytest.mark.parametrize("row", document.ROUTES, ids=" ".join)
def test_every_error_of_a_route_is_an_object_with_error(row: tuple[str, str]) -> None:
    name = ROUTES[row]
    for status in CATALOGUE.routes[name].responses.keys() - {"200"}:
        contract = CHATBOT.contract("response", f"{name}:{status}")
        shape: dict[str, str] = dict(document.ERROR)
        if row[1].startswith("/api/mcp/"):
            shape = {"success": "bool", **shape}
            assert contract.bundled()["properties"]["success"]["const"] is False
        if (name, status) == ("generate_image", "403"):
            shape["quota_exceeded?"] = "bool"
        if (name, status) == ("database_health", "503"):
            root = contract.bundled()
            health, error = branches(root, root)
            assert list(compare(root, error, shape)) == []
            assert {"ok", "timestamp"} <= set(health["required"])
            continue
        assert differences(contract, [shape]) == [], status


# Tools


def test_the_tools_are_the_documents() -> None:
    assert list(CATALOGUE.tools) == list(document.TOOLS)
    assert list(CATALOGUE.mcp) == list(document.MCP)
    tools = [*CATALOGUE.tools.values(), *CATALOGUE.mcp.values()]
    assert all(tool.status == "active" and not tool.additive for tool in tools)


@pytest.mark.parametrize("name", document.TOOLS)
def test_a_tool(name: str) -> None:
    contract = CHATBOT.contract("tool_return", name)
    assert differences(contract, document.TOOLS[name]) == []
    if document.TOOLS[name] == ["str"]:
        examples = contract.schema["examples"]
        assert "" in examples
        assert "❌ API Key không được cấu hình" in examples
        assert any(text.startswith("❌ Lỗi: ") for text in examples)


@pytest.mark.parametrize("name", document.MCP)
def test_an_mcp_tool(name: str) -> None:
    contract = CHATBOT.contract("mcp_return", name)
    assert differences(contract, document.MCP[name]) == []
    # MCP wants an output schema whose root says "object".
    assert contract.bundled()["type"] == "object"


# Consumers


def readings(kind: str) -> dict[str, tuple[str, str | None, list[str], list[str]]]:
    return {
        contract.partition(":")[2]: (
            consumer.tolerance,
            reading.handler,
            list(reading.required),
            list(reading.optional),
        )
        for consumer in CATALOGUE.consumers.values()
        for contract, reading in consumer.reads.items()
        if contract.startswith(f"{kind}:")
    }


def test_the_callbacks_are_the_documents() -> None:
    expected = {name: ("tolerant", *row) for name, row in document.CALLBACKS.items()}
    assert readings("event") == expected


def test_the_other_calls_are_the_documents() -> None:
    expected = {
        f"{ROUTES[route]}:200": ("tolerant", call, keys, [])
        for call, (route, keys) in document.CALLS.items()
    }
    assert readings("response") == expected


def test_all_tools_are_read_by_somebody() -> None:
    assert readings("tool").keys() == document.TOOLS.keys()
    assert readings("mcp").keys() == document.MCP.keys()


# What is for people


def test_the_inconsistencies_are_the_documents() -> None:
    known = [entry.description.replace("`", "") for entry in CATALOGUE.inconsistencies]
    assert len(known) == len(document.INCONSISTENCIES)
    for text, row in zip(known, document.INCONSISTENCIES, strict=True):
        assert text.startswith(row)


def test_the_checklist_and_the_outcomes_are_the_documents() -> None:
    heads = [check.line.partition(" — ")[0] for check in CATALOGUE.checklist]
    assert heads == document.CHECKLIST
    monitored = {name: len(outcome.monitor) for name, outcome in CATALOGUE.outcomes.items()}
    assert monitored == document.OUTCOMES


# The comparison itself


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"content": "str"}, "/chunk_index: not in the document, x-additive wrong"),
        ({"content": "int", "chunk_index": "int"}, "/content: ['string'], not ['integer']"),
        ({"content?": "str", "chunk_index": "int"}, "/content: required in one of the two only"),
        ({"content": "str", "chunk_index": "int", "text": "str"}, "/text: absent"),
        (
            {"content": "str", "chunk_index": "int", "request_id?": "str"},
            "/request_id: in the document, x-additive wrong",
        ),
        ({"content": ["str"], "chunk_index": "int"}, "/content: ['string'], not an array"),
    ],
)
def test_a_difference_is_seen(change: Any, difference: str) -> None:
    assert differences(CHATBOT.contract("event", "chunk"), [change]) == [difference]
