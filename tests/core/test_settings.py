"""What the core does when nobody says otherwise."""

from copilot_core.settings import CoreSettings


def test_the_defaults_are_those_decided() -> None:
    """Of A8 and A32, among others."""
    assert CoreSettings() == CoreSettings(
        tool_timeout=120,
        max_tool_output=16 << 10,
        max_log=8 << 20,
        keep_log=60,
        grace=10,
        stop_seconds=5,
    )
