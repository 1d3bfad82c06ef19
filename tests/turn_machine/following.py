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


class Following(Stopping):
    @precondition(Machine.some_run)
    @rule(pick=picks, which=picks)
    @on_loop
    async def read(self, pick: int, which: int) -> None:
        """One reader reads all that there is."""
        turn, reading = self.reading(pick, which, attached=True)
        if reading is not None and reading.reader is not None and turn.run is not None:
            while reading.last < turn.run.last:
                await reading.reader.one()

    def reading(self, pick: int, which: int, *, attached: bool) -> tuple[Turn, Reading | None]:
        turn = self.running[pick % len(self.running)]
        found = [r for r in turn.readings if (r.reader is not None) is attached]
        return turn, found[which % len(found)] if found else None

    @precondition(Machine.some_run)
    @rule(pick=picks, which=picks, reads=st.booleans(), stays_away=st.booleans())
    @on_loop
    async def leave(self, pick: int, which: int, reads: bool, stays_away: bool) -> None:
        turn, reading = self.reading(pick, which, attached=True)
        if reading is not None and reading.reader is not None:
            if reads and turn.run is not None and reading.last < turn.run.last:
                await reading.reader.one()
            await reading.reader.response.aclose()
            reading.leave()
        elif turn.posted is not None:
            turn.posted.cancel()
            await asyncio.wait({turn.posted})
            turn.posted = None
        else:
            return
        await self.world.readers_are(turn, turn.readers)
        if not turn.readers:
            turn.left_at = self.world.loop.time()
        self.happened("left")
        if stays_away:
            await self.passes(11)

    @precondition(Machine.some_run)
    @rule(pick=picks, which=picks, share=st.sampled_from([0.0, 0.3, 0.6, 1.0, 1.0]))
    @on_loop
    async def come_back(self, pick: int, which: int, share: float) -> None:
        """A reader goes on where it left, or before that."""
        turn, reading = self.reading(pick, which, attached=False)
        if reading is not None:
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

    @precondition(Machine.some_session)
    @rule(pick=picks, which=picks, share=st.sampled_from([0.0, 0.5, 1.0]))
    @on_loop
    async def read_again(self, pick: int, which: int, share: float) -> None:
        """Who lost the connection before a turn's end comes back after it."""
        session = self.all[pick % len(self.all)]
        whole = [turn for turn in session.turns if turn.whole]
        if not whole:
            return
        turn = whole[which % len(whole)]
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

    @precondition(Machine.some_session)
    @rule(pick=picks, which=picks, other=st.sampled_from([False, False, False, True]))
    @on_loop
    async def repeat(self, pick: int, which: int, other: bool) -> None:
        """The same request again, or another one under the same key."""
        session = self.all[pick % len(self.all)]
        keyed = [turn for turn in session.all_turns if turn.key]
        if not keyed:
            return
        turn = keyed[which % len(keyed)]
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
