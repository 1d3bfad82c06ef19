"""The runs of one project that can be read: those at work, and the ended ones for a while (A32)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from copilot_core.runs import Run


class KeptRuns:
    """By their ids, and the newest of each session by the session's."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._runs: dict[str, Run] = {}
        self._newest: dict[str, Run] = {}

    def add(self, run: Run) -> None:
        """Keep a run, until ``end`` or ``drop``."""
        self._runs[run.run_id] = self._newest[run.session_id] = run

    def find(self, run_id: str) -> Run | None:
        """The run of that id."""
        return self._runs.get(run_id)

    def at_work(self, session_id: str) -> Run | None:
        """The session's run that hasn't ended."""
        newest = self._newest.get(session_id)
        return None if newest is None or newest.ended else newest

    def all_at_work(self) -> Iterable[Run]:
        """The runs that haven't ended."""
        return [run for run in self._newest.values() if not run.ended]

    def end(self, run: Run) -> None:
        """A run ends: keep it for so long yet. The clock holds its ids only, not its log."""
        asyncio.get_running_loop().call_later(
            self._seconds, self._forget, run.session_id, run.run_id
        )

    def drop(self, run: Run) -> None:
        """Keep a run no longer."""
        self._forget(run.session_id, run.run_id)

    def drop_session(self, session_id: str) -> None:
        """Keep no run of a session any longer."""
        self._newest.pop(session_id, None)
        self._runs = {k: run for k, run in self._runs.items() if run.session_id != session_id}

    def clear(self) -> None:
        """Keep none any longer."""
        self._runs.clear()
        self._newest.clear()

    def _forget(self, session_id: str, run_id: str) -> None:
        self._runs.pop(run_id, None)
        newest = self._newest.get(session_id)
        if newest is not None and newest.run_id == run_id:
            del self._newest[session_id]
