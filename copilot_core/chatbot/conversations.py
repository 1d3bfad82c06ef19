"""Conversations: sessions of the agent, in the surface's shapes."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from copilot_core.errors import ChatError
from copilot_core.sessions import NEW_TITLE
from copilot_core.text import without_surrogates

if TYPE_CHECKING:
    from copilot_core.ports import JsonObject
    from copilot_core.service import AgentService

#: More conversations than a user has, and more messages than a conversation has.
_ALL = 2**31


class Conversations:
    """A user's conversations. Answers are bodies as the surface has them.

    Every method raises StorageError, and those of one conversation ChatError
    ``session_not_found``, somebody else's alike.
    """

    def __init__(self, agent: AgentService) -> None:
        self._agent = agent

    async def list(self, user_id: str) -> JsonObject:
        """All of the user's, the last changed first: ``ConversationList``."""
        sessions = await self._agent.list_sessions(user_id, limit=_ALL)
        return {"conversations": [*map(_conversation, sessions)], "count": len(sessions)}

    async def new(
        self, user_id: str, *, model: str | None = None, title: str | None = None
    ) -> JsonObject:
        """Make one: ``Conversation``. ``model`` is what requests call the model.

        Raises ChatError ``invalid_request`` for a title that can't be one.
        """
        session = await self._agent.create_session(user_id)
        made = session["thread_id"]
        try:
            if model:
                session = await self._set(user_id, made, model=without_surrogates(model))
            if title and title.strip() not in ("", NEW_TITLE):
                session = await self._agent.rename_session(made, user_id, title)
        except ChatError:
            with suppress(ChatError):
                await self._agent.delete_session(made, user_id)
            raise
        return _conversation(session)

    async def get(self, user_id: str, conversation_id: str) -> JsonObject:
        """One with its messages: ``FullConversation``."""
        session = await self._agent.get_session(conversation_id, user_id)
        history = await self._agent.get_history(conversation_id, user_id, limit=_ALL)
        messages = [*map(_message, filter(_is_shown, history["messages"]))]
        return {**_conversation(session), "messages": messages}

    async def switch(self, user_id: str, conversation_id: str) -> JsonObject:
        """Go on with one: ``SwitchAnswer``."""
        conversation = await self.get(user_id, conversation_id)
        return {"message": "This is the conversation now.", "conversation": conversation}

    async def delete(self, user_id: str, conversation_id: str) -> JsonObject:
        """Stop its turn, and delete it: ``MessageAnswer``."""
        await self._agent.delete_session(conversation_id, user_id)
        return {"message": "The conversation is deleted."}

    async def archive(self, user_id: str, conversation_id: str) -> JsonObject:
        """Mark it as put away: ``MessageAnswer``."""
        await self._set(user_id, conversation_id, is_archived=True)
        return {"message": "The conversation is archived."}

    async def asked(self, user_id: str, conversation_id: str, model: str) -> None:
        """Keep what the last request called the model that it asked."""
        session = await self._agent.get_session(conversation_id, user_id)
        model = without_surrogates(model)
        if session["metadata"].get("model") != model:
            await self._set(user_id, conversation_id, model=model)

    async def _set(self, user_id: str, conversation_id: str, **changes: object) -> JsonObject:
        return await self._agent.set_metadata(conversation_id, user_id, changes)


def _conversation(session: JsonObject) -> JsonObject:
    """A ``ChatSession`` as a ``Conversation``."""
    metadata = dict(session["metadata"])
    model, archived = metadata.pop("model", ""), metadata.pop("is_archived", False)
    return {
        "_id": session["thread_id"],
        "user_id": session["user_id"],
        "title": session["title"],
        "model": model if isinstance(model, str) else "",
        "created_at": session["created_at"],
        "updated_at": session["updated_at"],
        "message_count": session["message_count"],
        "total_tokens": session["total_tokens"],
        "is_archived": archived is True,
        "metadata": metadata,
    }


def _is_shown(message: JsonObject) -> bool:
    """What was said; not a tool's answer, nor a message that only calls tools."""
    return message["role"] == "user" or (
        message["role"] == "assistant" and bool(message["content"] or not message.get("tool_calls"))
    )


def _message(message: JsonObject) -> JsonObject:
    """An ``OpenAIMessage`` as a ``ConversationMessage``."""
    return {
        "_id": message["id"],
        "role": message["role"],
        "content": message["content"],
        "created_at": message["created_at"],
        "metadata": message.get("metadata", {}),
    }
