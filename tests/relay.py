"""A TCP relay before a server, for connections that break."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from urllib.parse import SplitResult, urlsplit


class Relay:
    """Use as a context manager. Until `lead_to` it closes every connection at once."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._netloc = f"127.0.0.1:{self._listening.getsockname()[1]}"
        self._target: SplitResult | None = None
        self._open: set[socket.socket] = set()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._ended = False
        #: The heads of the requests that came.
        self.requests: list[str] = []
        #: Whether what the server says is passed on.
        self.answering = True

    def lead_to(self, address: str) -> str:
        """Lets connections through to the server; gives its address by way of the relay."""
        self._target = urlsplit(address)
        return self._target._replace(netloc=self._netloc).geturl()

    def down(self) -> None:
        """Breaks every connection, and lets none through."""
        self._target = None
        self._cut()

    def __enter__(self) -> Relay:
        self._threads[0].start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._ended = True
        socket.create_connection(self._listening.getsockname()).close()  # for who waits for one
        self._threads[0].join()
        self._listening.close()
        self._cut()
        for thread in self._threads:
            thread.join()

    def _cut(self) -> None:
        for end in list(self._open):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            near, _ = self._listening.accept()
            if self._ended:
                near.close()
                return
            target = self._target
            if target is None:
                near.close()
                continue
            far = socket.create_connection((target.hostname, target.port))
            self._open |= {near, far}
            for ends in ((near, far, True), (far, near, False)):
                thread = threading.Thread(target=self._pump, args=ends, daemon=True)
                self._threads.append(thread)
                thread.start()

    def _pump(self, source: socket.socket, sink: socket.socket, asks: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if b" HTTP/1.1\r\n" in data:
                    self.requests.append(data.decode("latin-1"))
                if asks or self.answering:
                    sink.sendall(data)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)
        source.close()
        self._open.discard(source)
