"""Conversations: the agent's sessions in the chatbot's shapes."""

from __future__ import annotations

import asyncio

import pytest

from agent_bench import PROJECT, Bench
from chatbot_services import HOSTILE, Json, kept, refused
from copilot_core.chatbot.conversations import Conversations
from copilot_core.database import StorageError
from openai_server import call, text


async def of(bench: Bench) -> Conversations:
    return Conversations(await bench.agent())


async def listed(conversations: Conversations, user: str = "ann") -> list[Json]:
    answer = kept("list_conversations:200", await conversations.list(user))
    assert answer["count"] == len(answer["conversations"])
    return list(answer["conversations"])


async def whole(conversations: Conversations, conversation_id: str, user: str = "ann") -> Json:
    return kept("get_conversation:200", await conversations.get(user, conversation_id))


async def test_a_new_one(bench: Bench) -> None:
    conversations = await of(bench)
    made = kept("new_conversation:200", await conversations.new("ann"))
    assert made == {
        "_id": made["_id"],
        "user_id": "ann",
        "title": "New Chat",
        "model": "",
        "created_at": made["created_at"],
        "updated_at": made["created_at"],
        "message_count": 0,
        "total_tokens": 0,
        "is_archived": False,
        "metadata": {},
    }
    named = await conversations.new("ann", model="grok", title="  Lab\n1 ")
    kept("new_conversation:200", named)
    assert (named["model"], named["title"]) == ("grok", "Lab 1")
    assert [one["_id"] for one in await listed(conversations)] == [named["_id"], made["_id"]]
    assert await whole(conversations, named["_id"]) == named | {"messages": []}


@pytest.mark.parametrize("title", ["New Chat", "", "  ", None])
async def test_a_title_that_is_none_gives_way_to_the_models(
    bench: Bench, title: str | None
) -> None:
    conversations = await of(bench)
    made = await conversations.new("ann", title=title)
    bench.server.script(text("Hello"))
    await bench.ask("hello", made["_id"])
    assert (await whole(conversations, made["_id"]))["title"] == "Hosts of the lab"


@pytest.mark.parametrize("title", ["\0", "\x7f \x1f", "x" * 256])
async def test_a_title_that_cannot_be_one_leaves_nothing(bench: Bench, title: str) -> None:
    conversations = await of(bench)
    async with refused("invalid_request"):
        await conversations.new("ann", model="grok", title=title)
    assert await listed(conversations) == []


async def test_what_was_said(bench: Bench) -> None:
    """Without tool calls, and with the figures of all calls."""
    bench.server.script(
        call("get_gns3_templates").with_usage(10, 5), text("None \U0001f600").with_usage(20, 7)
    )
    await bench.ask("Which?", "s1")
    conversations = await of(bench)
    told = await whole(conversations, "s1")
    assert [(said["role"], said["content"]) for said in told["messages"]] == [
        ("user", "Which?"),
        ("assistant", "None \U0001f600"),
    ]
    [listing] = await listed(conversations)
    assert told == listing | {"messages": told["messages"]}
    assert told["title"] == "Hosts of the lab"
    assert told["message_count"] == 4
    assert told["total_tokens"] == 10 + 5 + 20 + 7 + 20 + 4
    assert told == await whole(conversations, "s1")
    answer = kept("switch_conversation:200", await conversations.switch("ann", "s1"))
    assert answer["conversation"] == told


async def test_a_conversation_at_work(bench: Bench) -> None:
    """Its question is there already; it can be archived and deleted."""
    run, held = await bench.counting()
    conversations = await of(bench)
    assert [m["content"] for m in (await whole(conversations, "s1"))["messages"]] == ["count"]
    await conversations.archive("ann", "s1")
    kept("delete_conversation:200", await conversations.delete("ann", "s1"))
    held.set()
    await run.wait()
    assert await listed(conversations) == []
    async with refused("session_not_found"):
        await conversations.get("ann", "s1")


async def test_an_interrupted_answer_says_so(bench: Bench) -> None:
    run, held = await bench.counting()
    agent = await bench.agent()
    await agent.abort("s1", "ann")
    held.set()
    await run.wait()
    told = await whole(Conversations(agent), "s1")
    assert [m["metadata"].get("interrupted", False) for m in told["messages"]] == [False, True]


async def test_archiving_and_the_model_asked_last(bench: Bench) -> None:
    conversations = await of(bench)
    made = await conversations.new("ann", model="grok", title="Mine")
    other = await conversations.new("ann")
    kept("archive_conversation:200", await conversations.archive("ann", made["_id"]))
    archived, _ = await listed(conversations)
    assert archived == made | {"is_archived": True, "updated_at": archived["updated_at"]}
    assert archived["updated_at"] > made["updated_at"]
    await conversations.asked("ann", other["_id"], "qwen\ud800")
    await conversations.asked("ann", made["_id"], "grok")
    assert [(one["model"], one["is_archived"]) for one in await listed(conversations)] == [
        ("qwen\ufffd", False),
        ("grok", True),
    ]
    bench.server.script(text("Hello"))
    await bench.ask("hello", made["_id"])
    await bench.manager.close_all()
    bench.restart()
    told = await whole(await of(bench), made["_id"])
    assert (told["model"], told["is_archived"], told["title"]) == ("grok", True, "Mine")


async def test_metadata_keeps_what_is_not_set(bench: Bench) -> None:
    agent = await bench.agent()
    made = await agent.create_session("ann")
    await agent.set_metadata(made["thread_id"], "ann", {"a": 1, "b": [2]})
    session = await agent.set_metadata(made["thread_id"], "ann", {"b": None, "model": 5})
    assert session["metadata"] == {"a": 1, "b": None, "model": 5}
    assert session == await agent.get_session(made["thread_id"], "ann")
    [told] = await listed(Conversations(agent))
    assert (told["model"], told["metadata"]) == ("", {"a": 1, "b": None})
    for user, session_id in (("bob", made["thread_id"]), ("ann", "nobody"), ("\ud800", "x")):
        async with refused("session_not_found"):
            await agent.set_metadata(session_id, user, {"c": 3})
    assert "c" not in (await agent.get_session(made["thread_id"], "ann"))["metadata"]


async def test_set_at_once(bench: Bench) -> None:
    agent = await bench.agent()
    made = (await agent.create_session("ann"))["thread_id"]
    await asyncio.gather(*(agent.set_metadata(made, "ann", {str(n): n}) for n in range(20)))
    assert len((await agent.get_session(made, "ann"))["metadata"]) == 20


async def test_somebody_elses_is_not_there(bench: Bench) -> None:
    conversations = await of(bench)
    made = (await conversations.new("ann", title="Secret"))["_id"]
    before = await listed(conversations)
    for user, one in (
        ("bob", made),
        ("ANN", made),
        ("ann\0", made),
        *(("ann", h) for h in HOSTILE),
    ):
        for asked in (
            conversations.get(user, one),
            conversations.switch(user, one),
            conversations.delete(user, one),
            conversations.archive(user, one),
            conversations.asked(user, one, "grok"),
        ):
            async with refused("session_not_found"):
                await asked
    assert await listed(conversations, "bob") == []
    assert await listed(conversations) == before


async def test_more_than_a_page(bench: Bench) -> None:
    conversations = await of(bench)
    for _ in range(120):
        await conversations.new("ann")
    await conversations.new("bob")
    assert len(await listed(conversations)) == 120


async def test_a_file_that_cannot_be_written_to(bench: Bench) -> None:
    conversations = await of(bench)
    made = (await conversations.new("ann"))["_id"]
    database = (await bench.agent())._store._database
    async with database.reading() as connection:
        await connection.execute("PRAGMA query_only = 1")
    with pytest.raises(StorageError):
        await conversations.new("ann", title="x")
    with pytest.raises(StorageError):
        await conversations.archive("ann", made)
    async with database.reading() as connection:
        await connection.execute("PRAGMA query_only = 0")
    assert len(await listed(conversations)) == 1
    await bench.manager.remove_agent(PROJECT)
    async with refused("project_not_opened"):
        await conversations.list("ann")
