"""The page's files are what its sources build, and the sources are well typed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
SOURCES = REPOSITORY / "adapters" / "web"
BUILT = REPOSITORY / "adapters" / "copilot_adapters" / "starlette" / "page"

pytestmark = pytest.mark.node


def npm(*arguments: str) -> None:
    program = shutil.which("npm")
    if program is None:
        pytest.skip("npm is not on the path.")
    done = subprocess.run(
        [program, *arguments], cwd=SOURCES, capture_output=True, text=True, timeout=110
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module", autouse=True)
def packages() -> None:
    """The pinned compilers, installed once."""
    installed = SOURCES / "node_modules" / ".package-lock.json"
    wanted = SOURCES / "package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < wanted.stat().st_mtime:
        npm("ci", "--ignore-scripts")


def test_the_types_agree() -> None:
    npm("run", "check")


def test_the_committed_page_is_what_the_sources_build(tmp_path: Path) -> None:
    npm("run", "build", "--", str(tmp_path))
    built = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert sorted(built) == ["index.html", "page.css", "page.js"]
    for name, data in built.items():
        same = (BUILT / name).read_bytes() == data
        assert same, f"{name} is stale: run `npm run build` in adapters/web, and commit it."


def test_the_lock_file_names_no_address() -> None:
    assert "://" not in (SOURCES / "package-lock.json").read_text()
