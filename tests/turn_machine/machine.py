"""What all rules share: the sessions that should be there, the turns that run, and the time."""

import functools
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeVar

from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine

from turn_machine import checks
from turn_machine.expected import Session, Turn
from turn_machine.world import World

#: What happened how often, in all examples.
HAPPENED: Counter[str] = Counter()

#: Which of the turns or sessions that there are.
picks = st.integers(0, 11)

_P = ParamSpec("_P")
_M = TypeVar("_M", bound="Machine")


def on_loop(
    work: Callable[Concatenate[_M, _P], Coroutine[Any, Any, None]],
) -> Callable[Concatenate[_M, _P], None]:
    """A rule's work, done on the machine's event loop."""

    @functools.wraps(work)
    def done(machine: _M, *args: _P.args, **drawn: _P.kwargs) -> None:
        machine.world.run(work(machine, *args, **drawn))

    return done


class Machine(RuleBasedStateMachine):
    """The served API and what it should hold."""

    #: Made by the first rule.
    world: World

    def __init__(self) -> None:
        super().__init__()
        self.sessions: dict[str, Session] = {}

    def teardown(self) -> None:
        if "world" in vars(self):
            self.world.end()

    @property
    def all(self) -> list[Session]:
        return list(self.sessions.values())

    @property
    def running(self) -> list[Turn]:
        return [session.running for session in self.all if session.running is not None]

    @property
    def ended_turns(self) -> list[Turn]:
        return [turn for session in self.all for turn in session.turns]

    def some_run(self) -> bool:
        return bool(self.running)

    def some_session(self) -> bool:
        return bool(self.sessions)

    def happened(self, what: str) -> None:
        HAPPENED[what] += 1
        event(what)

    async def went_on(self, turn: Turn) -> None:
        """Until a turn waits again or has ended."""
        if await self.world.settle(turn):
            await self.ended(turn)

    async def ended(self, turn: Turn, *, kept: bool = True) -> None:
        await checks.conclude(self.world, turn, kept=kept)
        self.happened(f"ended: {checks.how_it_ended(turn)}")

    # -- time ----------------------------------------------------------------------------

    async def passes(self, seconds: float) -> None:
        """Puts the clock forward; what is due then happens."""
        dues = {turn: self.dues(turn) for turn in self.running}
        dropped = {t: t.kept_since + 60 for t in self.ended_turns if t.kept_since is not None}
        now = self.world.loop.time()
        clock = now + seconds
        # Never so near to what is due that it could happen as well as not.
        near = [*dropped.values(), *(due for some in dues.values() for due in some.values())]
        while any(abs(due - clock) < 2 for due in near):
            clock += 5
        await self.world.wait(clock - now)
        for turn, due in dropped.items():
            turn.kept_since = turn.kept_since if clock < due else None
        for turn, some in dues.items():
            await self.is_due(turn, {what for what, due in some.items() if due < clock})
            # Silence is broken every 15 seconds.
            if turn is turn.session.running and clock - now > 15 and not turn.tool_late:
                for reading in turn.readings:
                    if reading.reader is not None:
                        await reading.reader.until("heartbeat")

    def dues(self, turn: Turn) -> dict[str, float]:
        """When something happens to a turn that waits."""
        dues: dict[str, float] = {}
        if turn.left_at is not None:
            dues["grace"] = turn.left_at + 10
        if self.world.book.held(turn.tag) is None:
            dues["tool"] = turn.held_at + 120
        elif self.world.book.asked[turn.tag][-1].title:
            dues["title"] = turn.held_at + 20
        else:
            dues["model"] = turn.held_at + 90
        return dues

    async def is_due(self, turn: Turn, due: set[str]) -> None:
        if "grace" in due:
            turn.stopped = "disconnected"
        elif "tool" in due:
            turn.tool_late = True
            self.happened("tool gave no answer")
            await self.world.tools_end(turn)
            await self.went_on(turn)
            return
        if due:
            await self.world.ends(turn)
            await self.ended(turn)
