"""What is missing, by the name of the extra that installs it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PACKAGES = frozenset({"copilot_contracts", "copilot_codegen", "copilot_core", "copilot_adapters"})


class MissingExtra(ModuleNotFoundError):
    """A package isn't installed; the text names the extra that installs it."""


@contextmanager
def installed_by(extra: str, what: str) -> Iterator[None]:
    """A block that imports what only `extra` installs; `what` names who needs it.

    Raises MissingExtra.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in _PACKAGES:
            raise  # a fault of ours, not a missing extra
        raise MissingExtra(
            f"{what} needs {package}, which the extra `{extra}` installs: "
            f"pip install 'copilot-contracts[{extra}]'",
            name=error.name,
        ) from error
