"""The stream contract: each event checked for shape and place, and encoded, once."""

from collections.abc import Mapping
from typing import Any, NoReturn

from . import sse
from .explain import show_key
from .gate import Gate
from .registry import Contract, Surface
from .strict_json import json_type
from .violations import ContractViolation, OrderViolation

__all__ = ["EventStream", "StreamContract"]


class StreamContract:
    """The events of a surface and their order. Compiled once a surface; `open()` a turn."""

    def __init__(self, surface: Surface, gate: Gate) -> None:
        if surface.catalogue.sse is None or surface.catalogue.order is None:
            raise ValueError(f"The surface {surface.name} has no events.")
        self.surface = surface
        self.gate = gate
        #: The key in the data that names an event; None when events are {"event", "data"}.
        self.tag = surface.catalogue.sse.tag
        self.order = surface.order
        keepalive = surface.catalogue.sse.keepalive
        #: The comment that is sent in silence, as bytes; None: the surface has none.
        self.keepalive = None if keepalive is None else sse.comment(keepalive)
        #: Those that may be sent, by name.
        self.events: dict[str, Contract] = {
            contract.name: contract
            for contract in surface.contracts()
            if contract.kind == "event" and contract.status != "placeholder"
        }

    def open(self) -> "EventStream":
        """One turn's stream."""
        return EventStream(self)

    def encode_anytime(self, event: Mapping[str, Any]) -> bytes:
        """An `anytime` event (a heartbeat) outside the numbered stream, as an SSE block.

        Raises ContractViolation as `EventStream.encode` does, and OrderViolation for any other
        event.
        """
        name, data = self.named(event)
        if name not in self.order.anytime:
            self.gate.refuse(
                OrderViolation(
                    surface=self.surface.name,
                    event=name,
                    position=1,
                    allowed=tuple(sorted(self.order.anytime)),
                    rule="ANYTIME",
                    message="only an anytime event may be sent outside the stream",
                )
            )
        body = self.gate.encode(self.events[name], data)
        return sse.encode(body, None if self.tag else name)

    def named(self, event: Any) -> tuple[str, Any]:
        """An event's name and data. Raises ContractViolation when nothing here has that name."""
        if type(event) is not dict:
            self._refuse("?", "", "type", "object", json_type(event))
        if self.tag is not None:
            pointer, name, data = f"/{self.tag}", event.get(self.tag), event
        else:
            if event.keys() != {"event", "data"}:
                self._refuse("?", "", "required", 'the keys "event" and "data" only', "object")
            pointer, name, data = "/event", event["event"], event["data"]
        if type(name) is not str or name not in self.events:
            self._unknown(pointer, name)
        return name, data

    def _unknown(self, pointer: str, name: object) -> NoReturn:
        declared = self.surface.catalogue.events
        if type(name) is str and name in declared:
            self._refuse(name, pointer, "PLACEHOLDER", "nothing yet (a placeholder)", "event")
        shown = (show_key(name) if type(name) is str else None) or "?"
        got = "no such key" if name is None else json_type(name)
        self._refuse(shown, pointer, "UNKNOWN_EVENT", f"one of {', '.join(self.events)}", got)

    def _refuse(self, name: str, pointer: str, rule: str, expected: str, got: str) -> NoReturn:
        self.gate.refuse(
            ContractViolation(
                surface=self.surface.name,
                kind="event",
                name=name,
                pointer=pointer,
                rule=rule,
                expected=expected,
                got=got,
            )
        )


class EventStream:
    """The events of one turn, in order."""

    __slots__ = ("_contract", "_gate", "_named", "_order", "_state", "_validates")

    def __init__(self, contract: StreamContract) -> None:
        self._contract = contract
        self._gate = contract.gate
        self._named = contract.tag is None
        self._validates = contract.gate.validates
        self._state = contract.order.start()

    @property
    def ended(self) -> bool:
        """Whether the last event was sent."""
        return self._state.ended

    def encode(self, event: Mapping[str, Any], id: str | None = None) -> bytes:  # noqa: A002  (the field's name on the wire)
        """The event as an SSE block, after its shape and its place were checked.

        Raises ContractViolation and OrderViolation as the gate's policy says; whatever the
        policy, what isn't strict JSON, an unknown event, a placeholder and anything after the
        last event. What raised was not sent: the stream stands where it stood.
        """
        contract = self._contract
        name, data = contract.named(event)
        if self._state.ended:
            self._gate.refuse(self._state.misplaced(name))
        body, data = self._gate.admit(contract.events[name], data)
        block = sse.encode(body, name if self._named else None, id)
        try:
            self._state.step(name, data)
        except OrderViolation as violation:
            if self._validates:
                self._gate.judge(violation)
            self._state.skip(name)
        return block

    def finish(self) -> None:
        """The turn is over. Raises OrderViolation, or reports it, when no last event was sent."""
        try:
            self._state.finish()
        except OrderViolation as violation:
            if self._validates:
                self._gate.judge(violation)
