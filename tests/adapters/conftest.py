from functools import partial
from pathlib import Path

import pytest

from agent_bench import is_title
from chat_turns import Edge, open_chat
from openai_server import OpenAIServer, text


@pytest.fixture
def model(openai_server: OpenAIServer) -> OpenAIServer:
    """A model that says Hello, unless something else is scripted."""
    openai_server.when(is_title, text("A title"))
    openai_server.always(text("Hello"))
    return openai_server


@pytest.fixture
def edge(tmp_path: Path, openai_server: OpenAIServer) -> Edge:
    """Opens the chat API over a scripted model."""
    return partial(open_chat, tmp_path, openai_server)
