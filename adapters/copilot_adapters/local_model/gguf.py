"""Reads the chat template out of a GGUF file's metadata, and cures the one that needs it.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. The file may be anybody's: every
length is checked against the file and against a bound before anything is read or skipped.
"""

from __future__ import annotations

import os
import struct
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# value type -> bytes
_SCALARS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_STRING, _ARRAY = 8, 9
_MAX_ENTRIES = 65_536
_MAX_KEY = 65_535
_MAX_TEXT = 1 << 20
_MAX_ARRAY_STRINGS = 4_000_000  # the largest vocabularies have 262,144


class GgufError(Exception):
    """The file isn't a GGUF file that can be read; the text says where it went wrong."""


def chat_template(path: Path) -> str | None:
    """The template to start the model with; None when the file has none.

    Qwen2.5-Coder writes a fenced json block where its template promises `<tool_call>`, so for that
    model the fence stands in the template; then tool calls are recognised. Raises GgufError.
    """
    texts = read_texts(path, ("general.name", "general.basename", "tokenizer.chat_template"))
    template = texts.get("tokenizer.chat_template")
    name = f"{texts.get('general.name', '')} {texts.get('general.basename', '')}".lower()
    if template and "qwen2.5" in name and "coder" in name:
        return cure_qwen_coder(template)
    return template


def cure_qwen_coder(template: str) -> str:
    """The same template with a json fence for `<tool_call>` and `</tool_call>`."""
    return template.replace("<tool_call>", "```json").replace("</tool_call>", "```")


def read_texts(path: Path, wanted: tuple[str, ...]) -> dict[str, str]:
    """The text values of the wanted metadata keys. Raises GgufError."""
    try:
        with path.open("rb") as file:
            return _Reader(file, os.fstat(file.fileno()).st_size).texts(wanted)
    except OSError as error:
        raise GgufError(f"{path} can't be read: {error.strerror}.") from error
    except GgufError as error:
        raise GgufError(f"{path} is not a readable GGUF file: {error}") from None


class _Reader:
    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self._left = size
        self._array_strings = 0

    def texts(self, wanted: tuple[str, ...]) -> dict[str, str]:
        if self._left < 24 or self._take(4) != b"GGUF":
            raise GgufError("it doesn't begin with a GGUF header.")
        version = self._number("<I")
        if version not in (2, 3):
            raise GgufError(f"its version is {version}; 2 and 3 are known.")
        self._skip(8)  # the number of tensors
        entries = self._number("<Q")
        if entries > _MAX_ENTRIES:
            raise GgufError(f"it claims {entries} metadata entries.")
        found: dict[str, str] = {}
        for _ in range(entries):
            key = self._text(_MAX_KEY)
            kind = self._number("<I")
            if key in wanted and kind == _STRING:
                found[key] = self._text(_MAX_TEXT)
                if len(found) == len(wanted):
                    break
            else:
                self._skip_value(kind)
        return found

    def _take(self, count: int) -> bytes:
        if count > self._left:
            raise GgufError("it ends in the middle of its metadata.")
        data = self._file.read(count)
        if len(data) != count:
            raise GgufError("it ends in the middle of its metadata.")
        self._left -= count
        return data

    def _skip(self, count: int) -> None:
        if count > self._left:
            raise GgufError("it ends in the middle of its metadata.")
        self._file.seek(count, os.SEEK_CUR)
        self._left -= count

    def _number(self, form: str) -> int:
        value: int = struct.unpack(form, self._take(struct.calcsize(form)))[0]
        return value

    def _text(self, most: int) -> str:
        length = self._number("<Q")
        if length > most:
            raise GgufError(f"a text of {length} bytes stands where at most {most} are expected.")
        return self._take(length).decode("utf-8", errors="replace")

    def _skip_value(self, kind: int) -> None:
        if kind in _SCALARS:
            self._skip(_SCALARS[kind])
        elif kind == _STRING:
            self._skip(self._number("<Q"))
        elif kind == _ARRAY:
            self._skip_array()
        else:
            raise GgufError(f"there is no value type {kind}.")

    def _skip_array(self) -> None:
        kind, count = self._number("<I"), self._number("<Q")
        if kind in _SCALARS:
            self._skip(count * _SCALARS[kind])
        elif kind == _STRING:
            self._array_strings += count
            if self._array_strings > _MAX_ARRAY_STRINGS:
                raise GgufError(f"it claims arrays of {self._array_strings} texts.")
            for _ in range(count):
                self._skip(self._number("<Q"))
        else:
            raise GgufError(f"there are no arrays of value type {kind}.")
