"""Lines that a pattern fits, in the open folders, in bounded time.

Patterns are RE2's: no pattern takes more than time that grows with the text. Its matcher for what
needs too many states is slow all the same, so a file is searched in pieces, and between two of
them it is seen to the time.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import re2  # type: ignore[import-untyped]  # has no types

from copilot_core.text import without_surrogates
from copilot_core.tools.workspace.files import has_type, is_binary, read
from copilot_core.tools.workspace.folders import Bounds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from copilot_core.ports import JsonObject
    from copilot_core.tools.workspace.folders import Folders

#: Bytes of a file, and of all files, that are searched.
_FILE, _ALL = 4 * 1024 * 1024, 128 * 1024 * 1024
#: Bytes between two looks at the time; what a compiled pattern may take.
_PIECE, _MEMORY = 64 * 1024, 1024 * 1024
#: Characters of a line that are told, and how many of them come before what fits.
_TOLD, _BEFORE = 500, 100


class BadPattern(ValueError):
    """It isn't a regular expression of RE2's, or too large a one."""


@dataclass(frozen=True, slots=True)
class Grepped:
    """The lines that fit, by file and line number."""

    #: Each ``{file, relative, line, content}``.
    results: list[JsonObject]
    #: There may be more: a bound of lines, files, bytes or time was reached.
    truncated: bool


async def grep(
    folders: Folders,
    pattern: str,
    *,
    file_type: str = "all",
    max_results: int = 30,
    case_sensitive: bool = False,
    regex: bool = False,
) -> Grepped:
    """In a thread of its own. `^` and `$` are a line's ends. Raises BadPattern."""
    fits = _compiled(pattern, case_sensitive, regex)
    return await asyncio.to_thread(_grep, folders, fits, file_type, max_results)


def _compiled(pattern: str, case_sensitive: bool, regex: bool) -> Any:
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    options.never_nl = True
    options.case_sensitive = case_sensitive
    options.literal = not regex
    try:
        return re2.compile(f"(?m){pattern}" if regex else without_surrogates(pattern), options)
    except (re2.error, ValueError):  # its text repeats the pattern
        raise BadPattern("The pattern isn't a regular expression of RE2's.") from None
    finally:
        re2.purge()  # else it keeps the newest 128, for whoever wrote them


def _grep(folders: Folders, fits: Any, file_type: str, max_results: int) -> Grepped:
    bounds, room = Bounds(), _ALL
    results: list[JsonObject] = []
    for file in folders.walk(bounds):
        if not has_type(file.name, file_type):
            continue
        if room <= 0:
            bounds.reached = True
            break
        try:
            with file.opened() as opened:
                data = read(opened, _FILE + 1)
        except OSError:
            bounds.reached = True
            continue
        room -= len(data)
        if is_binary(data):
            continue
        if len(data) > _FILE:
            bounds.reached = True
            data = data[:_FILE]
        for number, content in _lines(data.replace(b"\r\n", b"\n"), fits, bounds):
            if len(results) == max_results:
                bounds.reached = True
                return Grepped(results, truncated=True)
            results.append(
                {"file": file.path, "relative": file.relative, "line": number, "content": content}
            )
    return Grepped(results, bounds.reached)


def _lines(data: bytes, fits: Any, bounds: Bounds) -> Iterator[tuple[int, str]]:
    """The number and the text of each line that fits."""
    number, begin = 1, 0
    while begin < len(data) and not bounds.spent:
        # Whole lines; of one that is longer than a piece, its beginning.
        end = data.rfind(b"\n", begin, begin + _PIECE) + 1
        after = end or data.find(b"\n", begin + _PIECE) + 1 or len(data)
        piece = data[begin : end or begin + _PIECE]
        at = 0
        while at < len(piece) and (match := fits.search(piece, at)):
            start = piece.rfind(b"\n", 0, match.start()) + 1
            stop = piece.find(b"\n", match.start())
            stop = len(piece) if stop < 0 else stop
            if start == len(piece):  # the end of the last line is no line
                break
            number += piece.count(b"\n", at, start)
            yield number, _told(piece[start:stop], match.start() - start)
            number += 1
            at = stop + 1
        number += data.count(b"\n", begin + at, after)
        begin = after


def _told(line: bytes, fits_at: int) -> str:
    before = line[:fits_at].decode(errors="replace")
    text = line.decode(errors="replace")
    return text if len(text) <= _TOLD else text[max(len(before) - _BEFORE, 0) :][:_TOLD]
