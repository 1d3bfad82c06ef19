"""What it means that a schema and a generated model agree.

What the schema takes the model takes, and gives back the same value. What the schema refuses the
model refuses, with one exception: a reader ignores undeclared keys, where a closed schema refuses
them. What it then holds, the value without those keys, the schema takes.
"""

from typing import Any

from hypothesis import HealthCheck, given, settings
from pydantic import ValidationError

from copilot_contracts import Contract
from copilot_contracts.mutants import neighbours
from copilot_contracts.reading import dump, read
from copilot_contracts.strategies import contract_instances, contract_mutants

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal as JSON: 1 is 1.0, and true is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


def without_keys(value: Any, kept: Any) -> Any:
    """The value without the keys that aren't in the corresponding object of `kept`."""
    if isinstance(value, dict) and isinstance(kept, dict):
        return {key: without_keys(value[key], kept[key]) for key in value.keys() & kept.keys()}
    if isinstance(value, list) and isinstance(kept, list) and len(value) == len(kept):
        return list(map(without_keys, value, kept))
    return value


def check_instances(contract: Contract, shape: Any) -> None:
    """Random valid values."""

    @settings(UNHURRIED, max_examples=30)
    @given(contract_instances(contract))
    def check(value: Any) -> None:
        assert same(dump(shape, read(shape, value)), value)

    check()


def check_neighbours(contract: Contract, shape: Any) -> None:
    """Everything that is one change away from an example, or from a few random values."""
    schema = contract.bundled()
    for example in schema["examples"]:
        for value in neighbours(schema, example):
            _agree(contract, shape, value)

    @settings(UNHURRIED, max_examples=3)
    @given(contract_instances(contract))
    def check(instance: Any) -> None:
        for value in neighbours(schema, instance):
            _agree(contract, shape, value)

    check()


def check_mutants(contract: Contract, shape: Any) -> None:
    """Random values, one or two changes away from valid ones."""

    @settings(UNHURRIED, max_examples=50)
    @given(contract_mutants(contract))
    def check(value: Any) -> None:
        _agree(contract, shape, value)

    check()


def _agree(contract: Contract, shape: Any, value: Any) -> None:
    try:
        held = dump(shape, read(shape, value))
    except ValidationError:
        assert not contract.accepts(value), value
    else:
        assert contract.accepts(held), value
        assert same(held, without_keys(value, held)), value
