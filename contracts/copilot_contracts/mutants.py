"""Values next to the valid ones: what `strategies.contract_mutants` draws."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from .profile import literals
from .schema_files import subschemas

__all__ = ["mutants", "neighbours"]

Way = tuple[str | int, ...]

#: Longer bounds are not filled up to cross them.
MAX_FILLED = 2000

_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_LENGTHS = ("minLength", "maxLength")
_COUNTS = ("minItems", "maxItems")
_OF_EACH_TYPE: tuple[Any, ...] = (True, 0, 1.5, "x", "", [], {}, [{}])


def mutants(schema: Mapping[str, Any], instances: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Each a valid value with one or two changes."""
    said = _Said(schema)

    @st.composite
    def mutant(draw: Callable[..., Any]) -> Any:
        value = draw(instances)
        for _ in range(draw(st.integers(1, 2))):
            way = draw(st.sampled_from(list(_ways(value))))
            kinds = [kind for kind in _changes(_at(value, way), said) if kind]
            value = _put(value, way, draw(st.sampled_from(draw(st.sampled_from(kinds)))))
        return value

    return mutant()


def neighbours(schema: Mapping[str, Any], value: Any) -> Iterator[Any]:
    """All that is one change away from a value; `schema` is where the changes come from."""
    said = _Said(schema)
    for way in _ways(value):
        for kind in _changes(_at(value, way), said):
            yield from (_put(value, way, new) for new in kind)


class _Said:
    """What a schema says, of all its places together: the stuff that slips are made of."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        parts = [part for _, part in subschemas(schema)]
        self.constants = [value for part in parts for value in literals(part) or ()]
        self.keys = sorted({key for part in parts for key in part.get("properties", {})})
        self.numbers = _near(parts, _BOUNDS)
        self.lengths = [size for size in _near(parts, _LENGTHS) if 0 <= size <= MAX_FILLED]
        self.counts = [size for size in _near(parts, _COUNTS) if 0 <= size <= MAX_FILLED]


def _near(parts: list[dict[str, Any]], names: tuple[str, ...]) -> list[Any]:
    said = {part[name] for part in parts for name in names if name in part}
    return sorted({bound + step for bound in said for step in (-1, 0, 1)})


def _changes(value: Any, said: _Said) -> Iterator[list[Any]]:
    """What could stand in the value's place, by kind of change."""
    yield [None]
    yield list(_OF_EACH_TYPE)
    yield said.constants
    if isinstance(value, dict):
        without = {key: {k: v for k, v in value.items() if k != key} for key in value}
        yield list(without.values())
        yield [{**rest, f"{key}_": value[key]} for key, rest in without.items()]
        yield [{**value, key: "x"} for key in said.keys if key not in value]
        yield [{**value, "undeclared": "x"}]
    elif isinstance(value, list):
        yield [value[:index] + value[index + 1 :] for index in range(len(value))]
        if value:
            yield [[*value, value[0]]]
            yield [(value * size)[:size] for size in said.counts]
    elif isinstance(value, str):
        yield [f"{value}\n", f" {value}", value.upper()]
        yield ["x" * size for size in said.lengths]
    elif isinstance(value, bool):
        yield [not value, int(value)]
    elif isinstance(value, int | float):
        yield [value + 1, value - 1, -value]
        yield [str(value), bool(value), *([float(value)] if abs(value) < 2**53 else [])]
        yield said.numbers


def _ways(value: Any, way: Way = ()) -> Iterator[Way]:
    yield way
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        item = value[key]
        yield from _ways(item, (*way, key))


def _at(value: Any, way: Way) -> Any:
    for key in way:
        value = value[key]
    return value


def _put(value: Any, way: Way, new: Any) -> Any:
    """A copy of the value with something else at the end of the way."""
    if not way:
        return new
    copy = value.copy()
    copy[way[0]] = _put(value[way[0]], way[1:], new)
    return copy
