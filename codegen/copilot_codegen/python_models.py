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
from .errors import CodegenError, MissingGenerator
from .python_package import package_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
_IMPORTED: Final = {
    *("Annotated", "Any", "AsTuple", "Field", "Integer", "Literal", "MISSING", "NotRequired"),
    *("Number", "Optional", "Reader", "TypeAlias", "TypeAliasType", "TypedDict", "Union"),
    *("exactly",),
}
_JSON_NAMES: Final = {"int": "Integer", "float": "Number"}
_CONSTRAINTS: Final = {
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "pattern", "minItems", "maxItems"),
    *("minProperties", "maxProperties", "propertyNames", "discriminator"),
}
_INLINE: Final = "InlineType"  # what the names of inline types begin with
_MARK: Final = "\ue000"  # ends a key that is to be no identifier


def generate_python(bundle: Bundle) -> dict[str, str]:
    """File name → text, without header, of the surface's Python package."""
    # In a class, a field called like a type hides the type from the fields after it.
    hiding = sorted({*_IMPORTED, *bundle.schemas})
    models = _run(_prepared(bundle), {**_MODELS, "aliases": {name: f"{name}_" for name in hiding}})
    return {
        "__init__.py": _format(package_source(bundle)),
        "models.py": _rewritten(_JsonTypes(models).apply(), bundle),
        "types.py": _rewritten(_run(_prepared(bundle, hiding), _TYPES), bundle),
    }


def _run(document: Schema, options: dict[str, Any]) -> str:
    try:
        from datamodel_code_generator import Formatter, InputFileType, generate
    except ModuleNotFoundError as error:
        raise MissingGenerator(
            "Generating Python needs datamodel-code-generator: "
            "pip install 'copilot-contracts[codegen]'"
        ) from error
    with _elsewhere() as folder:
        result = generate(
            json.dumps(document, ensure_ascii=False),
            input_file_type=InputFileType.JsonSchema,
            formatters=[Formatter.BUILTIN],
            settings_path=folder,
            **_OPTIONS,
            **options,
        )
    if not isinstance(result, str):
        raise CodegenError("datamodel-code-generator wrote several modules instead of one.")
    return result[result.index("from __future__") :]


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


def _prepared(bundle: Bundle, marked: Iterable[str] = ()) -> Schema:
    """The bundle's document with a private title for what would else get an invented name.

    datamodel-code-generator makes an alias of a constrained item or union member and names it
    after its key, which may be somebody's title. `_put_back` undoes these aliases.

    Keys in `marked` get a mark that makes them no identifiers: their TypedDict is then written
    as a call, where no key hides a type.
    """
    inline_name, mark = _absent(bundle, _INLINE), _absent(bundle, _MARK)
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
            names = {key: key + mark if key in marked else key for key in result["properties"]}
            result["properties"] = {
                names[key]: walk(value, inline=False) for key, value in result["properties"].items()
            }
            result["required"] = [names.get(key, key) for key in result.get("required", ())]
        tag = _tag(bundle, result.get("anyOf") or result.get("oneOf") or [])
        if tag is not None:
            result["discriminator"] = {"propertyName": tag}
        for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            if key in result:
                result[key] = [walk(value, inline=True) for value in result[key]]
        for key in ("items", "additionalProperties"):
            if isinstance(result.get(key), dict):
                result[key] = walk(result[key], inline=True)
        if inline and result.keys() & _CONSTRAINTS:
            count += 1
            result["title"] = f"{inline_name}{count}"
        return result

    schemas = {name: walk(schema, inline=False) for name, schema in bundle.schemas.items()}
    return bundle.document(schemas)


def _absent(bundle: Bundle, text: str) -> str:
    """`text`, repeated until the surface says it nowhere."""
    said = json.dumps(dict(bundle.schemas), ensure_ascii=False)
    found = text
    while found in said:
        found += text
    return found


def _tag(bundle: Bundle, options: list[Schema]) -> str | None:
    """The key whose constant tells the branches of a union apart, so that Pydantic looks at one."""
    branches = [bundle.schemas.get(option.get("$ref", "")[len("#/$defs/") :]) for option in options]
    if len(branches) < 2:
        return None
    constants = [_constants(branch) for branch in branches if branch is not None]
    for key in constants[0] if len(constants) == len(branches) else ():
        values = [each.get(key) for each in constants]
        if None not in values and len(set(values)) == len(values):
            return key
    return None


def _constants(schema: Schema) -> dict[str, str]:
    """The keys of an object that always hold the same text."""
    found = {}
    for key in schema.get("required", ()):
        said = schema.get("properties", {}).get(key, {})
        values = [said["const"]] if "const" in said else said.get("enum", ())
        if len(values) == 1 and isinstance(values[0], str):
            found[key] = values[0]
    return found


def _rewritten(source: str, bundle: Bundle) -> str:
    """With the inline types in place, formatted; all named shapes must be there."""
    source = source.replace(_absent(bundle, _MARK), "")
    source = _put_back(source, _absent(bundle, _INLINE))
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
        self.imports: set[str] = set()
        self.edits: list[tuple[int, int, str]] = []  # (offset, bytes replaced, text)
        self.starts = [0]
        for line in source.encode().splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def apply(self) -> str:
        tree = ast.parse(self.source)
        for node in ast.walk(tree):
            match node:
                case ast.AnnAssign(annotation=expression):
                    self.visit(expression)
                case ast.Call(func=ast.Name(id="TypeAliasType"), args=[_, expression]):
                    self.visit(expression)
        first = next(node for node in tree.body[1:] if isinstance(node, ast.ImportFrom))
        text = "".join(f"{line}\n" for line in sorted(self.imports))
        self.edits.append((self.starts[first.lineno - 1], 0, text))
        result = self.source.encode()
        for offset, length, new in sorted(self.edits, key=lambda edit: edit[0], reverse=True):
            result = result[:offset] + new.encode() + result[offset + length :]
        return result.decode()

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in _JSON_NAMES:
            name = self._imported(_JSON_NAMES[node.id])
            self.edits.append((self._start(node), len(node.id), name))

    def visit_Call(self, node: ast.Call) -> None:
        """Arguments of Field() are no types."""

    def visit_Subscript(self, node: ast.Subscript) -> None:
        match node.value:
            case ast.Name(id="tuple"):
                self._annotate(node, self._imported("AsTuple"))
                self.visit(node.slice)
            case ast.Name(id="Literal"):
                values = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                if not all(isinstance(ast.literal_eval(value), str) for value in values):
                    said = ast.get_source_segment(self.source, node.slice) or ""
                    self._annotate(node, f"{self._imported('exactly')}({said.strip('()')})")
            case _:
                self.generic_visit(node)

    def _annotate(self, node: ast.expr, with_: str) -> None:
        self.imports.add("from typing import Annotated")
        self.edits.append((self._start(node), 0, "Annotated["))
        end = self.starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
        self.edits.append((end, 0, f", {with_}]"))

    def _imported(self, name: str) -> str:
        self.imports.add(f"from {_READING} import {name}")
        return name

    def _start(self, node: ast.expr) -> int:
        return self.starts[node.lineno - 1] + node.col_offset


def _put_back(source: str, inline: str) -> str:
    """`InlineType3 = TypeAliasType("InlineType3", X)` goes; X stands where InlineType3 stood."""
    name_pattern = re.compile(rf"\b{inline}\d+\b")
    title = re.compile(rf'(?:, )?title="{inline}\d+"')
    types: dict[str, str] = {}
    # As Python counts lines: str.splitlines also splits at U+2028 and the like.
    lines = source.encode().splitlines(keepends=True)
    for node in ast.parse(source).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[_, value])):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                continue
        if name_pattern.fullmatch(name):
            text = title.sub("", ast.get_source_segment(source, value) or "")
            text = re.sub(r"([\[(])\n\s*|,?\n\s*(?=[\])])", r"\1", text)  # on one line
            types[name] = re.sub(r"\n\s*", " ", text)
            for line in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[line] = b""
    source = title.sub("", b"".join(lines).decode())
    while name_pattern.search(source):
        source = name_pattern.sub(lambda match: types[match[0]], source)
    return source
