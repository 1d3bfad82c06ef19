"""Commands on a VPCS-like console over telnet."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import time
from typing import TYPE_CHECKING, Self

from telnetlib3 import TelnetClient

from copilot_adapters.gns3.screen import Capture
from copilot_adapters.gns3.turns import turn
from copilot_core.ports import ConsoleOutput, LabError

if TYPE_CHECKING:
    from collections.abc import Sequence

_PROMPT = re.compile(r"(?:^|\n)(\S{1,64}>) ?$")
_MAX_COMMAND = 512

_CONNECT_SECONDS = 5.0
_STAGE_SECONDS = 2.0
#: How long it must be silent after a prompt: it may be a part of more that comes.
_SETTLE_SECONDS = 0.03
#: The same after something that only looks like the prompt, or comes without the echo.
_DOUBT_SECONDS = 0.5

_INTERRUPT = b"\x03"
#: What is tried when no prompt comes by itself: an empty line (after what was left unfinished on
#: the line is killed), then an interrupt.
_NUDGES = (b"", b"\x15\r", _INTERRUPT + b"\r")


async def run_commands(
    host: str, port: int, commands: Sequence[str], *, seconds: float, max_output: int
) -> list[ConsoleOutput]:
    """Run commands one after the other, ``seconds`` for each, as the only client meanwhile.

    A command that ends the console session (``exit``) doesn't end the rest: the next command
    connects anew. Raises ``LabError``.
    """
    for command in commands:
        _check(command)
    key = await _device(host, port)
    outputs: list[ConsoleOutput] = []
    session: _Session | None = None
    async with turn(key):
        try:
            for command in commands:
                if session is None:
                    session = await _Session.connect(host, port, seconds, max_output)
                outputs.append(await session.run(command, seconds))
                if session.ended:
                    session.close()
                    session = None
        finally:
            if session is not None:
                session.close()
    return outputs


def _check(command: str) -> None:
    if not command.strip() or len(command) > _MAX_COMMAND:
        raise LabError(f"A console command has 1 to {_MAX_COMMAND} characters.")
    if not command.isprintable():
        raise LabError(
            "A console command is one line without control characters: send several commands "
            "as several list items."
        )


async def _device(host: str, port: int) -> tuple[str, int]:
    """One key for one console, however its host is spelt."""
    if not 1 <= port <= 65535:
        raise LabError(f"A console's port is 1 to 65535, not {port}.")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, ValueError):
            raise LabError(f"The console's host {host!r} isn't known.") from None
        address = min(
            (ipaddress.ip_address(entry[4][0]) for entry in found),
            key=lambda found: (not found.is_loopback, found.version, found),
        )
    return ("loopback" if address.is_loopback else str(address)), port


class _Session:
    """One telnet connection that has shown its prompt."""

    def __init__(self, client: TelnetClient, name: str, max_output: int) -> None:
        assert client.reader is not None
        assert client.writer is not None
        self._reader = client.reader
        self._writer = client.writer
        self._name = name
        self._max_output = max_output
        self._prompt = ""
        #: The connection is over, or of no use for another command.
        self.ended = False

    @classmethod
    async def connect(cls, host: str, port: int, seconds: float, max_output: int) -> Self:
        name = f"{host}:{port}"
        # Bytes, because what a console sends is rarely told; no compression, because it
        # could grow without bound; and no environment but the terminal's type.
        client = TelnetClient(
            encoding=False, compression=False, term="dumb", send_environ=("TERM",)
        )
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await asyncio.get_running_loop().create_connection(lambda: client, host, port)
        except ConnectionRefusedError:
            raise LabError(
                f"The console at {name} refuses connections: is the node started?"
            ) from None
        except (OSError, ValueError):
            raise LabError(f"The console at {name} can't be reached.") from None
        session = cls(client, name, max_output)
        try:
            await session._find_prompt(min(_STAGE_SECONDS, seconds))
        except BaseException:
            session.close()
            raise
        return session

    def close(self) -> None:
        self.ended = True
        self._writer.close()

    async def run(self, command: str, seconds: float) -> ConsoleOutput:
        """Run one command. A cancelled call interrupts the command on the device too."""
        capture = Capture(self._max_output)
        done = False
        self._send(command.encode() + b"\r")
        try:
            output = await self._output(command, capture, seconds)
            timed_out = output is None and not self.ended
            if timed_out:
                self._send(_INTERRUPT)
                output = await self._output(command, capture, min(_STAGE_SECONDS, seconds))
                if output is None:
                    self.ended = True  # it runs on; the next command starts from a new prompt
            done = True
        finally:
            if not done:
                self._send(_INTERRUPT)
        if output is None:
            output, echoed = _after_echo(capture.text(), command)
            if not echoed and not timed_out:
                raise LabError(f"The console at {self._name} closed before it took the command.")
        output = output.strip("\n").rstrip()
        if timed_out:
            output = output.removesuffix("^C").rstrip()
        return ConsoleOutput(command, output, timed_out, truncated=capture.left_out > 0)

    async def _output(self, command: str, capture: Capture, seconds: float) -> str | None:
        """Read until the prompt is back; None at the end of the time or of the connection."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            found = self._finished(command, capture)
            data = await self._read(left if found is None else min(left, found[1]))
            if data is None and found is not None:
                return found[0]
            if data == b"":
                self.ended = True
                return None
            capture.feed(data or b"")
        return None

    def _finished(self, command: str, capture: Capture) -> tuple[str, float] | None:
        """The output, if a prompt ends it, and the seconds of silence that make it the end.

        The echo has to come before it: else it's a prompt that was on its way before.
        """
        found = _PROMPT.search(capture.ending(1024))
        if found is None:
            return None
        output, echoed = _after_echo(capture.text(), command)
        prompt = found[1]
        output = output.rstrip(" ")
        if not output.endswith(prompt):
            return None  # what looks like a prompt is part of the echo
        sure = echoed and prompt == self._prompt
        return output.removesuffix(prompt), _SETTLE_SECONDS if sure else _DOUBT_SECONDS

    async def _find_prompt(self, stage_seconds: float) -> None:
        """Wait for a prompt that nothing follows."""
        capture = Capture(self._max_output)
        for nudge in _NUDGES:
            if nudge:
                self._send(nudge)
            deadline = time.monotonic() + stage_seconds
            while (left := deadline - time.monotonic()) > 0:
                found = _PROMPT.search(capture.ending(1024))
                data = await self._read(left if found is None else min(left, _SETTLE_SECONDS))
                if data == b"":
                    raise LabError(f"The console at {self._name} closed the connection.")
                if data is None and found is not None:
                    self._prompt = found[1]
                    return
                capture.feed(data or b"")
        raise LabError(
            f"The console at {self._name} shows no prompt: the device is still starting, or "
            "something else runs on its console."
        )

    async def _read(self, seconds: float) -> bytes | None:
        """What came next, ``b""`` at the end of the connection, None if nothing came in time."""
        try:
            async with asyncio.timeout(seconds):
                data = await self._reader.read(4096)
        except TimeoutError:
            return None
        except OSError:
            return b""
        assert isinstance(data, bytes)
        return data

    def _send(self, data: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(data)


def _after_echo(text: str, command: str) -> tuple[str, bool]:
    """What follows the echoed command (which a narrow terminal may have wrapped)."""
    echo = re.search(r"\n*".join(map(re.escape, command)) + r"[^\n]*\n", text)
    return (text[echo.end() :], True) if echo else (text, False)
