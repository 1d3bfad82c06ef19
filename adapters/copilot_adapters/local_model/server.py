"""The child process: llama.cpp's own OpenAI-compatible server on loopback.

`python -m copilot_adapters.local_model.server`, started by process.LocalModelServer: settings come
as one JSON line on stdin (the key never stands in an argument list that other users can read), the
address goes out as one JSON line on stdout, and the process ends when stdin does.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
from typing import Any

_PR_SET_PDEATHSIG = 1


def main() -> None:
    settings: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    _die_with_parent(settings["parent"])
    # What llama.cpp prints must not mix with our one line.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    server = _start(settings)
    answer.write(json.dumps({"url": server.listening_address}) + "\n")
    answer.close()
    while sys.stdin.buffer.readline():
        pass
    os._exit(0)  # the parent has gone, or said stop: nothing is worth an orderly end


def _die_with_parent(parent: int) -> None:
    """Linux kills us with the parent, even while loading, when nobody reads stdin."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def _start(settings: dict[str, Any]) -> Any:
    # 34 MB of machine code, so only in this process.
    import xllamacpp  # type: ignore[import-untyped]  # it ships no types

    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.model_alias = {settings["alias"]}
    if settings["chat_template"] is not None:
        params.chat_template = settings["chat_template"]
    params.use_jinja = True
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.n_ctx = settings["context"]
    params.n_parallel = 1
    params.n_threads_http = 2
    params.no_extra_bufts = True  # repacked weights cost 0.6 GB and 2.4 s of loading
    params.cache_ram_mib = 256
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [settings["api_key"]]
    params.cors_origins = "http://127.0.0.1"  # not "*": no web page may ask
    params.ui = False
    params.endpoint_slots = False  # would show prompts
    params.offline = True
    params.verbosity = 1
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
