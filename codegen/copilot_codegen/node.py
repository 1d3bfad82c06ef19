"""The Node side: where it lies, its packages in the user's cache, and running it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .errors import CodegenError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LOCK_FILE", "node_folder", "run_node"]

LOCK_FILE: Final = "package-lock.json"

NEEDED: Final = (20, 19)
_FILES: Final = (".npmrc", "package.json", LOCK_FILE, "generate.mjs")
_INSTALL_SECONDS: Final = 600
_RUN_SECONDS: Final = 120


def node_folder() -> Path:
    """The sources of the Node side: shipped in the package; in a checkout, beside it."""
    here = Path(__file__).resolve().parent
    shipped = here / "typescript"
    return shipped if shipped.is_dir() else here.parent / "typescript"


def run_node(text: str, progress: Callable[[str], None]) -> str:
    """What `generate.mjs` makes of `text`.

    On first use its packages are installed, in the versions of the lock file, into
    `copilot-contracts/codegen` in the user's cache folder ($XDG_CACHE_HOME, or ~/.cache).
    Raises CodegenError when there is no Node, or it fails.
    """
    node = _node()
    folder = _installed(progress)
    try:
        done = subprocess.run(  # noqa: S603 - our own script, by the Node found in PATH
            [node, "generate.mjs"],
            cwd=folder,
            input=text.encode(),
            capture_output=True,
            timeout=_RUN_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CodegenError(
            f"Generating TypeScript took longer than {_RUN_SECONDS} seconds and was stopped."
        ) from None
    if done.returncode:
        raise CodegenError(f"json-schema-to-typescript failed:\n{_tail(done.stderr)}")
    return done.stdout.decode()


def _node() -> str:
    wanted = f"Node {NEEDED[0]}.{NEEDED[1]} or later"
    node = shutil.which("node")
    if node is None:
        raise CodegenError(
            f"Generating TypeScript needs {wanted}, and there is no `node` in PATH. Install it "
            "from https://nodejs.org, or generate Python only (without --typescript)."
        )
    said = subprocess.run(  # noqa: S603 - the Node found in PATH
        [node, "--version"], capture_output=True, text=True, timeout=60, check=False
    ).stdout.strip()
    version = re.match(r"v(\d+)\.(\d+)", said)
    if version is None or (int(version[1]), int(version[2])) < NEEDED:
        raise CodegenError(f"Generating TypeScript needs {wanted}; {node} is {said or 'unknown'}.")
    return node


def _installed(progress: Callable[[str], None]) -> Path:
    source = node_folder()
    files = {name: (source / name).read_bytes() for name in _FILES}
    key = hashlib.sha256(b"\0".join(files.values())).hexdigest()[:16]
    base = os.environ.get("XDG_CACHE_HOME")
    cache = (Path(base) if base else Path.home() / ".cache") / "copilot-contracts" / "codegen"
    folder = cache / key
    if folder.is_dir():
        return folder
    npm = shutil.which("npm")
    if npm is None:
        raise CodegenError(
            "Generating TypeScript needs npm, which comes with Node; it isn't there."
        )
    progress("Installing json-schema-to-typescript (once)")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix="installing-") as new:
        for name, content in files.items():
            (Path(new) / name).write_bytes(content)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        try:
            done = subprocess.run(  # noqa: S603 - npm with our own lock file
                command, cwd=new, capture_output=True, timeout=_INSTALL_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise CodegenError(
                f"`npm ci` took longer than {_INSTALL_SECONDS} seconds and was stopped. "
                "Is the package registry within reach?"
            ) from None
        if done.returncode:
            raise CodegenError(
                "json-schema-to-typescript could not be installed; `npm ci` said:\n"
                f"{_tail(done.stderr or done.stdout)}"
            )
        try:
            Path(new).rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise
        else:
            Path(new).mkdir()  # for the context manager to remove
    return folder


def _tail(output: bytes) -> str:
    return "\n".join(output.decode("utf-8", "replace").strip().splitlines()[-15:])
