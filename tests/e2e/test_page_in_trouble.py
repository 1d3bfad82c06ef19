"""The page when something goes wrong: failures, broken connections, hostile text."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path

import jwt
import pytest
from playwright.sync_api import expect

from chat_page import ChatPage, environment, serving
from openai_server import OpenAIServer, call, error, text
from relay import Relay

HOSTILE = "<img src=x onerror=alert(1)>"
SECRET = "a secret of at least thirty-two bytes"

pytestmark = pytest.mark.browser


def test_an_error_and_a_retry(chat: ChatPage, address: str, model: OpenAIServer) -> None:
    model.script(
        text("", pieces=["I was ", "about"]).cut(after=1),
        text("Now it works."),
        error(401, "no", code="invalid_api_key"),
    )
    chat.page.goto(address)
    chat.ask("fail once")
    expect(chat.ending).to_contain_text("broke in the middle")
    expect(chat.answer).to_contain_text("I was")
    expect(chat.answer).to_contain_text("Interrupted")
    chat.button("Try again").click()
    expect(chat.answer).to_have_text("Now it works.")
    chat.wait()
    expect(chat.said).to_have_text(["fail once", "fail once"])
    expect(chat.button("Try again")).to_have_count(0)
    chat.ask("fail for good")
    expect(chat.ending.last).to_contain_text("refused the key")
    expect(chat.button("Try again")).to_have_count(0)


def test_stop(chat: ChatPage, address: str, model: OpenAIServer) -> None:
    model.script(text("", pieces=["I could ", "go on ", "for ever"]).hang(after=2), text("Yes?"))
    chat.page.goto(address)
    chat.ask("talk")
    expect(chat.answer).to_have_text("I could go on ")
    chat.button("Stop").click()
    expect(chat.ending).to_have_text("Stopped.")
    expect(chat.answer).to_have_text("I could go on ")  # and no second word for it
    assert model.requests[-1].disconnected.wait(5)
    chat.ask("still there?")
    expect(chat.answer).to_have_text("Yes?")
    chat.wait()


def test_stop_while_a_tool_runs(chat: ChatPage, address: str, model: OpenAIServer) -> None:
    endless = {"device_configs": [{"device_name": "PC1", "commands": ["ping 10.0.0.2 -c 60"]}]}
    model.script(call("execute_vpcs_commands", endless))
    chat.page.goto(address)
    chat.ask("ping for a minute")
    expect(chat.states).to_have_text("running")
    expect(chat.calls.get_by_label("Arguments")).to_be_visible()
    chat.button("Stop").click()
    expect(chat.ending).to_have_text("Stopped.")
    for reads in ("live", "from the history"):
        if reads == "from the history":
            chat.page.reload()
        expect(chat.states).to_have_text("unfinished")
        expect(chat.calls.get_by_label("Result")).to_have_text("")
        expect(chat.calls.get_by_label("Arguments")).to_be_hidden()
        words = re.findall("(?i)stopped|interrupted", chat.shown())
        assert words == (["Stopped"] if reads == "live" else [])


def test_hostile_text_stays_text(chat: ChatPage, address: str, model: OpenAIServer) -> None:
    config = {"device_configs": [{"device_name": "PC1", "commands": [HOSTILE]}]}
    link = "[a](javascript:alert(1))"
    model.script(
        text(HOSTILE) + call("execute_vpcs_commands", config) + call(HOSTILE, "{"),
        text(f"{link} {HOSTILE}"),
    )
    chat.page.goto(address)
    chat.ask(HOSTILE)
    chat.wait()
    for reads in ("live", "from the history"):
        if reads == "from the history":
            chat.page.reload()
        expect(chat.answer).to_have_text(f"{link} {HOSTILE}")
        expect(chat.title).to_have_text(HOSTILE)
        expect(chat.titles.first).to_have_text(HOSTILE)
        expect(chat.said).to_have_text(HOSTILE)
        expect(chat.answers.first.locator("p").first).to_have_text(HOSTILE)
        expect(chat.calls.first.get_by_label("Result")).to_contain_text(HOSTILE)
        expect(chat.calls.last.locator("code")).to_have_text(HOSTILE)
        expect(chat.page.locator("img, .messages a")).to_have_count(0)
    chat.button("Delete").click()
    expect(chat.page.locator("#delete-title")).to_have_text(HOSTILE)


def test_a_reload_in_mid_turn(chat: ChatPage, address: str, model: OpenAIServer) -> None:
    go_on = threading.Event()
    model.script(
        text("First a look. ") + call("gns3_topology_reader"),
        text("", pieces=["Half ", "and half."]).until(go_on, after=1),
    )
    chat.page.goto(address)
    chat.ask("slowly")
    expect(chat.answer).to_have_text("Half ")
    chat.page.reload()
    expect(chat.answer).to_have_text("Half ")
    expect(chat.button("Stop")).to_be_visible()
    go_on.set()
    expect(chat.answer).to_have_text("Half and half.")
    chat.wait()
    expect(chat.said).to_have_text("slowly")
    expect(chat.states).to_have_text("done")


def test_a_token_a_broken_connection_and_a_restart(
    chat: ChatPage, model: OpenAIServer, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text(SECRET)
    options = (tmp_path / "data", "--jwt-secret-file", str(tmp_path / "secret"))
    go_on = threading.Event()
    model.script(
        text("", pieces=["To be ", "continued."]).until(go_on, after=1),
        text("", pieces=["Not ", "finished."]).hang(after=1),
    )
    token = chat.page.get_by_label("token")
    with Relay() as relay:
        with serving(*options, **environment(model)) as address:
            chat.page.goto(relay.lead_to(address))
            for given in ("nonsense", jwt.encode({"sub": "ann"}, SECRET, "HS256")):
                token.fill(given)
                token.press("Enter")
                expect(token).to_have_value("")
            expect(token).to_be_hidden()
            kept = "[localStorage.length, sessionStorage.length, document.cookie]"
            assert chat.page.evaluate(kept) == [0, 0, ""]

            chat.ask("go on")
            expect(chat.answer).to_have_text("To be ")
            relay.down()
            expect(chat.status).to_have_text("Connecting again …")
            relay.lead_to(address)
            go_on.set()
            expect(chat.answer).to_have_text("To be continued.")
            chat.wait()
            resumed = next(head for head in relay.requests if re.match("GET .*/stream ", head))
            assert re.search(r"(?im)^last-event-id: \w+:\d+\r$", resumed)

            chat.ask("and now the server restarts")
            expect(chat.answer).to_have_text("Not ")
            relay.down()
        with serving(*options, **environment(model)) as address:
            relay.lead_to(address)
            expect(chat.answer).to_contain_text("Interrupted", timeout=30_000)
            chat.wait()
            expect(chat.said).to_have_text(["go on", "and now the server restarts"])
            expect(chat.ending).to_have_count(0)


def test_a_question_that_is_sent_again_is_asked_once(
    chat: ChatPage, model: OpenAIServer, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text(SECRET)
    options = (tmp_path / "data", "--jwt-secret-file", str(tmp_path / "secret"))
    model.script(text("Heard."), text("Heard again."))
    before = len(model.requests)

    def lose_the_answer(question: str) -> None:
        relay.answering = False
        chat.ask(question)
        while not any(r.messages[-1]["content"] == question for r in model.requests[before:]):
            chat.page.wait_for_timeout(10)
        relay.down()
        relay.answering = True

    with Relay() as relay, serving(*options, **environment(model)) as address:
        chat.page.goto(relay.lead_to(address))
        token = chat.page.get_by_label("token")
        token.fill(jwt.encode({"sub": "ann"}, SECRET, "HS256"))
        token.press("Enter")
        expect(token).to_be_hidden()
        chat.page.wait_for_load_state("networkidle")
        lose_the_answer("can you hear me?")
        expect(chat.status).to_have_text("Connecting again …")
        relay.lead_to(address)
        expect(chat.answer).to_have_text("Heard.")
        chat.wait()
        lose_the_answer("and now?")
        expect(chat.notice).to_contain_text("The server can't be reached.")
        expect(chat.message).to_have_value("and now?")
        relay.lead_to(address)
        chat.message.press("Enter")
        expect(chat.answer).to_have_text("Heard again.")
        chat.wait()
        expect(chat.said).to_have_text(["can you hear me?", "and now?"])
        sent = [head for head in relay.requests if re.match("POST .*/stream ", head)]
    keys = {re.search(r"(?im)^idempotency-key: (\w+)\r$", head)[1] for head in sent}
    assert len(sent) > len(keys) == 2


def test_what_a_refusal_says(chat: ChatPage, tmp_path: Path) -> None:
    nothing = {**environment(None), "XDG_CACHE_HOME": str(tmp_path)}
    with serving(tmp_path / "data", **nothing) as address:
        chat.page.goto(address)
        chat.ask("hello?")
        expect(chat.notice).to_contain_text("No model is configured. Start the server with")
        expect(chat.message).to_have_value("hello?")  # it isn't lost
        expect(chat.said).to_have_count(0)
        expect(chat.welcome).to_be_visible()
        chat.page.goto(address.rpartition("/")[0] + "/another")
        expect(chat.notice).to_contain_text("There is no such project.")
        for part in (chat.welcome, chat.message, chat.button("Send"), chat.session("New session")):
            expect(part).to_be_hidden()
        expect(chat.title).to_have_text("Unknown project")


def test_a_project_that_is_not_opened(chat: ChatPage, address: str, model: OpenAIServer) -> None:
    problem = {
        "type": "urn:copilot-contracts:problem:project_not_opened",
        "title": "Project not opened",
        "status": 403,
        "detail": "The project is closed; open it to chat.",
        "code": "project_not_opened",
        "request_id": "1",
        "message": "The project is closed; open it to chat.",
    }
    model.script(text("Here I am."))
    chat.page.route(
        "**/chat/**",
        lambda route: route.fulfill(
            status=403, body=json.dumps(problem), content_type="application/problem+json"
        ),
    )
    chat.page.goto(address)
    expect(chat.notice).to_contain_text("The project is closed; open it to chat.")
    chat.page.unroute("**/chat/**")
    chat.button("Try again").click()
    expect(chat.notice).to_be_hidden()
    chat.ask("are you there?")
    expect(chat.answer).to_have_text("Here I am.")
    chat.wait()


def test_events_that_the_page_does_not_know(chat: ChatPage, address: str) -> None:
    session = {"session_id": "s"}
    events = [
        {"type": "heartbeat", **session},
        {"type": "weather", "sky": HOSTILE, **session},
        {"type": "weather", **session},
        {"type": "content", "content": "Known.", "message_id": "m", "new": 1, **session},
        {"type": "done", **session},
    ]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    chat.page.route(
        "**/chat/stream",
        lambda route: route.fulfill(body=body, content_type="text/event-stream"),
    )
    warnings: list[str] = []
    chat.page.on(
        "console", lambda said: warnings.append(said.text) if said.type == "warning" else None
    )
    chat.page.goto(address)
    chat.ask("anything new?")
    expect(chat.answer).to_have_text("Known.")
    chat.wait()
    assert warnings == ["An event that this page doesn't know was left out: weather"]


def test_arguments_as_an_object(chat: ChatPage, address: str) -> None:
    """chat-api.md lets `arguments` be an object too; readers take both (decision A5)."""
    ids = {"message_id": "m", "session_id": "s"}
    arguments = {"device_configs": [{"device_name": "PC1", "commands": ["show ip"]}]}
    function = {"name": "execute_vpcs_commands", "arguments": arguments, "complete": True}
    events = [
        {"type": "tool_call", "tool_call": {"id": "c", "type": "function", "function": function}},
        {"type": "content", "content": "Done."},
        {"type": "done"},
    ]
    body = "".join(f"data: {json.dumps({**event, **ids})}\n\n" for event in events)
    chat.page.route(
        "**/chat/stream",
        lambda route: route.fulfill(body=body, content_type="text/event-stream"),
    )
    chat.page.goto(address)
    chat.ask("show ip")
    chat.wait()
    expect(chat.answer).to_contain_text("Done.")
    assert json.loads(chat.calls.get_by_label("Arguments").inner_text()) == arguments
