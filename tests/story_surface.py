"""A surface of a user's own: named framing, blocks, a counter, keyed pairs, a placeholder."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Files = Mapping[str, Any]


def obj(**properties: Any) -> dict[str, Any]:
    """A closed object schema; a key that ends with `_` is optional."""
    return {
        "type": "object",
        "required": [key for key in properties if not key.endswith("_")],
        "additionalProperties": False,
        "properties": {key.rstrip("_"): schema for key, schema in properties.items()},
    }


TEXT = {"type": "string"}
INDEX = {"type": "integer", "minimum": 0}

STORY_EVENTS = {
    "metadata": obj(request_id=TEXT),
    "thinking_start": obj(request_id_=TEXT),
    "thinking": obj(text=TEXT, step_index=INDEX),
    "thinking_end": obj(summary=TEXT),
    "call": obj(id=TEXT, arguments=TEXT, complete_={"type": "boolean"}),
    "call_start": obj(call=obj(id=TEXT)),
    "call_end": obj(call=obj(id=TEXT), output=TEXT),
    "chunk": obj(content=TEXT),
    "ping": obj(),
    "complete": obj(response=TEXT, request_id=TEXT),
    "error": obj(error=TEXT),
}

STORY_ORDER = {
    "first": ["metadata"],
    "last": ["complete", "error"],
    "anytime": ["ping"],
    "pairs": [
        {"start": "thinking_start", "end": "thinking_end", "inside": ["thinking"]},
        {"start": "call_start", "end": "call_end", "key": "/call/id"},
    ],
    "repeats": [
        {
            "event": "call",
            "key": "/id",
            "final": "/complete",
            "then": {"event": "call_start", "key": "/call/id"},
        }
    ],
    "counts": [{"event": "thinking", "key": "/step_index"}],
}


def story(order: Mapping[str, Any] = STORY_ORDER, **changes: Any) -> dict[str, Any]:
    """The files of the surface `story`; `changes` replace parts of its catalogue."""
    events = {
        name: {"schema": f"events/{name}.json", "status": "active"} for name in STORY_EVENTS
    } | {"suggestions": {"status": "placeholder"}}
    return {
        "surface.json": {
            "name": "story",
            "version": "0.1.0",
            "title": "Story",
            "description": "A user's own surface.",
            "sse": {"framing": "named"},
            "events": events,
            "order": order,
            **changes,
        },
        **{
            f"events/{name}.json": deepcopy({"$schema": DIALECT, "title": name.title(), **schema})
            for name, schema in STORY_EVENTS.items()
        },
    }
