"""Rules for the catalogue: what surface.json says, against the files and against itself."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from ..catalogue import Catalogue
from ..order_check import order_problems
from ..profile import branches, literals
from ..registry import schemas_folder
from ..schema_files import at_pointer, escape, merged
from .folder import CATALOGUE, Folder

__all__ = ["Entry", "check_catalogue", "check_entries", "check_order", "check_shape", "entries"]

Bundles = Mapping[str, dict[str, Any]]

MAX_ERRORS = 20


class Entry(NamedTuple):
    """A schema file that the catalogue names."""

    kind: Literal["event", "request", "query", "response", "arguments", "return", "model"]
    #: As consumers name it: `event:content`, `response:stream_chat:200`, `tool:ping`.
    name: str
    #: Where in the catalogue.
    pointer: str
    path: str


def check_shape(folder: Folder) -> None:
    """The catalogue against surface.schema.json. What fails is broken."""
    import jsonschema_rs
    import orjson

    if CATALOGUE not in folder.sources and CATALOGUE not in folder.broken:
        folder.report("CATALOGUE_MISSING", CATALOGUE, "", "There is no surface.json here.")
        folder.broken.add(CATALOGUE)
    if CATALOGUE in folder.broken:
        return
    schema = orjson.loads((schemas_folder() / "surface.schema.json").read_bytes())
    validator = jsonschema_rs.Draft202012Validator(schema, offline=True)
    document = folder.catalogue
    for count, error in enumerate(validator.iter_errors(document)):
        folder.broken.add(CATALOGUE)
        if count == MAX_ERRORS:
            break
        pointer = "".join(f"/{escape(str(token))}" for token in error.instance_path)
        message = f"surface.schema.json says: {error.message:.300}."
        folder.report("INVALID_CATALOGUE", CATALOGUE, pointer, message)
    if CATALOGUE not in folder.broken and document["name"] != folder.files.root.name:
        message = f"The surface is named {document['name']}, its folder {folder.files.root.name}."
        folder.report("SURFACE_NAME", CATALOGUE, "/name", message)


def entries(catalogue: Mapping[str, Any]) -> Iterator[Entry]:
    """All schema files that the catalogue names."""
    for name, event in catalogue.get("events", {}).items():
        if "schema" in event:
            yield Entry("event", f"event:{name}", _at("events", name, "schema"), event["schema"])
    for name, route in catalogue.get("routes", {}).items():
        if "request" in route:
            yield Entry("request", "", _at("routes", name, "request"), route["request"])
        if "query" in route:
            yield Entry("query", "", _at("routes", name, "query"), route["query"])
        shared = catalogue.get("answers", {})
        for status, response in {**shared, **route["responses"]}.items():
            if "schema" in response:
                own = status in route["responses"]
                at = ("routes", name, "responses") if own else ("answers",)
                pointer = _at(*at, status, "schema")
                yield Entry("response", f"response:{name}:{status}", pointer, response["schema"])
    for group, prefix in (("tools", "tool"), ("mcp", "mcp")):
        for name, tool in catalogue.get(group, {}).items():
            yield Entry("arguments", "", _at(group, name, "arguments"), tool["arguments"])
            yield Entry("return", f"{prefix}:{name}", _at(group, name, "returns"), tool["returns"])
    for name, model in catalogue.get("models", {}).items():
        yield Entry("model", name, _at("models", name, "schema"), model["schema"])


def _at(*tokens: str) -> str:
    return "".join(f"/{escape(token)}" for token in tokens)


def check_catalogue(folder: Folder) -> None:
    """What the catalogue says against itself, and that its files are there."""
    catalogue = folder.catalogue
    files = [(entry.pointer, entry.path) for entry in entries(catalogue)]
    files += [(_at("outside_profile", path), path) for path in catalogue.get("outside_profile", {})]
    for pointer, path in files:
        if path not in folder.sources and path not in folder.broken:
            folder.report("FILE_MISSING", CATALOGUE, pointer, f"There is no file {path}.")
    taken: dict[tuple[str, str], str] = {}
    for name, route in catalogue.get("routes", {}).items():
        for path in (route["path"], *route.get("aliases", ())):
            first = taken.setdefault((route["method"], path), name)
            if first != name:
                message = f"{route['method']} {path} is the route {first} already."
                folder.report("ROUTE_DUPLICATE", CATALOGUE, _at("routes", name, "path"), message)
    for group in ("events", "routes", "tools", "mcp"):
        for name, entry in catalogue.get(group, {}).items():
            if entry["status"] == "deprecated" and "deprecated" not in entry:
                message = "Say in `deprecated` since which version, and what replaces it."
                folder.report("DEPRECATION_MISSING", CATALOGUE, _at(group, name, "status"), message)


def check_entries(folder: Folder, bundles: Bundles) -> None:
    """Each named file against what the catalogue wants of it."""
    catalogue = folder.catalogue
    anytime = catalogue.get("order", {}).get("anytime", ())
    for entry in entries(catalogue):
        bundle = bundles.get(entry.path)
        if bundle is None:
            continue
        schema = folder.sources[entry.path].value
        name = entry.name.partition(":")[2]
        produced = entry.kind in ("event", "response", "return")
        marked = produced and not (entry.kind == "event" and name in anytime)
        if marked and "x-outcomes" not in schema and schema.get("examples"):
            message = "Say of each example in `x-outcomes`: success, partial or failure."
            folder.report("OUTCOMES_MISSING", entry.path, "/examples", message)
        if entry.kind == "model" and schema.get("title", entry.name) != entry.name:
            message = f"The model is named {entry.name}, its schema's title is {schema['title']}."
            folder.report("MODEL_NAME", CATALOGUE, entry.pointer, message)
        if entry.kind in ("arguments", "query") and not _is_object(bundle):
            message = f"The {entry.kind} must be an object: {entry.path} allows something else."
            folder.report("ARGUMENTS_NOT_OBJECT", CATALOGUE, entry.pointer, message)
        if entry.name.startswith("mcp:") and bundle.get("type") != "object":
            message = f"MCP wants `type: object` at the root of an output schema: {entry.path}."
            folder.report("RETURN_NOT_OBJECT", CATALOGUE, entry.pointer, message)
        if entry.kind == "event":
            _check_tag(folder, catalogue["sse"].get("tag"), name, entry, bundle)


def _is_object(bundle: Mapping[str, Any]) -> bool:
    return all(set(branch["types"]) == {"object"} for branch in branches(bundle, bundle))


def _check_tag(
    folder: Folder, tag: str | None, name: str, entry: Entry, bundle: Mapping[str, Any]
) -> None:
    if tag is None:
        return
    for branch in branches(bundle, bundle):
        values = literals(merged(bundle, branch["properties"].get(tag)))
        if tag not in branch["required"] or values != [name]:
            message = f'The event must require the key {tag!r}, with {{ "const": "{name}" }}.'
            folder.report("EVENT_TAG", entry.path, f"/properties/{escape(tag)}", message)


def check_order(folder: Folder, bundles: Bundles) -> None:
    """The order rules against the events."""
    document = folder.catalogue
    named = {e.name.partition(":")[2]: e.path for e in entries(document) if e.kind == "event"}
    schemas = {name: bundles[path] for name, path in named.items() if path in bundles}
    for pointer, problem in order_problems(Catalogue.from_json(document), schemas):
        said = at_pointer(document, pointer)
        if pointer.endswith(("/key", "/final")) or pointer.startswith("/order/same/"):
            rule = "ORDER_POINTER"
        elif said in document.get("events", {}):
            rule = "ORDER_CONTRADICTION"
        else:
            rule = "ORDER_UNKNOWN_EVENT"
        folder.report(rule, CATALOGUE, pointer, problem[0].upper() + problem[1:])
