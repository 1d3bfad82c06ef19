from collections.abc import Iterator

import pytest

from openai_server import OpenAIServer

pytest_plugins = ["leftovers"]


@pytest.fixture
def openai_server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server
