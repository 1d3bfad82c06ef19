"""The promise of the wire profile: of what the linter lets pass, schema and models agree.

`profile/` has a shape for each part of the profile.
"""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from agreement import check_instances, check_mutants, check_neighbours
from copilot_codegen.generate import generate
from copilot_contracts import Contract, Registry
from copilot_contracts.lint import lint

PROFILE = Path(__file__).parent / "profile"
NAMES = list(json.loads((PROFILE / "surface.json").read_text())["models"])


@pytest.fixture(scope="module")
def package(
    tmp_path_factory: pytest.TempPathFactory, load_package: Callable[[Path], ModuleType]
) -> ModuleType:
    folder = tmp_path_factory.mktemp("python")
    generate(PROFILE, folder, None)
    return load_package(folder / "profile")


def contract_and_shape(package: ModuleType, name: str) -> tuple[Contract, Any]:
    contract = Registry.from_folder(PROFILE).surface("profile").contract("model", name)
    return contract, package.CONTRACTS["model", name]


def test_the_shapes_keep_the_profile() -> None:
    assert {finding.rule for finding in lint(PROFILE)} == {"PROPERTY_ALIASED"}


@pytest.mark.parametrize("name", NAMES)
def test_random_values(package: ModuleType, name: str) -> None:
    check_instances(*contract_and_shape(package, name))


@pytest.mark.parametrize("name", NAMES)
def test_neighbours(package: ModuleType, name: str) -> None:
    check_neighbours(*contract_and_shape(package, name))


@pytest.mark.parametrize("name", NAMES)
def test_mutants(package: ModuleType, name: str) -> None:
    check_mutants(*contract_and_shape(package, name))
