"""One answer of a model, read as it streams: text, reasoning, calls, usage and its end."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain_core.messages import AIMessage, AIMessageChunk

from copilot_core import events as ev
from copilot_core.llm.failures import NO_ANSWER, ModelFailure, model_failure
from copilot_core.messages import assistant_message
from copilot_core.text import SurrogateFilter, plain_text, without_surrogates
from copilot_core.tool_calls import ToolCallStreamAccumulator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from langchain_core.language_models import LanguageModelInput
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import Runnable

    Model = Runnable[LanguageModelInput, AIMessage]

#: Characters after which a model's answer is stopped: text, reasoning and arguments; a chunk
#: counts as one more.
MAX_ANSWER = 1_000_000
#: More than any context window; what is beyond isn't a count of tokens.
MAX_TOKENS = 2**40
_ENDLESS = ev.TurnFailed(
    "llm_unavailable",
    f"The model did not come to an end: its answer was stopped after {MAX_ANSWER} characters.",
    retryable=True,
)


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
    message_id = str(uuid4())
    calls = ToolCallStreamAccumulator(call_ids)
    whole, filtered = AnswerRead(), SurrogateFilter()
    emit(ev.ModelCallStarted(name))
    try:
        async with aclosing(model.astream(prompt)) as chunks:  # type: ignore[type-var]  # it is an async generator, annotated as an iterator
            async for chunk in chunks:
                whole.take(chunk)
                if whole.size > MAX_ANSWER:
                    raise ModelFailure(_ENDLESS)
                if reasoning := _reasoning(chunk):
                    emit(ev.ReasoningDelta(message_id, reasoning))
                if text := filtered.feed(plain_text(chunk.content)):
                    whole.text.append(text)
                    emit(ev.TextDelta(message_id, text))
                whole.size += 1 + len(reasoning) + len(text)
                if _has_calls(chunk):
                    whole.size += _arguments(chunk)
                    for growth in calls.feed(chunk):
                        emit(
                            ev.CallDelta(
                                message_id,
                                growth.call_id,
                                growth.name,
                                growth.arguments,
                                growth.complete,
                            )
                        )
    except ModelFailure:
        raise
    except Exception as error:
        raise ModelFailure(model_failure(error, streaming=whole.begun)) from error
    if not whole.begun:
        raise ModelFailure(NO_ANSWER)
    if text := filtered.rest():
        whole.text.append(text)
        emit(ev.TextDelta(message_id, text))
    last_growth, finished = calls.finish(whole.finish_reason)
    for growth in last_growth:
        emit(
            ev.CallDelta(message_id, growth.call_id, growth.name, growth.arguments, growth.complete)
        )
    call_ids.update(call.id for call in finished)
    answer = assistant_message(
        message_id, "".join(whole.text), finished, model=name, finish_reason=whole.finish_reason
    )
    emit(
        ev.ModelCallEnded(
            name,
            whole.input_tokens,
            whole.output_tokens,
            answer if says_something(answer) else None,
        )
    )
    return answer


async def read_text(model: Model, prompt: Sequence[BaseMessage], **options: Any) -> AnswerRead:
    """Ask the model for text that nobody follows. Raises whatever the model raises."""
    whole = AnswerRead()
    async with aclosing(model.astream(prompt, **options)) as chunks:  # type: ignore[type-var]  # as above
        async for chunk in chunks:
            whole.take(chunk)
            whole.text.append(plain_text(chunk.content))
    return whole


class AnswerRead:
    """What the chunks of one answer have said so far, beside its calls."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.size = 0
        self.begun = False
        self.finish_reason: str | None = None
        #: None: the model hasn't told.
        self.input_tokens: int | None = None
        self.output_tokens: int | None = None

    def take(self, chunk: AIMessage) -> None:
        """Read a chunk's finish reason and usage."""
        self.begun = True
        for key in ("finish_reason", "stop_reason"):
            reason = chunk.response_metadata.get(key)
            if isinstance(reason, str) and reason:
                self.finish_reason = without_surrogates(reason)
                break
        usage = chunk.usage_metadata
        if usage is None:
            return
        told_in, told_out = _tokens(usage["input_tokens"]), _tokens(usage["output_tokens"])
        # What tells nothing but zeros was made of an answer that told nothing.
        if told_in or told_out:
            # Repeated whole, or split over chunks: in both cases the most is the call's.
            self.input_tokens = max(self.input_tokens or 0, told_in)
            self.output_tokens = max(self.output_tokens or 0, told_out)


def says_something(message: AIMessage) -> bool:
    """Whether there is anything in a message to be stored."""
    return bool(message.content or message.tool_calls or message.invalid_tool_calls)


def _tokens(count: int) -> int:
    """A provider's count; 0, as if it told nothing, for what no answer can have used."""
    return count if 0 < count <= MAX_TOKENS else 0


def _has_calls(chunk: AIMessage) -> bool:
    """Whether a chunk, or a message sent whole, says something of calls."""
    if isinstance(chunk, AIMessageChunk):
        return bool(chunk.tool_call_chunks)
    return bool(chunk.tool_calls or chunk.invalid_tool_calls)


def _arguments(chunk: AIMessage) -> int:
    """How many characters of arguments a chunk brings."""
    pieces = getattr(chunk, "tool_call_chunks", None) or ()
    return sum(len(piece.get("args") or "") for piece in pieces)


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
