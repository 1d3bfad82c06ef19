"""The regular expressions of the wire profile: those that mean the same everywhere.

A `pattern` is read by ECMAScript (with the `u` flag, as JSON Schema asks), by Rust's regex crate
(the gate, Pydantic) and by Python's `re`. They differ in `\\d`, `\\w`, `\\s`, `\\b`, `.`, in
groups that look around, in back references and in more. What is left is a small language that
each of them reads alike, and that no backtracking engine takes exponential time for.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["PatternError", "SlowPatternError", "check_pattern", "python_pattern"]

MAX_LENGTH = 1000
MAX_GROUP_DEPTH = 10
#: Of nested counted repetitions, multiplied: Rust's engine writes them out.
MAX_COUNT = 1000
#: Repetitions in a row that a text can be shared out among.
MAX_OPEN_ENDS = 3

_LAST = 0x10FFFF
_SYNTAX = frozenset("^$\\.*+?()[]{}|/")
_CONTROL = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_COUNT = re.compile(r"\{([0-9]{1,9})(?:(,)([0-9]{1,9})?)?\}")
_HEX = {"x": re.compile("[0-9A-Fa-f]{2}"), "u": re.compile("[0-9A-Fa-f]{4}")}
_ADVICE = {
    "d": "write [0-9]",
    "D": "write [^0-9]",
    "w": "write [A-Za-z0-9_]",
    "W": "write [^A-Za-z0-9_]",
    "s": "write the characters meant, such as [ \\t\\n]",
    "S": "write the characters meant, such as [^ \\t\\n]",
}

_Ranges = tuple[tuple[int, int], ...]


class PatternError(ValueError):
    """The pattern isn't one that every engine reads, and reads alike. Says where and why."""


class SlowPatternError(PatternError):
    """Every engine reads it alike, but some take exponential time or space for it."""


@dataclass(frozen=True, slots=True)
class _Chars:
    ranges: _Ranges


@dataclass(frozen=True, slots=True)
class _Group:
    options: tuple[tuple["_Item", ...], ...]


@dataclass(frozen=True, slots=True)
class _Repeat:
    item: "_Chars | _Group"
    least: int
    most: int | None


_Item = _Chars | _Group | _Repeat


def check_pattern(pattern: str) -> None:
    """Raises PatternError, or SlowPatternError, when the pattern is outside the profile."""
    _check_speed(_Parser(pattern).parse(), 1)


def python_pattern(pattern: str) -> str:
    """The pattern as Python's `re` must be given it: there, `$` also matches before a last LF.

    Raises PatternError as `check_pattern` does.
    """
    parser = _Parser(pattern)
    parser.parse()
    ends = set(parser.dollars)
    return "".join(r"\Z" if at in ends else char for at, char in enumerate(pattern))


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        #: Where the pattern says `$`.
        self.dollars: list[int] = []

    def parse(self) -> _Group:
        if len(self.pattern) > MAX_LENGTH:
            raise PatternError(f"is longer than {MAX_LENGTH} characters")
        group = self._group(0)
        if self.at < len(self.pattern):
            raise self._error("`)` closes no group")
        return group

    def _error(self, why: str) -> PatternError:
        return PatternError(f"{why} (character {self.at + 1})")

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _group(self, depth: int) -> _Group:
        if depth > MAX_GROUP_DEPTH:
            raise self._error(f"groups lie in each other deeper than {MAX_GROUP_DEPTH}")
        options: list[tuple[_Item, ...]] = []
        items: list[_Item] = []
        while (char := self._peek()) not in ("", ")"):
            if char == "|":
                self.at += 1
                options.append(tuple(items))
                items = []
            elif char in "^$":
                if char == "$":
                    self.dollars.append(self.at)
                self.at += 1
                if self._peek() and self._peek() in "*+?{":
                    raise self._error("an anchor can't be repeated")
            else:
                items.append(self._repeated(self._atom(char, depth)))
        return _Group((*options, tuple(items)))

    def _atom(self, char: str, depth: int) -> _Chars | _Group:
        if char == "(":
            self.at += 1
            if self._peek() == "?":
                if not self.pattern.startswith("?:", self.at):
                    raise self._error(
                        "of the groups with `(?`, only `(?:` means the same everywhere"
                    )
                self.at += 2
            group = self._group(depth + 1)
            if self._peek() != ")":
                raise self._error("a group is not closed")
            self.at += 1
            return group
        if char == "[":
            return self._class()
        if char == "\\":
            code = self._escape(in_class=False)
            return _Chars(((code, code),))
        if char == ".":
            raise self._error("`.` leaves out other line ends in each engine; write [^\\n\\r]")
        if char in "*+?":
            raise self._error(f"nothing stands before `{char}`")
        if char in "{}]":
            raise self._error(f"write `\\{char}` for the character `{char}`")
        self.at += 1
        return _Chars(((ord(char), ord(char)),))

    def _repeated(self, item: _Chars | _Group) -> _Item:
        char = self._peek()
        if char == "{":
            found = _COUNT.match(self.pattern, self.at)
            if not found:
                raise self._error("a count is {n}, {n,} or {n,m}")
            least = int(found[1])
            most = int(found[3]) if found[3] else None if found[2] else least
            if most is not None and most < least:
                raise self._error("a count's bounds are the wrong way round")
            self.at = found.end()
        elif char and char in "*+?":
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[char]
            self.at += 1
        else:
            return item
        if self._peek() == "?":  # lazy: matches the same
            self.at += 1
        if self._peek() and self._peek() in "*+?{":
            raise self._error("a repetition can't be repeated without a group")
        return _Repeat(item, least, most)

    def _escape(self, *, in_class: bool) -> int:
        """The code point of an escape; the parser stands at its backslash."""
        char = self.pattern[self.at + 1 : self.at + 2]
        if char in _HEX:
            digits = _HEX[char].match(self.pattern, self.at + 2)
            code = int(digits[0], 16) if digits else 0xD800
            if not digits or 0xD800 <= code <= 0xDFFF:
                raise self._error(f"`\\{char}` needs hexadecimal digits that name a character")
            self.at = digits.end()
            return code
        if char in _CONTROL or (char and char in _SYNTAX) or (char == "-" and in_class):
            self.at += 2
            return _CONTROL.get(char, ord(char))
        if char in _ADVICE:
            raise self._error(f"`\\{char}` is another set in each engine; {_ADVICE[char]}")
        if char == "":
            raise self._error("it ends with a backslash")
        raise self._error(f"`\\{char}` doesn't mean the same everywhere")

    def _class(self) -> _Chars:
        if self.pattern.startswith(("[\\s\\S]", "[\\S\\s]"), self.at):
            self.at += 6
            return _Chars(((0, _LAST),))
        self.at += 1
        negated = self._peek() == "^"
        self.at += negated
        ranges: list[tuple[int, int]] = []
        while self._peek() != "]":
            low = self._class_char()
            high = low
            if self._peek() == "-" and self.pattern[self.at + 1 : self.at + 2] != "]":
                self._refuse_operator()
                self.at += 1
                high = self._class_char()
                if high < low:
                    raise self._error("a range's ends are the wrong way round")
            ranges.append((low, high))
        if not ranges:
            raise self._error("an empty class `[]` is read differently")
        self.at += 1
        return _Chars(_complement(ranges) if negated else tuple(ranges))

    def _class_char(self) -> int:
        char = self._peek()
        if not char:
            raise self._error("a class is not closed")
        if char == "[":
            raise self._error("write `\\[` in a class: Rust reads a class within the class")
        self._refuse_operator()
        if char == "\\":
            return self._escape(in_class=True)
        self.at += 1
        return ord(char)

    def _refuse_operator(self) -> None:
        char = self._peek()
        if char in "&|~-" and self.pattern.startswith(char * 2, self.at):
            raise self._error(f"`{char * 2}` in a class is an operator for some engines")


def _complement(ranges: Sequence[tuple[int, int]]) -> _Ranges:
    result = []
    start = 0
    for low, high in sorted(ranges):
        if low > start:
            result.append((start, low - 1))
        start = max(start, high + 1)
    return (*result, (start, _LAST)) if start <= _LAST else tuple(result)


def _check_speed(item: _Item, count: int) -> None:
    if isinstance(item, _Chars):
        return
    if isinstance(item, _Group):
        for option in item.options:
            _check_row(option)
            for part in option:
                _check_speed(part, count)
        return
    count *= max(item.most or item.least, 1)
    if count > MAX_COUNT:
        raise SlowPatternError(
            f"its counted repetitions multiply to more than {MAX_COUNT}; use maxLength instead"
        )
    if item.most != 1 and isinstance(item.item, _Group) and not _rounds_are_clear(item.item):
        raise SlowPatternError(
            "a repeated group holds a repetition or a choice, and a text can be cut into its "
            "rounds in many ways; give each round a character that stands nowhere else in it"
        )
    _check_speed(item.item, count)


def _check_row(option: tuple[_Item, ...]) -> None:
    """Repetitions in a row that share characters multiply the ways to cut a text."""
    open_ends: list[list[_Ranges]] = []
    for item in option:
        characters = _characters(item)
        if isinstance(item, _Chars):
            open_ends = [end for end in open_ends if _any_overlap(end, characters)]
        elif isinstance(item, _Repeat) and item.least != item.most:
            open_ends = [*open_ends, characters]
        if len(open_ends) > MAX_OPEN_ENDS:
            raise SlowPatternError(
                f"more than {MAX_OPEN_ENDS} repetitions follow each other without a character "
                "between them that ends the one before"
            )


def _rounds_are_clear(group: _Group) -> bool:
    """Whether a text can be cut into rounds of the group in few ways only.

    It can when each choice is a fixed row of characters that begins with another one, or when
    each round has a separator: one character that nothing else in the round matches.
    """
    firsts = [_first_of_row(option) for option in group.options]
    if all(firsts):
        return not any(
            _overlap(one, other) for at, one in enumerate(firsts) for other in firsts[:at]
        )
    if len(group.options) > 1:
        return False
    (option,) = group.options
    return any(
        isinstance(item, _Chars)
        and not _any_overlap(
            [item.ranges], [c for x in option if x is not item for c in _characters(x)]
        )
        for item in option
    )


def _first_of_row(option: tuple[_Item, ...]) -> _Ranges:
    """The first character of a row of characters of one length; empty for anything else."""
    for item in option:
        fixed = isinstance(item, _Repeat) and item.least == item.most and item.least > 0
        if not isinstance(item.item if isinstance(item, _Repeat) and fixed else item, _Chars):
            return ()
    return _characters(option[0])[0] if option else ()


def _characters(item: _Item) -> list[_Ranges]:
    if isinstance(item, _Chars):
        return [item.ranges]
    if isinstance(item, _Repeat):
        return _characters(item.item)
    return [ranges for option in item.options for part in option for ranges in _characters(part)]


def _overlap(one: _Ranges, other: _Ranges) -> bool:
    return any(a <= d and c <= b for a, b in one for c, d in other)


def _any_overlap(some: list[_Ranges], others: list[_Ranges]) -> bool:
    return any(_overlap(one, other) for one in some for other in others)
