"""The `__init__.py` of a surface's generated package: its types, and the reader of its events."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bundle import Bundle

__all__ = ["package_source"]


def package_source(bundle: Bundle) -> str:
    """The module's text, without header."""
    reader = ""
    reading = ["read_tagged" if bundle.tag is not None else "read_named", "UnknownEvent"]
    names = sorted(bundle.schemas, key=str.casefold)
    exported = [*names, "CONTRACTS", "models", "types"]
    lines = [
        _docstring(bundle),
        "",
        "from collections.abc import Mapping",
        "from typing import Any, Final",
        "",
    ]
    if bundle.events:
        exported += ["EVENTS", "UnknownEvent", "read_event"]
        lines += [f"from copilot_contracts.reading import {', '.join(sorted(reading))}", ""]
        reader = _reader(bundle)
    lines += [
        "from . import models, types",
        f"from .models import ({', '.join(names)})",
        "",
        "__all__ = [",
        *(f'    "{name}",' for name in sorted(exported)),
        "]",
        "",
        "CONTRACTS: Final[Mapping[tuple[str, str], Any]] = {",
        *(
            f'    ("{kind}", {_quoted(name)}): {title},'
            for (kind, name), title in bundle.contracts.items()
        ),
        "}",
        '"""The type of every contract, by kind and name as the registry has them."""',
        "",
        reader,
    ]
    return "\n".join(lines)


def _reader(bundle: Bundle) -> str:
    events = [f"    {_quoted(name)}: {title}," for name, title in bundle.events.items()]
    head = [
        "EVENTS: Final[Mapping[str, Any]] = {",
        *events,
        "}",
        '"""The model of every event, by name."""',
        "",
        "",
    ]
    if bundle.tag is not None:
        body = f'''def read_event(value: object) -> Event | UnknownEvent:
    """The event in a parsed JSON value, which names it.

    Raises pydantic.ValidationError about the event that is named, ValueError when none is.
    """
    event: Event | UnknownEvent = read_tagged(value, {_quoted(bundle.tag)}, EVENTS)
    return event
'''
    else:
        body = '''def read_event(name: str, data: object) -> Event | UnknownEvent:
    """The event `name` of the stream, with its parsed JSON data.

    Raises pydantic.ValidationError about the data of the event that is named.
    """
    event: Event | UnknownEvent = read_named(name, data, EVENTS)
    return event
'''
    return "\n".join(head) + body


def _docstring(bundle: Bundle) -> str:
    return _quoted(f"{bundle.title}: {bundle.description}")


def _quoted(text: str) -> str:
    """A Python string literal: JSON's are."""
    return json.dumps(text, ensure_ascii=False)
