"""How a command ends."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FINE = 0
#: Findings at level error; or the command couldn't do what was asked.
FAILED = 1
WRONG_USAGE = 2
STALE = 3
INTERNAL = 5

_PACKAGES = frozenset({"copilot_contracts", "copilot_codegen", "copilot_core", "copilot_adapters"})


class CommandError(Exception):
    """Ends the command with one sentence on stderr, and a code."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


@contextlib.contextmanager
def needs(extra: str) -> Iterator[None]:
    """A block that imports what only `extra` installs; without it the command says so."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in _PACKAGES:
            raise  # a fault of ours, not a missing extra
        raise CommandError(
            f"This command needs {package}, which the extra `{extra}` installs: "
            f"pip install 'copilot-contracts[{extra}]'",
            WRONG_USAGE,
        ) from error
