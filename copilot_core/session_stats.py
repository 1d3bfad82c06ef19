"""The figures of a session beside its counters: ``SessionStats`` of the surface, and its sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from copilot_core.ports import JsonObject
    from copilot_core.turn import TurnRecord

#: Tools that are counted by their names; what a model calls besides is counted as `OTHERS`.
MOST_NAMES = 100
OTHERS = "(others)"

_LAST_TURN: Mapping[str, type | tuple[type, ...]] = {
    "temperature": (int, float),
    "max_tokens": int,
}


def turn_stats(
    record: TurnRecord, *, status: str, temperature: float | None, max_tokens: int | None
) -> JsonObject:
    """The figures of one turn. ``temperature`` and ``max_tokens`` are the request's overrides."""
    last_turn: JsonObject = {"status": status, "duration_ms": record.duration_ms}
    if temperature is not None:
        last_turn["temperature"] = temperature
    if max_tokens is not None:
        last_turn["max_tokens"] = max_tokens
    return {
        "context_tokens": record.context_tokens,
        "unknown_usage_calls": sum(model.unknown for model in record.models.values()),
        "turns": 1,
        "duration_ms": record.duration_ms,
        "models": {
            name: {
                "llm_calls": model.llm_calls,
                "input_tokens": model.input_tokens,
                "output_tokens": model.output_tokens,
            }
            for name, model in record.models.items()
        },
        "tool_calls": dict(record.tool_calls),
        "last_turn": last_turn,
    }


def session_stats(stored: Any) -> JsonObject:
    """``SessionStats`` from what a file holds: what is missing or wrong is zero, or unknown."""
    stored = _object(stored)
    stats: JsonObject = {
        "context_tokens": _known(stored.get("context_tokens")),
        "unknown_usage_calls": count(stored.get("unknown_usage_calls")),
        "turns": count(stored.get("turns")),
        "duration_ms": count(stored.get("duration_ms")),
        "models": {
            name: {
                "llm_calls": count(_object(model).get("llm_calls")),
                "input_tokens": _known(_object(model).get("input_tokens")),
                "output_tokens": _known(_object(model).get("output_tokens")),
            }
            for name, model in _object(stored.get("models")).items()
        },
        "tool_calls": {
            name: count(calls) for name, calls in _object(stored.get("tool_calls")).items()
        },
    }
    last_turn = _object(stored.get("last_turn"))
    if last_turn.get("status") in ("done", "error", "abort"):
        stats["last_turn"] = {
            "status": last_turn["status"],
            "duration_ms": count(last_turn.get("duration_ms")),
            **{
                key: last_turn[key]
                for key, kind in _LAST_TURN.items()
                if isinstance(last_turn.get(key), kind) and last_turn[key] is not True
            },
        }
    return stats


def added(stats: JsonObject, turn: JsonObject) -> JsonObject:
    """The figures of a session after one more turn. Unknown and known add up to known."""
    models = {name: dict(model) for name, model in stats["models"].items()}
    for name, model in turn["models"].items():
        so_far = models.get(name, {"llm_calls": 0, "input_tokens": None, "output_tokens": None})
        models[name] = {key: _sum(so_far[key], model[key]) for key in so_far}
    tool_calls = dict(stats["tool_calls"])
    for name, calls in turn["tool_calls"].items():
        # A model may make up names without an end.
        kept = name if name in tool_calls or len(tool_calls) < MOST_NAMES else OTHERS
        tool_calls[kept] = tool_calls.get(kept, 0) + calls
    # A turn that never reached the model says nothing of the context.
    newest = turn if turn["models"] else stats
    return {
        "context_tokens": newest["context_tokens"],
        "unknown_usage_calls": stats["unknown_usage_calls"] + turn["unknown_usage_calls"],
        "turns": stats["turns"] + turn["turns"],
        "duration_ms": stats["duration_ms"] + turn["duration_ms"],
        "models": models,
        "tool_calls": tool_calls,
        "last_turn": turn["last_turn"],
    }


def count(value: Any) -> int:
    """``value`` if it can be a count, else 0."""
    return _known(value) or 0


def _known(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _sum(one: int | None, other: int | None) -> int | None:
    return one if other is None else (one or 0) + other


def _object(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}
