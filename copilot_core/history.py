"""A conversation as a strict provider takes it.

The stored history stays as it is: what is sent is made new for each request.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import tool_call

from copilot_core.message_content import content_text, json_text
from copilot_core.messages import calls_of
from copilot_core.text import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copilot_core.tool_calls import FinishedCall

# What every provider takes: OpenAI allows 64 characters of a name and 40 of an id, Anthropic
# these characters.
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
_KINDS = (AIMessage, HumanMessage, SystemMessage)
_MADE_IDS = UUID("0d1c8f5e-3f0e-4b7a-9b6e-6f6f0e0a7c11")


@dataclass(slots=True)
class _Asked:
    """A call, the id under which it is sent, and its result, if there is one."""

    call: FinishedCall
    sent_id: str
    result: ToolMessage | None = None


def history_for_model(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The conversation as a strict provider takes it: new messages, all of them text. Linear time.

    - Each call is answered exactly once, right behind its message and in the order of the calls.
      A result may stand anywhere between its call and the next call of the same id; results that
      answer none are left out.
    - A call that can't be sent as it is (arguments that aren't an object, a name that isn't one)
      is sent with what can be sent, and its result tells the model what was wrong.
    - An id is sent as it is, unless it is used again, or isn't 1 to 40 letters, digits, ``_`` and
      ``-``. Then one is made that follows from it, so that it is the same in each request.
    - Messages that say nothing are left out, as are kinds that a provider doesn't know. The
      newest message of the user is always there.
    """
    told: list[tuple[BaseMessage, list[_Asked]]] = []
    waiting: dict[str, deque[_Asked]] = {}
    seen: Counter[str] = Counter()
    newest: BaseMessage | None = None
    for message in messages:
        if isinstance(message, ToolMessage):
            if asked := waiting.get(without_surrogates(message.tool_call_id)):
                asked.popleft().result = message
        elif isinstance(message, _KINDS):
            calls = calls_of(message)
            waiting.update({call.id: deque() for call in calls})
            asks = [_Asked(call, _sent_id(call.id, seen)) for call in calls]
            for ask in asks:
                waiting[ask.call.id].append(ask)
            told.append((message, asks))
            newest = message if isinstance(message, HumanMessage) else newest
    return [
        sendable
        for message, asks in told
        for sendable in _sendable(message, asks, always=message is newest)
    ]


def _sent_id(call_id: str, seen: Counter[str]) -> str:
    seen[call_id] += 1
    if seen[call_id] == 1 and _ID.fullmatch(call_id):
        return call_id
    return f"call_{uuid5(_MADE_IDS, f'{seen[call_id]} {call_id}').hex}"


def _sendable(message: BaseMessage, asks: list[_Asked], *, always: bool) -> list[BaseMessage]:
    """A message, and an answer to each of its calls; nothing if it says nothing."""
    text = content_text(message.content)
    if not (text.strip() or always):
        text = ""
    if asks:
        calls = [
            tool_call(id=ask.sent_id, name=_name(ask.call), args=ask.call.args or {})
            for ask in asks
        ]
        return [AIMessage(text, id=message.id, tool_calls=calls), *map(_answer, asks)]
    kind = next(kind for kind in _KINDS if isinstance(message, kind))
    return [kind(text, id=message.id)] if text or always else []


def _answer(ask: _Asked) -> ToolMessage:
    if ask.result is not None:
        text, status = content_text(ask.result.content), ask.result.status
    else:
        error = ask.call.error or "The turn ended before this call was answered."
        text, status = json_text({"error": error}), "error"
    return ToolMessage(
        text if text.strip() else '""',
        tool_call_id=ask.sent_id,
        name=_name(ask.call),
        status=status,
    )


def _name(call: FinishedCall) -> str:
    return _NOT_IN_NAMES.sub("_", call.name)[:64] or "unknown"
