"""Users, readers, models, tools and the server itself do anything in any order, and after each
step all holds that should.

`TURN_MACHINE_EXAMPLES=500 TURN_MACHINE_STEPS=80 pytest tests/adapters/test_turn_machine.py -s`
looks for longer, each time elsewhere, and tells what happened how often.
"""

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import invariant, run_state_machine_as_test

from turn_machine import checks
from turn_machine.machine import HAPPENED, on_loop
from turn_machine.server import Server
from turn_machine.world import USERS

EXAMPLES = int(os.environ.get("TURN_MACHINE_EXAMPLES", "0"))
STEPS = int(os.environ.get("TURN_MACHINE_STEPS", "50"))


class TurnMachine(Server):
    @invariant()
    @on_loop
    async def all_holds(self) -> None:
        for user in USERS:
            mine = [session for session in self.all if session.user == user]
            await checks.check_sessions(self.world, user, mine)
        await checks.check_tasks(self.world, self.all)
        checks.check_requests(self.world, self.all)
        checks.check_file(self.world, self.all)
        checks.check_log(self.world)
        checks.check_secrets(self.world)
        self.calm_steps += 1
        HAPPENED["steps"] += 1


@pytest.mark.timeout(24 * 3600 if EXAMPLES else 600)
def test_whatever_happens_to_turns() -> None:
    HAPPENED.clear()
    run_state_machine_as_test(
        TurnMachine,
        settings=settings(
            max_examples=EXAMPLES or 70,
            stateful_step_count=STEPS,
            derandomize=not EXAMPLES,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
    print(dict(sorted(HAPPENED.items())))
