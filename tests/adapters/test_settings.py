"""What the server does when nobody says otherwise."""

from copilot_adapters.starlette.app import AppSettings
from copilot_adapters.starlette.endpoint import ChatSettings


def test_the_defaults_are_those_decided() -> None:
    """A26: the heartbeat; A32: readers that take nothing, and the grace when the last has left."""
    assert ChatSettings() == ChatSettings(heartbeat=15, body_limit=1 << 20, stalled=60)
    fields = AppSettings.__dataclass_fields__
    assert fields["disconnect_grace"].default == 10
