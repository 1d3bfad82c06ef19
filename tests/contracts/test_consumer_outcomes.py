"""Each consumer of each surface with an example of each outcome that applies to what it reads.

Which outcomes apply follows from the contracts, not from their examples: a tool may fail, so there
is a failure; a route has answers of error; a key that isn't always there is there once and absent
once. The examples are read as consumers read: by the generated models, with keys that are newer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pytest
from pydantic import ValidationError

from agreement import same
from copilot_contracts import Contract, Registry, Surface
from copilot_contracts.catalogue import Consumer, Reading
from copilot_contracts.lint.consumers import Presence, presence
from copilot_contracts.reading import dump, read
from copilot_contracts.registry import Kind

KINDS: Mapping[str, Kind] = {
    "event": "event",
    "response": "response",
    "tool": "tool_return",
    "mcp": "mcp_return",
}


@dataclass(frozen=True)
class Case:
    """One thing that a consumer reads: its contract, and the examples with their outcomes."""

    selector: str
    reading: Reading
    contract: Contract
    examples: tuple[tuple[str, Any], ...]

    @property
    def outcomes(self) -> set[str]:
        return {outcome for outcome, _ in self.examples}


def examples(contract: Contract) -> tuple[tuple[str, Any], ...]:
    """Outcome and value; what has no outcomes, such as a heartbeat, succeeds."""
    values = contract.schema["examples"]
    outcomes = contract.schema.get("x-outcomes", ["success"] * len(values))
    return tuple(zip(outcomes, values, strict=True))


def cases(surface: Surface, consumer: Consumer) -> Iterator[Case]:
    for selector, reading in consumer.reads.items():
        kind, _, name = selector.partition(":")
        if kind == "event" and surface.catalogue.events[name].schema is None:
            assert surface.catalogue.events[name].status == "placeholder"
            continue
        contract = surface.contract(KINDS[kind], name)
        yield Case(selector, reading, contract, examples(contract))


def refusals(surface: Surface, selector: str) -> list[Contract]:
    """The answers of error that the route of a `response:ROUTE:STATUS` may give instead."""
    _, route, _ = selector.split(":")
    return [
        surface.contract("response", f"{route}:{status}")
        for status, response in surface.catalogue.routes[route].responses.items()
        if status >= "4" and response.schema is not None
    ]


def has(value: Any, key: str) -> bool:
    """Whether a value has a key: a name, or a JSON pointer in which `*` is every item."""
    way = key[1:].split("/") if key.startswith("/") else [key]
    values = [value]
    for token in way:
        if token == "*":
            values = [item for one in values for item in (one if isinstance(one, list) else ())]
        elif not all(isinstance(one, dict) and token in one for one in values):
            return False
        else:
            values = [one[token] for one in values]
    return True


def faults(case: Case) -> Iterator[str]:
    """What the examples of a contract leave untried for one that reads it."""
    bundle = case.contract.bundled()
    for outcome, value in case.examples:
        for key in case.reading.required:
            if not has(value, key):
                yield f"an example of {outcome} has no {key}"
    for key in case.reading.optional:
        if presence(bundle, key) is Presence.POSSIBLE:
            held = {has(value, key) for _, value in case.examples}
            if held != {True, False}:
                yield f"{key} is {'always' if held == {True} else 'never'} there"
    group = case.selector.partition(":")[0]
    if group in ("tool", "mcp") and not {"success", "failure"} <= case.outcomes:
        yield f"a tool succeeds or fails; there is only {sorted(case.outcomes)}"
    if group == "response" and "success" not in case.outcomes:
        yield "an answer of success has no example of it"


def ends(surface: Surface, consumer: Consumer) -> Iterator[str]:
    """What a consumer of events isn't shown of the ways a stream may end."""
    read_ = {case.selector.partition(":")[2]: case for case in cases(surface, consumer)}
    order = surface.catalogue.order
    if order is None or not any(selector.startswith("event:") for selector in consumer.reads):
        return
    yield from (f"it doesn't read {name}" for name in order.last if name not in read_)
    seen = {outcome for name in order.last if name in read_ for outcome in read_[name].outcomes}
    yield from (
        f"no last event is an example of {o}" for o in ("success", "failure") if o not in seen
    )


SURFACES = Registry.bundled().surfaces
CONSUMERS = {
    f"{surface.name} {name}": (surface, consumer)
    for surface in SURFACES.values()
    for name, consumer in surface.catalogue.consumers.items()
}
CASES = {
    f"{consumer} {case.selector}": (CONSUMERS[consumer][0], case)
    for consumer in CONSUMERS
    for case in cases(*CONSUMERS[consumer])
}


@pytest.mark.parametrize("name", CASES)
def test_every_outcome_that_applies_has_an_example(name: str) -> None:
    assert list(faults(CASES[name][1])) == []


@pytest.mark.parametrize("name", CONSUMERS)
def test_a_reader_of_a_stream_sees_every_end(name: str) -> None:
    assert list(ends(*CONSUMERS[name])) == []


@pytest.mark.parametrize("name", [name for name in CASES if " response:" in name])
def test_a_reader_of_an_answer_may_be_refused(name: str) -> None:
    surface, case = CASES[name]
    contracts = refusals(surface, case.selector)
    assert contracts != []
    for contract in contracts:
        assert "failure" in {outcome for outcome, _ in examples(contract)}
        check_reader(surface, contract)


@pytest.mark.parametrize("name", CASES)
def test_the_generated_reader_takes_them_and_what_is_newer(name: str) -> None:
    surface, case = CASES[name]
    check_reader(surface, case.contract)


def check_reader(surface: Surface, contract: Contract) -> None:
    package = import_module(f"copilot_contracts.generated.{surface.name.replace('-', '_')}")
    shape = package.CONTRACTS[contract.kind, contract.name]
    for _, value in examples(contract):
        newer = {**value, "a key of later": [1]} if is_object(contract, value) else value
        assert same(dump(shape, read(shape, newer)), value)


def is_object(contract: Contract, value: Any) -> bool:
    """Whether the value has keys of its own; a map's keys are data."""
    return isinstance(value, dict) and not isinstance(
        contract.schema.get("additionalProperties"), dict
    )


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][1].reading.required])
def test_without_a_key_that_it_needs_a_reader_says_so(name: str) -> None:
    """So that the tests above say something."""
    surface, case = CASES[name]
    package = import_module(f"copilot_contracts.generated.{surface.name.replace('-', '_')}")
    shape = package.CONTRACTS[case.contract.kind, case.contract.name]
    tried = 0
    for key in case.reading.required:
        for outcome, value in case.examples:
            if key.startswith("/") or not isinstance(value, dict):
                continue
            tried += 1
            less = {name: one for name, one in value.items() if name != key}
            broken = Case(case.selector, case.reading, case.contract, ((outcome, less),))
            assert f"an example of {outcome} has no {key}" in faults(broken)
            with pytest.raises(ValidationError):
                read(shape, less)
    assert tried or all(key.startswith("/") for key in case.reading.required)


# That the tests can fail: on one case of each kind, made worse.


def worse(selector: str, keep: Any) -> list[str]:
    """The faults of a case of the chatbot with only the examples that `keep` picks."""
    surface = SURFACES["chatbot"]
    for consumer in surface.catalogue.consumers.values():
        for case in cases(surface, consumer):
            if case.selector == selector:
                kept = tuple(pair for pair in case.examples if keep(*pair))
                assert kept != case.examples
                return list(faults(Case(selector, case.reading, case.contract, kept)))
    raise AssertionError(selector)


@pytest.mark.parametrize(
    ("selector", "keep", "fault"),
    [
        (
            "event:thinking_start",
            lambda outcome, value: outcome == "success",
            "mode is always there",
        ),
        (
            "event:complete",
            lambda outcome, value: "time_to_first_chunk" not in value,
            "time_to_first_chunk is never there",
        ),
        (
            "tool:google_search_tool",
            lambda outcome, value: outcome != "failure",
            "a tool succeeds or fails; there is only ['partial', 'success']",
        ),
        (
            "mcp:calculate",
            lambda outcome, value: outcome != "success",
            "a tool succeeds or fails; there is only ['failure']",
        ),
        (
            "response:list_memories:200",
            lambda outcome, value: outcome != "success",
            "an answer of success has no example of it",
        ),
    ],
)
def test_an_outcome_that_is_missing_is_seen(selector: str, keep: Any, fault: str) -> None:
    assert fault in worse(selector, keep)


def test_an_end_that_nobody_reads_is_seen() -> None:
    surface = SURFACES["chatbot"]
    (name,) = [n for n, c in surface.catalogue.consumers.items() if "event:error" in c.reads]
    consumer = surface.catalogue.consumers[name]
    deaf = Consumer(
        consumer.description,
        consumer.tolerance,
        {sel: reading for sel, reading in consumer.reads.items() if sel != "event:error"},
    )
    said = list(ends(surface, deaf))
    assert said == ["it doesn't read error", "no last event is an example of failure"]


@pytest.mark.parametrize(
    ("value", "key", "there"),
    [
        ({"a": 1}, "a", True),
        ({"a": 1}, "b", False),
        ([], "a", False),
        ({"a": {"b": None}}, "/a/b", True),
        ([{"a": 1}, {"a": 2}], "/*/a", True),
        ([{"a": 1}, {}], "/*/a", False),
        ({"a": [{"b": 1}, {}]}, "/a/*/b", False),
    ],
)
def test_where_a_key_is(value: Any, key: str, there: bool) -> None:
    assert has(value, key) is there
