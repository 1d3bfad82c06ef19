"""The chat page in a browser, as a test uses it, and the server that gives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from openai_server import OpenAIServer

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


@contextmanager
def serving(data: Path, *options: str, **environment: str) -> Iterator[str]:
    """`copilot-contracts serve` in a process of its own; gives the address of its page."""
    command = "from copilot_adapters.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", command, "serve", "--port", "0", "--data", str(data), *options],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("Page: http://127.0.0.1:"), "The server didn't start."
        yield line.removeprefix("Page:").strip()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.communicate()


def environment(model: OpenAIServer | None) -> dict[str, str]:
    """What tells `serve` to ask this model; None: no model."""
    return {
        "COPILOT_LLM_BASE_URL": model.base_url if model else "",
        "COPILOT_LLM_MODEL": "scripted" if model else "",
        "COPILOT_LLM_API_KEY": model.api_key if model else "",
    }


class ChatPage:
    """The page's parts by the names that a user has for them."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.message = page.locator("#message")
        self.status = page.locator("#status")
        self.notice = page.locator("#notice")
        self.title = page.locator("#title")
        self.welcome = page.locator("#welcome")
        self.titles = page.locator(".session-title")
        self.conversation = page.locator(".messages")
        self.said = page.locator(".user p")
        self.answers = page.locator(".assistant")
        self.answer = self.answers.last
        self.calls = page.locator(".call")
        self.summaries = page.locator(".call summary")
        self.states = page.locator(".call .state")
        self.ending = page.locator(".ending")

    def ask(self, message: str) -> None:
        self.message.fill(message)
        self.message.press("Enter")

    def wait(self) -> None:
        """Until the turn has ended."""
        expect(self.button("Send")).to_be_visible()
        expect(self.status).to_have_text("")

    def shown(self) -> str:
        """The conversation as a reader sees it."""
        return self.conversation.inner_text()

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def session(self, title: str) -> Locator:
        return self.page.get_by_role("link", name=title)

    def new_session(self) -> None:
        self.session("New session").click()
