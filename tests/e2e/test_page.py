"""The page in a real Chromium, against a real server, with a scripted model."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from playwright.sync_api import expect

from chat_page import ChatPage
from openai_server import OpenAIServer, call, interleave, text

pytestmark = pytest.mark.browser


def show_ip(device: str) -> dict[str, Any]:
    return {"device_configs": [{"device_name": device, "commands": ["show ip"]}]}


def test_a_turn_with_a_tool_call(chat: ChatPage, address: str, model: OpenAIServer) -> None:
    go_on = threading.Event()
    model.script(
        text("Let me ask PC1. ") + call("execute_vpcs_commands", show_ip("PC1")),
        text("", pieces=["PC1 has ", "10.0.0.1/24."]).until(go_on, after=1),
    )
    chat.page.goto(address)
    chat.ask("what is PC1's address?")

    expect(chat.said).to_have_text("what is PC1's address?")
    expect(chat.answer).to_have_text("PC1 has ")  # as it comes
    expect(chat.status).to_have_text("Answering …")
    expect(chat.button("Stop")).to_be_visible()
    go_on.set()
    chat.wait()

    expect(chat.answers.first).to_contain_text("Let me ask PC1.")
    expect(chat.calls.locator("code")).to_have_text("execute_vpcs_commands")
    expect(chat.states).to_have_text("done")
    expect(chat.calls.locator(".short")).to_have_text("PC1, show ip")
    expect(chat.calls.get_by_label("Result")).to_be_hidden()
    expect(chat.message).to_be_focused()
    chat.summaries.press("Enter")
    expect(chat.calls.get_by_label("Result")).to_be_visible()
    assert json.loads(chat.calls.get_by_label("Arguments").inner_text()) == show_ip("PC1")
    expect(chat.calls.get_by_label("Result")).to_contain_text("10.0.0.1/24")
    expect(chat.answer).to_have_text("PC1 has 10.0.0.1/24.")
    expect(chat.title).to_have_text("what is PC1's address?")


def test_the_history_is_what_was_shown(chat: ChatPage, address: str, model: OpenAIServer) -> None:
    model.script(
        text("Both.") + call("gns3_topology_reader") + call("reboot", {"now": True}),
        call("execute_vpcs_commands", '{"device_configs": [', finish="length"),
        text("Two lines:\n\n    the second."),
        text("Again."),
    )
    chat.page.goto(address)
    for message in ("one", "two\nlines"):
        chat.ask(message)
        chat.wait()
    expect(chat.states).to_have_text(["done", "failed", "failed"])
    results = chat.calls.get_by_label("Result")
    expect(results.nth(0)).to_be_hidden()
    expect(results.nth(1)).to_be_visible()  # it failed
    expect(results.nth(2)).to_be_visible()
    before = chat.shown()
    chat.page.reload()
    expect(chat.answer).to_have_text("Again.")
    assert chat.shown() == before


def test_two_calls_interleaved(chat: ChatPage, address: str, model: OpenAIServer) -> None:
    go_on = threading.Event()
    both = interleave(
        call("execute_vpcs_commands", show_ip("PC1"), pieces=6),
        call("execute_vpcs_commands", show_ip("PC2"), pieces=6),
    )
    model.script(both.until(go_on, after=8), text("Both are up."))
    chat.page.goto(address)
    chat.ask("addresses?")
    for at in range(2):
        arguments = chat.calls.nth(at).get_by_label("Arguments")
        expect(arguments).to_be_visible()
        expect(arguments).to_contain_text('{"device_configs"')
        expect(arguments).not_to_contain_text("show ip")  # they grow
    go_on.set()
    chat.wait()
    expect(chat.states).to_have_text(["done", "done"])
    for at, device_address in enumerate(("10.0.0.1", "10.0.0.2")):
        expect(chat.calls.nth(at).get_by_label("Result")).to_contain_text(device_address)


def test_every_suggestion_is_asked_as_it_reads(
    chat: ChatPage, address: str, model: OpenAIServer
) -> None:
    chat.page.goto(address)
    suggestions = chat.welcome.get_by_role("button")
    texts = [shown.strip() for shown in suggestions.all_inner_texts()]
    assert len(texts) == 3
    for at, suggestion in enumerate(texts):
        model.script(text(f"Answer {at}."))
        suggestions.nth(at).click()
        expect(chat.answer).to_have_text(f"Answer {at}.")
        chat.wait()
        expect(chat.said).to_have_text(suggestion)
        asked = [request.messages[-1]["content"] for request in model.requests]
        assert suggestion in asked
        chat.new_session()


def test_sessions(chat: ChatPage, address: str, model: OpenAIServer) -> None:
    model.script(text("First."), text("Second."))
    chat.page.goto(address)
    chat.ask("the first one")
    chat.wait()
    chat.new_session()
    expect(chat.welcome).to_be_visible()
    chat.ask("the second one")
    chat.wait()
    expect(chat.titles.first).to_have_text("the second one")
    expect(chat.titles.nth(1)).to_have_text("the first one")

    chat.session("the first one").click()
    expect(chat.answer).to_have_text("First.")
    chat.button("Pin").click()
    expect(chat.titles.first).to_have_text("the first one")
    chat.button("Rename").click()
    chat.page.get_by_label("Title").fill("Pinned & renamed")
    chat.page.get_by_label("Title").press("Enter")
    expect(chat.title).to_have_text("Pinned & renamed")
    expect(chat.titles.first).to_have_text("Pinned & renamed")

    chat.button("Delete").click()
    chat.button("Cancel").click()
    expect(chat.titles.first).to_have_text("Pinned & renamed")
    chat.button("Delete").click()
    chat.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(chat.title).to_have_text("New session")
    expect(chat.titles.first).to_have_text("the second one")


def test_another_session_does_not_stop_a_turn(
    chat: ChatPage, address: str, model: OpenAIServer
) -> None:
    go_on = threading.Event()
    slow = text("", pieces=["Slow ", "but sure."]).until(go_on, after=1)
    model.script(slow, text("Quick."))
    chat.page.goto(address)
    chat.ask("take your time")
    expect(chat.answer).to_have_text("Slow ")
    chat.new_session()
    chat.ask("hurry")
    expect(chat.answer).to_have_text("Quick.")
    chat.wait()
    go_on.set()
    chat.session("take your time").click()
    expect(chat.answer).to_have_text("Slow but sure.")
    chat.wait()


def test_older_messages_come_when_asked_for(
    chat: ChatPage, address: str, model: OpenAIServer
) -> None:
    many_calls = call("nothing")
    for _ in range(19):
        many_calls += call("nothing")
    chat.page.goto(address)
    for number in range(5):  # 23 messages each, of which a page holds 100
        model.script(many_calls, text(f"Answer {number}."))
        chat.ask(f"question {number}")
        chat.wait()
    before = chat.shown()
    chat.page.reload()
    expect(chat.answer).to_have_text("Answer 4.")
    expect(chat.said).to_have_count(4)
    chat.button("Show earlier messages").click()
    expect(chat.said).to_have_count(5)
    assert chat.shown() == before


def test_a_small_screen_and_no_mouse(chat: ChatPage, address: str, model: OpenAIServer) -> None:
    chat.page.set_viewport_size({"width": 360, "height": 640})
    model.script(text("x" * 500) + call("execute_vpcs_commands", show_ip("y" * 500)), text("z"))
    chat.page.goto(address)
    chat.message.press_sequentially("one")
    chat.page.keyboard.press("Shift+Enter")
    chat.page.keyboard.type("two")
    expect(chat.said).to_have_count(0)
    chat.page.keyboard.press("Enter")
    chat.wait()
    assert chat.said.inner_text() == "one\ntwo"
    expect(chat.answer).to_be_in_viewport()
    for parts in (("#conversation", ".call"), ("#conversation", ".call", "pre")):
        assert chat.page.evaluate("document.documentElement.scrollWidth") == 360
        for part in parts:
            fits = "part => part.scrollWidth <= part.clientWidth"
            assert chat.page.locator(part).first.evaluate(fits), part
        chat.summaries.press("Enter")

    expect(chat.session("New session")).to_be_hidden()
    chat.button("Sessions").press("Enter")
    chat.titles.first.click()  # it is open already
    expect(chat.session("New session")).to_be_hidden()
    chat.button("Sessions").press("Enter")
    chat.session("New session").press("Enter")
    expect(chat.welcome).to_be_visible()
    expect(chat.session("New session")).to_be_hidden()
    expect(chat.message).to_be_focused()
