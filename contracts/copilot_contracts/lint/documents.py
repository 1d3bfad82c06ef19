"""Rules for each schema file as a whole: is it a schema, is it described, do its values fit it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from ..profile import FOR_TYPE, RESERVED_TITLES
from ..schema_files import DIALECT, escape, subschemas
from .folder import Folder

__all__ = ["check_meta_schema", "check_titles", "check_values", "check_words"]

OUTCOMES = ("success", "partial", "failure")
MAX_ERRORS_PER_FILE = 20

_PASCAL_CASE = re.compile(r"[A-Z][A-Za-z0-9]*")
_BUNDLE = "urn:bundle"
#: Schemas compiled for examples and defaults, times the file's schemas.
MAX_WORK = 1_000_000
_SCALAR_KEYWORDS = frozenset({"type", "const", "enum"}).union(*FOR_TYPE.values()) - {
    *FOR_TYPE["object"],
    *FOR_TYPE["array"],
}
_REGEX_SIZE = 1024 * 1024


def check_meta_schema(folder: Folder) -> None:
    """Each file against the metaschema of draft 2020-12. What fails can't be used: it is broken."""
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    for path, schema in list(folder.schemas()):
        dialect = schema.get("$schema")
        if dialect != DIALECT:
            message = f'Every file begins with "$schema": "{DIALECT}".'
            folder.report("SCHEMA_KEYWORD_MISSING", path, "/$schema", message)
            if dialect is not None:
                folder.broken.add(path)
                continue
        for count, error in enumerate(validator.iter_errors({**schema, "$schema": DIALECT})):
            folder.broken.add(path)
            if count == MAX_ERRORS_PER_FILE:
                break
            pointer = "".join(f"/{escape(str(token))}" for token in error.absolute_path)
            message = f"Draft 2020-12 says: {error.message:.300}."
            folder.report("INVALID_SCHEMA", path, pointer, message)
        if path not in folder.broken:
            _check_parts(folder, path, schema)


def _check_parts(folder: Folder, path: str, schema: dict[str, Any]) -> None:
    for pointer, part in subschemas(schema):
        if pointer and "$schema" in part:
            folder.broken.add(path)
            message = "`$schema` stands at the root of a file only."
            folder.report("INVALID_SCHEMA", path, f"{pointer}/$schema", message)
        if "pattern" in part and not _compiles({"pattern": part["pattern"]}):
            folder.broken.add(path)
            message = "The gate's engine, Rust's regex, can't read it: look-around, a reference?"
            folder.report("PATTERN_INVALID", path, f"{pointer}/pattern", message)


def _compiles(schema: dict[str, Any]) -> bool:
    import jsonschema_rs

    try:
        _compiled(schema)
    except jsonschema_rs.ValidationError:
        return False
    return True


def check_words(folder: Folder) -> None:
    """Titles, descriptions and examples."""
    for path, schema in folder.schemas():
        for pointer, part in subschemas(schema):
            if not _is_named(pointer, part):
                continue
            if "title" not in part:
                message = "This becomes a type: give it a title, in PascalCase."
                folder.report("TITLE_MISSING", path, pointer, message)
            if not part.get("description"):
                message = "Say in a `description` what this is."
                folder.report("DESCRIPTION_MISSING", path, pointer, message)
        if not schema.get("examples"):
            folder.report("EXAMPLES_MISSING", path, "", "Give at least one value in `examples`.")


def _is_named(pointer: str, schema: Mapping[str, Any]) -> bool:
    """Whether the schema becomes a type with a name: files, definitions, objects with keys."""
    definition = re.fullmatch(r"(/\$defs/[^/]+)?", pointer)
    return definition is not None or "properties" in schema


def check_titles(folder: Folder) -> None:
    """Titles become the names of types, over the whole surface."""
    places: dict[str, str] = {}
    for path, schema in folder.schemas():
        for pointer, part in subschemas(schema):
            title = part.get("title")
            if title is None:
                continue
            here = f"{pointer}/title"
            if not _PASCAL_CASE.fullmatch(title):
                message = f"{title!r:.100} can't be a type's name: write it in PascalCase."
                folder.report("TITLE_NOT_PASCAL_CASE", path, here, message)
            elif title in RESERVED_TITLES:
                message = f"{title} is a name that the generated code uses itself."
                folder.report("TITLE_RESERVED", path, here, message)
            elif title in places:
                message = (
                    f"{title} is the title of {places[title]} already; refer to that, or rename."
                )
                folder.report("TITLE_DUPLICATE", path, here, message)
            else:
                places[title] = f"{path}#{pointer}" if pointer else path


def check_values(folder: Folder, path: str, bundle: dict[str, Any]) -> None:
    """Examples, defaults and constants against the schema that they stand in."""
    import jsonschema_rs

    places = list(subschemas(folder.sources[path].value))
    registry = jsonschema_rs.Registry([(_BUNDLE, bundle)])
    budget = MAX_WORK
    for pointer, part in places:
        literals = [*_literals(part)]
        if literals:
            alone = _compiled({name: part[name] for name in part if name in _SCALAR_KEYWORDS})
            for way, value in literals:
                _check_value(folder, "CONST_INVALID", path, f"{pointer}/{way}", alone, value)
        if "examples" in part or "default" in part:
            budget -= len(places)
            if budget < 0:
                message = "There are too many examples and defaults to try in a file of this size."
                folder.report("TOO_LARGE", path, pointer, message)
                return
            whole = _compiled({"$ref": f"{_BUNDLE}#{quote(pointer)}"}, registry)
            for rule, way, value in _values(part):
                _check_value(folder, rule, path, f"{pointer}/{way}", whole, value)
        outcomes = part.get("x-outcomes")
        if outcomes is not None:
            _check_outcomes(folder, path, pointer, outcomes, part.get("examples", []))


def _values(schema: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for index, value in enumerate(schema.get("examples", ())):
        yield "EXAMPLE_INVALID", f"examples/{index}", value
    if "default" in schema:
        yield "DEFAULT_INVALID", "default", schema["default"]


def _literals(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if "const" in schema:
        yield "const", schema["const"]
    for index, value in enumerate(schema.get("enum", ())):
        yield f"enum/{index}", value


def _compiled(schema: dict[str, Any], registry: Any = None) -> Any:
    """A validator as the gate has it."""
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(
        schema,
        registry=registry,
        validate_formats=False,
        pattern_options=jsonschema_rs.RegexOptions(size_limit=_REGEX_SIZE),
        offline=True,
    )


def _check_value(
    folder: Folder, rule: str, path: str, pointer: str, validator: Any, value: Any
) -> None:
    for count, error in enumerate(validator.iter_errors(value)):
        if count == MAX_ERRORS_PER_FILE:
            break
        way = "".join(f"/{escape(str(token))}" for token in error.instance_path)
        message = f"The value breaks the schema it stands in: {error.message:.200}."
        folder.report(rule, path, pointer + way, message)


def _check_outcomes(
    folder: Folder, path: str, pointer: str, outcomes: Any, examples: list[Any]
) -> None:
    if not isinstance(outcomes, list) or len(outcomes) != len(examples):
        message = f"One outcome for each example: there are {len(examples)} examples."
        folder.report("OUTCOMES_MISMATCH", path, f"{pointer}/x-outcomes", message)
        return
    for index, outcome in enumerate(outcomes):
        if outcome not in OUTCOMES:
            message = f"An outcome is one of {', '.join(OUTCOMES)}, not {outcome!r:.50}."
            folder.report("OUTCOMES_MISMATCH", path, f"{pointer}/x-outcomes/{index}", message)
