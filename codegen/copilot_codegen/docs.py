"""The documents of surfaces: written, and checked against what the catalogues say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from copilot_contracts.registry import Registry

from .errors import CodegenError
from .generate import FileResult, State
from .stamp import Stamp, digest, docs_generator, read_stamp
from .surface_document import surface_document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from copilot_contracts.registry import Surface

__all__ = ["document", "write_documents"]

_HEADING = re.compile(r"(?m)^#{1,3} (.*)$")


def document(surface: Surface) -> str:
    """The Markdown document of a surface, with its stamp."""
    body = surface_document(surface)
    schemas = digest(surface.fingerprint)
    stamp = Stamp(surface.name, surface.version, schemas, docs_generator(), digest(body))
    return f"{stamp.line('<!--')}\n{body}"


def write_documents(
    schemas: Path, out: Path, names: Sequence[str] = (), *, check: bool = False
) -> list[FileResult]:
    """`<surface>.md` in the folder `out`, for the surfaces of these names or for all.

    When all are meant, documents of surfaces that are gone are removed. With `check` nothing is
    written: what would be is `stale`.

    Raises copilot_contracts.SurfaceError when the schemas can't be used, UnknownSurface, and
    CodegenError when a file that isn't generated stands in the way.
    """
    registry = Registry.from_folder(schemas)
    surfaces = [registry.surface(name) for name in names or registry.surfaces]
    results = [_one(surface, out / f"{surface.name}.md", check=check) for surface in surfaces]
    if not names and not (schemas / "surface.json").exists():
        results += _orphans(set(registry.surfaces), out, check=check)
    return results


def _one(surface: Surface, path: Path, *, check: bool) -> FileResult:
    text = document(surface)
    old = path.read_text(encoding="utf-8") if path.exists() else None
    if old == text:
        return FileResult(path, surface.name, "fresh")
    reason = _reason(old, text)
    drift = tuple(_drift(old or "", text)) if old is not None else ()
    if check:
        return FileResult(path, surface.name, "stale", reason, drift)
    if old is not None and read_stamp(old) is None:
        raise CodegenError(
            f"{path} would be overwritten, but it is no generated file: its first line says "
            "nothing of it. Move or delete it."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return FileResult(path, surface.name, "written", reason, drift)


def _reason(old: str | None, new: str) -> str:
    """Why a document isn't what would be written."""
    if old is None:
        return "missing"
    found, right = read_stamp(old), read_stamp(new)
    assert right is not None
    if found is None:
        return "edited by hand: its first line isn't the generated one"
    stamp, body = found
    if digest(body) != stamp.body:
        return "edited by hand"
    if stamp.schemas != right[0].schemas:
        return f"the surface {stamp.surface} {stamp.version} changed"
    return f"generator version changed: {stamp.generator} is now {right[0].generator}"


def _drift(old: str, new: str) -> Iterator[str]:
    """A line for each section that differs."""
    before, after = _sections(old), _sections(new)
    for heading in {**before, **after}:
        if heading not in after:
            yield f"{heading} is gone"
        elif heading not in before:
            yield f"{heading} is new"
        elif before[heading] != after[heading]:
            yield f"{heading} changed"


def _sections(text: str) -> dict[str, str]:
    parts = _HEADING.split(text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _orphans(known: set[str], out: Path, *, check: bool) -> Iterator[FileResult]:
    for path in sorted(out.glob("*.md")):
        found = read_stamp(path.read_text(encoding="utf-8"))
        if found is None or found[0].surface in known:
            continue
        if not check:
            path.unlink()
        state: State = "stale" if check else "removed"
        yield FileResult(path, found[0].surface, state, "no longer has a surface")
