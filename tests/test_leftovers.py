"""The check for leftovers, on small tests that leave something behind."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

TESTS = Path(__file__).parent

#: By what is left: a module, and what the report says.
LEAKS = {
    "task": (
        """
async def test():
    KEPT.append(asyncio.create_task(asyncio.sleep(60), name="late"))
""",
        "<Task pending name='late'",
    ),
    "task_of_another_loop": (
        """
def test():
    async def main():
        KEPT.append(asyncio.create_task(asyncio.sleep(60), name="late"))
    asyncio.run(main())
""",
        "<Task pending name='late'",
    ),
    "async_generator": (
        """
async def numbers():
    yield 1
    yield 2

async def test():
    KEPT.append(numbers())
    await anext(KEPT[-1])
""",
        "<async_generator object numbers",
    ),
    "thread": (
        """
def test():
    threading.Thread(target=STOP.wait, daemon=True, name="waiting").start()
""",
        r"thread waiting \(daemon\)",
    ),
    "thread_of_a_fixture": (
        """
@pytest.fixture
def waiting():
    threading.Thread(target=STOP.wait, name="waiting").start()

def test(waiting):
    pass
""",
        "thread waiting",
    ),
    "thread_of_a_wider_fixture_that_is_gone": (
        """
@pytest.fixture(scope="module")
def waiting():
    threading.Thread(target=STOP.wait, name="waiting").start()

def test(waiting):
    pass
""",
        "thread waiting",
    ),
    "socket": (
        """
def test():
    KEPT.append(socket.create_server(("127.0.0.1", 0)))
""",
        r"file descriptor \d+: socket:\[\d+\], TCP 0100007F:",
    ),
    "socket_in_a_cycle": (
        """
def test():
    cycle = [socket.create_server(("127.0.0.1", 0))]
    cycle.append(cycle)
""",
        "ResourceWarning: unclosed <socket",
    ),
    "socket_dropped": (
        """
def test():
    socket.create_server(("127.0.0.1", 0))
""",
        "ResourceWarning: unclosed <socket",
    ),
    "file": (
        """
def test(tmp_path):
    KEPT.append(open(tmp_path / "kept", "w"))
""",
        r"file descriptor \d+: /.*/kept",
    ),
    "pipe": (
        """
def test():
    os.pipe()
""",
        r"file descriptor \d+: pipe:\[\d+\]",
    ),
    "child": (
        """
def test():
    KEPT.append(subprocess.Popen(["sleep", "60"]))
""",
        r"child process \d+: sleep 60",
    ),
    "child_that_ended": (
        """
def test():
    KEPT.append(subprocess.Popen(["true"]))
""",
        r"child process \d+: ended, not waited for",
    ),
    "aiosqlite_connection": (
        """
async def test(tmp_path):
    KEPT.append(await aiosqlite.connect(tmp_path / "kept.db"))
""",
        r"file descriptor \d+: /.*/kept.db",
    ),
    "aiosqlite_connection_dropped": (
        """
async def test(tmp_path):
    await aiosqlite.connect(tmp_path / "lost.db")
""",
        "ResourceWarning: .*was deleted before being closed",
    ),
    "coroutine": (
        """
async def work():
    pass

async def test():
    work()
""",
        "coroutine 'work' was never awaited",
    ),
    "coroutine_in_a_cycle": (
        """
async def work():
    pass

def test():
    cycle = [work()]
    cycle.append(cycle)
""",
        "coroutine 'work' was never awaited",
    ),
    "exception_that_nobody_awaited": (
        """
async def work():
    raise ValueError("unseen")

async def test():
    asyncio.create_task(work())
    await asyncio.sleep(0.01)
""",
        "Task exception was never retrieved",
    ),
}

CLEAN = """
@pytest.fixture(scope="module")
def served():
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=STOP.wait)
        thread.start()
        child = subprocess.Popen(["sleep", "60"])
        yield
        child.kill()
        child.wait()
        STOP.set()
        thread.join()
        STOP.clear()

async def test_closed(served, tmp_path):
    task = asyncio.create_task(asyncio.sleep(60))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.to_thread(time.sleep, 0.01)
    async with aiosqlite.connect(tmp_path / "closed.db") as connection:
        await connection.execute("select 1")
    subprocess.run(["true"], check=True)

def test_ending_by_itself(served):
    threading.Thread(target=time.sleep, args=(0.05,)).start()

def test_that_failed(served):
    held = socket.create_server(("127.0.0.1", 0))
    assert held is None

def test_after_it(served):
    pass
"""

HEAD = """
import asyncio, os, socket, subprocess, threading, time
import aiosqlite, pytest

KEPT = []
STOP = threading.Event()
"""

INI = """
[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
filterwarnings = error
"""

CONFTEST = """
import os
import sys

pytest_plugins = ["leftovers"]

def pytest_configure():
    sys.modules["leftovers"].SETTLING = 0.2

def pytest_unconfigure():
    for name, module in list(sys.modules.items()):
        for kept in module.KEPT if name.startswith("test_") else ():
            if hasattr(kept, "kill"):
                kept.kill()
    sys.stdout.flush()
    os._exit(0)  # no thread that was left is waited for
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """By module and test: how it ended, and what was said."""
    folder = tmp_path_factory.mktemp("leaks")
    (folder / "pytest.ini").write_text(INI)
    (folder / "conftest.py").write_text(CONFTEST)
    for name, (source, _) in LEAKS.items():
        (folder / f"test_{name}.py").write_text(HEAD + source)
    (folder / "test_clean.py").write_text(HEAD + CLEAN)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--junitxml=told.xml"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    print(ran.stdout[-3000:], ran.stderr[-2000:])
    told: dict[str, tuple[str, str]] = {}
    for case in ElementTree.parse(folder / "told.xml").iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        for outcome in case:
            said = f"{outcome.get('message')}\n{outcome.text}"
            told[name] = (outcome.tag, said)
        told.setdefault(name, ("passed", ""))
    return told


@pytest.mark.parametrize("name", LEAKS)
def test_what_is_left_behind_fails_the_test(told: dict[str, tuple[str, str]], name: str) -> None:
    outcome, said = told[f"test_{name}.test"]
    assert outcome in ("error", "failure")
    assert re.search(LEAKS[name][1], said)


def test_what_is_cleared_away_passes(told: dict[str, tuple[str, str]]) -> None:
    outcomes = {name.split(".")[1]: told[name][0] for name in told if "clean" in name}
    assert outcomes == {
        "test_closed": "passed",
        "test_ending_by_itself": "passed",
        "test_that_failed": "failure",
        "test_after_it": "passed",
    }
