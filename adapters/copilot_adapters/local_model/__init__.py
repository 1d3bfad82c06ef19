"""A language model on this machine, with no key: fetched as data, run as a child process.

path = fetch("1.5b")
server = LocalModelServer(path)
base_url = await server.start()     # any OpenAI-compatible client, with server.api_key
await server.stop()
"""

from copilot_adapters.local_model.fetch import (
    OTHER_WAYS,
    LocalModelError,
    cached,
    default_cache_dir,
    fetch,
    find,
)
from copilot_adapters.local_model.process import LocalModelServer, free_cores
from copilot_adapters.local_model.weights import MODELS, Model

__all__ = [
    "MODELS",
    "OTHER_WAYS",
    "LocalModelError",
    "LocalModelServer",
    "Model",
    "cached",
    "default_cache_dir",
    "fetch",
    "find",
    "free_cores",
]
