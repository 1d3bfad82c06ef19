"""What turns the core's events into one surface's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from copilot_core.events import CoreEvent


class Dialect(Protocol):
    """One surface's words for one turn. A dialect that counts or pairs keeps that here."""

    def events(self, event: CoreEvent) -> Iterable[Mapping[str, object]]:
        """The surface's events for a core event; none for what the surface doesn't show."""

    def heartbeat(self) -> Mapping[str, object] | None:
        """The event that says "still here", or None where the surface uses an SSE comment."""
