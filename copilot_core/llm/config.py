"""What a user's model needs to be asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pydantic import SecretStr

LAB_AUTOMATION = "lab_automation_assistant"
TEACHING = "teaching_assistant"


@dataclass(frozen=True, slots=True)
class LlmConfig:
    """One user's model behind an OpenAI-compatible endpoint. Lives in memory only."""

    model: str
    #: For example ``http://127.0.0.1:8080/v1``; None is the provider's own.
    base_url: str | None = None
    api_key: SecretStr | None = None
    #: 0.0 to 2.0; None leaves it to the endpoint.
    temperature: float | None = None
    max_tokens: int | None = None
    #: Tokens that the model reads and writes in one call, all in all. None: as LangChain's profile
    #: of the model says; without one, nothing is left out until the provider says that it must be.
    context_window: int | None = None
    #: Seconds until the connection stands, and between two pieces of the answer.
    connect_timeout: float = 10.0
    silence_timeout: float = 90.0
    #: ``per_call``: each call tells its own tokens. ``cumulative``: each tells the turn's so far.
    usage: Literal["per_call", "cumulative"] = "per_call"
    #: How often the model may call tools in one turn before it has to answer.
    tool_steps: int = 12
    copilot_mode: str = LAB_AUTOMATION
    #: Worked examples, as OpenAI messages, before every conversation: small models need them.
    examples: tuple[dict[str, Any], ...] = ()
