"""Rules of the wire profile for unions and `allOf`, which only a look into the parts can tell."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..profile import branches, split
from ..schema_files import merged
from .keywords import Found

__all__ = ["check_combination"]

#: More branches than people read; each is compared with each.
MAX_BRANCHES = 200


def check_combination(bundle: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Found]:
    """What is wrong with the union or the `allOf` in this schema of a bundle, if it holds one."""
    for name in ("anyOf", "oneOf"):
        if name in schema:
            yield from _union(bundle, name, schema[name])
    if "allOf" in schema:
        yield from _all(bundle, schema["allOf"])


def _union(bundle: Mapping[str, Any], name: str, options: list[Any]) -> Iterator[Found]:
    parts = [branches(bundle, option) for option in options]
    if sum(map(len, parts)) > MAX_BRANCHES:
        message = f"This is a union of more than {MAX_BRANCHES} branches."
        yield "UNION_NOT_SPLIT", f"/{name}", message
        return
    for index, mine in enumerate(parts):
        for earlier, others in enumerate(parts[:index]):
            if not all(split(bundle, one, other) for one in mine for other in others):
                message = (
                    f"A value could be this branch or branch {earlier}: split them by a constant "
                    "at one required key, by a required key that the other closed branch doesn't "
                    "have, or by JSON type."
                )
                yield "UNION_NOT_SPLIT", f"/{name}/{index}", message
                break


def _all(bundle: Mapping[str, Any], parts: list[Any]) -> Iterator[Found]:
    if len(parts) == 1:
        return
    taken: set[str] = set()
    for index, part in enumerate(parts):
        whole = merged(bundle, part)
        if (
            set(whole["types"]) != {"object"}
            or "anyOf" in whole
            or "oneOf" in whole
            or "additionalProperties" in whole
            or not taken.isdisjoint(whole["properties"])
        ):
            message = (
                "The parts of an `allOf` are one ref, or open objects with different keys; "
                "this part doesn't merge with the ones before."
            )
            yield "ALLOF_NOT_MERGEABLE", f"/allOf/{index}", message
        taken |= whole["properties"].keys()
