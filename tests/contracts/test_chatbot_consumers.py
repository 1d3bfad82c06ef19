"""What reads the chatbot surface, with answers of every outcome: success, partial, failure."""

import base64
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chatbot_streams import CHATBOT, COMPLETE, ERROR, GOOD, METADATA, TURN, Event, chunks
from copilot_contracts import Contract, Gate, StreamContract
from copilot_contracts.registry import Kind

CONTRACT = StreamContract(CHATBOT, Gate())
CATALOGUE = CHATBOT.catalogue
READS = {
    contract: reading
    for consumer in CATALOGUE.consumers.values()
    for contract, reading in consumer.reads.items()
    if contract != "event:suggestions"
}
KINDS: dict[str, Kind] = {
    "event": "event",
    "response": "response",
    "tool": "tool_return",
    "mcp": "mcp_return",
}
FRONTEND = Path(__file__).with_name("api_service.mjs")


def contract_of(selector: str) -> Contract:
    kind, _, name = selector.partition(":")
    return CHATBOT.contract(KINDS[kind], name)


def examples(selector: str) -> Iterator[tuple[str, Any]]:
    """Outcome and value; an answer's failures are its other statuses, a turn's the event error."""
    kind, _, name = selector.partition(":")
    contracts = [contract_of(selector)]
    if kind == "response":
        route = name.partition(":")[0]
        failures = CATALOGUE.routes[route].responses.keys() - {"200"}
        contracts += [CHATBOT.contract("response", f"{route}:{status}") for status in failures]
    for contract in contracts:
        yield from zip(contract.schema["x-outcomes"], contract.schema["examples"], strict=True)


def applicable(selector: str) -> set[str]:
    """Which outcomes a contract has. A stream that fails has one event for it."""
    if selector == "event:error":
        return {"failure"}
    if selector == "event:chunk":
        return {"success"}
    if selector.startswith("event:"):
        return {"success", "partial"}
    if selector == "response:save_memory:200":
        return {"success", "failure"}
    if selector == "mcp:calculate":
        return {"success", "failure"}
    return {"success", "partial", "failure"}


@pytest.mark.parametrize("selector", READS)
def test_there_are_examples_of_every_outcome_that_applies(selector: str) -> None:
    assert {outcome for outcome, _ in examples(selector)} == applicable(selector)


@pytest.mark.parametrize("selector", [name for name in READS if name.startswith("tool:")])
def test_an_outcome_of_a_tool_is_told_from_its_return(selector: str) -> None:
    """What is injected, what is left out in silence, and what is an error."""
    for outcome, value in examples(selector):
        if isinstance(value, str):
            told = "failure" if value.startswith("❌") else "success" if value else "partial"
        else:
            found = value.get("sources") or value.get("similar")
            told = "failure" if "error" in value else "success" if found else "partial"
        assert told == outcome, value


@pytest.mark.parametrize("selector", [name for name in READS if name.startswith("mcp:")])
def test_an_mcp_tool_says_error_where_it_fails_and_only_there(selector: str) -> None:
    for outcome, value in examples(selector):
        assert ("error" in value) is (outcome == "failure")


# The frontend, on bytes


@pytest.fixture(scope="module")
def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("there is no Node here")
    return found


def frontend(node: str, answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the frontend does with answers: the callbacks it calls, what it returns or throws."""
    readers = {
        selector: {
            "handler": reading.handler,
            "required": reading.required,
            "optional": reading.optional,
        }
        for selector, reading in READS.items()
    }
    asked = {
        "callbacks": {
            name.removeprefix("event:"): reader
            for name, reader in readers.items()
            if name.startswith("event:")
        },
        "calls": {name: reader for name, reader in readers.items() if name.startswith("response:")},
        "answers": answers,
    }
    done = subprocess.run(
        [node, str(FRONTEND)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    seen: list[dict[str, Any]] = json.loads(done.stdout)
    return seen


def pieces(body: bytes, size: int) -> list[str]:
    cuts = range(0, len(body), size)
    return [base64.b64encode(body[at : at + size]).decode() for at in cuts]


def streamed(events: list[Event], size: int = 7) -> dict[str, Any]:
    stream = CONTRACT.open()
    blocks = [stream.encode(one, id=f"run:{n}") for n, one in enumerate(events, 1)]
    stream.finish()
    assert CONTRACT.keepalive is not None
    return {"status": 200, "pieces": pieces(CONTRACT.keepalive.join(blocks), size)}


def handlers(events: list[Event]) -> list[str | None]:
    names = [f"event:{one['event']}" for one in events]
    return [READS[name].handler for name in names if name in READS]


def returned(events: list[Event]) -> Any:
    return events[-1]["data"] if events[-1]["event"] == "complete" else {}


VIETNAMESE = [
    METADATA,
    {"event": "chunk", "data": {"content": "Xin chào 👋\r\n\n", "chunk_index": 0}},
]


@pytest.mark.node
def test_the_callbacks_with_every_stream(node: str) -> None:
    """Optional keys, the id and `time_to_first_chunk` are in some of them only."""
    streams = [*GOOD.values(), [*VIETNAMESE, COMPLETE]]
    for size in (1, 7, 10**6):
        seen = frontend(node, [streamed(events, size) for events in streams])
        for events, result in zip(streams, seen, strict=True):
            assert [handler for handler, _ in result["called"]] == handlers(events)
            assert result["result"] == returned(events)
    assert seen[-1]["called"][0] == [
        "onChunk",
        {"content": "Xin chào 👋\r\n\n", "chunk_index": "0"},
    ]


@pytest.mark.node
def test_the_callback_of_an_error(node: str) -> None:
    bare = {"event": "error", "data": {"error": "The server failed while it worked on this."}}
    streams = [[METADATA, *chunks(0, 1), ERROR], [METADATA, bare]]
    told, untold = frontend(node, [streamed(events) for events in streams])
    assert told["called"][-1] == ["onError", ERROR["data"]]
    assert untold["called"] == [["onError", bare["data"]]]
    assert told["result"] == untold["result"] == {}


@pytest.mark.node
@pytest.mark.parametrize("key", ["category", "step_index", "chunk_index", "request_id"])
def test_the_frontend_breaks_where_a_required_key_is_absent(node: str, key: str) -> None:
    """So the tests above say something; and the gate, told to enforce, refuses the same."""
    broken = [
        {
            "event": one["event"],
            "data": {name: value for name, value in one["data"].items() if name != key},
        }
        for one in TURN
    ]
    stream = StreamContract(CHATBOT, Gate("off")).open()
    body = b"".join(stream.encode(one) for one in broken)
    (seen,) = frontend(node, [{"status": 200, "pieces": pieces(body, 100)}])
    assert seen["thrown"].startswith("TypeError: Cannot read properties of undefined")


@pytest.mark.node
def test_the_other_calls(node: str) -> None:
    """Every example of every status that the three calls may be answered with."""
    answers, expected = [], []
    for selector in READS:
        if not selector.startswith("response:"):
            continue
        route = selector.split(":")[1]
        for status in CATALOGUE.routes[route].responses:
            for value in CHATBOT.contract("response", f"{route}:{status}").schema["examples"]:
                body = json.dumps(value).encode()
                answers.append(
                    {"contract": selector, "status": int(status), "pieces": pieces(body, 7)}
                )
                expected.append((status, READS[selector].handler))
    for (status, handler), seen in zip(expected, frontend(node, answers), strict=True):
        if status == "200":
            assert [name for name, _ in seen["called"]] == [handler]
        else:
            assert seen == {"thrown": f"Error: HTTP {status}"}


@pytest.mark.node
@pytest.mark.parametrize(
    "status", sorted(CATALOGUE.routes["stream_chat"].responses.keys() - {"200"})
)
def test_a_stream_that_is_refused(node: str, status: str) -> None:
    (value, *_) = CHATBOT.contract("response", f"stream_chat:{status}").schema["examples"]
    answer = {"status": int(status), "pieces": pieces(json.dumps(value).encode(), 7)}
    assert frontend(node, [answer]) == [{"thrown": f"Error: HTTP {status}"}]
