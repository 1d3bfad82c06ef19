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

    Its arguments and its return are the contracts of that name in the surface. ``run`` gets
    arguments that satisfy theirs; whatever goes wrong is in what it returns (``{"error": ...}``),
    an exception is a bug.
    """

    name: str
    #: What the model reads of it.
    description: str
    run: Run
    #: The modes of the copilot in which it is offered and executed.
    modes: frozenset[str]
