"""Schemas in words, as Markdown: the type of a value, the keys of an object."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from copilot_contracts.profile import branches, literals
from copilot_contracts.schema_files import at_pointer, merged, ref_pointer

from .bundle import is_closed_tuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from copilot_contracts.registry import Contract

__all__ = ["Key", "Shapes", "code", "escaped", "heading_anchor", "table"]

_CODE: Final = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_RANGES: Final = (
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
    ("minProperties", "maxProperties", " keys"),
    ("minimum", "maximum", ""),
)


class Key(NamedTuple):
    """A key of an object, or of some of the branches of a union."""

    name: str
    #: The schema that stands at the key, refs not followed.
    schema: Mapping[str, Any]
    always: bool
    #: Not in the document that the surface was written from.
    additive: bool

    @property
    def text(self) -> str:
        return code(self.name) + (" (additive)" if self.additive else "")


@dataclass(slots=True)
class Shapes:
    """Types in words; shapes with a name are links, and are collected to be shown themselves."""

    #: Title → the bundle it is from, and the schema, of each that a link leads to.
    named: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = field(default_factory=dict)

    def of(self, contract: Contract) -> str:
        """The type of a contract's values."""
        bundle = contract.bundled()
        return self.type(bundle, bundle)

    def add(self, contract: Contract) -> None:
        """Show the contract's shape, whether or not something leads to it."""
        bundle = contract.bundled()
        self.named.setdefault(bundle.get("title", contract.name), (bundle, bundle))

    def type(self, root: Mapping[str, Any], schema: Any) -> str:
        """The type of a schema's values, a link where it is a named shape with parts."""
        if not isinstance(schema, dict):
            return "anything" if schema else "nothing"
        whole = merged(root, schema)
        title = whole.get("title")
        if title is None or not _has_more(whole):
            return self.spelled(root, whole)
        while "$ref" in schema and "title" not in schema:  # beside a ref, words of that place
            schema = at_pointer(root, ref_pointer(schema["$ref"]))
        self.named.setdefault(title, (root, schema))
        link = f"[{title}](#{heading_anchor(title)})"
        return link if _has_parts(whole) else f"{' or '.join(whole['types'])} ({link})"

    def spelled(self, root: Mapping[str, Any], whole: Mapping[str, Any]) -> str:
        """The type of a `merged` schema, its own name aside."""
        options = whole.get("anyOf") or whole.get("oneOf")
        if options:
            return " or ".join(dict.fromkeys(self.type(root, option) for option in options))
        values = literals(whole)
        if values is not None:
            return " or ".join(code(json.dumps(value, ensure_ascii=False)) for value in values)
        names = [self._of_type(root, whole, type_) for type_ in whole["types"]]
        return " or ".join(names or ["anything"]) + "".join(_limits(whole))

    def _of_type(self, root: Mapping[str, Any], whole: Mapping[str, Any], type_: str) -> str:
        if type_ == "array":
            if is_closed_tuple(dict(whole)):
                items = ", ".join(self.type(root, item) for item in whole["prefixItems"])
                return f"a list of exactly {items}"
            return f"list of {self.type(root, whole.get('items', True))}"
        if type_ == "object" and not whole["properties"]:
            rest = whole.get("additionalProperties", True)
            return f"map of {self.type(root, rest)}" if rest is not False else "empty object"
        return type_

    def keys(self, root: Mapping[str, Any], schema: Any) -> list[Key]:
        """The keys of an object; of a union, those of all its branches."""
        options = branches(root, schema)
        found: dict[str, Any] = {}
        for branch in options:
            found |= {
                name: part for name, part in branch["properties"].items() if part is not False
            }
        return [
            Key(
                name,
                part if isinstance(part, dict) else {},
                all(name in branch["required"] for branch in options),
                bool(isinstance(part, dict) and part.get("x-additive")),
            )
            for name, part in found.items()
        ]

    def key_table(self, root: Mapping[str, Any], schema: Any) -> Iterator[str]:
        """The lines of a table of an object's keys."""
        rows = []
        for key in self.keys(root, schema):
            whole = merged(root, key.schema)
            said = escaped(whole.get("description", ""))
            if "default" in whole:
                value = code(json.dumps(whole["default"], ensure_ascii=False))
                said = f"{said} Default: {value}.".lstrip()
            if whole.get("x-injected"):
                said = f"{said} Filled in by the server.".lstrip()
            if whole.get("deprecated"):
                said = f"Deprecated. {said}".rstrip()
            type_ = self.type(root, key.schema)
            rows.append((key.text, type_, "always" if key.always else "optional", said))
        yield from table(("Key", "Type", "There", "What it is"), rows)

    def section(self, title: str) -> Iterator[str]:
        """The lines under the heading of a named shape."""
        root, schema = self.named[title]
        whole = merged(root, schema)
        if whole.get("description"):
            yield from (escaped(whole["description"]), "")
        if whole["properties"] and not (whole.get("anyOf") or whole.get("oneOf")):
            yield from self.key_table(root, schema)
        else:
            yield from (f"{self.spelled(root, whole)}.", "")


def heading_anchor(heading: str) -> str:
    """Where a link to a heading leads, as GitHub and most others make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def code(text: str) -> str:
    """Text as code, in a table too."""
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    return _in_cell(f"{fence}{space}{text}{space}{fence}")


def escaped(text: str) -> str:
    """Text of a schema or a catalogue, which may be Markdown, on one line and without HTML."""
    text = " ".join(text.split())
    done, at = "", 0
    for span in _CODE.finditer(text):
        done += text[at : span.start()].replace("<", "&lt;") + span[0]
        at = span.end()
    return _in_cell(done + text[at:].replace("<", "&lt;"))


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """The lines of a Markdown table; none without rows."""
    lines = [_row(row) for row in rows]
    if lines:
        columns = list(head)
        yield from (_row(columns), f"|{'---|' * len(columns)}", *lines, "")


def _row(cells: Iterable[str]) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def _in_cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|")


def _has_more(whole: Mapping[str, Any]) -> bool:
    """Whether there is more to tell of a type than a table's cell holds."""
    return _has_parts(whole) or "pattern" in whole or len(literals(whole) or ()) > 1


def _has_parts(whole: Mapping[str, Any]) -> bool:
    options = whole.get("anyOf") or whole.get("oneOf")
    return bool(options or whole["properties"] or set(whole["types"]) & {"object", "array"})


def _limits(whole: Mapping[str, Any]) -> Iterator[str]:
    for least, most, unit in _RANGES:
        low, high = whole.get(least), whole.get(most)
        if low is not None and high is not None:
            yield f", {low} to {high}{unit}"
        elif high is not None:
            yield f", at most {high}{unit}"
        elif low == 1 and unit:
            yield ", not empty"
        elif low is not None and (low or not unit):
            yield f", at least {low}{unit}"
    for keyword, words in (("exclusiveMinimum", "more than"), ("exclusiveMaximum", "less than")):
        if keyword in whole:
            yield f", {words} {whole[keyword]}"
    if "pattern" in whole:
        yield f", {code(whole['pattern'])}"
