"""The chat API over real HTTP: routes, refusals, streams. The model is scripted, all else real."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from chat_edge import (
    JSON,
    PREFIX,
    SURFACE_CONTRACTS,
    Edge,
    Mounted,
    chat_edge,
    decoded,
    problem,
    user,
)
from copilot_adapters.starlette.endpoint import ChatSettings
from copilot_contracts import verify_stream
from openai_server import OpenAIServer, error, text


@pytest.fixture
def edge(tmp_path: Path, openai_server: OpenAIServer) -> Edge:
    openai_server.always(text("Hello there."))
    return partial(chat_edge, tmp_path, openai_server)


async def said(client: httpx.AsyncClient, message: str, session_id: str) -> None:
    body = {"message": message, "session_id": session_id, "stream": False}
    answer = await client.post(f"{PREFIX}/stream", json=body)
    assert answer.status_code == 200, answer.text


async def test_a_turn_is_streamed_as_its_contracts_say(edge: Edge) -> None:
    async with edge() as client:
        answer = await client.post(f"{PREFIX}/stream", json={"message": "hi"})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/event-stream"
    assert b"\r" not in answer.content
    assert verify_stream(SURFACE_CONTRACTS, answer.content) == []
    events = decoded(answer.content)
    assert "".join(d["content"] for _, d in events if d["type"] == "content") == "Hello there."
    assert events[-1][1]["type"] == "done"
    run = events[0][0].partition(":")[0]
    assert [event_id for event_id, _ in events] == [f"{run}:{n + 1}" for n in range(len(events))]


async def test_a_turn_as_one_document(edge: Edge) -> None:
    async with edge() as client:
        answer = await client.post(f"{PREFIX}/stream", json={"message": "hi", "stream": False})
        body = answer.json()
        history = await client.get(f"{PREFIX}/sessions/{body['session_id']}/history")
    assert answer.status_code == 200
    assert SURFACE_CONTRACTS.contract("response", "stream_chat:200").violation(body) is None
    assert [(m["role"], m["content"]) for m in body["messages"]] == [
        ("user", "hi"),
        ("assistant", "Hello there."),
    ]
    assert history.json()["messages"] == body["messages"]


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [(401, 502, "llm_unauthorized"), (429, 502, "llm_rate_limited"), (500, 502, "llm_unavailable")],
)
async def test_a_failed_turn_as_one_document_is_a_problem_without_the_key(
    edge: Edge, openai_server: OpenAIServer, failure: int, status: int, code: str
) -> None:
    openai_server.always(error(failure, f"key {openai_server.api_key} of sk-other-1234567890"))
    async with edge() as client:
        body = {"message": "hi", "stream": False, "session_id": "s1"}
        answer = await client.post(f"{PREFIX}/stream", json=body)
        assert answer.status_code == status
        assert problem(answer)["code"] == code
        assert problem(answer)["session_id"] == "s1"
        assert "retryable" in problem(answer)
        history = await client.get(f"{PREFIX}/sessions/s1/history")
    for secret in (openai_server.api_key, "sk-other-1234567890"):
        assert secret not in answer.text + history.text


VERBS = [
    ("GET", "/sessions/{}/history", None),
    ("PATCH", "/sessions/{}", {"title": "Mine now"}),
    ("PUT", "/sessions/{}/pin", None),
    ("DELETE", "/sessions/{}/pin", None),
    ("POST", "/sessions/{}/abort", None),
    ("GET", "/sessions/{}/stream", None),
    ("DELETE", "/sessions/{}", None),
]


async def test_another_users_session_is_as_unknown_on_every_verb(edge: Edge) -> None:
    async with edge() as client:
        await said(client, "hi", "s1")
        before = (await client.get(f"{PREFIX}/sessions/s1/history")).json()
        for method, path, body in VERBS:
            answers = [
                await client.request(
                    method, PREFIX + path.format(name), json=body, headers=user("bob")
                )
                for name in ("s1", "nobodys", "a.malformed~id")
            ]
            seen = []
            for answer in answers:
                assert answer.status_code == 404, (method, path)
                seen.append({**problem(answer), "request_id": ""})
            assert seen[0] == seen[1] == seen[2]
            assert seen[0]["code"] == "session_not_found"
        for stream in (True, False):
            body = {"message": "hi", "session_id": "s1", "stream": stream}
            answer = await client.post(f"{PREFIX}/stream", json=body, headers=user("bob"))
            assert (answer.status_code, problem(answer)["code"]) == (404, "session_not_found")
        assert (await client.get(f"{PREFIX}/sessions", headers=user("bob"))).json() == []
        assert (await client.get(f"{PREFIX}/sessions/s1/history")).json() == before


async def test_sessions_are_listed_renamed_pinned_and_deleted(edge: Edge) -> None:
    def kept(route: str, answer: httpx.Response) -> Any:
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["cache-control"] == "no-store"
        body = answer.json()
        assert SURFACE_CONTRACTS.contract("response", f"{route}:200").violation(body) is None
        return body

    async with edge() as client:
        await said(client, "hi", "s1")
        await said(client, "hi", "s2")
        renamed = await client.patch(f"{PREFIX}/sessions/s1", json={"title": "  Lab of Monday "})
        assert kept("rename_session", renamed)["title"] == "Lab of Monday"
        assert kept("pin_session", await client.put(f"{PREFIX}/sessions/s1/pin"))["pinned"] is True
        listed = kept("list_sessions", await client.get(f"{PREFIX}/sessions"))
        assert [s["thread_id"] for s in listed] == ["s1", "s2"]
        unpinned = kept("unpin_session", await client.delete(f"{PREFIX}/sessions/s1/pin"))
        assert unpinned["pinned"] is False
        few = await client.get(f"{PREFIX}/sessions", params={"q": "monday", "limit": 1})
        assert [s["thread_id"] for s in kept("list_sessions", few)] == ["s1"]
        idle = await client.post(f"{PREFIX}/sessions/s1/abort")
        assert kept("abort_session", idle) == {"status": "ok", "session_id": "s1"}
        gone = await client.delete(f"{PREFIX}/sessions/s1")
        assert (gone.status_code, gone.content) == (204, b"")
        assert (await client.get(f"{PREFIX}/sessions/s1/history")).status_code == 404
        assert [s["thread_id"] for s in (await client.get(f"{PREFIX}/sessions")).json()] == ["s2"]


async def test_history_is_read_in_parts(edge: Edge) -> None:
    async with edge() as client:
        for message in ("one", "two"):
            await said(client, message, "s1")
        url = f"{PREFIX}/sessions/s1/history"
        newest = (await client.get(url, params={"limit": 2})).json()
        older = (await client.get(url, params={"before": newest["messages"][0]["id"]})).json()
    assert [m["content"] for m in newest["messages"]] == ["two", "Hello there."]
    assert newest["has_more"] is True
    assert [m["content"] for m in older["messages"]] == ["one", "Hello there."]
    assert older["has_more"] is False


BODIES: list[tuple[bytes, int]] = [
    (b"", 422),
    (b"{", 422),
    (b"[]", 422),
    (b'"hi"', 422),
    (b"{}", 422),
    (b'{"message": ""}', 422),
    (b'{"message": 1}', 422),
    (b'{"message": "hi", "session_id": "../x"}', 422),
    (b'{"message": "hi", "session_id": 7}', 422),
    (b'{"message": "hi", "stream": "yes"}', 422),
    (b'{"message": "hi", "temperature": 2.1}', 422),
    (b'{"message": "hi", "temperature": -0.1}', 422),
    (b'{"message": "hi", "temperature": NaN}', 422),
    (b'{"message": "hi", "temperature": 1e999}', 422),
    (b'{"message": "hi", "max_tokens": 0}', 422),
    (b'{"message": "hi", "max_tokens": 1.5}', 422),
    (b'{"message": "hi", "max_tokens": 1e30}', 422),
    (b'{"message": "hi", "mode": "voice"}', 422),
    (b'{"message": "\xff"}', 422),
    (b'{"message": "\\ud800"}', 422),
    (b'{"message": "hi", "x": ' + b"[" * 5000 + b"]" * 5000 + b"}", 422),
    (b'{"message": "' + b"x" * 100_001 + b'"}', 422),
    (b'{"message": "hi", "unknown": 1, "stream": false}', 200),
    (b'{"message": "hi", "session_id": null, "temperature": null, "stream": false}', 200),
    (b'{"message": "hi", "max_tokens": 50.0, "temperature": 2, "stream": false}', 200),
]


async def test_a_body_is_read_strictly(edge: Edge) -> None:
    async with edge() as client:
        for body, status in BODIES:
            answer = await client.post(f"{PREFIX}/stream", content=body, headers=JSON)
            assert answer.status_code == status, (body[:80], answer.text)
            if status != 200:
                assert problem(answer)["code"] == "invalid_request"
        good = [body for body, status in BODIES if status == 200]
        assert len((await client.get(f"{PREFIX}/sessions")).json()) == len(good)


async def test_a_refusal_names_the_place_and_never_the_value(edge: Edge) -> None:
    async with edge() as client:
        body = {"message": "hi", "temperature": "my-password"}
        answer = await client.post(f"{PREFIX}/stream", json=body)
        broken = b'{"message": "my-password" "x"}'
        unparsed = await client.post(f"{PREFIX}/stream", content=broken, headers=JSON)
    assert "/temperature" in problem(answer)["detail"]
    assert "my-password" not in answer.text + unparsed.text


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"content-type": "text/plain"},
        {"content-type": "application/jsonx"},
        {"content-type": "application/json; charset=latin-1"},
        {**JSON, "content-encoding": "gzip"},
    ],
)
async def test_a_body_must_say_that_it_is_json(edge: Edge, headers: dict[str, str]) -> None:
    async with edge() as client:
        answer = await client.post(f"{PREFIX}/stream", content=b'{"message":1}', headers=headers)
    assert (answer.status_code, problem(answer)["code"]) == (415, "invalid_request")


async def test_a_large_body_is_refused_while_it_comes(edge: Edge) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(1000):
            yield b" " * (1 << 16)

    contents: list[Any] = [b" " * 2000, endless()]
    async with edge(settings=ChatSettings(body_limit=1000)) as client:
        for content in contents:
            answer = await client.post(f"{PREFIX}/stream", content=content, headers=JSON)
            assert (answer.status_code, problem(answer)["code"]) == (413, "body_too_large")
        at_the_limit = b'{"message": "hi", "stream": false}'.ljust(1000)
        answer = await client.post(f"{PREFIX}/stream", content=at_the_limit, headers=JSON)
        assert answer.status_code == 200


QUERIES: list[tuple[str, int]] = [
    ("limit=1", 200),
    ("limit=1&unknown=x", 200),
    ("limit=abc", 422),
    ("limit=", 422),
    ("limit=0", 422),
    ("limit=1001", 422),
    ("limit=1.0", 422),
    ("limit=+1", 422),
    ("limit=%D9%A1", 422),
    ("limit=" + "9" * 5000, 422),
    ("limit=1&limit=2", 422),
    ("offset=-1", 422),
    ("q=%FF", 422),
    ("q=" + "x" * 256, 422),
    ("&".join("q=x" for _ in range(60)), 422),
]


async def test_a_query_is_read_strictly(edge: Edge) -> None:
    async with edge() as client:
        for query, status in QUERIES:
            answer = await client.get(f"{PREFIX}/sessions?{query}")
            assert answer.status_code == status, (query[:80], answer.text)
            if status == 422:
                assert problem(answer)["code"] == "invalid_request"


@pytest.mark.parametrize(
    ("path", "headers", "status", "code"),
    [
        ("/v3/projects/p1/chat/sessions", {"authorization": ""}, 401, "unauthorized"),
        ("/v3/projects/nope/chat/sessions", {"authorization": ""}, 401, "unauthorized"),
        ("/v3/projects/nope/chat/sessions", {}, 404, "project_not_found"),
        ("/v3/projects/..%2Fp1/chat/sessions", {}, 404, None),
        ("/v3/projects/%2e%2e/chat/sessions", {}, 404, "project_not_found"),
        ("/v3/projects/p1%00/chat/sessions", {}, 404, "project_not_found"),
        (f"/v3/projects/{'p' * 65}/chat/sessions", {}, 404, "project_not_found"),
        ("/v3/projects/p2/chat/sessions", {}, 403, "project_not_opened"),
    ],
)
async def test_who_may_not_go_on(
    edge: Edge, path: str, headers: dict[str, str], status: int, code: str | None
) -> None:
    async with edge() as client:
        # the body would be refused too, if it were looked at
        for method in ("GET", "POST"):
            target = path if method == "GET" else path.replace("/sessions", "/stream")
            answer = await client.request(method, target, headers=headers)
            assert answer.status_code == status
            if code:
                assert problem(answer)["code"] == code
            if status == 401:
                assert answer.headers["www-authenticate"] == "Bearer"
            if status == 403:
                assert "closed" in problem(answer)["detail"]


async def test_without_a_model_the_answer_says_what_to_do(edge: Edge) -> None:
    async with edge(configured=False) as client:
        answer = await client.post(f"{PREFIX}/stream", json={"message": "hi"})
        assert (answer.status_code, problem(answer)["code"]) == (400, "llm_not_configured")
        assert "--llm-base-url" in problem(answer)["detail"]
        assert (await client.get(f"{PREFIX}/sessions")).json() == []


async def test_what_is_served_is_what_the_catalogue_says(edge: Edge) -> None:
    """Every route, under both prefixes, and nothing else."""
    routes = SURFACE_CONTRACTS.catalogue.routes.values()
    served = {(route.method, path) for route in routes for path in (route.path, *route.aliases)}
    paths = {path for _, path in served}
    assert len(served) == 2 * len(routes)
    async with edge() as client:
        for path in paths:
            url = path.format(project_id="p1", session_id="s1")
            for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
                answer = await client.request(method, url, content=b"{", headers=JSON)
                assert (answer.status_code != 405) == ((method, path) in served), (method, path)
            options = await client.options(url)
            assert set(options.headers["allow"].split(", ")) == {
                method for method, served_path in served if served_path == path
            }
            assert (await client.get(url + "/more/and/more")).status_code == 404
            assert problem(await client.get(url + "/"))["code"] == "invalid_request"


def _starlette_mount(routes: list[BaseRoute]) -> ASGIApp:
    app = Starlette()
    app.mount("", Starlette(routes=routes))
    return app


def _fastapi_extend(routes: list[BaseRoute]) -> ASGIApp:
    app = FastAPI()

    @app.get("/v3/version")
    async def version() -> dict[str, str]:
        return {"version": "3.0.6"}

    app.router.routes.extend(routes)
    return app


def _fastapi_mount(routes: list[BaseRoute]) -> ASGIApp:
    app = FastAPI()
    app.mount("", Starlette(routes=routes))
    return app


@pytest.mark.parametrize("mounted", [_starlette_mount, _fastapi_extend, _fastapi_mount])
async def test_the_routes_fit_into_other_apps(edge: Edge, mounted: Mounted) -> None:
    async with edge(mounted=mounted) as client:
        answer = await client.post(
            "/v3/copilot/projects/p1/chat/stream", json={"message": "hi", "session_id": "s1"}
        )
        assert verify_stream(SURFACE_CONTRACTS, answer.content) == []
        assert (await client.get(f"{PREFIX}/sessions/s1/history")).status_code == 200
        assert problem(await client.get(f"{PREFIX}/sessions/s2/history"))["status"] == 404
        assert problem(await client.get(f"{PREFIX}/nowhere"))["status"] == 404
        assert problem(await client.put(f"{PREFIX}/sessions"))["status"] == 405
