"""What comes out when something inside raises."""

import logging

import httpx
import pytest
import structlog
from starlette.types import ASGIApp, Receive, Scope, Send

from chat_edge import problem
from copilot_adapters.starlette.problems import KINDS, ProblemBoundary
from copilot_contracts import Registry
from copilot_core.errors import ChatError
from serving import serving


def raising(error: Exception, *, after_start: bool = False) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if after_start:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise error

    return ProblemBoundary(ProblemBoundary(app))


async def answered(app: ASGIApp) -> httpx.Response:
    async with serving(app) as url, httpx.AsyncClient() as client:
        return await client.get(url)


async def test_an_unforeseen_exception_is_logged_in_outline_and_answered_without_it(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """In an app that hasn't configured structlog, too: no text, no variables of any frame."""
    structlog.reset_defaults()
    answer = await answered(raising(RuntimeError("/secret/path is full of sk-1234567890")))
    assert (answer.status_code, problem(answer)["code"]) == (500, "internal")
    for inside in ("/secret/path", "sk-1234567890", "RuntimeError", "Traceback"):
        assert inside not in answer.text
    logged = "".join(capsys.readouterr()) + caplog.text
    assert "RuntimeError" in logged
    for secret in ("sk-1234567890", "x-request-id", "user-agent"):
        assert secret not in logged
    assert problem(answer)["request_id"] in logged


async def test_a_chat_error_keeps_its_code_and_its_time_to_wait() -> None:
    answer = await answered(raising(ChatError("llm_rate_limited", "Wait.", retry_after=1.2)))
    assert (answer.status_code, problem(answer)["code"]) == (502, "llm_rate_limited")
    assert answer.headers["retry-after"] == "2"


async def test_a_code_that_the_contract_does_not_know_is_internal() -> None:
    answer = await answered(raising(ChatError("brand_new", "Something new.")))
    assert (answer.status_code, problem(answer)["code"]) == (500, "internal")


async def test_an_answer_that_has_begun_is_cut_off_not_finished(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR), pytest.raises(httpx.RemoteProtocolError):
        await answered(raising(RuntimeError("late"), after_start=True))


def test_every_code_of_the_contract_has_a_status() -> None:
    contract = Registry.bundled().surface("gns3-chat").contract("model", "Problem")
    assert set(contract.schema["properties"]["code"]["enum"]) == set(KINDS)
