from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Dialog, sync_playwright

from agent_bench import is_title
from chat_page import ChatPage, environment, serving
from openai_server import OpenAIServer, Request, Turn, text

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("No Chromium is on the path; CHROMIUM may name one.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def chat(browser: Browser) -> Iterator[ChatPage]:
    """A page in a fresh profile. No script may fail, no policy be broken, no alert appear."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(10_000)
    faults: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            faults.append(message.text)

    def alerted(dialog: Dialog) -> None:
        faults.append(dialog.message)
        dialog.dismiss()

    page.on("console", heard)
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    page.on("dialog", alerted)
    yield ChatPage(page)
    context.close()
    assert faults == []


@pytest.fixture(scope="module")
def scripted() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        server.when(is_title, _title)
        yield server


def _title(request: Request) -> Turn:
    """The first line of what the user asked."""
    asked = re.search("User: (.*)", request.messages[-1]["content"])
    assert asked
    return text(asked[1])


@pytest.fixture
def model(scripted: OpenAIServer) -> Iterator[OpenAIServer]:
    """The model behind `address`. It titles a session by what was asked first."""
    yield scripted
    assert scripted.unused == 0


@pytest.fixture(scope="module")
def address(scripted: OpenAIServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page's address on a server that all tests of a module share."""
    with serving(tmp_path_factory.mktemp("data"), **environment(scripted)) as address:
        yield address
