"""JSON text with the place of every value and every key, which no standard reader tells.

Containers are read here, everything in them by the standard library. What comes from strangers is
bounded: size, depth, and the length of keys (pointers are made of them).
"""

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from ..schema_files import MAX_FILE_BYTES, MAX_SCHEMA_DEPTH

__all__ = ["Source", "SourceError", "read"]

MAX_KEY_LENGTH = 200

_SPACE = re.compile(r"[ \t\n\r]*")


class SourceError(Exception):
    """The text can't be read. `rule` is the linter's, `offset` counts characters."""

    def __init__(self, message: str, offset: int = 0, rule: str = "INVALID_JSON") -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.rule = rule


@dataclass(slots=True)
class _Node:
    offset: int
    children: "dict[str, _Node] | list[_Node] | None" = None


@dataclass(frozen=True, slots=True)
class Source:
    """A JSON document and where its parts stand."""

    value: Any
    #: Keys that their object has already, and their offsets.
    duplicates: list[tuple[str, int]]
    _root: _Node
    _lines: list[int]

    def place(self, pointer: str) -> tuple[int, int]:
        """Line and column, from 1, of what a JSON pointer leads to: of its key in an object.

        Of a pointer that leads to nothing: the last part of it that there is.
        """
        node = self._root
        for token in pointer.split("/")[1:]:
            token = token.replace("~1", "/").replace("~0", "~")
            if isinstance(node.children, dict) and token in node.children:
                node = node.children[token]
            elif isinstance(node.children, list) and token.isdecimal():
                node = node.children[int(token)]
            else:
                break
        return self.position(node.offset)

    def position(self, offset: int) -> tuple[int, int]:
        return _position(self._lines, offset)


def _position(lines: list[int], offset: int) -> tuple[int, int]:
    line = bisect_right(lines, offset)
    return line, offset - lines[line - 1] + 1


def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer("\n", text))]


def position_in(content: bytes, offset: int) -> tuple[int, int]:
    """Line and column of an offset in a text that could not be read."""
    return _position(_line_starts(content.decode("utf-8", "replace")), offset)


def read(content: bytes) -> Source:
    """Raises SourceError."""
    if len(content) > MAX_FILE_BYTES:
        raise SourceError(f"The file is larger than {MAX_FILE_BYTES} bytes.", 0, "TOO_LARGE")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        raise SourceError("These bytes are not UTF-8.", len(before)) from None
    scanner = _Scanner(text)
    value, node = scanner.document()
    return Source(value, scanner.duplicates, node, _line_starts(text))


def _refuse(literal: str) -> Any:
    raise ValueError(f"{literal} is not JSON")


def _finite(literal: str) -> float:
    if not isfinite(number := float(literal)):
        raise ValueError(f"{literal:.40} is no number that a reader can hold")
    return number


_SCALARS = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)


@dataclass(slots=True)
class _Scanner:
    text: str
    at: int = 0
    duplicates: list[tuple[str, int]] = field(default_factory=list)

    def document(self) -> tuple[Any, _Node]:
        if self.text.startswith("\ufeff"):
            raise SourceError("The file begins with a byte order mark; remove it.")
        found = self._value(0)
        self._space()
        if self.at < len(self.text):
            raise SourceError("Something follows the JSON value.", self.at)
        return found

    def _space(self) -> str:
        """The next character that isn't white space."""
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def _value(self, depth: int) -> tuple[Any, _Node]:
        char = self._space()
        if char and char in "{[":
            if depth == MAX_SCHEMA_DEPTH:
                message = f"Values nest deeper than {MAX_SCHEMA_DEPTH} levels."
                raise SourceError(message, self.at, "TOO_LARGE")
            return self._object(depth) if char == "{" else self._array(depth)
        node = _Node(self.at)
        return self._scalar(), node

    def _scalar(self) -> Any:
        start = self.at
        try:
            value, self.at = _SCALARS.raw_decode(self.text, start)
        except json.JSONDecodeError as error:
            raise SourceError(f"This is not JSON: {error.msg}.", error.pos) from None
        except ValueError as error:  # of _refuse and _finite, or an integer of thousands of digits
            raise SourceError(f"This is not JSON: {error}.", start) from None
        if isinstance(value, str) and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                message = "The string holds half a surrogate pair, which UTF-8 can't carry."
                raise SourceError(message, start) from None
        return value

    def _object(self, depth: int) -> tuple[dict[str, Any], _Node]:
        children: dict[str, _Node] = {}
        value: dict[str, Any] = {}
        node = _Node(self.at, children)
        self.at += 1
        if self._space() == "}":
            self.at += 1
            return value, node
        while True:
            if self._space() != '"':
                raise SourceError("Here must be a key, in double quotes.", self.at)
            start = self.at
            key = self._scalar()
            if len(key) > MAX_KEY_LENGTH:
                message = f"A key is longer than {MAX_KEY_LENGTH} characters."
                raise SourceError(message, start, "TOO_LARGE")
            if key in value:
                self.duplicates.append((key, start))
            if self._space() != ":":
                raise SourceError("Here must be a colon.", self.at)
            self.at += 1
            value[key], child = self._value(depth + 1)
            child.offset = start
            children[key] = child
            if self._ends("}"):
                return value, node

    def _array(self, depth: int) -> tuple[list[Any], _Node]:
        children: list[_Node] = []
        value: list[Any] = []
        node = _Node(self.at, children)
        self.at += 1
        if self._space() == "]":
            self.at += 1
            return value, node
        while True:
            item, child = self._value(depth + 1)
            value.append(item)
            children.append(child)
            if self._ends("]"):
                return value, node

    def _ends(self, end: str) -> bool:
        char = self._space()
        if char not in (",", end):
            raise SourceError(f"Here must be a comma or `{end}`.", self.at)
        self.at += 1
        return char == end
