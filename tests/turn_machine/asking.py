"""Rules: users ask, and models and tools go on."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import httpx
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from chat_edge import problem
from chat_turns import Reader
from copilot_core.errors import ChatError
from turn_machine import drawing
from turn_machine.answers import Answer, Failed, Json
from turn_machine.expected import Reading, Session, Turn
from turn_machine.machine import Machine, on_loop, picks
from turn_machine.world import World

#: More sessions than these are not begun.
MOST_SESSIONS = 5

requests = st.fixed_dictionaries(
    {
        "script": drawing.scripts,
        "title": drawing.titles,
        "text": drawing.words,
        "streamed": st.sampled_from([True, True, True, False]),
        "keyed": st.booleans(),
        "stop": st.sampled_from([False] * 7 + [True]),
        "temperature": st.sampled_from([None, None, 0.0, 1.5]),
    }
)


class Asking(Machine):
    @initialize(
        cumulative=st.booleans(), window=st.sampled_from([None, None, 4000]), first=requests
    )
    def serve(self, cumulative: bool, window: int | None, first: Json) -> None:
        self.world = World(cumulative=cumulative, context_window=window)
        self.count = 0
        self.world.run(self.ask("ann", "s1", **first))

    @rule(session_id=st.sampled_from(["s1", "s2"]), asked=requests)
    @on_loop
    async def ann_asks(self, session_id: str, asked: Json) -> None:
        await self.ask("ann", session_id, **asked)

    @rule(session_id=st.sampled_from(["s3", "s3", None]), asked=requests)
    @on_loop
    async def bob_asks(self, session_id: str | None, asked: Json) -> None:
        """In a session of his choice, or of the server's."""
        await self.ask("bob", session_id, **asked)

    async def ask(
        self, user: str, session_id: str | None, *, stop: bool = False, **asked: Any
    ) -> None:
        turn = await self.turn(user, session_id, **asked)
        if turn is None:
            return
        if stop and turn.session.id:
            await self.stopped_at_once(turn)
        else:
            await self.post(turn)
            await self.began(turn)
            await self.went_on(turn)
        self.happened("turns" if turn.streamed else "turns at once")

    async def turn(
        self,
        user: str,
        session_id: str | None,
        *,
        script: list[Answer | Failed],
        title: Answer | Failed,
        text: str,
        streamed: bool,
        keyed: bool,
        temperature: float | None,
    ) -> Turn | None:
        """What is to be asked; None where it isn't, or is refused."""
        session = self.sessions.get(session_id or "")
        if session is None and len(self.sessions) == MOST_SESSIONS:
            return None
        if session is not None and session.running is not None:
            await self.is_busy(session, text, streamed)
            return None
        self.count += 1
        tag = f"q{self.count}"
        body: Json = {"message": f"{tag} {text}", "session_id": session_id, "stream": streamed}
        if temperature is not None:
            body["temperature"] = temperature
        session = session or Session(session_id or "", user)
        self.world.book.script(tag, session, script, title)
        return Turn(tag, session, body, f"key-{tag}" if keyed else None, session.title is None)

    async def post(self, turn: Turn) -> None:
        headers = {"idempotency_key": turn.key} if turn.key else {}
        asking = self.world.stream("POST", "/stream", turn.session.user, turn.body, **headers)
        if turn.streamed:
            response = await asking
            assert response.status_code == 200, await response.aread()
            turn.readings.append(Reading(Reader(response)))
        else:
            turn.posted = asyncio.create_task(_whole(asking))

    async def began(self, turn: Turn) -> None:
        """Until the turn is known to run, or to have ended already."""
        session = turn.session
        service = await self.world.service()
        while turn.run is None:
            session.id = session.id or await self.new_id(session.user)
            with suppress(ChatError):  # there is no such session yet
                turn.run = await service.find_run(session.id, session.user)
            if turn.posted is None or turn.posted.done():
                break
            await asyncio.sleep(0.001)
        self.sessions[session.id] = session
        session.running = turn
        turn.run_id = turn.run.run_id if turn.run else ""

    async def new_id(self, user: str) -> str:
        listed = (await self.world.ask("GET", "/sessions", user)).json()
        found = [each["thread_id"] for each in listed if each["thread_id"] not in self.sessions]
        return found[0] if found else ""

    async def stopped_at_once(self, turn: Turn) -> None:
        """A stop as early as can be: before the turn, as it begins, or as it goes on."""
        session = turn.session
        posting = asyncio.create_task(self.post(turn))
        answer = await self.world.ask("POST", f"/sessions/{session.id}/abort", session.user)
        assert answer.status_code in ({200} if session.turns else {200, 404})
        await posting
        turn.stopped, turn.raced = "user", True
        await self.began(turn)
        await self.abort(session)
        await self.ended(turn)
        self.happened("stopped at once")

    async def abort(self, session: Session) -> None:
        answer = await self.world.ask("POST", f"/sessions/{session.id}/abort", session.user)
        assert answer.json() == {"status": "ok", "session_id": session.id}

    async def is_busy(self, session: Session, text: str, streamed: bool) -> None:
        body = {"message": f"x {text}", "session_id": session.id, "stream": streamed}
        answer = await self.world.ask("POST", "/stream", session.user, body)
        assert (answer.status_code, problem(answer)["code"]) == (409, "session_busy")
        self.happened("refused as busy")

    @precondition(Machine.some_run)
    @rule(pick=picks, far=st.booleans())
    @on_loop
    async def go_on(self, pick: int, far: bool) -> None:
        """What waits is let go on; `far`: again and again, until the model says nothing more."""
        turn = self.running[pick % len(self.running)]
        while turn is turn.session.running:
            self.open(turn)
            await self.went_on(turn)
            held = self.world.book.held(turn.tag)
            if not far or (held is not None and held.silent):
                break
        self.happened("went on")

    def open(self, turn: Turn) -> None:
        self.world.book.open(turn.tag)
        self.world.tools.open(turn.session.id)


async def _whole(asking: Coroutine[Any, Any, httpx.Response]) -> httpx.Response:
    response = await asking
    await response.aread()
    return response
