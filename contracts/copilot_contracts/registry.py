"""Surfaces and their contracts, from the installed package or from any folder."""

import os
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, cast

import orjson

from .catalogue import Catalogue, Status
from .compiled import CompiledSchema, fingerprint
from .explain import pointer_text
from .order import OrderRules
from .order_check import event_problems, order_problems
from .schema_files import SchemaFiles
from .strict_json import encode, find_flaw, is_strict, json_type
from .violations import (
    ContractViolation,
    NotJson,
    SurfaceError,
    SurfaceProblem,
    UnknownContract,
    UnknownSurface,
)

__all__ = ["Contract", "Kind", "Registry", "Surface", "schemas_folder"]

Kind = Literal[
    "event",
    "request",
    "query",
    "response",
    "tool_arguments",
    "tool_return",
    "mcp_arguments",
    "mcp_return",
    "model",
]


def schemas_folder() -> Path:
    """The schemas shipped in the package; in a checkout, the repository's."""
    here = Path(__file__).resolve().parent
    shipped = here / "schemas"
    return shipped if shipped.is_dir() else here.parents[1] / "schemas"


class Contract:
    """One schema and what the catalogue says of it."""

    def __init__(
        self, compiled: CompiledSchema, *, surface: str, kind: Kind, name: str, status: Status
    ) -> None:
        self.surface = surface
        self.kind: Kind = kind
        #: `content`; of a response `stream_chat:200`; of a model its title.
        self.name = name
        self.status: Status = status
        #: The schema's file.
        self.path = compiled.path
        #: The schema as written, with its refs.
        self.schema = compiled.schema
        #: Whether a strict JSON value without surrogates keeps the contract; the hot path.
        self.accepts = compiled.accepts
        self._compiled = compiled

    def __repr__(self) -> str:
        return f"<Contract {self.surface} {self.kind} {self.name}>"

    def bundled(self) -> dict[str, Any]:
        """The schema in one document: refs lead into its `$defs`. A fresh copy."""
        return cast("dict[str, Any]", orjson.loads(orjson.dumps(self._compiled.bundle)))

    @property
    def fingerprint(self) -> str:
        """Changes when the bundled schema does, and only then."""
        return self._compiled.fingerprint

    def violation(self, value: Any) -> ContractViolation | None:
        """What is wrong with the value, or None. Lone surrogates count as replaced."""
        if not is_strict(value):
            return self.not_json(value)
        value = encode(value)[1]
        return None if self.accepts(value) else self.explained(value)

    def not_json(self, value: Any) -> NotJson:
        """The violation of a value that isn't strict JSON."""
        flaw = find_flaw(value)
        assert flaw is not None
        pointer = pointer_text(self._compiled.bundle, flaw.path)
        return NotJson(**self._said(pointer, flaw.rule, flaw.expected, flaw.got))

    def explained(self, value: Any) -> ContractViolation:
        """The violation of a strict value that the contract doesn't accept."""
        return ContractViolation(**self._said(*self._compiled.explain(value)))

    def placeholder(self, value: Any) -> ContractViolation:
        """The violation of any value, while the contract is a placeholder."""
        return ContractViolation(
            **self._said("", "PLACEHOLDER", "nothing yet (a placeholder)", json_type(value))
        )

    def _said(self, pointer: str, rule: str, expected: str, got: str) -> dict[str, str]:
        return {
            "surface": self.surface,
            "kind": self.kind,
            "name": self.name,
            "pointer": pointer,
            "rule": rule,
            "expected": expected,
            "got": got,
        }


class Surface:
    """A named family of contracts that one frontend sees."""

    def __init__(self, files: SchemaFiles, folder: str) -> None:
        path = f"{folder}/surface.json" if folder else "surface.json"
        document = files.document(path)
        _check_catalogue(path, document)
        self.catalogue = Catalogue.from_json(document)
        self.name = self.catalogue.name
        self.version = self.catalogue.version
        #: The folder of its surface.json.
        self.folder = files.root / folder
        self._document = document
        self._contracts: dict[tuple[Kind, str], Contract] = {}
        problems: list[SurfaceProblem] = []
        compiled: dict[str, CompiledSchema] = {}
        for kind, name, status, pointer, schema in _entries(self.catalogue):
            try:
                if schema not in compiled:
                    if not os.path.lexists(self.folder / schema):
                        raise SurfaceError.at(path, pointer, f"there is no file {schema}.")
                    compiled[schema] = CompiledSchema(
                        files, f"{folder}/{schema}" if folder else schema
                    )
                self._contracts[kind, name] = Contract(
                    compiled[schema], surface=self.name, kind=kind, name=name, status=status
                )
            except SurfaceError as error:
                problems += [p for p in error.problems if p not in problems]
        schemas = {
            name: contract.bundled()
            for (kind, name), contract in self._contracts.items()
            if kind == "event"
        }
        problems += [
            SurfaceProblem(path, pointer, message)
            for check in (event_problems, order_problems)
            for pointer, message in check(self.catalogue, schemas)
        ]
        if problems:
            raise SurfaceError(problems)
        self.order = OrderRules.compile(self.catalogue)

    def __repr__(self) -> str:
        return f"<Surface {self.name} {self.version}>"

    @cached_property
    def fingerprint(self) -> str:
        """Changes when the catalogue or a schema does, and only then."""
        schemas = {f"{c.kind}:{c.name}": c.fingerprint for c in self.contracts()}
        return fingerprint({"catalogue": self._document, "schemas": schemas})

    def contract(self, kind: Kind, name: str) -> Contract:
        """Raises UnknownContract; of a placeholder without a schema too."""
        try:
            return self._contracts[kind, name]
        except KeyError:
            there = ", ".join(n for k, n in self._contracts if k == kind) or "none"
            raise UnknownContract(
                f"{self.name} has no {kind} {name!r:.80} with a schema. There are: {there}."
            ) from None

    def contracts(self) -> Iterator[Contract]:
        """All that have a schema, in the catalogue's order."""
        return iter(self._contracts.values())


class Registry:
    """Surfaces by name. Nothing is ever fetched: a registry is its folder."""

    def __init__(self, surfaces: Mapping[str, Surface]) -> None:
        self.surfaces: Mapping[str, Surface] = MappingProxyType(dict(surfaces))

    @staticmethod
    @cache
    def bundled() -> "Registry":
        """The surfaces that the package ships; read once a process."""
        return Registry.from_folder(schemas_folder())

    @classmethod
    def from_folder(cls, path: str | Path) -> "Registry":
        """A folder of surface folders, or one surface folder (that holds a surface.json).

        Raises SurfaceError with everything that is wrong in it.
        """
        root = Path(path)
        if not (os.path.lexists(root) and root.is_dir()):  # a name may be too long
            raise SurfaceError.at(str(path), "", "there is no such folder.")
        files = SchemaFiles(root)
        if (root / "surface.json").is_file():
            folders = [""]
        else:
            folders = sorted(p.parent.name for p in root.glob("*/surface.json"))
        if not folders:
            raise SurfaceError.at(
                str(path), "", "no surface.json in this folder, nor in a folder of it."
            )
        surfaces: dict[str, Surface] = {}
        problems: list[SurfaceProblem] = []
        for folder in folders:
            try:
                surface = Surface(files, folder)
                if surface.name in surfaces:
                    raise SurfaceError.at(
                        f"{folder}/surface.json",
                        "/name",
                        f"{surface.name} is in {surfaces[surface.name].folder.name} already.",
                    )
                surfaces[surface.name] = surface
            except SurfaceError as error:
                problems += error.problems
        if problems:
            raise SurfaceError(problems)
        return cls(surfaces)

    def surface(self, name: str) -> Surface:
        """Raises UnknownSurface."""
        try:
            return self.surfaces[name]
        except KeyError:
            there = ", ".join(sorted(self.surfaces)) or "none"
            raise UnknownSurface(f"There is no surface {name!r:.80}. There are: {there}.") from None


def _entries(catalogue: Catalogue) -> Iterator[tuple[Kind, str, Status, str, str]]:
    """Kind, name, status, where the catalogue says it, and the schema's path."""
    for name, event in catalogue.events.items():
        if event.schema is not None:
            yield "event", name, event.status, f"/events/{name}/schema", event.schema
    for name, route in catalogue.routes.items():
        at = f"/routes/{name}"
        if route.request is not None:
            yield "request", name, route.status, f"{at}/request", route.request
        if route.query is not None:
            yield "query", name, route.status, f"{at}/query", route.query
        for code, response in route.responses.items():
            if response.schema is not None:
                shared = catalogue.answers.get(code) is response
                place = f"/answers/{code}/schema" if shared else f"{at}/responses/{code}/schema"
                yield "response", f"{name}:{code}", route.status, place, response.schema
    for name, tool in catalogue.tools.items():
        at = f"/tools/{name}"
        yield "tool_arguments", name, tool.status, f"{at}/arguments", tool.arguments
        yield "tool_return", name, tool.status, f"{at}/returns", tool.returns
    for name, tool in catalogue.mcp.items():
        at = f"/mcp/{name}"
        yield "mcp_arguments", name, tool.status, f"{at}/arguments", tool.arguments
        yield "mcp_return", name, tool.status, f"{at}/returns", tool.returns
    for name, model in catalogue.models.items():
        yield "model", name, "active", f"/models/{name}/schema", model.schema


@cache
def _catalogue_schema() -> CompiledSchema:
    return CompiledSchema(SchemaFiles(schemas_folder()), "surface.schema.json")


def _check_catalogue(path: str, document: dict[str, Any]) -> None:
    schema = _catalogue_schema()
    if not schema.accepts(document):
        pointer, rule, expected, got = schema.explain(document)
        raise SurfaceError.at(path, pointer, f"expected {expected}, got {got} ({rule}).")
