"""A surface's folder as the linter sees it: its files, their places, and what was found."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..schema_files import MAX_FILE_BYTES, SchemaFiles
from .rules import RULES, Finding
from .source import Source, SourceError, position_in, read

__all__ = ["CATALOGUE", "Folder"]

CATALOGUE = "surface.json"
MAX_FILES = 2000


class Folder:
    """The JSON files of one surface. Paths are relative to its folder, with `/`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = SchemaFiles(root)
        self.sources: dict[str, Source] = {}
        self.findings: list[Finding] = []
        #: Files that nothing but reading was tried on, or that can't be understood.
        self.broken: set[str] = set()
        for path in self._paths():
            self._read(path)

    @property
    def catalogue(self) -> dict[str, Any]:
        """The surface.json, or nothing where it is broken."""
        return {} if CATALOGUE in self.broken else self.sources[CATALOGUE].value

    def schemas(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The schema files that can be understood."""
        for path, source in self.sources.items():
            if path != CATALOGUE and path not in self.broken:
                yield path, source.value

    def report(self, rule: str, path: str, pointer: str, message: str) -> None:
        source = self.sources.get(path)
        self._add(rule, path, source.place(pointer) if source else (1, 1), message)

    def _add(self, rule: str, path: str, place: tuple[int, int], message: str) -> None:
        shown = str(self.root / path)
        self.findings.append(Finding(shown, *place, rule, message, RULES[rule].level))

    def _paths(self) -> list[str]:
        found: list[str] = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            here = Path(folder).relative_to(self.root)
            names = sorted(name for name in names if name.endswith(".json"))
            found += [(here / name).as_posix() for name in names]
            if len(found) > MAX_FILES:
                self._add("TOO_LARGE", CATALOGUE, (1, 1), f"There are more than {MAX_FILES} files.")
                return [CATALOGUE]
        return found

    def _read(self, path: str) -> None:
        file = self.root / path
        if not Path(os.path.realpath(file)).is_relative_to(self.files.root):
            self.broken.add(path)
            self._add("FILE_OUTSIDE", path, (1, 1), "The file is a link out of the folder.")
            return
        content = b""
        try:
            if not file.is_file():  # a pipe would be waited for
                raise OSError(0, "it is no regular file")
            with file.open("rb") as stream:
                content = stream.read(MAX_FILE_BYTES + 1)
            source = self.sources[path] = read(content)
        except OSError as error:
            self.broken.add(path)
            self._add("INVALID_JSON", path, (1, 1), f"The file can't be read: {error.strerror}.")
            return
        except SourceError as error:
            self.broken.add(path)
            self._add(error.rule, path, position_in(content, error.offset), error.message)
            return
        for key, offset in source.duplicates:
            self.broken.add(path)
            message = f"The key {key!r} stands in this object already; readers keep one of the two."
            self._add("DUPLICATE_KEY", path, source.position(offset), message)
        if not isinstance(source.value, dict):
            self.broken.add(path)
            self._add("INVALID_SCHEMA", path, (1, 1), "The file must hold a JSON object.")
