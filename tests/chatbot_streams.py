"""Streams of the chatbot surface, made of the examples of its events."""

from typing import Any

from copilot_contracts import Registry

CHATBOT = Registry.bundled().surface("chatbot")
ID = "4f1d2a7c9b3e"

Event = dict[str, Any]


def event(name: str, index: int = 0, **changes: Any) -> Event:
    data = {**CHATBOT.contract("event", name).schema["examples"][index], **changes}
    return {"event": name, "data": {**data, "request_id": ID}}


def block(first: int, steps: int, **changes: Any) -> list[Event]:
    thinking = [event("thinking", 1, step_index=first + n, **changes) for n in range(steps)]
    return [event("thinking_start", 1), *thinking, event("thinking_end", 1)]


def chunks(first: int, count: int) -> list[Event]:
    return [event("chunk", chunk_index=first + n) for n in range(count)]


def multi() -> list[Event]:
    trains = [event("thinking", step_index=n, trajectory_id=f"agent-{n % 4}") for n in range(8)]
    return [event("thinking_start"), *trains, event("thinking_end")]


METADATA, COMPLETE, ERROR = event("metadata"), event("complete"), event("error")
TURN = [METADATA, *block(0, 2), *chunks(0, 2), COMPLETE]

GOOD = {
    "instant": [METADATA, *chunks(0, 3), COMPLETE],
    "think": TURN,
    "multi-thinking": [METADATA, *multi(), *chunks(0, 2), COMPLETE],
    "thinks twice, with an answer between": [
        METADATA,
        *block(0, 2),
        *chunks(0, 1),
        *block(2, 3),
        *chunks(1, 1),
        COMPLETE,
    ],
    "thinks nothing": [METADATA, *block(0, 0), *chunks(0, 1), COMPLETE],
    "without a chunk": [METADATA, event("complete", 1)],
    "fails at once": [METADATA, ERROR],
    "fails while it answers": [METADATA, *chunks(0, 1), ERROR],
    "without the optional id": [
        {"event": one["event"], "data": {k: v for k, v in one["data"].items() if k != "request_id"}}
        for one in (METADATA, *chunks(0, 1))
    ]
    + [COMPLETE],
}
