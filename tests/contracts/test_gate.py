"""The gate: the schema is the judge, the policy decides, the value is never told."""

import dataclasses
import datetime
import decimal
import enum
import logging
import math
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copilot_contracts import (
    Contract,
    ContractViolation,
    Gate,
    NotJson,
    OrderViolation,
    Policy,
    Registry,
)
from copilot_contracts.strict_json import MAX_DEPTH, encode, is_strict, repair
from story_surface import obj

Write = Callable[..., Path]
SURFACE = Registry.bundled().surface("gns3-chat")
CONTRACTS = list(SURFACE.contracts())
SECRET = "hunter2-hunter2-hunter2-hunter2"


def examples(contract: Contract) -> list[Any]:
    return list(contract.schema.get("examples", ()))


def contract_of(write: Write, schema: Any, name: str = "Root") -> Contract:
    folder = write(
        {
            "surface.json": {
                "name": "own",
                "version": "1.0.0",
                "title": "Own",
                "description": "One model.",
                "models": {name: {"schema": "root.json"}},
            },
            "root.json": schema,
        }
    )
    return Registry.from_folder(folder).surface("own").contract("model", name)


# Agreement with the reference implementation

# Python's `re` and ECMA 262 differ on line ends and control characters; the rest is the same.
texts = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=8)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
values = st.recursive(
    scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(texts, v, max_size=3), max_leaves=6
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


@st.composite
def mutants(draw: st.DrawFn, contract: Contract) -> Any:
    """An example with a few things replaced, removed, added or renamed."""
    known = examples(contract)
    value = orjson.loads(orjson.dumps(draw(st.sampled_from(known)))) if known else draw(values)
    for _ in range(draw(st.integers(0, 3))):
        path = draw(st.sampled_from(list(places(value))))
        if not path:
            if draw(st.integers(0, 9)) == 0:
                return draw(values)
            continue
        holder = value
        for key in path[:-1]:
            holder = holder[key]
        match draw(st.sampled_from(["replace", "remove", "add", "copy"])):
            case "replace":
                holder[path[-1]] = draw(values)
            case "remove":
                del holder[path[-1]]
            case "add" if isinstance(holder, dict):
                holder[draw(texts)] = draw(values)
            case "copy" if isinstance(holder, list):
                holder.append(holder[path[-1]])
    return value


def all_errors(errors: Any) -> Iterator[tuple[str, str]]:
    for error in errors:
        yield error.validator, "".join(f"/{token}" for token in error.absolute_path)
        yield from all_errors(error.context)


@pytest.mark.parametrize("contract", CONTRACTS, ids=repr)
def test_examples_keep_their_contracts(contract: Contract) -> None:
    reference = jsonschema.Draft202012Validator(contract.bundled())
    assert examples(contract)
    for example in examples(contract):
        assert contract.violation(example) is None
        assert reference.is_valid(example)


UNIQUE = list({contract.path: contract for contract in CONTRACTS}.values())


@pytest.mark.parametrize("contract", UNIQUE, ids=repr)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_the_gate_agrees_with_jsonschema(contract: Contract, data: st.DataObject) -> None:
    value = data.draw(mutants(contract))
    reference = jsonschema.Draft202012Validator(contract.bundled())
    violation = contract.violation(value)
    assert (violation is None) == reference.is_valid(value)
    if violation is not None and "*" not in violation.pointer:
        # What is told is one of the things that the reference finds wrong.
        told = (violation.rule, violation.pointer.replace("~1", "/").replace("~0", "~"))
        assert told in set(all_errors(reference.iter_errors(value)))


# Which branch was meant

UNIONS: list[tuple[str, Any, Any, tuple[str, str, str, str]]] = [
    (
        "a tag names the branch",
        {"anyOf": [obj(kind={"const": "a"}, x={}), obj(kind={"const": "b"}, y={})]},
        {"kind": "b", "z": 1},
        ("", "required", 'the key "y"', "object"),
    ),
    (
        "an unknown tag",
        {"anyOf": [obj(kind={"const": "a"}), obj(kind={"enum": ["b", "c"]})]},
        {"kind": "d"},
        ("/kind", "const", 'one of "a", "b", "c"', "string"),
    ),
    (
        "no tag",
        {"oneOf": [obj(kind={"const": "a"}), obj(kind={"const": "b"})]},
        {},
        ("", "required", 'the key "kind"', "object"),
    ),
    (
        "true is not 1",
        {"anyOf": [obj(v={"const": 1}, x={}), obj(v={"const": True}, y={})]},
        {"v": True},
        ("", "required", 'the key "y"', "object"),
    ),
    (
        "a required key of its own",
        {"anyOf": [obj(result={"type": "integer"}), obj(error={"type": "string"})]},
        {"error": 1},
        ("/error", "type", "string", "integer"),
    ),
    (
        "the JSON type",
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        ["a", 1],
        ("/1", "type", "string", "integer"),
    ),
    (
        "no branch has the type",
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        1,
        ("", "type", "string or null", "integer"),
    ),
    (
        "unions in unions, through refs",
        {
            "properties": {"items": {"items": {"$ref": "#/$defs/Item"}}},
            "$defs": {
                "Item": {"oneOf": [{"$ref": "#/$defs/Ok"}, obj(error={"type": "string"})]},
                "Ok": obj(ok={"anyOf": [{"type": "null"}, obj(n={"type": "integer"})]}),
            },
        },
        {"items": [{"error": "e"}, {"ok": {"n": "1"}}]},
        ("/items/1/ok/n", "type", "integer", "string"),
    ),
    (
        "more than one of oneOf",
        {"oneOf": [{"type": "integer"}, {"minimum": 1}]},
        2,
        ("", "oneOf", "exactly one of the union's branches", "integer"),
    ),
]


@pytest.mark.parametrize(
    ("schema", "value", "told"), [u[1:] for u in UNIONS], ids=[u[0] for u in UNIONS]
)
def test_a_violation_is_about_the_branch_that_was_meant(
    write: Write, schema: Any, value: Any, told: tuple[str, str, str, str]
) -> None:
    violation = contract_of(write, schema).violation(value)
    assert violation is not None
    assert (violation.pointer, violation.rule, violation.expected, violation.got) == told


def test_b25_a_failing_union_names_what_is_missing(write: Write) -> None:
    """B25, python-jsonschema/jsonschema#977: only "nothing matched" was reported."""
    branches = [{"required": ["foo"]}, {"required": ["bar"]}]
    untagged = contract_of(write, {"oneOf": branches}).violation({})
    assert untagged is not None
    assert (untagged.rule, untagged.expected) == ("required", 'one of the keys "bar", "foo"')
    tags = [obj(kind={"const": key}, **{key: {}}) for key in ("foo", "bar")]
    tagged = contract_of(write, {"oneOf": tags}).violation({"kind": "bar"})
    assert tagged is not None
    assert (tagged.pointer, tagged.rule, tagged.expected) == ("", "required", 'the key "bar"')
    assert str(tagged) == (
        'own model Root at the root: expected the key "bar", got object (required).'
    )


def test_a_violation_in_a_deep_tree_is_found_at_once(write: Write) -> None:
    """Asking for the errors of every branch takes a minute at a depth of 11."""
    nodes = [obj(child_={"$ref": "#"}, kind={"const": kind}) for kind in "abc"]
    contract = contract_of(write, {"anyOf": nodes})
    value: Any = {"kind": "z"}
    for _ in range(60):
        value = {"kind": "c", "child": value}
    violation = contract.violation(value)
    assert violation is not None
    assert violation.pointer == "/child" * 60 + "/kind"


RULES: list[tuple[Any, Any, str, str]] = [
    ({"enum": ["a", 1, None]}, "b", "enum", 'one of "a", 1, None'),
    ({"enum": list(range(20))}, "b", "enum", "one of 0, 1, 2, 3, 4, 5, 6, 7 and 12 more"),
    ({"const": "a"}, "b", "const", '"a"'),
    ({"type": ["string", "null"]}, 1, "type", "string or null"),
    ({"pattern": "^a+$"}, "b", "pattern", "a string that matches ^a+$"),
    ({"minLength": 2}, "b", "minLength", "at least 2 characters"),
    ({"maxItems": 1}, [1, 2], "maxItems", "at most 1 item"),
    ({"minProperties": 1}, {}, "minProperties", "at least 1 key"),
    ({"minimum": 1}, 0, "minimum", "a number from 1"),
    ({"maximum": 1}, 2, "maximum", "a number up to 1"),
    ({"exclusiveMinimum": 1}, 1, "exclusiveMinimum", "a number above 1"),
    ({"exclusiveMaximum": 1}, 1, "exclusiveMaximum", "a number below 1"),
    ({"multipleOf": 2}, 1, "multipleOf", "a multiple of 2"),
    ({"uniqueItems": True}, [1, 1], "uniqueItems", "items that differ from each other"),
    ({"properties": {"a": False}}, {"a": 1}, "falseSchema", "nothing there"),
    ({"prefixItems": [{}], "items": False}, [1, 2], "falseSchema", "nothing there"),
    ({"not": {"type": "null"}}, None, "not", "what `not` says"),
    ({"contains": {"type": "null"}}, [1], "contains", "what `contains` says"),
    ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, "propertyNames", "what `propertyNames` says"),
    ({"if": {"type": "string"}, "then": {"minLength": 1}}, "", "minLength", "at least 1 character"),
    ({"allOf": [{}, {"minimum": 1}]}, 0, "minimum", "a number from 1"),
    ({"additionalProperties": {"type": "null"}}, {"a": 1}, "type", "null"),
    ({"properties": {"type": {"type": "null"}}}, {"type": 1}, "type", "null"),
    ({"properties": {"a/b~%é": {"type": "null"}}}, {"a/b~%é": 1}, "type", "null"),
]


@pytest.mark.parametrize(("schema", "value", "rule", "expected"), RULES)
def test_rules_and_what_they_expect(
    write: Write, schema: Any, value: Any, rule: str, expected: str
) -> None:
    violation = contract_of(write, schema).violation(value)
    assert violation is not None
    assert (violation.rule, violation.expected) == (rule, expected)
    assert jsonschema.Draft202012Validator(schema).is_valid(value) is False


# Nothing of the value is told


def secrets(schema: Any) -> Iterator[Any]:
    yield SECRET
    yield [SECRET, SECRET]
    yield {SECRET: SECRET}
    yield {SECRET: {SECRET: SECRET}}
    for key in schema.get("properties", ()):
        yield {key: SECRET}
        yield {key: {SECRET: [SECRET]}}


@pytest.mark.parametrize("contract", UNIQUE, ids=repr)
def test_a_violation_never_holds_the_value(contract: Contract) -> None:
    for value in secrets(contract.schema):
        violation = contract.violation(value)
        if violation is not None:
            assert SECRET not in repr([str(violation), vars(violation)])
            assert violation.__cause__ is None
            assert violation.__context__ is None
    for example in examples(contract):
        if isinstance(example, dict):
            added = contract.violation({**example, SECRET: 1, "added": 1})
            assert SECRET not in str(added)
            broken = contract.violation({**example, SECRET: {1: SECRET}, "x": SECRET})
            assert SECRET not in str(broken)


def test_undeclared_keys_are_named_when_they_look_like_names(write: Write) -> None:
    contract = contract_of(write, obj(known_={}))
    keys = {"tool_call_id": 1, SECRET: 2, "a b": 3}
    violation = contract.violation(keys)
    assert violation is not None
    assert violation.expected == 'declared keys only (undeclared: "tool_call_id", 2 more not shown)'
    hidden = contract.violation({SECRET: 1})
    assert hidden is not None
    assert hidden.expected == "declared keys only (1 undeclared not shown)"


def test_keys_of_maps_are_shown_when_they_look_like_names(write: Write) -> None:
    contract = contract_of(write, {"additionalProperties": {"type": "integer"}})
    shown, hidden = contract.violation({"PC1": "a"}), contract.violation({SECRET: "a"})
    assert shown is not None
    assert hidden is not None
    assert (shown.pointer, hidden.pointer) == ("/PC1", "/*")


# Strict JSON


class Colour(enum.StrEnum):
    RED = "red"


class Text(str):
    __slots__ = ()


@dataclasses.dataclass
class Point:
    x: int


def nested(levels: int, of: type = list) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] if of is list else {"a": value}
    return value


endless: list[Any] = []
endless.append(endless)

NOT_JSON: list[tuple[Any, str, str]] = [
    (math.nan, "JSON_FINITE", "NaN or infinity"),
    (math.inf, "JSON_FINITE", "NaN or infinity"),
    (-math.inf, "JSON_FINITE", "NaN or infinity"),
    (2**64, "JSON_INTEGER", "a larger one"),
    (-(2**63) - 1, "JSON_INTEGER", "a larger one"),
    (b"bytes", "JSON_TYPE", "bytes"),
    ((1, 2), "JSON_TYPE", "tuple"),
    ({1, 2}, "JSON_TYPE", "set"),
    (datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), "JSON_TYPE", "datetime"),
    (datetime.date(2026, 1, 1), "JSON_TYPE", "date"),
    (uuid.UUID(int=1), "JSON_TYPE", "UUID"),
    (decimal.Decimal(1), "JSON_TYPE", "Decimal"),
    (Colour.RED, "JSON_TYPE", "Colour"),
    (Text("a"), "JSON_TYPE", "Text"),
    (Point(1), "JSON_TYPE", "Point"),
    (orjson.Fragment(b"not json"), "JSON_TYPE", "Fragment"),
    ({1: "a"}, "JSON_KEY", "integer"),
    ({None: "a"}, "JSON_KEY", "null"),
    ({Text("a"): "a"}, "JSON_KEY", "Text"),
    (nested(MAX_DEPTH + 1), "JSON_DEPTH", "more"),
    (nested(5000, dict), "JSON_DEPTH", "more"),
    (endless, "JSON_DEPTH", "more"),
]


@pytest.mark.parametrize("policy", ["enforce", "report", "off"])
@pytest.mark.parametrize(("value", "rule", "got"), NOT_JSON)
def test_what_is_not_json_never_leaves(
    write: Write, policy: Policy, value: Any, rule: str, got: str
) -> None:
    contract = contract_of(write, {})
    for held, pointer in ((value, ""), ({"a": [value]}, "/a/0")):
        for leave in (Gate(policy).check, Gate(policy).encode):
            with pytest.raises(NotJson) as raised:
                leave(contract, held)
            assert (raised.value.rule, raised.value.got) == (rule, got)
            if rule != "JSON_DEPTH":
                assert raised.value.pointer == pointer


@pytest.mark.parametrize(
    "value",
    [nested(MAX_DEPTH), nested(MAX_DEPTH, dict), 2**64 - 1, -(2**63), 1e308, "", [], {}, None],
)
def test_what_is_json_leaves(write: Write, value: Any) -> None:
    contract = contract_of(write, {})
    assert orjson.loads(Gate().encode(contract, value)) == value


SURROGATES = [
    ("\ud800", "\ufffd"),
    ("a\udfffb", "a\ufffdb"),
    ("\udc00\ud800", "\ufffd\ufffd"),
    ("\ud83d\ude00", "😀"),
    ("x\ud800\ud83d\ude00", "x\ufffd😀"),
    ("\ud800x", "\ufffdx"),
]


@pytest.mark.parametrize(("broken", "whole"), SURROGATES)
def test_lone_surrogates_are_replaced_in_keys_and_values(
    write: Write, broken: str, whole: str
) -> None:
    contract = contract_of(write, {})
    sent = Gate().encode(contract, {broken: [broken], "é": "ok"})
    assert orjson.loads(sent.decode("utf-8", "strict")) == {whole: [whole], "é": "ok"}


def test_keys_that_differ_in_what_is_replaced_are_both_sent(write: Write) -> None:
    sent = Gate().encode(contract_of(write, {}), dict([("\ud800", 1), ("\ud801", 2)]))  # noqa: C406  (ruff takes both for one key)
    assert sorted(orjson.loads(sent).values()) == [1, 2]


def test_what_is_checked_is_what_is_sent(write: Write) -> None:
    contract = contract_of(write, {"type": "string", "maxLength": 1})
    assert contract.violation("\ud83d\ude00") is None
    assert contract.violation("\ud800") is None
    assert contract.violation("\ud800\ud800") is not None
    two = contract_of(write, {"type": "string", "minLength": 2})
    assert two.violation("\ud83d\ude00") is not None


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(categories=["Cs", "L", "Cc"]), max_size=4)
    | st.binary(max_size=2),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=2) | st.integers(), v),
    max_leaves=8,
)


@settings(deadline=None)
@given(anything)
def test_strict_values_come_back_as_they_were(value: Any) -> None:
    if is_strict(value):
        assert orjson.loads(encode(value)[0]) == encode(value)[1] == repair(value)


# Policies


def violated(policy: Policy, contract: Contract, value: Any) -> tuple[Gate, list[Any]]:
    seen: list[Any] = []
    gate = Gate(policy, seen.append)
    gate.check(contract, value)
    return gate, seen


def test_enforce_raises_counts_and_calls_back() -> None:
    seen: list[Any] = []
    gate = Gate("enforce", seen.append)
    with pytest.raises(ContractViolation) as raised:
        gate.check(SURFACE.contract("event", "done"), {"type": "done"})
    assert seen == [raised.value]
    assert gate.counts == {("gns3-chat", "event", "done", "required"): 1}


def test_report_logs_counts_calls_back_and_delivers(caplog: pytest.LogCaptureFixture) -> None:
    contract = SURFACE.contract("event", "done")
    with caplog.at_level(logging.WARNING):
        gate, seen = violated("report", contract, {"type": "done", "x": SECRET})
    assert [type(violation) for violation in seen] == [ContractViolation]
    assert sum(gate.counts.values()) == 1
    assert "gns3-chat event done" in caplog.text
    assert SECRET not in caplog.text
    assert gate.encode(contract, {"type": "done"}) == b'{"type":"done"}'


def test_a_callback_that_fails_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def fail(violation: object) -> None:
        raise RuntimeError("the callback's own fault")

    Gate("report", fail).check(SURFACE.contract("event", "done"), {})
    assert "the callback's own fault" in caplog.text


def test_off_delivers_in_silence() -> None:
    gate, seen = violated("off", SURFACE.contract("event", "done"), {"type": "done"})
    assert (seen, gate.counts) == ([], {})


@pytest.mark.parametrize("policy", ["enforce", "report", "off"])
def test_tool_returns_are_always_enforced(policy: Policy) -> None:
    with pytest.raises(ContractViolation, match="tool_return create_gns3_node"):
        Gate(policy).check(SURFACE.contract("tool_return", "create_gns3_node"), {"total": 1})


@pytest.mark.parametrize("policy", ["enforce", "report", "off"])
def test_a_placeholder_with_a_schema_never_leaves(write: Write, policy: Policy) -> None:
    folder = write(
        {
            "surface.json": {
                "name": "own",
                "version": "1.0.0",
                "title": "Own",
                "description": "A tool to come.",
                "tools": {
                    "t": {"status": "placeholder", "arguments": "a.json", "returns": "a.json"}
                },
            },
            "a.json": {},
        }
    )
    contract = Registry.from_folder(folder).surface("own").contract("tool_arguments", "t")
    with pytest.raises(ContractViolation, match="PLACEHOLDER"):
        Gate(policy).check(contract, {})


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="enforce, report, off"):
        Gate("strict")  # type: ignore[arg-type]  (what a configuration may say)


def test_violations_are_no_order_violations() -> None:
    assert not issubclass(ContractViolation, OrderViolation)
    assert issubclass(NotJson, ContractViolation)


# Cases of public bug reports


def test_b69_an_undeclared_field_is_an_error_and_no_silent_drop() -> None:
    """B69, GNS3/gns3-server 3.0 schemas/controller/chat.py: `tool_call_id` was dropped."""
    contract = SURFACE.contract("event", "tool_start")
    event = examples(contract)[0]
    assert contract.violation(event) is None
    assert orjson.loads(Gate().encode(contract, event))["tool_call_id"] == event["tool_call_id"]
    undeclared = {**SURFACE.contract("event", "content").schema["examples"][0], "tool_call_id": "c"}
    with pytest.raises(ContractViolation, match='undeclared: "tool_call_id"'):
        Gate().check(SURFACE.contract("event", "content"), undeclared)
    gate = Gate("report")
    sent = orjson.loads(gate.encode(SURFACE.contract("event", "content"), undeclared))
    assert sent["tool_call_id"] == "c"
    assert sum(gate.counts.values()) == 1


def test_b29_a_role_outside_the_schema_is_refused_with_what_is_right() -> None:
    """B29, agno-agi/agno#7556: two SDKs had different literals for one role."""
    contract = SURFACE.contract("model", "OpenAIMessage")
    violation = contract.violation({**examples(contract)[0], "role": "reasoning"})
    assert violation is not None
    assert (violation.pointer, violation.rule) == ("/role", "enum")
    assert violation.expected == 'one of "user", "assistant", "system", "tool"'
