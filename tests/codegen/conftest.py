"""Surfaces of a few schemas, what is generated from them, and TypeScript's compiler."""

import importlib.util
import itertools
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from copilot_codegen.generate import generate

ROOT = Path(__file__).parents[2]
SURFACES = Path(__file__).parent / "surfaces"
NPM_PACKAGE = ROOT / "contracts/typescript"
DIALECT = "https://json-schema.org/draft/2020-12/schema"

Json = dict[str, Any]


@pytest.fixture
def make_surface(tmp_path: Path) -> Callable[..., Path]:
    """Writes a folder with one surface: a file for each of `models`, and `events` by name."""

    def make(
        *models: Json,
        events: Mapping[str, Json] | None = None,
        tag: str | None = "type",
        name: str = "sample",
        **catalogue: Any,
    ) -> Path:
        folder = tmp_path / "surfaces" / name
        document: Json = {
            "name": name,
            "version": "1.0.0",
            "title": "A sample",
            "description": "Made for a test.",
            **catalogue,
        }
        if models:
            document["models"] = {m["title"]: _put(folder, m["title"], m) for m in models}
        if events:
            document["sse"] = {"framing": "data", "tag": tag} if tag else {"framing": "named"}
            document["order"] = {"last": [list(events)[-1]]}
            document["events"] = {
                event: {"status": "active", **_put(folder, f"event_{number}", schema)}
                for number, (event, schema) in enumerate(events.items())
            }
        (folder / "surface.json").write_text(json.dumps(document), encoding="utf-8")
        return folder.parent

    return make


def _put(folder: Path, name: str, schema: Json) -> Json:
    file = folder / f"{name.lower()}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"$schema": DIALECT, **schema}), encoding="utf-8")
    return {"schema": file.name}


_numbers = itertools.count()


@pytest.fixture(scope="session")
def load_package() -> Iterator[Callable[..., ModuleType]]:
    """Imports a generated package from its folder, under a name of its own."""
    names: list[str] = []

    def load(folder: Path) -> ModuleType:
        name = f"generated_{next(_numbers)}"
        spec = importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert spec is not None
        assert spec.loader is not None
        package = importlib.util.module_from_spec(spec)
        sys.modules[name] = package
        names.append(name)
        spec.loader.exec_module(package)
        return package

    yield load
    for name in list(sys.modules):
        if name.partition(".")[0] in names:
            del sys.modules[name]


@pytest.fixture
def generated_package(
    tmp_path: Path, load_package: Callable[[Path], ModuleType]
) -> Callable[[Path], ModuleType]:
    """Generates the surface `sample` of a folder for Python, and imports it."""

    def build(schemas: Path) -> ModuleType:
        target = tmp_path / f"python{next(_numbers)}"
        generate(schemas, target, None)
        return load_package(target / "sample")

    return build


@pytest.fixture(scope="session")
def python_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python packages of the surfaces in `surfaces/`."""
    folder = tmp_path_factory.mktemp("python")
    generate(SURFACES, folder, None)
    return folder


@pytest.fixture(scope="session")
def kitchen(python_folder: Path, load_package: Callable[[Path], ModuleType]) -> ModuleType:
    return load_package(python_folder / "kitchen")


@pytest.fixture(scope="session")
def spoken(python_folder: Path, load_package: Callable[[Path], ModuleType]) -> ModuleType:
    return load_package(python_folder / "spoken")


@pytest.fixture(scope="session")
def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("there is no Node here")
    return found


@pytest.fixture(scope="session")
def tsc(node: str) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Runs the npm package's TypeScript compiler on a folder's files, strictly."""
    compiler = NPM_PACKAGE / "node_modules/typescript/bin/tsc"
    if not compiler.exists():
        npm = shutil.which("npm")
        assert npm is not None
        subprocess.run([npm, "ci"], cwd=NPM_PACKAGE, check=True, timeout=300)
    options = json.loads((NPM_PACKAGE / "tsconfig.json").read_text(encoding="utf-8"))
    options = options["compilerOptions"]

    def compile_(folder: Path, **more: Any) -> "subprocess.CompletedProcess[str]":
        config = {"compilerOptions": {**options, **more}, "include": ["*.ts"]}
        (folder / "tsconfig.json").write_text(json.dumps(config), encoding="utf-8")
        (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
        command = [node, str(compiler), "-p", ".", "--pretty", "false"]
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
        )

    return compile_


@pytest.fixture(scope="session")
def typescript_folder(node: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The TypeScript modules of the surfaces in `surfaces/`."""
    folder = tmp_path_factory.mktemp("typescript")
    generate(SURFACES, None, folder)
    return folder
