"""One document per surface: every named shape under `$defs`, by title.

The generators name types after what they meet and number what they meet twice, so they are given
a document that leaves nothing to name: each object has a name of its own, each reference points at
one, and `allOf` is merged.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from .errors import CodegenError

Schema = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

# Names that the generated modules use themselves, in Python or in TypeScript.
RESERVED: Final = frozenset(
    "Annotated Any Array ConfigDict Dict EVENTS Event EventName Field Integer List Literal MISSING "
    "None NotRequired Number Optional Reader Record Required Routes Tools True False Tuple "
    "TypeAlias TypeAliasType TypedDict Union UnknownEvent StringConstraints ReadResult".split()
)

_ANNOTATIONS: Final = frozenset({"title", "description", "default", "deprecated"})
_KEPT: Final = _ANNOTATIONS | frozenset(
    "type properties required items prefixItems additionalProperties propertyNames anyOf oneOf "
    "allOf enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength "
    "maxLength pattern minItems maxItems uniqueItems minProperties maxProperties $ref".split()
)
# Assertions that no type of the generated code expresses; the type's description says so.
_UNTYPED: Final = frozenset(
    "if then else not contains minContains maxContains dependentRequired dependentSchemas "
    "dependencies unevaluatedProperties unevaluatedItems patternProperties $dynamicRef".split()
)


@dataclass(frozen=True, slots=True)
class Bundle:
    """A surface as the generators see it.

    `contracts` maps (kind, name), as the registry names them, to the title of the type that holds
    such a value. `events` maps an event's name to its type's title, in the catalogue's order.
    `tag` is the key that names an event in its data, or None when events are named by the stream.
    """

    surface: str
    version: str
    title: str
    description: str
    tag: str | None
    schemas: dict[str, Schema]
    contracts: dict[tuple[str, str], str]
    events: dict[str, str]

    def document(self) -> Schema:
        """One self-contained schema: everything under `$defs`."""
        return {"$schema": DIALECT, "$defs": self.schemas}


def pascal(text: str) -> str:
    """`tool_call.v2` → `ToolCallV2`: a type's name from a key or a file name."""
    words = re.findall(r"[^\W_]+", text)
    return "".join(word[0].upper() + word[1:] for word in words)


def read_bundle(folder: Path) -> Bundle:
    """The surface in `folder` (the one with the `surface.json`) as one document.

    Raises CodegenError when two shapes have one name, or a name can't be a type's.
    """
    catalogue = _read_json(folder / "surface.json")
    builder = _Builder(folder.resolve())
    contracts: dict[tuple[str, str], str] = {}
    events: dict[str, str] = {}
    for name, event in catalogue.get("events", {}).items():
        if "schema" in event:
            events[name] = contracts["event", name] = builder.file(event["schema"])
    for name, route in catalogue.get("routes", {}).items():
        for kind in ("request", "query"):
            if kind in route:
                contracts[kind, name] = builder.file(route[kind])
        for status, response in route["responses"].items():
            if "schema" in response:
                contracts["response", f"{name}:{status}"] = builder.file(response["schema"])
    for group in ("tools", "mcp"):
        for name, tool in catalogue.get(group, {}).items():
            contracts["tool_arguments", name] = builder.file(tool["arguments"])
            contracts["tool_return", name] = builder.file(tool["returns"])
    for name, model in catalogue.get("models", {}).items():
        contracts["model", name] = builder.file(model["schema"])
    sse = catalogue.get("sse", {})
    tag = sse.get("tag")
    if events:
        builder.add_events(events, tag)
    return Bundle(
        surface=catalogue["name"],
        version=catalogue["version"],
        title=catalogue["title"],
        description=catalogue["description"],
        tag=tag,
        schemas=dict(sorted(builder.schemas.items())),
        contracts=contracts,
        events=events,
    )


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise CodegenError(f"There is no file {path}.") from None
    except ValueError as error:
        raise CodegenError(f"{path} is not JSON: {error}") from None


@dataclass(slots=True)
class _Builder:
    root: Path
    schemas: dict[str, Schema] = field(default_factory=dict)
    places: dict[str, tuple[Path, str]] = field(default_factory=dict)
    files: dict[Path, Any] = field(default_factory=dict)

    def file(self, relative: str) -> str:
        return self.named((self.root / relative).resolve(), "")

    def add_events(self, events: dict[str, str], tag: str | None) -> None:
        """The union of the surface's events, as the type `Event`."""
        members = list(events.values())
        if tag is None:
            members = []
            for event, title in events.items():
                name = f"Named{title}"
                if name in self.schemas:
                    raise CodegenError(f"The title {name} is taken: it names the pair of {title}.")
                self.schemas[name] = {
                    "title": name,
                    "description": f"The event `{event}`, as the stream names it, and its data.",
                    "type": "object",
                    "required": ["event", "data"],
                    "properties": {
                        "event": {"const": event},
                        "data": {"$ref": f"#/$defs/{title}"},
                    },
                }
                members.append(name)
        self.schemas["Event"] = {
            "title": "Event",
            "description": "Every event of the surface.",
            "oneOf": [{"$ref": f"#/$defs/{name}"} for name in members],
        }

    def named(self, path: Path, pointer: str, name: str | None = None) -> str:
        """The name under which the schema at (file, pointer) stands; adds it when new."""
        schema = self.at(path, pointer)
        title = schema.get("title") or name or pascal(pointer.rpartition("/")[2] or path.stem)
        place = (path, pointer)
        if title in self.places:
            if self.places[title] != place:
                raise CodegenError(
                    f"Two shapes have the title {title}: {self.where(*self.places[title])} and "
                    f"{self.where(*place)}. Titles become type names; give one of them another."
                )
            return title
        if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", title):
            raise CodegenError(
                f"{self.where(*place)}: the title {title!r} can't be a type's name; "
                "write it in PascalCase with the letters A-Z and digits."
            )
        if title in RESERVED:
            raise CodegenError(
                f"{self.where(*place)}: the title {title} is the name of something that the "
                "generated code uses itself; choose another."
            )
        self.places[title] = place
        self.schemas[title] = {}  # holds the place while the schema refers to itself
        self.schemas[title] = {"title": title, **self.body(schema, path, pointer, title)}
        return title

    def where(self, path: Path, pointer: str) -> str:
        shown = path.relative_to(self.root) if path.is_relative_to(self.root) else path
        return f"{shown.as_posix() if isinstance(shown, Path) else shown}#{pointer}"

    def at(self, path: Path, pointer: str) -> Schema:
        if path not in self.files:
            if not path.is_relative_to(self.root):
                raise CodegenError(f"{path} lies outside the surface's folder {self.root}.")
            self.files[path] = _read_json(path)
        node = self.files[path]
        for token in pointer.split("/")[1:]:
            key = token.replace("~1", "/").replace("~0", "~")
            try:
                node = node[int(key)] if isinstance(node, list) else node[key]
            except (KeyError, IndexError, ValueError, TypeError):
                raise CodegenError(f"{self.where(path, pointer)}: there is nothing here.") from None
        if node is True:
            return {}
        if not isinstance(node, dict):
            raise CodegenError(f"{self.where(path, pointer)}: this is no schema that has values.")
        return node

    def target(self, ref: str, path: Path) -> tuple[Path, str]:
        file, _, pointer = ref.partition("#")
        return (path.parent / file).resolve() if file else path, pointer

    def convert(self, path: Path, pointer: str, name: str) -> Schema:
        """The schema at (file, pointer), with every object in it replaced by a reference.

        `name` is what an object without a title is called.
        """
        schema = self.at(path, pointer)
        if "$ref" in schema and not (schema.keys() & (_KEPT - _ANNOTATIONS - {"$ref"})):
            reference = {"$ref": f"#/$defs/{self.named(*self.target(schema['$ref'], path))}"}
            return reference | {k: schema[k] for k in ("description", "default") if k in schema}
        if _is_record(schema) or ("title" in schema and _is_named_kind(schema)):
            return {"$ref": f"#/$defs/{self.named(path, pointer, name)}"}
        return self.body(schema, path, pointer, name)

    def body(self, schema: Schema, path: Path, pointer: str, name: str) -> Schema:
        result = {k: v for k, v in schema.items() if k in _KEPT and k != "title"}
        if "properties" in result:
            result["properties"] = {
                key: self.convert(path, f"{pointer}/properties/{_escape(key)}", name + pascal(key))
                for key in result["properties"]
            }
        for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            if key in result:
                result[key] = [
                    self.convert(path, f"{pointer}/{key}/{i}", f"{name}{i + 1}")
                    for i in range(len(result[key]))
                ]
        for key, suffix in (("items", "Item"), ("additionalProperties", "Value")):
            if isinstance(result.get(key), dict):
                result[key] = self.convert(path, f"{pointer}/{key}", name + suffix)
        if "$ref" in result:
            title = self.named(*self.target(result["$ref"], path))
            result["$ref"] = f"#/$defs/{title}"
        return result


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _is_record(schema: Schema) -> bool:
    """Is it an object with keys of its own (not a map)?"""
    return "properties" in schema or (
        schema.get("type") == "object" and schema.get("additionalProperties") is False
    )


def _is_named_kind(schema: Schema) -> bool:
    return bool(schema.keys() & {"anyOf", "oneOf", "allOf", "enum"})
