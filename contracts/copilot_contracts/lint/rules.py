"""The linter's rules. What each is for, with a bad and a good example: docs/wire-profile.md."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["RULES", "Finding", "Level", "Rule"]

Level = Literal["error", "warning"]
Group = Literal["files", "catalogue", "consumers", "documents", "refs", "profile"]


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    #: Rules of the group `profile` can be left by an entry in `outside_profile`.
    group: Group
    level: Level


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing that is wrong, and where: `path:line:column: RULE message`."""

    path: str
    #: Line and column count from 1.
    line: int
    column: int
    #: A name in RULES.
    rule: str
    message: str
    level: Level

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.rule} {self.message}"


_ERRORS: Mapping[Group, str] = {
    "files": "INVALID_JSON DUPLICATE_KEY TOO_LARGE INVALID_SCHEMA FILE_OUTSIDE",
    "catalogue": (
        "CATALOGUE_MISSING INVALID_CATALOGUE SURFACE_NAME FILE_MISSING MODEL_NAME EVENT_TAG "
        "ARGUMENTS_NOT_OBJECT RETURN_NOT_OBJECT ROUTE_DUPLICATE DEPRECATION_MISSING "
        "ORDER_UNKNOWN_EVENT ORDER_POINTER ORDER_CONTRADICTION INCONSISTENCY_PROPAGATED"
    ),
    "consumers": "CONSUMER_CONTRACT_UNKNOWN CONSUMER_KEY_UNKNOWN CONSUMER_KEY_NOT_GUARANTEED",
    "documents": (
        "SCHEMA_KEYWORD_MISSING TITLE_MISSING TITLE_NOT_PASCAL_CASE TITLE_DUPLICATE "
        "TITLE_RESERVED DESCRIPTION_MISSING EXAMPLES_MISSING EXAMPLE_INVALID OUTCOMES_MISSING "
        "OUTCOMES_MISMATCH DEFAULT_INVALID CONST_INVALID NOTHING_VALID PATTERN_INVALID"
    ),
    "refs": "REF_REMOTE REF_OUTSIDE REF_UNRESOLVED REF_NOT_DEFINITION REF_ENDLESS",
    "profile": (
        "KEYWORD_UNKNOWN KEYWORD_OUTSIDE_PROFILE FORMAT_USED NOT_ALONE TYPE_MISSING TYPE_LIST "
        "KEYWORD_NOT_FOR_TYPE UNION_NOT_SPLIT ALLOF_NOT_MERGEABLE CONST_NOT_LITERAL "
        "OBJECT_WITHOUT_SHAPE OBJECT_AND_MAP OBJECT_NOT_CLOSED OBJECT_CLOSED "
        "REQUIRED_UNDECLARED PROPERTY_NAME_UNSAFE PROPERTY_NAMES_COLLIDE ARRAY_WITHOUT_ITEMS "
        "TUPLE_NOT_CLOSED PATTERN_NOT_PORTABLE PATTERN_SLOW NUMBER_UNSAFE"
    ),
}
_WARNINGS: Mapping[Group, str] = {
    "files": "FILE_UNUSED",
    "catalogue": "OUTSIDE_PROFILE_UNUSED INCONSISTENCY_STALE",
    "profile": "PROPERTY_ALIASED",
}

_LEVELS: tuple[tuple[Level, Mapping[Group, str]], ...] = (
    ("error", _ERRORS),
    ("warning", _WARNINGS),
)

RULES: Mapping[str, Rule] = {
    name: Rule(name, group, level)
    for level, groups in _LEVELS
    for group, names in groups.items()
    for name in names.split()
}
