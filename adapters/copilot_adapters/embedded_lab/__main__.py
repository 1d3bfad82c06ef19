"""``python -m copilot_adapters.embedded_lab --port 3080``: the embedded lab until Ctrl-C."""

from __future__ import annotations

import argparse
import asyncio
import signal

from copilot_adapters.embedded_lab.server import EmbeddedLab


async def _serve(port: int, require_auth: bool) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with EmbeddedLab(port=port, require_auth=require_auth) as lab:
        print(f"{lab.url}/v3/projects/{lab.project_id}", flush=True)
        await stop.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m copilot_adapters.embedded_lab", description=__doc__
    )
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes a free one")
    parser.add_argument(
        "--require-auth", action="store_true", help="ask for the token of admin/admin"
    )
    arguments = parser.parse_args()
    try:
        asyncio.run(_serve(arguments.port, arguments.require_auth))
    except (OSError, OverflowError) as error:
        parser.error(f"port {arguments.port} can't be used: {error}")


if __name__ == "__main__":
    main()
