"""Models that break, over real HTTP: each turn ends in bounded time, and says why.

What was streamed until then is stored, the request to the model is closed, and the next one is one
that a strict provider takes.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from chat_edge import PREFIX, problem
from chat_turns import Chat, Edge
from copilot_core.llm.config import LlmConfig
from copilot_core.llm.openai import chat_model
from openai_server import (
    CUT,
    HANG,
    RESET,
    Forever,
    Raw,
    call,
    chunk,
    error,
    event,
    piece,
    raw,
    text,
)

LOOK = "get_gns3_templates"


@pytest.fixture
async def chat(edge: Edge) -> AsyncIterator[Chat]:
    async with edge() as chat:
        yield chat


# -- answers that break ------------------------------------------------------------------


@dataclass
class Break:
    """How a model fails, and what is said of it."""

    reply: Any
    code: str = "llm_unavailable"
    retryable: bool = True
    #: What the turn has said by then.
    said: str = ""
    #: Part of the sentence.
    words: str = ""
    silence: float = 30


HELLO = [chunk({"content": "Hello "}), chunk({"content": "you"})]
HTML = b"<html><body>sk-not-for-you</body></html>"


def said_error(**told: Any) -> bytes:
    return event({"error": told})


def document(body: bytes, status: int = 200) -> Any:
    return error(status, body=body, headers={"content-type": "application/json"})


BROKEN = {
    # HTTP errors.
    "401": Break(error(401), "llm_unauthorized", retryable=False, words="refused the key"),
    "403": Break(error(403), "llm_unauthorized", retryable=False, words="rights"),
    "404": Break(error(404), retryable=False, words="know this model"),
    "408": Break(error(408), words="in time"),
    "422": Break(error(422), retryable=False, words="invalid"),
    "429": Break(error(429), "llm_rate_limited", words="slow down"),
    "500 with HTML": Break(error(500, body=HTML), words="server failed"),
    "500 with 20 MB": Break(error(500, body=b"x" * 20_000_000), words="server failed"),
    "400 with HTML": Break(error(400, body=HTML), retryable=False, words="invalid"),
    "502, compressed": Break(
        error(502, body=b"no gzip", headers={"content-encoding": "gzip"}), words="server failed"
    ),
    "503": Break(error(503), words="server failed"),
    "307 to nowhere": Break(error(307), words="no answer"),
    # Answers that are none.
    "200 with HTML": Break(error(200, body=HTML), words="no answer"),
    "200 with an error": Break(
        document(b'{"error": {"code": 429, "message": "sk-not-for-you"}}'),
        "llm_rate_limited",
        words="slow down",
    ),
    "200 with JSON that is no answer": Break(document(b'{"detail": "x"}'), words="no answer"),
    "200 with half a JSON": Break(document(b'{"choices": ['), words="no answer"),
    "200 with nothing": Break(document(b""), words="no answer"),
    "200, compressed": Break(
        error(200, body=b"x" * 99, headers={"content-encoding": "br"}), words="no answer"
    ),
    "a stream of nothing": Break(raw([], done=False), words="no answer"),
    "a stream of DONE": Break(raw([]), words="no answer"),
    "an error in the stream": Break(
        raw([said_error(code="invalid_api_key", message="sk-not-for-you")]),
        "llm_unauthorized",
        retryable=False,
        words="refused the key",
    ),
    "an error in mid-text": Break(
        raw([*HELLO, said_error(code=502, message="sk-not-for-you")]),
        said="Hello you",
        words="server failed",
    ),
    "an error in mid-text, as text": Break(
        raw([*HELLO, b'data: {"error": "sk-not-for-you"}\n\n']),
        said="Hello you",
        words="server failed",
    ),
    "an event of an error": Break(
        raw([*HELLO, b'event: error\ndata: {"type": "rate_limit_error"}\n\n']),
        "llm_rate_limited",
        said="Hello you",
        words="slow down",
    ),
    "an error object": Break(
        raw([b'data: {"object": "error", "message": "x", "code": 400}\n\n']),
        retryable=False,
        words="invalid",
    ),
    "the context is too long, in the stream": Break(
        raw([said_error(code=400, message="the request exceeds the available context size")]),
        "context_window_exceeded",
        retryable=False,
        words="too long",
    ),
    "half a JSON in mid-text": Break(
        raw([*HELLO, b'data: {"choices": [\n\n']), said="Hello you", words="no answer"
    ),
    "a number": Break(raw([b"data: 7\n\n"]), words="no answer"),
    "JSON of 100,000 levels": Break(raw([b"data: " + b"[" * 100_000 + b"\n\n"]), words="no answer"),
    # Connections that break.
    "closed before the first byte": Break(CUT, words="can't be reached"),
    "reset before the first byte": Break(RESET, words="can't be reached"),
    "cut before the first event": Break(raw([CUT]), words="can't be reached"),
    "reset before the first event": Break(raw([RESET]), words="can't be reached"),
    "cut in mid-text": Break(
        raw([*HELLO, CUT]), "upstream_disconnected", said="Hello you", words="broke in the middle"
    ),
    "reset in mid-text": Break(
        raw([*HELLO, RESET]), "upstream_disconnected", said="Hello you", words="broke in the middle"
    ),
    "cut in the middle of an event": Break(
        raw([*HELLO, b'data: {"choices"', CUT]),
        "upstream_disconnected",
        said="Hello you",
        words="broke in the middle",
    ),
    "cut behind a reason to finish that was none": Break(
        raw([chunk({"content": "Hello "}, "stop"), chunk({"content": "you"}), CUT]),
        "upstream_disconnected",
        said="Hello you",
        words="broke in the middle",
    ),
    # Silence.
    "silence before the first byte": Break(HANG, words="in time", silence=0.3),
    "silence before the first event": Break(raw([HANG]), words="in time", silence=0.3),
    "silence in mid-text": Break(
        raw([*HELLO, HANG]), said="Hello you", words="fell silent", silence=0.3
    ),
    "nothing but comments": Break(
        raw([*HELLO, Forever(b": still here\n\n")]),
        said="Hello you",
        words="fell silent",
        silence=0.3,
    ),
}


@pytest.mark.parametrize("case", BROKEN.values(), ids=BROKEN)
async def test_an_answer_that_breaks(
    edge: Edge, case: Break, caplog: pytest.LogCaptureFixture
) -> None:
    async with edge(silence_timeout=case.silence) as chat:
        chat.model.script(case.reply)
        reader = await chat.ask()
        end = reader.told[-1]
        assert {**end, "error": ""} == {
            "type": "error",
            "error": "",
            "code": case.code,
            "retryable": case.retryable,
            "session_id": "s1",
        }
        assert case.words in end["error"]
        said = [f"assistant: {case.said} (interrupted)"] if case.said else []
        assert await chat.shown() == ["user: hi", *said]
        await chat.settled(reader, llm_calls=1, untold=1)
    assert "sk-not-for-you" not in caplog.text + str(reader.told)


@pytest.mark.parametrize("how", ["cut", "reset", "silence", "error"])
async def test_an_answer_that_breaks_in_mid_arguments(edge: Edge, how: str) -> None:
    """The call is shown, never executed, and answered."""
    last = {"cut": CUT, "reset": RESET, "silence": HANG, "error": Raw(said_error(code=500))}[how]
    async with edge(silence_timeout=0.5 if how == "silence" else 30) as chat:
        chat.model.script(call(LOOK, '{"n": 1}', id="a", pieces=2).insert(last, after=2))
        reader = await chat.ask()
        kinds = [event["type"] for event in reader.told]
        assert kinds == ["tool_call", "tool_call", "tool_start", "tool_end", "error"]
        assert await chat.shown() == [
            "user: hi",
            "assistant:  ['a'] (interrupted)",
            "tool a: aborted",
        ]
        await chat.settled(reader, llm_calls=1, untold=1)


# -- Retry-After -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "told", "seconds"),
    [
        (429, "7", 7),
        (503, " 20 ", 20),
        (500, "1", 1),
        (429, "99999", 86_400),
        (429, "9" * 10_000, 86_400),
        (429, timedelta(hours=1), 3600),
        (429, timedelta(days=100), 86_400),
        (429, "0", None),
        (429, "-7", None),
        (429, "7.5", None),
        (429, "soon", None),
        (429, "\xb2", None),
        (429, timedelta(minutes=-1), None),
        (429, "Wed, 99 Oct 2015 07:28:00 GMT", None),
        (401, "7", None),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_retry_after(
    chat: Chat, status: int, told: str | timedelta, seconds: int | None
) -> None:
    """In seconds, or as a date; at most a day."""
    slack = 0
    if isinstance(told, timedelta):
        told, slack = format_datetime(datetime.now(UTC) + told, usegmt=True), 60
    reply = error(status, headers={"retry-after": told})
    chat.model.script(reply, reply)
    end = (await chat.ask()).told[-1]
    body = {"message": "hi", "session_id": "s1", "stream": False}
    answer = await chat.client.post(f"{PREFIX}/stream", json=body)
    assert (answer.status_code, problem(answer)["code"]) == (502, end["code"])
    if seconds is None:
        assert "retry_after" not in end
        assert "retry-after" not in answer.headers
    else:
        assert seconds - slack <= end["retry_after"] <= seconds
        assert seconds - slack <= int(answer.headers["retry-after"]) <= seconds
    await chat.goes_on()


# -- answers that never end --------------------------------------------------------------


ENDLESS = {
    "a line": b"data: " + b"x" * 65_536,
    "a comment": b":" + b"x" * 65_536,
    "an event": b"data: " + b"x" * 65_536 + b"\n",
    "comments": b": still here\n\n" * 4096,
    "objects that say nothing": event({}) * 4096,
    "empty deltas": event(chunk()) * 1024,
    "no choices": event({"choices": []}) * 1024,
    "text": event(chunk({"content": "x" * 9999})),
    "arguments": event(piece("x" * 9999, name=LOOK)),
    "names": event(piece("", name="x" * 9999)),
    "ids": event(piece("", id="x" * 9999)),
    "calls": event(piece("{}", name=LOOK, index=...)),
}


@pytest.mark.parametrize("body", ENDLESS.values(), ids=ENDLESS)
async def test_an_answer_that_never_ends(
    chat: Chat, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is stopped, and the connection is closed."""
    monkeypatch.setattr("copilot_core.llm.answer.MAX_CHUNKS", 5000)
    monkeypatch.setattr("copilot_core.llm.connection.MAX_BODY", 20 << 20)
    chat.model.script(raw([Forever(body)]))
    reader = await chat.ask()
    end = reader.told[-1]
    assert (end["type"], end["code"], end["retryable"]) == ("error", "llm_unavailable", True)
    assert "did not come to an end" in end["error"]
    assert await chat.model.requests[0].left()
    assert len(reader.content) < 3 << 20
    await chat.settled(reader, llm_calls=1, untold=1)


async def test_an_answer_that_takes_too_long(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four, as a limit that comes together with a chunk was lost once."""
    monkeypatch.setattr("copilot_core.llm.answer.MAX_SECONDS", 0.2)
    for at in range(4):
        chat.model.script(text("word " * 5000).paced(0.001))
        reader = await chat.ask(session_id=f"s{at}")
        assert "did not come to an end" in reader.told[-1]["error"]
        assert await chat.model.requests[at].left()
        await chat.agrees(reader)
    await chat.goes_on("s0")


async def test_a_title_that_never_ends(edge: Edge) -> None:
    async with edge(title=raw([Forever(event(chunk({"content": "x" * 9999})))])) as chat:
        chat.model.script(text("Hello you.", pieces=2))
        reader = await chat.ask()
        assert [told["type"] for told in reader.told] == ["content", "content", "done"]
        assert await chat.model.requests[1].left()
        assert (await chat.session())["title"] == "hi"


async def test_an_answer_that_goes_on_behind_its_end(chat: Chat) -> None:
    """What comes behind [DONE] isn't read, and not waited for."""
    chat.model.script(raw([*HELLO, b"data: [DONE]\n\n", Forever(event(chunk({"content": "x"})))]))
    reader = await chat.ask()
    assert await chat.shown() == ["user: hi", "assistant: Hello you"]
    assert await chat.model.requests[0].left()
    await chat.settled(reader, llm_calls=2, untold=1)


# -- the connection ----------------------------------------------------------------------


def test_90_seconds_of_silence_are_what_is_waited() -> None:
    """How silence ends is shown above, with less."""
    model: Any = chat_model(LlmConfig("m"))
    client = model.root_async_client
    assert client.timeout == (10, 90, 90, 10)  # connect, read, write, pool
    assert client.max_retries == 0


def test_turns_share_one_http_client() -> None:
    """Making one takes 50 ms."""
    clients = {
        chat_model(LlmConfig(name, base_url=f"http://127.0.0.1:1/{name}")).root_async_client._client  # type: ignore[attr-defined]  # ChatOpenAI's
        for name in "ab"
    }
    assert len(clients) == 1


async def test_a_stop_closes_the_request(chat: Chat) -> None:
    """Before the first byte, in mid-text and in mid-arguments."""
    for at, reply in enumerate([HANG, raw([*HELLO, HANG]), call(LOOK, '{"n": 1}').hang(after=2)]):
        session = f"stopped-{at}"
        chat.model.script(reply)
        async with chat.asked(session_id=session) as reader:
            await chat.model.wait_for_requests(at + 1)
            if at:
                await reader.one()
            request = chat.model.requests[at]
            assert not request.disconnected.is_set()
            await chat.abort(session)
            assert (await reader.end())["type"] == "abort"
            assert await request.left(1)
    assert chat.model.refused == []
