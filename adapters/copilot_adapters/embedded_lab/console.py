"""The telnet console of a virtual PC: one command line, shared by all who connect."""

from __future__ import annotations

import asyncio
import codecs
import errno
import functools
import socket
from collections import deque
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from copilot_adapters.embedded_lab.vpcs import VirtualPc

_IAC, _DONT, _DO, _WONT, _WILL, _SB, _IP, _BRK, _SE = 255, 254, 253, 252, 251, 250, 244, 243, 240
_BINARY, _ECHO, _SUPPRESS_GO_AHEAD = 0, 1, 3
_OPTIONS = bytes(
    [_IAC, _WILL, _ECHO, _IAC, _WILL, _SUPPRESS_GO_AHEAD, _IAC, _WILL, _BINARY, _IAC, _DO, _BINARY]
)

_MAX_CLIENTS = 16
_MAX_LINE = 512
_MAX_TYPED_AHEAD = 4096
_MAX_UNREAD = 256 * 1024


class Console:
    """Has a port from the beginning; answers there only while the PC runs.

    As on the real thing, every client sees every other client's input and output.
    """

    def __init__(self, pc: VirtualPc, host: str) -> None:
        self._pc = pc
        self._host = host
        self._socket = _reserve(host, 0)
        self._server: asyncio.Server | None = None
        self._clients: set[_Client] = set()
        self._line = ""
        self._typed: deque[tuple[_Client, str]] = deque()
        self._command: asyncio.Task[bool] | None = None

    @property
    def port(self) -> int:
        return cast("int", self._socket.getsockname()[1])

    async def open(self) -> None:
        """Answer connections."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Client(self), sock=self._socket)

    async def close(self) -> None:
        """End the running command and every connection; refuse new ones on the same port."""
        port = self.port
        await self.release()
        self._socket = _reserve(self._host, port)

    async def release(self) -> None:
        """Close for good: the port is given back."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        self._socket.close()
        command, self._command = self._command, None
        if command is not None:
            command.cancel()
            await asyncio.wait({command})
        self._typed.clear()
        self._line = ""
        clients = tuple(self._clients)
        for client in clients:
            client.transport.abort()
        await asyncio.gather(*(client.lost for client in clients))
        if server is not None:
            await server.wait_closed()

    # What clients call

    def joined(self, client: _Client) -> None:
        if self._server is None or len(self._clients) >= _MAX_CLIENTS:
            client.transport.abort()
            return
        self._clients.add(client)
        client.transport.write(_OPTIONS)
        client.send(self._pc.banner)
        if self._command is None:
            client.send(self._pc.prompt + self._line)

    def left(self, client: _Client) -> None:
        self._clients.discard(client)

    def typed(self, client: _Client, text: str) -> None:
        for character in text:
            if character == "\x03":
                self._interrupt()
            elif len(self._typed) < _MAX_TYPED_AHEAD:
                self._typed.append((client, character))
        self._type_on()

    def _type_on(self) -> None:
        """Take what was typed until a command starts; the rest waits for its end."""
        echo = ""
        while self._typed and self._command is None:
            client, character = self._typed.popleft()
            if character == "\r":
                line, self._line = self._line, ""
                echo += "\n"
                self._command = asyncio.create_task(self._pc.run(line, self._send))
                self._command.add_done_callback(functools.partial(self._ended, client))
            elif character in "\b\x7f":
                echo += "\b \b" if self._line else ""
                self._line = self._line[:-1]
            elif character == "\x15":  # Ctrl-U
                echo += "\b \b" * len(self._line)
                self._line = ""
            elif character.isprintable() and len(self._line) < _MAX_LINE:
                self._line += character
                echo += character
        self._send(echo)

    def _interrupt(self) -> None:
        self._typed.clear()
        if self._command is not None:
            self._command.cancel()
        else:
            self._line = ""
            self._send("^C\n" + self._pc.prompt)

    def _ended(self, client: _Client, command: asyncio.Task[bool]) -> None:
        if command is not self._command:
            return  # the console was closed over it
        self._command = None
        if command.cancelled():
            self._send("^C\n")
        elif not command.result():
            client.transport.close()
        self._send(self._pc.prompt)
        self._type_on()

    def _send(self, text: str) -> None:
        for client in tuple(self._clients):
            client.send(text)


class _Client(asyncio.Protocol):
    """One telnet connection: options are taken out, line ends made ``\\r``."""

    transport: asyncio.Transport
    lost: asyncio.Future[None]

    def __init__(self, console: Console) -> None:
        self._console = console
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._telnet = _TelnetInput()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.lost = asyncio.get_running_loop().create_future()
        self._console.joined(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._console.left(self)
        self.lost.set_result(None)

    def data_received(self, data: bytes) -> None:
        self._console.typed(self, self._decode(self._telnet.feed(data)))

    def send(self, text: str) -> None:
        if not text or self.transport.is_closing():
            return
        if self.transport.get_write_buffer_size() > _MAX_UNREAD:
            self.transport.abort()  # it doesn't read; the others go on
        else:
            self.transport.write(text.replace("\n", "\r\n").encode())


class _TelnetInput:
    """Takes telnet commands out of a byte stream (RFC 854), whatever its chunks."""

    def __init__(self) -> None:
        self._state = "data"
        self._after_cr = False

    def feed(self, data: bytes) -> bytes:
        out = bytearray()
        for byte in data:
            match self._state:
                case "data" if byte == _IAC:
                    self._state = "command"
                case "data":
                    self._take(byte, out)
                case "command" if byte in (_WILL, _WONT, _DO, _DONT):
                    self._state = "option"
                case "command" if byte == _SB:
                    self._state = "subnegotiation"
                case "command":
                    self._state = "data"
                    if byte == _IAC:
                        self._take(byte, out)
                    elif byte in (_IP, _BRK):
                        out.append(3)
                case "option":
                    self._state = "data"
                case "subnegotiation" if byte == _IAC:
                    self._state = "subnegotiation end"
                case "subnegotiation end":
                    self._state = "data" if byte == _SE else "subnegotiation"
        return bytes(out)

    def _take(self, byte: int, out: bytearray) -> None:
        if self._after_cr and byte in (0, 10):  # CR LF and CR NUL are one line end
            self._after_cr = False
            return
        self._after_cr = byte == 13
        out.append(13 if byte == 10 else byte)


def _reserve(host: str, port: int) -> socket.socket:
    """A bound socket that doesn't listen: nobody else gets the port, and connecting is refused."""
    try:
        return bound_socket(host, port)
    except OSError as error:
        if port == 0 or error.errno != errno.EADDRINUSE:
            raise
        # Somebody took the port in the moment between closing it and reserving it again.
        return bound_socket(host, 0)


def bound_socket(host: str, port: int) -> socket.socket:
    """A TCP socket bound to an address of this machine; port 0 takes a free one."""
    # Named TCP: asyncio turns Nagle's algorithm off only where the protocol says so, and with
    # it small answers take 40 ms.
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setblocking(False)
        bound.bind((host, port))
    except BaseException:
        bound.close()
        raise
    return bound
