"""Order rules of a stream, compiled to a small automaton.

What needs no key (first, last, anytime, blocks) is a table: state x event -> state. What has a key
(pairs that interleave, things that grow, counters) is a lane beside it, looked at only for the
events it concerns. What must be the same in all of them is compared with the first.
"""

from dataclasses import dataclass
from typing import Any, Literal

from .catalogue import Catalogue, Order
from .violations import OrderViolation

__all__ = ["MAX_KEYS", "OrderRules", "OrderState", "tokens"]

#: Keys that one stream remembers in each keyed rule. A turn has far fewer calls; past it the
#: stream breaks rule `KEYS` rather than grow without bound.
MAX_KEYS = 10_000

_BEGIN, _MIDDLE, _END = 0, 1, 2
_MISSING = object()

_Role = Literal["start", "end", "grow", "then", "count"]


@dataclass(frozen=True, slots=True)
class _Step:
    """What one event does in one lane."""

    lane: int
    role: _Role
    pointer: str
    key: tuple[str, ...]
    final: tuple[str, ...] = ()


class OrderRules:
    """The order rules of a surface. Immutable; `start()` follows one stream."""

    def __init__(self, surface: str) -> None:
        self.surface = surface
        self.table: list[dict[str, int]] = []
        self.first: frozenset[str] = frozenset()
        self.last: frozenset[str] = frozenset()
        self.anytime: frozenset[str] = frozenset()
        self.start_state = _MIDDLE
        #: By event, what it does in the lanes.
        self.steps: dict[str, tuple[_Step, ...]] = {}
        #: By lane, the event that opens a key and the one that closes it, if one must.
        self.lanes: list[tuple[str, str | None]] = []
        #: By event that closes keys: the lanes that must have an open one.
        self.closes: dict[str, list[int]] = {}
        #: Keys whose value never changes: JSON pointer, and the keys it goes through.
        self.same: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @classmethod
    def compile(cls, catalogue: Catalogue) -> "OrderRules":
        """The automaton of a catalogue that `order_problems` found no fault with."""
        rules = cls(catalogue.name)
        order = catalogue.order
        if order is None:
            rules.table = [{}, {}, {}]
            return rules
        rules.first = frozenset(order.first)
        rules.last = frozenset(order.last)
        rules.anytime = frozenset(order.anytime)
        rules.start_state = _BEGIN if order.first else _MIDDLE
        rules.same = tuple((pointer, tokens(pointer)) for pointer in order.same)
        rules._compile_table(order, tuple(catalogue.events))
        rules._compile_lanes(order)
        return rules

    def _compile_table(self, order: Order, events: tuple[str, ...]) -> None:
        blocks = [pair for pair in order.pairs if pair.key is None]
        in_blocks = {name for block in blocks for name in (block.end, *block.inside)}
        roles = self.first | self.last | self.anytime
        middle = {e: _MIDDLE for e in events if e not in roles and e not in in_blocks}
        middle |= {block.start: _END + 1 + index for index, block in enumerate(blocks)}
        middle |= dict.fromkeys(order.last, _END)
        self.table = [dict.fromkeys(order.first, _MIDDLE), middle, {}]
        for index, block in enumerate(blocks):
            inside = dict.fromkeys(block.inside, _END + 1 + index)
            self.table.append(inside | {block.end: _MIDDLE})
        for state, row in enumerate(self.table):
            if state != _END:
                row |= dict.fromkeys(order.anytime, state)
        rank = {name: place for place, name in enumerate(events)}
        self.table = [dict(sorted(row.items(), key=lambda r: rank[r[0]])) for row in self.table]

    def _compile_lanes(self, order: Order) -> None:
        steps: dict[str, list[_Step]] = {}

        def add(event: str, role: _Role, key: str, final: str | None = None) -> None:
            way_to_final = tokens(final) if final else ()
            step = _Step(len(self.lanes), role, key, tokens(key), way_to_final)
            steps.setdefault(event, []).append(step)

        for pair in order.pairs:
            if pair.key is not None:
                add(pair.start, "start", pair.key)
                add(pair.end, "end", pair.key)
                self.lanes.append((pair.start, pair.end))
        for repeat in order.repeats:
            then = repeat.then
            add(repeat.event, "grow", repeat.key, repeat.final)
            if then is not None:
                add(then.event, "then", then.key)
            self.lanes.append((repeat.event, then.event if then else None))
        for count in order.counts:
            add(count.event, "count", count.key)
            self.lanes.append((count.event, None))
        for lane, (_, closer) in enumerate(self.lanes):
            if closer is not None:
                self.closes.setdefault(closer, []).append(lane)
        self.steps = {event: tuple(of_event) for event, of_event in steps.items()}

    def start(self) -> "OrderState":
        """A stream that has not begun."""
        return OrderState(self)


class OrderState:
    """Where one stream is. Holds the keys seen, at most MAX_KEYS a rule."""

    __slots__ = ("_first", "_keys", "_open", "_rules", "_same", "_state", "_table", "position")

    def __init__(self, rules: OrderRules) -> None:
        self._rules = rules
        self._table = rules.table
        self._state = rules.start_state
        self._same = rules.same
        #: By pointer of `same`: the value that came first, and at which position.
        self._first: dict[str, tuple[Any, int]] = {}
        #: By lane: keys that may not start or grow again, and since which position. A counter's
        #: next number stands under None.
        self._keys: dict[int, dict[Any, int]] = {}
        #: By lane: keys that another event must close, and where they were opened.
        self._open: dict[int, dict[Any, int]] = {}
        #: Events seen.
        self.position = 0

    @property
    def ended(self) -> bool:
        """Whether the last event has come."""
        return self._state == _END

    def step(self, event: str, data: Any) -> None:
        """The next event. Raises OrderViolation, and then the stream stands where it stood."""
        after = self._table[self._state].get(event)
        if after is None:
            raise self.misplaced(event)
        if after == _END and self._state != _END and self._open:
            self._refuse_open(event)
        new = self._compare(event, data) if self._same else None
        steps = self._rules.steps.get(event)
        if steps is not None:
            keys = [_key_at(data, step.key) for step in steps]
            for step, key in zip(steps, keys, strict=True):
                self._check(event, step, key)
            for step, key in zip(steps, keys, strict=True):
                self._take(step, key, data)
        if new:
            self._first |= new
        self._state = after
        self.position += 1

    def skip(self, event: str) -> None:
        """Goes on after an event that broke the order and was sent nevertheless."""
        self.position += 1
        if event in self._rules.last:
            self._state = _END
        elif self._state == _BEGIN:
            self._state = _MIDDLE  # one missing first event is one violation, not one an event

    def allowed(self) -> tuple[str, ...]:
        """The events that may come next, in the catalogue's order."""
        return tuple(
            name
            for name, after in self._table[self._state].items()
            if not (after == _END and self._open)
            and all(lane in self._open for lane in self._rules.closes.get(name, ()))
        )

    def finish(self) -> None:
        """The stream has stopped. Raises OrderViolation when its last event didn't come."""
        if self._state != _END:
            message = "the stream stopped without its last event"
            opened = self._opened()
            if opened:
                message += f"; {opened}"
            raise self._violation(None, "LAST", message)

    def _compare(self, event: str, data: Any) -> dict[str, tuple[Any, int]] | None:
        """Refuses a value that isn't the first one. Answers with those that are the first."""
        new = None
        for pointer, way in self._same:
            value = _key_at(data, way)
            first = self._first.get(pointer)
            if first is None:
                if value is not _MISSING:
                    new = new or {}
                    new[pointer] = (value, self.position + 1)
            elif value != first[0] and value is not _MISSING:
                raise self._violation(
                    event,
                    "SAME",
                    f"its {pointer} differs from that of position {first[1]}",
                    pointer,
                )
        return new

    def _check(self, event: str, step: _Step, key: Any) -> None:
        if key is _MISSING:  # the shape's fault, and reported there
            return
        keys = self._keys.get(step.lane, {})
        opened = self._open.get(step.lane, {})
        opener = self._rules.lanes[step.lane][0]
        if step.role == "count":
            expected = keys.get(None, 0)
            if key != expected:
                raise self._violation(
                    event,
                    "COUNT",
                    f"its counter must be {expected} here, it counts without gaps",
                    step.pointer,
                )
            return
        if step.role == "end" or step.role == "then":
            if key not in opened:
                rule = "PAIR" if step.role == "end" else "REPEAT"
                raise self._violation(event, rule, f"no {opener} of its key is open", step.pointer)
            return
        if key in keys:
            rule = "PAIR" if step.role == "start" else "REPEAT"
            raise self._violation(
                event,
                rule,
                f"none of its key may come after position {keys[key]}",
                step.pointer,
            )
        if key not in opened and max(len(keys), len(opened)) >= MAX_KEYS:
            raise self._violation(
                event, "KEYS", f"more than {MAX_KEYS} keys in one stream", step.pointer
            )

    def _take(self, step: _Step, key: Any, data: Any) -> None:
        if key is _MISSING:
            return
        here = self.position + 1
        keys = self._keys.setdefault(step.lane, {})
        if step.role == "count":
            keys[None] = keys.get(None, 0) + 1
            return
        if step.role in ("start", "then") or _at(data, step.final) is True:
            keys[key] = here
        if step.role in ("end", "then"):
            opened = self._open[step.lane]
            del opened[key]
            if not opened:
                del self._open[step.lane]
        elif self._rules.lanes[step.lane][1] is not None:
            self._open.setdefault(step.lane, {}).setdefault(key, here)

    def misplaced(self, event: str) -> OrderViolation:
        """The violation of an event that the table has no place for here."""
        rules = self._rules
        if self._state == _END:
            return self._violation(event, "LAST", "nothing follows the last event")
        if self._state == _BEGIN:
            return self._violation(event, "FIRST", "the stream must begin with its first event")
        if event in rules.first:
            return self._violation(event, "FIRST", "it comes only once, as the first event")
        if self._state == _MIDDLE:
            return self._violation(event, "PAIR", "it comes only inside its block")
        return self._violation(event, "PAIR", "a block is open, and this doesn't belong in it")

    def _refuse_open(self, event: str) -> None:
        raise self._violation(event, "PAIR", f"pairs are still open: {self._opened()}")

    def _opened(self) -> str:
        """What is open, named by its event and position (a key could hold data)."""
        opened = sorted(
            (position, *self._rules.lanes[lane])
            for lane, keys in self._open.items()
            for position in keys.values()
        )
        listed = [f"{name} at position {at} has no {closer}" for at, name, closer in opened]
        more = len(listed) - 5
        return ", ".join(listed[:5]) + (f" and {more} more" if more > 0 else "")

    def _violation(
        self, event: str | None, rule: str, message: str, key: str | None = None
    ) -> OrderViolation:
        return OrderViolation(
            surface=self._rules.surface,
            event=event,
            position=self.position + 1,
            allowed=self.allowed(),
            rule=rule,
            message=message,
            key=key,
        )


def tokens(pointer: str) -> tuple[str, ...]:
    """The keys of a JSON pointer (RFC 6901)."""
    return tuple(t.replace("~1", "/").replace("~0", "~") for t in pointer.split("/")[1:])


def _at(data: Any, way: tuple[str, ...]) -> Any:
    """What is there, or _MISSING."""
    for token in way:
        if type(data) is not dict or token not in data:
            return _MISSING
        data = data[token]
    return data


def _key_at(data: Any, way: tuple[str, ...]) -> Any:
    """The key there, or _MISSING when nothing is there that can be one."""
    key = data
    for token in way:  # _at, without the call: a key is looked up in every event
        if type(key) is not dict or token not in key:
            return _MISSING
        key = key[token]
    if type(key) is str:
        return key
    if type(key) is float and key.is_integer():  # 1.0 is the integer 1 in JSON Schema
        key = int(key)
    return key if type(key) is int else _MISSING
