"""Whether what the chatbot stores can be used."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from copilot_core import timestamps
from copilot_core.errors import ChatError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from copilot_core.chatbot.storage import ChatbotFile
    from copilot_core.ports import JsonObject
    from copilot_core.service import AgentService

#: Seconds that a database may take.
_SECONDS = 5.0


async def database_health(
    agent: Callable[[], Awaitable[AgentService]], file: ChatbotFile
) -> JsonObject:
    """``DatabaseHealth``: each of the databases is written to. Raises nothing.

    ``agent`` gets what holds the conversations.
    """

    async def check_conversations() -> None:
        await (await agent()).check()

    conversations, memory = await asyncio.gather(_state(check_conversations), _state(file.check))
    return {
        "ok": conversations["ok"] and memory["ok"],
        "timestamp": timestamps.now(),
        "conversations": conversations,
        "memory": memory,
    }


async def _state(check: Callable[[], Awaitable[None]]) -> JsonObject:
    """``DatabaseState``."""
    checking = asyncio.ensure_future(check())
    try:
        # Not by a timeout around it: what is cancelled is awaited, and a disk may never answer.
        await asyncio.wait({checking}, timeout=_SECONDS)
    finally:
        checking.cancel()
        checking.add_done_callback(lambda late: late.cancelled() or late.exception())
    if not checking.done():
        return {"ok": False, "error": f"It didn't answer within {_SECONDS:g} s."}
    try:
        checking.result()
    except ChatError as error:
        return {"ok": False, "error": error.message}
    return {"ok": True}
