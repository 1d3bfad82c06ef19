"""Faults that others had, over real HTTP with the input of each case: what is right here.

The cases are named as in the list of faults: B40 to B72, of the agent, its sessions, the message
converters and operations.
"""

import asyncio
import itertools
import json
import logging
from importlib.metadata import requires
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from packaging.requirements import Requirement

from chat_edge import PREFIX, user
from chat_turns import Edge, Json
from copilot_core.context import get_current_jwt_token
from copilot_core.messages import convert_langchain_to_openai, convert_openai_to_langchain
from copilot_core.settings import CoreSettings
from copilot_core.storage import ProjectStore
from openai_server import call, raw, text


def piece(**call: Any) -> Json:
    """A chunk with one piece of a tool call."""
    return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]}


def calls_told(events: list[Json]) -> list[tuple[str, str, str]]:
    """(id, name, arguments) of each `tool_call` event."""
    calls = [event["tool_call"] for event in events if event["type"] == "tool_call"]
    return [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in calls]


async def test_b40_agent_two_calls_share_an_index(edge: Edge) -> None:
    """langchain-ai/langchain#34807: merged only when the id is equal or missing."""
    async with edge() as chat:
        chat.model.script(
            raw(
                [
                    piece(
                        index=0, id="a", type="function", function={"name": "x", "arguments": ""}
                    ),
                    piece(index=0, id="a", function={"arguments": '{"n":'}),
                    piece(index=0, function={"arguments": "1}"}),
                    piece(
                        index=0, id="b", type="function", function={"name": "y", "arguments": ""}
                    ),
                    {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
                ]
            ),
            text("There are no such tools."),
        )
        reader = await chat.ask()
        newest = {call_id: (name, args) for call_id, name, args in calls_told(reader.told)}
        assert newest == {"a": ("x", '{"n":1}'), "b": ("y", "{}")}
        ends = [e["tool_call_id"] for e in reader.told if e["type"] == "tool_end"]
        assert sorted(ends) == ["a", "b"]
        await chat.settled(reader, llm_calls=3, untold=1)


async def test_b42_agent_a_resumed_session_repeats_no_arguments(edge: Edge) -> None:
    """ag-ui-protocol/ag-ui#2515: what comes again is whole; a known id never grows again."""
    nodes = call("start_gns3_node", {"node_ids": ["n1", "n2"]}, id="c1", pieces=6)
    async with edge() as chat:
        chat.model.script(nodes.hang(after=4))
        async with chat.asked() as first:
            for _ in range(3):
                await first.until("tool_call")
            await chat.abort()
            await first.end()
        chat.model.script(call("get_gns3_templates", {}, id="c1"), text("Going on."))
        second = await chat.ask("go on")
        async with chat.joined(second.ids[0]) as back:
            await back.end()
        for reader in (first, second, back):
            for _, growth in itertools.groupby(calls_told(reader.told), lambda told: told[0]):
                arguments = [arguments for _, _, arguments in growth]
                assert arguments == sorted(arguments, key=len)
                assert all(arguments[-1].startswith(each) for each in arguments)
        assert {told[0] for told in calls_told(first.told)} == {"c1"}
        # The provider took the id again: it stands for the first call, so this one has another.
        assert "c1" not in {told[0] for told in calls_told(second.told)}
        await chat.settled(first, second, llm_calls=4, untold=1)


async def test_b44_agent_all_events_carry_the_runs_own_id(edge: Edge) -> None:
    """ag-ui-protocol/ag-ui#1582: no inner run's id, of LangGraph or the title, gets out."""
    async with edge() as chat:
        chat.model.script(call("get_gns3_templates", {}, id="c1"), text("None."), text("Well."))
        turns = [await chat.ask(), await chat.ask("go on")]
        runs = [{event_id.partition(":")[0] for event_id in turn.ids} for turn in turns]
        assert [len(run) for run in runs] == [1, 1]
        assert runs[0] != runs[1]
        for event in turns[0].told:
            assert event["session_id"] == "s1"
            assert "run_id" not in event
        ids = [event["message_id"] for event in turns[0].told if "message_id" in event]
        stored = [message["id"] for message in (await chat.history())["messages"]]
        assert set(ids) < set(stored)


async def _raises(arguments: Json, context: object) -> Any:
    raise ValueError("no such template")


async def _says_so(arguments: Json, context: object) -> Any:
    return {"error": "no such template"}


@pytest.mark.parametrize("run", [_raises, _says_so], ids=["not handled", "handled"])
async def test_b47_agent_a_tool_that_raises_has_its_end(edge: Edge, run: Any) -> None:
    """langchain-ai/langgraphjs#1831: `tool_end` with an error shape follows `tool_start`."""
    async with edge() as chat:
        chat.runs["get_gns3_templates"] = run
        chat.model.script(call("get_gns3_templates", {}, id="c1"), text("It failed."))
        reader = await chat.ask()
        kinds = [event["type"] for event in reader.told]
        end = reader.told[kinds.index("tool_start") + 1]
        assert (end["type"], end["tool_call_id"], end["status"]) == ("tool_end", "c1", "error")
        assert list(json.loads(end["tool_output"])) == ["error"]
        await chat.settled(reader, llm_calls=3)


async def test_b48_agent_a_client_that_leaves_resets_no_context(
    edge: Edge, caplog: pytest.LogCaptureFixture
) -> None:
    """Firefox-AI/MLPA#189: the turn keeps its caller's token to its end, and nobody else has it."""
    seen = []
    left = asyncio.Event()

    async def look(arguments: Json, context: object) -> Any:
        await left.wait()
        token = get_current_jwt_token()
        seen.append(token and f"Bearer {token.get_secret_value()}")
        return {"templates": []}

    async with edge() as chat:
        chat.runs["get_gns3_templates"] = look
        chat.model.script(call("get_gns3_templates", {}, id="c1"), text("None."))
        async with chat.asked() as reader:
            await reader.until("tool_start")
        await asyncio.sleep(0.1)  # the server has noticed
        left.set()
        await chat.until_stored()
        assert seen == [user("ann")["authorization"]]
        assert get_current_jwt_token() is None
        assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
        async with chat.joined(reader.ids[0]) as back:
            assert (await back.end())["type"] == "done"


async def test_b49_sessions_the_savers_aiosqlite(edge: Edge) -> None:
    """langchain-ai/langgraph#6583: a turn is stored and read with the versions that are installed,
    and older ones aren't taken."""
    async with edge() as chat:
        chat.model.script(text("Hello"))
        reader = await chat.ask()
    async with edge() as chat:
        await chat.settled(reader, llm_calls=2)
    bounds = {
        needed.name: needed.specifier
        for needed in map(Requirement, requires("copilot-contracts") or ())
    }
    assert not bounds["aiosqlite"].contains("0.21.0")
    assert not bounds["langgraph-checkpoint-sqlite"].contains("2.0.11")


async def test_b51_sessions_keys_and_texts_reach_no_sql(edge: Edge) -> None:
    """langchain-ai/langgraph#5666: in a filter of the saver, and in what HTTP takes."""
    key = "x') OR 1=1 --"
    async with edge() as chat:
        chat.model.script(text("Hello"))
        await chat.ask()
        agent = await chat.agents.get_agent("p1", chat.folder / "p1")
        saver = agent._store.saver
        assert [found async for found in saver.alist(None, filter={"user_id": "ann"})]
        with pytest.raises(ValueError, match="key"):
            assert [found async for found in saver.alist(None, filter={key: "a"})] == []
        for query in ({key: "a"}, {"q": key}, {"q": "%"}, {"q": "a' OR 'a'='a"}):
            answer = await chat.client.get(f"{PREFIX}/sessions", params=query)
            found = [session["thread_id"] for session in answer.json()]
            assert found == (["s1"] if key in query else []), query
            strangers = await chat.client.get(f"{PREFIX}/sessions", params=query, headers=user(key))
            assert strangers.json() == []


async def test_b62_converters_no_content_is_empty_text(edge: Edge) -> None:
    """langchain-ai/langchain#31226: in both directions, and in what HTTP shows."""
    made = AIMessage(content="", tool_calls=[{"id": "c1", "name": "x", "args": {}}], id="m1")
    for message in (made, made.model_copy(update={"content": None})):
        shown = convert_langchain_to_openai(message)
        assert shown["content"] == ""
        assert convert_openai_to_langchain({**shown, "content": None}).content == ""
    async with edge() as chat:
        chat.model.script(call("get_gns3_templates", {}, id="c1"), text("None."))
        await chat.ask()
        messages = (await chat.history())["messages"]
        assert [message["content"] for message in messages if message.get("tool_calls")] == [""]
        [asked] = [m for m in chat.model.requests[1].messages if m.get("tool_calls")]
        assert not asked.get("content")


async def test_b63_converters_a_call_has_one_shape_live_and_in_history(edge: Edge) -> None:
    """pydantic/pydantic-ai#4193: arguments are text, the same text."""
    spaced = '{ "node_ids" : ["n1"] }'
    async with edge() as chat:
        chat.model.script(
            call("start_gns3_node", spaced, id="c1") + call("get_gns3_templates", "", id="c2"),
            text("Done."),
        )
        reader = await chat.ask()
        live = {e["tool_call"]["id"]: e["tool_call"] for e in reader.told if "tool_call" in e}
        for tool_call in live.values():
            assert tool_call["function"].pop("complete") is True
        [message] = [m for m in (await chat.history())["messages"] if m.get("tool_calls")]
        assert message["tool_calls"] == list(live.values())
        arguments = [each["function"]["arguments"] for each in live.values()]
        assert arguments == [spaced, "{}"]


async def test_b72_ops_closing_a_project_is_bounded(
    edge: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GNS3/gns3-server 258276c51: running streams are ended first, whatever the file does."""
    really = ProjectStore.close
    released, closed = asyncio.Event(), asyncio.Event()

    async def hangs(store: ProjectStore) -> None:
        await released.wait()
        await really(store)
        closed.set()

    async with edge(core=CoreSettings(stop_seconds=0.5)) as chat:
        chat.model.script(text("one two").hang(after=1))
        async with chat.asked() as reader:
            await reader.until("content")
            monkeypatch.setattr(ProjectStore, "close", hangs)
            closing = asyncio.create_task(chat.agents.remove_agent("p1"))
            assert (await reader.end())["code"] == "project_closed"
            assert not closing.done()
            async with asyncio.timeout(5):
                await closing
        monkeypatch.undo()
        released.set()
        await closed.wait()
        assert await chat.shown() == ["user: hi", "assistant: one  (interrupted)"]
