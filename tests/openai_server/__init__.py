"""A scripted model behind a real OpenAI-compatible HTTP server on loopback, for tests.

def test_it(openai_server):
    openai_server.script(call("get_gns3_templates"), text("There are two templates."))
    ...  # ask openai_server.base_url with openai_server.api_key
    assert openai_server.requests[0].tools[0]["function"]["name"] == "get_gns3_templates"
"""

from openai_server.server import OpenAIServer, Request
from openai_server.turns import (
    CUT,
    HANG,
    RESET,
    Chunk,
    Delta,
    Failure,
    Forever,
    Pause,
    Raw,
    Turn,
    Until,
    Usage,
    call,
    chunk,
    error,
    event,
    interleave,
    piece,
    raw,
    text,
    think,
)

__all__ = [
    "CUT",
    "HANG",
    "RESET",
    "Chunk",
    "Delta",
    "Failure",
    "Forever",
    "OpenAIServer",
    "Pause",
    "Raw",
    "Request",
    "Turn",
    "Until",
    "Usage",
    "call",
    "chunk",
    "error",
    "event",
    "interleave",
    "piece",
    "raw",
    "text",
    "think",
]
