"""The generated TypeScript under tsc --strict: what it takes, what it refuses, how it narrows."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from copilot_codegen.generate import generate
from copilot_contracts import Registry

pytestmark = pytest.mark.node

ROOT = Path(__file__).parents[2]
GENERATED = ROOT / "contracts/typescript/src/generated"

Tsc = Callable[..., "subprocess.CompletedProcess[str]"]
MakeSurface = Callable[..., Path]
Json = dict[str, Any]


def examples(*, maps: bool = True) -> Iterator[tuple[str, str, Any]]:
    """Surface, title and value of every example of every shipped schema; of `maps` if wanted."""
    for surface in Registry.bundled().surfaces.values():
        seen = set()
        for contract in surface.contracts():
            title = contract.schema["title"]
            a_map = isinstance(contract.schema.get("additionalProperties"), dict)
            if title not in seen and (maps or not a_map):
                seen.add(title)
                for example in contract.schema["examples"]:
                    yield surface.name, title, example


def test_every_example_is_of_its_type(tsc: Tsc, tmp_path: Path) -> None:
    count = 0
    for number, (surface, title, value) in enumerate(examples()):
        shutil.copy(GENERATED / f"{surface}.ts", tmp_path)
        (tmp_path / f"example{number}.ts").write_text(typed(surface, title, value), "utf-8")
        count += 1
    done = tsc(tmp_path)
    assert done.returncode == 0, done.stdout
    assert count > 50


def test_a_renamed_key_and_another_constant_are_refused(tsc: Tsc, tmp_path: Path) -> None:
    """Each example of an object, with one required key renamed, and with its tag changed."""
    expected = {}
    for number, (surface, title, value) in enumerate(examples(maps=False)):
        shutil.copy(GENERATED / f"{surface}.ts", tmp_path)
        if not isinstance(value, dict) or not value:
            continue
        for kind, mutant in mutants(value):
            file = f"mutant{number}{kind}.ts"
            (tmp_path / file).write_text(typed(surface, title, mutant), "utf-8")
            expected[file] = mutant
    refused = set(re.findall(r"^(\w+\.ts)\(", tsc(tmp_path).stdout, re.MULTILINE))
    assert {file: expected[file] for file in expected.keys() - refused} == {}
    assert len(expected) > 60


def mutants(value: Json) -> Iterator[tuple[str, Json]]:
    key = next(iter(value))
    yield "renamed", {f"{name}_x" if name == key else name: each for name, each in value.items()}
    if isinstance(value.get("type"), str) and set(value) > {"type", "session_id"}:
        yield "retagged", {**value, "type": "heartbeat"}


def typed(surface: str, title: str, value: Any) -> str:
    return (
        f'import type {{ {title} }} from "./{surface}.ts";\n'
        f"export const value: {title} = {json.dumps(value)};\n"
    )


CONSUMER = """
import { type Event, type OpenAIMessage, type Routes, type Tools, readEvent } from "./gns3-chat.ts";

function never(value: never): never {
  throw new Error(`not handled: ${JSON.stringify(value)}`);
}

export function text(event: Event): string {
  switch (event.type) {
    case "content":
      return event.content;
    case "tool_call":
      return event.tool_call.function.arguments;
    case "tool_start":
      return event.tool_name;
    case "tool_end":
      return event.truncated ? `${event.tool_output} of ${event.original_size}` : event.status;
    case "error":
      return event.code === "llm_unavailable" ? "" : event.error;
    case "abort":
      return event.reason;
    case "done":
    case "heartbeat":
      return "";
    default:
      return never(event);
  }
}

export function read(data: string): string {
  const result = readEvent({ data });
  return result.known ? text(result.event) : result.name;
}

export const role = (message: OpenAIMessage): "user" | "assistant" | "system" | "tool" =>
  message.role;
export const request: Routes["stream_chat"]["request"] = { message: "hi" };
export const refusal = (body: Routes["stream_chat"]["responses"][404]): string => body.detail;
export const called: Tools["start_gns3_node"]["arguments"] = { node_ids: ["a"] };
"""


def test_events_narrow_by_their_tag_and_the_switch_is_exhaustive(tsc: Tsc, tmp_path: Path) -> None:
    shutil.copy(GENERATED / "gns3-chat.ts", tmp_path)
    (tmp_path / "consumer.ts").write_text(CONSUMER, "utf-8")
    done = tsc(tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('    case "abort":\n      return event.reason;\n', "", "not assignable to parameter"),
        ("event.content;", "event.text;", "'text' does not exist"),
        (
            "result.known ? text(result.event)",
            "result.name ? text(result.event)",
            "'event' does not",
        ),
        # B29 (agno#7556): no SDK has a role of its own.
        ('"user" | "assistant" | "system" | "tool"', '"user" | "assistant"', "not assignable"),
        # B63 (pydantic-ai#4193): arguments are text, live and stored.
        ("event.tool_call.function.arguments;", "event.tool_call.function.arguments.x;", "'x'"),
        # B65 (assistant-ui#3431): another name for the argument fragments.
        ("event.tool_call.function.arguments;", "event.tool_call.function.args_json;", "args_json"),
        ('{ message: "hi" }', '{ message: "hi", session: null }', "'session' does not exist"),
        ('["a"]', "[1]", "not assignable to type 'string'"),
    ],
)
def test_a_consumer_that_reads_otherwise_does_not_compile(
    tsc: Tsc, tmp_path: Path, old: str, new: str, said: str
) -> None:
    shutil.copy(GENERATED / "gns3-chat.ts", tmp_path)
    assert CONSUMER.count(old) == 1
    (tmp_path / "consumer.ts").write_text(CONSUMER.replace(old, new), "utf-8")
    done = tsc(tmp_path)
    assert done.returncode != 0
    assert said in done.stdout


KITCHEN = """
import type { Bag, Hostile, JsonValue, Odd, Pair, Results, Small, Tree, Wild } from "./kitchen.ts";
import { type Event, readEvent } from "./spoken.ts";

// B07 (json-schema-to-typescript#490): what the allOf adds can be used.
export const ids = (results: Results): string[] => results.matches.map((match) => match.id);
export const results: Results = { matches: [{ score: 1, id: "m" }] };
export const tree: Tree = { children: [{ children: [], parent: null }] };
export const json: JsonValue = { a: [1, null, { b: ["x", true] }] };
export const pair: Pair = [1, 2];
export const bag = (bag: Bag): Odd | undefined => bag["a"];
export const small: Small = { Literal: "a", k: "b" };
export const hostile: Hostile = { a: "", b: "", c: [] };
export const wild: Wild = {
  foo: null,
  t: [1, "a"],
  mm: { a: { b: [1, null] } },
  union: { k: "y", z: 1 },
  nz: null,
  bools: false,
  mt: [1],
  n: null,
  m2: null,
};
export const odd = (odd: Odd): string =>
  odd.class + odd["x-y"] + odd["quote\\"'`"] + odd["new\\\\n"] + odd.ключ + odd.model_config;

export function told(event: Event): string {
  switch (event.event) {
    case "thinking-start":
      return `${event.data.step_index}`;
    case "chunk":
      return event.data.text;
    case "complete":
      return "response" in event.data ? event.data.response : event.data.why;
    default:
      throw new Error(event satisfies never);
  }
}

export function read(message: { event: string; data: string }): string {
  const result = readEvent(message);
  return result.known ? told(result.event) : result.name;
}
"""


def test_hard_shapes_names_and_texts_compile(
    tsc: Tsc, typescript_folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(typescript_folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "consumer.ts").write_text(KITCHEN, "utf-8")
    done = tsc(tmp_path)
    assert done.returncode == 0, done.stdout
    # The descriptions say `export const x = 1`, after what would end a comment.
    code = re.sub(r"/\*.*?\*/", "", (tmp_path / "kitchen.ts").read_text("utf-8"), flags=re.DOTALL)
    assert "import os" not in code
    assert "const x" not in code


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('id: "m" }] }', "}] }"),
        ("pair: Pair = [1, 2]", "pair: Pair = [1, 2, 3]"),
        ("pair: Pair = [1, 2]", "pair: Pair = [1]"),
        ('t: [1, "a"]', 't: ["a", 1]'),
        ("b: [1, null]", 'b: ["x"]'),
        ('k: "y", z: 1', 'k: "x", z: 1'),
        ("nz: null", "nz: 2"),
        ("bag[", 'bag["x"]["y"]['),
        ("event.data.text", "event.data.step_index"),
        ("parent: null", "parent: undefined"),
    ],
)
def test_hard_shapes_are_not_anything(
    tsc: Tsc, typescript_folder: Path, tmp_path: Path, old: str, new: str
) -> None:
    shutil.copytree(typescript_folder, tmp_path, dirs_exist_ok=True)
    assert KITCHEN.count(old) == 1
    (tmp_path / "consumer.ts").write_text(KITCHEN.replace(old, new), "utf-8")
    assert "consumer.ts" in tsc(tmp_path).stdout


def test_no_index_signature_for_objects_and_records_for_maps(typescript_folder: Path) -> None:
    for file in [*GENERATED.glob("*.ts"), typescript_folder / "spoken.ts"]:
        assert "[k: string]" not in file.read_text("utf-8")
    session = (GENERATED / "gns3-chat.ts").read_text("utf-8")
    assert "models: Record<string, ModelUsage>;" in session
    assert "tool_calls: Record<string, number>;" in session
    assert "metadata: Record<string, unknown>;" in session


def test_b08_a_required_key_with_a_default_is_always_there(
    make_surface: MakeSurface, tmp_path: Path, node: str
) -> None:
    """pydantic#8413: consumers had to check for undefined everywhere."""
    schema = {
        "title": "M",
        "type": "object",
        "required": ["type", "x"],
        "properties": {"type": {"const": "A", "default": "A"}, "x": {"type": "integer"}},
    }
    generate(make_surface(schema), None, tmp_path / "ts")
    text = (tmp_path / "ts/sample.ts").read_text("utf-8")
    assert 'export interface M {\n  type: "A";\n  x: number;\n}' in text


def test_the_reader_at_work(tsc: Tsc, node: str, typescript_folder: Path, tmp_path: Path) -> None:
    """B27 (vercel/ai#20575) and B65 (assistant-ui#3431), in JavaScript."""
    shutil.copytree(typescript_folder, tmp_path, dirs_exist_ok=True)
    shutil.copy(GENERATED / "gns3-chat.ts", tmp_path)
    done = tsc(tmp_path, noEmit=False, outDir="out", declaration=False, isolatedDeclarations=False)
    assert done.returncode == 0, done.stdout
    messages = [
        {"event": "message", "data": '{"type":"done","session_id":"s","newer":1}'},
        {"event": "message", "data": '{"type":"keepalive","sequence_number":5}'},
        {"event": "message", "data": '{"type":"toString"}'},
        {"event": "message", "data": '{"type":"tool_call","call":{}}'},
        {"event": "message", "data": '{"text":"x"}'},
        {"event": "message", "data": "null"},
        {"event": "message", "data": "[DONE]"},
    ]
    named = [
        {"event": "chunk", "data": '{"text":"Hi"}'},
        {"event": "ping", "data": "1"},
        {"event": "chunk", "data": "{}"},
    ]
    script = f"""
import {{ readEvent as chat }} from "./out/gns3-chat.js";
import {{ readEvent as spoken }} from "./out/spoken.js";
const tell = (read) => (message) => {{
  try {{ return read(message); }} catch (error) {{ return `${{error.name}}: ${{error.message}}`; }}
}};
const said = [...{json.dumps(messages)}.map(tell(chat)), ...{json.dumps(named)}.map(tell(spoken))];
console.log(JSON.stringify(said));
"""
    (tmp_path / "run.mjs").write_text(script, "utf-8")
    done = subprocess.run(
        [node, "run.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    said = json.loads(done.stdout)
    assert said[0] == {"known": True, "event": {"type": "done", "session_id": "s", "newer": 1}}
    keepalive = {"type": "keepalive", "sequence_number": 5}
    assert said[1] == {"known": False, "name": "keepalive", "data": keepalive}
    assert said[2] == {"known": False, "name": "toString", "data": {"type": "toString"}}
    assert said[3] == "TypeError: The event tool_call lacks its key tool_call."
    assert said[4] == said[5] == "TypeError: A message of the stream names no event."
    assert said[6].startswith("SyntaxError")
    assert said[7] == {"known": True, "event": {"event": "chunk", "data": {"text": "Hi"}}}
    assert said[8] == {"known": False, "name": "ping", "data": 1}
    assert said[9] == "TypeError: The event chunk lacks its key text."


def test_hostile_names_of_events_routes_and_tools(
    make_surface: MakeSurface, tsc: Tsc, tmp_path: Path
) -> None:
    names = ['a"b\\', "*/ export const x = 1; '", "{x} ${y}`"]
    tag = 'k"\\*/'
    events = {
        name: {
            "title": f"Event{number}",
            "type": "object",
            "required": [tag],
            "properties": {tag: {"const": name}},
        }
        for number, name in enumerate(names)
    }
    text = {"title": "Text", "type": "string"}
    tools = {
        name: {"status": "active", "arguments": "text.json", "returns": "text.json"}
        for name in names
    }
    schemas = make_surface(text, events=events, tag=tag, tools=tools, description="*/ ${x} `")
    folder = tmp_path / "ts"
    generate(schemas, None, folder)
    uses = ['import type { Event, EventName, Tools } from "./sample.ts";']
    for number, name in enumerate(json.dumps(name) for name in names):
        uses.append(f"export const event{number}: Event = {{ {json.dumps(tag)}: {name} }};")
        uses.append(f"export const name{number}: EventName = {name};")
        uses.append(f'export const text{number}: Tools[{name}]["returns"] = "";')
    (folder / "consumer.ts").write_text("\n".join(uses), "utf-8")
    done = tsc(folder)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("file", ["generated/gns3-chat.ts", "sse.ts"])
def test_compilers_of_older_javascript_take_it(tsc: Tsc, tmp_path: Path, file: str) -> None:
    """What is generated goes into programs with other settings than ours."""
    shutil.copy(ROOT / "contracts/typescript/src" / file, tmp_path)
    # The stream reader needs what streams need: async generators.
    settings = {"target": "es2018", "lib": ["es2018", "dom"]}
    if file != "sse.ts":
        settings = {"target": "es2015", "lib": ["es5"]}
    done = tsc(tmp_path, **settings)
    assert done.returncode == 0, done.stdout


def test_the_npm_package_builds_and_runs(tsc: Tsc, node: str, tmp_path: Path) -> None:
    """As an application has it: the package by its name, each surface by a path of it."""
    package = tmp_path / "node_modules/copilot-contracts"
    compiler = ROOT / "contracts/typescript/node_modules/typescript/bin/tsc"
    command = [node, str(compiler), "-p", "tsconfig.build.json", "--outDir", str(package / "dist")]
    subprocess.run(command, cwd=ROOT / "contracts/typescript", check=True, timeout=100)
    shutil.copy(ROOT / "contracts/typescript/package.json", package)
    exports = json.loads((package / "package.json").read_text("utf-8"))["exports"]
    assert exports.keys() == {".", *(f"./{name}" for name in Registry.bundled().surfaces)}
    (tmp_path / "application.ts").write_text(APPLICATION, "utf-8")
    done = tsc(tmp_path, noEmit=False, outDir="out", declaration=False, isolatedDeclarations=False)
    assert done.returncode == 0, done.stdout
    ran = subprocess.run(
        [node, "out/application.js"], cwd=tmp_path, capture_output=True, check=True
    )
    assert ran.stdout == b"true,false\ntrue,false\n"


APPLICATION = """
import { SseDecoder, chatbot, gns3Chat } from "copilot-contracts";
import { type ChunkMessage, readEvent as readNamed } from "copilot-contracts/chatbot";
import { type DoneEvent, readEvent } from "copilot-contracts/gns3-chat";

declare const console: { log(line: string): void };

const messages = (wire: string) => new SseDecoder().feed(new TextEncoder().encode(wire));
const done: DoneEvent = { type: "done", session_id: "s" };
const chunk: ChunkMessage = { event: "chunk", data: { content: "Hi", chunk_index: 0 } };

const tagged = messages(`data: ${JSON.stringify(done)}\\n\\ndata: {"type":"new"}\\n\\n`);
console.log(tagged.map((message) => readEvent(message).known).join());

const data = JSON.stringify(chunk.data);
const named = messages(`event: chunk\\ndata: ${data}\\n\\nevent: ping\\ndata: 1\\n\\n`);
console.log(named.map((message) => readNamed(message).known).join());

const same: boolean = chatbot.readEvent === readNamed && gns3Chat.readEvent === readEvent;
if (!same) throw new Error("The index has other modules than the paths.");
"""
