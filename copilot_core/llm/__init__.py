"""Language models: a user's settings, the LangChain model made of them, and what can go wrong."""

from copilot_core.llm.config import LlmConfig

__all__ = ["LlmConfig"]
