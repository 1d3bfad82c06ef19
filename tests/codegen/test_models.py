"""The generated Pydantic models and TypedDicts, read and held against what the schemas mean."""

import ast
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import ValidationError

from copilot_contracts.generated import gns3_chat
from copilot_contracts.reading import UnknownEvent, dump, read

ROOT = Path(__file__).parents[2]
SURFACES = Path(__file__).parent / "surfaces"

Json = dict[str, Any]
MakeSurface = Callable[..., Path]
Generated = Callable[[Path], ModuleType]


def record(title: str, *required: str, **properties: Json) -> Json:
    return {
        "title": title,
        "description": f"The {title}.",
        "type": "object",
        "required": list(required),
        "properties": properties,
    }


class TestB01TagsAreTheSchemasConstants:
    """datamodel-code-generator#2392: the members of a tagged union had a placeholder as tag."""

    def test_each_example_picks_its_class(
        self, make_surface: MakeSurface, generated_package: Generated
    ) -> None:
        branches = [
            record("First", "kind", kind={"const": "a"}),
            record("Second", "kind", kind={"const": "b"}),
        ]
        holder = record("Holder", "items", items={"type": "array", "items": {"oneOf": branches}})
        package = generated_package(make_surface(holder))
        held = package.Holder.model_validate({"items": [{"kind": "a"}, {"kind": "b"}]})
        assert [type(item) for item in held.items] == [package.First, package.Second]
        with pytest.raises(ValidationError, match="expected tags: 'a', 'b'"):
            package.Holder.model_validate({"items": [{"kind": "#-datamodel-code-generator-#"}]})


class TestB03SingleValueEnumsAreTags:
    """datamodel-code-generator#1125: enum-typed tags, which Pydantic refuses as discriminator."""

    def test_the_union_builds(
        self, make_surface: MakeSurface, generated_package: Generated
    ) -> None:
        events = {
            "a": record("First", "mode", mode={"enum": ["a"]}),
            "b": record("Second", "mode", mode={"enum": ["b"]}),
        }
        package = generated_package(make_surface(events=events, tag="mode"))
        assert read(package.Event, {"mode": "b"}) == package.Second(mode="b")
        with pytest.raises(ValidationError, match="expected tags: 'a', 'b'"):
            read(package.Event, {"mode": "c"})


class TestB05RequiredAndNullable:
    """datamodel-code-generator#2520: a required nullable field got the default None."""

    def test_the_key_must_be_there(
        self, make_surface: MakeSurface, generated_package: Generated
    ) -> None:
        schema = record("Answer", "request_id", request_id={"type": ["string", "null"]})
        package = generated_package(make_surface(schema))
        with pytest.raises(ValidationError, match="Field required"):
            package.Answer.model_validate({})
        assert package.Answer.model_validate({"request_id": None}).request_id is None


def test_optional_is_not_nullable(make_surface: MakeSurface, generated_package: Generated) -> None:
    package = generated_package(make_surface(record("Answer", name={"type": "string"})))
    assert dump(package.Answer, package.Answer.model_validate({})) == {}
    assert package.Answer().model_dump() == {}
    with pytest.raises(ValidationError, match="valid string"):
        package.Answer.model_validate({"name": None})


class TestB07AllOfAddsItsKeys:
    """json-schema-to-typescript#490: a property lost the field that the intersection adds."""

    def test_the_added_key_is_there(self, kitchen: ModuleType) -> None:
        results = kitchen.Results.model_validate({"matches": [{"score": 0.5, "id": "m1"}]})
        assert results.matches[0] == kitchen.Matches(score=0.5, id="m1")
        with pytest.raises(ValidationError, match=r"matches\.0\.id"):
            kitchen.Results.model_validate({"matches": [{"score": 0.5}]})


class TestB08FieldsWithDefaultsAreAlwaysSent:
    """pydantic#8413: the serialization schema marked fields with defaults as optional."""

    def test_required_lists_them(
        self, make_surface: MakeSurface, generated_package: Generated
    ) -> None:
        schema = record("M", type={"const": "A", "default": "A"}, x={"type": "integer"})
        package = generated_package(make_surface({**schema, "required": ["x"]}))
        assert package.M.model_json_schema(mode="serialization")["required"] == ["type", "x"]
        assert package.M.model_json_schema(mode="validation")["required"] == ["x"]


class TestB27UnknownEvents:
    """vercel/ai#20575: a keepalive of an unknown type ended the run."""

    def test_they_are_told_apart_and_the_rest_arrives(self) -> None:
        wire = [
            {"type": "content", "content": "Hel", "message_id": "m", "session_id": "s"},
            {"type": "keepalive", "sequence_number": 5},
            {"type": "content", "content": "lo", "message_id": "m", "session_id": "s"},
        ]
        events = [gns3_chat.read_event(data) for data in wire]
        assert events[1] == UnknownEvent("keepalive", wire[1])
        texts = [event.content for event in events if isinstance(event, gns3_chat.ContentEvent)]
        assert "".join(texts) == "Hello"

    def test_named_ones_too(self, spoken: ModuleType) -> None:
        assert spoken.read_event("ping", None) == UnknownEvent("ping", None)
        assert spoken.read_event("suggestions", []) == UnknownEvent("suggestions", [])


def test_a_known_event_that_is_broken_is_an_error_about_that_event() -> None:
    with pytest.raises(ValidationError) as caught:
        gns3_chat.read_event({"type": "done"})
    assert caught.value.title == "DoneEvent"
    assert [error["loc"] for error in caught.value.errors()] == [("session_id",)]


@pytest.mark.parametrize("value", [None, [], "done", {}, {"type": 1}])
def test_what_names_no_event_is_an_error(value: object) -> None:
    with pytest.raises(ValueError, match="its name at 'type'"):
        gns3_chat.read_event(value)


def test_named_events_hold_name_and_data(spoken: ModuleType) -> None:
    event = spoken.read_event("thinking-start", {"step_index": 0, "newer": True})
    assert event == spoken.ThinkingStartMessage(
        event="thinking-start", data=spoken.ThinkingStart(step_index=0)
    )
    assert spoken.read_event("complete", {"why": "No."}).data == spoken.Refusal(why="No.")
    with pytest.raises(ValidationError, match=r"data\.step_index"):
        spoken.read_event("thinking-start", {})


class TestB29OneSchemaGivesTheRole:
    """agno#7556: two SDKs had different literals for a role."""

    def test_all_roles_of_the_schema_and_no_other(self) -> None:
        message = {"id": "1", "content": "", "created_at": "2026-11-30T09:15:00Z"}
        for role in ("user", "assistant", "system", "tool"):
            assert gns3_chat.OpenAIMessage.model_validate({**message, "role": role}).role == role
        with pytest.raises(ValidationError, match="'user', 'assistant', 'system' or 'tool'"):
            gns3_chat.OpenAIMessage.model_validate({**message, "role": "reasoning"})


class TestB63ArgumentsAreTextEverywhere:
    """pydantic-ai#4193: tool input was an object in the stream and a string when stored."""

    @pytest.mark.parametrize(
        "model", [gns3_chat.StreamedFunctionCall, gns3_chat.OpenAIFunctionCall]
    )
    def test_an_object_is_refused(self, model: Any) -> None:
        assert model.model_validate({"name": "x", "arguments": "{}"}).arguments == "{}"
        with pytest.raises(ValidationError, match="valid string"):
            model.model_validate({"name": "x", "arguments": {}})


class TestB65AnotherFieldName:
    """assistant-ui#3431: the server sent one field name and the reader read another."""

    def test_the_reader_says_which_key_is_missing(self) -> None:
        call = {"id": "c", "type": "function", "function": {"name": "x", "args_json": "{"}}
        event = {"type": "tool_call", "tool_call": call, "message_id": "m", "session_id": "s"}
        with pytest.raises(ValidationError) as caught:
            gns3_chat.read_event(event)
        assert caught.value.errors()[0]["loc"] == ("tool_call", "function", "arguments")
        assert caught.value.errors()[0]["type"] == "missing"


# Shape, value, and what it becomes (itself, unless said); in JSON's sense of types.
TAKEN: list[tuple[str, Any]] = [
    ("Count", 3),
    ("Numbers", [1, 2.5, 2**60 + 1, -0.0]),
    ("Flag", True),
    ("Pair", [1, 2]),
    ("JsonValue", {"a": [1, 1.5, None, True, "x", {"b": []}]}),
    ("MaybeOdd", None),
    ("OneEnum", "only"),
    ("Bag", {}),
    ("Tree", {"children": [{"children": []}], "parent": None}),
    ("Wild", {"foo": 1}),
    ("Wild", {"foo": None, "nz": None, "nul": None, "nullconst": None, "m2": None}),
    ("Wild", {"foo": "a", "t": [1, "a"], "t2": [1], "arr": [[1.5, 2]], "mt": [1]}),
    ("Wild", {"foo": "a", "union": {"k": "y", "z": 2}, "inline": {"a": True}}),
    ("Wild", {"foo": "a", "mm": {"a": {"b": [1, None]}}, "m": {"a": 0}, "o": {"x": []}}),
    ("Wild", {"foo": "a", "dt": "5", "uri": "http://EXAMPLE.com"}),
    ("Wild", {"foo": "a", "de": [2], "dm": {}, "any": {"x": [None]}, "tr": 0}),
    ("Small", {"Literal": "a", "k": "b", "Any": 1}),
]
REFUSED: list[tuple[str, Any]] = [
    ("Count", "3"),
    ("Count", True),
    ("Count", 1.5),
    ("Count", -1),
    ("Numbers", ["1"]),
    ("Numbers", [True]),
    ("Numbers", [float("nan")]),
    ("Numbers", [float("inf")]),
    ("Numbers", {}),
    ("Flag", 1),
    ("Flag", False),
    ("Pair", [1]),
    ("Pair", [1, 2, 3]),
    ("Pair", "12"),
    ("OneEnum", None),
    ("HostileAlias", 5),
    ("HostileAlias", b"x"),
    ("Bag", {"a": {}}),
    ("Tree", {"children": [{}]}),
    ("Wild", {"foo": ""}),
    ("Wild", {"foo": -1}),
    ("Wild", {"foo": True}),
    ("Wild", {"foo": "a", "nz": True}),
    ("Wild", {"foo": "a", "bools": 0}),
    ("Wild", {"foo": "a", "m": {}}),
    ("Wild", {"foo": "a", "m": {"a": -1}}),
    ("Wild", {"foo": "a", "t": [1, ""]}),
    ("Wild", {"foo": "a", "e": ["c"]}),
    ("Wild", {"foo": "a", "mul": 4}),
    ("Wild", {"foo": "a", "union": {"k": "z"}}),
    ("Wild", {"foo": "a", "d": None}),
    ("Wild", {"foo": "a", "dt": 5}),
    ("Small", {"Literal": "b"}),
]


@pytest.mark.parametrize(("title", "value"), TAKEN)
def test_the_reader_takes_and_gives_back(kitchen: ModuleType, title: str, value: Any) -> None:
    shape = getattr(kitchen, title)
    held = dump(shape, read(shape, value))
    assert json.dumps(held, sort_keys=True) == json.dumps(value, sort_keys=True)


@pytest.mark.parametrize(("title", "value"), REFUSED)
def test_the_reader_refuses(kitchen: ModuleType, title: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        read(getattr(kitchen, title), value)


@pytest.mark.parametrize("number", [1, 1.0])
def test_an_integer_may_be_written_with_a_point(kitchen: ModuleType, number: float) -> None:
    """JSON Schema 2020-12, section 6.1.1: 1.0 is an integer. It becomes 1."""
    assert type(read(kitchen.Count, number)) is int
    assert read(kitchen.Wild, {"foo": None, "nz": number}).nz == 1


def test_undeclared_keys_are_ignored_whatever_the_schema_says(kitchen: ModuleType) -> None:
    value = {"foo": 1, "inline": {"a": True, "new": 1}, "empty": {"new": 1}, "new": 1}
    held = dump(kitchen.Wild, read(kitchen.Wild, value))
    assert held == {"foo": 1, "inline": {"a": True}, "empty": {}}


def test_keys_keep_their_names_on_the_wire(kitchen: ModuleType) -> None:
    schemas = json.loads((SURFACES / "kitchen/everything.json").read_text(encoding="utf-8"))
    samples = {"string": "x", "integer": 1, "number": 1.5, "array": ["x"]}
    value = {
        key: part.get("const", samples.get(part.get("type")))
        for key, part in schemas["$defs"]["Odd"]["properties"].items()
    }
    odd = kitchen.Odd.model_validate(value)
    assert odd.model_dump() == value
    assert odd.class_ == "x"
    # The Python name is no key: what the schema requires is missing.
    value["class_"] = value.pop("class")
    with pytest.raises(ValidationError, match="class\n  Field required"):
        kitchen.Odd.model_validate(value)


def test_a_deprecated_field_can_be_read(kitchen: ModuleType) -> None:
    assert kitchen.Wild.model_validate({"foo": 1, "dep": "old"}).dep == "old"
    assert "Deprecated." in kitchen.Wild.model_fields["dep"].description


def test_hostile_descriptions_stay_in_docstrings(kitchen: ModuleType) -> None:
    assert set(vars(kitchen.models)) & {"os", "x", "a", "b", "c"} == set()
    doc = kitchen.Hostile.__doc__
    for part in ('b """ c \\ d ${e}', "''' \\\" \\N{DASH}", "*/ export const x = 1; /*"):
        assert part in doc
        assert part in kitchen.Hostile.model_fields["a"].description
    assert kitchen.__doc__.endswith('*/ """ \\')


def test_no_name_is_invented(kitchen: ModuleType, python_folder: Path) -> None:
    """What the generator has no name for stays in place: `commands` doesn't take `Command`."""
    titles = set(kitchen.__all__) - {"CONTRACTS", "models", "types"}
    for module in ("models.py", "types.py"):
        tree = ast.parse((python_folder / "kitchen" / module).read_text(encoding="utf-8"))
        defined = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
        for node in tree.body:
            if isinstance(node, ast.Assign | ast.AnnAssign):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                defined.append(ast.unparse(target))
        assert sorted(defined) == sorted(titles)


def test_models_and_a_consumer_pass_mypy(python_folder: Path) -> None:
    """Kitchen and named events, mypy --strict; and a match over events that must be exhaustive."""
    consumer = python_folder / "consumer.py"
    consumer.write_text(
        """
from typing import assert_never
from copilot_contracts.generated.gns3_chat import (
    AbortEvent, ContentEvent, DoneEvent, ErrorEvent, HeartbeatEvent, ToolCallEvent, ToolEndEvent,
    ToolStartEvent, UnknownEvent, read_event, types,
)
from spoken import ChunkMessage, CompleteMessage, ThinkingStartMessage, Answer, Refusal
from spoken import UnknownEvent as Unspoken, read_event as read_spoken

def said(value: object) -> str:
    match read_event(value):
        case ContentEvent(content=text): return text
        case ToolCallEvent(tool_call=call): return call.function.arguments
        case ToolStartEvent(tool_name=name) | ToolEndEvent(tool_name=name): return name
        case ErrorEvent(error=text, retryable=again): return text if again else ""
        case DoneEvent() | HeartbeatEvent() | AbortEvent(): return ""
        case UnknownEvent(name=name): return name
        case rest: assert_never(rest)

def spoken(name: str, data: object) -> str:
    match read_spoken(name, data):
        case ChunkMessage(data=chunk): return chunk.text
        case ThinkingStartMessage(data=start): return str(start.step_index)
        case CompleteMessage(data=Answer(response=text)): return text
        case CompleteMessage(data=Refusal(why=text)): return text
        case CompleteMessage(): return ""
        case Unspoken(name=name): return name
        case rest: assert_never(rest)

def emitted() -> types.Event:
    return {"type": "done", "session_id": "s"}
""",
        encoding="utf-8",
    )
    done = _mypy(python_folder, "-p", "kitchen", "-p", "spoken", "-m", "consumer")
    assert done.returncode == 0, done.stdout
    consumer.write_text(
        consumer.read_text(encoding="utf-8")
        .replace("case UnknownEvent(name=name): return name", "")
        .replace('"session_id": "s"', '"session": "s"'),
        encoding="utf-8",
    )
    done = _mypy(python_folder, "-m", "consumer")
    assert 'to "assert_never" has incompatible type "UnknownEvent"' in done.stdout
    assert "Incompatible return value type" in done.stdout or "Extra key" in done.stdout


def _mypy(folder: Path, *what: str) -> "subprocess.CompletedProcess[str]":
    config = folder / "mypy.ini"
    config.write_text(
        f"[mypy]\nstrict = True\nmypy_path = {ROOT / 'contracts'}:{folder}\n",
        encoding="utf-8",
    )
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(config), *what],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def test_hostile_names_of_events_and_of_their_tag(
    make_surface: MakeSurface, generated_package: Generated
) -> None:
    tag = 'k"""\\\n*/'
    names = ['a"""b\\', "*/ '", "{x} ${y}"]
    events = {
        name: record(f"Event{number}", tag, **{tag: {"const": name}})
        for number, name in enumerate(names)
    }
    description = 'Both \' and ", and """ and \\'
    package = generated_package(make_surface(events=events, tag=tag, description=description))
    assert package.__doc__ == f"A sample: {description}"
    for number, name in enumerate(names):
        event = package.read_event({tag: name})
        assert type(event).__name__ == f"Event{number}"
        assert event.model_dump() == {tag: name}


def test_our_own_marks_in_a_schema(make_surface: MakeSurface, generated_package: Generated) -> None:
    items = {"type": "array", "items": {"type": "string", "minLength": 1}}
    inline = {
        **record("InlineType1", Any={"const": "a\ue000"}, x=items),
        "description": "InlineType7",
    }
    package = generated_package(make_surface(inline))
    value = {"Any": "a\ue000", "x": ["y"]}
    assert package.InlineType1.model_validate(value).model_dump() == value
    assert package.InlineType1.__doc__ == "InlineType7"
    assert package.types.InlineType1.__annotations__.keys() == value.keys()
