"""Which answer the model gives to whom, and who has asked: a turn is known by its tag."""

import re
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from openai_server import Request
from openai_server.turns import Failure, Turn
from turn_machine.answers import Answer, Failed, Gate

#: A question begins with its turn's tag; what asks for a title shows the session's first question.
_TAG = re.compile(r"q\d+\b")
_TITLE = re.compile(r"Write a title.*?^User: (q\d+)\b", re.DOTALL | re.MULTILINE)

#: What the model says when its script is at its end.
LAST = Answer(deltas=({"content": "That is "}, {"content": "all."}))


@dataclass
class Asked:
    """One request of a turn, and what it is answered with."""

    request: Request
    answer: Answer | Failed
    #: Whether a title was asked for.
    title: bool
    gates: list[Gate] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether the whole answer was sent."""
        answer = self.answer
        return isinstance(answer, Answer) and answer.whole and self.request.answered.is_set()

    @property
    def questions(self) -> list[str]:
        """The tags of the questions in it, in their order."""
        said = (str(m["content"]) for m in self.request.messages if m["role"] == "user")
        return [found[0] for text in said if (found := _TAG.match(text))]


@dataclass
class Book:
    """The script of all turns. `reply` is called in the model's own thread."""

    answers: dict[str, deque[Answer | Failed]] = field(default_factory=dict)
    titles: dict[str, Answer | Failed] = field(default_factory=dict)
    asked: defaultdict[str, list[Asked]] = field(default_factory=lambda: defaultdict(list))
    #: The session of each turn, and the newest turn of each session.
    sessions: dict[str, object] = field(default_factory=dict)
    newest: dict[object, str] = field(default_factory=dict)

    def script(
        self, tag: str, session: object, answers: Iterable[Answer | Failed], title: Answer | Failed
    ) -> None:
        self.answers[tag] = deque(answers)
        self.titles[tag] = title
        self.sessions[tag] = session
        self.newest[session] = tag

    def reply(self, request: Request) -> Turn | Failure:
        said = [str(m["content"]) for m in request.messages if m["role"] == "user"]
        title = _TITLE.match(said[-1])
        if title:
            tag = self.newest[self.sessions[title[1]]]
            answer = self.titles[tag]
        else:
            # Behind the question may stand that this is the last answer.
            tag = next(found[0] for text in reversed(said) if (found := _TAG.match(text)))
            waiting = self.answers[tag]
            answer = waiting.popleft() if waiting else LAST
        asked = Asked(request, answer, title is not None)
        sent = answer.sent(asked.gates) if isinstance(answer, Answer) else answer.sent()
        self.asked[tag].append(asked)
        return sent

    def held(self, tag: str) -> Gate | None:
        """Where the model waits in a turn."""
        asked = self.asked[tag]
        gates = asked[-1].gates if asked else []
        return next((gate for gate in gates if gate.holds), None)

    def open(self, tag: str) -> None:
        """Let the model go on where it waits."""
        for asked in self.asked[tag]:
            for gate in asked.gates:
                if not gate.silent:
                    gate.set()
