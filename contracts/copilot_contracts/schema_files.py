"""Schema files of one folder, read once, and the refs between them.

The files may come from strangers, so everything is bounded and nothing leaves the folder: no
network, no absolute path, no link out, no file that is not a file.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

from .strict_json import json_type
from .violations import SurfaceError

__all__ = [
    "DIALECT",
    "MAX_FILE_BYTES",
    "SchemaFiles",
    "Target",
    "at_pointer",
    "escape",
    "local_ref",
    "merged",
    "ref_pointer",
    "subschemas",
]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MAX_FILE_BYTES = 1024 * 1024
#: Of all files that one registry reads.
MAX_TOTAL_BYTES = 64 * 1024 * 1024
#: How deep the JSON of a schema file may nest.
MAX_SCHEMA_DEPTH = 64

#: A place in the files: path relative to the folder, and JSON pointer.
Target = tuple[str, str]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ONE = (
    "items",
    "contains",
    "additionalProperties",
    "propertyNames",
    "if",
    "then",
    "else",
    "not",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
)
_LIST = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAP = ("properties", "patternProperties", "dependentSchemas", "$defs")
#: Keywords that move a schema's base or name a place in other ways than by path.
_REFUSED = ("$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor")


def subschemas(schema: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema and every schema in it, with their JSON pointers; refs are not followed."""
    if not isinstance(schema, dict):
        return
    yield pointer, schema
    for keyword in _ONE:
        if keyword in schema:
            yield from subschemas(schema[keyword], f"{pointer}/{keyword}")
    for keyword in _LIST:
        for index, part in enumerate(schema.get(keyword, ())):
            yield from subschemas(part, f"{pointer}/{keyword}/{index}")
    for keyword in _MAP:
        for name, part in schema.get(keyword, {}).items():
            yield from subschemas(part, f"{pointer}/{keyword}/{escape(name)}")


def escape(token: str) -> str:
    """One token of a JSON pointer (RFC 6901)."""
    return token.replace("~", "~0").replace("/", "~1")


def at_pointer(document: Any, pointer: str) -> Any:
    """What a JSON pointer (RFC 6901) leads to. Raises LookupError when it leads nowhere."""
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list) and token.isdecimal():
            document = document[int(token)]
        elif isinstance(document, dict):
            document = document[token]
        else:
            raise LookupError(pointer)
    return document


def local_ref(pointer: str) -> str:
    """The ref to a place in the same document."""
    return "#" + quote(pointer, safe="/~!$&'()*+,;=:@")


def ref_pointer(ref: str) -> str:
    """The pointer of a ref to a place in the same document."""
    return unquote(ref[1:])


def merged(root: Mapping[str, Any], schema: Any) -> dict[str, Any]:
    """One schema of a bundle with its refs followed and the parts of its `allOf` put together.

    Always has `properties`, `required`, and `types`: the JSON types it allows, empty for any.
    """
    result: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    required: list[str] = []
    parts = [schema]
    while parts:
        part = parts.pop(0)
        if not isinstance(part, dict):
            continue
        if "$ref" in part:
            parts.append(at_pointer(root, ref_pointer(part["$ref"])))
        parts.extend(part.get("allOf", ()))
        properties = {**part.get("properties", {}), **properties}
        required += part.get("required", ())
        result = {**part, **result}
    result |= {"properties": properties, "required": required}
    result["types"] = _types(result)
    return result


def _types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    types = schema.get("type", ())
    if types:
        return (types,) if isinstance(types, str) else tuple(types)
    if "const" in schema:
        return (json_type(schema["const"]),)
    if "enum" in schema:
        return tuple(sorted({json_type(value) for value in schema["enum"]}))
    return ("object",) if schema["properties"] or schema["required"] else ()


class SchemaFiles:
    """The JSON files under one folder. Paths are relative to it, with `/`."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self._documents: dict[str, dict[str, Any]] = {}
        self._schemas: dict[str, dict[str, Any]] = {}
        self._schema_places: dict[str, frozenset[str]] = {}
        self._total = 0

    def document(self, path: str) -> dict[str, Any]:
        """A file's JSON object, parsed once. Raises SurfaceError."""
        if path not in self._documents:
            self._documents[path] = self._read(path)
        return self._documents[path]

    def schema(self, path: str) -> dict[str, Any]:
        """A file that is a JSON Schema of draft 2020-12 without ids. Raises SurfaceError."""
        import jsonschema_rs

        if path in self._schemas:
            return self._schemas[path]
        schema = self.document(path)
        if schema.get("$schema", DIALECT) != DIALECT:
            raise SurfaceError.at(path, "/$schema", f"only {DIALECT} is supported.")
        try:
            jsonschema_rs.meta.validate({**schema, "$schema": DIALECT})
        except jsonschema_rs.ValidationError as error:
            pointer = "".join(f"/{escape(str(token))}" for token in error.instance_path)
            raise SurfaceError.at(
                path, pointer, f"not a JSON Schema of draft 2020-12: {error.message:.300}"
            ) from None
        for pointer, part in subschemas(schema):
            for keyword in _REFUSED:
                if keyword in part:
                    raise SurfaceError.at(
                        path,
                        f"{pointer}/{keyword}",
                        f"`{keyword}` is not supported: a ref is a relative file path.",
                    )
        self._schemas[path] = schema
        return schema

    def resolve(self, path: str, pointer: str, ref: str) -> Target:
        """Where a `$ref` that stands at `pointer` of `path` leads. Raises SurfaceError."""

        def refuse(why: str) -> SurfaceError:
            return SurfaceError.at(path, f"{pointer}/$ref", f"the ref {ref!r:.200} {why}")

        file, _, fragment = ref.partition("#")
        if _SCHEME.match(file) or file.startswith("//"):
            raise refuse("is remote: only relative file paths are followed, nothing is fetched.")
        if file.startswith("/"):
            raise refuse("is an absolute path: write it relative to the file it stands in.")
        if "\\" in file or "%" in file or "?" in file or "\0" in file:
            raise refuse("is not a plain relative path with `/`.")
        target = path
        if file:
            target = os.path.normpath(PurePosixPath(path).parent / file).replace(os.sep, "/")
            if target == ".." or target.startswith("../"):
                raise refuse("leads out of the schemas' folder.")
            if not os.path.lexists(self.root / target):
                raise refuse(f"leads to {target}, which does not exist.")
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            raise refuse("names an anchor: write a JSON pointer (`#/$defs/Name`).")
        try:
            place = at_pointer(self.schema(target), fragment)
        except LookupError:
            raise refuse(f"leads to nothing: {target} has no {fragment}.") from None
        if not isinstance(place, bool) and fragment not in self._places(target):
            raise refuse("leads to something that is no schema.")
        return target, fragment

    def _places(self, path: str) -> frozenset[str]:
        if path not in self._schema_places:
            self._schema_places[path] = frozenset(p for p, _ in subschemas(self.schema(path)))
        return self._schema_places[path]

    def _read(self, path: str) -> dict[str, Any]:
        import orjson

        file = self.root / path
        real = Path(os.path.realpath(file))
        if not real.is_relative_to(self.root):
            raise SurfaceError.at(path, "", "the file is a link out of the schemas' folder.")
        try:
            if not real.exists():
                raise SurfaceError.at(path, "", "the file does not exist.")
            if not real.is_file():
                raise SurfaceError.at(path, "", "this is no regular file.")
            with real.open("rb") as stream:
                content = stream.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise SurfaceError.at(path, "", f"can't be read: {error.strerror}.") from None
        self._total += len(content)
        if len(content) > MAX_FILE_BYTES:
            raise SurfaceError.at(path, "", f"the file is larger than {MAX_FILE_BYTES} bytes.")
        if self._total > MAX_TOTAL_BYTES:
            raise SurfaceError.at(
                path, "", f"the schemas are larger than {MAX_TOTAL_BYTES} bytes together."
            )
        try:
            document = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            raise SurfaceError.at(path, "", f"not JSON: {error}.") from None
        if not isinstance(document, dict):
            raise SurfaceError.at(path, "", "the file must hold a JSON object.")
        if not _fits(document, MAX_SCHEMA_DEPTH):
            raise SurfaceError.at(path, "", f"nested deeper than {MAX_SCHEMA_DEPTH} levels.")
        return document


def _fits(value: Any, room: int) -> bool:
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return True
    return room > 0 and all(_fits(item, room - 1) for item in value)
