"""The command `copilot-contracts`.

It ends with 0 fine, 1 findings at level error or a failure, 2 wrong usage, 3 stale generated files,
4 only undecided findings, 5 an internal error, 130 interrupted.
"""

import sys

PROGRAM = "copilot-contracts"


def version_line() -> str:
    """The name and the version of what is installed."""
    from importlib.metadata import version

    return f"{PROGRAM} {version(PROGRAM)}"


def main() -> None:
    """The program's entry point."""
    if sys.argv[1:] == ["--version"]:
        # Scripts ask often; Typer takes longer to import than all the rest.
        print(version_line())
        return
    from copilot_adapters.cli.program import run

    run()
