"""Why a value breaks a schema: the branch that was meant, and a violation that holds no value.

A union that fails says of every branch why. Of these only the branch that the value names counts:
by a `const` tag, else by a required key that the other branches don't have, else by JSON type.
"""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .schema_files import at_pointer, escape, merged
from .strict_json import json_type

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

__all__ = ["Explanation", "explain", "pointer_text", "show_key"]

#: pointer, rule, expected, got
Explanation = tuple[str, str, str, str]

_MAX_SHOWN = 8
#: Keys of the value that the schema doesn't name may be shown when they look like names; anything
#: longer or odder could be a secret or a text.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,23}")


def explain(schema: Mapping[str, Any], errors: "Iterable[ValidationError]") -> Explanation:
    """The first error, followed into the branch that was meant. `schema` is self-contained."""
    error = next(iter(errors))
    while True:
        kind = error.kind
        contexts: list[list[ValidationError]] | None = getattr(kind, "context", None)
        pointer = pointer_text(schema, error.instance_path)
        value: Any = error.instance
        got = json_type(value)
        if contexts is None or kind.name not in ("anyOf", "oneOf"):
            return pointer, kind.name, _expected(schema, error), got
        if not all(contexts):  # a oneOf that several branches take
            return pointer, kind.name, "exactly one of the union's branches", got
        union = at_pointer(schema, "".join(f"/{escape(str(t))}" for t in error.schema_path))
        branches = [merged(schema, branch) for branch in union]
        chosen = _meant(branches, value)
        if isinstance(chosen, int):
            error = contexts[chosen][0]
            continue
        tag, rule, expected = chosen
        if tag is not None:
            pointer += f"/{escape(tag)}"
            got = json_type(value[tag])
        return pointer, rule, expected, got


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


def _meant(branches: list[dict[str, Any]], value: Any) -> int | tuple[str | None, str, str]:
    """The branch that the value names; else what would have named one: tag, rule, expected."""
    fitting = [i for i, b in enumerate(branches) if _may_be(b, value)]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        types = {name for branch in branches for name in branch["types"]}
        return None, "type", " or ".join(sorted(types))
    if not isinstance(value, dict):
        return fitting[0]
    tags = _common_tags([branches[i] for i in fitting])
    for tag, consts in tags.items():
        if tag not in value:
            return None, "required", f'the key "{tag}"'
        for index, const in zip(fitting, consts, strict=True):
            if type(const) is type(value[tag]) and const == value[tag]:
                return index
        return tag, "const", _one_of(consts)
    own = {i: _own_keys(branches, fitting, i) for i in fitting}
    for index, keys in own.items():
        if any(key in value for key in keys):
            return index
    named = sorted({key for keys in own.values() for key in keys})
    if named:
        return None, "required", "one of the keys " + _listed(named)
    return fitting[0]


def _may_be(branch: Mapping[str, Any], value: Any) -> bool:
    types = branch["types"]
    got = json_type(value)
    return not types or got in types or ("number" in types and got == "integer")


def _common_tags(branches: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Required keys that hold a different `const` in each branch."""
    tags: dict[str, list[Any]] = {}
    for key in branches[0]["required"]:
        consts = []
        for branch in branches:
            held = branch["properties"].get(key)
            if not isinstance(held, dict) or "const" not in held or key not in branch["required"]:
                break
            consts.append(held["const"])
        else:
            if all(one != other for i, one in enumerate(consts) for other in consts[:i]):
                tags[key] = consts
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


def _expected(schema: Mapping[str, Any], error: "ValidationError") -> str:
    kind: Any = error.kind
    match kind.name:
        case "type":
            return " or ".join(kind.types)
        case "required":
            return f'the key "{kind.property}"'
        case "const":
            return _one_of([kind.expected_value])
        case "enum":
            return _one_of(kind.options)
        case "additionalProperties" | "unevaluatedProperties":
            return "declared keys only" + _undeclared(schema, kind.unexpected)
        case "falseSchema":
            return "nothing there"
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
        case "propertyNames":
            return "keys that match the schema's propertyNames"
        case rule:
            return f"what `{rule}` says"


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
