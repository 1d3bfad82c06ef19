"""One document per surface: every named shape under `$defs`, by title.

The generators invent a name for whatever has none, and number what they meet twice. So they are
given a document that leaves nothing to invent: each object with keys has a name of its own, each
reference leads to one, and an `allOf` of objects is one object.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from copilot_contracts.profile import RESERVED_TITLES
from copilot_contracts.schema_files import DIALECT, at_pointer, escape

from .errors import CodegenError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from copilot_contracts.registry import Surface
    from copilot_contracts.schema_files import SchemaFiles, Target

__all__ = ["Bundle", "Schema", "bundle_surface", "is_closed_tuple"]

Schema = dict[str, Any]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ANNOTATIONS: Final = frozenset({"title", "description", "default", "deprecated"})
_TYPED: Final = _ANNOTATIONS | _words(
    "type properties required items prefixItems additionalProperties propertyNames anyOf oneOf "
    "allOf enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength "
    "maxLength pattern minItems maxItems minProperties maxProperties $ref"
)
#: Assertions that no generated type expresses; the type's description says so.
_UNTYPED: Final = _words(
    "if then else not contains minContains maxContains uniqueItems dependentRequired "
    "dependentSchemas dependencies unevaluatedProperties unevaluatedItems patternProperties"
)
_OBJECT: Final = frozenset({"type", "properties", "required", "additionalProperties"})
#: Python can't parse a union of a few thousand, and nobody narrows one of a few hundred.
MAX_BRANCHES: Final = 500
_PASCAL_CASE: Final = re.compile(r"[A-Z][A-Za-z0-9]*")


@dataclass(frozen=True, slots=True)
class Bundle:
    """A surface as the generators see it."""

    surface: str
    version: str
    title: str
    description: str
    #: The key that names an event in its data; None when the stream names it.
    tag: str | None
    #: Every named shape, by title; refs are `#/$defs/<title>`.
    schemas: Mapping[str, Schema]
    #: (kind, name) as the registry has them → the title of the contract's shape.
    contracts: Mapping[tuple[str, str], str]
    #: Event name → the title of the member of the union `Event`, in the catalogue's order.
    events: Mapping[str, str]

    def document(self, schemas: Mapping[str, Schema]) -> Schema:
        """`schemas`, made from this bundle's, as one self-contained schema."""
        return {"$schema": DIALECT, "$defs": dict(schemas)}


def bundle_surface(surface: Surface, files: SchemaFiles) -> Bundle:
    """The surface as one document; `files` holds the folder that its registry was read from.

    Raises CodegenError when two shapes have one name, or a name can't be a type's.
    """
    catalogue = surface.catalogue
    folder = surface.folder.relative_to(files.root)
    outside = {(folder / path).as_posix(): why for path, why in catalogue.outside_profile.items()}
    builder = _Builder(files, outside)
    contracts: dict[tuple[str, str], str] = {
        (contract.kind, contract.name): builder.named(
            (contract.path.relative_to(files.root).as_posix(), "")
        )
        for contract in surface.contracts()
    }
    events = {name: title for (kind, name), title in contracts.items() if kind == "event"}
    tag = catalogue.sse.tag if catalogue.sse else None
    if events:
        events = builder.add_events(events, tag)
    return Bundle(
        surface=surface.name,
        version=surface.version,
        title=catalogue.title,
        description=catalogue.description,
        tag=tag,
        schemas=dict(sorted(builder.schemas.items())),
        contracts=contracts,
        events=events,
    )


def is_closed_tuple(schema: Schema) -> bool:
    """Has the array exactly the items of `prefixItems`?"""
    count = len(schema.get("prefixItems", ()))
    return 0 < count == schema.get("minItems") and (
        schema.get("items") is False or schema.get("maxItems") == count
    )


@dataclass(slots=True)
class _Builder:
    files: SchemaFiles
    #: Files that leave the wire profile: path to reason.
    outside: Mapping[str, str]
    schemas: dict[str, Schema] = field(default_factory=dict)
    places: dict[str, Target] = field(default_factory=dict)

    def add_events(self, events: Mapping[str, str], tag: str | None) -> dict[str, str]:
        """Add the union `Event`; gives its members by event name."""
        if len(events) > MAX_BRANCHES:
            raise CodegenError(
                f"The surface has {len(events)} events; types are made of at most {MAX_BRANCHES}."
            )
        members = dict(events) if tag else {name: self.pair(name, t) for name, t in events.items()}
        self.schemas["Event"] = {
            "description": "Any event of the surface.",
            "oneOf": [_ref(title) for title in dict.fromkeys(members.values())],
        }
        return members

    def pair(self, event: str, title: str) -> str:
        """The type of an event whose name is not in its data."""
        name = f"{pascal(event)}Message"
        if name in self.schemas:
            raise CodegenError(
                f"The title {name} is taken: it names the event `{event}` together with its data."
            )
        self.schemas[name] = {
            "description": f"The event `{event}`: its name in the stream, and its data.",
            "type": "object",
            "required": ["event", "data"],
            "properties": {"event": {"const": event}, "data": _ref(title)},
        }
        return name

    def named(self, place: Target, name: str | None = None) -> str:
        """The title of the shape at (file, pointer), which is added when it is new.

        `name` is what an object without a title is called.
        """
        path, pointer = place
        schema = self.at(place)
        last = pointer.rpartition("/")[2] or path.rpartition("/")[2].removesuffix(".json")
        title = schema.get("title") or name or pascal(last)
        if title in self.places:
            if self.places[title] != place:
                raise CodegenError(
                    f"Two shapes are called {title}: {_shown(self.places[title])} and "
                    f"{_shown(place)}. Titles become the names of types; rename one."
                )
            return title
        if not _PASCAL_CASE.fullmatch(title):
            raise CodegenError(
                f"{_shown(place)}: the title {title!r} can't be a type's name; write it in "
                "PascalCase, in the letters A to Z and digits."
            )
        if title in RESERVED_TITLES:
            raise CodegenError(
                f"{_shown(place)}: {title} is a name that the generated code uses itself; "
                "choose another title."
            )
        self.places[title] = place
        self.schemas[title] = {}
        self.schemas[title] = self.body(place, title)
        notes = sorted(_ignored(schema))
        if path in self.outside:
            notes.append(f"outside the wire profile ({self.outside[path].rstrip('.')})")
        if notes:
            note = f"The schema says more than this type: {', '.join(notes)}."
            said = self.schemas[title].get("description")
            self.schemas[title]["description"] = f"{said}\n\n{note}" if said else note
        return title

    def at(self, place: Target) -> Schema:
        schema = at_pointer(self.files.schema(place[0]), place[1])
        if isinstance(schema, bool):
            return {} if schema else {"not": {}}
        assert isinstance(schema, dict)
        if schema.get("type") == "object" and schema.get("additionalProperties") is False:
            return {**schema, "properties": schema.get("properties", {})}
        return schema

    def target(self, place: Target) -> Target:
        return self.files.resolve(*place, self.at(place)["$ref"])

    def convert(self, place: Target, name: str) -> Schema:
        """The schema at a place; for an object with keys, a reference to it."""
        schema = self.at(place)
        single = schema.get("allOf", ())
        if len(single) == 1 and not _asserts(schema) - {"allOf"}:
            return {**self.convert(_step(place, "allOf", 0), name), **_annotations(schema)}
        if "$ref" in schema and not _asserts(schema) - {"$ref"}:
            return {**_ref(self.named(self.target(place))), **_annotations(schema)}
        if "properties" in schema or "allOf" in schema:
            return _ref(self.named(place, name))
        return self.body(place, name)

    def body(self, place: Target, name: str) -> Schema:
        """The schema at a place, with references for the objects in it."""
        schema = self.at(place)
        parts = self.parts(place)
        if parts is not None:
            return {**self.together(parts, name), **_annotations(schema)}
        if "allOf" in schema:
            return self.untyped(place, "its `allOf` is neither one ref nor objects that merge")
        if "properties" in schema and schema.get("type", "object") != "object":
            return self.untyped(place, "an object with keys, or something else, is an `anyOf`")
        literals = [schema["const"]] if "const" in schema else schema.get("enum", ())
        if any(isinstance(value, float | list | dict) for value in literals):
            return self.untyped(place, "only texts, integers, booleans and null are constants")
        result = {key: value for key, value in schema.items() if key in _TYPED and key != "title"}
        if "$ref" in result:
            result["$ref"] = _ref(self.named(self.target(place)))["$ref"]
        for key in result.get("properties", ()):
            result["properties"] = {
                **result["properties"],
                key: self.convert(_step(place, "properties", key), name + pascal(key)),
            }
        for keyword in ("anyOf", "oneOf", "prefixItems"):
            if len(result.get(keyword, ())) > MAX_BRANCHES:
                return self.untyped(place, f"`{keyword}` has more than {MAX_BRANCHES} branches")
            if keyword in result:
                result[keyword] = [
                    self.convert(_step(place, keyword, index), f"{name}{index + 1}")
                    for index in range(len(result[keyword]))
                ]
        for keyword, suffix in (("items", "Item"), ("additionalProperties", "Value")):
            if isinstance(result.get(keyword), dict):
                result[keyword] = self.convert(_step(place, keyword), name + suffix)
        return result

    def untyped(self, place: Target, why: str) -> Schema:
        """Anything, for what no type expresses, where the catalogue gives the file a reason."""
        if place[0] not in self.outside:
            raise CodegenError(
                f"{_shown(place)}: can't be typed: {why}. Write it otherwise, or give the file a "
                "reason in `outside_profile` of surface.json: it then is of any type."
            )
        return _annotations(self.at(place))

    def parts(self, place: Target) -> list[Target] | None:
        """The objects that an `allOf` is made of; None when there is none, or it isn't of such."""
        schema = self.at(place)
        if "allOf" not in schema:
            return None
        found: list[Target] = []
        ways = [_step(place, "allOf", index) for index in range(len(schema["allOf"]))]
        while ways:
            way = ways.pop(0)
            part = self.at(way)
            asserts = _asserts(part)
            if asserts == {"$ref"}:
                ways.insert(0, self.target(way))
            elif asserts == {"allOf"}:
                ways[:0] = [_step(way, "allOf", index) for index in range(len(part["allOf"]))]
            elif asserts <= _OBJECT and part.get("type", "object") == "object":
                found.append(way)
            else:
                return None
        beside = _asserts(schema) - {"allOf"}
        if not beside <= _OBJECT or schema.get("type", "object") != "object":
            return None
        return [*found, place] if beside - {"type"} else found

    def together(self, parts: list[Target], name: str) -> Schema:
        """One object with the keys of all parts."""
        properties: dict[str, Schema] = {}
        required: dict[str, None] = {}
        for part in parts:
            schema = self.at(part)
            required |= dict.fromkeys(schema.get("required", ()))
            for key in schema.get("properties", ()):
                new = self.convert(_step(part, "properties", key), name + pascal(key))
                if properties.setdefault(key, new) != new:
                    way = _step(part, "properties", key)
                    properties[key] = self.untyped(way, "another part of the `allOf` has this key")
        return {"type": "object", "required": list(required), "properties": properties}


def pascal(text: str) -> str:
    """`tool_call.v2` → `ToolCallV2`: a type's name from a key or a file's name."""
    words = re.findall(r"[A-Za-z0-9]+", text)
    return "".join(word[0].upper() + word[1:] for word in words)


def _ref(title: str) -> Schema:
    return {"$ref": f"#/$defs/{title}"}


def _step(place: Target, *way: str | int) -> Target:
    return place[0], place[1] + "".join(f"/{escape(str(token))}" for token in way)


def _shown(place: Target) -> str:
    return f"{place[0]}#{place[1]}" if place[1] else place[0]


def _asserts(schema: Schema) -> set[str]:
    return set(schema.keys() & (_TYPED - _ANNOTATIONS))


def _annotations(schema: Schema) -> Schema:
    return {key: schema[key] for key in ("description", "default", "deprecated") if key in schema}


def _ignored(schema: Schema) -> set[str]:
    """The assertions without a type in a schema, those of the objects in it aside."""
    found = set(schema.keys() & _UNTYPED)
    parts = [schema.get("items"), schema.get("additionalProperties")]
    parts += schema.get("properties", {}).values()
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        parts += schema.get(keyword, ())
    for part in parts:
        if isinstance(part, dict) and "properties" not in part:
            found |= _ignored(part)
    return found
