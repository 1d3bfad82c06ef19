"""Rules: what happens to all turns at once."""

import asyncio

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from turn_machine import checks
from turn_machine.expected import Reading, Turn
from turn_machine.following import Following
from turn_machine.machine import on_loop

#: Steps between two of them.
CALM = 5


class Server(Following):
    def __init__(self) -> None:
        super().__init__()
        self.calm_steps = 0

    def calm(self) -> bool:
        return self.calm_steps >= CALM

    @precondition(calm)
    @rule(what=st.sampled_from(["close", "restart", "kill", "kill", "delete"]), late=st.booleans())
    @on_loop
    async def server(self, what: str, late: bool) -> None:
        """The project is closed or deleted, or the server restarted or killed."""
        turns = self.running
        match what:
            case "close":
                await self.close_project(turns, late)
            case "restart":
                await self.restart(turns, late)
            case "kill":
                await self.kill(journalled=not late)
            case "delete":
                await self.delete_project(turns)
        self.calm_steps = 0
        self.happened(f"server: {what}" + (" in a turn" if turns else ""))

    async def close_project(self, turns: list[Turn], late: bool) -> None:
        for turn in turns:
            await self.stopping(turn, "project_closed", late)
        await self.world.agents.remove_agent("p1")
        await self.all_ended(turns)

    async def restart(self, turns: list[Turn], late: bool) -> None:
        for turn in turns:
            await self.stopping(turn, "shutdown", late)
        await self.world.agents.close_all()
        for turn in turns:
            await checks.read_to_the_end(self.world, turn)
        await self.world.shut()
        await self.world.open()
        await self.all_ended(turns)

    async def kill(self, *, journalled: bool) -> None:
        """`journalled`: more than half a second after the newest word."""
        if journalled:
            await self.passes(0.6)
            await self.world.journalled()
        turns = self.running
        for turn in turns:
            reader = await self.world.resumed(turn, 0)
            while turn.run is not None and Reading(reader).last < turn.run.last:
                await reader.one()
            turn.told = reader.told
            turn.stopped, turn.journalled = "killed", journalled
        await self.world.kill()
        for turn in turns:
            if turn.posted is not None:
                await asyncio.wait({turn.posted})
                turn.posted = None
        await self.all_ended(turns)

    async def delete_project(self, turns: list[Turn]) -> None:
        for turn in turns:
            await self.stopping(turn, "project_closed", False)
        self.sessions.clear()
        await self.world.agents.delete_project("p1", self.world.folder / "p1")
        for turn in turns:
            await self.went_with_it(turn)

    async def all_ended(self, turns: list[Turn]) -> None:
        """Of no turn can anything be read any more."""
        for turn in turns:
            await self.ended(turn, kept=False)
        for turn in self.ended_turns:
            turn.kept_since = None

    @rule(seconds=st.sampled_from([0.6, 16.0, 61.0, 121.0]))
    @on_loop
    async def time_passes(self, seconds: float) -> None:
        await self.passes(seconds)
