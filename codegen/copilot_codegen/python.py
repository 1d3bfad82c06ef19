"""Pydantic models and TypedDicts of a surface, by datamodel-code-generator."""

from __future__ import annotations

import ast
import json
import re
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .bundle import Bundle, Schema, is_closed_tuple
from .errors import CodegenError
from .python_package import package_source

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["generate_python"]

_OPTIONS: Final[dict[str, Any]] = {
    "input_filename": "bundle.json",
    "schema_version": "2020-12",
    "target_python_version": "3.11",
    "disable_timestamp": True,
    "builtin_format_line_length": 100,
    "use_annotated": True,
    "field_constraints": True,
    "enum_field_as_literal": "all",
    "use_title_as_name": True,
    "skip_root_model": True,
    "keep_model_order": True,
    "disable_appending_item_suffix": True,
    "use_standard_collections": True,
    "use_union_operator": True,
    "use_double_quotes": True,
    "use_schema_description": True,
    "use_field_description": True,
    "use_single_line_docstring": True,
    "use_type_alias": True,
    "use_tuple_for_closed_arrays": True,
    "use_typed_nullable_map_values": True,
    "use_typed_map_values_beside_other_types": True,
    "use_single_dict_for_object_maps": True,
    "strict_refs": True,
    "allow_remote_refs": False,
}
_MODELS: Final[dict[str, Any]] = {
    "output_model_type": "pydantic_v2.BaseModel",
    "target_pydantic_version": "2.14",
    "base_class": "copilot_contracts.reading.Reader",
    "strict_nullable": True,
    "use_missing_sentinel": True,
}
_TYPES: Final[dict[str, Any]] = {
    "output_model_type": "typing.TypedDict",
    "use_closed_typed_dict": False,
}


_READING: Final = "copilot_contracts.reading"
_JSON_NAMES: Final = {"int": "Integer", "float": "Number"}
_CONSTRAINTS: Final = {
    *("enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("multipleOf", "minLength", "maxLength", "pattern", "minItems", "maxItems"),
    *("minProperties", "maxProperties", "propertyNames"),
}
_INLINE: Final = "InlineType"
_INLINE_NAME: Final = re.compile(rf"\b{_INLINE}\d+\b")
_INLINE_TITLE: Final = re.compile(rf'(?:, )?title="{_INLINE}\d+"')


def generate_python(bundle: Bundle) -> dict[str, str]:
    """File name → text, without header, of the surface's Python package."""
    document = json.dumps(_prepared(bundle), ensure_ascii=False)
    return {
        "__init__.py": _format(package_source(bundle)),
        "models.py": _rewritten(_run(document, _MODELS), bundle, models=True),
        "types.py": _rewritten(_run(document, _TYPES), bundle, models=False),
    }


def _run(document: str, options: dict[str, Any]) -> str:
    try:
        from datamodel_code_generator import Formatter, InputFileType, generate
    except ModuleNotFoundError as error:
        raise CodegenError(
            "Generating Python needs datamodel-code-generator: "
            "pip install 'copilot-contracts[codegen]'"
        ) from error
    with _elsewhere() as folder:
        result = generate(
            document,
            input_file_type=InputFileType.JsonSchema,
            formatters=[Formatter.BUILTIN],
            settings_path=folder,
            **_OPTIONS,
            **options,
        )
    if not isinstance(result, str):
        raise CodegenError("datamodel-code-generator wrote several modules instead of one.")
    return result


def _format(source: str) -> str:
    from datamodel_code_generator.format import CodeFormatter, Formatter, PythonVersion

    with _elsewhere() as folder:
        formatter = CodeFormatter(
            PythonVersion(_OPTIONS["target_python_version"]),
            settings_path=folder,
            formatters=[Formatter.BUILTIN],
            builtin_format_line_length=_OPTIONS["builtin_format_line_length"],
        )
        return formatter.format_code(source)


@contextmanager
def _elsewhere() -> Iterator[Path]:
    """A folder whose empty pyproject.toml keeps the caller's settings away from the output."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "pyproject.toml").touch()
        yield Path(folder)


def _prepared(bundle: Bundle) -> Schema:
    """The bundle's document with a private title for what would else get an invented name.

    datamodel-code-generator makes an alias of a constrained item or union member and names it
    after its key, which may be somebody's title. `_put_back` undoes these aliases.
    """
    count = 0

    def walk(schema: Schema, *, inline: bool) -> Schema:
        nonlocal count
        result = dict(schema)
        if result.pop("deprecated", False):  # Pydantic's flag would warn whoever reads the field
            result["description"] = f"{result.get('description', '')}\n\nDeprecated.".lstrip()
        if is_closed_tuple(result):
            result |= {"items": False, "maxItems": len(result["prefixItems"])}
        if "properties" in result:
            result.pop("additionalProperties", None)
            result["properties"] = {
                key: walk(value, inline=False) for key, value in result["properties"].items()
            }
        for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            if key in result:
                result[key] = [walk(value, inline=True) for value in result[key]]
        for key in ("items", "additionalProperties"):
            if isinstance(result.get(key), dict):
                result[key] = walk(result[key], inline=True)
        if inline and result.keys() & _CONSTRAINTS:
            count += 1
            result["title"] = f"{_INLINE}{count}"
        return result

    schemas = {name: walk(schema, inline=False) for name, schema in bundle.schemas.items()}
    if bundle.tag is not None and _all_tagged(bundle, bundle.tag):
        schemas["Event"]["discriminator"] = {"propertyName": bundle.tag}
    return bundle.document(schemas)


def _all_tagged(bundle: Bundle, tag: str) -> bool:
    """Is each event one object that says its name? Then Pydantic can choose by the name."""
    for name, title in bundle.events.items():
        said = bundle.schemas[title].get("properties", {}).get(tag, {})
        if name not in (said.get("const"), *said.get("enum", ())):
            return False
    return bool(bundle.events)


def _rewritten(source: str, bundle: Bundle, *, models: bool) -> str:
    """What the generator can't be told: inline types, JSON's integers and literals, tuples."""
    source = source[source.index("from __future__") :]
    if models:
        edits = _JsonTypes(source)
        source = edits.apply()
        names = ", ".join(sorted({*edits.names, "Reader"}))
        source = source.replace(f"{_READING} import Reader", f"{_READING} import {names}", 1)
    source = _put_back(source)
    defined = {name for node in ast.parse(source).body for name in _defined(node)}
    if missing := sorted(bundle.schemas.keys() - defined):
        raise CodegenError(
            f"datamodel-code-generator gave another name to {', '.join(missing)}; "
            "choose titles that differ from each other and from Python's names."
        )
    return _format(source)


def _defined(node: ast.stmt) -> list[str]:
    match node:
        case ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Assign(targets=[ast.Name(id=name)]):
            return [name]
    return []


class _JsonTypes(ast.NodeVisitor):
    """Edits of type expressions: `int` → `Integer`, `Literal[1]` → one that refuses `true`, ..."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.names: set[str] = set()
        self.inserts: list[tuple[int, int, str]] = []  # (offset, characters replaced, text)
        self.starts = [0]
        for line in source.encode().splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def apply(self) -> str:
        for node in ast.walk(ast.parse(self.source)):
            match node:
                case ast.AnnAssign(annotation=expression):
                    self.visit(expression)
                case ast.Call(func=ast.Name(id="TypeAliasType"), args=[_, expression]):
                    self.visit(expression)
        text = self.source.encode()
        for offset, length, new in sorted(self.inserts, key=lambda edit: edit[0], reverse=True):
            text = text[:offset] + new.encode() + text[offset + length :]
        return text.decode()

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in _JSON_NAMES:
            new = _JSON_NAMES[node.id]
            self.names.add(new)
            self.inserts.append((self._start(node), len(node.id), new))

    def visit_Call(self, node: ast.Call) -> None:
        """Arguments of Field() are no types."""

    def visit_Subscript(self, node: ast.Subscript) -> None:
        match node.value:
            case ast.Name(id="tuple"):
                self._annotate(node, "AsTuple")
                self.visit(node.slice)
            case ast.Name(id="Literal" | "Literal_aliased"):
                values = ast.literal_eval(node.slice)
                values = values if isinstance(values, tuple) else (values,)
                if not all(isinstance(value, str) for value in values):
                    self._annotate(node, f"exactly({', '.join(map(repr, values))})")
            case _:
                self.generic_visit(node)

    def _annotate(self, node: ast.expr, with_: str) -> None:
        self.names.add(with_.partition("(")[0])
        self.inserts.append((self._start(node), 0, "Annotated["))
        end = self.starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
        self.inserts.append((end, 0, f", {with_}]"))

    def _start(self, node: ast.expr) -> int:
        return self.starts[node.lineno - 1] + node.col_offset


def _put_back(source: str) -> str:
    """`Inline3 = TypeAliasType("Inline3", X)` goes, and X stands wherever Inline3 stood."""
    types: dict[str, str] = {}
    lines = source.splitlines(keepends=True)
    for node in ast.parse(source).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[_, value])):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                continue
        if _INLINE_NAME.fullmatch(name):
            types[name] = _INLINE_TITLE.sub("", ast.get_source_segment(source, value) or "")
            for line in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[line] = ""
    source = _INLINE_TITLE.sub("", "".join(lines))
    while _INLINE_NAME.search(source):
        source = _INLINE_NAME.sub(lambda match: types[match[0]], source)
    return source
