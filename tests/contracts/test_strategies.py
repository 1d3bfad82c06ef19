"""Strategies: what they draw fits the schema, and mutants are next to what fits."""

import subprocess
import sys
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings

from copilot_contracts import Contract, Registry
from copilot_contracts.strategies import contract_instances, contract_mutants, json_schema

CONTRACTS = list(Registry.bundled().surface("gns3-chat").contracts())
QUICK = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEARCH = settings(max_examples=5000, phases=[Phase.generate], derandomize=True, database=None)

TREE = {
    "type": "object",
    "required": ["name", "children"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#"}},
        "parent": {"$ref": "#"},
    },
}
#: A recursion that only one branch of a union ends.
EXPRESSION = {
    "$ref": "#/$defs/expression",
    "$defs": {
        "expression": {
            "anyOf": [
                {"$ref": "#/$defs/sum"},
                {"$ref": "#/$defs/product"},
                {"type": "integer"},
            ]
        },
        "sum": {
            "type": "object",
            "required": ["plus"],
            "properties": {
                "plus": {
                    "type": "array",
                    "minItems": 2,
                    "maxItems": 3,
                    "items": {"$ref": "#/$defs/expression"},
                }
            },
            "additionalProperties": False,
        },
        "product": {
            "type": "object",
            "required": ["times", "by"],
            "properties": {
                "times": {"$ref": "#/$defs/expression"},
                "by": {"$ref": "#/$defs/expression"},
            },
            "additionalProperties": False,
        },
    },
}
SCHEMAS: dict[str, dict[str, Any]] = {
    "anything": {},
    "null": {"type": "null"},
    "const": {"const": "a"},
    "enum of all scalars": {"enum": ["a", 1, True, None]},
    "list of types": {"type": ["string", "integer", "null"], "minLength": 2, "minimum": 5},
    "integer above": {"type": "integer", "exclusiveMinimum": 3, "maximum": 5},
    "integer between fractions": {"type": "integer", "minimum": 0.5, "exclusiveMaximum": 2},
    "multiples": {"type": "integer", "multipleOf": 7, "minimum": -20, "maximum": 20},
    "number": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "number of one value": {"type": "number", "minimum": 2, "maximum": 2},
    "text": {"type": "string", "minLength": 3, "maxLength": 3},
    "pattern anywhere": {"type": "string", "pattern": "b{2}"},
    "pattern whole": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
    "pattern and length": {"type": "string", "pattern": "^[ab]+$", "minLength": 3, "maxLength": 5},
    "pattern of a choice": {"type": "string", "pattern": "^a$|^b"},
    "items": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3},
    "many items": {"type": "array", "items": {"const": 1}, "minItems": 20},
    "no items": {"type": "array", "items": {"type": "string"}, "maxItems": 0},
    "tuple": {
        "type": "array",
        "prefixItems": [{"type": "string"}, {"type": "null"}],
        "items": False,
        "minItems": 2,
    },
    "empty object": {"type": "object", "properties": {}, "additionalProperties": False},
    "map": {"type": "object", "additionalProperties": {"type": "boolean"}, "minProperties": 1},
    "map of anything": {"type": "object", "additionalProperties": True, "maxProperties": 2},
    "union": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "null"}}]},
    "merged": {
        "allOf": [
            {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}},
            {"type": "object", "properties": {"b": {"const": 1}}},
        ]
    },
    "tree": TREE,
    "expression": EXPRESSION,
    "outside the profile": {"type": "integer", "not": {"multipleOf": 2}},
    "a pattern outside the profile": {"type": "string", "pattern": "^\\d$"},
}


def reference(schema: dict[str, Any]) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", SCHEMAS)
def test_values_fit_their_schema(name: str) -> None:
    validator = reference(SCHEMAS[name])

    @QUICK
    @given(json_schema(SCHEMAS[name]))
    def check(value: Any) -> None:
        validator.validate(value)

    check()


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda c: f"{c.kind}:{c.name}")
def test_instances_keep_their_contract(contract: Contract) -> None:
    validator = reference(contract.bundled())

    @QUICK
    @given(contract_instances(contract))
    def check(value: Any) -> None:
        validator.validate(value)
        assert contract.accepts(value)

    check()


@pytest.mark.parametrize(
    "contract",
    [c for c in CONTRACTS if c.kind in ("event", "request", "tool_return")],
    ids=lambda c: f"{c.kind}:{c.name}",
)
@pytest.mark.parametrize("valid", [True, False], ids=["valid", "invalid"])
def test_some_mutants_keep_the_contract_and_some_break_it(contract: Contract, valid: bool) -> None:
    find(
        contract_mutants(contract),
        lambda value: contract.accepts(value) is valid,
        settings=SEARCH,
    )


#: Slips that a mutant of a `tool_end` event must be able to be.
SLIPS = {
    "a key is missing": lambda value: "tool_name" not in value,
    "an undeclared key": lambda value: "undeclared" in value,
    "null": lambda value: value.get("tool_output", "") is None,
    "another tag": lambda value: value.get("type") == "success",
    "another status": lambda value: value.get("status") == "tool_end",
    "an empty id": lambda value: value.get("tool_call_id") == "",
    "a bound crossed": lambda value: value.get("original_size") == -1,
    "a number as text": lambda value: isinstance(value.get("original_size"), str),
    "1 for true": lambda value: type(value.get("truncated")) is int,
    "an id that its pattern refuses": lambda value: str(value.get("session_id")).endswith("\n"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_mutants_find_each_kind_of_slip(slip: str) -> None:
    contract = Registry.bundled().surface("gns3-chat").contract("event", "tool_end")
    find(
        contract_mutants(contract),
        lambda value: isinstance(value, dict) and SLIPS[slip](value),
        settings=SEARCH,
    )


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 0


@pytest.mark.parametrize("schema", [TREE, EXPRESSION], ids=["tree", "expression"])
def test_recursive_values_go_deep_and_end(schema: dict[str, Any]) -> None:
    find(json_schema(schema), lambda value: depth(value) >= 5, settings=SEARCH)


def test_a_schema_without_a_finite_value_gives_nothing() -> None:
    endless = {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#"}}}
    assert json_schema(endless).is_empty


@pytest.mark.parametrize("keys", [{}, {"a": {"const": 1}}])
def test_unknown_keys_are_left_to_mutants(keys: dict[str, Any]) -> None:
    @QUICK
    @given(json_schema({"type": "object", "properties": keys}))
    def check(value: Any) -> None:
        assert value.keys() <= keys.keys()

    check()


def test_without_hypothesis_the_error_names_the_extra() -> None:
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.modules['hypothesis'] = None; import copilot_contracts.strategies",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode != 0
    assert "copilot-contracts[testing]" in ran.stderr
