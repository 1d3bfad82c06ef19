"""One module a surface: how the core's events are said on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copilot_core.dialects import gns3_chat

if TYPE_CHECKING:
    from collections.abc import Callable

    from copilot_core.dialects.base import Dialect

#: By the surface's name: what makes the dialect of a session.
DIALECTS: dict[str, Callable[[str], Dialect]] = {gns3_chat.SURFACE: gns3_chat.Gns3ChatDialect}
