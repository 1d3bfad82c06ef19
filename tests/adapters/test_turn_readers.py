"""Readers of a turn over real HTTP: several, late, slow, gone and back again, and strangers."""

import asyncio
import threading
from contextlib import AsyncExitStack

import httpx
import pytest

from chat_edge import PREFIX, SURFACE_CONTRACTS, problem, user
from chat_turns import Chat, Edge, Reader, SlowReader
from copilot_adapters.starlette.endpoint import ChatSettings
from copilot_contracts import verify_stream
from copilot_core.settings import CoreSettings
from openai_server import call, text


@pytest.fixture
def go_on() -> threading.Event:
    """What a held model waits for."""
    return threading.Event()


def held_turn(chat: Chat, go_on: threading.Event) -> None:
    """A turn of some ten events, held in the middle of its last answer."""
    chat.model.script(
        text("Let me ", pieces=2) + call("get_gns3_templates", {}, id="c1"),
        text("one two three four").until(go_on, after=2),
    )


async def until_held(reader: Reader) -> None:
    while (await reader.until("content"))["content"] != "two ":
        pass


async def refused(chat: Chat, event_id: str, session_id: str = "s1") -> None:
    gone = await chat.client.get(
        chat.path("stream", session_id), headers={"last-event-id": event_id}
    )
    assert (gone.status_code, problem(gone)["code"]) == (410, "resync_required"), event_id


# -- while it runs -----------------------------------------------------------------------


async def test_the_first_word_is_there_before_the_model_says_the_next(
    edge: Edge, go_on: threading.Event
) -> None:
    async with edge() as chat:
        chat.model.script(text("one two").until(go_on, after=1))
        async with chat.asked() as reader:
            assert (await reader.until("content"))["content"] == "one "
            go_on.set()
            assert (await reader.end())["type"] == "done"


async def test_one_turn_at_a_time_in_a_session_and_others_beside_it(
    edge: Edge, go_on: threading.Event
) -> None:
    async with edge() as chat:
        chat.model.script(text("one two").until(go_on, after=1))
        async with chat.asked() as reader:
            await reader.until("content")
            for streamed in (True, False):
                body = {"message": "more", "session_id": "s1", "stream": streamed}
                second = await chat.client.post(f"{PREFIX}/stream", json=body)
                assert (second.status_code, problem(second)["code"]) == (409, "session_busy")
            chat.model.script(text("Hello"))
            assert (await (await chat.ask(session_id="s2")).end())["type"] == "done"
            go_on.set()
            await reader.end()
        assert await chat.shown() == ["user: hi", "assistant: one two"]


async def test_all_readers_of_a_turn_get_the_same_bytes(edge: Edge, go_on: threading.Event) -> None:
    """Who asked, who joins in the middle, who comes back, and who comes when it is over."""
    async with edge() as chat, AsyncExitStack() as stack:
        held_turn(chat, go_on)
        first = await stack.enter_async_context(chat.asked())
        await first.until("content")
        readers = [await stack.enter_async_context(chat.joined()) for _ in range(3)]
        await until_held(first)
        readers.append(await stack.enter_async_context(chat.joined()))
        beginning = f"{first.ids[0].partition(':')[0]}:0"
        readers.append(await stack.enter_async_context(chat.joined(beginning)))
        go_on.set()
        await asyncio.gather(*(reader.end() for reader in (first, *readers)))
        readers.append(await stack.enter_async_context(chat.joined(beginning)))
        await readers[-1].end()
        assert verify_stream(SURFACE_CONTRACTS, bytes(first.content)) == []
        assert {reader.blocks for reader in readers} == {first.blocks}
        await chat.settled(first, llm_calls=3)


async def test_who_comes_back_misses_nothing_and_gets_nothing_twice(
    edge: Edge, go_on: threading.Event
) -> None:
    """After each event of a turn, while it runs and when it has ended."""
    async with edge() as chat, AsyncExitStack() as stack:
        held_turn(chat, go_on)
        whole = await stack.enter_async_context(chat.asked())
        await until_held(whole)
        seen = list(whole.ids)
        back = [await stack.enter_async_context(chat.joined(event_id)) for event_id in seen]
        go_on.set()
        await asyncio.gather(whole.end(), *(reader.end() for reader in back))
        assert whole.numbers == list(range(1, len(whole.ids) + 1))
        for event_id in whole.ids[:-1]:
            back.append(await stack.enter_async_context(chat.joined(event_id)))
            await back[-1].end()
        events = list(zip(whole.ids, whole.told, strict=True))
        for position, reader in zip(
            (*range(len(seen)), *range(len(events) - 1)), back, strict=True
        ):
            assert list(zip(reader.ids, reader.told, strict=True)) == events[position + 1 :]
        # There is nothing after the last one, and an EventSource shall not ask for ever.
        ended = await chat.client.get(chat.path("stream"), headers={"last-event-id": whole.ids[-1]})
        assert ended.status_code == 204


async def test_a_reader_that_leaves_after_each_event(edge: Edge) -> None:
    """A lost connection is no abort (B37)."""
    async with edge() as chat:
        chat.model.script(
            text("Let me ", pieces=2).paced(0.02) + call("get_gns3_templates", {}, id="c1"),
            text("one two three four").paced(0.02),
        )
        ids: list[str] = []
        told = []
        async with chat.asked() as reader:
            await reader.until("content")
        while True:
            ids += reader.ids
            told += reader.told
            if told[-1]["type"] == "done":
                break
            async with chat.joined(ids[-1]) as reader:
                await reader.one()
        async with chat.joined(f"{ids[0].partition(':')[0]}:0") as whole:
            await whole.end()
        assert (ids, told) == (whole.ids, whole.told)
        await chat.settled(whole, llm_calls=3)


async def test_ids_that_are_none_of_this_turns(edge: Edge, go_on: threading.Event) -> None:
    """Malformed, foreign, of the future: always 410, and nothing happens to the turn."""
    async with edge() as chat:
        chat.model.script(text("Hello"))
        other = await chat.ask(session_id="other")
        held_turn(chat, go_on)
        async with chat.asked() as reader:
            await until_held(reader)
            run, newest = reader.ids[-1].split(":")
            strange = ["nonsense", "", run, f"{run}:", f"{run}:-1", f"{run}:1x", f"{run}:1:1"]
            strange += [f"{run}:1, {run}:2", f"{run}:{'9' * 40}", f"{run}Z:1", f"{'0' * 16}:1"]
            for event_id in (*strange, f"{run}:{int(newest) + 1}", other.ids[0]):
                await refused(chat, event_id)
            await refused(chat, reader.ids[0], "other")
            twice = [("last-event-id", reader.ids[0]), ("last-event-id", reader.ids[1])]
            answer = await chat.client.get(chat.path("stream"), headers=twice)
            assert answer.status_code == 410
            go_on.set()
            assert (await reader.end())["type"] == "done"
        await refused(chat, f"{run}:{len(reader.ids) + 1}")
        await chat.settled(reader, llm_calls=3)


async def test_silence_is_filled_with_heartbeats(edge: Edge) -> None:
    """While the model hangs, and while a tool does; they have no id of their own."""
    async with edge(settings=ChatSettings(heartbeat=0.05)) as chat:

        async def slow(arguments: object, context: object) -> object:
            await asyncio.sleep(0.3)
            return {"templates": []}

        chat.runs["get_gns3_templates"] = slow
        chat.model.script(
            call("get_gns3_templates", {}, id="c1"), text("one two").pause(0.3, after=1)
        )
        reader = await chat.ask()
        kinds = [data["type"] for _, data in reader.events]
        running = kinds[kinds.index("tool_start") : kinds.index("tool_end")]
        assert running.count("heartbeat") >= 3
        answering = kinds[kinds.index("content") : kinds.index("done")]
        assert answering.count("heartbeat") >= 3
        blocks = bytes(reader.content).split(b"\n\n")
        beats = [block for block in blocks if b'"heartbeat"' in block]
        assert len(beats) == kinds.count("heartbeat")
        assert not any(b"id:" in block.split(b"data:")[0] for block in beats)
        await chat.settled(reader, llm_calls=3)


# -- when nobody reads -------------------------------------------------------------------


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_turn_that_nobody_reads_is_stopped_after_the_grace(
    edge: Edge, streamed: bool
) -> None:
    """Nobody pays for words that nobody reads (B36)."""
    async with edge(core=CoreSettings(grace=0.2)) as chat:
        chat.model.script(text("one two").hang(after=1))
        if streamed:
            async with chat.asked() as reader:
                await reader.until("content")
        else:
            body = {"message": "hi", "session_id": "s1", "stream": False}
            with pytest.raises(httpx.ReadTimeout):
                await chat.client.post(f"{PREFIX}/stream", json=body, timeout=0.5)
        assert await chat.model.requests[0].left()
        await chat.until_stored()
        assert await chat.shown() == ["user: hi", "assistant: one  (interrupted)"]
        assert (await chat.session())["message_count"] == 2
        await chat.goes_on()


async def test_a_turn_that_nobody_reads_goes_on_if_the_server_says_so(edge: Edge) -> None:
    async with edge(core=CoreSettings(grace=None)) as chat:
        chat.model.script(text("one two three four").paced(0.1))
        async with chat.asked() as reader:
            await reader.until("content")
        await chat.until_stored()
        assert await chat.shown() == ["user: hi", "assistant: one two three four"]
        async with chat.joined(reader.ids[0]) as back:
            assert (await back.end())["type"] == "done"


async def test_the_grace_begins_when_the_last_reader_leaves(
    edge: Edge, go_on: threading.Event
) -> None:
    """One of two stays beyond it; then somebody comes back within it, twice."""
    async with edge(core=CoreSettings(grace=0.6)) as chat:
        chat.model.script(text("one two").until(go_on, after=1))
        async with chat.asked() as first:
            await first.until("content")
            async with chat.joined():
                await first.response.aclose()
                await asyncio.sleep(0.8)
        for _ in range(2):
            await asyncio.sleep(0.35)
            async with chat.joined(first.ids[0]):
                await asyncio.sleep(0.35)
        await asyncio.sleep(0.35)
        async with chat.joined(first.ids[0]) as back:
            go_on.set()
            assert (await back.end())["type"] == "done"
        assert await chat.shown() == ["user: hi", "assistant: one two"]


async def test_who_only_asks_for_the_head_is_no_reader(edge: Edge) -> None:
    async with edge(core=CoreSettings(grace=0.4)) as chat:
        assert (await chat.client.head(chat.path("stream"))).status_code == 404
        chat.model.script(text("one two").hang(after=1))
        async with chat.asked() as reader:
            await reader.until("content")
            head = await chat.client.head(chat.path("stream"))
            assert (head.status_code, head.content) == (200, b"")
            assert head.headers["content-type"] == "text/event-stream"
            gone = await chat.client.head(chat.path("stream"), headers={"last-event-id": "x:1"})
            assert (gone.status_code, gone.content) == (410, b"")
        statuses = []
        for _ in range(30):
            statuses.append((await chat.client.head(chat.path("stream"))).status_code)
            await asyncio.sleep(0.05)
        assert set(statuses[:3]) == {200}
        assert statuses[-1] == 204  # the turn was stopped, though it was asked for all the time
        assert await chat.shown() == ["user: hi", "assistant: one  (interrupted)"]


# -- when it is over ---------------------------------------------------------------------


async def test_the_log_is_kept_for_a_while(edge: Edge) -> None:
    async with edge(core=CoreSettings(keep_log=0.5)) as chat:
        chat.model.script(text("Hello there"))
        reader = await chat.ask()
        assert (await chat.client.get(chat.path("stream"))).status_code == 204  # none runs
        async with chat.joined(reader.ids[0]) as back:
            await back.end()
        assert back.told == reader.told[1:]
        await asyncio.sleep(0.6)
        for event_id in (reader.ids[0], reader.ids[-1]):
            await refused(chat, event_id)
        assert (await chat.client.get(chat.path("stream"))).status_code == 204
        await chat.settled(reader, llm_calls=2)


# -- readers that take nothing -----------------------------------------------------------


async def test_a_reader_that_takes_nothing(edge: Edge) -> None:
    """It is let go after the deadline, and its connection ends; the others notice nothing, the
    log is bounded meanwhile, and it may come back."""
    core = CoreSettings(max_log=24 << 20, grace=0.2)
    async with edge(core=core, settings=ChatSettings(stalled=0.3)) as chat:
        much = call("get_gns3_templates", {"x": "a" * 900_000}, id="c1", pieces=300)
        chat.model.script(much.paced(0.002), text("There are none."))
        with SlowReader(chat) as slow:
            await slow.ask()
            async with chat.joined() as reader:
                assert (await reader.end())["type"] == "done"
            await asyncio.sleep(0.7)
            await slow.read_on()
        # Nothing is kept for it any more, neither by us nor in the connection's own buffer.
        assert len(slow.content) < 512 * 1024
        async with chat.joined(slow.newest_id) as back:
            await back.end()
        whole = [event_id for event_id in reader.ids if event_id not in back.ids]
        assert whole[-1] == slow.newest_id
        assert back.told == reader.told[len(whole) :]
        await chat.settled(reader, llm_calls=3)


# -- strangers ---------------------------------------------------------------------------


async def test_a_running_turn_is_its_owners(edge: Edge, go_on: threading.Event) -> None:
    """404 on every verb, whatever event they name; the turn goes on, and is read by nobody else."""
    async with edge() as chat:
        held_turn(chat, go_on)
        async with chat.asked() as reader:
            await until_held(reader)
            bob = {**user("bob")}
            for method, what, body in [
                ("GET", "stream", None),
                ("HEAD", "stream", None),
                ("GET", "history", None),
                ("POST", "abort", None),
                ("DELETE", "", None),
                ("PATCH", "", {"title": "mine"}),
                ("PUT", "pin", None),
                ("DELETE", "pin", None),
            ]:
                for seen in ({}, {"last-event-id": reader.ids[0]}, {"last-event-id": "x"}):
                    answer = await chat.client.request(
                        method, chat.path(what), json=body, headers=bob | seen
                    )
                    assert answer.status_code == 404, (method, what)
                    if method != "HEAD":
                        assert problem(answer)["code"] == "session_not_found"
            for body in ({"message": "hi", "session_id": "s1", "stream": s} for s in (True, False)):
                answer = await chat.client.post(f"{PREFIX}/stream", json=body, headers=bob)
                assert (answer.status_code, problem(answer)["code"]) == (404, "session_not_found")
            nobody = await chat.client.get(chat.path("stream"), headers={"authorization": ""})
            assert nobody.status_code == 401
            go_on.set()
            assert (await reader.end())["type"] == "done"
        assert (await chat.session())["title"] == "A title"
        await chat.settled(reader, llm_calls=3)
