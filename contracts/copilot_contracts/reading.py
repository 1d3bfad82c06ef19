"""What generated models stand on: how a value from outside is read.

A reader is as strict as JSON Schema about types (`"5"` is no integer, `1` no boolean) and as
tolerant as the surface's rules about keys: one that isn't declared is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, TypeVar, overload

from pydantic import (
    AllowInfNan,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    Strict,
    TypeAdapter,
    WrapValidator,
)
from pydantic_core import PydanticCustomError, PydanticSerializationUnexpectedValue

T = TypeVar("T")

_CONFIG = ConfigDict(
    strict=True,
    extra="ignore",
    allow_inf_nan=False,
    serialize_by_alias=True,
    protected_namespaces=(),
    use_attribute_docstrings=True,
    json_schema_serialization_defaults_required=True,
)


class Reader(BaseModel):
    """The base of every generated model."""

    model_config = _CONFIG


def _integral(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _numeric(value: object, check: Any) -> object:
    return value if type(value) is int else check(value)


def _dumped(value: object) -> object:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    raise PydanticSerializationUnexpectedValue(f"Expected a number, got {type(value).__name__}")


Integer = Annotated[int, Strict(), BeforeValidator(_integral)]
"""JSON Schema's integer: `1.0` is one (and becomes `1`); `true` and `"1"` aren't."""

Number = Annotated[
    float, Strict(), AllowInfNan(False), WrapValidator(_numeric), PlainSerializer(_dumped)
]
"""JSON Schema's number. An integer stays one: as a float, a large one would change its value."""

AsTuple = Strict(False)
"""Reads a JSON array as a tuple, whose items stay strict."""


def exactly(*values: object) -> BeforeValidator:
    """Only these values in JSON's sense: Python holds `True == 1`, JSON doesn't."""

    def check(value: object) -> object:
        for allowed in values:
            if isinstance(value, bool) is isinstance(allowed, bool) and value == allowed:
                return allowed
        shown = ", ".join(map(repr, values))
        raise PydanticCustomError(
            "literal_error", "Input should be {expected}", {"expected": shown}
        )

    return BeforeValidator(check)


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event that the surface doesn't declare: a newer server's, or a keepalive."""

    name: str
    data: object


@lru_cache(maxsize=1024)
def _adapter(shape: Any) -> TypeAdapter[Any]:
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        return TypeAdapter(shape)
    return TypeAdapter(shape, config=_CONFIG)


@overload
def read(shape: type[T], value: object) -> T: ...
@overload
def read(shape: Any, value: object) -> Any: ...
def read(shape: Any, value: object) -> Any:
    """`value` (parsed JSON) as `shape`: a generated model, or a generated alias such as a list.

    Raises pydantic.ValidationError.
    """
    return _adapter(shape).validate_python(value)


def dump(shape: Any, value: object) -> Any:
    """The JSON value that `read(shape, ...)` made `value` from, without what was undeclared."""
    return _adapter(shape).dump_python(value, mode="json", exclude_unset=True)


def read_tagged(value: object, tag: str, events: Mapping[str, Any]) -> Any:
    """The event in `value`, whose key `tag` names it: an UnknownEvent when `events` has no such."""
    if not isinstance(value, Mapping) or not isinstance(name := value.get(tag), str):
        raise ValueError(f"An event is an object with its name at {tag!r}; this has none.")
    if name not in events:
        return UnknownEvent(name, value)
    return read(events[name], value)


def read_named(name: str, data: object, events: Mapping[str, Any]) -> Any:
    """The event `name` with its data: an UnknownEvent when `events` has no such."""
    if name not in events:
        return UnknownEvent(name, data)
    return read(events[name], {"event": name, "data": data})
