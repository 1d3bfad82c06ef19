"""Tool calls put together from the pieces in which a model streams them.

Providers differ in how they say which call a piece belongs to. What is understood here:

- A piece with an id belongs to the call with that id, whatever its index. Without an id (absent,
  empty, or the text ``null``) it belongs to the newest call at its index; without an index to the
  newest call. An id that comes late names the call at its index; a call that was already shown
  under a made id keeps that one.
- Two calls at one index with different ids are two calls (langchain-ai/langchain#34807). So are
  two pieces with different names, and a named piece with arguments that comes when the call's
  arguments are already a whole object. If both carry one id, the later call gets a made id.
- A name comes whole. A call keeps its first one; repeats say nothing new.
- Whole arguments sent again after their pieces are recognised: the arguments are a whole JSON
  object and the piece alone is an equal one. Nothing else could follow a whole object.
- ``{}`` followed by more was a placeholder for arguments not yet known, and is forgotten. It is
  not shown before the end, so that the text shown only ever grows.
- A piece may be the arguments so far, from their beginning: it begins with all that came before,
  which no object goes on with. Where one could (``{"a":`` and then ``{"a":1}``), the next piece
  decides, or at the end what is an object; nothing is shown until then.
- An id longer than ``MAX_ID`` is not used: the call gets a made one. A name longer than
  ``MAX_NAME`` is cut, and the call is invalid.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import orjson

from copilot_core.text import SurrogateFilter, without_surrogates

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Iterator

    from langchain_core.messages import AIMessage

    from copilot_core.ports import JsonObject

#: Up to so many characters of arguments every piece is shown; then every growth by a sixteenth.
EVERY_PIECE = 1024

#: Characters of an id: some providers pack what they want back into it.
MAX_ID = 4096
#: Characters of a tool's name, as providers have it.
MAX_NAME = 64

#: Levels of objects and arrays in a call's arguments.
MAX_DEPTH = 100

CUT_ARGUMENTS = "The arguments were cut off before their end. Make the call again, shorter."

_LONG_NAME = f"A tool's name has at most {MAX_NAME} characters."

# The reasons, in lower case, for which an answer ends before its author was done.
_CUT = frozenset({"length", "max_tokens", "content_filter"})

# A string of a JSON text, closed or up to the text's end; and a first key that isn't punctuation.
_STRING = re.compile(r'"(?:[^"\\]+|\\.)*(?P<closed>")?', re.DOTALL)
_FIRST_KEY = re.compile(r'\s*\{\s*"[^\s:,}\]]')

# A provider that names every piece and writes braces into strings could ask for a parse a piece.
_MOST_CHECKS = 64


@dataclass(frozen=True, slots=True)
class CallGrowth:
    """A call as far as it has come."""

    call_id: str
    name: str
    #: The text so far, from its beginning.
    arguments: str
    #: The arguments are a whole JSON object; nothing more comes of this call.
    complete: bool = False


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A call of a finished message: valid with ``args``, or invalid with ``error``."""

    id: str
    #: Empty if the model named no tool (then the call is invalid).
    name: str
    #: What the model wrote; ``{}`` if it wrote nothing and the call is valid.
    arguments: str
    args: JsonObject | None
    #: Why it can't be executed: a sentence for the model.
    error: str | None = None

    @property
    def valid(self) -> bool:
        """Whether it may be executed."""
        return self.error is None


def finished_call(
    call_id: str, name: str, arguments: str, error: str | None = None
) -> FinishedCall:
    """A call as its author left it. Invalid if there is an ``error``, or if we find one.

    No arguments at all are an empty object (decision A35).
    """
    args = _json_object(arguments if arguments.strip() else "{}")
    if not name:
        error = "The call names no tool."
    elif args is None:
        error = error or "The arguments are not a JSON object. Make the call again with one."
    elif _too_deep(args):
        error = f"The arguments are nested deeper than {MAX_DEPTH} levels."
    return FinishedCall(call_id, name, arguments, None if error else args, error)


class ToolCallStreamAccumulator:
    """The tool calls of one assistant message, from its chunks.

    ``taken`` are ids that other messages of the turn have used: a call that comes with one of
    them gets a made id, because an id stands for one call in an event stream.
    """

    def __init__(self, taken: Collection[str] = ()) -> None:
        self._taken = taken
        self._calls: list[_Call] = []
        self._by_id: dict[str, _Call] = {}
        self._by_index: dict[Hashable, _Call] = {}

    def __len__(self) -> int:
        """How many calls have begun."""
        return len(self._calls)

    def feed(self, chunk: AIMessage) -> list[CallGrowth]:
        """What has grown by this chunk (an ``AIMessageChunk``, or a message sent whole)."""
        growth: list[CallGrowth] = []
        for index, call_id, name, arguments in _pieces(chunk):
            call = self._call(index, call_id, name, arguments)
            call.take_name(name)
            call.append(arguments)
            growth += call.growth()
        return growth

    def finish(
        self, finish_reason: str | None = None, *, cut: bool = False
    ) -> tuple[list[CallGrowth], list[FinishedCall]]:
        """The last growth of each call, and the calls in the order in which they began.

        ``finish_reason`` is the provider's, in any case; ``cut`` says that the stream broke off.
        """
        cut = cut or (finish_reason or "").lower() in _CUT
        growth: list[CallGrowth] = []
        finished: list[FinishedCall] = []
        for call in self._calls:
            ended = call.finish(cut)
            if ended is None:
                continue
            finished.append(ended)
            if ended.valid or not call.shown(ended.arguments):
                growth.append(CallGrowth(ended.id, ended.name, ended.arguments, ended.valid))
        return growth, finished

    def _call(self, index: Hashable, call_id: str, name: str, arguments: str) -> _Call:
        """The call that a piece belongs to, made if it is the first of it."""
        call = self._by_index.get(index) if index is not None else self._newest()
        if call_id and (call is None or call.provider_id != call_id):
            late = call if call is not None and not call.provider_id else None
            call = self._by_id.get(call_id, late)
        if call is None or call.contradicts(name, arguments):
            call = _Call(f"call_{uuid4().hex}")
            self._calls.append(call)
        if call_id and not call.provider_id:
            known = call_id in self._by_id or call_id in self._taken
            if not (call.begun or known or len(call_id) > MAX_ID):
                call.id = call_id
            call.provider_id = call_id
            self._by_id[call_id] = call
        self._by_index[index] = call
        return call

    def _newest(self) -> _Call | None:
        return self._calls[-1] if self._calls else None


class _Call:
    """One call while it grows. Pieces are joined only when the text is needed."""

    def __init__(self, call_id: str) -> None:
        self.id = call_id
        self.provider_id = ""
        self.name = ""
        self.begun = False
        self._pieces: list[str] = []
        self._size = 0
        self._long_name = False
        self._filter = SurrogateFilter()
        #: The newest piece, if it may be the arguments so far or the next part of them.
        self._doubt = ""
        self._shown = -1
        self._checks = 0

    def take_name(self, name: str) -> None:
        """The first name that comes is the call's."""
        if not self.name:
            self.name = name[:MAX_NAME]
            self._long_name = len(name) > MAX_NAME

    def append(self, piece: str) -> None:
        """Take a piece of the arguments, or recognise that it says nothing new."""
        if self._filter.waiting and self._so_far(without_surrogates(piece)):
            self._filter = SurrogateFilter()  # the half that waits comes again in this piece
        piece = self._filter.feed(piece)
        if self._could_restate(piece):
            again = _json_object(piece)
            if again is not None and again == self._whole():
                return
        if self._placeholder() and piece.strip():
            self._pieces, self._size = [], 0
        if not piece:
            return
        so_far = self._so_far(piece)
        self._doubt = piece if so_far and _may_go_on_with_object(so_far) else ""
        if so_far and not self._doubt:
            self._pieces, self._size = [], 0
        self._pieces.append(piece)
        self._size += len(piece)

    def contradicts(self, name: str, piece: str) -> bool:
        """Whether a piece with this name can't be of this call."""
        if not name or not self.name:
            return False
        if name[:MAX_NAME] != self.name:
            return True
        if not self._could_restate(piece) or self._placeholder():
            return False
        whole = self._whole()
        return whole is not None and whole != _json_object(piece)

    def growth(self) -> Iterator[CallGrowth]:
        """What is to be shown now: at first the name alone, then the arguments as they grow."""
        if not self.name:
            return
        if not self.begun:
            self.begun = True
            self._shown = 0
            yield CallGrowth(self.id, self.name, "")
        grown = self._size - self._shown
        if grown <= 0 or self._doubt or self._placeholder():
            return
        if self._size <= EVERY_PIECE or grown * 16 >= self._shown:
            self._shown = self._size
            yield CallGrowth(self.id, self.name, self._text())

    def shown(self, arguments: str) -> bool:
        """Whether an event has already told all of ``arguments``."""
        return self._shown == len(arguments)

    def finish(self, cut: bool) -> FinishedCall | None:
        """The call as it ended; None if nothing at all was said of it."""
        self._pieces.append(self._filter.rest())
        raw = self._text()
        if _json_object(raw) is None and _json_object(self._doubt) is not None:
            raw = self._doubt
        if not (self.name or self.provider_id or raw.strip()):
            return None
        if self._long_name:
            return finished_call(self.id, self.name, raw, _LONG_NAME)
        if not cut:
            return finished_call(self.id, self.name, raw if raw.strip() else raw + "{}")
        closed = _json_object(raw) is not None
        return finished_call(self.id, self.name, raw, None if closed else CUT_ARGUMENTS)

    def _text(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def _so_far(self, piece: str) -> str:
        """All that came before, if the piece begins with it."""
        if not 0 < (len(self._doubt) or self._size) <= len(piece):
            return ""  # as most are: nothing needs to be joined
        so_far = self._doubt or self._text()
        return so_far if piece.startswith(so_far) else ""

    def _placeholder(self) -> bool:
        return self._size == 2 and self._text() == "{}"

    def _could_restate(self, piece: str) -> bool:
        """Whether a piece looks like the beginning of an object, after the end of one."""
        return (
            piece.lstrip()[:1] == "{"
            and bool(self._pieces)
            and self._pieces[-1][-64:].rstrip()[-1:] == "}"
        )

    def _whole(self) -> JsonObject | None:
        """The arguments, if they are a whole object."""
        if self._checks == _MOST_CHECKS:
            return None
        self._checks += 1
        return _json_object(self._text())


def _json_object(text: str) -> JsonObject | None:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _too_deep(value: Any) -> bool:
    """Whether a value is nested deeper than what stores and reads it can follow."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            part
            for container in level
            for part in (container.values() if isinstance(container, dict) else container)
            if isinstance(part, dict | list)
        ]
        if not level:
            return False
    return True


def _may_go_on_with_object(text: str) -> bool:
    """Whether the beginning of an object can be followed by itself: `{"a":` by `{"a":1}`."""
    outside = _STRING.sub(lambda string: "s" if string["closed"] else "?", text).rstrip()
    if "?" in outside:  # in a string, which would end at the first key's quote
        return _FIRST_KEY.match(text) is None
    return not outside or outside[-1] in ":,["


def _as_text(args: JsonObject) -> str:
    return json.dumps(args, ensure_ascii=False)


def _pieces(message: AIMessage) -> Iterator[tuple[Hashable, str, str, str]]:
    """(index, id, name, arguments) of each piece; what is missing is None or empty."""
    calls: Iterable[Any] = getattr(message, "tool_call_chunks", None) or [
        *({**call, "args": _as_text(call["args"])} for call in message.tool_calls),
        *message.invalid_tool_calls,
    ]
    for call in calls:
        call_id = call.get("id") or ""
        yield (
            call.get("index"),
            "" if call_id == "null" else without_surrogates(call_id),
            without_surrogates(call.get("name") or ""),
            call.get("args") or "",
        )
