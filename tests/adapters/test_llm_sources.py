"""Where `serve` takes its model from: a child process that can fail, and die, and come back."""

import asyncio
from pathlib import Path

import pytest

from copilot_adapters.local_model import LocalModelServer, cached
from copilot_adapters.starlette.llm import LocalLlm
from copilot_core.errors import ChatError

PREFIX = ([{"role": "system", "content": "You are brief."}], [])


async def test_a_model_that_does_not_start_is_not_configured_and_says_no_path(
    tmp_path: Path,
) -> None:
    file = tmp_path / "broken.gguf"
    file.write_bytes(b"this is no model")
    source = LocalLlm(LocalModelServer(file), tool_steps=3)
    await source.start(PREFIX)
    for _ in range(2):  # the second who asks starts it again
        with pytest.raises(ChatError) as raised:
            await source.llm_config("ann")
        assert raised.value.code == "llm_not_configured"
        assert "--llm-base-url" in raised.value.message
        assert str(tmp_path) not in raised.value.message
    assert await source.state() == "not running"
    await source.stop()


@pytest.mark.model
async def test_a_model_that_dies_is_started_again_by_who_asks_next() -> None:
    file = cached("135m")
    if file is None:
        pytest.skip("the local model 135m isn't in the cache")
    server = LocalModelServer(file, threads=1, context=16384)
    source = LocalLlm(server, tool_steps=3)
    try:
        await source.start(PREFIX)
        assert await source.state() == "loading"
        first, waiting = await asyncio.gather(source.llm_config("ann"), source.llm_config("bob"))
        assert first == waiting
        assert first is not None
        assert first.tool_steps == 3
        assert first.context_window == 8192  # all that the model was made for
        assert await source.state() == "ok"
        assert server._child is not None
        server._child.kill()
        await server._child.wait()
        assert await source.state() == "not running"
        again = await source.llm_config("ann")
        assert again is not None
        assert again.base_url != first.base_url
        assert await source.state() == "ok"
    finally:
        await source.stop()
    assert not server.alive
