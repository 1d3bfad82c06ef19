"""What users let the chatbot remember, over conversations.

Words are found by SQLite's FTS5. Its own ranking weighs words by how often everybody has them,
so one user's order would tell of the others' memories: here the order follows from the user's
own memories alone.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import orjson

from copilot_core import timestamps
from copilot_core.chatbot.storage import owner
from copilot_core.database import rows
from copilot_core.errors import ChatError
from copilot_core.text import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copilot_core.chatbot.storage import ChatbotFile
    from copilot_core.database import Connection
    from copilot_core.ports import JsonObject

_KEYS = ("id", "folder_name", "title", "content", "tags", "images", "created_at", "updated_at")
_SELECT = f"SELECT {', '.join(_KEYS)} FROM memories"  # noqa: S608 - the names are above
_IMAGE_URL = re.compile(r"https?://[^\s/]|data:image/", re.IGNORECASE)
#: Words of a query that are looked for, and characters of each.
_WORDS, _WORD = 64, 100
# Letters with a stroke, which Unicode doesn't take apart into a letter and an accent.
_STROKED = str.maketrans("đĐøØłŁħĦ", "dDoOlLhH")


@dataclass(frozen=True, slots=True)
class MemoryBounds:
    """What one user may have remembered."""

    count: int = 1000
    #: Of all texts and pictures together, in bytes.
    size: int = 32 * 1024 * 1024


class MemoryStore:
    """Each user's memories. Everything raises StorageError.

    Answers are bodies as the surface has them; a memory is a ``Memory``.
    """

    def __init__(self, file: ChatbotFile, bounds: MemoryBounds | None = None) -> None:
        self._file = file
        self._bounds = bounds or MemoryBounds()

    async def save(
        self,
        user_id: str,
        title: str,
        content: str,
        *,
        tags: Sequence[str] = (),
        images: Sequence[JsonObject] = (),
    ) -> JsonObject:
        """Remember something: ``MemorySaved``.

        ``images`` hold each a ``url`` (http, https or data) or ``base64``. Raises ChatError
        ``invalid_request``: a text is blank, a picture is neither, or the user has too many.
        """
        identifier, now = str(uuid4()), timestamps.now()
        memory: JsonObject = {
            "id": identifier,
            "folder_name": _folder_name(title, identifier),
            "title": _text("title", title),
            "content": _text("content", content),
            "tags": [without_surrogates(tag) for tag in tags],
            "images": [_image(image) for image in images],
            "created_at": now,
            "updated_at": now,
        }
        async with self._file.transaction() as connection:
            size = await self._checked_size(connection, user_id, memory)
            inserted = await connection.execute(
                "INSERT INTO memories (owner, size, id, folder_name, title, content, tags, images,"
                " created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (owner(user_id), size, *_stored(memory)),
            )
            await _index(connection, inserted.lastrowid, memory)
        return {"success": True, "memory": memory, "message": "Remembered."}

    async def list(self, user_id: str) -> JsonObject:
        """All of the user's, the last changed first: ``MemoryList``."""
        async with self._file.reading() as connection:
            return {"memories": await _all(connection, user_id)}

    async def get(self, user_id: str, memory_id: str) -> JsonObject:
        """One: ``MemoryAnswer``. Raises ChatError ``memory_not_found``."""
        async with self._file.reading() as connection:
            _, memory = await _find(connection, user_id, memory_id)
        return {"memory": memory}

    async def chosen(self, user_id: str, memory_ids: Sequence[str]) -> Sequence[JsonObject]:
        """Those of some ids that the user has, in the ids' order, each once."""
        found: dict[str, JsonObject] = {}
        async with self._file.reading() as connection:
            for memory_id in memory_ids:
                try:
                    _, found[memory_id] = await _find(connection, user_id, memory_id)
                except ChatError:
                    continue
        return [*found.values()]

    async def delete(self, user_id: str, memory_id: str) -> JsonObject:
        """Forget one: ``MemoryDeleted``. Raises ChatError ``memory_not_found``."""
        async with self._file.transaction() as connection:
            number, _ = await _find(connection, user_id, memory_id)
            await connection.execute("DELETE FROM memories WHERE number = ?", (number,))
            await connection.execute("DELETE FROM memory_index WHERE rowid = ?", (number,))
        return {"success": True, "message": "Forgotten."}

    async def update(
        self,
        user_id: str,
        memory_id: str,
        *,
        title: str | None = None,
        content: str | None = None,
        tags: Sequence[str] | None = None,
    ) -> JsonObject:
        """Change one; None leaves as it is: ``MemoryUpdated``.

        Raises ChatError ``memory_not_found``; ``invalid_request``: a text is blank, or the user
        has too much.
        """
        async with self._file.transaction() as connection:
            number, memory = await _find(connection, user_id, memory_id)
            before = dict(memory)
            if title is not None:
                memory["title"] = _text("title", title)
            if content is not None:
                memory["content"] = _text("content", content)
            if tags is not None:
                memory["tags"] = [without_surrogates(tag) for tag in tags]
            if memory != before:
                memory["updated_at"] = timestamps.now()
                size = await self._checked_size(connection, user_id, memory, number)
                await connection.execute(
                    "UPDATE memories SET size = ?, title = ?, content = ?, tags = ?,"
                    " updated_at = ? WHERE number = ?",
                    (
                        size,
                        memory["title"],
                        memory["content"],
                        _json(memory["tags"]),
                        memory["updated_at"],
                        number,
                    ),
                )
                await connection.execute("DELETE FROM memory_index WHERE rowid = ?", (number,))
                await _index(connection, number, memory)
        return {"success": True, "memory": memory}

    async def search(self, user_id: str, q: str) -> JsonObject:
        """Those with words that begin with each of the words of ``q``: ``MemoriesFound``.

        Case and accents don't matter. First those that have all the words in their title, then
        in title and tags, then the others; of each, the last changed first. A blank ``q`` finds
        all, punctuation alone none; of a very long one, the first words count.
        """
        async with self._file.reading() as connection:
            if words := _words(q):
                found = await _with_words(connection, user_id, words)
            else:
                found = await _all(connection, user_id)
        return {"memories": found, "count": len(found)}

    async def _checked_size(
        self, connection: Connection, user_id: str, memory: JsonObject, number: int = 0
    ) -> int:
        """A memory's size. ``number`` is that of the one in whose place it comes."""
        size = sum(len(str(value).encode()) for value in _stored(memory))
        [[count, others]] = await rows(
            connection,
            "SELECT count(*), coalesce(sum(size), 0) FROM memories WHERE owner = ? AND number <> ?",
            (owner(user_id), number),
        )
        if count >= self._bounds.count:
            raise ChatError(
                "invalid_request", f"You have {count} memories. Delete some before you save more."
            )
        if others + size > self._bounds.size:
            raise ChatError(
                "invalid_request",
                f"All your memories together may have {self._bounds.size >> 20} MiB, and these "
                "would have more. Delete some, or save fewer pictures.",
            )
        return size


async def _all(connection: Connection, user_id: str) -> list[JsonObject]:
    found = await rows(
        connection,
        f"{_SELECT} WHERE owner = ? ORDER BY updated_at DESC, number DESC",
        (owner(user_id),),
    )
    return [_memory(row) for row in found]


async def _find(connection: Connection, user_id: str, memory_id: str) -> tuple[int, JsonObject]:
    """The number and the memory. Raises ChatError ``memory_not_found``."""
    if memory_id.isascii():
        for number, *row in await rows(
            connection,
            f"SELECT number, {', '.join(_KEYS)} FROM memories WHERE owner = ? AND id = ?",  # noqa: S608 - the names are above
            (owner(user_id), memory_id),
        ):
            return number, _memory(row)
    raise ChatError("memory_not_found", "There is no such memory.")


async def _with_words(connection: Connection, user_id: str, words: str) -> list[JsonObject]:
    fits = "number IN (SELECT rowid FROM memory_index WHERE memory_index MATCH ?)"
    found = await rows(
        connection,
        f"{_SELECT} WHERE owner = ? AND {fits} ORDER BY {fits} DESC, {fits} DESC,"
        " updated_at DESC, number DESC",
        (owner(user_id), words, f"title : ({words})", f"{{title tags}} : ({words})"),
    )
    return [_memory(row) for row in found]


def _words(q: str) -> str:
    """Text as an expression of FTS5: each word in quotes, which leave nothing to be obeyed."""
    words = (word[:_WORD].replace('"', '""') for word in _indexed(q).split()[:_WORDS])
    # Side by side and not with AND between: only so those without a letter or digit, which a
    # text holds no trace of, are passed over.
    return " ".join(f'"{word}" *' for word in words)


async def _index(connection: Connection, number: int | None, memory: JsonObject) -> None:
    texts = (memory["title"], "\n".join(memory["tags"]), memory["content"])
    await connection.execute(
        "INSERT INTO memory_index (rowid, title, tags, content) VALUES (?, ?, ?, ?)",
        (number, *map(_indexed, texts)),
    )


def _indexed(text: str) -> str:
    """Text as it is looked through, and looked for."""
    composed = unicodedata.normalize("NFC", without_surrogates(text))
    return composed.replace("\0", " ").translate(_STROKED)


def _memory(row: Sequence[Any]) -> JsonObject:
    memory = dict(zip(_KEYS, row, strict=True))
    return memory | {key: orjson.loads(memory[key]) for key in ("tags", "images")}


def _stored(memory: JsonObject) -> list[str]:
    return [_json(memory[key]) if key in ("tags", "images") else memory[key] for key in _KEYS]


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _text(name: str, given: str) -> str:
    if not given.strip():
        raise ChatError("invalid_request", f"A memory's {name} is required.")
    return without_surrogates(given)


def _image(given: JsonObject) -> JsonObject:
    match given.get("url"), given.get("base64"):
        case str(url), None if _IMAGE_URL.match(url):
            return {"url": without_surrogates(url)}
        case None, str(data) if data and _is_base64(data):
            return {"base64": data}
    raise ChatError(
        "invalid_request",
        "A picture has either `url`, an http, https or data URL, or `base64`, its bytes.",
    )


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return False


def _folder_name(title: str, identifier: str) -> str:
    plain = unicodedata.normalize("NFKD", without_surrogates(title).translate(_STROKED))
    letters = plain.encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", letters)[:40].strip("-")
    return f"{name or 'memory'}-{identifier[:8]}"
