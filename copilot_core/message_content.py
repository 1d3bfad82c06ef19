"""The content of a LangChain message as one text."""

from __future__ import annotations

import json
from typing import Any

import orjson

from copilot_core.text import plain_text, without_surrogates

# Blocks that say what tool calls and reasoning events have already said.
_SAID_ELSEWHERE = frozenset(
    {
        "function_call",
        "input_json_delta",
        "invalid_tool_call",
        "reasoning",
        "reasoning_content",
        "redacted_thinking",
        "thinking",
        "tool_call",
        "tool_call_chunk",
        "tool_use",
    }
)


def content_text(content: Any) -> str:
    """The text of a message's content, whatever its type.

    Text stays, blocks of text are joined, blocks of calls and reasoning are left out (they have
    fields and events of their own), anything else is its JSON. None is empty text.
    """
    match content:
        case None:
            return ""
        case str():
            return without_surrogates(content)
        case list() | tuple():
            return "".join(_block_text(block) for block in content)
        case _:
            return json_text(content)


def json_text(value: Any) -> str:
    """``value`` as JSON; what JSON has no form for becomes text in it."""
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except orjson.JSONEncodeError:  # lone surrogates, big integers, deep nesting
        try:
            return without_surrogates(json.dumps(value, default=str, ensure_ascii=False))
        except (ValueError, TypeError, RecursionError):
            return json.dumps(f"<{type(value).__name__}>")


def _block_text(block: Any) -> str:
    if not isinstance(block, dict):
        return content_text(block)
    if block.get("type") in _SAID_ELSEWHERE:
        return ""
    return without_surrogates(plain_text([block])) or json_text(block)
