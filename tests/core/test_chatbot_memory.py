"""Memories in a real file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from chatbot_services import HOSTILE, Json, kept, refused, services
from copilot_core.chatbot.memory import MemoryBounds, MemoryStore
from copilot_core.chatbot.services import ChatbotServices


@pytest.fixture
async def chatbot(tmp_path: Path) -> AsyncIterator[ChatbotServices]:
    async with services(tmp_path) as opened:
        yield opened


async def save(memories: MemoryStore, title: str, content: str = "text", **more: object) -> Json:
    user = str(more.pop("user", "ann"))
    saved = kept("save_memory:200", await memories.save(user, title, content, **more))  # type: ignore[arg-type]
    memory: Json = saved["memory"]
    return memory


async def found(memories: MemoryStore, q: str, user: str = "ann") -> list[str]:
    answer = kept("search_memories:200", await memories.search(user, q))
    assert answer["count"] == len(answer["memories"])
    return [memory["title"] for memory in answer["memories"]]


async def listed(memories: MemoryStore, user: str = "ann") -> list[Json]:
    return list(kept("list_memories:200", await memories.list(user))["memories"])


async def test_what_is_saved_comes_back_as_it_was_given(tmp_path: Path) -> None:
    images = [{"url": "https://example.org/rack.png"}, {"base64": "iVBORw0KGgo="}]
    async with services(tmp_path) as chatbot:
        memory = await save(
            chatbot.memories, "  Địa chỉ ", "PC1\0 has\r\n10.0.0.1 ", tags=["lab"], images=images
        )
        other = await save(chatbot.memories, "Other")
    assert memory["title"] == "  Địa chỉ "
    assert memory["content"] == "PC1\0 has\r\n10.0.0.1 "
    assert memory["images"] == images
    assert memory["folder_name"] == f"dia-chi-{memory['id'][:8]}"
    async with services(tmp_path) as chatbot:  # as another process would
        assert await listed(chatbot.memories) == [other, memory]
        answer = await chatbot.memories.get("ann", memory["id"])
        assert kept("get_memory:200", answer) == {"memory": memory}


async def test_what_changes_and_what_stays(chatbot: ChatbotServices) -> None:
    memories = chatbot.memories
    first = await save(memories, "Switch", "has port one", tags=["lab"])
    await save(memories, "Other")
    answer = await memories.update("ann", first["id"], content="has port two")
    changed = kept("update_memory:200", answer)["memory"]
    assert changed == first | {"content": "has port two", "updated_at": changed["updated_at"]}
    assert changed["updated_at"] > first["updated_at"]
    assert [memory["title"] for memory in await listed(memories)] == ["Switch", "Other"]
    assert await found(memories, "one") == []
    assert await found(memories, "two") == ["Switch"]
    answer = await memories.update("ann", first["id"])
    assert answer["memory"] == changed
    answer = await memories.update("ann", first["id"], title="Router", tags=[])
    assert (answer["memory"]["title"], answer["memory"]["tags"]) == ("Router", [])
    assert answer["memory"]["folder_name"] == first["folder_name"]
    kept("delete_memory:200", await memories.delete("ann", first["id"]))
    assert await found(memories, "router") == []
    async with refused("memory_not_found"):
        await memories.delete("ann", first["id"])


@pytest.mark.parametrize(
    ("q", "titles"),
    [
        ("", ["Đường phố", "Plain", "Tagged", "Lab addresses", "Routers"]),
        (" \t", ["Đường phố", "Plain", "Tagged", "Lab addresses", "Routers"]),
        ("LAB", ["Lab addresses", "Tagged", "Plain", "Routers"]),
        ("lab address", ["Lab addresses", "Routers"]),
        ("address lab", ["Lab addresses", "Routers"]),
        ("duong pho", ["Đường phố"]),
        ("ĐƯỜNG", ["Đường phố"]),
        ("ddu\u031bo\u031b\u0300ng", []),
        ("du\u031bo\u031b\u0300ng", ["Đường phố"]),
        ("10.0.0.1", ["Plain"]),
        ("10.0.0.1/2", ["Plain"]),
        ("0.0.10", []),
        ("lab -plain", ["Plain"]),
        ("...", []),
        ("lab ... &", ["Lab addresses", "Tagged", "Plain", "Routers"]),
        ("labs", []),
        ("title", []),
        ("*", []),
    ],
)
async def test_search(chatbot: ChatbotServices, q: str, titles: list[str]) -> None:
    memories = chatbot.memories
    await save(memories, "Routers", "in the lab have addresses")
    await save(memories, "Lab addresses", "of hosts")
    await save(memories, "Tagged", "with it", tags=["the lab"])
    await save(memories, "Plain", "lab-plain: 10.0.0.1/24")
    await save(memories, "Đường phố", "ở Huế")
    assert await found(memories, q) == titles


async def test_others_change_nothing_of_the_order(chatbot: ChatbotServices) -> None:
    """FTS5's own ranking would put first what nobody else has."""
    memories = chatbot.memories
    await save(memories, "One", "rare rare rare common")
    await save(memories, "Two", "rare common common common common")
    before = await found(memories, "rare common")
    for number in range(50):
        await save(memories, f"Common {number}", "common " * number + ".", user="bob")
    assert await found(memories, "rare common") == before == ["Two", "One"]
    assert await found(memories, "common") == ["Two", "One"]


async def test_hostile_searches_find_what_has_their_words(chatbot: ChatbotServices) -> None:
    memories = chatbot.memories
    await save(memories, "Bob's", "owner ann x a b drop table", user="bob")
    await save(memories, "Ann's", "a b AND")
    for q in HOSTILE:
        assert await found(memories, q) in ([], ["Ann's"]), q
    assert await found(memories, "a AND") == ["Ann's"]
    assert await found(memories, "a) OR (zzz") == []
    assert await found(memories, '"a b"') == ["Ann's"]


async def test_nobody_sees_or_touches_what_is_somebody_elses(chatbot: ChatbotServices) -> None:
    memories = chatbot.memories
    mine = await save(memories, "Mine", "secret words")
    for stranger in ("bob", "", "ANN", "ann ", "ann\0", "\ud800", "x" * 10_000):
        assert await listed(memories, stranger) == []
        assert await found(memories, "secret", stranger) == []
        assert await found(memories, "", stranger) == []
        assert await memories.chosen(stranger, [mine["id"]]) == []
        async with refused("memory_not_found"):
            await memories.get(stranger, mine["id"])
        async with refused("memory_not_found"):
            await memories.update(stranger, mine["id"], title="taken")
        async with refused("memory_not_found"):
            await memories.delete(stranger, mine["id"])
    assert await listed(memories) == [mine]


async def test_ids_that_are_none(chatbot: ChatbotServices) -> None:
    await save(chatbot.memories, "Mine")
    for memory_id in HOSTILE:
        async with refused("memory_not_found"):
            await chatbot.memories.get("ann", memory_id)
        async with refused("memory_not_found"):
            await chatbot.memories.update("ann", memory_id, title="x")
        async with refused("memory_not_found"):
            await chatbot.memories.delete("ann", memory_id)
    assert len(await listed(chatbot.memories)) == 1


async def test_those_that_a_turn_chose(chatbot: ChatbotServices) -> None:
    memories = chatbot.memories
    one, two = await save(memories, "One"), await save(memories, "Two")
    bobs = await save(memories, "Bob's", user="bob")
    ids = [two["id"], "nobody", bobs["id"], one["id"], two["id"]]
    assert await memories.chosen("ann", ids) == [two, one]


@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\u3000"])
async def test_texts_are_required(chatbot: ChatbotServices, blank: str) -> None:
    memory = await save(chatbot.memories, "Title", "content")
    for texts in ({"title": blank}, {"content": blank}):
        async with refused("invalid_request"):
            await chatbot.memories.save("ann", **({"title": "t", "content": "c"} | texts))
        async with refused("invalid_request"):
            await chatbot.memories.update("ann", memory["id"], **texts)
    assert await listed(chatbot.memories) == [memory]


@pytest.mark.parametrize(
    "image",
    [
        {},
        {"url": "https://a.example/x.png", "base64": "iVBORw0KGgo="},
        {"url": "javascript:alert(1)"},
        {"url": "file:///etc/passwd"},
        {"url": "data:text/html,<script>"},
        {"url": "//a.example/x"},
        {"url": " https://a.example"},
        {"url": "https://"},
        {"base64": "not base64!"},
        {"base64": "iVBORw0KGg"},
        {"base64": "\ud800"},
    ],
)
async def test_pictures_that_are_none(chatbot: ChatbotServices, image: Json) -> None:
    async with refused("invalid_request"):
        await chatbot.memories.save("ann", "t", "c", images=[image])
    assert await listed(chatbot.memories) == []


async def test_bounds_of_one_user(chatbot: ChatbotServices) -> None:
    memories = MemoryStore(chatbot.file, MemoryBounds(count=3, size=4000))
    for number in range(3):
        last = await save(memories, f"m{number}", "x" * 500)
    async with refused("invalid_request"):
        await memories.save("ann", "one more", "x")
    await save(memories, "Bob has room", user="bob")
    await memories.update("ann", last["id"], content="y" * 1000)
    async with refused("invalid_request"):
        await memories.update("ann", last["id"], content="z" * 4000)
    assert (await memories.get("ann", last["id"]))["memory"]["content"] == "y" * 1000
    assert await found(memories, "zzz") == []
    await memories.delete("ann", last["id"])
    async with refused("invalid_request"):
        await memories.save("ann", "large", "x", images=[{"base64": "AAAA" * 1000}])
    await save(memories, "there is room again", "x" * 1000)


async def test_many_at_once(chatbot: ChatbotServices) -> None:
    """All of them count, for two users side by side, and no bound is passed."""
    memories = MemoryStore(chatbot.file, MemoryBounds(count=10))
    outcomes = await asyncio.gather(
        *(save(memories, f"m{n}", user=user) for n in range(15) for user in ("ann", "bob")),
        return_exceptions=True,
    )
    assert sum(isinstance(outcome, dict) for outcome in outcomes) == 20
    for user in ("ann", "bob"):
        mine = await listed(memories, user)
        assert len(mine) == 10
        await asyncio.gather(*(memories.delete(user, memory["id"]) for memory in mine))
    assert await listed(memories) == []
    async with chatbot.file.reading() as connection:
        [[left]] = await connection.execute_fetchall("SELECT count(*) FROM memory_index")
        await connection.execute("INSERT INTO memory_index(memory_index) VALUES('integrity-check')")
    assert left == 0
