"""How a command ends."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from copilot_adapters.extras import MissingExtra, installed_by

if TYPE_CHECKING:
    from collections.abc import Iterator

FINE = 0
#: Findings at level error; or the command couldn't do what was asked.
FAILED = 1
WRONG_USAGE = 2
STALE = 3
INTERNAL = 5


class CommandError(Exception):
    """Ends the command with one sentence on stderr, and a code."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


@contextlib.contextmanager
def needs(extra: str) -> Iterator[None]:
    """A block that imports what only `extra` installs; without it the command says so."""
    try:
        with installed_by(extra, "This command"):
            yield
    except MissingExtra as error:
        raise CommandError(str(error), WRONG_USAGE) from error
