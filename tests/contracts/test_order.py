"""Order rules: the automaton against a reference that looks at the whole sequence."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copilot_contracts import OrderRules, OrderViolation, Registry, SurfaceError
from copilot_contracts.catalogue import Catalogue, Order
from copilot_contracts.order import MAX_KEYS
from story_surface import STORY_EVENTS, STORY_ORDER, TEXT, obj, story

Write = Callable[..., Path]
Event = tuple[str, dict[str, Any]]


# A reference: each rule as a sentence about the whole sequence

LETTERS = {name: chr(ord("a") + index) for index, name in enumerate(STORY_EVENTS)}


@dataclass(frozen=True)
class Reference:
    order: Order
    events: tuple[str, ...]

    def legal(self, sequence: Sequence[Event]) -> bool:
        """Whether a stream may begin like this."""
        names = [name for name, _ in sequence]
        ended = bool(names) and names[-1] in self.order.last
        if any(name in self.order.last for name in names[:-1]):
            return False
        return (
            self._shape(names, ended)
            and self._keys(sequence, ended)
            and self._counts(sequence)
            and self._same(sequence)
        )

    def _shape(self, names: list[str], ended: bool) -> bool:
        """First, last and blocks, as a regular expression over one letter an event."""
        order = self.order
        blocks = [pair for pair in order.pairs if pair.key is None]
        special = {*order.first, *order.last, *order.anytime}
        special |= {n for b in blocks for n in (b.start, b.end, *b.inside)}
        middle = _any(set(self.events) - special)
        whole = [f"{_any([b.start])}{_any(b.inside)}*{_any([b.end])}" for b in blocks]
        begun = [f"{_any([b.start])}{_any(b.inside)}*" for b in blocks]
        body = f"(?:{'|'.join([middle, *whole])})*"
        if ended:
            body += _any(order.last)
        elif begun:
            body += f"(?:{'|'.join(begun)})?"
        pattern = f"{_any(order.first)}{body}" if order.first else body
        text = "".join(LETTERS[name] for name in names if name not in order.anytime)
        return text == "" or re.fullmatch(pattern, text) is not None

    def _keys(self, sequence: Sequence[Event], ended: bool) -> bool:
        """Keyed pairs and growing things: what comes of one key, as a regular expression."""
        for pair in self.order.pairs:
            if pair.key is not None:
                letters = {pair.start: ("s", pair.key), pair.end: ("e", pair.key)}
                for text in _by_key(sequence, letters):
                    if not re.fullmatch("se" if ended else "se?", text):
                        return False
        for repeat in self.order.repeats:
            letters = {repeat.event: ("g", repeat.key)}
            pattern = "g*f?"
            if repeat.then is not None:
                letters[repeat.then.event] = ("t", repeat.then.key)
                pattern = "(g+|g*f)t" if ended else "(g+|g*f)t?"
            for text in _by_key(sequence, letters, repeat.final):
                if not re.fullmatch(pattern, text):
                    return False
        return True

    def _counts(self, sequence: Sequence[Event]) -> bool:
        for count in self.order.counts:
            seen = [_get(data, count.key) for name, data in sequence if name == count.event]
            if seen != list(range(len(seen))):
                return False
        return True

    def _same(self, sequence: Sequence[Event]) -> bool:
        for pointer in self.order.same:
            values = {_get(data, pointer) for _, data in sequence} - {None}
            if len(values) > 1:
                return False
        return True


def _any(names: Any) -> str:
    return f"[{''.join(LETTERS[name] for name in names)}]" if names else "(?!)"


def _get(data: Any, pointer: str) -> Any:
    for token in pointer.split("/")[1:]:
        data = data.get(token) if isinstance(data, dict) else None
    return data


def _by_key(
    sequence: Sequence[Event], letters: dict[str, tuple[str, str]], final: str | None = None
) -> list[str]:
    texts: dict[Any, str] = {}
    for name, data in sequence:
        if name in letters:
            letter, pointer = letters[name]
            if letter == "g" and final is not None and _get(data, final) is True:
                letter = "f"
            key = _get(data, pointer)
            texts[key] = texts.get(key, "") + letter
    return list(texts.values())


# Random rules, random streams


@st.composite
def orders(draw: st.DrawFn) -> dict[str, Any]:
    """Parts of the story's rules, and other roles for its plain events."""
    order: dict[str, Any] = {"last": draw(st.sampled_from([["complete"], ["complete", "error"]]))}
    if draw(st.booleans()):
        order["first"] = draw(st.sampled_from([["metadata"], ["metadata", "chunk"]]))
    if draw(st.booleans()):
        order["anytime"] = ["ping"]
    block = draw(st.sampled_from([None, [], ["thinking"], ["thinking", "call", "call_end"]]))
    pairs: list[dict[str, Any]] = []
    if block is not None:
        pairs.append({"start": "thinking_start", "end": "thinking_end", "inside": block})
    if draw(st.booleans()):
        pairs.append(STORY_ORDER["pairs"][1])
    repeat = dict(STORY_ORDER["repeats"][0])
    if draw(st.booleans()):
        del repeat["then"]
    return {
        **order,
        "pairs": pairs,
        "repeats": draw(st.sampled_from([[], [repeat]])),
        "counts": draw(st.sampled_from([[], STORY_ORDER["counts"]])),
        "same": draw(st.sampled_from([[], ["/request_id"]])),
    }


def catalogue(order: dict[str, Any]) -> Catalogue:
    return Catalogue.from_json(story(order)["surface.json"])


def event(name: str, key: str, number: int, final: bool, request: str | None) -> Event:
    data: dict[str, Any] = {
        "metadata": {"request_id": request or "r"},
        "thinking_start": {"request_id": request} if request else {},
        "complete": {"request_id": request or "r"},
        "thinking": {"step_index": number},
        "call": {"id": key, "complete": final},
        "call_start": {"call": {"id": key}},
        "call_end": {"call": {"id": key}},
    }.get(name, {})
    return name, data


@settings(max_examples=400, deadline=None)
@given(order=orders(), data=st.data())
def test_the_automaton_agrees_with_the_reference(order: dict[str, Any], data: Any) -> None:
    rules = OrderRules.compile(catalogue(order))
    reference = Reference(catalogue(order).order, tuple(STORY_EVENTS))
    state = rules.start()
    sequence: list[Event] = []
    for _ in range(data.draw(st.integers(0, 14))):
        allowed = [name for name in state.allowed() if name in STORY_EVENTS]
        likely = st.sampled_from(allowed or ["chunk"])
        name = data.draw(st.one_of(likely, likely, st.sampled_from(list(STORY_EVENTS))))
        thoughts = sum(name == "thinking" for name, _ in sequence)
        number = data.draw(st.sampled_from([thoughts, thoughts, thoughts, thoughts + 1, 0]))
        key, final = data.draw(st.sampled_from("xyz")), data.draw(st.booleans())
        request = data.draw(st.sampled_from(["r", "r", "r", "s", None]))
        following = event(name, key, number, final, request)
        legal = reference.legal([*sequence, following])
        if legal:
            state.step(*following)
            sequence.append(following)
            assert name in allowed
        else:
            before = (state.position, state.ended, state.allowed())
            with pytest.raises(OrderViolation) as raised:
                state.step(*following)
            assert (raised.value.event, raised.value.position) == (name, len(sequence) + 1)
            assert raised.value.allowed == state.allowed()
            assert (state.position, state.ended, state.allowed()) == before
        assert state.ended == bool(sequence and sequence[-1][0] in order["last"])
    if state.ended:
        state.finish()
        assert state.allowed() == ()
    else:
        with pytest.raises(OrderViolation, match="stopped without its last event"):
            state.finish()


# What a violation says

META: Event = ("metadata", {})
CALL: Event = ("call", {"id": "a"})
CALLED: Event = ("call", {"id": "a", "complete": True})
START: Event = ("call_start", {"call": {"id": "a"}})
END: Event = ("call_end", {"call": {"id": "a"}})
OPEN: Event = ("thinking_start", {})
THINK: Event = ("thinking", {"step_index": 0})
CLOSE: Event = ("thinking_end", {})
CHUNK: Event = ("chunk", {})
PING: Event = ("ping", {})
DONE: Event = ("complete", {})

FAULTS: list[tuple[str, list[Event], str, str, str]] = [
    ("nothing before the first", [CHUNK], "FIRST", "must begin with its first event", "metadata"),
    ("not even the last", [DONE], "FIRST", "must begin with its first event", "metadata"),
    ("the first twice", [META, META], "FIRST", "it comes only once", "chunk"),
    ("after the last", [META, DONE, CHUNK], "LAST", "nothing follows the last event", "nothing"),
    ("two last", [META, DONE, ("error", {})], "LAST", "nothing follows", "nothing"),
    ("anytime is before the end", [META, DONE, PING], "LAST", "nothing follows", "nothing"),
    ("inside comes inside only", [META, THINK], "PAIR", "only inside its block", "chunk"),
    ("an end without a start", [META, CLOSE], "PAIR", "only inside its block", "thinking_start"),
    ("blocks don't nest", [META, OPEN, OPEN], "PAIR", "a block is open", "thinking"),
    ("a chunk in a block", [META, OPEN, CHUNK], "PAIR", "a block is open", "thinking_end"),
    ("the end in a block", [META, OPEN, DONE], "PAIR", "a block is open", "thinking_end"),
    ("an end of a key", [META, END], "PAIR", "no call_start of its key is open", "chunk"),
    ("an end twice", [META, CALL, START, END, END], "PAIR", "no call_start of its key", "chunk"),
    (
        "a key twice",
        [META, CALL, START, END, CALL],
        "REPEAT",
        "none of its key may come after position 3",
        "chunk",
    ),
    (
        "growing on after the last piece",
        [META, CALLED, CALL],
        "REPEAT",
        "none of its key may come after position 2",
        "call_start",
    ),
    (
        "what follows a thing that never came",
        [META, START],
        "REPEAT",
        "no call of its key is open",
        "call",
    ),
    (
        "a pair left open",
        [META, CHUNK, CALL, START, DONE],
        "PAIR",
        "call_start at position 4 has no call_end",
        "call_end",
    ),
    (
        "a growing thing left unanswered",
        [META, CALLED, PING, DONE],
        "PAIR",
        "call at position 2 has no call_start",
        "call_start",
    ),
    (
        "a gap in a count",
        [META, OPEN, ("thinking", {"step_index": 1})],
        "COUNT",
        "its counter must be 0 here",
        "thinking",
    ),
    (
        "a count that begins again in the next block",
        [META, OPEN, THINK, CLOSE, OPEN, THINK],
        "COUNT",
        "its counter must be 1 here",
        "thinking",
    ),
]


@pytest.mark.parametrize(
    ("events", "rule", "message", "allowed"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS]
)
def test_a_violation_names_event_position_and_what_was_allowed(
    events: list[Event], rule: str, message: str, allowed: str
) -> None:
    state = OrderRules.compile(catalogue(STORY_ORDER)).start()
    for each in events[:-1]:
        state.step(*each)
    with pytest.raises(OrderViolation) as raised:
        state.step(*events[-1])
    violation = raised.value
    assert (violation.event, violation.position) == (events[-1][0], len(events))
    assert violation.rule == rule
    assert message in violation.message
    assert allowed in (violation.allowed or ("nothing",))
    assert f"event {len(events)}, {events[-1][0]}: {violation.message}" in str(violation)


def test_the_end_that_did_not_come_names_what_is_open() -> None:
    state = OrderRules.compile(catalogue(STORY_ORDER)).start()
    for each in (META, CALL, START):
        state.step(*each)
    with pytest.raises(OrderViolation) as raised:
        state.finish()
    assert raised.value.event is None
    assert raised.value.position == 4
    assert raised.value.rule == "LAST"
    assert "call_start at position 3 has no call_end" in str(raised.value)


def test_keys_are_never_told() -> None:
    secret = "hunter2"
    state = OrderRules.compile(catalogue(STORY_ORDER)).start()
    state.step(*META)
    state.step("call", {"id": secret})
    for name, data in [("call_end", {"call": {"id": secret}}), DONE]:
        with pytest.raises(OrderViolation) as raised:
            state.step(name, data)
        assert secret not in repr([str(raised.value), vars(raised.value)])
    state = SAME.start()
    state.step("metadata", {"request_id": secret})
    with pytest.raises(OrderViolation) as raised:
        state.step("complete", {"request_id": secret + secret})
    assert secret not in repr([str(raised.value), vars(raised.value)])


SAME = OrderRules.compile(catalogue({"last": ["complete"], "same": ["/request_id", "/user/id"]}))


def test_b44_a_stream_whose_start_and_end_name_different_ids_is_refused() -> None:
    """B44, ag-ui-protocol/ag-ui#1582: a nested run's id came in the place of the client's."""
    state = SAME.start()
    state.step("metadata", {"request_id": "R", "user": {"id": 7}})
    state.step("chunk", {})
    with pytest.raises(OrderViolation) as raised:
        state.step("complete", {"request_id": "S"})
    violation = raised.value
    assert (violation.rule, violation.key) == ("SAME", "/request_id")
    assert (violation.event, violation.position) == ("complete", 3)
    assert violation.message == "its /request_id differs from that of position 1"
    with pytest.raises(OrderViolation, match="its /user/id differs from that of position 1"):
        state.step("chunk", {"user": {"id": "7"}})
    assert (state.position, state.ended) == (2, False)
    state.step("complete", {"request_id": "R", "user": {"id": 7.0}})
    state.finish()


def test_an_event_that_was_refused_or_has_no_such_key_decides_nothing() -> None:
    rules = OrderRules.compile(catalogue({**STORY_ORDER, "same": ["/request_id"]}))
    state = rules.start()
    for data in ({"request_id": "early"}, {"request_id": None}, [], "request_id"):
        with pytest.raises(OrderViolation, match="must begin with its first event"):
            state.step("chunk", data)
    state.step(*META)
    with pytest.raises(OrderViolation, match="no call_start of its key is open"):
        state.step("call_end", {"request_id": "wrong", "call": {"id": "a"}})
    state.step("chunk", {"request_id": ["no", "key"]})
    state.step("thinking_start", {"request_id": "R"})
    with pytest.raises(OrderViolation, match="differs from that of position 3"):
        state.step("thinking_end", {"request_id": "S"})


def test_keys_that_one_stream_remembers_are_bounded() -> None:
    rules = OrderRules.compile(catalogue({"last": ["complete"], "pairs": STORY_ORDER["pairs"]}))
    state = rules.start()
    for number in range(MAX_KEYS):
        state.step("call_start", {"call": {"id": number}})
        state.step("call_end", {"call": {"id": number}})
    with pytest.raises(OrderViolation, match=f"more than {MAX_KEYS} keys"):
        state.step("call_start", {"call": {"id": "one more"}})


def test_one_missing_first_event_is_one_violation() -> None:
    state = OrderRules.compile(catalogue(STORY_ORDER)).start()
    with pytest.raises(OrderViolation):
        state.step(*CHUNK)
    state.skip("chunk")
    state.step(*CHUNK)
    assert state.position == 2


# Rules that can't be meant

BAD: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    (
        "events that don't exist",
        {
            "first": ["start"],
            "last": ["complete", "done"],
            "pairs": [{"start": "chunk", "end": "gone", "inside": ["lost"]}],
            "counts": [{"event": "thunk", "key": "/n"}],
        },
        [
            ("/order/first/0", "no event 'start'. There are: metadata"),
            ("/order/last/1", "no event 'done'"),
            ("/order/pairs/0/end", "no event 'gone'"),
            ("/order/pairs/0/inside/0", "no event 'lost'"),
            ("/order/counts/0/event", "no event 'thunk'"),
        ],
    ),
    (
        "first and last",
        {"first": ["error"], "last": ["complete", "error"]},
        [
            ("/order/first/0", "error has more than one of the roles"),
            ("/order/last/1", "error has more than one of the roles"),
        ],
    ),
    (
        "last in a block",
        {
            "last": ["complete"],
            "pairs": [{"start": "thinking_start", "end": "complete", "inside": ["thinking"]}],
        },
        [("/order/pairs/0/end", "complete is first, last or anytime already")],
    ),
    (
        "a start that is its end",
        {"last": ["complete"], "pairs": [{"start": "chunk", "end": "chunk"}]},
        [
            ("/order/pairs/0/start", "chunk starts or ends more than one pair"),
            ("/order/pairs/0/end", "chunk starts or ends more than one pair"),
        ],
    ),
    (
        "one thing in two blocks",
        {
            "last": ["complete"],
            "pairs": [
                {"start": "thinking_start", "end": "thinking_end", "inside": ["thinking"]},
                {"start": "call_start", "end": "call_end", "inside": ["thinking"]},
            ],
        },
        [
            ("/order/pairs/0/inside/0", "thinking belongs to more than one block"),
            ("/order/pairs/1/inside/0", "thinking belongs to more than one block"),
        ],
    ),
    (
        "a thing that follows itself",
        {
            "last": ["complete"],
            "repeats": [
                {
                    "event": "call",
                    "key": "/id",
                    "final": "/complete",
                    "then": {"event": "call", "key": "/id"},
                }
            ],
        },
        [("/order/repeats/0/then/event", "call can't follow itself")],
    ),
    (
        "counting what may come outside the stream",
        {
            "last": ["complete"],
            "anytime": ["thinking"],
            "counts": [{"event": "thinking", "key": "/step_index"}],
        },
        [("/order/counts/0/event", "it can't count")],
    ),
    (
        "the same of what no event has, or of what can't be compared",
        {"last": ["complete"], "same": ["/session_id", "/call", "/id", "/request_id"]},
        [
            ("/order/same/0", "/session_id leads to nothing in any event"),
            ("/order/same/1", "/call must lead to a string or an integer, and the event call_st"),
            ("/order/same/1", "/call must lead to a string or an integer, and the event call_end"),
        ],
    ),
    (
        "pointers to nothing",
        {
            "last": ["complete"],
            "pairs": [{"start": "call_start", "end": "call_end", "key": "/call/name"}],
            "repeats": [{"event": "call", "key": "/id", "final": "/done"}],
            "counts": [{"event": "chunk", "key": "/content/0"}],
        },
        [
            ("/order/pairs/0/key", "/call/name leads to nothing: the event declares no 'name'"),
            ("/order/pairs/0/key", "/call/name leads to nothing"),
            ("/order/repeats/0/final", "/done leads to nothing"),
            ("/order/counts/0/key", "/content/0 leads to nothing"),
        ],
    ),
    (
        "pointers to what can't be a key",
        {
            "last": ["complete"],
            "pairs": [{"start": "call_start", "end": "call_end", "key": "/call"}],
            "repeats": [{"event": "call", "key": "/complete", "final": "/id"}],
            "counts": [{"event": "chunk", "key": "/content"}],
        },
        [
            ("/order/pairs/0/key", "/call must lead to a string or an integer"),
            ("/order/pairs/0/key", "/call must lead to a string or an integer"),
            ("/order/repeats/0/key", "/complete leads to something optional"),
            ("/order/repeats/0/final", "/id must lead to true or false"),
            ("/order/counts/0/key", "/content must lead to an integer"),
        ],
    ),
]


@pytest.mark.parametrize(("order", "problems"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_rules_are_errors_at_load_each_with_its_place(
    write: Write, order: dict[str, Any], problems: list[tuple[str, str]]
) -> None:
    with pytest.raises(SurfaceError) as raised:
        Registry.from_folder(write(story(order)))
    found = [(problem.pointer, problem.message) for problem in raised.value.problems]
    assert [pointer for pointer, _ in found] == [pointer for pointer, _ in problems]
    for (_, message), (_, expected) in zip(found, problems, strict=True):
        assert expected in message
    assert {problem.path for problem in raised.value.problems} == {"surface.json"}


TAGGED = {"sse": {"framing": "data", "tag": "type"}, "order": {"last": ["end"]}}


@pytest.mark.parametrize(
    "schema",
    [
        obj(text=TEXT),
        obj(type=TEXT),
        obj(type={"const": "other"}),
        obj(type_={"const": "end"}),
        {"anyOf": [obj(type={"const": "end"}), obj(text=TEXT)]},
    ],
)
def test_an_event_that_its_tag_does_not_name_is_an_error_at_load(
    write: Write, schema: dict[str, Any]
) -> None:
    events = {"end": {"schema": "events/end.json", "status": "active"}}
    files = story(**TAGGED, events=events) | {"events/end.json": schema}
    with pytest.raises(SurfaceError, match=r"#/events/end: its schema must require the key 'type'"):
        Registry.from_folder(write(files))


def test_an_event_with_branches_may_carry_its_tag_in_each(write: Write) -> None:
    branches = [obj(type={"const": "end"}, ok=TEXT), obj(type={"const": "end"}, error=TEXT)]
    events = {"end": {"schema": "events/end.json", "status": "active"}}
    files = story(**TAGGED, events=events) | {"events/end.json": {"anyOf": branches}}
    assert Registry.from_folder(write(files)).surface("story").order.last == {"end"}


def test_b67_a_stream_in_another_protocols_order_is_told_apart() -> None:
    """B67, assistant-ui/assistant-ui#4676: `start-step` came before `start`."""
    names = ("start", "start-step", "text", "finish")
    order = {"first": ["start"], "last": ["finish"]}
    events = {name: {"status": "placeholder"} for name in names}
    rules = OrderRules.compile(Catalogue.from_json(story(order, events=events)["surface.json"]))
    right, wrong = rules.start(), rules.start()
    for name in names:
        right.step(name, {})
    right.finish()
    with pytest.raises(OrderViolation) as raised:
        wrong.step("start-step", {})
    assert (raised.value.rule, raised.value.allowed) == ("FIRST", ("start",))
