"""What the generators are given: names, merged `allOf`s, notes on what no type says."""

import inspect
import keyword
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from copilot_codegen.bundle import Bundle, bundle_surface
from copilot_codegen.errors import CodegenError
from copilot_codegen.generate import generate
from copilot_contracts import Registry
from copilot_contracts.schema_files import SchemaFiles

MakeSurface = Callable[..., Path]
Generated = Callable[[Path], ModuleType]
Json = dict[str, Any]


def bundle(schemas: Path) -> Bundle:
    (surface,) = Registry.from_folder(schemas).surfaces.values()
    return bundle_surface(surface, SchemaFiles(schemas))


def inner(title: str) -> Json:
    return {"title": title, "type": "object", "properties": {"x": {"type": "integer"}}}


def holder(**properties: Json) -> Json:
    return {"title": "Holder", "type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("Event", "Event is a name that the generated code uses itself"),
        ("Record", "Record is a name that the generated code uses itself"),
        ("Error", "Error is a name that the generated code uses itself"),
        ("List", "List is a name that the generated code uses itself"),
        ("Field", "Field is a name that the generated code uses itself"),
        ("snake_case", "write it in PascalCase"),
        ("Ärger", "write it in PascalCase"),
        ("class", "write it in PascalCase"),
        ("A; import os", "write it in PascalCase"),
        ("A */ export const x = 1", "write it in PascalCase"),
    ],
)
def test_a_title_that_can_be_no_type_is_refused(
    make_surface: MakeSurface, tmp_path: Path, title: str, said: str
) -> None:
    schemas = make_surface(holder(a=inner(title)))
    with pytest.raises(CodegenError, match=said) as caught:
        generate(schemas, tmp_path / "python", None)
    assert str(caught.value).startswith("sample/holder.json#/properties/a: ")
    assert not (tmp_path / "python").exists()


@pytest.mark.parametrize("title", ["Exception", "Warning", "Ellipsis", "Promise2", "URL"])
def test_names_that_hide_nothing_we_use_are_fine(
    make_surface: MakeSurface, generated_package: Generated, title: str
) -> None:
    package = generated_package(make_surface(inner(title)))
    assert getattr(package, title).model_validate({"x": 1}).x == 1


def test_more_events_than_a_union_holds_are_refused(make_surface: MakeSurface) -> None:
    events = {
        f"e{number}": {
            "title": f"E{number}",
            "type": "object",
            "required": ["type"],
            "properties": {"type": {"const": f"e{number}"}},
        }
        for number in range(501)
    }
    with pytest.raises(CodegenError, match="The surface has 501 events"):
        bundle(make_surface(events=events))


def test_one_title_for_two_shapes_is_refused(make_surface: MakeSurface) -> None:
    schemas = make_surface(holder(a=inner("Inner"), b=inner("Inner")))
    with pytest.raises(CodegenError) as caught:
        bundle(schemas)
    assert str(caught.value) == (
        "Two shapes are called Inner: sample/holder.json#/properties/a and "
        "sample/holder.json#/properties/b. Titles become the names of types; rename one."
    )


def test_a_surface_called_like_a_word_of_python(make_surface: MakeSurface, tmp_path: Path) -> None:
    assert keyword.iskeyword("import")
    schemas = make_surface({"title": "A", "type": "string"}, name="import")
    with pytest.raises(CodegenError, match="can't be called import"):
        generate(schemas, tmp_path, None)


def test_titles_of_properties_are_dropped(make_surface: MakeSurface) -> None:
    """Or every generator numbers them: Id, Id1, Id2 ..."""
    titled = {"title": "Id", "type": "string"}
    found = bundle(make_surface(holder(a=titled, b={"type": "array", "items": titled}, c=titled)))
    assert list(found.schemas) == ["Holder"]
    assert found.schemas["Holder"]["properties"]["a"] == {"type": "string"}


def test_objects_without_a_title_are_called_after_where_they_are(make_surface: MakeSurface) -> None:
    plain = {"type": "object", "properties": {}}
    found = bundle(
        make_surface(
            holder(
                tool_call=plain,
                links={"type": "array", "items": plain},
                by_name={"type": "object", "additionalProperties": plain},
                either={"anyOf": [{"type": "null"}, plain]},
            )
        )
    )
    assert list(found.schemas) == [
        "Holder",
        "HolderByNameValue",
        "HolderEither2",
        "HolderLinksItem",
        "HolderToolCall",
    ]


def test_an_all_of_of_objects_is_one_object(make_surface: MakeSurface) -> None:
    extra = {"type": "object", "required": ["b"], "properties": {"b": {"type": "string"}}}
    named = {"title": "Both", "allOf": [{"$ref": "inner.json"}, {"allOf": [extra]}]}
    found = bundle(make_surface({**inner("Inner"), "required": ["x"]}, named))
    assert found.schemas["Both"] == {
        "type": "object",
        "required": ["x", "b"],
        "properties": {"x": {"type": "integer"}, "b": {"type": "string"}},
    }


UNTYPED: dict[str, Json] = {
    "neither one ref nor objects": {"allOf": [{"type": "string"}, {"maxLength": 3}]},
    "has this key": {"allOf": [inner("Inner"), {"properties": {"x": {"type": "string"}}}]},
    "is an `anyOf`": {**inner("Inner"), "type": ["object", "null"]},
    "are constants": {"enum": [1.5, 2]},
    "more than 500 branches": {"anyOf": [{"const": f"v{number}"} for number in range(501)]},
}


@pytest.mark.parametrize("why", UNTYPED)
def test_what_no_type_expresses_needs_a_reason(
    make_surface: MakeSurface, generated_package: Generated, why: str
) -> None:
    schema = holder(a=UNTYPED[why])
    with pytest.raises(CodegenError, match=rf"^sample/holder\.json#/properties/a.*{why}"):
        bundle(make_surface(schema))
    outside = {"holder.json": "It is older than the profile."}
    package = generated_package(make_surface(schema, outside_profile=outside))
    assert package.Holder.model_validate({"a": {"x": 5}}).model_dump() == {"a": {"x": 5}}
    assert package.Holder.__doc__ == (
        "The schema says more than this type: outside the wire profile (It is older than the "
        "profile)."
    )


def test_the_type_says_what_it_does_not_say(
    make_surface: MakeSurface, generated_package: Generated
) -> None:
    conditional = {"if": {"required": ["a"]}, "then": {"required": ["b"]}}
    schema = holder(a={"type": "array", "uniqueItems": True}, b=inner("Inner"))
    package = generated_package(make_surface({**schema, **conditional, "description": "A holder."}))
    assert inspect.getdoc(package.Holder) == (
        "A holder.\n\nThe schema says more than this type: if, then, uniqueItems."
    )
    assert package.Inner.__doc__ is None


def test_own_keywords_and_examples_are_left_out(make_surface: MakeSurface) -> None:
    own = {
        "type": "string",
        "x-injected": True,
        "examples": ["a"],
        "format": "uri",
        "tsType": "any",
    }
    found = bundle(make_surface(holder(a=own)))
    assert found.schemas["Holder"]["properties"]["a"] == {"type": "string"}


def test_a_pair_of_event_and_data_needs_its_name(make_surface: MakeSurface) -> None:
    events = {"say": inner("Say"), "end": inner("SayMessage")}
    with pytest.raises(CodegenError, match="The title SayMessage is taken"):
        bundle(make_surface(events=events, tag=None))
