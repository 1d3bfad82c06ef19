"""What a tool is to the agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from copilot_core.ports import JsonObject

if TYPE_CHECKING:
    from copilot_core.ports import Identity


@dataclass(frozen=True, slots=True)
class ToolContext:
    """In whose name and where a tool works."""

    project_id: str
    identity: Identity


Run: TypeAlias = Callable[[JsonObject, ToolContext], Awaitable[JsonObject | str]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model may call.

    What it is for, its arguments and its return stand in the surface's catalogue under its name.
    ``run`` gets arguments that satisfy theirs; whatever goes wrong is in what it returns
    (``{"error": ...}``), an exception is a bug.
    """

    name: str
    run: Run
    #: The modes of the copilot in which it is offered and executed.
    modes: frozenset[str]
