"""Which model `serve` asks: one endpoint for everybody, a local model, or none yet."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

import structlog
from pydantic import SecretStr

from copilot_adapters.local_model import OTHER_WAYS, LocalModelError
from copilot_adapters.local_model.examples import EXAMPLES
from copilot_adapters.starlette.health import OK
from copilot_core.errors import ChatError
from copilot_core.llm.config import LlmConfig

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copilot_adapters.local_model import LocalModelServer
    from copilot_core.ports import JsonObject

    #: Messages and tools in OpenAI's form, byte for byte as the agent sends them.
    Prefix = tuple[Sequence[JsonObject], Sequence[JsonObject]]

NOT_CONFIGURED = (
    "No model is configured. Start the server with --llm-base-url URL --llm-model NAME (a key in "
    "COPILOT_LLM_API_KEY), or fetch a local one: copilot-contracts model fetch, then "
    "serve --model 1.5b."
)

_log = structlog.get_logger(__name__)


class ServerLlm(Protocol):
    """An `LlmConfigSource` that lives as long as the server."""

    async def start(self, prefix: Prefix) -> None:
        """Begin to be there. Every conversation begins with `prefix`."""

    async def stop(self) -> None:
        """End what `start` began."""

    async def state(self) -> str:
        """A health check: "ok", or what is missing."""

    async def llm_config(self, user_id: str) -> LlmConfig | None:
        """The model that a user's chats ask; None or ChatError: there is none."""


class NoLlm:
    """Nothing is configured: a chat is answered with what to do."""

    async def start(self, prefix: Prefix) -> None:
        """Nothing to begin."""

    async def stop(self) -> None:
        """Nothing to end."""

    async def state(self) -> str:
        """Never ok."""
        return "not configured"

    async def llm_config(self, user_id: str) -> LlmConfig | None:
        """Raises ChatError, which says what to do."""
        raise ChatError("llm_not_configured", NOT_CONFIGURED)


class OneLlm:
    """The same endpoint for every user."""

    def __init__(self, config: LlmConfig) -> None:
        self._config = config

    async def start(self, prefix: Prefix) -> None:
        """Nothing to begin."""

    async def stop(self) -> None:
        """Nothing to end."""

    async def state(self) -> str:
        """Always ok: the endpoint isn't asked before a chat asks it."""
        return OK

    async def llm_config(self, user_id: str) -> LlmConfig | None:
        """The one configuration, whoever asks."""
        return self._config


class LocalLlm:
    """A model in a child process. It loads in the background; who asks before waits for it.

    A child that has died, or couldn't start, is started again by the next who asks. `tool_steps`
    is how often the model may call tools in one turn.
    """

    def __init__(self, server: LocalModelServer, *, tool_steps: int) -> None:
        self._server = server
        self._tool_steps = tool_steps
        self._prefix: Prefix = ((), ())
        self._starting: asyncio.Task[LlmConfig] | None = None

    async def start(self, prefix: Prefix) -> None:
        """Begin to load the model, and to read `prefix` ahead."""
        self._prefix = prefix
        self._begin()

    def _begin(self) -> asyncio.Task[LlmConfig]:
        self._starting = starting = asyncio.create_task(self._start())
        # Who asks gets the failure; if nobody does, it is in the log.
        starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        return starting

    async def stop(self) -> None:
        """End the child process, loaded or not."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        await self._server.stop()

    async def state(self) -> str:
        """ok, loading or not running."""
        if self._starting is None or not self._starting.done():
            return "loading"
        return OK if self._server.alive else "not running"

    async def llm_config(self, user_id: str) -> LlmConfig | None:
        """The model, once it is loaded. Raises ChatError if it can't be started."""
        starting = self._starting
        if starting is None or (starting.done() and not self._server.alive):
            starting = self._begin()
        try:
            return await asyncio.shield(starting)
        except LocalModelError as error:
            raise ChatError(
                "llm_not_configured",
                f"The local model doesn't run; the server's log says why. {OTHER_WAYS}",
            ) from error

    async def _start(self) -> LlmConfig:
        try:
            base_url = await self._server.start()
        except LocalModelError as error:
            _log.error("local model doesn't start", why=str(error))
            raise
        _log.info("local model runs", model=self._server.name, threads=self._server.threads)
        messages, tools = self._prefix
        self._server.warm([*messages, *EXAMPLES], tools)
        return LlmConfig(
            model=self._server.name,
            base_url=base_url,
            api_key=SecretStr(self._server.api_key),
            temperature=0.0,
            tool_steps=self._tool_steps,
            max_tokens=512,
            context_window=self._server.context,
            # A long prompt on few cores is read in silence.
            silence_timeout=600.0,
            examples=EXAMPLES,
        )
