"""Strict JSON out of Python values: what may be written, what is repaired, what is refused.

JSON values are exactly dict, list, str, int, float, bool and None. orjson alone is laxer: it
writes NaN as null, and UUIDs, enums, tuples and raw fragments as if they were JSON.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from orjson import OPT_PASSTHROUGH_DATACLASS, OPT_PASSTHROUGH_DATETIME, OPT_PASSTHROUGH_SUBCLASS
from orjson import dumps as _dumps

__all__ = ["MAX_DEPTH", "Flaw", "encode", "find_flaw", "is_strict", "json_type", "repair"]

#: How deep arrays and objects may lie in each other; orjson itself stops at 254.
MAX_DEPTH = 128
#: What fits into 64 bits, signed or unsigned; orjson writes nothing beyond.
MIN_INTEGER, MAX_INTEGER = -(2**63), 2**64 - 1

_OPTIONS = OPT_PASSTHROUGH_DATACLASS | OPT_PASSTHROUGH_DATETIME | OPT_PASSTHROUGH_SUBCLASS
_TYPES = {
    dict: "object",
    list: "array",
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why a value isn't strict JSON."""

    path: tuple[str | int, ...]
    rule: str
    expected: str
    got: str


def json_type(value: object) -> str:
    """The JSON type's name; for what JSON doesn't have, the Python type's."""
    return _TYPES.get(type(value)) or type(value).__name__


def is_strict(value: Any, room: int = MAX_DEPTH) -> bool:
    """Whether strict JSON can carry the value; lone surrogates count as carried (see `encode`)."""
    kind = type(value)
    if kind is dict:
        if room == 0:
            return False
        for key, item in value.items():
            if type(key) is not str:
                return False
            kind = type(item)
            if kind is not str and kind is not bool and not is_strict(item, room - 1):
                return False
        return True
    if kind is list:
        if room == 0:
            return False
        for item in value:  # noqa: SIM110  (all() with a generator is half as fast)
            if not is_strict(item, room - 1):
                return False
        return True
    if kind is int:
        return bool(MIN_INTEGER <= value <= MAX_INTEGER)
    if kind is float:
        return isfinite(value)
    return kind is str or kind is bool or value is None


def find_flaw(value: Any) -> Flaw | None:
    """The first thing in the value that strict JSON can't carry."""
    return next(_flaws(value, ()), None)


def _flaws(value: Any, path: tuple[str | int, ...]) -> Iterator[Flaw]:
    kind = type(value)
    if kind in (dict, list) and len(path) == MAX_DEPTH:
        yield Flaw(path, "JSON_DEPTH", f"at most {MAX_DEPTH} levels", "more")
    elif kind is dict:
        for key, item in value.items():
            if type(key) is str:
                yield from _flaws(item, (*path, key))
            else:
                yield Flaw(path, "JSON_KEY", "keys that are strings", json_type(key))
    elif kind is list:
        for index, item in enumerate(value):
            yield from _flaws(item, (*path, index))
    elif kind not in _TYPES:
        yield Flaw(path, "JSON_TYPE", "a JSON value", json_type(value))
    elif kind is float and not isfinite(value):
        yield Flaw(path, "JSON_FINITE", "a finite number", "NaN or infinity")
    elif kind is int and not MIN_INTEGER <= value <= MAX_INTEGER:
        yield Flaw(path, "JSON_INTEGER", "an integer of 64 bits", "a larger one")


def encode(value: Any) -> tuple[bytes, Any]:
    """A strict value (`is_strict`) as UTF-8 JSON; and the value as it was sent.

    Lone surrogates, in keys and values, become U+FFFD: one broken character of a model's answer
    must not end a turn, and UTF-8 can't carry it.
    """
    try:
        return _dumps(value, None, _OPTIONS), value
    except TypeError:  # of a strict value: surrogates
        value = repair(value)
        return _dumps(value, None, _OPTIONS), value


def repair(value: Any) -> Any:
    """The value with surrogates made whole (a pair) or replaced by U+FFFD (a lone one)."""
    if type(value) is str:
        if value.isascii():
            return value
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if type(value) is list:
        return [repair(item) for item in value]
    if type(value) is dict:
        repaired: dict[str, Any] = {}
        for key, item in value.items():
            name = repair(key)
            while name in repaired:  # two keys that differed only in what was replaced
                name += "\ufffd"
            repaired[name] = repair(item)
        return repaired
    return value
