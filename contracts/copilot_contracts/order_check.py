"""Streams that can't be meant: found when the surface is loaded, each fault with its place."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .catalogue import Catalogue, Order
from .order import tokens
from .profile import branches, literals
from .schema_files import escape, merged

__all__ = ["event_problems", "order_problems"]

Problem = tuple[str, str]


def event_problems(
    catalogue: Catalogue, schemas: Mapping[str, Mapping[str, Any]]
) -> Iterator[Problem]:
    """Events that can't be told by name on the wire. Arguments and answer as `order_problems`."""
    tag = catalogue.sse.tag if catalogue.sse is not None else None
    for name in catalogue.events:
        if not name or not name.isprintable():
            yield "/events", f"{name!r:.80} can't be an event's name."
        elif tag is not None and name in schemas and not _has_tag(schemas[name], tag, name):
            yield (
                f"/events/{escape(name)}",
                f'its schema must require the key {tag!r} with {{"const": "{name}"}}: '
                "that is what names the event.",
            )


def _has_tag(root: Mapping[str, Any], tag: str, name: str) -> bool:
    """Whether every branch of the schema requires the tag to be the name."""
    try:
        parts = branches(root, root)
    except ValueError:  # more branches than any event has
        return False
    return all(
        tag in part["required"] and literals(merged(root, part["properties"].get(tag))) == [name]
        for part in parts
    )


def order_problems(
    catalogue: Catalogue, schemas: Mapping[str, Mapping[str, Any]]
) -> Iterator[Problem]:
    """Where in the catalogue (JSON pointer), and what is wrong. `schemas`: by event, bundled."""
    order = catalogue.order
    if order is None:
        return
    known = True
    for pointer, name in _named(order):
        if name not in catalogue.events:
            known = False
            there = ", ".join(catalogue.events) or "none"
            yield pointer, f"there is no event {name!r:.80}. There are: {there}."
    if known:
        yield from _overlaps(order)
        for pointer, event, place, want in _pointers(order):
            if event in schemas:
                yield from ((pointer, why) for why in _pointer_faults(schemas[event], place, want))
        for index, place in enumerate(order.same):
            faults = _same_faults(schemas, place)
            yield from ((f"/order/same/{index}", why) for why in faults)


def _named(order: Order) -> Iterator[Problem]:
    """Every event that a rule names, and where."""
    for part in ("first", "last", "anytime"):
        for index, name in enumerate(getattr(order, part)):
            yield f"/order/{part}/{index}", name
    for index, pair in enumerate(order.pairs):
        at = f"/order/pairs/{index}"
        yield f"{at}/start", pair.start
        yield f"{at}/end", pair.end
        for place, name in enumerate(pair.inside):
            yield f"{at}/inside/{place}", name
    for index, repeat in enumerate(order.repeats):
        yield f"/order/repeats/{index}/event", repeat.event
        if repeat.then is not None:
            yield f"/order/repeats/{index}/then/event", repeat.then.event
    for index, count in enumerate(order.counts):
        yield f"/order/counts/{index}/event", count.event


def _overlaps(order: Order) -> Iterator[Problem]:
    """Events with two roles that contradict each other."""
    places = list(_named(order))
    ends = {name for part in (order.first, order.last, order.anytime) for name in part}
    edge = Counter(name for part in (order.first, order.last, order.anytime) for name in part)
    bounds = Counter(name for pair in order.pairs for name in (pair.start, pair.end))
    inside = Counter(name for pair in order.pairs for name in pair.inside)
    blocks = {n for pair in order.pairs if pair.key is None for n in (pair.start, pair.end)}
    growing = Counter(repeat.event for repeat in order.repeats)
    counted = Counter(count.event for count in order.counts)
    for pointer, name in places:
        part = pointer.split("/")[2]
        if part in ("first", "last", "anytime"):
            if edge[name] > 1:
                yield pointer, f"{name} has more than one of the roles first, last and anytime."
        elif part == "counts":
            if name in order.anytime:
                yield pointer, f"{name} may come at any time, outside the stream: it can't count."
            if counted[name] > 1:
                yield pointer, f"{name} is counted twice."
        elif name in ends:
            yield pointer, f"{name} is first, last or anytime already: it can be nothing else."
        elif part == "pairs" and "/inside/" in pointer:
            if inside[name] > 1 or name in blocks:
                yield pointer, f"{name} belongs to more than one block."
        elif part == "pairs" and bounds[name] > 1:
            yield pointer, f"{name} starts or ends more than one pair."
        elif pointer.endswith("/event") and "/then/" not in pointer and growing[name] > 1:
            yield pointer, f"{name} has more than one repeat rule."
    for index, repeat in enumerate(order.repeats):
        if repeat.then is not None and repeat.then.event == repeat.event:
            yield f"/order/repeats/{index}/then/event", f"{repeat.event} can't follow itself."


def _pointers(order: Order) -> Iterator[tuple[str, str, str, str]]:
    """Every pointer into an event: where it stands, the event, the pointer, what must be there."""
    for index, pair in enumerate(order.pairs):
        if pair.key is not None:
            for event in (pair.start, pair.end):
                yield f"/order/pairs/{index}/key", event, pair.key, "key"
    for index, repeat in enumerate(order.repeats):
        at = f"/order/repeats/{index}"
        yield f"{at}/key", repeat.event, repeat.key, "key"
        yield f"{at}/final", repeat.event, repeat.final, "final"
        if repeat.then is not None:
            yield f"{at}/then/key", repeat.then.event, repeat.then.key, "key"
    for index, count in enumerate(order.counts):
        yield f"/order/counts/{index}/key", count.event, count.key, "count"


_ALLOWED = {
    "key": ({"string", "integer"}, "a string or an integer"),
    "final": ({"boolean"}, "true or false"),
    "count": ({"integer"}, "an integer"),
}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a pointer leads in one branch of a schema."""

    #: The JSON types allowed there; None when nothing is declared there.
    types: frozenset[str] | None
    #: The last key looked for.
    key: str
    #: Whether every value of the branch has it.
    required: bool


def _places(root: Mapping[str, Any], pointer: str) -> Iterator[_Place]:
    """Where a pointer leads, by branch."""
    open_ = [(root, tokens(pointer), "", True)]
    while open_:
        schema, way, key, required = open_.pop()
        part = merged(root, schema)
        branches = part.get("anyOf") or part.get("oneOf")
        if branches and (way and way[0] not in part["properties"]):
            open_ += [(branch, way, key, required) for branch in branches]
        elif not way:
            yield _Place(frozenset(part["types"]), key, required)
        elif way[0] in part["properties"]:
            required = required and way[0] in part["required"]
            open_.append((part["properties"][way[0]], way[1:], way[0], required))
        else:
            yield _Place(None, way[0], required)


def _pointer_faults(root: Mapping[str, Any], pointer: str, want: str) -> Iterator[str]:
    """Why a pointer into an event of this schema can't do what the rule wants of it."""
    for place in _places(root, pointer):
        if place.types is None:
            yield f"{pointer} leads to nothing: the event declares no {place.key!r:.80} there."
            return
        if want != "final" and not place.required:
            yield f"{pointer} leads to something optional: a rule needs it in every event."
            return
        if not _may_hold(place, want):
            words = _ALLOWED[want][1]
            yield f"{pointer} must lead to {words}, and the schema allows something else."
            return


def _same_faults(schemas: Mapping[str, Mapping[str, Any]], pointer: str) -> Iterator[str]:
    """Why the values that a pointer leads to in the events can't be compared."""
    declared = False
    for event, root in schemas.items():
        there = [place for place in _places(root, pointer) if place.types is not None]
        declared = declared or bool(there)
        if not all(_may_hold(place, "key") for place in there):
            yield (
                f"{pointer} must lead to {_ALLOWED['key'][1]}, and the event {event} allows "
                "something else."
            )
    if not declared:
        yield f"{pointer} leads to nothing in any event."


def _may_hold(place: _Place, want: str) -> bool:
    return bool(place.types) and set(place.types or ()) <= _ALLOWED[want][0]
