"""Rules of the wire profile for one schema: its keywords, type, keys, constants and bounds."""

import json
import keyword
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..patterns import PatternError, SlowPatternError, check_pattern
from ..profile import ALLOWED, ANNOTATIONS, FOR_TYPE, KNOWN
from ..schema_files import escape
from ..strict_json import json_type

__all__ = ["Found", "check_keywords"]

#: Rule, JSON pointer relative to the schema, message.
Found = tuple[str, str, str]

#: Larger integers change their value in JavaScript, which reads all numbers as doubles.
SAFE_INTEGER = 2**53 - 1

_COMBINERS = ("$ref", "anyOf", "oneOf", "allOf")
_SCALARS = {"string", "integer", "number", "boolean", "null"}
_BOUNDS = (
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minimum", "maximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "maximum"),
)


def check_keywords(schema: Mapping[str, Any]) -> Iterator[Found]:
    """What is wrong in this schema itself; the schemas in it are looked at by themselves."""
    yield from _unknown(schema)
    yield from _alone(schema)
    yield from _types(schema)
    yield from _literals(schema)
    yield from _nothing(schema)
    yield from _numbers(schema)
    if "pattern" in schema:
        yield from _pattern(schema["pattern"])
    if "properties" in schema or schema.get("type") == "object":
        yield from _object(schema)
    if "prefixItems" in schema:
        closed = schema.get("items") is False
        if not closed or schema.get("minItems") != len(schema["prefixItems"]):
            message = "A tuple says `items: false` and, in `minItems`, how many items it has."
            yield "TUPLE_NOT_CLOSED", "/prefixItems", message
    elif schema.get("type") == "array" and "items" not in schema:
        message = "Say in `items` what the array holds; `true` is anything."
        yield "ARRAY_WITHOUT_ITEMS", "/type", message


def _unknown(schema: Mapping[str, Any]) -> Iterator[Found]:
    for name in schema:
        if name in ALLOWED or name.startswith("x-"):
            continue
        here = f"/{escape(name)}"
        if name == "format":
            message = "Readers disagree on formats: leave it out; say it in words, or by a pattern."
            yield "FORMAT_USED", here, message
        elif name in KNOWN:
            message = f"`{name}` can't be expressed in Python and TypeScript types."
            yield "KEYWORD_OUTSIDE_PROFILE", here, message
        else:
            message = f"There is no keyword {name!r:.100}. Own ones begin with `x-`."
            yield "KEYWORD_UNKNOWN", here, message


def _alone(schema: Mapping[str, Any]) -> Iterator[Found]:
    combiner = next((name for name in _COMBINERS if name in schema), None)
    if combiner is None:
        return
    beside = {"$defs", "type"} if combiner != "$ref" else {"$defs"}
    for name in schema:
        if name != combiner and name in ALLOWED and name not in ANNOTATIONS | beside:
            message = f"Beside `{combiner}` stand descriptions and the like only."
            yield "NOT_ALONE", f"/{name}", message


def _types(schema: Mapping[str, Any]) -> Iterator[Found]:
    named = schema.get("type")
    types = {named} if isinstance(named, str) else set(named or ())
    if isinstance(named, list):
        rest = types - {"null"}
        if "object" in rest or ("array" in rest and len(rest) > 1) or {"integer", "number"} <= rest:
            message = (
                "A list of types holds scalar types, or array and null; write other unions as "
                "anyOf, and number for both kinds of numbers."
            )
            yield "TYPE_LIST", "/type", message
    if any(name in schema for name in _COMBINERS):
        return
    for name in schema:
        owners = [type_ for type_, keywords in FOR_TYPE.items() if name in keywords]
        if owners and not types:
            message = f"`{name}` lets every value pass that is of another type: add a `type`."
            yield "TYPE_MISSING", f"/{name}", message
            return
        if owners and types.isdisjoint(owners):
            message = f"`{name}` is not for type {', '.join(sorted(types))}."
            yield "KEYWORD_NOT_FOR_TYPE", f"/{name}", message


def _literals(schema: Mapping[str, Any]) -> Iterator[Found]:
    if "const" in schema and json_type(schema["const"]) not in _SCALARS - {"number"}:
        message = "A constant is a string, an integer, a boolean or null."
        yield "CONST_NOT_LITERAL", "/const", message
    if "enum" not in schema:
        return
    values = schema["enum"]
    types = {json_type(value) for value in values} - {"null"}
    if len(types) > 1 or not types <= _SCALARS - {"number"}:
        message = "An enum holds strings, or integers, or booleans; and null."
        yield "CONST_NOT_LITERAL", "/enum", message
    elif len({json.dumps(value) for value in values}) < len(values):
        yield "CONST_NOT_LITERAL", "/enum", "A value stands in this enum twice."


def _nothing(schema: Mapping[str, Any]) -> Iterator[Found]:
    if schema.get("enum") == []:
        yield "NOTHING_VALID", "/enum", "No value is in an empty enum."
    for low, high in _BOUNDS:
        if low in schema and high in schema:
            strict = "exclusive" in low + high
            if schema[low] > schema[high] or (strict and schema[low] == schema[high]):
                yield "NOTHING_VALID", f"/{low}", f"No value lies between `{low}` and `{high}`."
    for place, part in _children(schema):
        if part is False:
            yield "NOTHING_VALID", place, "`false` takes no value at all."


def _children(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in ("properties", "$defs"):
        for key, part in schema.get(name, {}).items():
            yield f"/{name}/{escape(key)}", part
    for name in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for index, part in enumerate(schema.get(name, ())):
            yield f"/{name}/{index}", part
    if "items" in schema and "prefixItems" not in schema:
        yield "/items", schema["items"]


def _numbers(schema: Mapping[str, Any]) -> Iterator[Found]:
    for name in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
        yield from _unsafe(schema.get(name), f"/{name}")
    for name in ("const", "default", "enum", "examples"):
        yield from _unsafe(schema.get(name), f"/{name}")


def _unsafe(value: Any, pointer: str) -> Iterator[Found]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unsafe(item, f"{pointer}/{index}")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _unsafe(item, f"{pointer}/{escape(key)}")
    elif isinstance(value, int) and abs(value) > SAFE_INTEGER:
        message = "JavaScript can't hold an integer beyond 2^53 - 1: carry it as a string."
        yield "NUMBER_UNSAFE", pointer, message


def _pattern(pattern: str) -> Iterator[Found]:
    try:
        check_pattern(pattern)
    except SlowPatternError as error:
        yield "PATTERN_SLOW", "/pattern", f"Some engines take very long: {error}."
    except PatternError as error:
        yield "PATTERN_NOT_PORTABLE", "/pattern", f"Engines read this differently: {error}."


def _object(schema: Mapping[str, Any]) -> Iterator[Found]:
    properties = schema.get("properties")
    rest = schema.get("additionalProperties")
    if properties is None and rest is None and not any(name in schema for name in _COMBINERS):
        message = "Say `properties`, or, for a map, in `additionalProperties` what it holds."
        yield "OBJECT_WITHOUT_SHAPE", "/type", message
    if properties and isinstance(rest, Mapping):
        message = "An object has named keys or is a map, not both."
        yield "OBJECT_AND_MAP", "/additionalProperties", message
    if properties is not None:
        for name in ("minProperties", "maxProperties"):
            if name in schema:
                yield "KEYWORD_OUTSIDE_PROFILE", f"/{name}", f"`{name}` is for maps only."
    for index, name in enumerate(schema.get("required", ())):
        if name not in (properties or {}):
            message = f"The key {name!r:.100} is required, but `properties` doesn't declare it."
            yield "REQUIRED_UNDECLARED", f"/required/{index}", message
    yield from _names(properties or {})


def _names(properties: Mapping[str, Any]) -> Iterator[Found]:
    from pydantic import BaseModel

    names: dict[str, str] = {}
    for name in properties:
        here = f"/properties/{escape(name)}"
        plain = re.sub(r"\W+", "_", name).strip("_")
        if not plain or name == "__proto__" or not name.isprintable():
            message = f"{name!r:.100} can't be a key that every reader holds."
            yield "PROPERTY_NAME_UNSAFE", here, message
        elif plain in names:
            message = f"In Python, this and {names[plain]!r:.100} become one name."
            yield "PROPERTY_NAMES_COLLIDE", here, message
        elif (
            not (name.isidentifier() and name.isascii())
            or name.startswith("_")
            or keyword.iskeyword(name)
            or hasattr(BaseModel, name)
        ):
            message = f"In Python, {name!r:.100} gets another name (an alias)."
            yield "PROPERTY_ALIASED", here, message
        names.setdefault(plain, name)
