"""A surface for people, as one Markdown document: what its catalogue and its schemas say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from copilot_contracts.schema_files import merged

from .shape_text import Shapes, code, escaped, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from copilot_contracts.catalogue import Expectation, Order, Response, Route, Tool
    from copilot_contracts.registry import Contract, Surface

__all__ = ["surface_document"]


def surface_document(surface: Surface) -> str:
    """The document's text, which ends with a line end."""
    return "\n".join(_Document(surface).lines()).rstrip("\n") + "\n"


class _Document:
    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self.catalogue = surface.catalogue
        self.contracts: dict[tuple[str, str], Contract] = {
            (contract.kind, contract.name): contract for contract in surface.contracts()
        }
        self.shapes = Shapes()

    def lines(self) -> Iterator[str]:
        catalogue = self.catalogue
        yield from (f"# {escaped(catalogue.title)}", "", escaped(catalogue.description), "")
        yield (
            f"The surface `{catalogue.name}`, version {catalogue.version}. What is marked "
            "*additive* is not in the document from which it was written."
        )
        yield ""
        yield from self.events()
        yield from self.routes()
        yield from self.tools("Tools", "Tool", "tool", catalogue.tools)
        yield from self.tools("MCP tools", "MCP tool", "mcp", catalogue.mcp)
        yield from self.consumers()
        yield from self.inconsistencies()
        yield from self.checklist()
        yield from self.outcomes()
        yield from self.named_shapes()

    def events(self) -> Iterator[str]:
        catalogue = self.catalogue
        if not catalogue.events or catalogue.sse is None or catalogue.order is None:
            return
        yield from ("## Events", "")
        if catalogue.sse.tag is None:
            yield "An event's name is the SSE field `event`, its data a JSON value."
        else:
            yield f"An event's data is a JSON object, whose key `{catalogue.sse.tag}` names it."
        if catalogue.sse.keepalive is not None:
            yield f"In silence the comment {code(': ' + catalogue.sse.keepalive)} is sent."
        yield ""
        head = ("Event", "Keys", "Optional keys", "Status", "Read by")
        yield from table(head, map(self._event, catalogue.events))
        yield from ("### Order of events", "")
        yield from (f"- {line}" for line in _order(catalogue.order))
        yield ""
        for name, event in catalogue.events.items():
            yield from (f"### Event {code(name)}", "")
            if event.description:
                yield from (escaped(event.description), "")
            contract = self.contracts.get(("event", name))
            if contract is not None:
                yield from self.contract(contract, "Data")

    def _event(self, name: str) -> tuple[str, ...]:
        event = self.catalogue.events[name]
        contract = self.contracts.get(("event", name))
        bundle = contract.bundled() if contract else {}
        keys = self.shapes.keys(bundle, bundle) if contract else []
        readers = [
            reading.handler or consumer
            for consumer, about in self.catalogue.consumers.items()
            for selector, reading in about.reads.items()
            if selector == f"event:{name}"
        ]
        return (
            code(name) + _additive(event.additive),
            ", ".join(key.text for key in keys if key.always),
            ", ".join(key.text for key in keys if not key.always),
            _status(event),
            ", ".join(code(reader) for reader in dict.fromkeys(readers)),
        )

    def routes(self) -> Iterator[str]:
        catalogue = self.catalogue
        if not catalogue.routes:
            return
        yield from ("## Routes", "")
        rows = [
            (
                code(f"{route.method} {route.path}") + _additive(route.additive),
                self._taken(name),
                *(self._statuses(name, route, good=good) for good in (True, False)),
            )
            for name, route in catalogue.routes.items()
        ]
        yield from table(("Route", "Takes", "Success", "Error"), rows)
        if catalogue.answers:
            yield from ("Every route may answer, where it says nothing else of the status:", "")
            some = next(iter(catalogue.routes))
            yield from self._answers(some, catalogue.answers)
        for name, route in catalogue.routes.items():
            yield from self.route(name, route)

    def _taken(self, name: str) -> str:
        found = [self.contracts.get((kind, name)) for kind in ("query", "request")]
        return ", ".join(self.shapes.of(contract) for contract in found if contract)

    def _statuses(self, name: str, route: Route, *, good: bool) -> str:
        bodies: dict[str, list[str]] = {}
        for status, response in self._own(route).items():
            if (status < "4") is good:
                said = status + _additive(response.additive)
                bodies.setdefault(self._body(name, status, response), []).append(said)
        return "; ".join(f"{', '.join(statuses)} {body}" for body, statuses in bodies.items())

    def _own(self, route: Route) -> dict[str, Response]:
        """The answers that aren't every route's."""
        shared = self.catalogue.answers
        return {s: answer for s, answer in route.responses.items() if shared.get(s) is not answer}

    def _body(self, name: str, status: str, response: Response) -> str:
        contract = self.contracts.get(("response", f"{name}:{status}"))
        found = [self.shapes.of(contract)] if contract else []
        if response.stream:
            found.append("[events](#events)")
        return " or ".join(found) or "empty"

    def _answers(self, name: str, answers: Mapping[str, Response]) -> Iterator[str]:
        rows = []
        for status, response in answers.items():
            media = response.media_type
            plain = media in ("application/json", "text/event-stream")
            body = self._body(name, status, response) + ("" if plain else f", {code(media)}")
            said = status + _additive(response.additive)
            rows.append((said, body, escaped(response.description)))
        yield from table(("Status", "Body", "When"), rows)

    def route(self, name: str, route: Route) -> Iterator[str]:
        yield from (f"### Route {code(name)}", "")
        yield code(f"{route.method} {route.path}") + _additive(route.additive)
        for alias in route.aliases:
            yield f"or {code(f'{route.method} {alias}')}"
        yield ""
        if route.status != "active":
            yield from (f"{_status(route)}.", "")
        if route.description:
            yield from (escaped(route.description), "")
        yield from table(
            ("Header", "What it is"),
            ((code(header), escaped(said)) for header, said in route.headers.items()),
        )
        query = self.contracts.get(("query", name))
        if query is not None:
            yield from (f"Query: {self.shapes.of(query)}.", "")
        request = self.contracts.get(("request", name))
        if request is not None:
            yield from (f"Body: {self.shapes.of(request)}.", "")
        yield from self._answers(name, self._own(route))

    def tools(self, title: str, word: str, kind: str, tools: Mapping[str, Tool]) -> Iterator[str]:
        if not tools:
            return
        yield from (f"## {title}", "")
        rows = [
            (
                code(name) + _additive(tool.additive),
                self.shapes.of(self.contracts[f"{kind}_arguments", name]),
                self.shapes.of(self.contracts[f"{kind}_return", name]),
                _status(tool),
                escaped(tool.description or ""),
            )
            for name, tool in tools.items()
        ]
        yield from table((word, "Takes", "Returns", "Status", "What it does"), rows)
        for name in tools:
            yield from (f"### {word} {code(name)}", "")
            yield from self.contract(self.contracts[f"{kind}_return", name], "Returns")

    def contract(self, contract: Contract, word: str) -> Iterator[str]:
        """What a contract's values are, and an example of each outcome."""
        bundle = contract.bundled()
        if bundle.get("description"):
            yield from (escaped(bundle["description"]), "")
        if bundle.get("properties") and not (bundle.get("anyOf") or bundle.get("oneOf")):
            yield from self.shapes.key_table(bundle, bundle)
        else:
            yield from (f"{word}: {self.shapes.spelled(bundle, merged(bundle, bundle))}.", "")
        shown = set()
        for outcome, example in zip(
            bundle.get("x-outcomes", ()), bundle.get("examples", ()), strict=False
        ):
            if outcome not in shown:
                shown.add(outcome)
                yield f"- {outcome}: {code(json.dumps(example, ensure_ascii=False))}"
        if shown:
            yield ""

    def consumers(self) -> Iterator[str]:
        if not self.catalogue.consumers:
            return
        yield from ("## Consumers", "")
        for name, consumer in self.catalogue.consumers.items():
            yield from (f"### Consumer {code(name)}", "")
            where = f" In {code(consumer.file)}." if consumer.file else ""
            keys = "ignores" if consumer.tolerance == "tolerant" else "doesn't take"
            yield f"{escaped(consumer.description)}{where} It {keys} what it doesn't know."
            yield ""
            rows = [
                (
                    code(reading.handler) if reading.handler else "",
                    self._selected(selector),
                    ", ".join(map(code, reading.required)),
                    ", ".join(map(code, reading.optional)),
                    escaped(reading.does or ""),
                )
                for selector, reading in consumer.reads.items()
            ]
            head = ("Handler", "Reads", "Required keys", "Optional keys", "What it does")
            yield from table(head, rows)

    def _selected(self, selector: str) -> str:
        """What a selector such as `response:chat:200` stands for."""
        kind, _, name = selector.partition(":")
        if kind == "response":
            name, _, status = name.rpartition(":")
            route = self.catalogue.routes.get(name)
            return f"{code(f'{route.method} {route.path}') if route else code(name)} {status}"
        return f"{'MCP tool' if kind == 'mcp' else kind} {code(name)}"

    def inconsistencies(self) -> Iterator[str]:
        rows = [
            (
                code(known.name),
                escaped(known.description),
                ", ".join(map(self._selected, known.where)),
                escaped(known.correct),
                _expected(known.expects) if known.expects else "by people",
            )
            for known in self.catalogue.inconsistencies
        ]
        if rows:
            yield from ("## Known inconsistencies", "", "They stay, and aren't done again.", "")
            head = ("Name", "What is uneven", "Where", "What is right", "Checked for all others")
            yield from table(head, rows)

    def checklist(self) -> Iterator[str]:
        rows = [
            (escaped(check.line), check.seen_by, escaped(check.how or ""))
            for check in self.catalogue.checklist
        ]
        if rows:
            yield from ("## Checklist", "", "Before a change of this surface is merged:", "")
            yield from table(("Line", "Seen by", "How"), rows)

    def outcomes(self) -> Iterator[str]:
        if not self.catalogue.outcomes:
            return
        yield from ("## Outcomes", "")
        for name, outcome in self.catalogue.outcomes.items():
            yield from (f"### Outcome {code(name)}", "", escaped(outcome.description), "")
            yield from (f"- {escaped(line)}" for line in outcome.monitor)
            yield ""

    def named_shapes(self) -> Iterator[str]:
        """Models, and every shape that a link leads to; showing one may meet others."""
        for contract in self.contracts.values():
            if contract.kind == "model":
                self.shapes.add(contract)
        done: dict[str, list[str]] = {}
        while missing := [title for title in self.shapes.named if title not in done]:
            done |= {title: list(self.shapes.section(title)) for title in missing}
        if done:
            yield from ("## Shapes", "")
        for title in sorted(done, key=str.casefold):
            yield from (f"### {title}", "", *done[title])


def _additive(additive: bool) -> str:
    return " (additive)" if additive else ""


def _status(entry: Any) -> str:
    """The status of an event, route or tool, and what replaces a deprecated one."""
    if entry.status != "deprecated" or entry.deprecated is None:
        return str(entry.status)
    instead = entry.deprecated.replacement
    return f"deprecated since {entry.deprecated.since}" + (f": use {instead}" if instead else "")


def _order(order: Order) -> Iterator[str]:
    """The order rules as sentences."""
    if order.first:
        yield f"The first event is {_or(order.first)}; it doesn't come again."
    yield f"The last event is {_or(order.last)}: exactly one, and nothing after it."
    if order.anytime:
        yield f"At any point before the end may come {_or(order.anytime)}."
    for pair in order.pairs:
        text = f"Each {code(pair.start)} is followed by one {code(pair.end)}"
        if pair.key is not None:
            yield f"{text} of the same {code(pair.key)}; those of different ones may interleave."
            continue
        inside = f"only {_or(pair.inside)}, which nowhere else does" if pair.inside else "nothing"
        yield f"{text}, before another begins; between the two comes {inside}."
    for repeat in order.repeats:
        text = f"Events {code(repeat.event)} of one {code(repeat.key)} come until one has "
        text += f"`true` at {code(repeat.final)}"
        if repeat.then is not None:
            then = f"{code(repeat.then.event)} with that {code(repeat.then.key)}"
            text += f"; each is followed by one {then}, and doesn't come again after it"
        yield f"{text}."
    for count in order.counts:
        yield f"{code(count.key)} counts {code(count.event)} from 0, without gaps."
    for pointer in order.same:
        yield f"{code(pointer)} is the same in all events of a stream that have it."


def _or(names: Iterable[str]) -> str:
    return " or ".join(map(code, names))


def _expected(expects: Expectation) -> str:
    """What all contracts of a kind keep, but for those that are named."""
    keeps = [f"has {code(key)}" for key in expects.required]
    if expects.type is not None:
        keeps.append(f"is of type {code(expects.type)}")
    if expects.active:
        keeps.append("is no placeholder")
    if expects.handled:
        keeps.append("has a named handler")
    whole = {
        "response": "JSON answer of success",
        "mcp": "MCP tool's return",
        "tool": "tool's return",
    }
    return f"by lint: every {whole.get(expects.of, expects.of)} {' and '.join(keeps)}"
