"""The header line of a generated file: what it was generated from, by what, and the hash of the
rest of the file, so that a stale or edited file is seen without generating anything."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .node import LOCK_FILE, node_folder

if TYPE_CHECKING:
    from .bundle import Bundle

__all__ = [
    "Stamp",
    "digest",
    "docs_generator",
    "python_generator",
    "read_stamp",
    "same_generator",
    "schemas_digest",
    "typescript_generator",
]

_LINE: Final = re.compile(
    r"(?:#|//|<!--) Generated from (?P<surface>\S+) (?P<version>\S+) \(schemas (?P<schemas>\w+)\) "
    r"by (?P<generator>.+?); do not edit \(body (?P<body>\w+)\)(?: -->)?"
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
        line = (
            f"{comment} Generated from {self.surface} {self.version} (schemas {self.schemas}) "
            f"by {self.generator}; do not edit (body {self.body})"
        )
        return f"{line} -->" if comment == "<!--" else line


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


def python_generator() -> str:
    """What writes Python files, with versions."""
    own = _own_digest("bundle.py", "python_models.py", "python_package.py")
    try:
        tool = version("datamodel-code-generator")
    except PackageNotFoundError:
        tool = "?"
    return f"copilot_codegen {own}, datamodel-code-generator {tool}"


def typescript_generator() -> str:
    """What writes TypeScript files, with versions."""
    folder = node_folder()
    own = _own_digest(
        "bundle.py", "typescript_module.py", folder / "generate.mjs", folder / LOCK_FILE
    )
    package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    tool = package["dependencies"]["json-schema-to-typescript"]
    return f"copilot_codegen {own}, json-schema-to-typescript {tool}"


def docs_generator() -> str:
    """What writes documents."""
    return f"copilot_codegen {_own_digest('surface_document.py', 'shape_text.py')}"


def same_generator(said: str, here: str) -> bool:
    """Whether they name one generator; a tool that isn't installed here (`?`) may be any."""
    return said == here or (here.endswith(" ?") and said.startswith(here[:-1]))


def _own_digest(*sources: str | Path) -> str:
    """Changes with these files: what is generated may then be another text."""
    here = Path(__file__).parent
    return digest("\0".join((here / file).read_text(encoding="utf-8") for file in sources))[:8]
