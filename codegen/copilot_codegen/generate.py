"""Schemas in, code out; and the check that the code is what the schemas say."""

from __future__ import annotations

import keyword
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from copilot_contracts.registry import Registry
from copilot_contracts.schema_files import SchemaFiles

from .bundle import Bundle, bundle_surface
from .drift import drift
from .errors import CodegenError
from .stamp import (
    Stamp,
    digest,
    python_generator,
    read_stamp,
    same_generator,
    schemas_digest,
    typescript_generator,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["FileResult", "State", "generate"]

State = Literal["fresh", "written", "removed", "stale"]


@dataclass(frozen=True, slots=True)
class FileResult:
    """What became of one generated file, or, with `check`, what should."""

    path: Path
    surface: str
    #: `fresh`: nothing to do; else `written` or `removed`, with `check` `stale`.
    state: State
    #: Why it wasn't fresh, as a phrase.
    reason: str | None = None
    #: What the schemas say differently than the file, a line a type.
    drift: tuple[str, ...] = ()


def generate(
    schemas: Path,
    python: Path | None,
    typescript: Path | None,
    check: bool = False,
    progress: Callable[[str], None] | None = None,
) -> list[FileResult]:
    """Generate the code of every surface in `schemas`, a folder of surfaces or of one.

    `python` gets a package for each (`<surface_>/`), `typescript` a module (`<surface>.ts`); what
    is None is left out. What is fresh isn't generated again. Files of surfaces that are gone from
    a folder of surfaces are removed. With `check` nothing is written: what would be is `stale`.
    `progress` is told what begins.

    Raises copilot_contracts.SurfaceError when the schemas can't be used, CodegenError when no code
    can be made of them, or a file that isn't generated stands in the way.
    """
    say = progress or (lambda _: None)
    files = SchemaFiles(schemas)
    surfaces = Registry.from_folder(schemas).surfaces.values()
    results: list[FileResult] = []
    for surface in surfaces:
        bundle = bundle_surface(surface, files)
        for target in _targets(bundle, python, typescript, say):
            results += _check(target) if check else _write(target)
    if not (schemas / "surface.json").exists():
        known = {surface.name for surface in surfaces}
        results += _orphans(known, python, typescript, check=check)
    return results


@dataclass(slots=True)
class _Target:
    """The files that one generator writes for one surface."""

    bundle: Bundle
    stamp: Callable[[str], Stamp]
    comment: str
    paths: dict[str, Path]
    make: Callable[[], dict[str, str]]
    reasons: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.reasons = {
            name: reason for name, path in self.paths.items() if (reason := _stale(path, self))
        }


def _targets(
    bundle: Bundle, python: Path | None, typescript: Path | None, say: Callable[[str], None]
) -> Iterator[_Target]:
    schemas = schemas_digest(bundle)

    def stamp(generator: str) -> Callable[[str], Stamp]:
        return lambda body: Stamp(bundle.surface, bundle.version, schemas, generator, digest(body))

    def make_python() -> dict[str, str]:
        from .python_models import generate_python

        say(f"{bundle.surface}: Pydantic models and TypedDicts")
        return generate_python(bundle)

    def make_typescript() -> dict[str, str]:
        from .typescript_module import generate_typescript

        say(f"{bundle.surface}: TypeScript types")
        return {"": generate_typescript(bundle, say)}

    if python is not None:
        module = bundle.surface.replace("-", "_")
        if keyword.iskeyword(module):
            raise CodegenError(f"A surface can't be called {module}: that is a word of Python's.")
        paths = {name: python / module / name for name in ("__init__.py", "models.py", "types.py")}
        yield _Target(bundle, stamp(python_generator()), "#", paths, make_python)
    if typescript is not None:
        paths = {"": typescript / f"{bundle.surface}.ts"}
        yield _Target(bundle, stamp(typescript_generator()), "//", paths, make_typescript)


def _stale(path: Path, target: _Target) -> str | None:
    """Why the file isn't what `target` would write; None when it is."""
    if not path.exists():
        return "missing"
    found = read_stamp(path.read_text(encoding="utf-8"))
    if found is None:
        return "edited by hand: its first line isn't the generated one"
    stamp, body = found
    right = target.stamp(body)
    if stamp.body != right.body:
        return "edited by hand"
    if stamp.schemas != right.schemas:
        if stamp.schemas == schemas_digest(replace(target.bundle, version=stamp.version)):
            return f"version {stamp.version} is now {right.version}"
        return f"the schemas of {stamp.surface} {stamp.version} changed"
    if not same_generator(stamp.generator, right.generator):
        return f"generator version changed: {stamp.generator} is now {right.generator}"
    return None


def _check(target: _Target) -> Iterator[FileResult]:
    try:
        made = target.make() if set(target.reasons.values()) - {"missing"} else {}
    except CodegenError:  # the generator isn't installed: stale it is all the same
        made = {}
    for name, path in target.paths.items():
        if name not in target.reasons:
            yield FileResult(path, target.bundle.surface, "fresh")
            continue
        lines: list[str] = []
        if name in made and path.exists():
            text = path.read_text(encoding="utf-8")
            found = read_stamp(text)
            lines = drift(found[1] if found else text, made[name])
        yield FileResult(path, target.bundle.surface, "stale", target.reasons[name], tuple(lines))


def _write(target: _Target) -> Iterator[FileResult]:
    for path in target.paths.values():
        if path.exists() and read_stamp(path.read_text(encoding="utf-8")) is None:
            raise CodegenError(
                f"{path} would be overwritten, but it is no generated file: its first line says "
                "nothing of it. Move or delete it."
            )
    made = target.make() if target.reasons else {}
    for name, path in target.paths.items():
        if name not in target.reasons:
            yield FileResult(path, target.bundle.surface, "fresh")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        line = target.stamp(made[name]).line(target.comment)
        path.write_text(f"{line}\n{made[name]}", encoding="utf-8", newline="\n")
        yield FileResult(path, target.bundle.surface, "written", target.reasons[name])


def _orphans(
    known: set[str], python: Path | None, typescript: Path | None, *, check: bool
) -> Iterator[FileResult]:
    candidates: list[Path] = []
    if python is not None:
        candidates += sorted(python.glob("*/*.py"))
    if typescript is not None:
        candidates += sorted(typescript.glob("*.ts"))
    for path in candidates:
        found = read_stamp(path.read_text(encoding="utf-8"))
        if found is None or found[0].surface in known:
            continue
        if not check:
            path.unlink()
        state: Any = "stale" if check else "removed"
        yield FileResult(path, found[0].surface, state, "no longer has a surface")
