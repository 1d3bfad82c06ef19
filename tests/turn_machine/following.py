"""Rules: readers come, read, leave and come back, and requests are repeated."""

import asyncio

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from chat_edge import problem
from chat_turns import Reader
from turn_machine.expected import Reading, Turn
from turn_machine.machine import Machine, on_loop, picks
from turn_machine.stopping import Stopping

#: More than these don't follow one turn.
MOST_READINGS = 4

#: How much of what it has read a reader still knows.
shares = st.sampled_from([0.0, 0.3, 0.6, 1.0, 1.0])


class Following(Stopping):
    def followed(self, *, now: bool) -> list[tuple[Turn, Reading]]:
        """Who follows the turns that run: who reads now, or who has left."""
        return [
            (turn, reading)
            for turn in self.running
            for reading in turn.readings
            if (reading.reader is not None) is now
        ]

    def read_wholly(self) -> list[Turn]:
        return [turn for turn in self.ended_turns if turn.streamed and turn.whole]

    def keyed(self) -> list[Turn]:
        return [turn for turn in (*self.ended_turns, *self.running) if turn.key]

    @precondition(lambda machine: machine.followed(now=True))
    @rule(pick=picks)
    @on_loop
    async def read(self, pick: int) -> None:
        """One reader reads all that there is."""
        followed = self.followed(now=True)
        turn, reading = followed[pick % len(followed)]
        await self.reads(turn, reading)

    async def reads(self, turn: Turn, reading: Reading) -> None:
        while reading.reader and turn.run and reading.last < turn.run.last:
            await reading.reader.one()

    @precondition(lambda machine: machine.followed(now=True))
    @rule(
        pick=picks,
        reads=st.sampled_from(["nothing", "something", "all"]),
        then=st.sampled_from(["", "stays away", "comes back", "comes back"]),
        share=shares,
    )
    @on_loop
    async def leave(self, pick: int, reads: str, then: str, share: float) -> None:
        """A reader leaves: for now, for longer than the turn waits for it, or for a moment."""
        followed = self.followed(now=True)
        turn, reading = followed[pick % len(followed)]
        if reads == "all":
            await self.reads(turn, reading)
        if reading.reader is not None:
            if reads == "something" and turn.run and reading.last < turn.run.last:
                await reading.reader.one()
            await reading.reader.response.aclose()
        reading.leave()
        await self.has_left(turn)
        if then == "stays away":
            await self.passes(11)
        elif then:
            await self.comes_back(turn, reading, share)

    @precondition(lambda machine: any(turn.posted for turn in machine.running))
    @rule(stays_away=st.booleans())
    @on_loop
    async def give_up(self, stays_away: bool) -> None:
        """Who waits for a whole answer waits no longer."""
        turn = next(turn for turn in self.running if turn.posted)
        if turn.posted is not None:
            turn.posted.cancel()
            await asyncio.wait({turn.posted})
            turn.posted = None
        await self.has_left(turn)
        if stays_away:
            await self.passes(11)

    async def has_left(self, turn: Turn) -> None:
        await self.world.readers_are(turn, turn.readers)
        if not turn.readers:
            turn.left_at = self.world.loop.time()
        self.happened("left")

    @precondition(lambda machine: machine.followed(now=False))
    @rule(pick=picks, share=shares)
    @on_loop
    async def come_back(self, pick: int, share: float) -> None:
        followed = self.followed(now=False)
        await self.comes_back(*followed[pick % len(followed)], share)

    async def comes_back(self, turn: Turn, reading: Reading, share: float) -> None:
        """A reader goes on where it left, or before that."""
        reading.forget(int(reading.after * share))
        reading.reader = await self.world.resumed(turn, reading.after)
        turn.left_at = None
        self.happened("came back")

    @precondition(Machine.some_run)
    @rule(pick=picks, known=st.booleans())
    @on_loop
    async def join(self, pick: int, known: bool) -> None:
        """One more reads the turn from its beginning."""
        turn = self.running[pick % len(self.running)]
        if len(turn.readings) < MOST_READINGS:
            reader = await self.world.resumed(turn, 0 if known else None)
            turn.readings.append(Reading(reader))
            turn.left_at = None
            self.happened("joined")

    @precondition(lambda machine: machine.read_wholly())
    @rule(pick=picks, share=shares)
    @on_loop
    async def read_again(self, pick: int, share: float) -> None:
        """Who lost the connection before a turn's end comes back after it."""
        turns = self.read_wholly()
        turn = turns[-1 - pick % len(turns)]
        session = turn.session
        last = turn.whole.count(b"\n\n")
        after = int(last * share)
        path = f"/sessions/{session.id}/stream"
        answer = await self.world.ask(
            "GET", path, session.user, last_event_id=f"{turn.run_id}:{after}"
        )
        if turn.kept_since is None:
            assert (answer.status_code, problem(answer)["code"]) == (410, "resync_required")
            return
        assert answer.status_code == (204 if after == last else 200)
        blocks = _blocks(answer.content)
        assert turn.whole.endswith(blocks)
        assert blocks.count(b"\n\n") == last - after
        self.happened("read again")

    @precondition(lambda machine: machine.keyed())
    @rule(pick=picks, other=st.sampled_from([False, False, False, True]))
    @on_loop
    async def repeat(self, pick: int, other: bool) -> None:
        """The same request again, or another one under the same key."""
        turns = self.keyed()
        turn = turns[-1 - pick % len(turns)]
        session = turn.session
        joins = turn is session.running and not other
        if joins and len(turn.readings) == MOST_READINGS:
            return
        body = turn.body | {"stream": True} | ({"message": "another"} if other else {})
        response = await self.world.stream(
            "POST", "/stream", session.user, body, idempotency_key=str(turn.key)
        )
        if joins:
            assert response.status_code == 200, await response.aread()
            turn.readings.append(Reading(Reader(response)))
            turn.left_at = None
            self.happened("repeated in a turn")
            return
        content = await response.aread()
        self.world.answers.append(content)
        if other:
            assert (response.status_code, problem(response)["code"]) == (422, "invalid_request")
        elif turn.kept_since is None:
            assert (response.status_code, problem(response)["code"]) == (410, "resync_required")
            assert problem(response)["session_id"] == session.id
        else:
            assert response.status_code == 200
            assert not turn.whole or _blocks(content) == turn.whole
            self.happened("repeated after a turn")


def _blocks(content: bytes) -> bytes:
    """The numbered events of a stream."""
    blocks = content.split(b"\n\n")
    return b"".join(block + b"\n\n" for block in blocks if block.startswith(b"id: "))
