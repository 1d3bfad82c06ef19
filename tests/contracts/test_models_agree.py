"""Schema and generated model of every contract agree: on examples, random values and mutants."""

from importlib import import_module
from typing import Any

import pytest

from agreement import check_instances, check_mutants, check_neighbours, same
from copilot_contracts import Contract, Registry
from copilot_contracts.reading import dump, read


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
each_contract = pytest.mark.parametrize("name", CONTRACTS)


@each_contract
def test_examples(name: str) -> None:
    contract, shape = CONTRACTS[name]
    for example in contract.schema["examples"]:
        assert same(dump(shape, read(shape, example)), example)


@each_contract
def test_random_values(name: str) -> None:
    check_instances(*CONTRACTS[name])


@each_contract
def test_neighbours(name: str) -> None:
    check_neighbours(*CONTRACTS[name])


@each_contract
def test_mutants(name: str) -> None:
    check_mutants(*CONTRACTS[name])
