"""Messages as LangChain holds them, and as the wire shows them.

What a LangChain message has no field for is kept in its ``additional_kwargs``, which providers
don't send: ``created_at``, ``metadata`` (the wire's ``MessageMetadata``) and
``openai_tool_calls``, the calls as the model wrote them, so that history shows the same argument
strings, valid or not, in the same order as the stream did. ``user_message``,
``assistant_message`` and ``tool_message`` make such messages, with an id: an id that a message
has before it is stored never changes (decision A21).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload
from uuid import UUID, uuid4, uuid5

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import invalid_tool_call, tool_call

from copilot_core import timestamps
from copilot_core.message_content import content_text, json_text
from copilot_core.text import without_surrogates
from copilot_core.tool_calls import FinishedCall, finished_call

if TYPE_CHECKING:
    from copilot_core.ports import JsonObject
    from copilot_core.tools.execution import ToolOutcome

#: When a message of an older file was made whose time nobody wrote down.
UNDATED = "1970-01-01T00:00:00Z"

_ROLES: dict[str, type[BaseMessage]] = {
    "user": HumanMessage,
    "assistant": AIMessage,
    "system": SystemMessage,
    "tool": ToolMessage,
}
_STATUSES = frozenset({"success", "error", "blocked", "aborted"})
_METADATA: dict[str, Callable[[Any], bool]] = {
    "interrupted": lambda value: value is True,
    "status": lambda value: isinstance(value, str) and value in _STATUSES,
    "truncated": lambda value: value is True,
    "original_size": lambda value: type(value) is int and value >= 0,
    "model": lambda value: isinstance(value, str),
    "finish_reason": lambda value: isinstance(value, str),
}
_DERIVED_IDS = UUID("5f7f5a0c-9a55-4c37-9be1-4f6f2a1de6b0")


# -- making ------------------------------------------------------------------------------


def user_message(text: str) -> HumanMessage:
    """A message of the user, made now."""
    return HumanMessage(
        without_surrogates(text),
        id=str(uuid4()),
        additional_kwargs={"created_at": timestamps.now()},
    )


def assistant_message(
    message_id: str,
    text: str,
    calls: Sequence[FinishedCall] = (),
    *,
    model: str,
    finish_reason: str | None = None,
    interrupted: bool = False,
) -> AIMessage:
    """A message of the model, made now: what it said, and the calls that it finished."""
    metadata: JsonObject = {"model": model}
    if finish_reason:
        metadata["finish_reason"] = finish_reason
    if interrupted:
        metadata["interrupted"] = True
    kept: JsonObject = {"created_at": timestamps.now(), "metadata": metadata}
    return _with_calls(
        AIMessage(without_surrogates(text), id=message_id, additional_kwargs=kept), calls
    )


def tool_message(call_id: str, name: str, outcome: ToolOutcome) -> ToolMessage:
    """The answer to a call, made now."""
    kept: JsonObject = {"created_at": timestamps.now()}
    metadata: JsonObject = {}
    if outcome.status != "success":
        metadata["status"] = outcome.status
    if outcome.original_size is not None:
        metadata |= {"truncated": True, "original_size": outcome.original_size}
    if metadata:
        kept["metadata"] = metadata
    return ToolMessage(
        without_surrogates(outcome.text),
        id=str(uuid4()),
        tool_call_id=call_id,
        name=name,
        status="success" if outcome.status == "success" else "error",
        additional_kwargs=kept,
    )


# -- to the wire and back ----------------------------------------------------------------


@overload
def convert_langchain_to_openai(messages: BaseMessage, *, undated: str = UNDATED) -> JsonObject: ...
@overload
def convert_langchain_to_openai(
    messages: Sequence[BaseMessage], *, undated: str = UNDATED
) -> list[JsonObject]: ...
def convert_langchain_to_openai(
    messages: BaseMessage | Sequence[BaseMessage], *, undated: str = UNDATED
) -> JsonObject | list[JsonObject]:
    """A message, or each of a list, as an ``OpenAIMessage``.

    A message without an id gets one that follows from its content and its place in the list, so
    it is the same at every read. ``undated`` is the ``created_at`` of messages that hold none.
    Raises ``ValueError`` for a kind of message that the wire doesn't have.
    """
    if isinstance(messages, BaseMessage):
        return _to_openai(messages, 0, undated)
    return [_to_openai(message, place, undated) for place, message in enumerate(messages)]


@overload
def convert_openai_to_langchain(messages: Mapping[str, Any]) -> BaseMessage: ...
@overload
def convert_openai_to_langchain(messages: Sequence[Mapping[str, Any]]) -> list[BaseMessage]: ...
def convert_openai_to_langchain(
    messages: Mapping[str, Any] | Sequence[Mapping[str, Any]],
) -> BaseMessage | list[BaseMessage]:
    """The inverse of ``convert_langchain_to_openai``; takes arguments as an object, too.

    Raises ``ValueError``, with a sentence, for what isn't a message.
    """
    if isinstance(messages, Mapping):
        return _to_langchain(messages)
    return [_to_langchain(message) for message in messages]


def with_ids(messages: Sequence[Any]) -> list[Any]:
    """All of a conversation's messages, each with the id that the wire shows for it.

    For an older file's: to be given before more are added, as LangGraph would make up ids then.
    """
    return [
        message.model_copy(update={"id": _id(message, place)})
        if isinstance(message, BaseMessage) and not message.id
        else message
        for place, message in enumerate(messages)
    ]


def _role(message: BaseMessage) -> str | None:
    return next((role for role, kind in _ROLES.items() if isinstance(message, kind)), None)


def _id(message: BaseMessage, place: int) -> str:
    if message.id:
        return without_surrogates(message.id)
    return str(_derived_id(place, _role(message), content_text(message.content)))


def _to_openai(message: BaseMessage, place: int, undated: str) -> JsonObject:
    role = _role(message)
    if role is None:
        raise ValueError(f"A message of type {message.type} has no form on the wire.")
    kept = message.additional_kwargs
    message_id = _id(message, place)
    converted: JsonObject = {
        "id": message_id,
        "role": role,
        "content": content_text(message.content),
        "created_at": timestamps.as_utc(kept.get("created_at")) or undated,
    }
    if message.name is not None:
        converted["name"] = without_surrogates(message.name)
    if isinstance(message, ToolMessage):
        converted["tool_call_id"] = without_surrogates(message.tool_call_id) or f"call_{message_id}"
    if calls := _calls(message, message_id):
        converted["tool_calls"] = [_as_written(call) for call in calls]
    metadata = kept["metadata"] if "metadata" in kept else _observed(message)
    if metadata is not None:
        converted["metadata"] = dict(metadata)
    return converted


def _observed(message: BaseMessage) -> JsonObject | None:
    """Metadata of a message that we didn't make; None if there is nothing to say."""
    if isinstance(message, ToolMessage):
        return {"status": "error"} if message.status == "error" else None
    told = {
        "model": message.response_metadata.get("model_name"),
        "finish_reason": message.response_metadata.get("finish_reason"),
    }
    return {key: value for key, value in told.items() if isinstance(value, str)} or None


def _to_langchain(message: Mapping[str, Any]) -> BaseMessage:
    role = message.get("role")
    kind = _ROLES.get(role) if isinstance(role, str) else None
    if kind is None:
        raise ValueError(f"A message's role must be one of {', '.join(_ROLES)}.")
    metadata = message.get("metadata")
    kept: JsonObject = {}
    if created_at := timestamps.as_utc(message.get("created_at")):
        kept["created_at"] = created_at
    if isinstance(metadata, Mapping):
        kept["metadata"] = {
            key: without_surrogates(value) if isinstance(value, str) else value
            for key, value in metadata.items()
            if key in _METADATA and _METADATA[key](value)
        }
    fields: JsonObject = {
        "content": content_text(message.get("content")),
        "id": _text(message.get("id")) or None,
        "name": _text(message.get("name")),
        "additional_kwargs": kept,
    }
    if kind is ToolMessage:
        call_id = _text(message.get("tool_call_id"))
        if not call_id:
            raise ValueError("A tool message must name the call that it answers in tool_call_id.")
        status = kept.get("metadata", {}).get("status", "success")
        fields["tool_call_id"] = call_id
        fields["status"] = "success" if status == "success" else "error"
    if kind is AIMessage:
        return _with_calls(AIMessage(**fields), _read_calls(message.get("tool_calls")))
    return kind(**fields)


def _text(value: Any) -> str | None:
    return without_surrogates(value) if isinstance(value, str) else None


# -- calls -------------------------------------------------------------------------------


def calls_of(message: BaseMessage) -> list[FinishedCall]:
    """A message's calls, valid and invalid, in the order in which the model made them."""
    return _calls(message, str(message.id))


def _calls(message: BaseMessage, message_id: str) -> list[FinishedCall]:
    """A message's calls as the model wrote them, else as LangChain's fields tell them."""
    if not isinstance(message, AIMessage):
        return []
    known = [
        *((call, json_text(call["args"])) for call in message.tool_calls),
        *((call, call["args"]) for call in message.invalid_tool_calls),
    ]
    errors = {call["id"]: call["error"] for call in message.invalid_tool_calls}
    written = message.additional_kwargs.get("openai_tool_calls") or ()
    if len(written) != len(known):
        written = [
            {"id": call["id"], "function": {"name": call["name"], "arguments": arguments}}
            for call, arguments in known
        ]
    return [
        finished_call(
            _text(call["id"]) or f"call_{_derived_id(message_id, place).hex}",
            _text(call["function"]["name"]) or "",
            _text(call["function"]["arguments"]) or "",
            errors.get(call["id"]),
        )
        for place, call in enumerate(written)
    ]


def _with_calls(message: AIMessage, calls: Sequence[FinishedCall]) -> AIMessage:
    if not calls:
        return message
    kept = message.additional_kwargs | {"openai_tool_calls": [_as_written(call) for call in calls]}
    return message.model_copy(update={"additional_kwargs": kept, **_call_fields(calls)})


def _call_fields(calls: Sequence[FinishedCall]) -> JsonObject:
    """LangChain's two fields of an assistant message."""
    return {
        "tool_calls": [
            tool_call(id=call.id, name=call.name, args=call.args)
            for call in calls
            if call.args is not None
        ],
        "invalid_tool_calls": [
            invalid_tool_call(id=call.id, name=call.name, args=call.arguments, error=call.error)
            for call in calls
            if call.args is None
        ],
    }


def _as_written(call: FinishedCall) -> JsonObject:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _read_calls(calls: Any) -> list[FinishedCall]:
    if calls is None:
        return []
    if not isinstance(calls, list):
        raise ValueError("A message's tool_calls must be a list.")
    return [_read_call(call, place) for place, call in enumerate(calls)]


def _read_call(call: Any, place: int) -> FinishedCall:
    function = call.get("function") if isinstance(call, Mapping) else None
    name = _text(function.get("name")) if isinstance(function, Mapping) else None
    if function is None or name is None:
        raise ValueError(f"tool_calls[{place}] must have a function with a name.")
    arguments = function.get("arguments")
    if not isinstance(arguments, str | Mapping | None):
        raise ValueError(f"tool_calls[{place}].function.arguments must be text or an object.")
    call_id = _text(call.get("id")) or f"call_{uuid4().hex}"
    return finished_call(call_id, name, content_text(arguments))


def _derived_id(*facts: object) -> UUID:
    return uuid5(_DERIVED_IDS, repr(facts))
