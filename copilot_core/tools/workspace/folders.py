"""The folders that somebody opened, and nothing outside them (decision B10).

A path is resolved first, links too, and what it leads to must lie under a root. It is then opened
from that root, folder by folder, without following a link: what is moved or linked in between
can't lead outside. Only folders and regular files are ever opened; nothing here waits for a pipe
or reads a device.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
#: What a walk doesn't enter: what other programs keep for themselves.
_SKIPPED = frozenset({".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules", "venv"})


class NotThere(FileNotFoundError):
    """There is no such folder or regular file under the roots."""


@dataclass(slots=True)
class Bounds:
    """What one call may take; `reached` says that it was not enough."""

    entries: int = 50_000
    seconds: float = 5.0
    depth: int = 40
    reached: bool = False
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        self._end = time.monotonic() + self.seconds

    @property
    def spent(self) -> bool:
        """Whether to stop; then `reached` is set."""
        if self.entries <= 0 or time.monotonic() > self._end:
            self.reached = True
            return True
        return False


@dataclass(frozen=True, slots=True)
class Place:
    """Something under a root, resolved."""

    root: str
    #: From the root; empty: the root itself.
    parts: tuple[str, ...]

    @property
    def path(self) -> str:
        """Absolute."""
        return os.path.join(self.root, *self.parts)  # noqa: PTH118 - may not be UTF-8, stays text

    @contextmanager
    def opened(self) -> Iterator[int]:
        """Its descriptor, of a folder or a regular file. Raises OSError."""
        at = os.open(self.root, _FOLDER)
        try:
            for part in self.parts:
                here, at = at, _open(part, at)
                os.close(here)
            yield at
        finally:
            os.close(at)


@dataclass(frozen=True, slots=True)
class Found(Place):
    """A regular file that a walk came to."""

    size: int
    _folder: int

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def relative(self) -> str:
        """Its path, from the root."""
        return "/".join(self.parts)

    @contextmanager
    def opened(self) -> Iterator[int]:
        """Its descriptor; only until the walk goes on. Raises OSError."""
        at = _open(self.name, self._folder)
        try:
            yield at
        finally:
            os.close(at)


class Folders:
    """Roots, in the order in which relative paths are looked for.

    ``within``: what these roots must lie in, too, whenever something is opened. Those that don't
    now are left out.
    """

    def __init__(self, roots: Iterable[Path | str], *, within: Folders | None = None) -> None:
        found = dict.fromkeys(os.path.realpath(root) for root in roots)
        self._outer = None if within is None else within.roots
        #: Absolute and resolved, each once.
        self.roots: tuple[str, ...] = tuple(
            root for root in found if self._opened_from(root) is not None
        )

    def _opened_from(self, root: str) -> str | None:
        """The folder from which a root is opened; None: it lies in none that it may lie in."""
        if self._outer is None:
            return root
        return next((o for o in self._outer if root == o or _lies_in(root, o)), None)

    def _place(self, root: str, parts: tuple[str, ...]) -> Place:
        outer = self._opened_from(root) or root
        between = root[len(outer) :].strip("/")
        return Place(outer, (*between.split("/"), *parts) if between else parts)

    def place(self, given: str) -> Place:
        """What a path from a root, or an absolute one under a root, leads to. Raises NotThere."""
        for start in self.roots:
            try:
                real = os.path.realpath(os.path.join(start, given), strict=True)  # noqa: PTH118
            except (OSError, ValueError):  # not there, a ring of links, a NUL
                continue
            for root in self.roots:
                if real == root:
                    return self._place(root, ())
                if real.startswith(inside := root.rstrip("/") + "/"):
                    return self._place(root, tuple(real[len(inside) :].split("/")))
        raise NotThere

    def walk(self, bounds: Bounds) -> Iterator[Found]:
        """All regular files, each once, by path; links aren't followed."""
        for root in self.roots:
            if any(root != other and _lies_in(root, other) for other in self.roots):
                continue
            try:
                with self._place(root, ()).opened() as folder:
                    yield from _walk(root, (), folder, bounds)
            except OSError:
                bounds.reached = True


def _lies_in(path: str, root: str) -> bool:
    return path.startswith(root.rstrip("/") + "/")


def _walk(root: str, parts: tuple[str, ...], folder: int, bounds: Bounds) -> Iterator[Found]:
    names: list[tuple[str, os.stat_result]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if bounds.spent:
                break
            bounds.entries -= 1
            try:
                names.append((entry.name, entry.stat(follow_symlinks=False)))
            except OSError:  # gone
                continue
    for name, what in sorted(names):
        if bounds.spent:
            return
        if stat.S_ISREG(what.st_mode):
            yield Found(root, (*parts, name), what.st_size, folder)
        elif stat.S_ISDIR(what.st_mode) and name not in _SKIPPED:
            if len(parts) >= bounds.depth:
                bounds.reached = True
                continue
            try:
                below = os.open(name, _FOLDER, dir_fd=folder)
            except OSError:
                bounds.reached = True
                continue
            try:
                yield from _walk(root, (*parts, name), below, bounds)
            finally:
                os.close(below)


def _open(name: str, folder: int) -> int:
    """A folder or a regular file of an open folder. Raises OSError."""
    kind = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISDIR(kind):
        return os.open(name, _FOLDER, dir_fd=folder)
    if not stat.S_ISREG(kind):  # to open a device may do something
        raise NotThere
    opened = os.open(name, _FILE, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(opened).st_mode):  # another one by now
        os.close(opened)
        raise NotThere
    return opened
