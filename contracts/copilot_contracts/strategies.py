"""Hypothesis strategies over the wire profile: values of a schema, and values next to them.

Needs the extra `testing`.

    >>> from hypothesis import given
    >>> from copilot_contracts import Registry
    >>> from copilot_contracts.strategies import contract_instances
    >>> note = Registry.from_folder("schemas").surface("notes").contract("event", "note")
    >>> @given(contract_instances(note))
    ... def test_render(event): ...
"""

import math
import re
from collections.abc import Mapping
from typing import Any, Protocol

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ImportError:
    raise ImportError(
        "copilot_contracts.strategies needs Hypothesis: pip install 'copilot-contracts[testing]'"
    ) from None

from .lint.keywords import check_keywords
from .mutants import mutants
from .patterns import PatternError, python_pattern
from .profile import literals
from .schema_files import at_pointer, merged, subschemas

__all__ = ["contract_instances", "contract_mutants", "json_schema"]

#: Integers without bounds stay where JavaScript holds them.
SAFE_INTEGER = 2**53 - 1
#: How often a recursive ref is followed before the smallest value is taken.
MAX_RECURSION = 3
#: How many items arrays and maps have beyond what they must.
MORE_ITEMS = 4


class SelfContained(Protocol):
    """A contract: anything with a schema whose refs all begin with `#`."""

    def bundled(self) -> dict[str, Any]: ...


def json_schema(schema: Mapping[str, Any]) -> SearchStrategy[Any]:
    """JSON values that fit a self-contained schema (refs begin with `#`).

    A schema inside the wire profile is built from; of one outside, what doesn't fit is filtered
    out. Undeclared keys are not invented.
    """
    values = _Builder(schema).of(schema, 0, frozenset({""}))
    if not any(_leaves_profile(part) for _, part in subschemas(schema)):
        return values
    import jsonschema_rs

    return values.filter(jsonschema_rs.Draft202012Validator(dict(schema), offline=True).is_valid)


def contract_instances(contract: SelfContained) -> SearchStrategy[Any]:
    """JSON values that keep the contract."""
    return json_schema(contract.bundled())


def contract_mutants(contract: SelfContained) -> SearchStrategy[Any]:
    """JSON values one or two changes away from values that keep the contract.

    Somewhere in it a key is removed, added or renamed, a type changed, null put, a constant
    exchanged, a bound crossed. Most mutants break the contract, some keep it by chance.
    """
    schema = contract.bundled()
    return mutants(schema, json_schema(schema))


def _leaves_profile(schema: Mapping[str, Any]) -> bool:
    return "allOf" in schema or any(True for _ in check_keywords(schema))


def json_values() -> SearchStrategy[Any]:
    """Any JSON value, small."""
    scalars = st.none() | st.booleans() | _integers({}) | _numbers({}) | _text({})
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text({}), inner, max_size=3),
        max_leaves=5,
    )


class _Builder:
    """Strategies for the schemas of one document."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self._built: dict[tuple[str, int], SearchStrategy[Any]] = {}

    def of(self, schema: Any, depth: int, entered: frozenset[str]) -> SearchStrategy[Any]:
        """`entered`: the refs on the way here. `depth`: how often one of them came again."""
        if isinstance(schema, bool):
            return json_values() if schema else st.nothing()
        if "$ref" in schema:
            return self._ref(schema["$ref"][1:], depth, entered)
        if (values := literals(schema)) is not None:
            return st.sampled_from(values)
        options = schema.get("anyOf") or schema.get("oneOf")
        if options:
            if depth > MAX_RECURSION:
                options = [min(options, key=lambda option: self._height(option, frozenset()))]
            return st.one_of(*(self.of(option, depth, entered) for option in options))
        if "allOf" in schema:
            schema = merged(self.root, schema)
        types = schema.get("type", ())
        if not types:
            return json_values()
        types = [types] if isinstance(types, str) else types
        return st.one_of(*(self._typed(type_, schema, depth, entered) for type_ in types))

    def _ref(self, pointer: str, depth: int, entered: frozenset[str]) -> SearchStrategy[Any]:
        if pointer in entered:
            depth += 1
            if self._height(at_pointer(self.root, pointer), frozenset({pointer})) == math.inf:
                return st.nothing()
        if (pointer, depth) not in self._built:
            target = at_pointer(self.root, pointer)
            self._built[pointer, depth] = self.of(target, depth, entered | {pointer})
        return self._built[pointer, depth]

    def _typed(
        self, type_: str, schema: Mapping[str, Any], depth: int, entered: frozenset[str]
    ) -> SearchStrategy[Any]:
        if type_ == "null":
            return st.none()
        if type_ == "boolean":
            return st.booleans()
        if type_ == "integer":
            return _integers(schema)
        if type_ == "number":
            return _numbers(schema)
        if type_ == "string":
            return _text(schema)
        if type_ == "array":
            return self._array(schema, depth, entered)
        return self._object(schema, depth, entered)

    def _array(
        self, schema: Mapping[str, Any], depth: int, entered: frozenset[str]
    ) -> SearchStrategy[Any]:
        prefix = [self.of(part, depth, entered) for part in schema.get("prefixItems", ())]
        least = max(schema.get("minItems", 0) - len(prefix), 0)
        most = _most(schema.get("maxItems"), len(prefix), least, depth)
        if schema.get("items") is False or most == 0:
            return st.tuples(*prefix).map(list)
        items = st.lists(
            self.of(schema.get("items", True), depth, entered), min_size=least, max_size=most
        )
        return st.tuples(*prefix, items).map(lambda parts: [*parts[:-1], *parts[-1]])

    def _object(
        self, schema: Mapping[str, Any], depth: int, entered: frozenset[str]
    ) -> SearchStrategy[Any]:
        properties = schema.get("properties", {})
        required = schema.get("required", ())
        rest = schema.get("additionalProperties", True)
        if "properties" not in schema and not required:
            least = schema.get("minProperties", 0)
            most = _most(schema.get("maxProperties"), 0, least, depth)
            if rest is False or most == 0:
                return st.just({})
            values = self.of(rest, depth, entered)
            return st.dictionaries(_text({}), values, min_size=least, max_size=most)
        needed = {key: self.of(properties.get(key, rest), depth, entered) for key in required}
        optional = {
            key: self.of(part, depth, entered)
            for key, part in properties.items()
            if key not in needed and depth <= MAX_RECURSION
        }
        return st.fixed_dictionaries(needed, optional=optional)

    def _height(self, schema: Any, entered: frozenset[str]) -> float:
        """How deep the flattest value of a schema is; infinite when it has no finite value."""
        if not isinstance(schema, Mapping):
            return 0 if schema else math.inf
        if "$ref" in schema:
            pointer = schema["$ref"][1:]
            if pointer in entered:
                return math.inf
            return self._height(at_pointer(self.root, pointer), entered | {pointer})
        options = schema.get("anyOf") or schema.get("oneOf")
        if options:
            return min(self._height(option, entered) for option in options)
        if "allOf" in schema:
            return max(self._height(part, entered) for part in schema["allOf"])
        types = schema.get("type", ())
        if isinstance(types, list) and len(types) > 1:
            return 0
        properties = schema.get("properties", {})
        parts = [properties.get(key, True) for key in schema.get("required", ())]
        if schema.get("minItems", 0):
            parts += [schema.get("items", True), *schema.get("prefixItems", ())]
        if schema.get("minProperties", 0):
            parts.append(schema.get("additionalProperties", True))
        return 1 + max((self._height(part, entered) for part in parts), default=-1)


def _most(limit: int | None, taken: int, least: int, depth: int) -> int:
    most = least if depth > MAX_RECURSION else least + MORE_ITEMS
    return most if limit is None else min(most, limit - taken)


def _integers(schema: Mapping[str, Any]) -> SearchStrategy[Any]:
    step = schema.get("multipleOf", 1)
    low, high = _bounds(schema)
    low = -SAFE_INTEGER if low is None else math.ceil(low)
    high = SAFE_INTEGER if high is None else math.floor(high)
    low += low == schema.get("exclusiveMinimum")
    high -= high == schema.get("exclusiveMaximum")
    first, last = math.ceil(low / step), math.floor(high / step)
    if first > last:
        return st.nothing()
    return st.integers(first, last).map(lambda count: count * step)


def _numbers(schema: Mapping[str, Any]) -> SearchStrategy[Any]:
    low, high = _bounds(schema)
    floats = st.floats(
        low,
        high,
        exclude_min=low is not None and low == schema.get("exclusiveMinimum"),
        exclude_max=high is not None and high == schema.get("exclusiveMaximum"),
        allow_nan=False,
        allow_infinity=False,
    )
    return floats | _integers(schema)


def _bounds(schema: Mapping[str, Any]) -> tuple[Any, Any]:
    lows = [schema[name] for name in ("minimum", "exclusiveMinimum") if name in schema]
    highs = [schema[name] for name in ("maximum", "exclusiveMaximum") if name in schema]
    return max(lows, default=None), min(highs, default=None)


def _text(schema: Mapping[str, Any]) -> SearchStrategy[Any]:
    characters = st.characters(exclude_categories=["Cs"])  # surrogates: not in UTF-8
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if "pattern" not in schema:
        return st.text(characters, min_size=least, max_size=most)
    try:
        pattern = python_pattern(schema["pattern"])
    except PatternError:
        pattern = schema["pattern"]
    # ASCII: outside the profile, `\d` and the like are nearer to what JSON Schema means by them.
    texts = st.from_regex(re.compile(pattern, re.ASCII), alphabet=characters)
    return texts.filter(lambda text: least <= len(text) and (most is None or len(text) <= most))
