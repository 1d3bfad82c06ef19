"""The served chat API: its event loop, whose clock can be put forward, its file and its log."""

import asyncio
import json
import logging
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import httpx
import structlog

from chat_edge import JSON, PREFIX, SECRET, chat_edge, user
from chat_turns import Reader
from copilot_contracts import Gate
from copilot_core.projects import ProjectAgentManager
from copilot_core.service import AgentService
from openai_server import OpenAIServer
from turn_machine.answers import MODEL_SECRET, TOOL_SECRET, Json
from turn_machine.book import Book
from turn_machine.expected import TOOL_STEPS, Session, Turn
from turn_machine.tools import Tools

USERS = ("ann", "bob")
API_KEY = "geheim-key-of-the-model-5e0b"
FILE = Path("p1") / "gns3-copilot" / "copilot_checkpoints.db"

#: Of whom `serve` doesn't log more than warnings either.
_QUIET = ("httpx", "httpx2", "httpcore", "httpcore2", "openai", "aiosqlite", "uvicorn.error")

_T = TypeVar("_T")


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time can be put forward: what waits for that is due then."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


class Log(logging.Handler):
    """All that is logged, as text."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []
        #: Those that say that something of ours went wrong.
        self.errors: list[str] = []
        self.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))
        if record.levelno >= logging.ERROR and record.name != "copilot_core.tools.execution":
            self.errors.append(self.lines[-1])


class World:
    """One project's chat API over a scripted model."""

    def __init__(self, *, cumulative: bool, context_window: int | None) -> None:
        self.cumulative = cumulative
        self.context_window = context_window
        self._before = _resources()
        self.loop = Clock()
        self.book = Book()
        self.tools = Tools()
        self.model = OpenAIServer(API_KEY).__enter__()
        self.model.always(self.book.reply)
        self.folder = Path(tempfile.mkdtemp(prefix="turn-machine-"))
        self.log = Log()
        logging.getLogger().addHandler(self.log)
        self._levels = {"": logging.DEBUG, **dict.fromkeys(_QUIET, logging.WARNING)}
        self._swap_levels()
        self._events = structlog.testing.capture_logs()
        self._structured = self._events.__enter__()
        self.answers: list[bytes] = []
        self.tokens = {name: user(name)["authorization"].partition(" ")[2] for name in USERS}
        self.agents: ProjectAgentManager
        self.client: httpx.AsyncClient
        self._edge: AbstractAsyncContextManager[httpx.AsyncClient]
        self.run(self.open())

    @property
    def secrets(self) -> list[bytes]:
        known = (API_KEY, MODEL_SECRET, TOOL_SECRET, *self.tokens.values())
        return [SECRET, *(secret.encode() for secret in known)]

    def _swap_levels(self) -> None:
        for name, level in self._levels.items():
            logger = logging.getLogger(name)
            self._levels[name] = logger.level
            logger.setLevel(level)

    def logged(self) -> bytes:
        """What was logged since this was last asked."""
        text = "\n".join([*self.log.lines, *map(repr, self._structured)])
        self.log.lines.clear()
        self._structured.clear()
        return text.encode(errors="replace")

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self.loop.run_until_complete(work)

    # -- life ---------------------------------------------------------------------------

    async def open(self) -> None:
        """Serve what is in the folder."""
        self.agents = ProjectAgentManager(self.tools.all(), gate=Gate("enforce"))
        self._edge = chat_edge(
            self.folder,
            self.model,
            agents=self.agents,
            tool_steps=TOOL_STEPS,
            usage="cumulative" if self.cumulative else "per_call",
            context_window=self.context_window,
        )
        self.client = await self._edge.__aenter__()
        # Answers may be awaited while the clock is put forward.
        self.client.timeout = httpx.Timeout(None)

    async def shut(self) -> None:
        await self.agents.close_all()
        shutting = asyncio.ensure_future(self._edge.__aexit__(None, None, None))
        while not shutting.done():
            # uvicorn looks every tenth of a second whether it may end: ten times as often.
            self.loop.ahead += 0.02
            await asyncio.sleep(0.002)
        await shutting

    def end(self) -> None:
        """Give back everything. Fails when something is left behind."""
        with ExitStack() as ending:
            ending.callback(shutil.rmtree, self.folder)
            ending.callback(self.loop.close)
            ending.callback(lambda: self.run(self.loop.shutdown_default_executor()))
            ending.push(self.model)
            ending.push(self._events)
            ending.callback(self._swap_levels)
            ending.callback(logging.getLogger().removeHandler, self.log)
            self.run(self.shut())
            left = asyncio.all_tasks(self.loop)
        assert left == set()
        assert _resources() == self._before

    async def kill(self) -> None:
        """What is in the file at this moment is all that the next process finds.

        The old one is closed behind the copy's back: it can't be killed for itself alone.
        """
        copy = Path(tempfile.mkdtemp(prefix="turn-machine-"))
        file = self.folder / FILE
        (copy / FILE).parent.mkdir(parents=True)
        if file.exists():
            with closing(sqlite3.connect(file)) as nobody_writes:
                nobody_writes.execute("BEGIN IMMEDIATE")
                for tail in ("", "-wal"):
                    with suppress(FileNotFoundError):
                        shutil.copy(f"{file}{tail}", f"{copy / FILE}{tail}")
        await self.shut()
        shutil.rmtree(self.folder)
        self.folder = copy
        await self.open()

    async def wait(self, seconds: float) -> None:
        """Put the clock forward, and let happen what is due."""
        self.loop.ahead += seconds
        await asyncio.sleep(0.01)

    # -- asking -------------------------------------------------------------------------

    async def ask(
        self, method: str, path: str, who: str, body: Json | None = None, **headers: str
    ) -> httpx.Response:
        """The whole answer to a request; `path` is what comes behind `/chat`."""
        answer = await self.client.send(self._request(method, path, who, body, headers))
        self.answers.append(answer.content)
        return answer

    async def stream(
        self, method: str, path: str, who: str, body: Json | None = None, **headers: str
    ) -> httpx.Response:
        """An answer whose body isn't read."""
        request = self._request(method, path, who, body, headers)
        return await self.client.send(request, stream=True)

    def _request(
        self, method: str, path: str, who: str, body: Json | None, headers: dict[str, str]
    ) -> httpx.Request:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.build_request(
            method,
            PREFIX + path,
            headers={**JSON, "authorization": f"Bearer {self.tokens[who]}", **named},
            # As ASCII, because texts may hold what UTF-8 has no form for.
            content=None if body is None else json.dumps(body).encode(),
        )

    async def resumed(self, turn: Turn, after: int | None) -> Reader:
        """One more reader of a turn, after an event of this number; None: of what runs."""
        path = f"/sessions/{turn.session.id}/stream"
        headers = {} if after is None else {"last_event_id": f"{turn.run_id}:{after}"}
        response = await self.stream("GET", path, turn.session.user, None, **headers)
        assert response.status_code == 200, await response.aread()
        return Reader(response)

    async def service(self) -> AgentService:
        return await self.agents.get_agent("p1", self.folder / "p1")

    async def history(self, session: Session) -> list[Json]:
        answer = await self.ask("GET", f"/sessions/{session.id}/history?limit=1000", session.user)
        assert answer.status_code == 200, answer.text
        messages: list[Json] = answer.json()["messages"]
        return messages

    async def session(self, session: Session) -> Json:
        """A session's row, as its user's list shows it."""
        listed = (await self.ask("GET", "/sessions", session.user)).json()
        found: Json = next(each for each in listed if each["thread_id"] == session.id)
        return found

    # -- waiting ------------------------------------------------------------------------

    def holds(self, turn: Turn) -> bool:
        """Whether the turn waits, for its model or in a tool."""
        return self.book.held(turn.tag) is not None or self.tools.holds(turn.session.id)

    async def settle(self, turn: Turn) -> bool:
        """Until the turn has ended, or waits and has told all that there is. Whether it ended."""
        run = turn.run
        while run is not None:
            await until(lambda: run.ended or self.holds(turn))
            last = run.last
            for _ in range(4):
                await asyncio.sleep(0.001)
            if run.ended:
                break
            if self.holds(turn) and run.last == last:
                turn.held_at = self.loop.time()
                return False
        return True

    async def ends(self, turn: Turn) -> None:
        await until(lambda: turn.run is None or turn.run.ended)

    async def tools_end(self, turn: Turn) -> None:
        await until(lambda: not self.tools.holds(turn.session.id))

    async def journalled(self) -> None:
        """Until nothing is being journalled."""
        await until(lambda: all(task.get_name() != "turn journal" for task in asyncio.all_tasks()))

    async def readers_are(self, turn: Turn, count: int) -> None:
        """Until the server knows who reads a turn; only its log does, nobody is told over HTTP."""
        await until(lambda: turn.run is None or turn.run._log.readers == count)

    def turn_tasks(self) -> list[asyncio.Task[Any]]:
        """The tasks of turns: their run, their work, their tools, their journal."""
        kinds = ("turn", "run", "tool")
        return [
            task
            for task in asyncio.all_tasks(self.loop)
            if task.get_name().split(" ")[0] in kinds and not task.done()
        ]

    # -- the file -----------------------------------------------------------------------

    @contextmanager
    def file(self) -> Iterator[Callable[[str], list[Any]]]:
        """What another program finds in the project's file: rows, of one column their values."""
        with closing(sqlite3.connect(f"file:{self.folder / FILE}?mode=ro", uri=True)) as file:

            def found(sql: str) -> list[Any]:
                rows = file.execute(sql).fetchall()
                return [row[0] for row in rows] if rows and len(rows[0]) == 1 else rows

            yield found


async def until(holds: Callable[[], bool]) -> None:
    """For what the server does, or another thread."""
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.001)


def _resources() -> tuple[int, int]:
    """How many threads there are, and how many open files."""
    files = Path("/proc/self/fd")
    return threading.active_count(), len(list(files.iterdir())) if files.exists() else 0
