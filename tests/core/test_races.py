"""Turns, stops, deletes and closes at once, and callers that leave."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from agent_bench import ANN, PROJECT, Bench, hang, read, said
from copilot_core.database import StorageError
from copilot_core.errors import ChatError
from copilot_core.service import AgentService, Turn
from copilot_core.storage import ProjectStore
from openai_server import call, text


async def until_idle(agent: AgentService, session_id: str) -> None:
    for run in [run for run in agent._runs._runs.values() if run.session_id == session_id]:
        await run.wait()


async def codes(*attempts: Any) -> list[str]:
    """What each of several attempts came to, made at the same time."""
    results = await asyncio.gather(*attempts, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, ChatError):
            raise result
    return ["ok" if not isinstance(r, ChatError) else r.code for r in results]


# -- starting ----------------------------------------------------------------------------


async def test_of_two_turns_at_once_one_runs(bench: Bench) -> None:
    bench.server.always(text("Hello"))
    for n in range(5):
        outcome = await codes(*(bench.start("hello", f"s{n}") for _ in range(4)))
        assert sorted(outcome) == ["ok", "session_busy", "session_busy", "session_busy"]
        await until_idle(await bench.agent(), f"s{n}")
        assert len(await bench.history(f"s{n}")) == 2


async def test_of_two_users_at_once_one_gets_the_session(bench: Bench) -> None:
    bench.server.always(text("Hello"))
    outcome = await codes(bench.start("hi", "s1", user="ann"), bench.start("hi", "s1", user="eve"))
    assert sorted(outcome) == ["ok", "session_not_found"]
    owner = ("ann", "eve")[outcome.index("ok")]
    await until_idle(await bench.agent(), "s1")
    assert len(await bench.history("s1", owner)) == 2


async def test_a_caller_that_leaves_while_it_starts_a_turn(bench: Bench) -> None:
    """At whatever point: the session is never busy for ever, and a turn that runs is whole."""
    bench.server.always(text("Hello"))
    agent = await bench.agent()
    for patience in range(40):
        session_id = f"s{patience}"
        starting = asyncio.create_task(bench.start("hello", session_id))
        for _ in range(patience):
            await asyncio.sleep(0)
        starting.cancel()
        await asyncio.wait({starting})
        await until_idle(agent, session_id)
        assert said(await bench.ask("again", session_id)) == "Hello"
        assert len(await bench.history(session_id)) in (2, 4)


# -- stopping ----------------------------------------------------------------------------


async def test_a_stop_at_any_moment_of_a_turn(bench: Bench) -> None:
    """Also before its first step and while it is stored: stored is what was said."""
    bench.server.always(text("one two three"))
    agent = await bench.agent()
    for n in range(30):
        session_id = f"s{n}"
        run = await bench.start("count", session_id)
        await asyncio.sleep(n * 0.002)
        await agent.abort(session_id, "ann")
        assert run.ended
        events = await read(run)
        assert events[-1]["type"] in ("done", "abort")
        messages = await bench.history(session_id)
        assert "".join(m["content"] for m in messages[1:]) == said(events)
        session = await bench.session(session_id)
        assert session["message_count"] == len(messages)
        assert session["stats"]["last_turn"]["status"] == events[-1]["type"]


async def test_a_stop_is_not_lost_in_the_models_client(bench: Bench) -> None:
    """python/cpython#86296: `wait_for` forgets a cancellation that comes together with a chunk."""
    bench.runs["get_gns3_templates"] = hang
    bench.server.always(lambda request: call("get_gns3_templates"))
    agent = await bench.agent()
    for n in range(20):
        run = await bench.start("look", f"s{n}")
        async with run.subscribe() as reader:
            await reader.next(5)
            async with asyncio.timeout(1.5):  # less than it may take a turn to be given up
                await agent.abort(f"s{n}", "ann")
        assert (await read(run))[-1]["type"] == "abort"


async def test_two_stops_of_two_kinds(bench: Bench) -> None:
    run, held = await bench.counting()
    agent = await bench.agent()
    outcome = await codes(
        agent.abort("s1", "ann"), agent.abort("s1", "ann"), agent.delete_session("s1", "ann")
    )
    held.set()
    assert outcome == ["ok", "ok", "ok"]
    assert [e["type"] for e in await read(run)].count("abort") == 1
    assert await agent.list_sessions("ann") == []


# -- deleting ----------------------------------------------------------------------------


async def test_deletes_at_once_and_turns_that_start_meanwhile(bench: Bench) -> None:
    """A16: whatever the order, afterwards either the new turn is whole, or nothing is there."""
    bench.server.always(text("Hello"))
    agent = await bench.agent()
    for n in range(12):
        await bench.ask("hello", "s1")
        outcome = await codes(
            agent.delete_session("s1", "ann"),
            _later(n % 4, lambda: bench.start("new", "s1")),
            _later(n % 3, lambda: agent.delete_session("s1", "ann")),
        )
        assert outcome[0] == "ok"
        assert outcome[1] in ("ok", "session_busy")
        assert outcome[2] in ("ok", "session_not_found")
        await until_idle(agent, "s1")
        sessions = await agent.list_sessions("ann")
        if sessions:
            assert [m["content"] for m in await bench.history("s1")] == ["new", "Hello"]
            await agent.delete_session("s1", "ann")
        assert await agent._store.messages("s1") == []


async def _later(turns: int, what: Any) -> Any:
    for _ in range(turns):
        await asyncio.sleep(0.001)
    return await what()


async def test_a_caller_that_leaves_while_it_deletes(bench: Bench) -> None:
    """A turn that was stopped for a delete isn't stored, so the delete goes on to its end."""
    run, held = await bench.counting()
    agent = await bench.agent()
    deleting = asyncio.create_task(agent.delete_session("s1", "ann"))
    while run._stopped is None:  # noqa: ASYNC110 - until the stop has been asked for
        await asyncio.sleep(0)
    deleting.cancel()
    await asyncio.wait({deleting})
    held.set()
    await bench.manager.close_all()
    bench.restart()
    assert await (await bench.agent()).list_sessions("ann") == []


async def test_no_turn_slips_in_while_a_project_is_deleted(bench: Bench) -> None:
    held = threading.Event()
    bench.server.always(text("one two", pieces=2).until(held, after=1))
    run = await bench.start("count", "s1")
    agent = await bench.agent()
    deleting = asyncio.create_task(bench.manager.delete_project(PROJECT, bench.path))
    await asyncio.sleep(0)
    while not deleting.done():
        with contextlib.suppress(ChatError):
            await agent.stream_chat(
                Turn("hi", "s2"), identity=ANN, llm=bench.llm, surface="gns3-chat"
            )
        await asyncio.sleep(0)
    await deleting
    held.set()
    assert (await read(run))[-1]["code"] == "project_closed"
    assert await (await bench.agent()).list_sessions("ann") == []


# -- opening and closing -----------------------------------------------------------------


async def test_opening_at_once_gives_one_agent(bench: Bench) -> None:
    agents = await asyncio.gather(*(bench.agent() for _ in range(5)))
    assert len(set(map(id, agents))) == 1


async def test_a_caller_that_leaves_while_the_file_is_opened(bench: Bench) -> None:
    first = asyncio.create_task(bench.agent())
    second = asyncio.create_task(bench.agent())
    await asyncio.sleep(0)
    first.cancel()
    assert await (await second).list_sessions("ann") == []


async def test_closing_while_it_opens(bench: Bench) -> None:
    opening = asyncio.create_task(bench.agent())
    await asyncio.sleep(0)
    await bench.manager.remove_agent(PROJECT)
    with pytest.raises(ChatError) as closed:
        await (await opening).list_sessions("ann")
    assert closed.value.code == "project_not_opened"
    assert await (await bench.agent()).list_sessions("ann") == []  # and it can be opened again


async def test_closing_while_opening_fails(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    opening = asyncio.create_task(bench.manager.get_agent("broken", tmp_path / "file"))
    await bench.agent()
    await bench.manager.close_all()
    with pytest.raises(StorageError):
        await opening
    with pytest.raises(ChatError) as closed:
        await bench.agent()
    assert closed.value.code == "project_not_opened"


async def test_a_project_is_opened_again_only_when_it_is_closed(bench: Bench) -> None:
    run, held = await bench.counting()
    closing = asyncio.create_task(bench.manager.remove_agent(PROJECT, "shutdown"))
    await asyncio.sleep(0)
    agent = await bench.agent()
    assert run.ended
    assert len((await agent.get_history("s1", "ann"))["messages"]) >= 1
    await closing
    held.set()


async def test_who_gives_up_closing_leaves_nothing_open(bench: Bench) -> None:
    run, held = await bench.counting()
    closing = asyncio.create_task(bench.manager.close_all())
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.wait({closing})
    await bench.manager.close_all()  # waits for the end of the first
    assert run.ended
    held.set()


async def test_nothing_is_left_behind(bench: Bench, tmp_path: Path) -> None:
    bench.runs["get_gns3_templates"] = hang
    bench.server.always(text("Hello"))
    await bench.ask("warm", "s0")  # what is kept for the process's life: HTTP clients, a thread
    await bench.manager.close_all()

    def threads() -> set[str]:
        return {t.name for t in threading.enumerate() if not t.name.startswith("asyncio_")}

    def files() -> set[str]:
        links = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]  # noqa: PTH208 - texts
        found = [os.readlink(link) for link in links if os.path.lexists(link)]  # noqa: PTH115 - texts
        return {name for name in found if str(tmp_path) in name}

    tasks_before, threads_before = asyncio.all_tasks(), threads()
    bench.restart()
    await bench.ask("hello", "s1")
    bench.server.script(call("get_gns3_templates", {}))
    runs = [await bench.start("look", "s2"), await bench.start("two", "s3")]
    await bench.server.wait_for_requests(4)
    reader = runs[0].subscribe()
    async with reader:
        await reader.next(5)
        assert files()
        await bench.manager.close_all()
    for _ in range(100):  # LangChain closes its own generators in the background
        left = (asyncio.all_tasks() - tasks_before, threads() - threads_before, files())
        if not any(left):
            break
        await asyncio.sleep(0.03)
    assert left == (set(), set(), set())


async def test_a_store_that_cannot_be_given_back_does_not_keep_the_others(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    agent = await bench.agent()
    other = await bench.manager.get_agent("other", tmp_path / "other")
    close = ProjectStore.close

    async def fails(store: ProjectStore) -> None:
        await close(store)
        if store is agent._store:
            raise OSError("gone")

    monkeypatch.setattr(ProjectStore, "close", fails)
    await bench.manager.close_all()
    with pytest.raises(ChatError):
        await other.list_sessions("ann")
