"""The schema and the generated model of a contract agree, on valid values and on mutants.

The one exception: a reader ignores undeclared keys, where a closed schema refuses them. What it
then holds, the value without those keys, the schema takes.
"""

from importlib import import_module
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from pydantic import ValidationError

from copilot_contracts import Contract, Registry
from copilot_contracts.reading import dump, read
from copilot_contracts.strategies import contract_instances, contract_mutants


def _contracts() -> dict[str, tuple[Contract, Any]]:
    """Each shape of each surface once, by the title it shares with its model."""
    found: dict[str, tuple[Contract, Any]] = {}
    for name, surface in Registry.bundled().surfaces.items():
        package = import_module(f"copilot_contracts.generated.{name.replace('-', '_')}")
        for contract in surface.contracts():
            title = contract.schema["title"]
            found[f"{name} {title}"] = (contract, package.CONTRACTS[contract.kind, contract.name])
    return found


CONTRACTS = _contracts()
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
each_contract = pytest.mark.parametrize("name", CONTRACTS)


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


@each_contract
def test_the_model_takes_the_examples(name: str) -> None:
    contract, shape = CONTRACTS[name]
    for example in contract.schema["examples"]:
        assert same(dump(shape, read(shape, example)), example)


@each_contract
def test_the_model_takes_what_the_schema_takes_and_gives_it_back(name: str) -> None:
    contract, shape = CONTRACTS[name]

    @settings(UNHURRIED, max_examples=30)
    @given(contract_instances(contract))
    def check(value: Any) -> None:
        assert same(dump(shape, read(shape, value)), value)

    check()


@each_contract
def test_the_model_refuses_what_the_schema_refuses(name: str) -> None:
    contract, shape = CONTRACTS[name]

    @settings(UNHURRIED, max_examples=100)
    @given(contract_mutants(contract))
    def check(value: Any) -> None:
        try:
            held = dump(shape, read(shape, value))
        except ValidationError:
            assert not contract.accepts(value)
        else:
            assert contract.accepts(held)
            assert same(held, without_keys(value, held))

    check()
