"""The chatbot's services over real files, and what they answer held against the contracts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from copilot_contracts import Registry
from copilot_core.chatbot.services import ChatbotServices
from copilot_core.errors import ChatError

Json = dict[str, Any]
SURFACE = Registry.bundled().surface("chatbot")
#: What nobody should send, and somebody will.
HOSTILE = [
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "\udfff\ud800",
    "'; DROP TABLE memories; --",
    '" OR 1=1 --',
    '"',
    '""',
    "'",
    "*",
    "a*",
    "^a",
    "-a",
    "a AND",
    "AND OR NOT",
    "NEAR(a b, 3)",
    "title:a",
    "{title tags}:a",
    "owner:ann",
    "(((((",
    "a) OR (b",
    "a + b",
    "../../etc/passwd",
    "%00",
    "%",
    "_",
    "\\",
    "🙂",
    "\u202eabc",
    "e\u0301",
    "\uffff",
    "x" * 100_000,
    "x " * 50_000,
    '" ' * 5_000,
    "( " * 5_000,
]
hostile = st.sampled_from(HOSTILE) | st.text() | st.text(alphabet='ab "*^:(){}+-\0', max_size=30)


def kept(name: str, answer: Json, kind: str = "response") -> Json:
    """An answer that keeps its contract."""
    violation = SURFACE.contract(kind, name).violation(answer)
    assert violation is None, str(violation)
    return answer


@asynccontextmanager
async def services(data: Path, **more: Any) -> AsyncIterator[ChatbotServices]:
    opened = ChatbotServices.at(data, **more)
    try:
        yield opened
    finally:
        await opened.close()


@asynccontextmanager
async def refused(code: str) -> AsyncIterator[None]:
    """A refusal by that code, with a sentence."""
    with pytest.raises(ChatError) as error:
        yield
    assert error.value.code == code
    kept("ErrorAnswer", {"error": error.value.message}, "model")
    assert error.value.message[0].isupper()
    assert error.value.message.endswith(".")
