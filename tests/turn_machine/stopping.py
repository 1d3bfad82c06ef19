"""Rules: turns are stopped, sessions deleted, and looked at by those whose they aren't."""

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from chat_edge import problem
from turn_machine import checks, drawing
from turn_machine.answers import Json
from turn_machine.asking import Asking
from turn_machine.expected import Reading, Session, Stop, Turn
from turn_machine.machine import Machine, on_loop, picks
from turn_machine.world import USERS


class Stopping(Asking):
    async def stopping(self, turn: Turn, stop: Stop, late: bool) -> None:
        """What is said before a turn is stopped; `late`: as it goes on at the same time."""
        await self.witness(turn)
        turn.stopped, turn.raced = stop, late
        if late:
            self.open(turn)

    async def witness(self, turn: Turn) -> None:
        """Somebody reads it from its beginning, and will read its end."""
        if not any(r.reader is not None and not r.after for r in turn.readings):
            turn.readings.append(Reading(await self.world.resumed(turn, 0)))
            turn.left_at = None

    @precondition(Machine.some_run)
    @rule(pick=picks, late=st.booleans())
    @on_loop
    async def stop(self, pick: int, late: bool) -> None:
        turn = self.running[pick % len(self.running)]
        await self.stopping(turn, "user", late)
        await self.abort(turn.session)
        await self.ended(turn)

    @precondition(lambda machine: len(machine.sessions) > 1)
    @rule(pick=picks, late=st.booleans())
    @on_loop
    async def delete(self, pick: int, late: bool) -> None:
        session = self.all[pick % len(self.all)]
        turn = session.running
        if turn is not None:
            await self.stopping(turn, "deleted", late)
        answer = await self.world.ask("DELETE", f"/sessions/{session.id}", session.user)
        assert answer.status_code == 204
        del self.sessions[session.id]
        await self.is_gone(session, session.user)
        if turn is not None:
            await self.went_with_it(turn)
        self.happened("deleted in a turn" if turn else "deleted")

    async def went_with_it(self, turn: Turn) -> None:
        """A turn's readers still get its end when its session is gone."""
        turn.session.running = None
        await checks.read_to_the_end(self.world, turn)
        asked = self.world.book.asked[turn.tag]
        checks.check_stream(turn)
        checks.check_end(turn, asked, self.world.context_window)
        await checks.requests_are_over(asked)

    async def is_gone(self, session: Session, user: str) -> None:
        """There is no such session for a user, whatever is asked of it."""
        for method, what, body in (
            ("GET", "/history", None),
            ("GET", "/stream", None),
            ("POST", "/abort", None),
            ("PATCH", "", {"title": "mine"}),
            ("PUT", "/pin", None),
            ("DELETE", "/pin", None),
            ("DELETE", "", None),
        ):
            answer = await self.world.ask(method, f"/sessions/{session.id}{what}", user, body)
            assert (answer.status_code, problem(answer)["code"]) == (404, "session_not_found")

    @precondition(Machine.some_session)
    @rule(
        pick=picks,
        what=st.sampled_from(["look", "rename", "pin", "unpin"]),
        title=drawing.words,
    )
    @on_loop
    async def change(self, pick: int, what: str, title: str) -> None:
        """What its user may do with a session at any time."""
        session = self.all[pick % len(self.all)]
        path, user = f"/sessions/{session.id}", session.user
        match what:
            case "look":
                await self.look(session)
            case "rename":
                answer = await self.world.ask("PATCH", path, user, {"title": f"My {title}"})
                session.title, session.title_by_user = answer.json()["title"], True
                assert session.title.startswith("My")
            case _:
                session.pinned = what == "pin"
                method = "PUT" if session.pinned else "DELETE"
                answer = await self.world.ask(method, f"{path}/pin", user)
                assert answer.json()["pinned"] is session.pinned
        self.happened(what)

    async def look(self, session: Session) -> None:
        """What changes nothing: a stop where nothing runs, whatever a stranger does, pages."""
        if session.running is None:
            await self.abort(session)
        other = next(name for name in USERS if name != session.user)
        await self.is_gone(session, other)
        body = {"message": "let me in", "session_id": session.id}
        answer = await self.world.ask("POST", "/stream", other, body)
        assert (answer.status_code, problem(answer)["code"]) == (404, "session_not_found")
        path = f"/sessions/{session.id}/history?limit=2"
        messages: list[Json] = []
        more = True
        while more:
            before = f"&before={messages[0]['id']}" if messages else ""
            page = (await self.world.ask("GET", path + before, session.user)).json()
            messages = page["messages"] + messages
            more = page["has_more"]
        assert messages == await self.world.history(session)
