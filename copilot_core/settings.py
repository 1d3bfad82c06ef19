"""The bounds of the agent core."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CoreSettings:
    """Bounds of the agent core. Times in seconds, sizes in bytes."""

    tool_timeout: float = 120.0
    max_tool_output: int = 16 * 1024
    #: How much of a turn a reader can be behind, or come back for.
    max_log: int = 8 * 1024 * 1024
    #: How long a turn can still be read after its end.
    keep_log: float = 60.0
    #: How long a turn goes on when nobody reads it; None: to its end.
    grace: float | None = 10.0
    #: How long a turn that is stopped may take to stop.
    stop_seconds: float = 5.0
