"""What each session should hold: plain values that the rules keep beside the served API."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

import httpx

from chat_turns import Reader
from copilot_core.runs import Run
from copilot_core.text import without_surrogates
from copilot_core.titles import fallback_title
from turn_machine.answers import CODES, Answer, Json
from turn_machine.book import Asked

#: How often a model may call tools in one turn.
TOOL_STEPS = 2

Stop = Literal["user", "deleted", "shutdown", "project_closed", "disconnected", "killed"]


@dataclass(eq=False)
class Reading:
    """Who follows a turn: what it has kept of streams that it left, and the one it reads now."""

    reader: Reader | None
    kept: bytes = b""
    #: The number of the last event that it has kept.
    after: int = 0

    @property
    def blocks(self) -> bytes:
        return self.kept + (self.reader.blocks if self.reader else b"")

    @property
    def last(self) -> int:
        """The number of the newest event that it has."""
        return self.reader.numbers[-1] if self.reader and self.reader.numbers else self.after

    def leave(self) -> None:
        self.kept, self.after, self.reader = self.blocks, self.last, None

    def forget(self, after: int) -> None:
        """Keep no more than the first `after` events."""
        self.kept = b"".join(block + b"\n\n" for block in self.kept.split(b"\n\n")[:after])
        self.after = after


@dataclass
class Figures:
    """What a turn, or all of a session's turns, should count."""

    llm_calls: int = 0
    unknown: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    context_tokens: int | None = None
    tool_calls: Counter[str] = field(default_factory=Counter)

    def plus(self, turn: "Figures") -> "Figures":
        return Figures(
            self.llm_calls + turn.llm_calls,
            self.unknown + turn.unknown,
            self.input_tokens + turn.input_tokens,
            self.output_tokens + turn.output_tokens,
            # A turn that never reached the model says nothing of the context.
            turn.context_tokens if turn.llm_calls else self.context_tokens,
            self.tool_calls + turn.tool_calls,
        )


@dataclass(eq=False)
class Turn:
    """A turn that was asked for. Its question begins with its tag."""

    tag: str
    session: "Session"
    #: What was posted, and its `Idempotency-Key`.
    body: Json
    key: str | None
    #: Whether the session has no title yet.
    wants_title: bool
    #: None: it ended before it could be looked at.
    run: Run | None = None
    run_id: str = ""
    readings: list[Reading] = field(default_factory=list)
    #: What `stream: false` will be answered with.
    posted: asyncio.Task[httpx.Response] | None = None

    #: The clock when the last reader left, and when the turn came to where it waits.
    left_at: float | None = None
    held_at: float = 0.0
    #: Why it was stopped, if it was; `raced`: unless it ended of itself before.
    stopped: Stop | None = None
    raced: bool = False
    #: Whether a tool took too long; whether all was journalled when the server was killed.
    tool_late: bool = False
    journalled: bool = False

    #: The clock when it ended; None also where its events can't be read again.
    kept_since: float | None = None
    #: The events as somebody read them from the first to the last; empty if nobody did.
    whole: bytes = b""
    told: list[Json] = field(default_factory=list)
    #: Its messages, as history shows them from now on.
    stored: list[Json] = field(default_factory=list)
    figures: Figures = field(default_factory=Figures)

    @property
    def readers(self) -> int:
        """How many read it, or wait for its answer."""
        waiting = self.posted is not None and not self.posted.done()
        return sum(reading.reader is not None for reading in self.readings) + waiting

    @property
    def streamed(self) -> bool:
        return bool(self.body["stream"])

    @property
    def message(self) -> str:
        return without_surrogates(self.body["message"])

    @property
    def loose(self) -> bool:
        """Whether chance decides how far it came."""
        return self.raced or (self.stopped == "killed" and not self.journalled)


@dataclass(eq=False)
class Session:
    """A session that is there."""

    id: str
    user: str
    #: None: the title that every session begins with.
    title: str | None = None
    title_by_user: bool = False
    pinned: bool = False
    #: The turns that have ended, oldest first, and the one that runs.
    turns: list[Turn] = field(default_factory=list)
    running: Turn | None = None

    @property
    def all_turns(self) -> list[Turn]:
        return [*self.turns, self.running] if self.running else self.turns

    @property
    def figures(self) -> Figures:
        figures = Figures()
        for turn in self.turns:
            figures = figures.plus(turn.figures)
        return figures

    @property
    def messages(self) -> list[Json]:
        """What history shows, but for the question of a turn that runs."""
        return [message for turn in self.turns for message in turn.stored]

    def titled(self, turn: Turn, asked: Asked) -> str | None:
        """Its title after a turn whose model was asked for one, last of all."""
        if not asked.title or self.title_by_user:
            return self.title
        if asked.complete and isinstance(asked.answer, Answer) and asked.answer.text:
            return "A title"
        return fallback_title((self.turns[0] if self.turns else turn).message)


def natural_end(asked: Asked, window: int | None) -> set[str]:
    """How a turn may end of itself, by the last that was asked of its model: `done`, or a code.

    With a `window`, what comes next may not fit into it.
    """
    answer = asked.answer
    calls = asked.complete and isinstance(answer, Answer) and answer.calls
    if asked.title:
        return {"done"}
    if not asked.request.tools:
        said = asked.complete and isinstance(answer, Answer) and answer.text
        return {"done"} if said and not calls else {"limit_reached"}
    if calls:
        return {"context_window_exceeded", "limit_reached"} if window else set()
    if asked.complete:
        return {"done"}
    if any(gate.holds for gate in asked.gates):
        return CODES["silent"]
    return answer.codes


def figures_of(
    asked: list[Asked], told: int, llm_calls: int, tool_calls: Counter[str], *, cumulative: bool
) -> Figures:
    """The figures of a turn whose model came to the end of its first `told` whole answers."""
    answers = [(a, a.answer) for a in asked if a.complete and isinstance(a.answer, Answer)][:told]
    known = [answer.tokens for _, answer in answers if answer.tokens]
    counted = known[-1:] if cumulative else known
    context = [answer.tokens for a, answer in answers if not a.title and answer.says_something]
    return Figures(
        llm_calls,
        llm_calls - len(known),
        sum(tokens[0] for tokens in counted),
        sum(tokens[1] for tokens in counted),
        context[-1][0] if context and context[-1] else None,
        tool_calls,
    )
