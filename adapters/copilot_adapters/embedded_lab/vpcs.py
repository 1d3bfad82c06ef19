"""A virtual PC that understands the everyday commands of VPCS."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_HELP = """
?, help                      this text
disconnect, exit, quit       leave the console
ip ADDRESS[/MASK] [GATEWAY]  set the address of this PC
ping ADDRESS [-c N] [-t]     send N echo requests (5), or until Ctrl-C
save                         keep the address over a stop and start
show ip                      the address and the rest of the configuration
version                      what this program is
"""

_VERSION = """
Virtual PC of the embedded lab, version 1.0
It answers like VPCS; no packet leaves this process.
"""


@dataclass(frozen=True, slots=True)
class IpConfig:
    """What a PC knows of its own network."""

    interface: IPv4Interface | None = None
    gateway: IPv4Address | None = None


class VirtualPc:
    """One PC: its configuration, running and saved, and its command line.

    ``neighbours`` tells which running PCs the cable reaches at this moment.
    """

    def __init__(
        self,
        name: str,
        number: int,
        neighbours: Callable[[], Sequence[VirtualPc]],
        *,
        saved: IpConfig,
        ping_interval: float,
    ) -> None:
        self.name = name
        self.config = saved
        self._saved = saved
        self._number = number
        self._neighbours = neighbours
        self._ping_interval = ping_interval

    @property
    def prompt(self) -> str:
        return f"{self.name}> "

    @property
    def banner(self) -> str:
        # The title sequence is what terminals get from VPCS too.
        return (
            f"\x1b]0;{self.name}\x07\nWelcome to the embedded lab's virtual PC.\n"
            "Press '?' to get help.\n\n"
        )

    @property
    def mac(self) -> str:
        return f"00:50:79:66:{0x68 + self._number // 256:02x}:{self._number % 256:02x}"

    def boot(self) -> None:
        """Forget what wasn't saved, as a start does."""
        self.config = self._saved

    async def run(self, line: str, write: Callable[[str], None]) -> bool:
        """Run one command line; False when it asks to leave the console."""
        match line.split():
            case []:
                pass
            case ["exit" | "quit" | "disconnect"]:
                return False
            case ["?" | "help"]:
                write(_HELP)
            case ["version"]:
                write(_VERSION)
            case ["save"]:
                self._saved = self.config
                write("Saving startup configuration to startup.vpc\n.  done\n\n")
            case ["show", "ip"]:
                write(self._show_ip())
            case ["ip", *arguments]:
                write(self._set_address(arguments))
            case ["ping", *arguments]:
                await self._ping(arguments, write)
            case _:
                write(f'Bad command: "{line.strip()}". Use ? for help.\n\n')
        return True

    def _show_ip(self) -> str:
        port = 10000 + 2 * self._number
        return (
            f"\nNAME        : {self.name}[1]\n"
            f"IP/MASK     : {self.config.interface or '0.0.0.0/0'}\n"
            f"GATEWAY     : {self.config.gateway or '0.0.0.0'}\n"  # noqa: S104 - shown, not bound
            f"DNS         : \n"
            f"MAC         : {self.mac}\n"
            f"LPORT       : {port}\n"
            f"RHOST:PORT  : 127.0.0.1:{port + 1}\n"
            f"MTU         : 1500\n\n"
        )

    def _set_address(self, arguments: list[str]) -> str:
        config = _parse_address(arguments)
        if config is None or config.interface is None:
            return "Usage: ip ADDRESS[/MASK] [GATEWAY]\n\n"
        checking = "Checking for duplicate address...\n"
        holder = self._holder(config.interface.ip)
        if holder is not None:
            return f"{checking}{config.interface.ip} is being used by MAC {holder.mac}\n\n"
        self.config = config
        gateway = f" gateway {config.gateway}" if config.gateway else ""
        address = config.interface.with_netmask.replace("/", " ")
        return f"{checking}{self.name} : {address}{gateway}\n\n"

    def _holder(self, address: IPv4Address) -> VirtualPc | None:
        """The PC on this cable that answers ARP for an address."""
        for pc in self._neighbours():
            if pc.config.interface is not None and pc.config.interface.ip == address:
                return pc
        return None

    async def _ping(self, arguments: list[str], write: Callable[[str], None]) -> None:
        request = _parse_ping(arguments)
        if request is None:
            write("Usage: ping ADDRESS [-c N] [-t]\n\n")
            return
        name, count = request
        try:
            target = IPv4Address(name)
        except ValueError:
            write(f"Cannot resolve {name}\n\n")  # as VPCS without a DNS server
            return
        mine = self.config.interface
        if mine is not None and target == mine.ip:
            hop = None
        elif mine is not None and target in mine.network:
            hop = target
        elif self.config.gateway is not None:
            hop = self.config.gateway
        else:
            write(f"host ({target}) not reachable\n\n")
            return
        write("\n")
        sequence = 0
        while count is None or sequence < count:
            sequence += 1
            if hop is not None and self._holder(hop) is None:
                await asyncio.sleep(self._ping_interval)
                write(f"host ({hop}) not reachable\n\n")
                return
            if hop is None or self._answers(target):
                write(f"84 bytes from {target} icmp_seq={sequence} ttl=64 time=0.5 ms\n")
            else:
                write(f"{target} icmp_seq={sequence} timeout\n")
            if sequence != count:
                await asyncio.sleep(self._ping_interval)
        write("\n")

    def _answers(self, target: IPv4Address) -> bool:
        """Whether an echo request to ``target`` comes back: PCs don't route for each other."""
        peer = self._holder(target)
        mine = self.config.interface
        return (
            peer is not None
            and peer.config.interface is not None
            and mine is not None
            and mine.ip in peer.config.interface.network
            and target in mine.network
        )


def _parse_address(arguments: list[str]) -> IpConfig | None:
    """``A/M [G]``, ``A [G]`` or ``A MASK [G]``; a mask left out is /24, as in VPCS."""
    try:
        match arguments:
            case [address] if "/" in address:
                return IpConfig(IPv4Interface(address))
            case [address, gateway] if "/" in address:
                return IpConfig(IPv4Interface(address), IPv4Address(gateway))
            case [address]:
                return IpConfig(IPv4Interface(f"{address}/24"))
            case [address, mask, *gateway] if mask.startswith("255.") and len(gateway) < 2:
                return IpConfig(
                    IPv4Interface(f"{address}/{mask}"),
                    IPv4Address(gateway[0]) if gateway else None,
                )
            case [address, gateway]:
                return IpConfig(IPv4Interface(f"{address}/24"), IPv4Address(gateway))
    except ValueError:
        return None
    return None


def _parse_ping(arguments: list[str]) -> tuple[str, int | None] | None:
    """The target as written and the number of requests, None for endless."""
    target: str | None = None
    count: int | None = 5
    words = iter(arguments)
    for word in words:
        if word == "-t":
            count = None
        elif word == "-c":
            number = next(words, "")
            if not re.fullmatch(r"[1-9][0-9]{0,5}", number):
                return None
            count = int(number)
        elif target is None and not word.startswith("-"):
            target = word
        else:
            return None
    return None if target is None else (target, count)
