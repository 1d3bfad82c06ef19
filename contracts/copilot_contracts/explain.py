"""Why a value breaks a schema: the branch that was meant, and a violation that holds no value.

One way is followed from the root to the first fault. At a union only the branch that the value
names counts: by a tag, else by a required key that the other branches don't have, else by JSON
type. (Asking a validator for the errors of all branches takes time exponential in the depth.)
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .profile import literals
from .schema_files import at_pointer, escape, merged, ref_pointer
from .strict_json import json_type

if TYPE_CHECKING:
    from jsonschema_rs import ValidatorMap

__all__ = ["Explanation", "explain", "pointer_text", "show_key"]

#: pointer, rule, expected, got
Explanation = tuple[str, str, str, str]

_MAX_SHOWN = 8
#: Keys of the value that the schema doesn't name may be shown when they look like names; anything
#: longer or odder could be a secret or a text.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,23}")
#: Keywords that hold schemas. The rest is asserted of the value itself.
_HOLDS_SCHEMAS = frozenset(
    {"$ref", "$defs", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"}
    | {"properties", "patternProperties", "additionalProperties", "propertyNames"}
    | {"items", "prefixItems", "contains", "minContains", "maxContains", "contentSchema"}
    | {"unevaluatedProperties", "unevaluatedItems"}
)
#: Of these, those not looked into: outside the wire profile, and named when all else holds.
_OPAQUE = (
    "not",
    "propertyNames",
    "patternProperties",
    "dependentSchemas",
    "unevaluatedProperties",
    "contains",
    "unevaluatedItems",
)


def explain(schema: Mapping[str, Any], validators: "ValidatorMap", value: Any) -> Explanation:
    """Why a strict value, which the schema doesn't accept, isn't accepted.

    `schema` is self-contained; `validators` are those of its parts, by pointer.
    """
    at, path = "", []
    while True:
        step = _step(schema, validators, at, value)
        if len(step) == 3:
            rule, expected, key = step
            if key is not None:
                path.append(key)
                value = value[key]
            return pointer_text(schema, path), rule, expected, json_type(value)
        at, key = step
        if key is not None:
            path.append(key)
            value = value[key]


#: On: the pointer of the next schema, and the key or index of the value it looks at, None for the
#: same value. The end: rule, what was expected, and of which key.
_Step = tuple[str, str | int | None] | tuple[str, str, str | int | None]


def _step(root: Mapping[str, Any], validators: "ValidatorMap", at: str, value: Any) -> _Step:
    """From a schema that doesn't accept the value, one step nearer to the fault."""
    schema = at_pointer(root, at)
    if schema is False:
        return "falseSchema", "nothing there", None
    local = _local_fault(root, schema, value)
    if local is not None:
        return local

    def refuses(pointer: str, part: Any) -> bool:
        return not validators[f"#{pointer}"].is_valid(part)

    for pointer in _same_value(schema, at, value, refuses):
        if refuses(pointer, value):
            return pointer, None
    for keyword in ("anyOf", "oneOf"):
        places = [f"{at}/{keyword}/{index}" for index in range(len(schema.get(keyword, ())))]
        taking = sum(not refuses(place, value) for place in places)
        if places and not taking:
            meant = _meant([merged(root, branch) for branch in schema[keyword]], value)
            return (places[meant], None) if isinstance(meant, int) else meant
        if keyword == "oneOf" and taking > 1:
            return keyword, "exactly one of the union's branches", None
    for key, pointer in _inner_values(schema, at, value):
        if refuses(pointer, value[key]):
            return pointer, key
    rule = next((keyword for keyword in _OPAQUE if keyword in schema), "if")
    return rule, f"what `{rule}` says", None


def _same_value(
    schema: Mapping[str, Any], at: str, value: Any, refuses: Callable[[str, Any], bool]
) -> Iterator[str]:
    """Where the schemas stand that the same value must keep, unions aside."""
    if "$ref" in schema:
        yield ref_pointer(schema["$ref"])
    for index in range(len(schema.get("allOf", ()))):
        yield f"{at}/allOf/{index}"
    if "if" in schema:
        branch = "else" if refuses(f"{at}/if", value) else "then"
        if branch in schema:
            yield f"{at}/{branch}"


def _inner_values(
    schema: Mapping[str, Any], at: str, value: Any
) -> Iterator[tuple[str | int, str]]:
    """The keys or indices of a value, and where the schema of what is there stands."""
    if type(value) is dict:
        properties = schema.get("properties", {})
        others = "additionalProperties" in schema and "patternProperties" not in schema
        for key in value:
            if key in properties:
                yield key, f"{at}/properties/{escape(key)}"
            elif others:
                yield key, f"{at}/additionalProperties"
    elif type(value) is list:
        first = len(schema.get("prefixItems", ()))
        for index in range(len(value)):
            if index < first:
                yield index, f"{at}/prefixItems/{index}"
            elif "items" in schema:
                yield index, f"{at}/items"


def _local_fault(
    root: Mapping[str, Any], schema: Mapping[str, Any], value: Any
) -> tuple[str, str, None] | None:
    """What the schema itself asserts and the value doesn't keep, the schemas in it aside."""
    import jsonschema_rs

    local = {key: said for key, said in schema.items() if key not in _HOLDS_SCHEMAS}
    if schema.get("additionalProperties") is False:
        for keyword in ("properties", "patternProperties"):
            local[keyword] = dict.fromkeys(schema.get(keyword, ()), True)
        local["additionalProperties"] = False
    errors = jsonschema_rs.Draft202012Validator(
        local, validate_formats=False, pattern_options=jsonschema_rs.RegexOptions()
    ).iter_errors(value)
    for error in errors:
        return error.kind.name, _expected(root, error.kind), None
    return None


def pointer_text(schema: Mapping[str, Any], path: Iterable[str | int]) -> str:
    """A JSON pointer; keys that neither the schema names nor look like names become `*`."""
    tokens = [str(t) if isinstance(t, int) else (show_key(t, schema) or "*") for t in path]
    return "".join(f"/{escape(token)}" for token in tokens)


def show_key(key: str, schema: Mapping[str, Any] | None = None) -> str | None:
    """The key, if it may be shown."""
    if _NAME.fullmatch(key) or (schema is not None and _declares(schema, key)):
        return key
    return None


def _declares(schema: Any, key: str) -> bool:
    if isinstance(schema, dict):
        properties = schema.get("properties")
        if isinstance(properties, dict) and key in properties:
            return True
        schema = schema.values()
    elif not isinstance(schema, list):
        return False
    return any(_declares(part, key) for part in schema)


def _meant(branches: list[dict[str, Any]], value: Any) -> int | tuple[str, str, str | None]:
    """The branch that the value names; else what would have named one: rule, expected, key."""
    fitting = [index for index, branch in enumerate(branches) if _may_be(branch, value)]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        types = {name for branch in branches for name in branch["types"]}
        return "type", _types(types), None
    if type(value) is not dict:
        return fitting[0]
    for tag, said in _tags([branches[index] for index in fitting]).items():
        if tag not in value:
            return "required", f'the key "{tag}"', None
        for index, values in zip(fitting, said, strict=True):
            if any(type(v) is type(value[tag]) and v == value[tag] for v in values):
                return index
        return "const", _one_of([v for values in said for v in values]), tag
    own = {index: _own_keys(branches, fitting, index) for index in fitting}
    for index, keys in own.items():
        if any(key in value for key in keys):
            return index
    named = sorted({key for keys in own.values() for key in keys})
    if named:
        words = f"one of the keys {_listed(named)}" if len(named) > 1 else f'the key "{named[0]}"'
        return "required", words, None
    return fitting[0]


def _may_be(branch: Mapping[str, Any], value: Any) -> bool:
    types = branch["types"]
    got = json_type(value)
    return not types or got in types or ("number" in types and got == "integer")


def _tags(branches: list[dict[str, Any]]) -> dict[str, list[list[Any]]]:
    """Required keys with other constants in each branch: the key, and the constants by branch."""
    tags: dict[str, list[list[Any]]] = {}
    for key in branches[0]["required"]:
        held = [b["properties"].get(key) if key in b["required"] else None for b in branches]
        said = [literals(schema) for schema in held if isinstance(schema, dict)]
        known = [values for values in said if values]
        every = [repr(value) for values in known for value in set(map(repr, values))]
        if len(known) == len(branches) and len(every) == len(set(every)):
            tags[key] = known
    return tags


def _own_keys(branches: list[dict[str, Any]], fitting: list[int], index: int) -> list[str]:
    others = {k for i in fitting if i != index for k in branches[i]["properties"]}
    others |= {k for i in fitting if i != index for k in branches[i]["required"]}
    return [key for key in branches[index]["required"] if key not in others]


def _listed(names: Iterable[object]) -> str:
    shown = list(dict.fromkeys(f'"{n}"' if type(n) is str else repr(n) for n in names))
    more = len(shown) - _MAX_SHOWN
    return ", ".join(shown[:_MAX_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _one_of(values: list[Any]) -> str:
    return _listed(values) if len(values) == 1 else f"one of {_listed(values)}"


def _expected(schema: Mapping[str, Any], kind: Any) -> str:
    """What a keyword says, as a phrase. `kind`: jsonschema_rs' account of the error."""
    match kind.name:
        case "type":
            return _types(kind.types)
        case "required":
            return f'the key "{kind.property}"'
        case "const":
            return _one_of([kind.expected_value])
        case "enum":
            return _one_of(kind.options)
        case "additionalProperties":
            return "declared keys only" + _undeclared(schema, kind.unexpected)
        case "pattern":
            return f"a string that matches {kind.pattern:.100}"
        case "minLength" | "maxLength":
            return _bound(kind, "character")
        case "minItems" | "maxItems":
            return _bound(kind, "item")
        case "minProperties" | "maxProperties":
            return _bound(kind, "key")
        case "minimum":
            return f"a number from {kind.limit}"
        case "maximum":
            return f"a number up to {kind.limit}"
        case "exclusiveMinimum":
            return f"a number above {kind.limit}"
        case "exclusiveMaximum":
            return f"a number below {kind.limit}"
        case "multipleOf":
            return f"a multiple of {kind.multiple_of}"
        case "uniqueItems":
            return "items that differ from each other"
        case rule:
            return f"what `{rule}` says"


def _types(names: Iterable[str]) -> str:
    return " or ".join(sorted(names, key=lambda name: (name == "null", name)))


def _bound(kind: Any, thing: str) -> str:
    side = "least" if kind.name.startswith("min") else "most"
    return f"at {side} {kind.limit} {thing}{'' if kind.limit == 1 else 's'}"


def _undeclared(schema: Mapping[str, Any], keys: list[str]) -> str:
    shown = [key for key in keys if show_key(key, schema)]
    hidden = len(keys) - len(shown)
    said = [_listed(shown)] if shown else []
    if hidden:
        said.append(f"{hidden} {'more' if shown else 'undeclared'} not shown")
    return f" (undeclared: {', '.join(said)})" if shown else f" ({said[0]})"
