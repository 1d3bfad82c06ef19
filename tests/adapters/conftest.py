import pytest

from chat_turns import is_title
from openai_server import OpenAIServer, text


@pytest.fixture
def model(openai_server: OpenAIServer) -> OpenAIServer:
    """A model that says Hello, unless something else is scripted."""
    openai_server.when(is_title, text("A title"))
    openai_server.always(text("Hello"))
    return openai_server
