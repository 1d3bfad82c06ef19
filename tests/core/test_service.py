"""Turns: what is streamed, what is stored, what is counted (chat-api.md; decisions A2-A34)."""

from __future__ import annotations

import asyncio
import threading

import pytest

from agent_bench import Bench, kinds, read, said
from copilot_core.errors import ChatError
from copilot_core.service import Turn
from openai_server import Usage, error, text


async def test_a_turn_without_tools(bench: Bench) -> None:
    bench.server.script(text("There are four hosts.").with_usage(100, 6))
    events = await bench.ask("how many hosts?", "s1")
    assert said(events) == "There are four hosts."
    assert kinds(events) == ["content", "done"]
    assert {e["session_id"] for e in events} == {"s1"}

    question, answer = await bench.history("s1")
    assert (question["role"], question["content"]) == ("user", "how many hosts?")
    assert (answer["role"], answer["content"]) == ("assistant", "There are four hosts.")
    assert answer["id"] == events[0]["message_id"]
    assert answer["metadata"] == {"model": "scripted", "finish_reason": "stop"}

    session = await bench.session("s1")
    assert session["title"] == "Hosts of the lab"
    assert session["message_count"] == 2
    assert session["llm_calls_count"] == 2  # the answer and the title (A11)
    assert (session["input_tokens"], session["output_tokens"]) == (120, 10)
    assert session["total_tokens"] == 130
    assert session["stats"]["context_tokens"] == 100
    assert session["stats"]["unknown_usage_calls"] == 0
    assert session["stats"]["last_turn"]["status"] == "done"


async def test_a_new_session_is_named_by_its_first_event(bench: Bench) -> None:
    bench.server.script(text("Hello"))
    events = await bench.ask("hello")
    assert len(await bench.history(events[0]["session_id"])) == 2


@pytest.mark.parametrize("count", [2**63, 10**30, -5])
async def test_a_count_that_is_none_costs_no_statistics(bench: Bench, count: int) -> None:
    bench.server.script(text("Hello").with_usage(count, 3))
    assert (await bench.ask("hello", "s1"))[-1]["type"] == "done"
    session = await bench.session("s1")
    assert session["message_count"] == 2
    assert (session["input_tokens"], session["output_tokens"]) == (20, 7)  # 20 are the title's


async def test_the_second_turn_is_refused_while_one_runs(bench: Bench) -> None:
    """A15: one turn a session; sessions run side by side."""
    held = threading.Event()
    bench.server.script(text("slow").until(held))
    first = await bench.start("one", "s1")
    await bench.server.wait_for_requests(1)
    with pytest.raises(ChatError) as refused:
        await bench.start("two", "s1")
    assert refused.value.code == "session_busy"
    bench.server.script(text("quick"))
    assert said(await bench.ask("three", "s2")) == "quick"
    held.set()
    assert said(await read(first)) == "slow"


@pytest.mark.parametrize("verb", ["history", "rename", "pin", "delete", "abort", "run", "chat"])
async def test_somebody_elses_session_is_unknown(bench: Bench, verb: str) -> None:
    """A17: 404 for both, before any effect."""
    bench.server.script(text("Hello"))
    await bench.ask("hello", "s1")
    agent = await bench.agent()
    verbs = {
        "history": lambda s: agent.get_history(s, "eve"),
        "rename": lambda s: agent.rename_session(s, "eve", "mine"),
        "pin": lambda s: agent.pin_session(s, "eve", True),
        "delete": lambda s: agent.delete_session(s, "eve"),
        "abort": lambda s: agent.abort(s, "eve"),
        "run": lambda s: agent.find_run(s, "eve"),
        "chat": lambda s: bench.start("hello", s, user="eve"),
    }
    before = await bench.session("s1")
    with pytest.raises(ChatError) as foreign:
        await verbs[verb]("s1")
    assert foreign.value.code == "session_not_found"
    if verb != "chat":
        with pytest.raises(ChatError) as unknown:
            await verbs[verb]("nowhere")
        assert str(unknown.value) == str(foreign.value)
    assert await bench.session("s1") == before
    assert await agent.list_sessions("eve") == []


async def test_a_reader_that_comes_back_misses_and_repeats_nothing(bench: Bench) -> None:
    """A32: from any position, the rest of the same stream."""
    bench.server.script(text("one two three four", pieces=4))
    run = await bench.start("count", "s1")
    events = await read(run)
    for position in range(len(events)):
        assert await read(run, position) == events[position:]
    found = await (await bench.agent()).find_run("s1", "ann", run.run_id)
    assert found is run
    assert await (await bench.agent()).find_run("s1", "ann") is None
    with pytest.raises(ChatError) as gone:
        await (await bench.agent()).find_run("s1", "ann", "other")
    assert gone.value.code == "resync_required"


async def test_an_ended_turn_can_be_read_for_a_while(bench: Bench) -> None:
    """A32: then its log is dropped, and who comes back is told to resync."""
    bench.restart(keep_log=0.3)
    bench.server.script(text("Hello"))
    run = await bench.start("hello", "s1")
    events = await read(run)
    agent = await bench.agent()
    found = await agent.find_run("s1", "ann", run.run_id)
    assert found is not None
    assert await read(found) == events
    await asyncio.sleep(0.4)
    with pytest.raises(ChatError) as gone:
        await agent.find_run("s1", "ann", run.run_id)
    assert gone.value.code == "resync_required"


async def test_an_ended_turn_can_be_read_beside_the_next_one(bench: Bench) -> None:
    bench.server.script(text("One."))
    first = await bench.start("one", "s1")
    events = await read(first)
    bench.server.script(text("Two."))
    second = await bench.start("two", "s1")
    agent = await bench.agent()
    found = await agent.find_run("s1", "ann", first.run_id)
    assert found is first
    assert await read(first) == events
    assert await agent.find_run("s1", "ann", second.run_id) is second
    await read(second)
    bench.server.script(text("Mine."))
    await bench.ask("hello", "s2", user="eve")
    with pytest.raises(ChatError) as foreign:
        await agent.find_run("s2", "eve", first.run_id)
    assert foreign.value.code == "resync_required"


async def test_cumulative_usage(bench: Bench) -> None:
    """A10, with the figures of chat-api.md's worked example."""
    bench.title = text("A title").with_usage(9421, 684)
    bench.server.script(text("Hello").with_usage(8674, 675))
    await bench.ask("hello", "s1", usage="cumulative")
    session = await bench.session("s1")
    assert (session["input_tokens"], session["output_tokens"]) == (9421, 684)
    assert session["total_tokens"] == 10105
    bench.server.script(text("Hello").with_usage(10, 5))
    await bench.ask("again", "s1", usage="cumulative")
    session = await bench.session("s1")
    assert session["total_tokens"] == 10105 + 15  # turns add up (A35)


async def test_unknown_usage_is_never_a_made_up_zero(bench: Bench) -> None:

    bench.server.script(text("Hello", usage=Usage(told="absent")))
    result = await (await bench.start("hello", "s1")).wait()
    assert result.usage["llm_calls"] == 2
    session = await bench.session("s1")
    assert session["stats"]["unknown_usage_calls"] == 1
    assert session["stats"]["context_tokens"] is None


async def test_a_users_title_wins_for_ever(bench: Bench) -> None:
    """A20."""
    held = threading.Event()
    bench.server.script(text("Hello").until(held))
    run = await bench.start("hello", "s1")
    agent = await bench.agent()
    await agent.rename_session("s1", "ann", "  Mine  ")
    held.set()
    await read(run)
    assert (await bench.session("s1"))["title"] == "Mine"
    bench.server.script(text("Hello"))
    asked = len(bench.server.requests)
    await bench.ask("again", "s1")
    assert (await bench.session("s1"))["title"] == "Mine"
    assert len(bench.server.requests) == asked + 1  # and no title is asked for


async def test_a_failed_title_fails_no_turn(bench: Bench) -> None:
    bench.title = error(500, "no")
    bench.server.script(text("Hello"))
    events = await bench.ask("which hosts\nare in this lab, and what is PC1's address?", "s1")
    assert kinds(events) == ["content", "done"]
    title = (await bench.session("s1"))["title"]
    assert title.startswith("which hosts are in this lab")
    assert len(title) <= 40


async def test_history_pages(bench: Bench) -> None:
    """A21: the newest messages, oldest first; ids never change."""
    for n in range(3):
        bench.server.script(text(f"answer {n}"))
        await bench.ask(f"question {n}", "s1")
    agent = await bench.agent()
    everything = await bench.history("s1")
    assert everything == await bench.history("s1")
    page = await agent.get_history("s1", "ann", limit=4)
    assert page["messages"] == everything[2:]
    assert page["has_more"] is True
    rest = await agent.get_history("s1", "ann", limit=4, before=page["messages"][0]["id"])
    assert rest["messages"] == everything[:2]
    assert rest["has_more"] is False
    with pytest.raises(ChatError):
        await agent.get_history("s1", "ann", before="no such message")


async def test_sessions_survive_a_restart(bench: Bench) -> None:
    bench.server.script(text("Hello"))
    await bench.ask("hello", "s1")
    before, session = await bench.history("s1"), await bench.session("s1")
    await bench.manager.close_all()
    bench.restart()
    assert await bench.history("s1") == before
    assert await bench.session("s1") == session
    bench.server.script(text("Still here."))
    assert said(await bench.ask("are you there?", "s1")) == "Still here."
    told = [m["content"] for m in bench.server.requests[-1].messages if m["role"] == "user"]
    assert told == ["hello", "are you there?"]


async def test_overrides_last_one_turn(bench: Bench) -> None:
    """A23."""
    bench.server.script(text("Hello"))
    await (await bench.chat(Turn("hello", "s1", temperature=0.5, max_tokens=77))).wait()
    assert bench.server.requests[0]["temperature"] == 0.5
    assert bench.server.requests[0]["max_completion_tokens"] == 77
    stats = (await bench.session("s1"))["stats"]
    assert stats["last_turn"]["temperature"] == 0.5
    assert stats["last_turn"]["max_tokens"] == 77


async def test_the_first_turn_that_ends_gives_the_title(bench: Bench) -> None:
    _, held = await bench.counting()
    await (await bench.agent()).abort("s1", "ann")
    held.set()
    assert (await bench.session("s1"))["title"] == "New Chat"
    bench.server.script(text("Hello"))
    await bench.ask("again", "s1")
    assert (await bench.session("s1"))["title"] == "Hosts of the lab"


async def test_history_has_the_question_of_the_turn_that_runs(bench: Bench) -> None:
    """A page that is reloaded in mid-turn shows it; the rest comes by the stream."""
    bench.server.script(text("Hello"))
    await bench.ask("first", "s1")
    held = threading.Event()
    bench.server.script(text("one two", pieces=2).until(held, after=1))
    run = await bench.start("second", "s1")
    async with run.subscribe() as reader:
        await reader.next(5)
    running = await bench.history("s1")
    assert [m["content"] for m in running] == ["first", "Hello", "second"]
    agent = await bench.agent()
    page = await agent.get_history("s1", "ann", limit=1)
    assert ([m["content"] for m in page["messages"]], page["has_more"]) == (["second"], True)
    page = await agent.get_history("s1", "ann", limit=1, before=running[2]["id"])
    assert [m["content"] for m in page["messages"]] == ["Hello"]
    # At no moment until the end is it missing or there twice.
    held.set()
    while True:
        ended = run.ended
        messages = await bench.history("s1")
        assert messages[:3] == running
        assert [m["content"] for m in messages].count("second") == 1
        if ended:
            break
    assert [m["content"] for m in messages] == ["first", "Hello", "second", "one two"]


async def test_a_run_that_ends_before_it_is_read(bench: Bench) -> None:
    run, held = await bench.counting()
    found = await (await bench.agent()).find_run("s1", "ann")
    assert found is run
    held.set()
    await run.wait()
    assert said(await read(found)) == "one two"
