"""What travels with a turn and is never stored: the caller's token and the model's settings.

Each run sets them in its own task, whose context ends with it; nothing resets them, so no
reset can happen in another task's context.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import SecretStr

    from copilot_core.llm.config import LlmConfig

_jwt_token: ContextVar[SecretStr | None] = ContextVar("jwt_token", default=None)
_llm_config: ContextVar[LlmConfig | None] = ContextVar("llm_config", default=None)


def set_current_jwt_token(token: SecretStr | None) -> None:
    """Remember the bearer that this turn uses towards GNS3."""
    _jwt_token.set(token)


def get_current_jwt_token() -> SecretStr | None:
    """The bearer that this turn uses towards GNS3, or None."""
    return _jwt_token.get()


def set_current_llm_config(config: LlmConfig | None) -> None:
    """Remember the model's settings of this turn."""
    _llm_config.set(config)


def get_current_llm_config() -> LlmConfig:
    """The model's settings of this turn. Raises LookupError outside a turn."""
    config = _llm_config.get()
    if config is None:
        raise LookupError("No model is set in this context: it is set by a run, in its own task.")
    return config
