"""Rules for consumers: what they read must be in the contract, and what they need always there."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from ..profile import branches
from ..schema_files import escape
from .entries import Bundles, entries
from .folder import CATALOGUE, Folder

__all__ = ["Presence", "check_consumers", "presence"]


class Presence(IntEnum):
    """Whether a key is in the values of a schema."""

    ABSENT = 0
    POSSIBLE = 1
    GUARANTEED = 2


def check_consumers(folder: Folder, bundles: Bundles) -> None:
    catalogue = folder.catalogue
    there = {entry.name: entry.path for entry in entries(catalogue)}
    placeholders = {
        f"event:{name}"
        for name, event in catalogue.get("events", {}).items()
        if "schema" not in event
    }
    for name, consumer in catalogue.get("consumers", {}).items():
        for contract, reading in consumer["reads"].items():
            at = f"/consumers/{escape(name)}/reads/{escape(contract)}"
            if contract in placeholders:
                continue
            if contract not in there:
                message = f"The surface has no {contract} with a schema."
                folder.report("CONSUMER_CONTRACT_UNKNOWN", CATALOGUE, at, message)
            elif (bundle := bundles.get(there[contract])) is not None:
                _check_keys(folder, bundle, contract, at, reading)


def _check_keys(
    folder: Folder, bundle: Mapping[str, Any], contract: str, at: str, reading: Mapping[str, Any]
) -> None:
    for part in ("required", "optional"):
        for index, key in enumerate(reading.get(part, ())):
            held = presence(bundle, key)
            if held is Presence.ABSENT:
                message = f"{contract} has no key {key!r:.100}."
                folder.report("CONSUMER_KEY_UNKNOWN", CATALOGUE, f"{at}/{part}/{index}", message)
            elif part == "required" and held is Presence.POSSIBLE:
                message = (
                    f"{contract} doesn't always have {key!r:.100}: it is optional for readers."
                )
                place = f"{at}/{part}/{index}"
                folder.report("CONSUMER_KEY_NOT_GUARANTEED", CATALOGUE, place, message)


def presence(bundle: Mapping[str, Any], key: str) -> Presence:
    """Whether the values of a contract have a key: a top-level name or a JSON pointer."""
    return _presence(bundle, bundle, _tokens(key), {})


def _tokens(key: str) -> tuple[str, ...]:
    """A JSON pointer (`*` is every item or every key), or the name of a top-level key."""
    if not key.startswith("/"):
        return (key,)
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in key[1:].split("/"))


def _presence(
    bundle: Mapping[str, Any], schema: Any, way: tuple[str, ...], known: dict[Any, Presence]
) -> Presence:
    """What the branches of a schema say of a key; a union has it when each branch has it."""
    place = (id(schema), len(way))
    if place not in known:
        found = {_in_branch(bundle, branch, way, known) for branch in branches(bundle, schema)}
        known[place] = found.pop() if len(found) == 1 else Presence.POSSIBLE
    return known[place]


def _in_branch(
    bundle: Mapping[str, Any],
    branch: Mapping[str, Any],
    way: tuple[str, ...],
    known: dict[Any, Presence],
) -> Presence:
    if not way:
        return Presence.GUARANTEED
    key, rest = way[0], way[1:]
    properties, types = branch["properties"], set(branch["types"])
    if not types:
        return Presence.POSSIBLE
    held: Any = None
    least = Presence.POSSIBLE
    if key == "*":
        held = branch.get("items" if "array" in types else "additionalProperties")
        least = Presence.GUARANTEED
    elif key in properties:
        held = properties[key]
        if key in branch["required"]:
            least = Presence.GUARANTEED
    elif not properties:  # a map
        held = branch.get("additionalProperties")
    if held is None or held is False:
        return Presence.ABSENT
    inner = _presence(bundle, held, rest, known)
    if inner is Presence.ABSENT:
        return inner
    return min(inner, least, Presence.GUARANTEED if len(types) == 1 else Presence.POSSIBLE)
