"""The agent core: sessions, graph, runs, tools, dialects. It needs the extra `agent`."""

from importlib.util import find_spec

if find_spec("langgraph") is None:
    raise ModuleNotFoundError(
        "copilot_core needs langgraph, which the extra `agent` installs: "
        "pip install 'copilot-contracts[agent]'",
        name="langgraph",
    )
