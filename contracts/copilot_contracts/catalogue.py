"""The catalogue: what `surface.json` says of a surface, as frozen values.

The shape is `schemas/surface.schema.json`; the fields' meaning is described there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, TypeVar

__all__ = [
    "Catalogue",
    "Check",
    "Consumer",
    "Count",
    "Deprecation",
    "Event",
    "Expectation",
    "Inconsistency",
    "Model",
    "Order",
    "Outcome",
    "Pair",
    "Reading",
    "Repeat",
    "Response",
    "Route",
    "Sse",
    "Status",
    "Then",
    "Tool",
]

Status = Literal["active", "placeholder", "deprecated"]
_T = TypeVar("_T")
_Json = Mapping[str, Any]


def _empty() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Deprecation:
    since: str
    replacement: str | None = None


@dataclass(frozen=True, slots=True)
class Sse:
    """How an event lies on the wire."""

    framing: Literal["data", "named"]
    #: The key in the data that names the event; None when framing is `named`.
    tag: str | None = None
    #: The text of the comment that is sent in silence; None where that is an event, or nothing.
    keepalive: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    status: Status
    #: Path of the schema file, relative to the surface's folder; None for a placeholder.
    schema: str | None = None
    deprecated: Deprecation | None = None
    produced_by: tuple[str, ...] = ()
    additive: bool = False
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    start: str
    end: str
    #: JSON pointer into the data of both events.
    key: str | None = None
    inside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Then:
    event: str
    key: str


@dataclass(frozen=True, slots=True)
class Repeat:
    event: str
    key: str
    final: str
    then: Then | None = None


@dataclass(frozen=True, slots=True)
class Count:
    event: str
    key: str


@dataclass(frozen=True, slots=True)
class Order:
    """The order rules of one stream."""

    last: tuple[str, ...]
    first: tuple[str, ...] = ()
    anytime: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    counts: tuple[Count, ...] = ()
    #: JSON pointers into the data of every event that has the key.
    same: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Response:
    description: str
    schema: str | None = None
    media_type: str = "application/json"
    stream: bool = False
    additive: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    method: str
    path: str
    status: Status
    #: By HTTP status, "200"; with the answers that every route of the surface may give.
    responses: Mapping[str, Response]
    #: Other paths that it answers at.
    aliases: tuple[str, ...] = ()
    #: Request headers that matter: name to meaning.
    headers: Mapping[str, str] = field(default_factory=_empty)
    request: str | None = None
    query: str | None = None
    deprecated: Deprecation | None = None
    produced_by: tuple[str, ...] = ()
    additive: bool = False
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    status: Status
    arguments: str
    returns: str
    deprecated: Deprecation | None = None
    produced_by: tuple[str, ...] = ()
    additive: bool = False
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Model:
    schema: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What one consumer takes from one contract: JSON pointers or top-level keys."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    handler: str | None = None
    does: str | None = None


@dataclass(frozen=True, slots=True)
class Consumer:
    description: str
    tolerance: Literal["tolerant", "closed"]
    #: By contract: `event:NAME`, `response:ROUTE:STATUS`, `tool:NAME` or `mcp:NAME`.
    reads: Mapping[str, Reading]
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Expectation:
    """What contracts of one kind keep."""

    of: Literal["event", "response", "tool", "mcp"]
    required: tuple[str, ...] = ()
    type: str | None = None
    active: bool = False
    handled: bool = False


@dataclass(frozen=True, slots=True)
class Inconsistency:
    """What is uneven in the surface and stays, but isn't to be done again."""

    name: str
    description: str
    correct: str
    #: The contracts that have it, as consumers name them.
    where: tuple[str, ...]
    #: What all others keep; None where no program can tell.
    expects: Expectation | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A line to be seen to before a change is merged."""

    line: str
    seen_by: Literal["gate", "lint", "compare", "tests", "hand"]
    how: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    description: str
    #: What to look at.
    monitor: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Catalogue:
    name: str
    version: str
    title: str
    description: str
    sse: Sse | None = None
    order: Order | None = None
    events: Mapping[str, Event] = field(default_factory=_empty)
    routes: Mapping[str, Route] = field(default_factory=_empty)
    tools: Mapping[str, Tool] = field(default_factory=_empty)
    mcp: Mapping[str, Tool] = field(default_factory=_empty)
    models: Mapping[str, Model] = field(default_factory=_empty)
    consumers: Mapping[str, Consumer] = field(default_factory=_empty)
    #: What every route may answer; `Route.responses` has it already.
    answers: Mapping[str, Response] = field(default_factory=_empty)
    inconsistencies: tuple[Inconsistency, ...] = ()
    checklist: tuple[Check, ...] = ()
    #: By `success`, `partial` and `failure`.
    outcomes: Mapping[str, Outcome] = field(default_factory=_empty)
    #: Schemas that leave the wire profile on purpose: path to reason.
    outside_profile: Mapping[str, str] = field(default_factory=_empty)

    @classmethod
    def from_json(cls, document: _Json) -> "Catalogue":
        """The catalogue of a `surface.json` that is valid against `surface.schema.json`."""
        values = {key: value for key, value in document.items() if key != "$schema"}
        catalogue = cls(**_with(values, _CATALOGUE_PARTS))
        if not catalogue.answers:
            return catalogue
        routes = {
            name: replace(
                route,
                responses=MappingProxyType(
                    dict(sorted({**catalogue.answers, **route.responses}.items()))
                ),
            )
            for name, route in catalogue.routes.items()
        }
        return replace(catalogue, routes=MappingProxyType(routes))


def _with(values: _Json, parts: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    return {key: parts[key](value) if key in parts else value for key, value in values.items()}


def _reader(
    kind: Callable[..., _T], parts: Mapping[str, Callable[[Any], Any]]
) -> Callable[[_Json], _T]:
    return lambda values: kind(**_with(values, parts))


def _many(read: Callable[[Any], _T]) -> Callable[[_Json], Mapping[str, _T]]:
    return lambda values: MappingProxyType({key: read(value) for key, value in values.items()})


def _list(read: Callable[[Any], _T]) -> Callable[[list[Any]], tuple[_T, ...]]:
    return lambda values: tuple(read(value) for value in values)


_COMMON: dict[str, Callable[[Any], Any]] = {
    "deprecated": _reader(Deprecation, {}),
    "produced_by": tuple,
}
_ORDER_PARTS: dict[str, Callable[[Any], Any]] = {
    "first": tuple,
    "last": tuple,
    "anytime": tuple,
    "pairs": _list(_reader(Pair, {"inside": tuple})),
    "repeats": _list(_reader(Repeat, {"then": _reader(Then, {})})),
    "counts": _list(_reader(Count, {})),
    "same": tuple,
}
_CATALOGUE_PARTS: dict[str, Callable[[Any], Any]] = {
    "sse": _reader(Sse, {}),
    "order": _reader(Order, _ORDER_PARTS),
    "events": _many(_reader(Event, _COMMON)),
    "routes": _many(
        _reader(
            Route,
            {
                **_COMMON,
                "responses": _many(_reader(Response, {})),
                "aliases": tuple,
                "headers": _many(str),
            },
        )
    ),
    "tools": _many(_reader(Tool, _COMMON)),
    "mcp": _many(_reader(Tool, _COMMON)),
    "models": _many(_reader(Model, {})),
    "consumers": _many(
        _reader(
            Consumer,
            {"reads": _many(_reader(Reading, {"required": tuple, "optional": tuple}))},
        )
    ),
    "answers": _many(_reader(Response, {})),
    "inconsistencies": _list(
        _reader(
            Inconsistency,
            {"where": tuple, "expects": _reader(Expectation, {"required": tuple})},
        )
    ),
    "checklist": _list(_reader(Check, {})),
    "outcomes": _many(_reader(Outcome, {"monitor": tuple})),
    "outside_profile": _many(str),
}
