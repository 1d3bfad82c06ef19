"""The wire profile: the part of JSON Schema 2020-12 that Python and TypeScript both express.

This is what the linter and the test strategies share: which keywords there are, and how the
branches of a union are told apart. Schemas here are self-contained (refs begin with `#`), as
`Contract.bundled()` gives them. `docs/wire-profile.md` is the profile for people.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from .schema_files import merged
from .strict_json import json_type

__all__ = [
    "ALLOWED",
    "ANNOTATIONS",
    "FOR_TYPE",
    "KNOWN",
    "RESERVED_TITLES",
    "TYPES",
    "branches",
    "literals",
    "split",
]

TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Keywords that say something without restricting a value.
ANNOTATIONS = _words("$schema $comment title description default examples deprecated")

#: Keywords that restrict the values of one type and leave the others alone.
FOR_TYPE: Mapping[str, frozenset[str]] = {
    "object": _words("properties required additionalProperties minProperties maxProperties"),
    "array": _words("items prefixItems minItems maxItems"),
    "string": _words("minLength maxLength pattern"),
    "integer": _words("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
    "number": _words("minimum maximum exclusiveMinimum exclusiveMaximum"),
}

ALLOWED = ANNOTATIONS.union(
    _words("$ref $defs type const enum anyOf oneOf allOf"), *FOR_TYPE.values()
)

#: Every keyword of the draft, and those of older ones that tools still read.
KNOWN = ALLOWED | _words(
    "$id $anchor $dynamicRef $dynamicAnchor $vocabulary $recursiveRef $recursiveAnchor "
    "not if then else dependentSchemas dependentRequired dependencies definitions contains "
    "minContains maxContains uniqueItems additionalItems propertyNames patternProperties "
    "unevaluatedItems unevaluatedProperties format contentEncoding contentMediaType "
    "contentSchema readOnly writeOnly"
)

#: Names that generated modules use themselves, in Python or TypeScript: no title can be one.
RESERVED_TITLES = _words(
    "Annotated Any Array AsTuple BaseModel Boolean ConfigDict Date Dict EVENTS Error Event "
    "EventName False Field Function Integer List Literal MISSING Map McpTools Never None "
    "NotRequired Null Number Object Omit Optional Partial Pick Promise ReadResult Reader Readonly "
    "Record Required RootModel Routes Set String StringConstraints Symbol Tools True Tuple "
    "TypeAdapter TypeAlias TypeAliasType TypedDict Union UnknownEvent"
)


def branches(root: Mapping[str, Any], schema: Any) -> list[dict[str, Any]]:
    """The branches of a union, each `merged`, those of unions in it included.

    Any other schema is its own only branch.
    """
    whole = merged(root, schema)
    options = whole.get("anyOf") or whole.get("oneOf")
    if not options:
        return [whole]
    return [branch for option in options for branch in branches(root, option)]


def split(root: Mapping[str, Any], one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether no value fits both of two merged branches, as a reader can tell at a glance.

    By JSON type; by a required key with different constants; by a required key that the other,
    closed branch doesn't have; by different constants.
    """
    common = _types(one) & _types(other)
    if not common:
        return True
    if _different(literals(one), literals(other)):
        return True
    if common != {"object"}:
        return False
    for key in set(one["required"]) & set(other["required"]):
        tags = [merged(root, branch["properties"].get(key)) for branch in (one, other)]
        if _different(literals(tags[0]), literals(tags[1])):
            return True
    return _forbids(one, other["required"]) or _forbids(other, one["required"])


def literals(schema: Mapping[str, Any]) -> list[Any] | None:
    """The values of a `const` or an `enum`; None when the schema has neither."""
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _types(branch: Mapping[str, Any]) -> set[str]:
    types = set(branch["types"] or TYPES)
    return types | {"integer"} if "number" in types else types


def _forbids(branch: Mapping[str, Any], keys: Iterable[str]) -> bool:
    closed = branch.get("additionalProperties") is False
    return closed and any(key not in branch["properties"] for key in keys)


def _different(some: list[Any] | None, others: list[Any] | None) -> bool:
    if some is None or others is None:
        return False
    kinds = {(json_type(value), repr(value)) for value in some}
    return kinds.isdisjoint((json_type(value), repr(value)) for value in others)
