"""A LangChain model for an OpenAI-compatible endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import SecretStr

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from copilot_core.llm.config import LlmConfig


def chat_model(config: LlmConfig) -> BaseChatModel:
    """The model to stream from. Raises ImportError that names the extra ``openai``."""
    try:
        from langchain_openai import ChatOpenAI
    except ImportError as error:
        raise ImportError(
            "Models behind an OpenAI-compatible endpoint need the extra `openai`: "
            "pip install 'copilot-contracts[openai]'"
        ) from error

    # connect, read, write, pool. A tuple, because LangChain shares one HTTP client for equal
    # ones; making a client each turn costs 50 ms.
    silence, connect = config.silence_timeout, config.connect_timeout
    timeout = (connect, silence, silence, connect)
    return ChatOpenAI(
        model=config.model,
        base_url=config.base_url,
        api_key=config.api_key or SecretStr("none"),
        temperature=config.temperature,
        max_completion_tokens=config.max_tokens,
        timeout=timeout,
        stream_chunk_timeout=config.silence_timeout,
        stream_usage=True,
        max_retries=0,
        use_responses_api=False,
    )
