"""One answer of a model, read as it streams: text, reasoning, calls, usage and its end."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain_core.messages import AIMessage, AIMessageChunk

from copilot_core import events as ev
from copilot_core.llm.failures import ENDLESS, NO_ANSWER, ModelFailure, model_failure
from copilot_core.messages import assistant_message
from copilot_core.text import SurrogateFilter, plain_text, without_surrogates
from copilot_core.tool_calls import ToolCallStreamAccumulator

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from langchain_core.language_models import LanguageModelInput
    from langchain_core.messages import BaseMessage
    from langchain_core.messages.ai import UsageMetadata
    from langchain_core.runnables import Runnable

    from copilot_core.tool_calls import CallGrowth, FinishedCall

    Model = Runnable[LanguageModelInput, AIMessage]

#: After what a model's answer is stopped. Characters: text, reasoning, and what calls say.
MAX_ANSWER = 1_000_000
#: LangChain keeps each chunk, with 1 or 2 KB, until the answer's end.
MAX_CHUNKS = 100_000
MAX_CALLS = 128
MAX_SECONDS = 1800.0
#: More than any context window; what is beyond isn't a count of tokens.
MAX_TOKENS = 2**40
MAX_FINISH_REASON = 64


async def stream_answer(
    model: Model,
    prompt: Sequence[BaseMessage],
    *,
    name: str,
    emit: Callable[[ev.CoreEvent], None],
    call_ids: set[str],
) -> AIMessage:
    """Ask the model and tell its answer as it comes. Raises ModelFailure, and nothing else.

    ``name`` is the model's for the statistics; ``call_ids`` are the ids of calls that are used,
    to which those of the answer are added.
    """
    reading = AnswerRead(call_ids)
    emit(ev.ModelCallStarted(name))
    limit = asyncio.timeout(MAX_SECONDS)
    try:
        async with limit, aclosing(model.astream(prompt)) as chunks:  # type: ignore[type-var]  # it is an async generator, annotated as an iterator
            async for chunk in chunks:
                for event in reading.take(chunk):
                    emit(event)
    except ModelFailure:
        if not reading.ended:
            raise
    except Exception as error:
        if not reading.ended:
            end = model_failure(error, streaming=reading.begun)
            raise ModelFailure(ENDLESS if limit.expired() else end) from error
    for event in reading.finish():
        emit(event)
    if reading.empty:
        raise ModelFailure(NO_ANSWER)
    call_ids.update(call.id for call in reading.finished)
    answer = assistant_message(
        reading.message_id,
        reading.text,
        reading.finished,
        model=name,
        finish_reason=reading.finish_reason,
    )
    emit(
        ev.ModelCallEnded(
            name,
            reading.input_tokens,
            reading.output_tokens,
            answer if says_something(answer) else None,
        )
    )
    return answer


async def read_text(model: Model, prompt: Sequence[BaseMessage], **options: Any) -> AnswerRead:
    """Ask the model for text that nobody follows. Raises whatever the model raises."""
    reading = AnswerRead()
    async with aclosing(model.astream(prompt, **options)) as chunks:  # type: ignore[type-var]  # as above
        async for chunk in chunks:
            reading.take(chunk)
    return reading


class AnswerRead:
    """What the chunks of one answer have said so far. ``taken``: ids of calls that are used."""

    def __init__(self, taken: Collection[str] = ()) -> None:
        self.message_id = str(uuid4())
        self.begun = False
        #: The model gave its reason to finish, and has said nothing since. What may still come
        #: is usage: an answer isn't broken by what breaks here.
        self.ended = False
        self.finish_reason: str | None = None
        #: None: the model hasn't told.
        self.input_tokens: int | None = None
        self.output_tokens: int | None = None
        #: The calls, known at the end.
        self.finished: list[FinishedCall] = []
        self._texts: list[str] = []
        self._filter = SurrogateFilter()
        self._calls = ToolCallStreamAccumulator(taken)
        self._size = 0
        self._chunks = 0

    @property
    def empty(self) -> bool:
        """Nothing was said at all, by the end: neither of an answer nor of what it cost."""
        known = (self._texts, self.finished, self.finish_reason, self.input_tokens)
        return not any(known)

    @property
    def text(self) -> str:
        """All of the text that was told."""
        return "".join(self._texts)

    def take(self, chunk: AIMessage) -> list[ev.CoreEvent]:
        """What a chunk tells, or a message sent whole. Raises ModelFailure if it is too much."""
        self.begun = True
        reasoning, text, calls = _reasoning(chunk), plain_text(chunk.content), _has_calls(chunk)
        self._chunks += 1
        self._size += len(reasoning) + len(text) + (_size(chunk) if calls else 0)
        if self._chunks > MAX_CHUNKS or self._size > MAX_ANSWER:
            raise ModelFailure(ENDLESS)
        if reasoning or text or calls:
            self.ended = False
        if chunk.response_metadata:
            self._take_finish_reason(chunk.response_metadata)
        if chunk.usage_metadata is not None:
            self._take_usage(chunk.usage_metadata)
        events: list[ev.CoreEvent] = []
        if reasoning:
            events.append(ev.ReasoningDelta(self.message_id, reasoning))
        if text := self._filter.feed(text):
            self._texts.append(text)
            events.append(ev.TextDelta(self.message_id, text))
        if calls:
            events += self._grown(self._calls.feed(chunk))
            if len(self._calls) > MAX_CALLS:
                raise ModelFailure(ENDLESS)
        return events

    def finish(self) -> list[ev.CoreEvent]:
        """What is left to be told when no chunk follows."""
        events: list[ev.CoreEvent] = []
        if text := self._filter.rest():
            self._texts.append(text)
            events.append(ev.TextDelta(self.message_id, text))
        growth, self.finished = self._calls.finish(self.finish_reason)
        return events + self._grown(growth)

    def _grown(self, calls: Iterable[CallGrowth]) -> list[ev.CoreEvent]:
        return [
            ev.CallDelta(self.message_id, call.call_id, call.name, call.arguments, call.complete)
            for call in calls
        ]

    def _take_finish_reason(self, metadata: Mapping[str, Any]) -> None:
        for key in ("finish_reason", "stop_reason"):
            reason = metadata.get(key)
            if isinstance(reason, str) and reason:
                self.finish_reason = without_surrogates(reason)[:MAX_FINISH_REASON]
                self.ended = True
                return

    def _take_usage(self, usage: UsageMetadata) -> None:
        """Count what a chunk tells of tokens.

        Input tokens that are told again make it a repeat or a running total, of which the most
        counts. Else a chunk's counts are its share, and add up, as LangChain's do.
        """
        told_in, told_out = _tokens(usage["input_tokens"]), _tokens(usage["output_tokens"])
        # What tells nothing but zeros was made of an answer that told nothing.
        if not (told_in or told_out):
            return
        known_in, known_out = self.input_tokens or 0, self.output_tokens or 0
        again = bool(told_in and known_in)
        self.input_tokens = max(known_in, told_in)
        self.output_tokens = max(known_out, told_out) if again else known_out + told_out


def says_something(message: AIMessage) -> bool:
    """Whether there is anything in a message to be stored."""
    return bool(message.content or message.tool_calls or message.invalid_tool_calls)


def _tokens(count: int) -> int:
    """A provider's count; 0, as if it told nothing, for what no answer can have used."""
    return count if 0 < count <= MAX_TOKENS else 0


def _size(chunk: AIMessage) -> int:
    """How many characters a chunk tells of calls."""
    pieces = getattr(chunk, "tool_call_chunks", None) or ()
    return sum(len(piece.get(part) or "") for piece in pieces for part in ("id", "name", "args"))


def _has_calls(chunk: AIMessage) -> bool:
    """Whether a chunk, or a message sent whole, says something of calls."""
    if isinstance(chunk, AIMessageChunk):
        return bool(chunk.tool_call_chunks)
    return bool(chunk.tool_calls or chunk.invalid_tool_calls)


def _reasoning(chunk: AIMessage) -> str:
    """The model's own reasoning in a chunk, in the two forms that LangChain knows."""
    text = chunk.additional_kwargs.get("reasoning_content") if chunk.additional_kwargs else None
    if isinstance(text, str):
        return text
    if isinstance(chunk.content, list):
        blocks = (b for b in chunk.content if isinstance(b, dict))
        return "".join(
            str(b.get("reasoning") or b.get("thinking") or "")
            for b in blocks
            if b.get("type") in {"reasoning", "thinking"}
        )
    return ""
