"""Schemas in, code out; and the check that the code is what the schemas say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from copilot_contracts import Registry
from copilot_contracts.schema_files import SchemaFiles

from .bundle import bundle_surface
from .stamp import Stamp, digest, python_generator, schemas_digest


@dataclass(frozen=True, slots=True)
class FileResult:
    """What became of one generated file, or, under `check`, what should.

    `state`: `fresh` (nothing to do), `written`, `removed`; under `check` `stale` instead of the
    last two. `reason` says why it isn't fresh.
    """

    path: Path
    surface: str
    state: Literal["fresh", "written", "removed", "stale"]
    reason: str | None = None


def generate(
    schemas: Path,
    python: Path | None,
    typescript: Path | None,
    check: bool = False,
    progress: Callable[[str], None] | None = None,
) -> list[FileResult]:
    from .python import generate_python

    results = []
    files = SchemaFiles(schemas)
    for surface in Registry.from_folder(schemas).surfaces.values():
        bundle = bundle_surface(surface, files)
        target = python / bundle.surface.replace("-", "_")
        target.mkdir(parents=True, exist_ok=True)
        for name, body in generate_python(bundle).items():
            stamp = Stamp(
                bundle.surface,
                bundle.version,
                schemas_digest(bundle),
                python_generator(),
                digest(body),
            )
            (target / name).write_text(
                stamp.line("#") + "\n" + body, encoding="utf-8", newline="\n"
            )
            results.append(FileResult(target / name, bundle.surface, "written"))
    return results
