"""One self-contained schema out of a file and all that it refers to.

What is compiled, fingerprinted and generated from is this one document: its refs all start with
`#`, and what other files gave stands under `$defs`, named by its title.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from .schema_files import (
    DIALECT,
    SchemaFiles,
    Target,
    at_pointer,
    escape,
    local_ref,
    ref_pointer,
    subschemas,
)
from .violations import SurfaceError

__all__ = ["MAX_EXPANDED_NODES", "bundle"]

#: How many schemas a contract may have when every ref is replaced by what it names. Schemas that
#: double at each ref (a "billion laughs") take exponential time in any validator.
MAX_EXPANDED_NODES = 100_000
MAX_REF_CHAIN = 100

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Keywords whose schemas look at the same value as the schema that holds them.
_IN_PLACE = re.compile(r"/(allOf|anyOf|oneOf)/\d+|/(not|if|then|else)|/dependentSchemas/[^/]+")


def bundle(files: SchemaFiles, path: str) -> dict[str, Any]:
    """The schema of a file with everything that it refers to. Raises SurfaceError."""
    result = _Bundle(files, path).result
    _check_expansion(path, result)
    return result


class _Bundle:
    def __init__(self, files: SchemaFiles, path: str) -> None:
        self._files = files
        self._path = path
        root = files.schema(path)
        self._names: dict[Target, str] = {}
        self._taken = set(root.get("$defs", {}))
        self._open: list[Target] = []
        self.result: dict[str, Any] = {"$schema": DIALECT, **self._rewritten(path, "")}
        defs = dict(self.result.pop("$defs", {}))
        while self._open:
            target = self._open.pop(0)
            defs[self._names[target]] = self._rewritten(*target)
        if defs:
            self.result["$defs"] = defs

    def _rewritten(self, path: str, pointer: str) -> Any:
        """A copy of a schema whose refs lead into the bundle."""
        schema = at_pointer(self._files.schema(path), pointer)
        if isinstance(schema, bool):
            return schema
        schema = _copied(schema)
        if path != self._path:
            # Each of another file's definitions comes along by itself, if something refers to it.
            schema.pop("$defs", None)
            schema.pop("$schema", None)
        for place, part in subschemas(schema, pointer):
            ref = part.get("$ref")
            if isinstance(ref, str):
                part["$ref"] = local_ref(self._place(self._files.resolve(path, place, ref)))
        return schema

    def _place(self, target: Target) -> str:
        path, pointer = target
        if path == self._path:
            return pointer
        if target not in self._names:
            self._names[target] = self._name(target)
            self._open.append(target)
        return f"/$defs/{escape(self._names[target])}"

    def _name(self, target: Target) -> str:
        path, pointer = target
        schema = at_pointer(self._files.schema(path), pointer)
        title = schema.get("title") if isinstance(schema, dict) else None
        last = pointer.rpartition("/")[2] or PurePosixPath(path).stem
        name = title if isinstance(title, str) and _NAME.fullmatch(title) else last
        chosen, number = name, 2
        while chosen in self._taken:
            chosen, number = f"{name}{number}", number + 1
        self._taken.add(chosen)
        return chosen


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value


def _check_expansion(path: str, schema: dict[str, Any]) -> None:
    """No ref that comes back to itself without going into the value, and no explosion."""
    sizes: dict[str, int] = {}
    entered: list[str] = []

    def size(pointer: str) -> int:
        """The schemas below, refs replaced by what they name; a recursive ref counts as none."""
        if pointer in entered:
            return 0
        if pointer not in sizes:
            if len(entered) == MAX_REF_CHAIN:
                raise SurfaceError.at(
                    path, "", f"a chain of more than {MAX_REF_CHAIN} refs, one behind the other."
                )
            entered.append(pointer)
            refs = list(_refs(schema, pointer))
            sizes[pointer] = len(refs) + sum(size(ref) for _, ref in refs if ref is not None)
            entered.pop()
        if sizes[pointer] > MAX_EXPANDED_NODES:
            raise SurfaceError.at(
                path, "", f"its refs expand to more than {MAX_EXPANDED_NODES} schemas."
            )
        return sizes[pointer]

    def follow(pointer: str) -> None:
        """Refuses a chain of refs that look at one and the same value and come back."""
        if pointer in entered:
            chain = " -> ".join(
                f"#{name}" for name in [*entered[entered.index(pointer) :], pointer]
            )
            raise SurfaceError.at(
                path, pointer, f"a recursive ref chain that never goes into the value: {chain}."
            )
        if pointer in followed:
            return
        entered.append(pointer)
        for way, ref in _refs(schema, pointer):
            if ref is not None and _IN_PLACE.sub("", way) == "":
                follow(ref)
        entered.pop()
        followed.add(pointer)

    followed: set[str] = set()
    size("")
    for pointer in sizes:
        follow(pointer)


def _refs(schema: dict[str, Any], pointer: str) -> Iterator[tuple[str, str | None]]:
    """Every schema in the one at `pointer`: the way to it, and where its ref leads, if anywhere."""
    part = at_pointer(schema, pointer)
    if isinstance(part, dict) and "$defs" in part:
        part = {key: value for key, value in part.items() if key != "$defs"}
    for way, inner in subschemas(part):
        ref = inner.get("$ref")
        yield way, ref_pointer(ref) if isinstance(ref, str) else None
