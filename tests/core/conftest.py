from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent_bench import Bench
from copilot_core.settings import CoreSettings
from copilot_core.tools.base import ToolContext
from openai_server import OpenAIServer


@pytest.fixture
async def bench(openai_server: OpenAIServer, tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(openai_server, tmp_path, CoreSettings(stop_seconds=2, tool_timeout=5))

    async def templates(arguments: dict[str, Any], context: ToolContext) -> Any:
        return {"templates": []}

    bench.runs["get_gns3_templates"] = templates
    yield bench
    await bench.manager.close_all()
