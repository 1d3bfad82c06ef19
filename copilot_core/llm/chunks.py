"""A chunk of a streamed answer as OpenAI would have sent it, from what other servers send.

The OpenAI client and LangChain take a chunk apart as if it were one of OpenAI's: a number where
they expect text ends the answer with an exception, or is written to stderr with the text beside it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from copilot_core.text import plain_text

if TYPE_CHECKING:
    from copilot_core.ports import JsonObject


def openai_chunk(told: Any) -> JsonObject:
    """``told``, an event's JSON, as a chunk, without what a field can't hold.

    Raises ValueError for what isn't an object.
    """
    if not isinstance(told, dict):
        raise ValueError(f"A chunk must be an object, not {type(told).__name__}.")
    choice = _first(told.get("choices"))
    usage = _usage(told.get("usage")) or _usage((choice or {}).get("usage"))
    return {
        "object": "chat.completion.chunk",
        "choices": [] if choice is None else [_choice(choice)],
        "usage": usage,
    }


def _first(items: Any) -> JsonObject | None:
    """The first object of a list."""
    objects = (item for item in items if isinstance(item, dict)) if isinstance(items, list) else ()
    return next(iter(objects), None)


def _choice(choice: JsonObject) -> JsonObject:
    # A server that doesn't stream sends its whole message.
    parts = (choice.get("delta"), choice.get("message"))
    said: JsonObject = next((part for part in parts if isinstance(part, dict)), {})
    delta: JsonObject = {"role": "assistant", "content": _content(said)}
    calls = said.get("tool_calls")
    if isinstance(calls, list) and calls:
        delta["tool_calls"] = [_call(call) for call in calls if isinstance(call, dict)]
    reason = choice.get("finish_reason")
    return {
        "index": 0,
        "delta": delta,
        "finish_reason": reason if isinstance(reason, str) else None,
    }


def _content(said: JsonObject) -> str:
    content = said.get("content")
    if isinstance(content, list):
        content = plain_text([part for part in content if isinstance(part, (str, dict))])
    refusal = said.get("refusal")
    return "".join(part for part in (content, refusal) if isinstance(part, str))


def _call(call: JsonObject) -> JsonObject:
    """A piece of a call. Without an index it is told apart by its id and name alone."""
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    arguments = function.get("arguments")
    if isinstance(arguments, dict):
        arguments = json.dumps(arguments)
    return {
        "index": _whole_number(call.get("index")),
        "id": _name(call.get("id")),
        "type": "function",
        "function": {
            "name": _name(function.get("name")),
            "arguments": arguments if isinstance(arguments, str) else None,
        },
    }


def _name(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    return str(number) if (number := _whole_number(value)) is not None else None


def _usage(told: Any) -> JsonObject | None:
    """Token counts, where at least one is told."""
    if not isinstance(told, dict):
        return None
    told_in, told_out = (_whole_number(told.get(f"{of}_tokens")) for of in ("prompt", "completion"))
    if told_in is None and told_out is None:
        return None
    usage = {"prompt_tokens": told_in or 0, "completion_tokens": told_out or 0}
    return {**usage, "total_tokens": sum(usage.values())}


def _whole_number(value: Any) -> int | None:
    """A number, also one that is written as text or with a fraction of nothing."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 18:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if type(value) is int else None
