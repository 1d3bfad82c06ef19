"""The linter: surfaces against the wire profile, and catalogues against their schemas.

    >>> from copilot_contracts.lint import lint
    >>> for finding in lint("schemas"):
    ...     print(finding)  # path:line:column: RULE message

The rules, why each is there, and examples: docs/wire-profile.md.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..schema_files import SchemaFiles, at_pointer, subschemas
from ..violations import SurfaceError
from .consumers import check_consumers
from .documents import check_meta_schema, check_titles, check_values, check_words
from .entries import Bundles, check_catalogue, check_entries, check_order, check_shape, entries
from .folder import CATALOGUE, Folder
from .inconsistencies import check_inconsistencies
from .keywords import check_keywords
from .refs import bundles, check_refs, places, reached
from .rules import RULES, Finding, Level, Rule
from .unions import check_combination

__all__ = ["RULES", "Finding", "Level", "Rule", "lint", "surfaces_in"]


def lint(path: str | Path) -> list[Finding]:
    """All that is wrong in a surface's folder, or in a folder of surfaces' folders.

    Reads nothing outside of it, and fetches nothing. Raises NotADirectoryError.
    """
    return sorted({finding for folder in _folders(path) for finding in _lint_surface(folder)})


def surfaces_in(path: str | Path) -> list[str]:
    """What `lint` looks at, such as "gns3-chat 1.0.0"; where a catalogue can't be read, its folder.

    Raises NotADirectoryError.
    """
    return [_named(folder) for folder in _folders(path)]


def _folders(path: str | Path) -> list[Path]:
    root = Path(path)
    if not root.is_dir():
        raise NotADirectoryError(f"There is no folder {root}: lint reads a folder of schemas.")
    surfaces = sorted(file.parent for file in root.glob(f"*/{CATALOGUE}"))
    if (root / CATALOGUE).is_file() or not surfaces:
        return [root]
    return surfaces


def _named(folder: Path) -> str:
    try:
        catalogue = SchemaFiles(folder).document(CATALOGUE)
        return f"{catalogue['name']} {catalogue['version']}"
    except (SurfaceError, KeyError):
        return str(folder)


def _lint_surface(root: Path) -> list[Finding]:
    folder = Folder(root)
    check_shape(folder)
    check_meta_schema(folder)
    graph = check_refs(folder)
    whole = bundles(folder, graph)
    check_words(folder)
    check_titles(folder)
    for path, schema in folder.schemas():
        _check_profile(folder, path, schema, whole.get(path))
        if path in whole:
            check_values(folder, path, whole[path])
    if CATALOGUE not in folder.broken:
        check_catalogue(folder)
        check_entries(folder, whole)
        check_order(folder, whole)
        check_consumers(folder, whole)
        check_inconsistencies(folder, whole)
        _check_closed(folder, whole)
        _check_used(folder, graph)
        _allow_outside(folder)
    return folder.findings


def _check_profile(
    folder: Folder, path: str, schema: dict[str, Any], bundle: Mapping[str, Any] | None
) -> None:
    for pointer, part in subschemas(schema):
        for rule, place, message in check_keywords(part):
            folder.report(rule, path, pointer + place, message)
        if bundle is not None:
            for rule, place, message in check_combination(bundle, at_pointer(bundle, pointer)):
                folder.report(rule, path, pointer + place, message)


def _check_closed(folder: Folder, whole: Bundles) -> None:
    """Objects that we produce are closed; objects that we only accept are open."""
    met: dict[bool, set[tuple[str, str]]] = {True: set(), False: set()}
    for entry in entries(folder.catalogue):
        if entry.kind != "model" and entry.path in whole:
            produced = entry.kind in ("event", "response", "return")
            met[produced] |= places(folder, entry.path)
    for path, pointer in met[True] | met[False]:
        schema = at_pointer(folder.sources[path].value, pointer)
        closed = schema.get("additionalProperties") is False
        if "properties" not in schema:
            continue
        if (path, pointer) in met[True] and not closed:
            message = "We produce this: say `additionalProperties: false`, so that a slip shows."
            folder.report("OBJECT_NOT_CLOSED", path, pointer, message)
        elif (path, pointer) not in met[True] and closed:
            message = "We only accept this: leave it open, unknown keys are ignored."
            folder.report("OBJECT_CLOSED", path, f"{pointer}/additionalProperties", message)


def _check_used(folder: Folder, graph: dict[str, set[str]]) -> None:
    used = reached(graph, *(entry.path for entry in entries(folder.catalogue)))
    for path in folder.sources.keys() | folder.broken:
        if path not in used and path != CATALOGUE:
            message = "Neither the catalogue nor a schema that it names refers to this file."
            folder.report("FILE_UNUSED", path, "", message)


def _allow_outside(folder: Folder) -> None:
    """Drop what the catalogue's `outside_profile` allows."""
    for path in folder.catalogue.get("outside_profile", {}):
        shown = str(folder.root / path)
        kept = [
            finding
            for finding in folder.findings
            if finding.path != shown or RULES[finding.rule].group != "profile"
        ]
        if len(kept) == len(folder.findings):
            message = "This file keeps the profile: the entry has nothing to allow."
            pointer = "/outside_profile/" + path.replace("/", "~1")
            folder.report("OUTSIDE_PROFILE_UNUSED", CATALOGUE, pointer, message)
        else:
            folder.findings = kept
