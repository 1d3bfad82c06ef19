"""Where an exception came from, without what it says."""

from __future__ import annotations

import traceback

_LONGEST_CHAIN = 8


def outline(error: BaseException) -> str:
    """The exception, its causes and its members: types and frames for a log.

    Their texts are left out: an HTTP library's may hold the header, and with it the token, that
    it could not send.
    """
    lines: list[str] = []
    waiting, seen = [error], 0
    while waiting and seen < _LONGEST_CHAIN:
        at = waiting.pop(0)
        seen += 1
        lines += [f"{type(at).__module__}.{type(at).__qualname__}\n"]
        lines += traceback.format_tb(at.__traceback__)
        waiting += getattr(at, "exceptions", ())
        if cause := at.__cause__ or (None if at.__suppress_context__ else at.__context__):
            waiting.append(cause)
    return "".join(lines).rstrip()
