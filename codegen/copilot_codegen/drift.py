"""What differs between two texts of one generated file, in the words of the schemas."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["drift"]

# The first line of a declaration, and of a field in one, in Python and in TypeScript.
_DECLARATION: Final = re.compile(
    r"(?:class|export interface|export type) (\w+)|(\w+)(?:: TypeAlias)? = "
)
_FIELD: Final = re.compile(r'(?:    |  |        )(?:"([^"]+)"|([\w$]+))\??: ')


def drift(old: str, new: str) -> list[str]:
    """One line a declaration that differs, such as "DoneEvent: `session_id` is gone"."""
    before, after = _declarations(old), _declarations(new)
    lines = [f"{name} is gone" for name in before if name not in after]
    lines += [f"{name} is new" for name in after if name not in before]
    for name, fields in after.items():
        was = before.get(name, fields)
        said = [f"`{field}` is gone" for field in was if field not in fields]
        said += [f"`{field}` is new" for field in fields if field not in was]
        said += [
            f"`{field}` changed" if field else "changed"
            for field, text in fields.items()
            if field in was and was[field] != text
        ]
        if said:
            lines.append(f"{name}: {', '.join(said)}")
    return lines


def _declarations(text: str) -> dict[str, dict[str, str]]:
    """Declaration → field → its text; the text of the declaration itself under the key ""."""
    found: dict[str, dict[str, str]] = {}
    name = field = ""
    comment = ""  # TypeScript's stand before what they are about
    quoted = False
    for line in text.splitlines():
        if quoted or '"""' in line:
            quoted ^= line.count('"""') == 1
        elif line.lstrip().startswith(("/*", "*")):
            comment += line.strip() + "\n"
            continue
        elif start := _DECLARATION.match(line):
            name, field = start[1] or start[2], ""
            found[name] = {}
        elif name and (start := _FIELD.match(line)):
            field = start[1] or start[2]
        elif line.startswith((")", "}", "]", ";")):
            field = ""  # the end of the declaration, not of its last field
        elif line and not line[0].isspace():
            name = ""
        if name and line:
            found[name][field] = found[name].get(field, "") + comment + line.strip() + "\n"
        comment = ""
    return found
