"""How much of a conversation a model's context window holds, and what is left out first.

Tokens are estimated, because the tokenizer is the provider's. LangChain's
``count_tokens_approximately`` takes four characters for a token, which is right for English prose;
what the tools of a network lab answer is addresses, counters and JSON, of which it counts a third.
So kinds of characters count apart: with the tokenizer of Qwen2.5 prose, code, JSON and addresses
come out between 0.8 and 1.4 of the true number, other scripts between 1.1 and 1.6, base64 at half.
Where the estimate is too low the provider says so, and is asked again with less.

``trim_messages`` cuts a history at any message; here a turn goes whole.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from copilot_core.events import TurnFailed
from copilot_core.message_content import content_text, json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.language_models import BaseChatModel

    from copilot_core.llm.config import LlmConfig

#: Bytes of a kind, and the twelfths of a token that each counts; the last, all others.
_KINDS = (
    ((string.ascii_letters + string.whitespace).encode(), 3),
    (string.digits.encode(), 12),
    (string.punctuation.encode(), 9),
)
_OTHERS = 4
#: Tokens that a message costs beside its text: its role, its beginning and its end.
_PER_MESSAGE = 4
#: Where no ``max_tokens`` says how long an answer may be: a quarter of the window, at most this.
_MOST_ROOM = 8192


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """What a model reads and writes in one call, in tokens: all of it, and the answer's share."""

    tokens: int
    answer: int

    @classmethod
    def of(cls, llm: LlmConfig, model: BaseChatModel) -> ContextWindow | None:
        """As configured, else as LangChain's profile of the model says; None: nobody knows."""
        tokens = llm.context_window or (model.profile or {}).get("max_input_tokens")
        if not tokens:
            return None
        return cls(tokens, llm.max_tokens or min(tokens // 4, _MOST_ROOM))

    @property
    def prompt(self) -> int:
        """Tokens for all that is sent."""
        return self.tokens - self.answer

    def exceeded(self, fixed: int) -> TurnFailed:
        """What the user is told when nothing more can be left out.

        ``fixed``: tokens of what every request holds.
        """
        return TurnFailed(
            "context_window_exceeded",
            "This doesn't fit the model's context window, even without the earlier conversation: "
            f"of {self.tokens} tokens, {self.answer} are kept for the answer, and instructions "
            f"and tools take about {fixed}. Send a shorter message, ask for less at once, or "
            "choose a model with a larger context window.",
            retryable=False,
        )


def estimated_tokens(messages: Sequence[BaseMessage], tools: Sequence[dict[str, Any]] = ()) -> int:
    """About how many tokens messages, and tools in OpenAI's form, make of a prompt."""
    offered = sum(_text_tokens(json_text(tool)) for tool in tools)
    return offered + sum(map(_message_tokens, messages))


def _message_tokens(message: BaseMessage) -> int:
    text = content_text(message.content)
    if isinstance(message, AIMessage) and message.tool_calls:
        text += json_text(message.tool_calls)
    return _PER_MESSAGE + _text_tokens(text)


def _text_tokens(text: str) -> int:
    data = text.encode()
    twelfths = 0
    for kind, weight in _KINDS:
        left = data.translate(None, kind)
        twelfths += weight * (len(data) - len(left))
        data = left
    return -(-(twelfths + _OTHERS * len(data)) // 12)


def newest(history: Sequence[BaseMessage], tokens: int) -> list[BaseMessage]:
    """The newest of a history, as `history_for_model` gives it, in about so many tokens.

    Whole turns are left out, the oldest first; then, of the newest turn, whole messages with calls
    together with their results. More than ``tokens`` if it has to be: the newest user message
    stays, and so do the newest calls and results, without which the model would only make the same
    calls again. Linear time.
    """
    sizes = [_message_tokens(message) for message in history]
    excess = sum(sizes) - tokens
    turns = [place for place, message in enumerate(history) if isinstance(message, HumanMessage)]
    asked = turns[-1] if turns else -1
    begin = 0
    for turn in turns:
        if excess <= 0:
            break
        excess -= sum(sizes[begin:turn])
        begin = turn
    if excess <= 0:
        return list(history[begin:])
    steps = [
        place
        for place in range(asked + 1, len(history))
        if not isinstance(history[place], ToolMessage)
    ]
    begin = asked + 1
    for step, following in pairwise(steps):
        if excess <= 0:
            break
        excess -= sum(sizes[step:following])
        begin = following
    return [*history[max(asked, 0) : asked + 1], *history[begin:]]
