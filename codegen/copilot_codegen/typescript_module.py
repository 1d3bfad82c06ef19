"""TypeScript types of a surface, by json-schema-to-typescript, and the reader of its events."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .bundle import Bundle, Schema, is_closed_tuple
from .node import run_node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["generate_typescript"]


def generate_typescript(bundle: Bundle, progress: Callable[[str], None]) -> str:
    """The text, without header, of the surface's TypeScript module."""
    after = [_routes(bundle), _tools(bundle), _mcp_tools(bundle)]
    if bundle.events:
        after.append(_reader(bundle))
    document = {
        "schemas": {title: _marked(schema) for title, schema in bundle.schemas.items()},
        "before": _comment(f"{bundle.title}: {bundle.description}\n\n@module"),
        "after": "\n\n".join(filter(None, after)),
    }
    return run_node(json.dumps(document, ensure_ascii=True), progress)


def _marked(schema: Schema) -> Schema:
    """The schema, with `closed` in its closed tuples."""
    result = dict(schema)
    if "prefixItems" in result:
        result["closed"] = is_closed_tuple(result)
    if "properties" in result:
        result["properties"] = {key: _marked(part) for key, part in result["properties"].items()}
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if keyword in result:
            result[keyword] = [_marked(part) for part in result[keyword]]
    for keyword in ("items", "additionalProperties"):
        if isinstance(result.get(keyword), dict):
            result[keyword] = _marked(result[keyword])
    return result


def _routes(bundle: Bundle) -> str:
    routes: dict[str, dict[str, str]] = {}
    for (kind, name), title in bundle.contracts.items():
        route, _, status = name.partition(":")
        if kind in ("request", "query"):
            routes.setdefault(route, {})[kind] = title
        elif kind == "response":
            responses = routes.setdefault(route, {})
            responses["responses"] = f"{responses.get('responses', '')}{status}: {title}; "
    members = []
    for route, parts in routes.items():
        if "responses" in parts:
            parts["responses"] = f"{{ {parts['responses']}}}"
        members.append((route, "{ " + "; ".join(f"{k}: {v}" for k, v in parts.items()) + " }"))
    return _interface("Routes", "What each route takes and answers, by status.", members)


def _tools(bundle: Bundle) -> str:
    return _tool_map(bundle, "tool", "Tools", "What each tool takes and returns.")


def _mcp_tools(bundle: Bundle) -> str:
    return _tool_map(bundle, "mcp", "McpTools", "What each MCP tool takes and returns.")


def _tool_map(bundle: Bundle, group: str, name: str, description: str) -> str:
    members = [
        (tool, f"{{ arguments: {title}; returns: {bundle.contracts[f'{group}_return', tool]} }}")
        for (kind, tool), title in bundle.contracts.items()
        if kind == f"{group}_arguments"
    ]
    return _interface(name, description, members)


def _interface(name: str, description: str, members: Iterable[tuple[str, str]]) -> str:
    body = "\n".join(f"{json.dumps(key)}: {type_};" for key, type_ in members)
    return f"{_comment(description)}\nexport interface {name} {{\n{body}\n}}" if body else ""


def _reader(bundle: Bundle) -> str:
    required = [
        f"{json.dumps(name)}: {json.dumps(_required(bundle, title))},"
        for name, title in bundle.events.items()
    ]
    if bundle.tag is None:
        message = "{ readonly event: string; readonly data: string }"
        name = "message.event"
        event = "{ event: name, data }"
        doc = "The name is the message's; the data must be JSON."
    else:
        message = "{ readonly data: string }"
        name = f"keys[{json.dumps(bundle.tag)}]"
        event = "data"
        doc = "The data must be a JSON object that names the event."
    return f"""
/** Every event's name, with the keys that its data always has. */
export const EVENTS = {{
  {"".join(required)}
}} as const;

export type EventName = keyof typeof EVENTS;

/** An event that this module doesn't know: skip it. */
export interface UnknownEvent {{
  known: false;
  name: string;
  data: unknown;
}}

export type ReadResult = {{ known: true; event: Event }} | UnknownEvent;

/**
 * The event in one message of the stream.
 *
 * {doc}
 * Undeclared keys are left alone. Throws SyntaxError when the data isn't JSON, TypeError when it
 * names no event, or lacks a key that its event always has.
 */
export function readEvent(message: {message}): ReadResult {{
  const data: unknown = JSON.parse(message.data);
  const keys = typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {{}};
  const name: unknown = {name};
  if (typeof name !== "string") {{
    throw new TypeError("A message of the stream names no event.");
  }}
  if (!has(EVENTS, name)) return {{ known: false, name, data }};
  for (const key of EVENTS[name as EventName]) {{
    if (!has(keys, key)) {{
      throw new TypeError(`The event ${{name}} lacks its key ${{key}}.`);
    }}
  }}
  return {{ known: true, event: {event} as Event }};
}}

/** As Object.hasOwn, which compilers that aim at less than ES2022 don't know. */
function has(object: object, key: string): boolean {{
  return Object.prototype.hasOwnProperty.call(object, key);
}}
"""


def _required(bundle: Bundle, title: str) -> list[str]:
    """The keys that an event's data always has."""
    schema = bundle.schemas[title]
    if bundle.tag is None:
        schema = schema["properties"]["data"]
    while "$ref" in schema:
        schema = bundle.schemas[schema["$ref"].rpartition("/")[2]]
    return list(schema.get("required", ()))


def _comment(text: str) -> str:
    lines = text.replace("*/", "*\\/").splitlines()
    return "\n".join(["/**", *(f" * {line}".rstrip() for line in lines), " */"])
