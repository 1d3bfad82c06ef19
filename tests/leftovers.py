"""A pytest plugin: a test that leaves something behind fails.

After each test, when its fixtures are torn down, nothing may be there that the test or one of its
own fixtures made: no task or async generator in its event loop, no thread, no open file, socket
or pipe, no child process, no object whose finalizer warns, no error that asyncio could only log.
What a fixture of a wider scope made is that fixture's, and must be gone when it is torn down. A
test that failed isn't judged: its traceback holds what it was using.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

#: What ends by itself has so many seconds: a thread whose work is done, a connection that closes.
SETTLING = 1.0
#: A loop that is to be closed goes round so many times: for what was just cancelled or dropped.
SETTLING_CYCLES = 50
#: A collection that took so many seconds had too much to look at: what lives is set aside.
SLOW_COLLECTION = 0.002

Left = dict[object, str]


@dataclass(frozen=True, slots=True)
class Held:
    """What the process holds at one moment."""

    #: File descriptor and what it leads to: a path, `socket:[1234]`, `pipe:[1234]`.
    files: frozenset[tuple[int, str]] = frozenset()
    threads: frozenset[threading.Thread] = frozenset()
    #: Child processes, those included that ended and weren't waited for.
    children: frozenset[int] = frozenset()

    @classmethod
    def now(cls) -> Held:
        return cls(frozenset(_files()), frozenset(threading.enumerate()), frozenset(_children()))

    def __sub__(self, other: Held) -> Held:
        return Held(
            self.files - other.files,
            self.threads - other.threads,
            self.children - other.children,
        )

    def __or__(self, other: Held) -> Held:
        return Held(
            self.files | other.files,
            self.threads | other.threads,
            self.children | other.children,
        )

    def __and__(self, other: Held) -> Held:
        return self - (self - other)

    def __bool__(self) -> bool:
        return bool(self.files or self.threads or self.children)

    def described(self) -> Iterator[str]:
        """A line for each thing."""
        for number, leads_to in sorted(self.files):
            yield f"file descriptor {number}: {leads_to}{_ends(leads_to)}"
        for thread in self.threads:
            yield f"thread {thread.name}{' (daemon)' if thread.daemon else ''}"
        for child in sorted(self.children):
            yield f"child process {child}: {_command(child)}"


def _files() -> Iterator[tuple[int, str]]:
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - after each test; Path is slow
        try:
            yield int(name), os.readlink(f"/proc/self/fd/{name}")  # noqa: PTH115 - likewise
        except OSError:  # that which listed them
            continue


def _children() -> Iterator[int]:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # there is none
        return
    for thread in Path("/proc/self/task").iterdir():
        try:
            children = (thread / "children").read_text()
        except OSError:  # the thread has ended
            continue
        yield from map(int, children.split())


def _command(child: int) -> str:
    try:
        words = Path(f"/proc/{child}/cmdline").read_text().split("\0")
    except OSError:
        return "gone"
    return " ".join(words).strip()[:200] or "ended, not waited for"


def _ends(leads_to: str) -> str:
    """The two ends of a TCP connection, as hexadecimal ``address:port``; empty for others."""
    if leads_to.startswith("socket:["):
        for table in ("tcp", "tcp6"):
            for line in Path(f"/proc/self/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                if fields[9] == leads_to[8:-1]:
                    return f", TCP {fields[1]} to {fields[2]}"
    return ""


def _multiprocessing() -> Held:
    server = getattr(sys.modules.get("multiprocessing.forkserver"), "_forkserver", None)
    tracker = getattr(
        sys.modules.get("multiprocessing.resource_tracker"), "_resource_tracker", None
    )
    ids = {getattr(server, "_forkserver_pid", None), getattr(tracker, "_pid", None)}
    numbers = {getattr(server, "_forkserver_alive_fd", None), getattr(tracker, "_fd", None)}
    return Held(
        files=frozenset(file for file in _files() if file[0] in numbers),
        children=frozenset(ids - {None}),
    )


#: What may be left, by the reason.
EXEMPT: dict[str, Callable[[], Held]] = {
    "multiprocessing's fork server and resource tracker serve until the process ends: tests that "
    "kill servers fork them from it.": _multiprocessing,
}


def _open_generators(loop: Any) -> Iterator[str]:
    """Async generators that were begun, and neither ended nor closed.

    Not a library's: some lie in cycles for a while. A connection that they hold is found as one.
    """
    for each in loop._asyncgens:
        ours = "site-packages" not in each.ag_code.co_filename
        if each.ag_frame is not None and ours:
            yield repr(each)


@dataclass
class Watch:
    """What the test that runs now may leave, and what it was seen to leave."""

    before: Held = field(default_factory=Held)
    #: By living fixture of a wider scope: what it made.
    owned: dict[object, Held] = field(default_factory=dict)
    #: What such fixtures had made that are torn down.
    disowned: Held = field(default_factory=Held)
    #: What was found before the end of the test.
    found: list[str] = field(default_factory=list)
    failed: bool = False
    slow: bool = True

    def begin(self) -> None:
        if self.failed:
            self.collect()
        if self.slow:
            gc.collect()
            gc.freeze()
            self.slow = False
        self.found.clear()
        self.disowned = Held()
        self.failed = False
        self.before = Held.now()

    def left(self) -> Held:
        now = Held.now()
        left = (now - self.before) | (now & self.disowned)
        if left:
            for owned in self.owned.values():
                left -= owned
            for exempt in EXEMPT.values():
                left -= exempt()
        return left

    def settled(self) -> Held:
        """What is left when everything that ends by itself has ended."""
        deadline = time.monotonic() + SETTLING
        while (left := self.left()) and time.monotonic() < deadline:
            for thread in left.threads:
                thread.join(0.01)
            time.sleep(0.005)
        return left

    def end(self) -> None:
        if self.failed:
            return
        self.collect()
        self.found.extend(self.settled().described())
        if self.found:
            pytest.fail("The test left behind:\n" + "\n".join(self.found), pytrace=False)

    def collect(self) -> None:
        """What lies about in cycles is finalized now, in the test that made it."""
        hook, sys.unraisablehook = sys.unraisablehook, self.unraisable
        begun = time.process_time()
        try:
            if self.failed:  # what its traceback holds isn't to be the next test's
                for name in ("last_type", "last_value", "last_traceback", "last_exc"):
                    vars(sys).pop(name, None)
            gc.collect()
        finally:
            sys.unraisablehook = hook
        self.slow = time.process_time() - begun > SLOW_COLLECTION

    def unraisable(self, fault: Any) -> None:
        self.found.append(f"{fault.exc_type.__name__}: {fault.exc_value} (in {fault.object!r})")

    def closing(self, loop: asyncio.AbstractEventLoop) -> None:
        """An event loop is closed: nobody may wait in it any more."""
        for cycle in range(SETTLING_CYCLES):
            left = [*map(repr, asyncio.all_tasks(loop)), *_open_generators(loop)]
            if not left:
                break
            if cycle == SETTLING_CYCLES // 2:
                gc.collect()  # an exception holds frames, and what was open in them, in a cycle
            loop.run_until_complete(asyncio.sleep(0))
        self.found.extend(left)


_watch = Watch()
_close = asyncio.Runner.close


def _checked_close(runner: asyncio.Runner) -> None:
    if runner._loop is not None:  # there is no public way to ask without making one
        _watch.closing(runner._loop)
    _close(runner)


class _Logged(logging.Handler):
    """Hears what asyncio could tell nobody else: an exception that no one awaits."""

    def emit(self, record: logging.LogRecord) -> None:
        _watch.found.append(f"asyncio: {record.getMessage()}")


_logged = _Logged(logging.ERROR)


def pytest_sessionstart() -> None:
    asyncio.Runner.close = _checked_close
    logging.getLogger("asyncio").addHandler(_logged)


def pytest_sessionfinish() -> None:
    logging.getLogger("asyncio").removeHandler(_logged)
    asyncio.Runner.close = _close
    gc.unfreeze()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup() -> Generator[None]:
    _watch.begin()
    return (yield from _noting_failure())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None]:
    return (yield from _noting_failure())


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Generator[None]:
    result = yield from _noting_failure()
    _watch.end()
    return result


def _noting_failure() -> Generator[None]:
    try:
        return (yield)
    except BaseException:
        _watch.failed = True
        raise


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None]:
    if fixturedef.scope == "function":
        return (yield)
    before = Held.now()
    try:
        return (yield)
    finally:
        _watch.owned[fixturedef] = Held.now() - before


def pytest_fixture_post_finalizer(fixturedef: pytest.FixtureDef[Any]) -> None:
    _watch.disowned |= _watch.owned.pop(fixturedef, Held())
