import json
import subprocess
import sys

import pytest

from copilot_adapters.starlette.logs import REMOVED, SecretFilter

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("the key my-very-own-key was refused", "my-very-own-key"),
        ('{"why": "key \\"quo\\u00e9ted\\" refused"}', "quo\\u00e9ted"),
        ("Incorrect API key provided: sk-proj-abc_123-DEF456.", "sk-proj-abc_123-DEF456"),
        ("Authorization: Bearer abcdef0123456789==", "abcdef0123456789=="),
        ("authorization: bearer abcdef0123456789", "abcdef0123456789"),
        (f"token={JWT}", JWT),
        ("GET https://ann:pa55word@host/v1 failed", "ann:pa55word"),
    ],
)
def test_secrets_are_removed(text: str, secret: str) -> None:
    clean = SecretFilter(["my-very-own-key", '"quoéted"'])(text)
    assert secret not in clean
    assert REMOVED in clean


@pytest.mark.parametrize(
    "text",
    [
        "a task-force of risk-takers",
        "the Bearer of news",
        "http://127.0.0.1:8000/v1",
        "12:30 at noon",
    ],
)
def test_the_rest_stays(text: str) -> None:
    assert SecretFilter([])(text) == text


PROGRAM = """
import logging, structlog
from copilot_adapters.starlette import logs

logs.configure(terminal={terminal}, secrets=["my-very-own-key"])
with structlog.contextvars.bound_contextvars(request_id="r1", session_id="s1"):
    structlog.get_logger("ours").info("hello", key="my-very-own-key", n=1)
    logging.getLogger("uvicorn.error").warning("theirs %s", "my-very-own-key")
    try:
        raise ValueError("my-very-own-key")
    except ValueError:
        logging.getLogger("copilot_core.runs").exception("failed")
        structlog.get_logger("ours").exception("failed too")
    logging.getLogger("httpx").info("never shown")
"""


@pytest.mark.parametrize("terminal", [True, False])
def test_every_log_of_the_process_goes_through_one_filter(terminal: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(terminal=terminal)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "my-very-own-key" not in done.stderr
    assert done.stderr.count(REMOVED) >= 4
    assert done.stderr.count("Traceback (most recent call last)") == 2
    assert "never shown" not in done.stderr
    if not terminal:
        lines = [json.loads(line) for line in done.stderr.splitlines()]
        assert [line["event"] for line in lines] == [
            "hello",
            f"theirs {REMOVED}",
            "failed",
            "failed too",
        ]
        for line in lines:
            assert (line["request_id"], line["session_id"]) == ("r1", "s1")
            assert line["level"]
            assert line["timestamp"].endswith("Z")
