"""The agent's graph: llm_call → should_continue → tool_node → llm_call … → title_generator_node.

The nodes tell the run what happens by ``TurnContext.emit``, LangGraph's runtime context: it lives
for one turn and is never stored. What a node returns is the conversation's state.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypedDict, cast

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
)
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.runtime import Runtime  # noqa: TC002 - LangGraph reads the nodes' annotations

from copilot_core import events as ev
from copilot_core.context import get_current_llm_config
from copilot_core.context_window import ContextWindow, estimated_tokens, newest
from copilot_core.history import history_for_model
from copilot_core.llm.answer import read_text, says_something, stream_answer
from copilot_core.llm.failures import ModelFailure
from copilot_core.messages import calls_of, tool_message, with_ids
from copilot_core.prompt import ANSWER_NOW
from copilot_core.titles import clean_title, fallback_title, title_prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from langchain_core.language_models import BaseChatModel
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph

    from copilot_core.tools.execution import ToolSet

TITLE_SECONDS = 20.0
_TITLE_TOKENS = 60


def added(messages: list[Any], more: list[Any]) -> list[AnyMessage]:
    """LangGraph's ``add_messages``, but ids never change, those of messages without one either."""
    return cast("list[AnyMessage]", add_messages(with_ids(messages), more))


class ConversationState(TypedDict):
    """What LangGraph stores of a session."""

    messages: Annotated[list[AnyMessage], added]
    conversation_title: NotRequired[str | None]


@dataclass(slots=True)
class TurnContext:
    """What the nodes need for one turn. Holds the caller's secrets, so it is never stored."""

    emit: Callable[[ev.CoreEvent], None]
    model: BaseChatModel
    model_name: str
    #: What every conversation begins with: the system prompt, and worked examples.
    opening: Sequence[BaseMessage]
    tools: ToolSet
    #: How often the model may still call tools.
    tool_steps: int
    #: Whether a title is wanted: the session has none yet, and no user gave it one.
    wants_title: bool
    #: Ids of calls of this session: an id stands for one call.
    call_ids: set[str] = field(default_factory=set)
    #: Names and arguments of the calls of the step before.
    asked_before: list[Any] = field(default_factory=list)
    #: About how much of the history the provider takes, once it has refused more.
    history_tokens: int | None = None


class ToolStepsUsedUp(Exception):
    """The model was asked for an answer without tools, and gave none."""


def build_graph(
    checkpointer: BaseCheckpointSaver[Any] | None = None,
) -> CompiledStateGraph[ConversationState, TurnContext, ConversationState, ConversationState]:
    """The graph; with a checkpointer, over the project's file."""
    return (
        StateGraph(ConversationState, context_schema=TurnContext)
        .add_node("llm_call", llm_call)
        .add_node("tool_node", tool_node)
        .add_node("title_generator_node", title_generator_node)
        .add_edge(START, "llm_call")
        .add_conditional_edges("llm_call", should_continue)
        .add_edge("tool_node", "llm_call")
        .add_edge("title_generator_node", END)
        .compile(checkpointer=checkpointer)
    )


async def llm_call(state: ConversationState, runtime: Runtime[TurnContext]) -> dict[str, Any]:
    """Ask the model and stream its answer. The last time, without tools (A27)."""
    turn = runtime.context
    if not turn.call_ids:
        turn.call_ids.update(
            call["id"] or ""
            for message in state["messages"]
            if isinstance(message, AIMessage)
            for call in (*message.tool_calls, *message.invalid_tool_calls)
        )
    offered = turn.tools.offered if turn.tool_steps > 0 else []
    last = bool(turn.tools.offered) and not offered
    try:
        answer = await _ask(turn, history_for_model(state["messages"]), offered, last=last)
    except ModelFailure as failure:
        if last:
            raise ToolStepsUsedUp from failure
        raise
    calls = answer.tool_calls or answer.invalid_tool_calls
    if last and (calls or not answer.content):
        raise ToolStepsUsedUp
    if calls:
        # A model that asks the same again won't find more in the same answer.
        asked = [(call["name"], call["args"]) for call in calls]
        turn.tool_steps = 0 if asked == turn.asked_before else turn.tool_steps - 1
        turn.asked_before = asked
    return {"messages": [answer]} if says_something(answer) else {}


async def _ask(
    turn: TurnContext, history: list[BaseMessage], offered: list[dict[str, Any]], *, last: bool
) -> AIMessage:
    """Ask with as much of the history as the model's context window holds.

    If the provider still says that it is too long, and has said nothing else, it is asked again
    with half of the history, as long as there is something that can be left out. Raises
    ModelFailure: before any call, if the newest message alone is known not to fit.
    """
    closing = [HumanMessage(ANSWER_NOW)] if last else []
    window = ContextWindow.of(get_current_llm_config(), turn.model)
    if window is not None:
        fixed = estimated_tokens([*turn.opening, *closing], offered)
        room = window.prompt - fixed
        history = newest(history, room)
        if estimated_tokens(history) > room:
            raise ModelFailure(window.exceeded(fixed))
    if turn.history_tokens is not None:
        history = newest(history, turn.history_tokens)
    model = turn.model.bind_tools(offered) if offered else turn.model
    answering = False

    def emit(event: ev.CoreEvent) -> None:
        nonlocal answering
        answering = answering or not isinstance(event, ev.ModelCallStarted)
        turn.emit(event)

    while True:
        try:
            return await stream_answer(
                model,
                [*turn.opening, *history, *closing],
                name=turn.model_name,
                emit=emit,
                call_ids=turn.call_ids,
            )
        except ModelFailure as failure:
            if answering or failure.end.code != "context_window_exceeded":
                raise
            turn.history_tokens = estimated_tokens(history) // 2
            shorter = newest(history, turn.history_tokens)
            if len(shorter) == len(history):
                raise
            history = shorter


def should_continue(
    state: ConversationState,
) -> Literal["tool_node", "title_generator_node"]:
    """Whether the newest message calls tools."""
    last = state["messages"][-1]
    if isinstance(last, AIMessage) and (last.tool_calls or last.invalid_tool_calls):
        return "tool_node"
    return "title_generator_node"


async def tool_node(state: ConversationState, runtime: Runtime[TurnContext]) -> dict[str, Any]:
    """Answer every call of the newest message, at the same time; answers in order of arrival."""
    turn = runtime.context
    message = state["messages"][-1]
    answers: list[ToolMessage] = []

    async def answer(call_id: str, name: str, args: dict[str, Any] | None, wrong: str) -> None:
        outcome = await turn.tools.execute(name, args, wrong)
        told = tool_message(call_id, name, outcome)
        answers.append(told)
        turn.emit(
            ev.ToolEnded(call_id, name, outcome.text, outcome.status, outcome.original_size, told)
        )

    calls = calls_of(message)
    for call in calls:
        turn.emit(ev.ToolStarted(str(message.id), call.id, call.name))
    async with asyncio.TaskGroup() as group:
        for call in calls:
            group.create_task(answer(call.id, call.name, call.args, call.error or ""))
    return {"messages": answers}


async def title_generator_node(
    state: ConversationState, runtime: Runtime[TurnContext]
) -> dict[str, Any]:
    """Give the session a title after its first turn. Counted, never shown (A11, A20)."""
    turn = runtime.context
    if not turn.wants_title:
        return {}
    question = next((m.text for m in state["messages"] if isinstance(m, HumanMessage)), "")
    answer = next((m.text for m in reversed(state["messages"]) if isinstance(m, AIMessage)), "")
    turn.emit(ev.ModelCallStarted(turn.model_name))
    try:
        async with asyncio.timeout(TITLE_SECONDS):
            prompt = [HumanMessage(title_prompt(question, answer))]
            whole = await read_text(turn.model, prompt, max_tokens=_TITLE_TOKENS)
    except Exception:
        # A turn whose answer is complete isn't failed by a title.
        return {"conversation_title": fallback_title(question)}
    turn.emit(ev.ModelCallEnded(turn.model_name, whole.input_tokens, whole.output_tokens, None))
    title = clean_title(whole.text) or fallback_title(question)
    return {"conversation_title": title}
