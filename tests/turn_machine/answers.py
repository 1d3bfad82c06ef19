"""What a model is to answer: the chunks as a provider would stream them, and what they mean."""

import json
import threading
from dataclasses import dataclass
from typing import Any, Literal

from copilot_core.text import without_surrogates
from openai_server import CUT, RESET, Chunk, Failure, Raw, Turn, Until, error, raw

Json = dict[str, Any]

#: Seconds that a model which is asked too often wants to be left alone.
RETRY_AFTER = 7

#: What models and tools say that nobody else may see.
MODEL_SECRET = "geheim-from-the-model-7d1f"
TOOL_SECRET = "geheim-from-a-tool-93ac"


class Gate(threading.Event):
    """Where the model waits until a test opens it; knows when the model has come there."""

    def __init__(self, *, silent: bool = False) -> None:
        super().__init__()
        #: Never to be opened: the model says nothing more.
        self.silent = silent
        self.reached = threading.Event()

    def is_set(self) -> bool:
        opened = super().is_set()
        if not opened:
            self.reached.set()
        return opened

    @property
    def holds(self) -> bool:
        return self.reached.is_set() and not super().is_set()


@dataclass(frozen=True)
class MeantCall:
    """A call as the model means it, however it is streamed."""

    name: str
    #: As history should show them.
    arguments: str
    #: Whether they are a whole JSON object.
    valid: bool = True


@dataclass(frozen=True)
class Answer:
    """One streamed answer: deltas, and how they are sent. Counts of chunks include the first,
    which says the role."""

    deltas: tuple[Json, ...] = ()
    calls: tuple[MeantCall, ...] = ()
    finish: str | None = "stop"
    prompt: int = 11
    completion: int = 7
    #: How the tokens are told: in a last chunk of their own, in each chunk the same, growing, or
    #: each chunk's own; those of the prompt first and the others last; or not at all.
    usage: Literal["last", "repeated", "growing", "shares", "split", "absent"] = "last"
    #: After so many chunks the model waits for the test.
    hold: int | None = None
    #: How it ends: whole, without `[DONE]` or all that comes behind the reason to finish; by a
    #: broken connection, in silence, or by nonsense.
    end: Literal["whole", "no_done", "cut_late", "cut", "reset", "silent", "error", "garbage"] = (
        "whole"
    )
    #: How many chunks come before that.
    broken_after: int = 0
    #: Where the bytes of the stream are cut into pieces besides the ends of its events.
    cuts: tuple[int, ...] = ()

    @property
    def broken(self) -> bool:
        return self.end not in ("whole", "no_done", "cut_late")

    @property
    def whole(self) -> bool:
        """Whether it comes to an end, and says anything by then."""
        return not self.broken and bool(self.says_something or self.finish or self.tokens)

    @property
    def codes(self) -> set[str]:
        """How a turn may end that breaks with it."""
        if self.end == "cut" and not self.broken_after:
            return CODES["reset"]
        return CODES[self.end] if self.broken else CODES["page"]

    @property
    def text(self) -> str:
        return without_surrogates("".join(map(_text, self.deltas)))

    @property
    def says_something(self) -> bool:
        return bool(self.text or self.calls)

    @property
    def tokens(self) -> tuple[int, int] | None:
        """What it tells of its tokens."""
        never = self.usage == "absent" or (self.usage == "last" and self.end == "cut_late")
        return None if never else (self.prompt, self.completion)

    def sent(self, gates: list[Gate]) -> Turn:
        """The answer for the scripted server; the gates it has are added to `gates`."""
        chunks = self._chunks()
        steps: list[Any] = []
        # What happens between two chunks, by how many come before.
        marks: dict[int, list[Any]] = {}
        if self.hold is not None:
            gates.append(Gate())
            marks[self.hold] = [Until(gates[-1])]
        if self.end == "cut_late":
            del chunks[len(self.deltas) + 2 :]
            marks.setdefault(len(chunks), []).append(CUT)
        elif self.broken:
            del chunks[self.broken_after :]
            marks.setdefault(len(chunks), []).append(self._break(gates))
        begin = 0
        for place in [*sorted(place for place in marks if place <= len(chunks)), len(chunks)]:
            steps += self._cut(chunks[begin:place])
            steps += marks.pop(place, [])
            begin = place
        return raw(steps, done=self.end == "whole")

    def _chunks(self) -> list[Json]:
        deltas: list[Json] = [{"role": "assistant", "content": ""}, *self.deltas]
        count = len(deltas) + (self.finish is not None)
        chunks = [_chunk(delta) for delta in deltas]
        if self.finish is not None:
            chunks.append(_chunk({}, self.finish))
        match self.usage:
            case "repeated":
                for chunk in chunks:
                    chunk["usage"] = _usage(self.prompt, self.completion)
            case "growing":
                for place, chunk in enumerate(chunks, 1):
                    chunk["usage"] = _usage(self.prompt, self.completion * place // count)
            case "shares":
                shares = [self.completion * place // count for place in range(count + 1)]
                for place, chunk in enumerate(chunks):
                    share = shares[place + 1] - shares[place]
                    chunk["usage"] = _usage(0 if place else self.prompt, share)
            case "split":
                chunks[0]["usage"] = _usage(self.prompt, 0)
                chunks[-1]["usage"] = _usage(0 if count > 1 else self.prompt, self.completion)
            case "last":
                chunks.append({**_chunk({}), "choices": []})
                chunks[-1]["usage"] = _usage(self.prompt, self.completion)
        return chunks

    def _break(self, gates: list[Gate]) -> Any:
        match self.end:
            case "cut":
                return CUT
            case "reset":
                return RESET
            case "silent":
                gates.append(Gate(silent=True))
                return Until(gates[-1])
            case "error":
                failed = {"error": {"message": MODEL_SECRET, "type": "server_error", "code": None}}
                return Raw(b"data: " + json.dumps(failed).encode() + b"\n\n")
            case _:
                return Raw(b"data: {" + MODEL_SECRET.encode() + b"\n\n")

    def _cut(self, chunks: list[Json]) -> list[Any]:
        if not self.cuts:
            return [Chunk(chunk) for chunk in chunks]
        data = b"".join(map(_event, chunks))
        places = sorted({cut % (len(data) + 1) for cut in self.cuts} - {0, len(data)})
        ends = zip([0, *places], [*places, len(data)], strict=True)
        return [Raw(data[begin:end]) for begin, end in ends if begin < end]


@dataclass(frozen=True)
class Failed:
    """An answer that isn't one, from the beginning."""

    kind: Literal["401", "403", "404", "429", "500", "503", "too_long", "page"]

    @property
    def codes(self) -> set[str]:
        return CODES[self.kind]

    def sent(self) -> Turn | Failure:
        match self.kind:
            case "429":
                return error(429, MODEL_SECRET, headers={"retry-after": str(RETRY_AFTER)})
            case "500" | "503":
                page = f"<html><h1>Oops</h1>{MODEL_SECRET}</html>"
                return error(int(self.kind), body=page.encode())
            case "too_long":
                told = f"This model's maximum context length is 8 tokens. {MODEL_SECRET}"
                return error(400, told, code="context_length_exceeded")
            case "page":
                return raw([b"<html>" + MODEL_SECRET.encode() + b"</html>"], done=False)
            case _:
                return error(int(self.kind), MODEL_SECRET)


#: What a turn that fails so may end with.
CODES = {
    "401": {"llm_unauthorized"},
    "403": {"llm_unauthorized"},
    "404": {"llm_unavailable"},
    "429": {"llm_rate_limited"},
    "500": {"llm_unavailable"},
    "503": {"llm_unavailable"},
    "too_long": {"context_window_exceeded"},
    "page": {"llm_unavailable"},
    "cut": {"upstream_disconnected"},
    # Of what was sent before, a reset takes along what hasn't been read.
    "reset": {"upstream_disconnected", "llm_unavailable"},
    "silent": {"llm_unavailable"},
    "error": {"llm_unavailable"},
    "garbage": {"llm_unavailable"},
}


def _text(delta: Json) -> str:
    content = delta.get("content")
    if isinstance(content, list):
        return "".join(block.get("text", "") for block in content)
    return content or ""


def _chunk(delta: Json, finish: str | None = None) -> Json:
    return {
        "id": "chatcmpl-machine",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "scripted",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def _usage(prompt: int, completion: int) -> Json:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def _event(body: Json) -> bytes:
    """In UTF-8 as it is, so that a cut may go through a character."""
    try:
        data = json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        data = json.dumps(body).encode()
    return b"data: " + data + b"\n\n"
