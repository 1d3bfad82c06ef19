"""Whether a turn, a session and the whole served API are what they should be."""

from collections import Counter
from itertools import pairwise

from chat_edge import SURFACE_CONTRACTS, decoded, problem
from chat_turns import messages_told
from copilot_contracts import verify_stream
from copilot_core.runs import LIMIT_TEXT
from copilot_core.sessions import NEW_TITLE
from copilot_core.text import without_surrogates
from turn_machine.answers import RETRY_AFTER, Answer, Failed, Json, MeantCall
from turn_machine.book import Asked
from turn_machine.expected import Figures, Session, Turn, figures_of, natural_end
from turn_machine.tools import LONG, hangs, status_of
from turn_machine.world import World, until

# -- a turn that has ended -----------------------------------------------------------------


async def conclude(world: World, turn: Turn, *, kept: bool = True) -> None:
    """All that holds of a turn that has ended; its session is given what it should hold.

    `kept`: whether its events can still be asked for.
    """
    session, asked = turn.session, world.book.asked[turn.tag]
    turn.kept_since = world.loop.time() if kept else None
    session.running = None
    if turn.stopped != "killed":
        await read_to_the_end(world, turn)
    await requests_are_over(asked)
    if turn.whole:
        check_stream(turn)
    if turn.stopped != "killed":
        check_end(turn, asked, world.context_window)
    turn.stored = (await world.history(session))[len(session.messages) :]
    check_messages(turn, asked)
    if turn.whole or turn.journalled:
        check_as_told(turn)
    row = await world.session(session)
    check_figures(turn, asked, row, cumulative=world.cumulative)
    check_title(turn, asked, row)
    session.turns.append(turn)
    check_answer(turn)


async def read_to_the_end(world: World, turn: Turn) -> None:
    """All readers get the rest, and the connection ends."""
    if turn.posted is not None:
        world.answers.append((await turn.posted).content)
    readers = [(r.after, r.reader) for r in turn.readings if r.reader is not None]
    for _, reader in readers:
        await reader.end()
    first = next((reader for after, reader in readers if not after), None)
    if first is None and not turn.whole and turn.run_id and turn.kept_since is not None:
        first = await world.resumed(turn, 0)
        await first.end()
    if first is not None:
        turn.whole, turn.told = first.blocks, first.told
        turn.run_id = first.ids[0].partition(":")[0]
        assert verify_stream(SURFACE_CONTRACTS, bytes(first.content)) == []
        world.answers.append(bytes(first.content))


async def requests_are_over(asked: list[Asked]) -> None:
    """Nothing is asked of the model any more: it has said all, or the connection is closed."""
    requests = [each.request for each in asked]
    await until(lambda: all(r.answered.is_set() or r.disconnected.is_set() for r in requests))


def check_stream(turn: Turn) -> None:
    """Each event keeps its contract, in order; every reader got the same bytes."""
    assert verify_stream(SURFACE_CONTRACTS, turn.whole) == []
    terminal = [e["type"] for e in turn.told if e["type"] in ("done", "error", "abort")]
    assert terminal == [turn.told[-1]["type"]]
    assert {event["session_id"] for event in turn.told} == {turn.session.id}
    numbers = [int(event_id.rpartition(":")[2]) for event_id, _ in decoded(turn.whole)]
    assert numbers == list(range(1, len(numbers) + 1))
    for reading in turn.readings:
        assert turn.whole.startswith(reading.blocks)
        assert reading.reader is None or reading.blocks == turn.whole


def how_it_ended(turn: Turn) -> str:
    """done, a reason or a code; from the stream, or from the answer to `stream: false`."""
    if turn.stopped == "killed":
        return "internal"
    if turn.told:
        last = turn.told[-1]
    else:
        assert turn.posted is not None
        last = turn.posted.result().json()
    return str(last.get("reason") or last.get("code") or last.get("status") or last["type"])


def check_end(turn: Turn, asked: list[Asked], window: int | None) -> None:
    """The last event is the one for what happened."""
    allowed: set[str] = {turn.stopped} if turn.stopped else set()
    if turn.stopped is None or turn.raced:
        allowed |= natural_end(asked[-1], window) if asked else set()
    how = how_it_ended(turn)
    assert how in allowed, (turn.tag, how, allowed, turn.told[-1:], asked[-1:])
    kind = {"done": "done", "project_closed": "error"}.get(how)
    if turn.told and (kind or turn.stopped == how):
        assert turn.told[-1]["type"] == (kind or "abort")
    wait = RETRY_AFTER if how == "llm_rate_limited" else None
    assert not turn.told or turn.told[-1].get("retry_after") == wait


def check_messages(turn: Turn, asked: list[Asked]) -> None:
    """A turn's messages are what its user, its model and its tools said."""
    question, *others = turn.stored
    assert (question["role"], question["content"]) == ("user", turn.message)
    assistants = [message for message in others if message["role"] == "assistant"]
    if how_it_ended(turn) == "limit_reached":
        assert assistants.pop()["content"] == LIMIT_TEXT
    sources = [
        (each, each.answer)
        for each in asked
        if not each.title and isinstance(each.answer, Answer) and each.answer.says_something
    ]
    meant: dict[str, MeantCall | None] = {}
    for place, message in enumerate(assistants):
        each, answer = sources[place]
        calls = message.get("tool_calls", [])
        said = [(call["function"]["name"], call["function"]["arguments"]) for call in calls]
        told = [(call.name, without_surrogates(call.arguments)) for call in answer.calls]
        assert message["metadata"]["model"] == "scripted"
        if "interrupted" not in message["metadata"]:
            assert (message["content"], said) == (answer.text, told), answer
            assert each.complete
            meant |= {c["id"]: m for c, m in zip(calls, answer.calls, strict=True)}
        else:
            assert message is assistants[-1]
            assert turn.loose or not each.complete
            assert answer.text.startswith(message["content"])
            assert all(any(_begins(w, s) for w in told) for s in said)
            meant |= dict.fromkeys(call["id"] for call in calls)
    if not turn.loose:
        assert len(assistants) >= sum(each.complete for each, _ in sources)
    check_tool_answers(turn, meant, [message for message in others if message["role"] == "tool"])


def _begins(whole: tuple[str, str], part: tuple[str, str]) -> bool:
    return whole[0] == part[0] and whole[1].startswith(part[1])


def check_tool_answers(turn: Turn, meant: dict[str, MeantCall | None], answers: list[Json]) -> None:
    """Each call is answered once, and as its tool does it; None: a call that was cut off."""
    assert sorted(answer["tool_call_id"] for answer in answers) == sorted(meant)
    for answer in answers:
        call = meant[answer["tool_call_id"]]
        metadata = answer.get("metadata", {})
        status = metadata.get("status", "success")
        if status == "aborted":
            assert how_it_ended(turn) != "done"
            continue
        assert call is not None
        assert answer["name"] == call.name
        if turn.tool_late and hangs(call):
            assert status in ("error", "success")
        else:
            assert status == status_of(call)
        if metadata.get("truncated"):
            assert len(answer["content"].encode()) <= 16 * 1024 < LONG < metadata["original_size"]


def check_figures(turn: Turn, asked: list[Asked], session: Json, *, cumulative: bool) -> None:
    """The counters of the session are what its turns add up to; gives the turn its figures."""
    tools = Counter(m["name"] for m in turn.stored if m["role"] == "tool")
    before = turn.session.figures
    whole = sum(each.complete for each in asked)
    calls = {len(asked)}
    told = {whole}
    if turn.raced:
        # Before a request is sent, it is counted.
        calls |= {len(asked) + 1}
        told |= {whole - 1}
    if turn.stopped == "killed" and not turn.journalled:
        calls, told = set(range(len(asked) + 1)), set(range(whole + 1))
    possible = [
        figures_of(asked, t, c, tools, cumulative=cumulative)
        for c in sorted(calls)
        for t in sorted(told)
        if 0 <= t <= c
    ]
    found = figures_stored(session)
    turn.figures = next((f for f in possible if before.plus(f) == found), possible[-1])
    assert before.plus(turn.figures) == found
    last = session["stats"]["last_turn"]
    how = how_it_ended(turn)
    assert last["status"] == ("done" if how == "done" else "abort" if how in _REASONS else "error")
    assert last.get("temperature") == turn.body.get("temperature")


def check_title(turn: Turn, asked: list[Asked], row: Json) -> None:
    """A turn that ended as it should gives its session a title, if it has none."""
    session = turn.session
    possible = {session.title}
    if how_it_ended(turn) == "done":
        assert asked[-1].title is turn.wants_title
        possible = {session.titled(turn, asked[-1])}
    elif turn.raced and asked:
        possible |= {session.titled(turn, asked[-1])}
    assert row["title"] in {title or NEW_TITLE for title in possible}
    session.title = None if row["title"] == NEW_TITLE else row["title"]


_REASONS = ("user", "deleted", "shutdown", "disconnected")


def figures_stored(session: Json) -> Figures:
    """What a session's row says."""
    stats = session["stats"]
    assert session["total_tokens"] == session["input_tokens"] + session["output_tokens"]
    models = stats["models"].values()
    assert session["llm_calls_count"] == sum(model["llm_calls"] for model in models)
    for kind in ("input_tokens", "output_tokens"):
        assert session[kind] == sum(model[kind] or 0 for model in models)
    return Figures(
        session["llm_calls_count"],
        stats["unknown_usage_calls"],
        session["input_tokens"],
        session["output_tokens"],
        stats["context_tokens"],
        Counter(stats["tool_calls"]),
    )


def check_answer(turn: Turn) -> None:
    """The answer to `stream: false` says the same."""
    if turn.posted is None:
        return
    answer = turn.posted.result()
    if answer.status_code != 200:
        assert problem(answer)["session_id"] == turn.session.id
        wait = str(RETRY_AFTER) if problem(answer)["code"] == "llm_rate_limited" else None
        assert answer.headers.get("retry-after") == wait
        return
    body, figures = answer.json(), turn.figures
    assert body["session_id"] == turn.session.id
    assert body["messages"] == turn.stored
    known = figures.llm_calls > figures.unknown
    assert body["usage"] == {
        "llm_calls": figures.llm_calls,
        "input_tokens": figures.input_tokens if known else None,
        "output_tokens": figures.output_tokens if known else None,
        "total_tokens": figures.input_tokens + figures.output_tokens if known else None,
    }


def check_as_told(turn: Turn) -> None:
    """History is what was streamed, message for message; of a turn that was killed, what was
    journalled, with an end for its open calls."""
    stored = [as_told(message) for message in turn.stored[1:]]
    told = messages_told(turn.told)
    assert stored[: len(told)] == told
    assert all(message.get("status") == "aborted" for message in stored[len(told) :])
    assert turn.stopped == "killed" or len(stored) == len(told)


def as_told(message: Json) -> Json:
    """A message of history with what its stream tells of it."""
    told = {"id": message["id"], "content": message["content"]}
    if message["role"] == "tool":
        status = message.get("metadata", {}).get("status", "success")
        return told | {"answers": message["tool_call_id"], "status": status}
    calls = {
        call["id"]: (call["function"]["name"], call["function"]["arguments"])
        for call in message.get("tool_calls", [])
    }
    return told | {"calls": calls}


# -- at any moment -------------------------------------------------------------------------


async def check_sessions(world: World, user: str, sessions: list[Session]) -> None:
    """The list and the history of a user's sessions."""
    listed = (await world.ask("GET", "/sessions", user)).json()
    assert {each["thread_id"] for each in listed} == {session.id for session in sessions}
    order = [(each["pinned"], each["updated_at"]) for each in listed]
    assert order == sorted(order, reverse=True)
    rows = {each["thread_id"]: each for each in listed}
    for session in sessions:
        row = rows[session.id]
        assert row["user_id"] == user
        assert row["title"] == (session.title or NEW_TITLE), session
        assert row["pinned"] is session.pinned
        told = [(turn.tag, how_it_ended(turn)) for turn in session.turns]
        assert row["message_count"] == len(session.messages), (told, row, session.messages)
        assert row["stats"]["turns"] == len(session.turns), told
        assert figures_stored(row) == session.figures
        messages = await world.history(session)
        running = session.running
        if running is not None:
            question = messages.pop()
            assert (question["role"], question["content"]) == ("user", running.message)
        assert messages == session.messages
        calls = [call["id"] for m in messages for call in m.get("tool_calls", [])]
        assert len(set(calls)) == len(calls)
        times = [message["created_at"] for message in messages]
        assert all(a <= b for a, b in pairwise(times))


def check_requests(world: World, sessions: list[Session]) -> None:
    """The strict model took every request; each had the whole conversation so far."""
    assert world.model.refused == []
    for session in sessions:
        tags: list[str] = []
        for turn in session.all_turns:
            tags.append(turn.tag)
            conversation = [a for a in world.book.asked[turn.tag] if not a.title]
            too_long = [a.answer == Failed("too_long") for a in conversation]
            for place, asked in enumerate(conversation):
                if world.context_window or any(too_long[:place]):
                    assert asked.questions
                    assert asked.questions == tags[-len(asked.questions) :]
                else:
                    assert asked.questions == tags


def check_file(world: World, sessions: list[Session]) -> None:
    """Of nobody else's session is anything in the file, and of a turn only while it runs or once
    it is stored."""
    there = {session.id for session in sessions}
    with world.file() as found:
        for table in found("SELECT name FROM sqlite_master WHERE type = 'table'"):
            if any(column[1] == "thread_id" for column in found(f"PRAGMA table_info({table})")):
                assert set(found(f"SELECT DISTINCT thread_id FROM {table}")) <= there, table
        journalled = set(found("SELECT run_id FROM turn_journal"))
        # Of each session the newest checkpoint is enough.
        checkpoints = found("SELECT thread_id FROM checkpoints")
    running = {session.running.run_id for session in sessions if session.running}
    assert journalled == running
    assert sorted(checkpoints) == sorted(session.id for session in sessions if session.turns)


def check_log(world: World) -> None:
    """Nothing went wrong but tools."""
    assert world.log.errors == []


def check_secrets(world: World) -> None:
    """No secret in any file, in what was logged and in what was answered since the last look."""
    places = {"an answer": b"\n".join(world.answers), "the log": world.logged()}
    world.answers.clear()
    for file in world.folder.rglob("*"):
        if file.is_file():
            places[file.name] = file.read_bytes()
    for secret in world.secrets:
        for place, content in places.items():
            assert secret not in content, (secret, place)


async def check_tasks(world: World, sessions: list[Session]) -> None:
    """No task is left of a turn that has ended."""
    running = sum(session.running is not None for session in sessions)

    def left() -> bool:
        names = [task.get_name() for task in world.turn_tasks()]
        turns = [name for name in names if name.startswith(("turn ", "run "))]
        return len(turns) == 2 * running and (running > 0 or not names)

    await until(left)
