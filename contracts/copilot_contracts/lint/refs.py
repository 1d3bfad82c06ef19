"""Rules for `$ref`: relative, inside the folder, to a file or a definition, ending somewhere."""

import re
from typing import Any

from ..bundling import bundle
from ..schema_files import at_pointer, subschemas
from ..violations import SurfaceError
from .folder import Folder

__all__ = ["bundles", "check_refs"]

_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_DEFINITION = re.compile(r"(/\$defs/[^/]+)?")


def check_refs(folder: Folder) -> dict[str, set[str]]:
    """Which files each file refers to. A file with a ref that leads nowhere is broken."""
    graph: dict[str, set[str]] = {}
    for path, schema in list(folder.schemas()):
        graph[path] = set()
        for pointer, part in subschemas(schema):
            if isinstance(ref := part.get("$ref"), str):
                _check_ref(folder, path, pointer, ref, graph[path])
    return graph


def _check_ref(folder: Folder, path: str, pointer: str, ref: str, targets: set[str]) -> None:
    place = f"{pointer}/$ref"
    try:
        target, fragment = folder.files.resolve(path, pointer, ref)
    except SurfaceError as error:
        problem = error.problems[0]
        if (problem.path, problem.pointer) == (path, place):
            folder.broken.add(path)
            folder.report(_rule(path, ref), path, place, f"T{problem.message[1:]}")
        else:  # the target itself is broken, and said so
            targets.add(problem.path)
        return
    targets.add(target)
    if not _DEFINITION.fullmatch(fragment):
        message = "A ref leads to a file or to a definition (`#/$defs/Name`), not into a schema."
        folder.report("REF_NOT_DEFINITION", path, place, message)


def _rule(path: str, ref: str) -> str:
    if _REMOTE.match(ref):
        return "REF_REMOTE"
    depth = path.count("/")
    for step in ref.partition("#")[0].split("/"):
        depth += {"..": -1, ".": 0}.get(step, 1)
        if depth < 0:
            return "REF_OUTSIDE"
    return "REF_OUTSIDE" if ref.startswith("/") else "REF_UNRESOLVED"


def bundles(folder: Folder, graph: dict[str, set[str]]) -> dict[str, dict[str, Any]]:
    """Each file with all that it refers to, where all of it can be understood."""
    found: dict[str, dict[str, Any]] = {}
    for path, _ in list(folder.schemas()):
        if any(target not in graph or target in folder.broken for target in reached(graph, path)):
            continue
        try:
            found[path] = bundle(folder.files, path)
        except SurfaceError as error:
            folder.report("REF_ENDLESS", path, "", f"In this file, {error.problems[0].message}")
    return found


def reached(graph: dict[str, set[str]], *paths: str) -> set[str]:
    """The files themselves and those that they refer to, over any number of refs."""
    seen: set[str] = set()
    open_ = list(paths)
    while open_:
        path = open_.pop()
        if path not in seen:
            seen.add(path)
            open_ += graph.get(path, ())
    return seen


def places(folder: Folder, path: str) -> set[tuple[str, str]]:
    """Every schema that a value of the file's schema meets: file and JSON pointer."""
    seen: set[tuple[str, str]] = set()
    open_ = [(path, "")]
    while open_:
        target, pointer = open_.pop()
        if (target, pointer) in seen:
            continue
        schema = at_pointer(folder.sources[target].value, pointer)
        for place, part in subschemas(schema, pointer):
            if "/$defs/" in place[len(pointer) :]:
                continue
            seen.add((target, place))
            if isinstance(ref := part.get("$ref"), str):
                open_.append(folder.files.resolve(target, place, ref))
    return seen
