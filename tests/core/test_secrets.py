"""Keys and tokens: whose turn has them, and that nothing else does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import SecretStr

from agent_bench import Bench
from copilot_core.context import get_current_jwt_token, get_current_llm_config
from copilot_core.ports import Identity
from copilot_core.service import Turn
from copilot_core.tools.base import ToolContext
from openai_server import call, text

TOKEN = "eyJhbGciOiJIUzI1NiJ9.c2VjcmV0.c2lnbmF0dXJl"
ANN = Identity("ann", SecretStr(TOKEN))


async def test_contexts_of_turns_at_once_do_not_mix(bench: Bench) -> None:
    """Each turn's tools see its own user's token and model, and nobody sees them afterwards."""
    seen: dict[str, set[tuple[str, str]]] = {}

    async def look(arguments: dict[str, Any], context: ToolContext) -> Any:
        for _ in range(5):
            token, config = get_current_jwt_token(), get_current_llm_config()
            assert token is not None
            told = (token.get_secret_value(), config.model)
            seen.setdefault(context.identity.user_id, set()).add(told)
            await asyncio.sleep(0.005)
        return {"templates": []}

    bench.runs["get_gns3_templates"] = look
    bench.server.always(
        lambda request: (
            text("Done.") if request.messages[-1]["role"] == "tool" else call("get_gns3_templates")
        )
    )
    users = [f"user{n}" for n in range(6)]
    runs = [
        await bench.chat(
            Turn("look", f"s-{user}"),
            Identity(user, SecretStr(f"token-{user}")),
            model=f"model-{user}",
        )
        for user in users
    ]
    await asyncio.gather(*(run.wait() for run in runs))
    assert seen == {user: {(f"token-{user}", f"model-{user}")} for user in users}
    assert get_current_jwt_token() is None
    with pytest.raises(LookupError):
        get_current_llm_config()


async def test_secrets_reach_no_file(bench: Bench) -> None:
    bench.server.script(text("Hello"))
    await (await bench.chat(Turn("hello", "s1"), ANN)).wait()
    await bench.manager.close_all()
    stored = b"".join(p.read_bytes() for p in bench.path.rglob("*") if p.is_file())
    assert b"hello" in stored
    assert bench.server.api_key.encode() not in stored
    assert TOKEN.encode() not in stored


async def test_a_secret_in_a_tools_exception_reaches_no_log(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(arguments: dict[str, Any], context: ToolContext) -> Any:
        try:
            raise ValueError(f"Illegal header value b'Bearer {TOKEN}'")
        except ValueError as error:
            raise RuntimeError(f"with {TOKEN}") from error

    bench.runs["get_gns3_templates"] = fails
    bench.server.script(call("get_gns3_templates", {}), text("It failed."))
    await bench.ask("look", "s1")
    assert "RuntimeError" in caplog.text  # the log says what and where
    assert "ValueError" in caplog.text
    assert "in fails" in caplog.text
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("logger", ["", "httpx", "openai", "langgraph", "aiosqlite"])
async def test_no_secret_in_any_log_at_any_level(
    bench: Bench, caplog: pytest.LogCaptureFixture, logger: str
) -> None:
    caplog.set_level("DEBUG", logger)
    bench.server.script(call("get_gns3_templates", {}), text("Hello"))
    await (await bench.chat(Turn("hi", "s1"), ANN)).wait()
    said_anywhere = caplog.text + "".join(str(vars(record)) for record in caplog.records)
    assert TOKEN not in said_anywhere
    assert bench.server.api_key not in said_anywhere
