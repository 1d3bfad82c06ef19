"""Answers that every route may give stand once in a catalogue, and count for each of its routes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from copilot_contracts import Registry, SurfaceError
from copilot_contracts.lint import lint

Write = Callable[..., Path]
Json = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def shape(title: str, *keys: str) -> Json:
    return {
        "$schema": DIALECT,
        "title": title,
        "description": f"A {title}.",
        "type": "object",
        "required": list(keys),
        "additionalProperties": False,
        "properties": {key: {"description": "A text.", "type": "string"} for key in keys},
        "examples": [dict.fromkeys(keys, "a")],
        "x-outcomes": ["failure"],
    }


def surface(**changes: Any) -> Json:
    """Two routes: `a` says of 404 what all say, `b` something of its own."""
    route = {"method": "GET", "status": "active"}
    gone = {"description": "It isn't there.", "schema": "gone.json"}
    empty = {"description": "Nothing."}
    return {
        "s/surface.json": {
            "name": "s",
            "version": "1.0.0",
            "title": "S",
            "description": "Routes.",
            "answers": {
                "404": gone,
                "500": {"description": "It broke.", "schema": "broken.json"},
                "204": empty,
            },
            "routes": {
                "a": {**route, "path": "/a", "responses": {"200": empty}},
                "b": {
                    **route,
                    "path": "/b",
                    "responses": {"404": {"description": "Never was.", "schema": "never.json"}},
                },
            },
            **changes,
        },
        "s/gone.json": shape("Gone", "why"),
        "s/broken.json": shape("Broken", "error"),
        "s/never.json": shape("Absent", "since"),
    }


def test_each_route_has_them_and_its_own_go_before(write: Write) -> None:
    folder = write(surface())
    assert lint(folder) == []
    loaded = Registry.from_folder(folder).surface("s")
    titles = {(c.kind, c.name): c.schema["title"] for c in loaded.contracts()}
    assert titles == {
        ("response", "a:404"): "Gone",
        ("response", "a:500"): "Broken",
        ("response", "b:404"): "Absent",
        ("response", "b:500"): "Broken",
    }
    routes = loaded.catalogue.routes
    assert list(routes["a"].responses) == ["200", "204", "404", "500"]
    assert routes["b"].responses["404"].description == "Never was."
    assert routes["b"].responses["204"].schema is None
    assert loaded.catalogue.answers["404"].description == "It isn't there."


def test_a_surface_without_them_is_as_it_was(write: Write) -> None:
    files = surface()
    del files["s/surface.json"]["answers"]
    loaded = Registry.from_folder(write(files)).surface("s")
    assert [contract.name for contract in loaded.contracts()] == ["b:404"]
    assert dict(loaded.catalogue.answers) == {}


def test_the_surface_s_fingerprint_covers_them(write: Write) -> None:
    files = surface()
    before = Registry.from_folder(write(files, "before")).surface("s").fingerprint
    files["s/surface.json"]["answers"]["500"]["description"] = "It fell."
    assert Registry.from_folder(write(files, "after")).surface("s").fingerprint != before


@pytest.mark.parametrize("file", ["gone.json", "never.json"])
def test_a_file_that_is_not_there_is_said_once_and_where(write: Write, file: str) -> None:
    files = surface()
    del files[f"s/{file}"]
    folder = write(files)
    pointer = "/answers/404/schema" if file == "gone.json" else "/routes/b/responses/404/schema"
    with pytest.raises(SurfaceError) as caught:
        Registry.from_folder(folder)
    assert [(p.pointer, p.message) for p in caught.value.problems] == [
        (pointer, f"there is no file {file}.")
    ]
    (finding,) = lint(folder)
    assert finding.rule == "FILE_MISSING"
    text = (folder / "s/surface.json").read_text()
    assert text[finding.column - 1 :].startswith(f'"schema": "{file}"')


def test_the_linter_names_the_line_of_the_entry(write: Write) -> None:
    files = surface()
    files["s/surface.json"]["answers"]["500"]["schema"] = "lost.json"
    folder = write(files)
    path = folder / "s/surface.json"
    path.write_text(json.dumps(files["s/surface.json"], indent=2))
    line = next(n for n, said in enumerate(path.read_text().splitlines(), 1) if "lost" in said)
    found = {finding.rule: finding for finding in lint(folder)}
    assert found.keys() == {"FILE_MISSING", "FILE_UNUSED"}
    assert (found["FILE_MISSING"].path, found["FILE_MISSING"].line) == (str(path), line)


def reader(selector: str, *required: str) -> Json:
    return {
        "page": {
            "description": "A page.",
            "tolerance": "tolerant",
            "reads": {selector: {"required": list(required)}},
        }
    }


@pytest.mark.parametrize(
    ("selector", "key", "rule"),
    [
        ("response:a:500", "error", None),
        ("response:b:500", "error", None),
        ("response:a:404", "why", None),
        ("response:b:404", "since", None),
        ("response:b:404", "why", "CONSUMER_KEY_UNKNOWN"),
        ("response:a:500", "why", "CONSUMER_KEY_UNKNOWN"),
        ("response:c:500", "error", "CONSUMER_CONTRACT_UNKNOWN"),
        ("response:a:204", "error", "CONSUMER_CONTRACT_UNKNOWN"),
    ],
)
def test_consumers_read_them(write: Write, selector: str, key: str, rule: str | None) -> None:
    folder = write(surface(consumers=reader(selector, key)))
    assert [finding.rule for finding in lint(folder)] == ([rule] if rule else [])


def test_their_shapes_are_produced_and_have_outcomes(write: Write) -> None:
    files = surface()
    del files["s/broken.json"]["x-outcomes"]
    files["s/broken.json"]["additionalProperties"] = {"type": "string"}
    files["s/gone.json"].pop("additionalProperties")
    found = {finding.rule for finding in lint(write(files))}
    assert {"OUTCOMES_MISSING", "OBJECT_NOT_CLOSED"} <= found


@pytest.mark.parametrize(
    "answers", [{"40": {"description": "x"}}, {"404": {}}, {"404": {"description": ""}}, []]
)
def test_what_is_no_answer(write: Write, answers: Any) -> None:
    folder = write(surface(answers=answers))
    assert "INVALID_CATALOGUE" in {finding.rule for finding in lint(folder)}
    with pytest.raises(SurfaceError, match="/answers"):
        Registry.from_folder(folder)
