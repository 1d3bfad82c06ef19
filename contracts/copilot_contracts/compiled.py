"""A schema file, bundled and compiled: the judge of values."""

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from .bundling import bundle
from .explain import Explanation, explain
from .schema_files import SchemaFiles
from .violations import SurfaceError

if TYPE_CHECKING:
    from jsonschema_rs import Validator, ValidatorMap

__all__ = ["CompiledSchema", "fingerprint"]

#: Of one compiled regular expression, in bytes; the engine runs in linear time.
_REGEX_SIZE = 1024 * 1024


def fingerprint(document: Any) -> str:
    """`sha256:` and the hash of the document as canonical JSON (keys sorted, no spaces)."""
    canonical = orjson.dumps(document, option=orjson.OPT_SORT_KEYS)
    return f"sha256:{hashlib.sha256(canonical).hexdigest()}"


class CompiledSchema:
    """What one file says, with all that it refers to. Raises SurfaceError when it can't be used."""

    def __init__(self, files: SchemaFiles, path: str) -> None:
        #: Absolute.
        self.path = files.root / path
        #: As written, with its refs.
        self.schema: Mapping[str, Any] = files.schema(path)
        #: Self-contained: refs lead into its `$defs`.
        self.bundle: Mapping[str, Any] = bundle(files, path)
        #: Whether a strict JSON value without surrogates is valid; the hot path.
        self.accepts = _compiled(path, self.bundle).is_valid

    @cached_property
    def fingerprint(self) -> str:
        """Of the bundled schema."""
        return fingerprint(self.bundle)

    def explain(self, value: Any) -> Explanation:
        """Why a strict value is not accepted."""
        return explain(self.bundle, self._parts, value)

    @cached_property
    def _parts(self) -> "ValidatorMap":
        import jsonschema_rs

        return jsonschema_rs.validator_map_for(dict(self.bundle), **_options())


def _compiled(path: str, schema: Mapping[str, Any]) -> "Validator":
    import jsonschema_rs

    try:
        return jsonschema_rs.Draft202012Validator(dict(schema), **_options())
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        raise SurfaceError.at(path, "", f"the schema can't be used: {error.message:.300}") from None


def _options() -> dict[str, Any]:
    import jsonschema_rs

    return {
        "validate_formats": False,
        "pattern_options": jsonschema_rs.RegexOptions(size_limit=_REGEX_SIZE),
        "mask": "[value]",
        "offline": True,
    }
