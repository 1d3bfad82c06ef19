"""`python -m copilot_adapters.cli`: the command `copilot-contracts`."""

from copilot_adapters.cli import main

main()
