"""What can be wrong: with a surface's files, with a value, with the order of a stream."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "ContractViolation",
    "NotJson",
    "OrderViolation",
    "SurfaceError",
    "SurfaceProblem",
    "UnknownContract",
    "UnknownSurface",
]


@dataclass(frozen=True, slots=True)
class SurfaceProblem:
    """One thing that is wrong in a surface's files."""

    #: The file, relative to the schemas' folder where it lies in it.
    path: str
    #: JSON pointer (RFC 6901) to the place in the file; empty for the whole file.
    pointer: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}{'#' + self.pointer if self.pointer else ''}: {self.message}"


class SurfaceError(Exception):
    """A surface can't be used. Says all that is wrong with it, one line a problem."""

    def __init__(self, problems: Iterable[SurfaceProblem]) -> None:
        #: What is wrong, in the order of the files.
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))

    @classmethod
    def at(cls, path: str, pointer: str, message: str) -> "SurfaceError":
        return cls([SurfaceProblem(path, pointer, message)])


class UnknownSurface(LookupError):
    """There is no surface of that name. The message names those there are."""


class UnknownContract(LookupError):
    """The surface has no such contract. The message names those there are."""


class ContractViolation(Exception):
    """A value breaks its contract. Carries where and which rule, never the value."""

    def __init__(
        self,
        *,
        surface: str,
        kind: str,
        name: str,
        pointer: str,
        rule: str,
        expected: str,
        got: str,
    ) -> None:
        #: The surface's name, the contract's kind and name.
        self.surface = surface
        self.kind = kind
        self.name = name
        #: JSON pointer (RFC 6901) into the value. A key that could hold data is shown as `*`.
        self.pointer = pointer
        #: The JSON Schema keyword, or a rule of ours in capitals.
        self.rule = rule
        #: What the contract says there, as a phrase.
        self.expected = expected
        #: The JSON type (or Python type) of what came.
        self.got = got
        super().__init__(
            f"{surface} {kind} {name} at {pointer or 'the root'}: "
            f"expected {expected}, got {got} ({rule})."
        )


class NotJson(ContractViolation):
    """A value that strict JSON can't carry. It never leaves, whatever the policy.

    Rules: `JSON_TYPE` (bytes, datetime, tuple, a subclass of str, ...), `JSON_KEY` (a key that is
    no string), `JSON_FINITE` (NaN, infinity), `JSON_INTEGER` (beyond 64 bits: most readers would
    round it), `JSON_DEPTH`.
    """


class OrderViolation(Exception):
    """An event came where its surface's order rules don't allow it, or the end didn't come."""

    def __init__(
        self,
        *,
        surface: str,
        event: str | None,
        position: int,
        allowed: tuple[str, ...],
        rule: str,
        message: str,
        key: str | None = None,
    ) -> None:
        self.surface = surface
        #: The event's name; None when the stream stopped without its last event.
        self.event = event
        #: Its place in the stream, counted from 1.
        self.position = position
        #: The events that may come at that place.
        self.allowed = allowed
        #: `FIRST`, `LAST`, `PAIR`, `REPEAT`, `COUNT`, `SAME`, `ANYTIME` or `KEYS`.
        self.rule = rule
        #: JSON pointer to the key that decided, where one did. Never the value there.
        self.key = key
        self.message = message
        here = ", ".join(allowed) if allowed else "nothing"
        what = (
            f"event {position}, {event}" if event is not None else f"the end after {position - 1}"
        )
        super().__init__(f"{surface}: {what}: {message} ({rule}). Allowed here: {here}.")
