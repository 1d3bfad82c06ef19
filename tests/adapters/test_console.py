"""The console client against scripted telnet devices and the embedded lab."""

from __future__ import annotations

import asyncio
import re
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from copilot_adapters.embedded_lab import EmbeddedLab
from copilot_adapters.gns3 import Gns3Lab, turns
from copilot_adapters.gns3.screen import Capture, plain_text
from copilot_core.ports import ConsoleOutput, LabError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

OPTIONS = b"\xff\xfb\x01\xff\xfb\x03\xff\xfb\x00\xff\xfd\x00"


class Device:
    """A telnet server whose answer to each line is written in the test."""

    def __init__(self, answer: Callable[[Session, str], Awaitable[None]], greeting: bytes) -> None:
        self._answer = answer
        self._greeting = greeting
        self.host = "127.0.0.1"
        self.port = 0
        self.lines: list[str] = []
        self.interrupts = 0
        self.connections = 0
        self.at_once = 0
        #: Lines from a client that wasn't the newest one: two had the console at once.
        self.overlaps = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.at_once += 1
        number = self.connections
        session = Session(self, writer)
        running: asyncio.Task[None] | None = None
        line = b""
        try:
            session.send(self._greeting)
            while data := await reader.read(4096):
                # What a client answers to options, as far as these tests offer them.
                for byte in re.sub(rb"\xff[\xfb-\xfe].", b"", data):
                    if byte == 3:
                        self.interrupts += 1
                        if running is not None:
                            running.cancel()
                    elif byte == 13:
                        self.overlaps += number != self.connections
                        self.lines.append(line.decode().removeprefix("\x15"))
                        running = asyncio.create_task(self._answer(session, self.lines[-1]))
                        line = b""
                    else:
                        line += bytes([byte])
        except ConnectionError:
            pass
        finally:
            if running is not None:
                running.cancel()
                await asyncio.wait([running])
            self.at_once -= 1
            writer.close()


class Session:
    def __init__(self, device: Device, writer: asyncio.StreamWriter) -> None:
        self.device = device
        self._writer = writer

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    def close(self) -> None:
        self._writer.close()


@asynccontextmanager
async def device(
    answer: Callable[[Session, str], Awaitable[None]], greeting: bytes = OPTIONS + b"PC1> "
) -> AsyncIterator[Device]:
    it = Device(answer, greeting)
    async with await asyncio.start_server(it.serve, it.host, 0) as server:
        it.port = server.sockets[0].getsockname()[1]
        yield it
        while it.at_once:  # noqa: ASYNC110 - sessions end by themselves
            await asyncio.sleep(0.005)


async def ask(
    it: Device, *commands: str, seconds: float = 2.0, **options: int
) -> list[ConsoleOutput]:
    lab = Gns3Lab("http://127.0.0.1:1", **options)
    try:
        return await lab.console(it.host, it.port, commands, timeout=seconds)
    finally:
        await lab.close()


async def echo(session: Session, line: str) -> None:
    session.send(f"{line}\r\nyou said {line}\r\nPC1> ".encode())


# What is read


async def test_output_is_what_stands_between_echo_and_prompt() -> None:
    async with device(echo) as it:
        assert await ask(it, "one", "two") == [
            ConsoleOutput("one", "you said one"),
            ConsoleOutput("two", "you said two"),
        ]
    assert it.lines == ["one", "two"]
    assert it.connections == 1


@pytest.mark.parametrize(
    ("sent", "output"),
    [
        (b"show ip\r\n\xff\xfd\x18\xff\xfa\x18\x01\xff\xf0abc\r\nPC1> ", "abc"),
        (b"show ip\r\n\x1b[1;31mred\x1b[0m\x1b[K\r\n\x1b]0;PC1\x07PC1> ", "red"),
        (b"\x1b[2Kshow ip\r\r\nabc\r\n\r\nPC1> ", "abc"),
        (b"sh\r\now ip\r\nwrapped\r\nPC1>", "wrapped"),
        (b"show ip\r\nPC1> \r\nPC1> is the prompt\r\nPC1> ", "PC1> \nPC1> is the prompt"),
        (b"show ip\r\nPC1> ", ""),
        (b"show ip\r\n  10 %\r  50 %\r 100 %\r\nPC1> ", " 100 %"),
        (b"shox\x08 \x08w ip\r\ntypo\r\nPC1> ", "typo"),
        ("show ip\r\nπλ\r\nPC1> ".encode(), "πλ"),
        (b"show ip\r\na\xe9b\xff\xffc\x00\x07\r\nPC1> ", "a\ufffdb\ufffdc"),
    ],
)
async def test_telnet_ansi_echo_and_line_ends_are_taken_out(sent: bytes, output: str) -> None:
    async def answer(session: Session, line: str) -> None:
        for byte in sent:  # in the smallest pieces
            session.send(bytes([byte]))
            await asyncio.sleep(0)

    async with device(answer) as it:
        assert await ask(it, "show ip") == [ConsoleOutput("show ip", output)]


async def test_a_prompt_that_was_on_its_way_does_not_end_the_command() -> None:
    async def answer(session: Session, line: str) -> None:
        if not line:
            return
        session.send(b"\r\nPC1> ")  # late, from the empty line
        await asyncio.sleep(0.1)
        session.send(f"{line}\r\nright\r\nPC1> ".encode())

    async with device(answer) as it:
        assert await ask(it, "show ip") == [ConsoleOutput("show ip", "right")]


async def test_a_silent_console_is_woken_by_an_empty_line() -> None:
    async def answer(session: Session, line: str) -> None:
        session.send(f"{line}\r\nPC1> ".encode())

    async with device(answer, greeting=OPTIONS) as it:
        assert await ask(it, "show ip", seconds=1) == [ConsoleOutput("show ip", "")]
    assert it.lines == ["", "show ip"]


async def test_what_an_earlier_user_left_running_is_interrupted() -> None:
    async def answer(session: Session, line: str) -> None:
        if session.device.interrupts:
            session.send(f"{line}\r\nPC1> ".encode())

    async with device(answer, greeting=b"64 bytes from ...\r\n") as it:
        assert await ask(it, "show ip", seconds=0.5) == [ConsoleOutput("show ip", "")]


async def test_a_console_without_a_prompt_is_an_error() -> None:
    async def answer(session: Session, line: str) -> None:
        session.send(b"booting...\r\n")

    async with device(answer, greeting=OPTIONS) as it:
        with pytest.raises(LabError, match=f"127.0.0.1:{it.port} shows no prompt"):
            await ask(it, "show ip", seconds=0.2)
    assert "show ip" not in it.lines


# Commands that don't end, end too much, or say too much


async def test_an_endless_command_is_interrupted_and_marked() -> None:
    async def answer(session: Session, line: str) -> None:
        session.send(f"{line}\r\n".encode())
        if line != "ping X -t":
            session.send(b"fine\r\nPC1> ")
            return
        try:
            for number in range(1000):
                session.send(f"reply {number}\r\n".encode())
                await asyncio.sleep(0.1)
        except asyncio.CancelledError:
            session.send(b"^C\r\nPC1> ")

    async with device(answer) as it:
        endless, after = await ask(it, "ping X -t", "show ip", seconds=0.7)
    assert endless.timed_out
    assert re.fullmatch(r"reply 0\nreply 1(\nreply \d)*", endless.output)
    assert after == ConsoleOutput("show ip", "fine")
    assert (it.interrupts, it.connections) == (1, 1)


async def test_a_command_that_ignores_ctrl_c_costs_its_connection_only() -> None:
    async def answer(session: Session, line: str) -> None:
        session.send(f"{line}\r\n".encode())
        if line == "hang":
            session.send(b"half")
        else:
            session.send(b"fine\r\nPC1> ")

    async with device(answer) as it:
        assert await ask(it, "hang", "show ip", seconds=0.7) == [
            ConsoleOutput("hang", "half", timed_out=True),
            ConsoleOutput("show ip", "fine"),
        ]
    assert it.connections == 2


async def test_exit_ends_the_session_and_the_next_command_connects_anew() -> None:
    async def answer(session: Session, line: str) -> None:
        if line == "exit":
            session.send(b"exit\r\nbye\r\n")
            session.close()
        else:
            await echo(session, line)

    async with device(answer) as it:
        assert await ask(it, "exit", "show ip", "exit") == [
            ConsoleOutput("exit", "bye"),
            ConsoleOutput("show ip", "you said show ip"),
            ConsoleOutput("exit", "bye"),
        ]
    assert it.connections == 2


async def test_a_console_that_closes_before_it_took_the_command_is_an_error() -> None:
    async def answer(session: Session, line: str) -> None:
        session.close()

    async with device(answer) as it:
        with pytest.raises(LabError, match="closed before it took the command"):
            await ask(it, "show ip")


async def test_output_is_capped_with_head_and_tail() -> None:
    async def answer(session: Session, line: str) -> None:
        session.send(f"{line}\r\nfirst\r\n".encode())
        for _ in range(200):
            session.send(b"x" * 9_998 + b"\r\n")
            await asyncio.sleep(0)
        session.send(b"last\r\nPC1> ")

    async with device(answer) as it:
        [got] = await ask(it, "show log", max_output=8_000, seconds=10)
    assert got.truncated
    assert not got.timed_out
    assert len(got.output) < 8_200
    assert got.output.startswith("first\nxxx")
    assert got.output.endswith("xxx\nlast")
    left_out = int(re.search(r"\n\[(\d+) bytes left out\]\n", got.output)[1])
    assert left_out == len("show log\r\nfirst\r\n") + 2_000_000 + len("last\r\nPC1> ") - 8_000


@pytest.mark.parametrize(
    "command",
    [
        *("", "  ", "x" * 513, "a\nb", "a\rb", "a\tb", "\x03", "a\x00"),
        *("a\x1b[A", "a\x7f", "a\x85b", "a\u2028b", "\ud800"),
    ],
)
async def test_what_is_not_one_plain_line_is_refused_before_anything_is_sent(
    command: str,
) -> None:
    async with device(echo) as it:
        with pytest.raises(LabError, match="A console command"):
            await ask(it, "show ip", command)
    assert it.connections == 0


# Where the console is


async def test_a_stopped_node_is_an_error() -> None:
    async with device(echo) as it:
        pass
    with pytest.raises(LabError, match="refuses connections: is the node started"):
        await ask(it, "show ip")


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a\x00b", "x" * 300])
async def test_an_unknown_host_is_an_error(host: str) -> None:
    async with device(echo) as it:
        it.host = host
        with pytest.raises(LabError, match="isn't known"):
            await ask(it, "show ip")


@pytest.mark.parametrize("port", [0, -1, 65536])
async def test_a_port_out_of_range_is_an_error(port: int) -> None:
    async with device(echo) as it:
        it.port = port
        with pytest.raises(LabError, match="1 to 65535"):
            await ask(it, "show ip")


@pytest.mark.parametrize("any_address", ["0.0.0.0", "::", ""])
async def test_any_address_means_the_servers_host(any_address: str) -> None:
    async with device(echo) as it:
        lab = Gns3Lab("http://localhost:1")
        got = await lab.console(any_address, it.port, ["a"], timeout=2)
        await lab.close()
    assert got == [ConsoleOutput("a", "you said a")]


async def test_no_commands_need_no_connection() -> None:
    async with device(echo) as it:
        assert await ask(it) == []
    assert it.connections == 0


# One at a time


async def test_a_console_has_one_client_at_a_time_however_its_host_is_spelt() -> None:
    async with device(echo) as it:
        labs = [Gns3Lab("http://127.0.0.1:1"), Gns3Lab("http://localhost:1")]
        results = await asyncio.gather(
            *(
                lab.console(host, it.port, [f"{number}"], timeout=2)
                for number, lab in enumerate(labs)
                for host in ("127.0.0.1", "localhost", "0.0.0.0", "127.0.0.1")
            )
        )
        for lab in labs:
            await lab.close()
    assert [got.output for [got] in results] == ["you said 0"] * 4 + ["you said 1"] * 4
    assert it.overlaps == 0
    assert turns._queues == {}


async def test_ten_callers_of_one_device_never_see_each_others_output() -> None:
    async with EmbeddedLab(ping_interval=0.005) as embedded:
        labs = [Gns3Lab(embedded.url) for _ in range(10)]
        nodes = await labs[0].nodes(embedded.project_id)
        port = next(node["console"] for node in nodes if node["name"] == "PC1")

        def call(number: int) -> Awaitable[list[ConsoleOutput]]:
            ping = f"ping 10.0.0.{number % 4 + 1} -c {number + 1}"
            leave = ["exit"] if number % 3 == 0 else []  # which mustn't cut another caller off
            commands = ["show ip", ping, f"nonsense {number}", *leave]
            return labs[number].console("127.0.0.1", port, commands, timeout=5)

        alone = [await call(number) for number in range(10)]
        together = await asyncio.gather(*map(call, range(10)))
        for lab in labs:
            await lab.close()
    assert together == alone
    for number, outputs in enumerate(together):
        assert outputs[1].output.count("bytes from") == number + 1
        assert f'"nonsense {number}"' in outputs[2].output
    assert turns._queues == {}


async def test_turns_hold_over_threads_with_loops_of_their_own() -> None:
    async with device(echo) as it:
        outputs: list[str] = []

        def elsewhere(number: int) -> None:
            [got] = asyncio.run(ask(it, f"{number}"))
            outputs.append(got.output)

        threads = [threading.Thread(target=elsewhere, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        await asyncio.gather(*(asyncio.to_thread(thread.join) for thread in threads))
    assert sorted(outputs) == [f"you said {number}" for number in range(6)]
    assert it.overlaps == 0
    assert turns._queues == {}


async def test_who_gives_up_waiting_leaves_the_queue_and_does_not_stop_it() -> None:
    order: list[str] = []

    async def user(name: str) -> None:
        async with turns.turn(("pc", 1)):
            order.append(name)
            await asyncio.sleep(0.05)

    first, second, third = (asyncio.create_task(user(name)) for name in ("a", "b", "c"))
    await asyncio.sleep(0.01)
    second.cancel()
    await asyncio.gather(first, second, third, return_exceptions=True)
    assert order == ["a", "c"]
    assert second.cancelled()
    assert turns._queues == {}


async def test_a_cancelled_call_interrupts_its_command_and_gives_the_console_back() -> None:
    async def answer(session: Session, line: str) -> None:
        session.send(f"{line}\r\n".encode())
        if line == "ping X -t":
            await asyncio.sleep(60)
        session.send(b"PC1> ")

    async with device(answer) as it:
        call = asyncio.create_task(ask(it, "ping X -t", seconds=30))
        while it.lines != ["ping X -t"]:  # noqa: ASYNC110 - the device tells nobody
            await asyncio.sleep(0.005)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await ask(it, "show ip") == [ConsoleOutput("show ip", "")]
    assert it.interrupts == 1
    assert it.overlaps == 0


# The pieces


def test_a_capture_keeps_both_ends_and_counts_the_rest() -> None:
    capture = Capture(2048)
    capture.feed(b"a" * 1024)
    capture.feed(b"b" * 5000)
    capture.feed(b"c" * 24)
    assert capture.text() == "a" * 1024 + "\n[4000 bytes left out]\n" + "b" * 1000 + "c" * 24
    assert capture.ending(30) == "b" * 6 + "c" * 24


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"\x1b[?25l\x1b[10;20Hx\x1b(B\x1b=", "x"),
        (b"\x1b]0;title\x1b\\x\x1bPq#0\x1b\\y", "xy"),
        (b"x\x1b]0;never closed\ny", "x\ny"),
        (b"x\x1b[", "x"),
        (b"\x08\x08x\r\n\x08y", "x\ny"),
        (b"a" * 50_000 + b"\x08" * 50_000 + b"b", "b"),
    ],
)
def test_plain_text_is_what_a_person_would_read(raw: bytes, text: str) -> None:
    assert plain_text(raw) == text
