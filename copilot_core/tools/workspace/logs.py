"""The newest lines of log files."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from copilot_core.tools.workspace.files import NO_FOLDER, is_binary, read
from copilot_core.tools.workspace.folders import Bounds

if TYPE_CHECKING:
    from copilot_core.ports import JsonObject
    from copilot_core.tools.workspace.folders import Folders, Found

#: `chatbot.log`, and what a rotation makes of it: `chatbot.log.1`, `chatbot.log.2026-11-30`.
_NAME = re.compile(r"(.+)\.log(\.[0-9-]+)?", re.IGNORECASE)
#: Bytes at a log's end that are read; characters of a line, of all lines, and logs, given out.
_READ, _LINE, _GIVEN, _LOGS = 1024 * 1024, 2000, 256 * 1024, 100


def search_logs(
    folders: Folders, service: str = "all", level: str = "all", last_n_lines: int = 50
) -> JsonObject:
    """The newest lines of each log, of those that have `level` in them, in any case. Never raises.

    A log is a file `*.log`, also a rotated one; it belongs to the service under whose folder in
    `services` it lies, else to the one it is named after.
    """
    if not folders.roots:
        return dict(NO_FOLDER)
    bounds, found, room = Bounds(), 0, _GIVEN
    data: list[JsonObject] = []
    for file in folders.walk(bounds):
        name = _NAME.fullmatch(file.name)
        if not name or (service != "all" and service.casefold() not in file.relative.casefold()):
            continue
        lines = _fitting(file, level, bounds)
        if not lines and level != "all":
            continue
        found += 1
        entries = _newest(lines, last_n_lines, room)
        if len(entries) < min(last_n_lines, len(lines)) or len(data) == _LOGS:
            bounds.reached = True
        if len(data) == _LOGS:
            continue
        room -= sum(map(len, entries))
        under_services = file.parts[0] == "services" and len(file.parts) > 2
        data.append(
            {
                "service": file.parts[1] if under_services else name[1],
                "file": file.relative,
                "total_lines": len(lines),
                "entries": entries,
            }
        )
    return {
        "service_filter": service,
        "level_filter": level,
        "logs_found": found,
        "data": data,
        "truncated": bounds.reached,
    }


def _fitting(file: Found, level: str, bounds: Bounds) -> list[str]:
    """The lines of the log's end that have the level in them."""
    skipped = max(file.size - _READ, 0)
    try:
        with file.opened() as log:
            os.lseek(log, skipped, os.SEEK_SET)
            data = read(log, _READ)
    except OSError:
        bounds.reached = True
        return []
    if is_binary(data):
        return []
    lines = data.decode(errors="replace").split("\n")
    if skipped:
        bounds.reached = True
        del lines[0]  # not whole
    wanted = "" if level == "all" else level.casefold()
    return [line.rstrip("\r")[:_LINE] for line in lines if line and wanted in line.casefold()]


def _newest(lines: list[str], most: int, room: int) -> list[str]:
    """Of the newest lines as many as there is room for, oldest first."""
    newest: list[str] = []
    for line in reversed(lines[-most:]):
        room -= len(line)
        if room < 0:
            break
        newest.insert(0, line)
    return newest
