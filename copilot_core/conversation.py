"""A session as it is read: a page of its messages, and its figures (decision A21)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copilot_core.errors import ChatError
from copilot_core.messages import convert_langchain_to_openai

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import BaseMessage

    from copilot_core.ports import JsonObject


def conversation(
    session: JsonObject, messages: Sequence[BaseMessage], *, limit: int, before: str | None
) -> JsonObject:
    """The newest messages, or the newest before a message's id, as ``ConversationHistory``.

    ``session`` is a ``ChatSession``, ``messages`` all that were said in it, oldest first; the
    system's aren't shown. Raises ChatError ``invalid_request`` for an unknown ``before``.
    """
    shown = [
        message
        for message in convert_langchain_to_openai(messages, undated=session["created_at"])
        if message["role"] != "system"
    ]
    end = len(shown)
    if before is not None:
        end = next((i for i, m in enumerate(shown) if m["id"] == before), -1)
        if end < 0:
            raise ChatError("invalid_request", "`before` is no message of this session.")
    start = max(0, end - limit)
    return {
        "thread_id": session["thread_id"],
        "title": session["title"],
        "messages": shown[start:end],
        "created_at": session["created_at"],
        "updated_at": session["updated_at"],
        "llm_calls": session["llm_calls_count"],
        "has_more": start > 0,
    }
