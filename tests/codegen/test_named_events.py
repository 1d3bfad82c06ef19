"""Events that the stream names, end to end: as the stream contract sends them, read in Python, and
in JavaScript by a frontend's dispatcher, written against the generated types."""

import base64
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from agreement import same
from copilot_contracts import Contract, Gate, Registry, StreamContract, sse
from copilot_contracts.generated import chatbot
from copilot_contracts.reading import UnknownEvent, dump
from copilot_contracts.recording import verify_stream

NPM_PACKAGE = Path(__file__).parents[2] / "contracts/typescript/src"
SURFACE = Registry.bundled().surface("chatbot")
EVENTS = [contract for contract in SURFACE.contracts() if contract.kind == "event"]
#: Event name → how the frontend reads it, as the catalogue says.
READINGS = {
    contract.partition(":")[2]: reading
    for consumer in SURFACE.catalogue.consumers.values()
    for contract, reading in consumer.reads.items()
    if contract.startswith("event:")
}

Tsc = Callable[..., "subprocess.CompletedProcess[str]"]
Json = dict[str, Any]


def examples() -> Iterator[tuple[str, str, Json]]:
    """Event, outcome and data of every example."""
    for contract in EVENTS:
        for outcome, data in zip(
            contract.schema["x-outcomes"], contract.schema["examples"], strict=True
        ):
            yield contract.name, outcome, data


def block(name: str, data: Any) -> bytes:
    return sse.encode(json.dumps(data).encode(), name)


def whole_stream() -> list[tuple[str, Json]]:
    """One turn with every event that a turn with a complete answer can have, in order."""
    first = {contract.name: contract.schema["examples"][0] for contract in EVENTS}
    order = ["metadata", "thinking_start", "thinking", "thinking_end", "chunk", "complete"]
    assert set(order) == first.keys() - {"error"}
    zero = {"thinking": {"step_index": 0}, "chunk": {"chunk_index": 0}}
    id_ = {"request_id": first["complete"]["request_id"]}
    return [(name, {**first[name], **zero.get(name, {}), **id_}) for name in order]


def test_what_is_sent_is_read() -> None:
    stream = StreamContract(SURFACE, Gate("enforce")).open()
    wire = b"".join(
        stream.encode({"event": name, "data": data}, f"r:{number}")
        for number, (name, data) in enumerate(whole_stream(), 1)
    )
    assert verify_stream(SURFACE, wire) == []
    messages = sse.Decoder().feed(wire)
    assert [message.id for message in messages] == [f"r:{number}" for number in range(1, 7)]
    for message, (name, data) in zip(messages, whole_stream(), strict=True):
        event = chatbot.read_event(message.event, json.loads(message.data))
        assert same(dump(chatbot.EVENTS[name], event), {"event": name, "data": data})


def test_every_example_is_read() -> None:
    for name, _, data in examples():
        event = chatbot.read_event(name, data)
        assert not isinstance(event, UnknownEvent)
        assert event.event == name
        assert same(dump(chatbot.EVENTS[name], event)["data"], data)


@pytest.mark.parametrize("contract", EVENTS, ids=lambda contract: contract.name)
def test_without_a_required_key_it_is_not(contract: Contract) -> None:
    for key in contract.schema["required"]:
        data = {**contract.schema["examples"][0]}
        del data[key]
        with pytest.raises(ValidationError) as caught:
            chatbot.read_event(contract.name, data)
        assert [error["loc"] for error in caught.value.errors()] == [("data", key)]


def test_a_placeholder_has_no_reader() -> None:
    assert chatbot.read_event("suggestions", {}) == UnknownEvent("suggestions", {})
    with pytest.raises(ValidationError, match="Input should be"):
        chatbot.ChunkMessage.model_validate({"event": "thinking", "data": {}})


DISPATCHER = """
import { type Event, type EventName, readEvent } from "./chatbot.ts";
import type { SseMessage } from "./sse.ts";

type Data<Name extends EventName> = Extract<Event, { event: Name }>["data"];

export interface Callbacks {
  onThinkingStart(data: Data<"thinking_start">): void;
  onThinking(data: Data<"thinking">): void;
  onThinkingEnd(data: Data<"thinking_end">): void;
  onChunk(data: Data<"chunk">): void;
  onComplete(data: Data<"complete">): void;
  onSuggestions(data: unknown): void;
  onError(data: Data<"error">): void;
}

export function dispatch(message: SseMessage, callbacks: Callbacks): void {
  const read = readEvent(message);
  if (!read.known) {
    if (read.name === "suggestions") callbacks.onSuggestions(read.data);
    return;
  }
  const { event } = read;
  switch (event.event) {
    case "metadata":
      return;
    case "thinking_start":
      return callbacks.onThinkingStart(event.data);
    case "thinking":
      return callbacks.onThinking(event.data);
    case "thinking_end":
      return callbacks.onThinkingEnd(event.data);
    case "chunk":
      return callbacks.onChunk(event.data);
    case "complete":
      return callbacks.onComplete(event.data);
    case "error":
      return callbacks.onError(event.data);
    default:
      throw new Error(event satisfies never);
  }
}

/** A screen that shows all it is told, and relies on what is always there. */
export class Screen implements Callbacks {
  readonly said: [string, string][] = [];

  onThinkingStart({ category, timestamp, mode, label }: Data<"thinking_start">): void {
    this.#say("onThinkingStart", [category.trim(), time(timestamp), mode?.trim(), label?.trim()]);
  }
  onThinking(data: Data<"thinking">): void {
    const { step, step_index, category, is_reasoning_chunk, trajectory_id } = data;
    const what = [step.trim(), step_index.toFixed(), category.trim(), !is_reasoning_chunk];
    this.#say("onThinking", [...what, trajectory_id?.trim()]);
  }
  onThinkingEnd(data: Data<"thinking_end">): void {
    const { summary, steps, category, duration_ms, rounds, trajectories } = data;
    const what = [summary.trim(), steps.join("; "), category.trim(), duration_ms.toFixed()];
    this.#say("onThinkingEnd", [...what, rounds?.toFixed(), trajectories?.toFixed()]);
  }
  onChunk({ content, chunk_index }: Data<"chunk">): void {
    this.#say("onChunk", [content.trim(), chunk_index.toFixed()]);
  }
  onComplete(data: Data<"complete">): void {
    const spent = [data.tokens.toFixed(), data.max_tokens.toFixed(), data.elapsed_time.toFixed(3)];
    const thought = [data.thinking_summary.trim(), data.thinking_steps.join("; ")];
    const took = [data.thinking_duration_ms.toFixed(), data.total_chunks.toFixed()];
    const mode: "instant" | "think" | "deep-think" | "multi-thinking" | "auto" = data.thinking_mode;
    const asked = [data.model.trim(), data.context.trim(), mode, !data.deep_thinking];
    const named = [data.response.trim(), time(data.timestamp), data.request_id.trim()];
    const first = data.time_to_first_chunk?.toFixed(3);
    this.#say("onComplete", [...spent, ...thought, ...took, ...asked, ...named, first]);
  }
  onSuggestions(data: unknown): void {
    this.#say("onSuggestions", [typeof data]);
  }
  onError({ error, request_id }: Data<"error">): void {
    this.#say("onError", [error.trim(), request_id?.trim()]);
  }

  #say(callback: string, shown: (string | boolean | undefined)[]): void {
    this.said.push([callback, shown.filter((part) => part !== undefined).join(" | ")]);
  }
}

function time(timestamp: string): string {
  return new Date(timestamp).toISOString();
}
"""

RUN = """
import { readFileSync } from "node:fs";
import { SseDecoder } from "./out/sse.js";
import { Screen, dispatch } from "./out/dispatcher.js";

const wires = JSON.parse(readFileSync("wires.json", "utf8"));
const results = wires.map((wire) => {
  const screen = new Screen();
  try {
    for (const message of new SseDecoder().feed(Buffer.from(wire, "base64"))) {
      dispatch(message, screen);
    }
  } catch (error) {
    return [["threw", `${error.name}: ${error.message}`]];
  }
  return screen.said;
});
console.log(JSON.stringify(results));
"""


@pytest.fixture
def screen(tsc: Tsc, node: str, tmp_path: Path) -> Callable[..., list[list[tuple[str, str]]]]:
    """What the frontend's callbacks say to each of some pieces of a stream: callback and words."""
    write_dispatcher(tmp_path, DISPATCHER)
    done = tsc(tmp_path, noEmit=False, outDir="out", declaration=False, isolatedDeclarations=False)
    assert done.returncode == 0, done.stdout
    (tmp_path / "run.mjs").write_text(RUN, "utf-8")

    def run(*wires: bytes) -> list[list[tuple[str, str]]]:
        text = json.dumps([base64.b64encode(wire).decode() for wire in wires])
        (tmp_path / "wires.json").write_text(text, "utf-8")
        command = [node, "run.mjs"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=True)
        return [[(said[0], said[1]) for said in result] for result in json.loads(done.stdout)]

    return run


def write_dispatcher(folder: Path, text: str) -> None:
    shutil.copy(NPM_PACKAGE / "generated/chatbot.ts", folder)
    shutil.copy(NPM_PACKAGE / "sse.ts", folder)
    (folder / "dispatcher.ts").write_text(text, "utf-8")


Screen = Callable[..., list[list[tuple[str, str]]]]


@pytest.mark.node
def test_each_callback_takes_each_example_of_each_outcome(screen: Screen) -> None:
    cases = list(examples())
    assert {outcome for _, outcome, _ in cases} == {"success", "partial", "failure"}
    results = screen(*(block(name, data) for name, _, data in cases))
    for (name, outcome, data), result in zip(cases, results, strict=True):
        if name not in READINGS:
            assert result == []
            continue
        reading = READINGS[name]
        ((callback, shown),) = result
        assert callback == reading.handler, (name, outcome)
        for key in {*reading.required, *reading.optional} & data.keys() - {"timestamp"}:
            assert not isinstance(data[key], str) or data[key].strip() in shown, (name, key)


@pytest.mark.node
def test_no_callback_is_called_for_an_event_that_lacks_what_it_needs(screen: Screen) -> None:
    cases = []
    for contract in EVENTS:
        for key in READINGS[contract.name].required if contract.name in READINGS else ():
            data = {**contract.schema["examples"][0]}
            del data[key]
            cases.append((contract.name, key, data))
    assert len(cases) == 2 + 4 + 4 + 2 + 14 + 1
    results = screen(*(block(name, data) for name, _, data in cases))
    for (name, key, _), result in zip(cases, results, strict=True):
        assert result == [("threw", f"TypeError: The event {name} lacks its key {key}.")]


@pytest.mark.node
def test_a_whole_turn_and_what_is_newer_than_the_frontend(screen: Screen) -> None:
    wire = b"".join(block(name, {**data, "newer": [1]}) for name, data in whole_stream())
    wire = sse.comment("keepalive") + wire + block("later", 1) + block("suggestions", {})
    (result,) = screen(wire)
    assert [callback for callback, _ in result] == [
        *("onThinkingStart", "onThinking", "onThinkingEnd", "onChunk", "onComplete"),
        "onSuggestions",
    ]


@pytest.mark.node
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('    case "error":\n      return callbacks.onError(event.data);\n', "", "'never'"),
        ("callbacks.onChunk(event.data)", "callbacks.onThinking(event.data)", "properties from"),
        ("trajectory_id?.trim()", "trajectory_id.trim()", "possibly 'undefined'"),
        ("data.elapsed_time.toFixed(3)", "data.elapsedTime.toFixed(3)", "'elapsedTime'"),
        ("read.known", "read.event", "'event' does not exist"),
        ('case "metadata"', 'case "suggestions"', "not comparable"),
    ],
)
def test_the_types_refuse_a_frontend_that_reads_otherwise(
    tsc: Tsc, tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert DISPATCHER.count(old) == 1
    write_dispatcher(tmp_path, DISPATCHER.replace(old, new))
    assert said in tsc(tmp_path).stdout
