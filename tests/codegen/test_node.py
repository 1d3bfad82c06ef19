"""The Node side: what is said when it can't run, and what may stand in its files."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from copilot_codegen.errors import CodegenError
from copilot_codegen.generate import generate

ROOT = Path(__file__).parents[2]

MakeSurface = Callable[..., Path]


@pytest.fixture
def schemas(make_surface: MakeSurface) -> Path:
    return make_surface({"title": "A", "type": "string"})


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Puts shell scripts in PATH, and nothing else but /bin."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def put(name: str, script: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / name).chmod(stat.S_IRWXU)

    return put


Put = Callable[[str, str], None]


def test_without_node(schemas: Path, programs: Put, tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match=r"needs Node 20\.19 or later, and there is no `node`"):
        generate(schemas, None, tmp_path / "ts")
    assert not (tmp_path / "ts").exists()


@pytest.mark.parametrize("version", ["v20.18.3", "v18.20.0", "v4.0.0", "nonsense", ""])
def test_node_is_too_old(schemas: Path, programs: Put, tmp_path: Path, version: str) -> None:
    programs("node", f"echo {version}")
    with pytest.raises(CodegenError, match=rf"needs Node 20\.19 or later; .* is {version}"):
        generate(schemas, None, tmp_path / "ts")


def test_without_npm(schemas: Path, programs: Put, tmp_path: Path) -> None:
    programs("node", "echo v22.1.0")
    with pytest.raises(CodegenError, match="needs npm, which comes with Node"):
        generate(schemas, None, tmp_path / "ts")


def test_the_packages_can_not_be_had(schemas: Path, programs: Put, tmp_path: Path) -> None:
    programs("node", "echo v22.1.0")
    programs("npm", "echo 'npm error network timeout' >&2; exit 1")
    with pytest.raises(CodegenError, match="could not be installed; `npm ci` said:\nnpm error net"):
        generate(schemas, None, tmp_path / "ts")
    assert list((tmp_path / "cache/copilot-contracts/codegen").iterdir()) == []


def test_packages_are_installed_once(schemas: Path, programs: Put, tmp_path: Path) -> None:
    programs("node", "[ $1 = --version ] && echo v20.19.0 || { cat >/dev/null; echo '// made'; }")
    programs("npm", f"echo $* >> {tmp_path}/npm.log")
    said: list[str] = []
    generate(schemas, None, tmp_path / "ts", progress=said.append)
    generate(schemas, None, tmp_path / "ts2", progress=said.append)
    log = (tmp_path / "npm.log").read_text(encoding="utf-8").splitlines()
    assert len(log) == 1
    assert log[0].startswith("ci --ignore-scripts")
    assert said.count("Installing json-schema-to-typescript (once)") == 1
    (folder,) = (tmp_path / "cache/copilot-contracts/codegen").iterdir()
    assert (folder / "package-lock.json").exists()
    assert (tmp_path / "ts/sample.ts").read_text(encoding="utf-8").endswith("// made\n")


def test_a_failure_of_the_generator_is_told(schemas: Path, programs: Put, tmp_path: Path) -> None:
    programs("node", "[ $1 = --version ] && echo v20.19.0 || { echo 'Error: no' >&2; exit 1; }")
    programs("npm", "exit 0")
    with pytest.raises(CodegenError, match="json-schema-to-typescript failed:\nError: no"):
        generate(schemas, None, tmp_path / "ts")


def test_lock_files_hold_no_addresses_to_fetch_from() -> None:
    """npm then asks whatever registry is configured; the hashes are what counts."""
    listed = subprocess.run(
        ["git", "ls-files", "*package-lock.json", "*.npmrc"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert "codegen/typescript/package-lock.json" in listed
    assert "contracts/typescript/package-lock.json" in listed
    for file in listed:
        text = (ROOT / file).read_text(encoding="utf-8")
        assert '"resolved"' not in text
        assert "registry=" not in text
        if file.endswith(".json"):
            assert text.count('"integrity"') >= text.count('"node_modules/')


def test_as_a_wheel_installs_it(schemas: Path, node: str, tmp_path: Path) -> None:
    """There, the Node side lies in the package; pyproject.toml puts it there."""
    package = tmp_path / "site/copilot_codegen"
    shutil.copytree(ROOT / "codegen/copilot_codegen", package)
    shutil.copytree(ROOT / "codegen/typescript", package / "typescript")
    script = (
        "import sys; from pathlib import Path; import copilot_codegen.node as node\n"
        "from copilot_codegen.generate import generate\n"
        "generate(Path(sys.argv[1]), None, Path(sys.argv[2])); print(node.node_folder())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(schemas), str(tmp_path / "ts")],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert done.stdout.strip() == str((package / "typescript").resolve())
    assert "export type A = string;" in (tmp_path / "ts/sample.ts").read_text(encoding="utf-8")
