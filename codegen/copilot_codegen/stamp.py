"""The header line of a generated file: what it was generated from, by what, and the hash of the
rest of the file, so that a stale or edited file is seen without generating anything."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from .bundle import Bundle

_LINE: Final = re.compile(
    r"(?:#|//) Generated from (?P<surface>\S+) (?P<version>\S+) \(schemas (?P<schemas>\w+)\) "
    r"by (?P<generator>.+?); do not edit \(body (?P<body>\w+)\)"
)


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a header line says. `schemas` and `body` are shortened SHA-256 digests."""

    surface: str
    version: str
    schemas: str
    generator: str
    body: str

    def line(self, comment: str) -> str:
        """The header line, after the language's comment sign."""
        return (
            f"{comment} Generated from {self.surface} {self.version} (schemas {self.schemas}) "
            f"by {self.generator}; do not edit (body {self.body})"
        )


def read_stamp(text: str) -> tuple[Stamp, str] | None:
    """A generated file's stamp and body, or None when the first line is no stamp."""
    line, _, body = text.partition("\n")
    match = _LINE.fullmatch(line)
    return (Stamp(**match.groupdict()), body) if match else None


def digest(text: str) -> str:
    """A short SHA-256 of the text, whatever its line ends."""
    return hashlib.sha256(text.replace("\r\n", "\n").encode()).hexdigest()[:16]


def schemas_digest(bundle: Bundle) -> str:
    """Of all that the generated code is made from; the order of files and keys aside."""
    parts = [
        bundle.surface,
        bundle.version,
        bundle.title,
        bundle.description,
        bundle.tag,
        list(bundle.schemas.items()),
        [[kind, name, title] for (kind, name), title in bundle.contracts.items()],
        list(bundle.events.items()),
    ]
    return digest(json.dumps(parts))


@cache
def _own_digest(*names: str) -> str:
    here = Path(__file__).parent
    return digest("\n".join((here / name).read_text(encoding="utf-8") for name in names))[:8]


def python_generator() -> str | None:
    """The generator of Python files with its version; None when it isn't installed."""
    try:
        tool = version("datamodel-code-generator")
    except PackageNotFoundError:
        return None
    own = _own_digest("bundle.py", "python.py", "python_package.py")
    return f"copilot_codegen {own}, datamodel-code-generator {tool}"
