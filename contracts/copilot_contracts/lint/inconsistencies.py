"""Rules for what is known to be uneven: it stays where it is, and isn't done again."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..profile import branches
from ..schema_files import at_pointer, escape
from .consumers import Presence, presence
from .entries import Bundles, Entry, entries
from .folder import CATALOGUE, Folder

__all__ = ["check_inconsistencies"]

_KINDS = {"event": "event", "response": "response", "tool": "return", "mcp": "return"}


def check_inconsistencies(folder: Folder, bundles: Bundles) -> None:
    """Each contract of the kind keeps what is expected, but for those that are named in `where`."""
    catalogue = folder.catalogue
    for index, known in enumerate(catalogue.get("inconsistencies", ())):
        at = f"/inconsistencies/{index}"
        if "expects" not in known:
            continue
        met: set[str] = set()
        for name, pointer, path in _contracts(catalogue, known["expects"]["of"]):
            broken = _broken(catalogue, known["expects"], name, bundles.get(path or ""))
            if broken is None:
                continue
            met.add(name)
            if name not in known["where"]:
                message = (
                    f"{name} {broken}: {known['name']}, which isn't to be done again. "
                    f"{known['correct']}"
                )
                folder.report("INCONSISTENCY_PROPAGATED", CATALOGUE, pointer, message)
        for place, name in enumerate(known["where"]):
            if name not in met:
                message = f"{name} keeps what is expected, or isn't there: drop the entry."
                folder.report("INCONSISTENCY_STALE", CATALOGUE, f"{at}/where/{place}", message)


def _contracts(catalogue: Mapping[str, Any], kind: str) -> Iterator[tuple[str, str, str | None]]:
    """Name, where the catalogue says it, and the schema's path, of the contracts of a kind."""
    for entry in entries(catalogue):
        group = entry.name.partition(":")[0]
        if entry.kind != _KINDS[kind] or group != kind:
            continue
        if kind != "response" or _is_json_success(catalogue, entry):
            yield entry.name, entry.pointer, entry.path
    if kind == "event":
        for name, event in catalogue.get("events", {}).items():
            if "schema" not in event:
                yield f"event:{name}", f"/events/{escape(name)}", None


def _is_json_success(catalogue: Mapping[str, Any], entry: Entry) -> bool:
    response = at_pointer(catalogue, entry.pointer.removesuffix("/schema"))
    status = entry.name.rpartition(":")[2]
    return status.startswith("2") and response.get("media_type", "json").endswith("json")


def _broken(
    catalogue: Mapping[str, Any],
    expects: Mapping[str, Any],
    name: str,
    bundle: Mapping[str, Any] | None,
) -> str | None:
    """How a contract breaks what is expected; None if it doesn't."""
    event = name.partition(":")[2]
    if expects.get("active") and bundle is None:
        status = catalogue.get("events", {}).get(event, {}).get("status")
        if status == "placeholder":
            return "is a placeholder"
    if expects.get("handled") and not any(
        "handler" in consumer["reads"].get(name, ())
        for consumer in catalogue.get("consumers", {}).values()
    ):
        return "has no named handler"
    if bundle is None:
        return None
    types = {type_ for branch in branches(bundle, bundle) for type_ in branch["types"]}
    if "type" in expects and types != {expects["type"]}:
        return f"is not only {expects['type']}"
    for key in expects.get("required", ()):
        if presence(bundle, key) is not Presence.GUARANTEED:
            return f"doesn't always have {key!r:.100}"
    return None
