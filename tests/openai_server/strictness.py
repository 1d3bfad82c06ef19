"""What a strict provider refuses in a chat completion request, and in which words."""

import json
import re
from typing import Any

ROLES = ("system", "developer", "user", "assistant", "tool")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class RefusedError(Exception):
    """400, with a sentence in the provider's manner."""


def check(body: Any) -> None:
    """Raises RefusedError for what the strict ones refuse: unanswered, orphaned or doubled tool
    results, arguments that aren't a JSON object, empty lists, unknown roles, values out of range.
    """
    if not isinstance(body, dict):
        raise RefusedError("We could not parse the JSON body of your request.")
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise RefusedError("you must provide a model parameter")
    _check_unicode(body)
    _check_settings(body)
    _check_tools(body)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise RefusedError("[] is too short - 'messages'")
    _check_messages(messages)


def _check_unicode(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise RefusedError(
            "Invalid unicode: a lone surrogate in the body of your request."
        ) from None


def _check_settings(body: dict[str, Any]) -> None:
    temperature = body.get("temperature")
    if temperature is not None and not (_is_number(temperature) and 0 <= temperature <= 2):
        raise RefusedError(f"Invalid 'temperature': {temperature!r} is not a number from 0 to 2.")
    for key in ("max_tokens", "max_completion_tokens"):
        value = body.get(key)
        if value is not None and not (type(value) is int and value >= 1):
            raise RefusedError(f"Invalid '{key}': {value!r} is not an integer of at least 1.")
    if body.get("stream_options") is not None and not body.get("stream"):
        raise RefusedError(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_tools(body: dict[str, Any]) -> None:
    tools = body.get("tools")
    if tools is None:
        for key in ("tool_choice", "parallel_tool_calls"):
            if body.get(key) is not None:
                raise RefusedError(f"'{key}' is only allowed when 'tools' are specified.")
        return
    if not isinstance(tools, list) or not tools:
        raise RefusedError("[] is too short - 'tools'")
    seen = set()
    for at, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or tool.get("type") != "function":
            raise RefusedError(f"Invalid 'tools[{at}]': expected an object of type 'function'.")
        name = function.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise RefusedError(
                f"Invalid 'tools[{at}].function.name': does not match '{_NAME.pattern}'."
            )
        if name in seen:
            raise RefusedError(f"Invalid 'tools': the name '{name}' is there twice.")
        seen.add(name)
        parameters = function.get("parameters", {"type": "object"})
        if not isinstance(parameters, dict) or parameters.get("type") != "object":
            raise RefusedError(f"Invalid schema for function '{name}': its type must be 'object'.")


def _check_messages(messages: list[Any]) -> None:
    pending: list[str] = []
    for at, message in enumerate(messages):
        where = f"messages[{at}]"
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ROLES:
            raise RefusedError(
                f"Invalid value: {role!r}. Supported values are: {ROLES} - '{where}.role'"
            )
        if role == "tool":
            _check_result(message, pending, where)
            continue
        if pending:
            raise RefusedError(_unanswered(pending))
        content = message.get("content")
        if role == "assistant":
            pending = _check_calls(message, where)
            if content is None and not pending:
                raise RefusedError(
                    f"Invalid value for 'content': expected a string, got null - '{where}'"
                )
        elif not isinstance(content, str | list):
            raise RefusedError(f"Invalid value for 'content': expected a string - '{where}'")
    if pending:
        raise RefusedError(_unanswered(pending))


def _unanswered(ids: list[str]) -> str:
    return (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: "
        + ", ".join(ids)
    )


def _check_result(message: dict[str, Any], pending: list[str], where: str) -> None:
    call_id = message.get("tool_call_id")
    if not isinstance(call_id, str) or not call_id:
        raise RefusedError(f"Missing required parameter: '{where}.tool_call_id'.")
    if call_id not in pending:
        raise RefusedError(
            "messages with role 'tool' must be a response to a preceding message with 'tool_calls' "
            f"- '{where}'"
        )
    if not isinstance(message.get("content"), str | list):
        raise RefusedError(f"Invalid value for 'content': expected a string - '{where}'")
    pending.remove(call_id)


def _check_calls(message: dict[str, Any], where: str) -> list[str]:
    calls = message.get("tool_calls")
    if calls is None:
        return []
    if not isinstance(calls, list) or not calls:
        raise RefusedError(f"[] is too short - '{where}.tool_calls'")
    ids: list[str] = []
    for at, call in enumerate(calls):
        place = f"{where}.tool_calls[{at}]"
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or call.get("type") != "function":
            raise RefusedError(f"Invalid '{place}': expected an object of type 'function'.")
        if not isinstance(call.get("id"), str) or not call["id"] or call["id"] in ids:
            raise RefusedError(f"Invalid '{place}.id': expected a string of its own.")
        if not isinstance(function.get("name"), str) or not _NAME.fullmatch(function["name"]):
            raise RefusedError(
                f"Invalid '{place}.function.name': does not match '{_NAME.pattern}'."
            )
        try:
            arguments = json.loads(function["arguments"])
        except (KeyError, TypeError, ValueError):
            arguments = None
        if not isinstance(arguments, dict):
            raise RefusedError(f"Invalid '{place}.function.arguments': expected a JSON object.")
        ids.append(call["id"])
    return ids
