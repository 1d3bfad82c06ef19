"""What the scripted model says: turns, made of steps, built by small constructors.

`text("Hello") + call("start_gns3_node", {"node_ids": ["1"]})` is one answer; the call's index
follows those before it. `.paced(0.01)`, `.cut(after=2)`, `.hang(after=2)`, `.until(event, after=2)`
change how it is sent; `after` counts the steps that have been sent before.
"""

import copy
import itertools
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Json = dict[str, Any]


@dataclass(frozen=True)
class Delta:
    """The `delta` of the one choice of a chunk."""

    body: Json


@dataclass(frozen=True)
class Chunk:
    """A whole chunk, sent as it is."""

    body: Json


@dataclass(frozen=True)
class Raw:
    """Bytes of the body, sent as they are (a broken `data:` line, a comment, ...)."""

    body: bytes


@dataclass(frozen=True)
class Forever:
    """Bytes of the body, sent again and again until the client leaves."""

    body: bytes


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Until:
    """Nothing more is sent until the test sets `event`."""

    event: threading.Event


@dataclass(frozen=True)
class Break:
    """hang: silent until the client leaves; cut: the connection is closed in the middle of the
    body; reset: likewise, by a TCP reset. In place of an answer: before its first byte."""

    kind: Literal["hang", "cut", "reset"]


HANG = Break("hang")
CUT = Break("cut")
RESET = Break("reset")

Step = Delta | Chunk | Raw | Forever | Pause | Until | Break


@dataclass(frozen=True)
class Usage:
    """Token counts of one answer, and how they are told while streaming.

    last: one last chunk with empty `choices`, if `stream_options.include_usage` asks for it, as
    OpenAI does. always: likewise, asked for or not. each: every chunk carries its share, and the
    shares add up. cumulative: every chunk carries the running total. absent: never told.
    """

    prompt: int = 11
    completion: int = 7
    told: Literal["last", "always", "each", "cumulative", "absent"] = "last"
    details: Json = field(default_factory=dict)

    def body(self, prompt: int | None = None, completion: int | None = None) -> Json:
        prompt = self.prompt if prompt is None else prompt
        completion = self.completion if completion is None else completion
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            **self.details,
        }


@dataclass(frozen=True)
class Turn:
    """One answer of the model. `done`: whether `data: [DONE]` ends the stream."""

    steps: tuple[Step, ...]
    finish: str | None = "stop"
    usage: Usage = Usage()
    done: bool = True

    def __add__(self, other: "Turn") -> "Turn":
        shift = 1 + max(_indexes(self), default=-1)
        return replace(other, steps=self.steps + _shifted(other, shift).steps)

    def paced(self, seconds: float) -> "Turn":
        """Waits `seconds` before every step."""
        pairs = ((Pause(seconds), step) for step in self.steps)
        return replace(self, steps=tuple(itertools.chain.from_iterable(pairs)))

    def insert(self, step: Step, after: int | None = None) -> "Turn":
        """`step` behind the first `after` steps; behind all of them when `after` is None."""
        at = len(self.steps) if after is None else after
        return replace(self, steps=(*self.steps[:at], step, *self.steps[at:]))

    def pause(self, seconds: float, after: int | None = None) -> "Turn":
        return self.insert(Pause(seconds), after)

    def until(self, event: threading.Event, after: int | None = None) -> "Turn":
        return self.insert(Until(event), after)

    def hang(self, after: int | None = None) -> "Turn":
        return self.insert(HANG, after)

    def cut(self, after: int | None = None) -> "Turn":
        return self.insert(CUT, after)

    def with_usage(self, prompt: int, completion: int, told: str = "last") -> "Turn":
        return replace(self, usage=Usage(prompt, completion, told))  # type: ignore[arg-type]  # a str for the Literal

    def message(self) -> Json:
        """The whole answer as the `message` of a reply that isn't streamed."""
        message: Json = {"role": "assistant", "content": None}
        calls: dict[int, Json] = {}
        for delta in (step.body for step in self.steps if isinstance(step, Delta)):
            for key in ("content", "reasoning_content"):
                if isinstance(delta.get(key), str):
                    message[key] = (message.get(key) or "") + delta[key]
            for piece in delta.get("tool_calls") or ():
                whole = calls.setdefault(
                    piece["index"],
                    {"id": None, "type": "function", "function": {"name": "", "arguments": ""}},
                )
                whole["id"] = piece.get("id") or whole["id"]
                for key, value in piece.get("function", {}).items():
                    whole["function"][key] += value or ""
        if calls:
            message["tool_calls"] = [calls[index] for index in sorted(calls)]
        return message


@dataclass(frozen=True)
class Failure:
    """An HTTP error instead of an answer."""

    status: int
    body: bytes
    headers: Mapping[str, str]


def text(content: str, *, pieces: int | Sequence[str] | None = None, **kind: Any) -> Turn:
    """Says `content`, by words, or in so many pieces, or in exactly these pieces.

    `kind`: finish ("stop", "length", "content_filter", None, ...), usage, done.
    """
    return Turn(tuple(Delta({"content": piece}) for piece in _split(content, pieces)), **kind)


def think(content: str, *, pieces: int | Sequence[str] | None = None, **kind: Any) -> Turn:
    """Reasoning, as the servers that have it send it (`reasoning_content`)."""
    deltas = ({"reasoning_content": piece} for piece in _split(content, pieces))
    return Turn(tuple(Delta(delta) for delta in deltas), **kind)


_ids = itertools.count(1)


def call(
    name: str,
    arguments: Mapping[str, Any] | str = "",
    *,
    id: str | None = None,  # noqa: A002  the wire's name
    index: int = 0,
    pieces: int | Sequence[str] | None = 3,
    **kind: Any,
) -> Turn:
    """One tool call: a first delta with index, id and name, then the arguments in pieces.

    Arguments given as text are sent as they are (cut, malformed, empty).
    """
    raw_arguments = arguments if isinstance(arguments, str) else json.dumps(arguments)
    opening = {
        "index": index,
        "id": id or f"call_{next(_ids):06d}",
        "type": "function",
        "function": {"name": name, "arguments": ""},
    }
    rest = [
        {"index": index, "function": {"arguments": piece}}
        for piece in _split(raw_arguments, pieces)
    ]
    deltas = [Delta({"tool_calls": [piece]}) for piece in (opening, *rest)]
    return Turn(tuple(deltas), **{"finish": "tool_calls", **kind})


def interleave(*turns: Turn) -> Turn:
    """Several turns as one whose steps take turns: parallel calls whose pieces mix."""
    first = 0
    shifted = []
    for turn in turns:
        turn = _shifted(turn, first)
        first = 1 + max(_indexes(turn), default=first - 1)
        shifted.append(turn.steps)
    mixed = itertools.chain.from_iterable(itertools.zip_longest(*shifted))
    return replace(turns[-1], steps=tuple(step for step in mixed if step is not None))


def raw(steps: Iterable[Step | Json | bytes], **kind: Any) -> Turn:
    """Exactly these chunks: a dict is a whole chunk, bytes are bytes, steps are steps.

    No role chunk, no finish chunk, no usage chunk is added, only `[DONE]` (`done=False`: nothing).
    """
    made: list[Step] = []
    for step in steps:
        if isinstance(step, dict):
            made.append(Chunk(step))
        elif isinstance(step, bytes):
            made.append(Raw(step))
        else:
            made.append(step)
    return Turn(tuple(made), **{"finish": None, "usage": Usage(told="absent"), **kind})


def chunk(delta: Any = None, finish: Any = None, **more: Any) -> Json:
    """A chunk for `raw`, whatever may stand in it; `more` are further fields (usage)."""
    return {"choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **more}


def piece(arguments: Any = None, **more: Any) -> Json:
    """A chunk for `raw` with a piece of a call, of index 0. A field that is `...` is left out."""
    function = {"arguments": arguments}
    if "name" in more:
        function["name"] = more.pop("name")
    made = {"index": 0, "function": function, **more}
    return chunk({"tool_calls": [{key: value for key, value in made.items() if value is not ...}]})


def event(body: Json) -> bytes:
    """The bytes of a chunk."""
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def error(
    status: int,
    message: str = "The server had an error while processing your request.",
    *,
    kind: str = "server_error",
    code: str | None = None,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Failure:
    """An HTTP error in OpenAI's shape, or with `body` any other (an HTML page of a proxy)."""
    if body is None:
        shape = {"error": {"message": message, "type": kind, "param": None, "code": code}}
        return Failure(
            status,
            json.dumps(shape).encode(),
            {"content-type": "application/json", **(headers or {})},
        )
    return Failure(status, body, {"content-type": "text/html", **(headers or {})})


def _split(content: str, pieces: int | Sequence[str] | None) -> list[str]:
    if pieces is None:
        words = content.split(" ")
        return [word + " " for word in words[:-1]] + ([words[-1]] if words[-1] else [])
    if isinstance(pieces, int):
        size = max(1, -(-len(content) // pieces))
        return [content[at : at + size] for at in range(0, len(content), size)]
    return list(pieces)


def _indexes(turn: Turn) -> list[int]:
    deltas = (step.body for step in turn.steps if isinstance(step, Delta))
    return [piece["index"] for delta in deltas for piece in delta.get("tool_calls") or ()]


def _shifted(turn: Turn, by: int) -> Turn:
    steps = copy.deepcopy([step.body if isinstance(step, Delta) else None for step in turn.steps])
    for body in steps:
        for piece in (body or {}).get("tool_calls") or ():
            piece["index"] += by
    return replace(
        turn,
        steps=tuple(
            step if body is None else Delta(body)
            for step, body in zip(turn.steps, steps, strict=True)
        ),
    )
