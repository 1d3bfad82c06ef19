"""A LangChain model for an OpenAI-compatible endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from copilot_core.llm.config import LlmConfig

_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def chat_model(config: LlmConfig) -> BaseChatModel:
    """The model to stream from. Raises ImportError that names the extra ``openai``."""
    try:
        from langchain_openai import ChatOpenAI

        from copilot_core.llm.connection import HEADERS, http_client
    except ImportError as error:
        raise ImportError(
            "Models behind an OpenAI-compatible endpoint need the extra `openai`: "
            "pip install 'copilot-contracts[openai]'"
        ) from error

    # connect, read, write, pool. A tuple, because LangChain shares what it makes for equal ones.
    silence, connect = config.silence_timeout, config.connect_timeout
    timeout = (connect, silence, silence, connect)
    # llama.cpp drops one or two requests in a hundred on a connection that is used again.
    local = urlsplit(config.base_url or "").hostname in _LOOPBACK
    return ChatOpenAI(
        model=config.model,
        base_url=config.base_url,
        api_key=config.api_key or SecretStr("none"),
        temperature=config.temperature,
        max_completion_tokens=config.max_tokens,
        timeout=timeout,
        # LangChain waits with asyncio.wait_for, which in Python 3.11 loses a cancellation that
        # comes together with a chunk: no limit would hold. Silence is known in `connection`.
        stream_chunk_timeout=None,
        stream_usage=True,
        max_retries=0,
        use_responses_api=False,
        http_async_client=http_client(),
        http_socket_options=(),
        default_headers={**HEADERS, "Connection": "close"} if local else HEADERS,
    )
