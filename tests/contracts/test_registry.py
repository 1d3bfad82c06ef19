"""Surfaces from folders: refs across files, fingerprints, and what strangers' schemas may do."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import referencing
import referencing.jsonschema

from copilot_contracts import (
    Contract,
    Registry,
    SurfaceError,
    UnknownContract,
    UnknownSurface,
)
from copilot_contracts.schema_files import subschemas
from story_surface import DIALECT, Files, obj, story

Write = Callable[..., Path]


def models(**files: Any) -> dict[str, Any]:
    """A surface `m` whose one model `Root` is `root.json`; `__` in a name is `/`."""
    return {
        "surface.json": {
            "name": "m",
            "version": "1.0.0",
            "title": "M",
            "description": "Models.",
            "models": {"Root": {"schema": "root.json"}},
        },
        **{f"{name.replace('__', '/')}.json": schema for name, schema in files.items()},
    }


def root(folder: Path) -> Contract:
    return Registry.from_folder(folder).surface("m").contract("model", "Root")


REFS: list[tuple[str, dict[str, Any], list[Any], list[Any]]] = [
    (
        "a file beside it",
        {"root": {"$ref": "text.json"}, "text": {"type": "string"}},
        ["a"],
        [1],
    ),
    (
        "refs are relative to the file they stand in",
        {
            "root": {"$ref": "a/one.json"},
            "a__one": {"items": {"$ref": "two.json"}},
            "a__two": {"$ref": "../b/three.json"},
            "b__three": {"type": "integer"},
            "two": {"type": "string"},
        },
        [[1]],
        [["a"]],
    ),
    (
        "a definition of another file",
        {
            "root": {"properties": {"x": {"$ref": "other.json#/$defs/Id"}}},
            "other": {"$defs": {"Id": {"$ref": "#/$defs/Text"}, "Text": {"type": "string"}}},
        },
        [{"x": "a"}, {}],
        [{"x": 1}],
    ),
    (
        "definitions of the same name in two files are two",
        {
            "root": {
                "properties": {"x": {"$ref": "#/$defs/Id"}, "y": {"$ref": "o.json#/$defs/Id"}},
                "$defs": {"Id": {"type": "string"}},
            },
            "o": {"$defs": {"Id": {"type": "integer"}}},
        },
        [{"x": "a", "y": 1}],
        [{"x": 1}, {"y": "a"}],
    ),
    (
        "the same title in two files is two schemas",
        {
            "root": {"properties": {"x": {"$ref": "a.json"}, "y": {"$ref": "b.json"}}},
            "a": {"title": "Id", "type": "string"},
            "b": {"title": "Id", "type": "integer"},
        },
        [{"x": "a", "y": 1}],
        [{"x": 1}, {"y": "a"}],
    ),
    (
        "what stands beside a ref counts",
        {"root": {"$ref": "text.json", "maxLength": 2}, "text": {"type": "string"}},
        ["ab"],
        ["abc", 1],
    ),
    (
        "any schema in a file can be named",
        {
            "root": {"$ref": "o.json#/properties/x/items"},
            "o": {"properties": {"x": {"items": {"type": "null"}}}},
        },
        [None],
        [1],
    ),
    (
        "escapes in pointers",
        {
            "root": {
                "allOf": [
                    {"$ref": "#/$defs/a~1b"},
                    {"$ref": "#/$defs/c~0d"},
                    {"$ref": "#/$defs/e%25f"},
                    {"$ref": "o.json#/$defs/%C3%A9"},
                ],
                "$defs": {
                    "a/b": {"minimum": 1},
                    "c~d": {"maximum": 9},
                    "e%f": {"multipleOf": 2},
                },
            },
            "o": {"$defs": {"é": {"type": "integer"}}},
        },
        [2, 8],
        [0, 10, 3, "a"],
    ),
    (
        "recursion through a value",
        {
            "root": {"$ref": "tree.json"},
            "tree": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "tree.json"}},
                    "first": {"$ref": "#"},
                },
            },
        },
        [{"name": "a", "children": [{"name": "b", "first": {"name": "c"}}]}],
        [{"name": "a", "children": [{"name": "b", "first": {}}]}],
    ),
    (
        "a file that refers back to the root",
        {
            "root": {"type": "object", "properties": {"next": {"$ref": "wrap.json"}}},
            "wrap": {"anyOf": [{"type": "null"}, {"$ref": "root.json"}]},
        },
        [{"next": {"next": None}}],
        [{"next": {"next": 1}}],
    ),
    (
        "true and false are schemas",
        {
            "root": {"properties": {"x": {"$ref": "o.json#/$defs/no"}}},
            "o": {"$defs": {"no": False}},
        },
        [{}],
        [{"x": 1}],
    ),
    (
        "only schemas hold refs: not examples, constants or a property of that name",
        {
            "root": {
                "properties": {"$ref": {"type": "string"}, "x": {"const": {"$ref": "gone.json"}}},
                "examples": [{"$ref": "gone.json"}],
                "default": {"$ref": "gone.json"},
            }
        },
        [{"$ref": "a", "x": {"$ref": "gone.json"}}],
        [{"$ref": 1}, {"x": {"$ref": "other"}}],
    ),
]


@pytest.mark.parametrize(
    ("files", "valid", "invalid"), [c[1:] for c in REFS], ids=[c[0] for c in REFS]
)
def test_refs_across_files(
    write: Write, files: dict[str, Any], valid: list[Any], invalid: list[Any]
) -> None:
    contract = root(write(models(**files)))
    base = "https://schemas.example/"
    reference = jsonschema.Draft202012Validator(
        {"$ref": f"{base}root.json"},
        registry=referencing.Registry().with_resources(
            (
                f"{base}{name.replace('__', '/')}.json",
                referencing.jsonschema.DRAFT202012.create_resource(schema),
            )
            for name, schema in files.items()
        ),
    )
    for value in valid:
        assert contract.violation(value) is None
        assert reference.is_valid(value)
    for value in invalid:
        assert contract.violation(value) is not None
        assert not reference.is_valid(value)


@pytest.mark.parametrize("files", [c[1] for c in REFS], ids=[c[0] for c in REFS])
def test_a_bundle_stands_alone(write: Write, files: dict[str, Any]) -> None:
    bundle = root(write(models(**files))).bundled()
    refs = [part["$ref"] for _, part in subschemas(bundle) if "$ref" in part]
    assert all(ref.startswith("#") for ref in refs)
    jsonschema.Draft202012Validator.check_schema(bundle)


def doubling(levels: int) -> dict[str, Any]:
    defs = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{levels}": {"type": "string"}}}


def chain(length: int) -> dict[str, Any]:
    defs = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(length)}
    return {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{length}": {"type": "string"}}}


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"items": schema}
    return schema


BAD: list[tuple[str, Any, str]] = [
    ("remote", {"$ref": "https://example.com/s.json"}, "is remote"),
    ("remote, other scheme", {"$ref": "file:///etc/passwd"}, "is remote"),
    ("remote, no scheme", {"$ref": "//example.com/s.json"}, "is remote"),
    ("absolute", {"$ref": "/etc/passwd"}, "is an absolute path"),
    ("escape", {"$ref": "../../outside.json"}, "leads out of the schemas' folder"),
    ("escape by a detour", {"$ref": "a/../../outside.json"}, "leads out of the schemas' folder"),
    ("escape, encoded", {"$ref": "%2e%2e/outside.json"}, "is not a plain relative path"),
    ("backslashes", {"$ref": "..\\outside.json"}, "is not a plain relative path"),
    ("missing file", {"$ref": "gone.json"}, "leads to gone.json, which does not exist"),
    ("missing definition", {"$ref": "#/$defs/gone"}, "leads to nothing"),
    ("an anchor", {"$ref": "#here"}, "names an anchor"),
    ("no schema there", {"$ref": "#/examples/0", "examples": [{"allOf": 1}]}, "is no schema"),
    ("a list", {"$ref": "#/anyOf", "anyOf": [{}]}, "is no schema"),
    ("itself", {"$ref": "#"}, "a recursive ref chain"),
    (
        "a circle",
        {
            "allOf": [{"$ref": "#/$defs/a"}],
            "$defs": {
                "a": {"properties": {"x": {"$ref": "#/$defs/b"}}, "anyOf": [{"$ref": "#/$defs/b"}]},
                "b": {"if": {"$ref": "#/$defs/a"}},
            },
        },
        "a recursive ref chain",
    ),
    ("doubling", doubling(40), "expand to more than"),
    ("a long chain", chain(5000), "a chain of more than"),
    ("deep", deep(70), "nested deeper than"),
    ("very deep", b'{"items":' * 5000 + b"{}" + b"}" * 5000, "not JSON"),
    ("large", b'{"title": "' + b"x" * (1024 * 1024) + b'"}', "larger than"),
    ("an id", {"$id": "https://example.com/x", "type": "string"}, "`$id` is not supported"),
    ("an id inside", {"items": {"$id": "x"}}, "`$id` is not supported"),
    ("a dynamic ref", {"$dynamicRef": "#x"}, "`$dynamicRef` is not supported"),
    ("another draft", {"$schema": "http://json-schema.org/draft-07/schema#"}, "only https://"),
    ("no schema", {"type": "strng"}, "not a JSON Schema"),
    ("a pattern that looks ahead", {"pattern": "(?=a)b"}, "root.json"),
    ("a pattern that explodes", {"pattern": "((a{1000}){1000}){1000}"}, "root.json"),
    ("no object", ["x"], "must hold a JSON object"),
    ("no JSON", b"{", "not JSON"),
    ("not UTF-8", b'{"title": "\xff"}', "not JSON"),
]


@pytest.mark.parametrize(("schema", "message"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_a_bad_schema_is_a_clear_error(write: Write, schema: Any, message: str) -> None:
    folder = write(models(root=schema))
    (folder.parent / "outside.json").write_text("{}")
    with pytest.raises(SurfaceError) as raised:
        Registry.from_folder(folder)
    assert [problem.path for problem in raised.value.problems] == ["root.json"]
    assert message in str(raised.value)


def test_a_link_out_of_the_folder_is_refused(write: Write, tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"type": "string"}')
    folder = write(models(root={"$ref": "linked.json"}))
    (folder / "linked.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(SurfaceError, match=r"linked\.json: the file is a link out"):
        Registry.from_folder(folder)


def test_a_link_within_the_folder_is_followed(write: Write) -> None:
    folder = write(models(root={"$ref": "linked.json"}, real={"type": "string"}))
    (folder / "linked.json").symlink_to(folder / "real.json")
    assert root(folder).violation(1) is not None


def test_what_is_no_regular_file_is_refused(write: Write) -> None:
    folder = write(models(root={"$ref": "pipe.json"}))
    os.mkfifo(folder / "pipe.json")
    with pytest.raises(SurfaceError, match=r"pipe\.json: this is no regular file"):
        Registry.from_folder(folder)


def test_names_longer_than_a_file_system_takes_are_said(write: Write) -> None:
    name = "x" * 300
    with pytest.raises(SurfaceError, match="there is no such folder"):
        Registry.from_folder(name)
    folder = write(models(root={"$ref": f"{name}.json"}))
    with pytest.raises(SurfaceError, match="does not exist"):
        Registry.from_folder(folder)
    (folder / "root.json").unlink()
    (folder / "root.json").symlink_to(name)
    with pytest.raises(SurfaceError, match=r"root\.json: can't be read"):
        Registry.from_folder(folder)
    catalogue = json.loads((folder / "surface.json").read_text())
    catalogue["models"]["Root"]["schema"] = f"{name}.json"
    (folder / "surface.json").write_text(json.dumps(catalogue))
    with pytest.raises(SurfaceError, match="there is no file x"):
        Registry.from_folder(folder)


def test_surfaces_of_one_folder_may_share_schemas_and_no_others(
    write: Write, tmp_path: Path
) -> None:
    one = models(root={"$ref": "../shared/text.json"})
    folder = write({f"m/{path}": content for path, content in one.items()})
    write({"shared/text.json": {"type": "string"}})
    registry = Registry.from_folder(folder)
    assert registry.surface("m").contract("model", "Root").violation(1) is not None
    with pytest.raises(SurfaceError, match="leads out of the schemas' folder"):
        Registry.from_folder(folder / "m")


def test_every_problem_of_a_folder_is_told_at_once(write: Write) -> None:
    files = story(routes={"r": {"method": "FETCH"}})
    bad = models(root={"type": "strng"})
    bad["surface.json"]["models"]["Gone"] = {"schema": "gone.json"}
    folder = write({f"a/{p}": c for p, c in files.items()} | {f"b/{p}": c for p, c in bad.items()})
    with pytest.raises(SurfaceError) as raised:
        Registry.from_folder(folder)
    assert [(p.path, p.pointer) for p in raised.value.problems] == [
        ("a/surface.json", "/routes/r"),
        ("b/root.json", "/type"),
        ("b/surface.json", "/models/Gone/schema"),
    ]


CATALOGUES: list[tuple[dict[str, Any], str, str]] = [
    ({"version": "1.0"}, "/version", "(pattern)"),
    ({"colour": "red"}, "", 'undeclared: "colour"'),
    ({"sse": {"framing": "data"}}, "/sse", 'expected the key "tag"'),
    ({"sse": {"framing": "smoke"}}, "/sse/framing", 'one of "data", "named"'),
    ({"events": {"x": {"status": "active"}}}, "/events/x", 'expected the key "schema"'),
    ({"models": {"M": {"schema": "../m.json"}}}, "/models/M/schema", "(pattern)"),
]


@pytest.mark.parametrize(("changes", "pointer", "message"), CATALOGUES)
def test_a_bad_catalogue_says_where(
    write: Write, changes: dict[str, Any], pointer: str, message: str
) -> None:
    with pytest.raises(SurfaceError) as raised:
        Registry.from_folder(write(story(**changes)))
    (problem,) = raised.value.problems
    assert (problem.path, problem.pointer) == ("surface.json", pointer)
    assert message in problem.message


def test_a_surface_folder_and_a_folder_of_surfaces_are_the_same(write: Write) -> None:
    alone = Registry.from_folder(write(story(), "alone")).surface("story")
    among = Registry.from_folder(write({f"s/{p}": c for p, c in story().items()}, "all"))
    assert list(among.surfaces) == ["story"]
    assert among.surface("story").fingerprint == alone.fingerprint


@pytest.mark.parametrize("name", ["nothing", "gone"])
def test_a_folder_without_surfaces(tmp_path: Path, name: str) -> None:
    (tmp_path / "nothing").mkdir()
    with pytest.raises(SurfaceError, match=name):
        Registry.from_folder(tmp_path / name)


def test_two_surfaces_of_one_name(write: Write) -> None:
    files: Files = {f"{s}/{p}": c for s in "ab" for p, c in models(root={}).items()}
    with pytest.raises(SurfaceError, match=r"b/surface\.json#/name: m is in a already"):
        Registry.from_folder(write(files))


def test_look_up(write: Write) -> None:
    registry = Registry.bundled()
    surface = registry.surface("gns3-chat")
    assert surface.contract("event", "content").schema["title"] == "ContentEvent"
    assert surface.contract("request", "stream_chat").schema["title"] == "ChatRequest"
    assert surface.contract("query", "get_history").kind == "query"
    assert surface.contract("response", "stream_chat:409").schema["title"] == "Problem"
    assert surface.contract("tool_arguments", "create_gns3_node").name == "create_gns3_node"
    assert surface.contract("tool_return", "create_gns3_node").path.is_file()
    assert surface.contract("model", "ChatSession") in list(surface.contracts())
    with pytest.raises(UnknownSurface, match=r"no surface 'gns4'\. There are: .*gns3-chat"):
        registry.surface("gns4")
    with pytest.raises(UnknownContract, match=r"no event 'contnet' .* content, tool_call"):
        surface.contract("event", "contnet")
    own = Registry.from_folder(write(story())).surface("story")
    with pytest.raises(UnknownContract, match="suggestions"):
        own.contract("event", "suggestions")


def test_fingerprints_change_with_the_schema_only(write: Write) -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "t.json"}, "b": {"type": "null"}}}
    first = root(write(models(root=schema, t={"type": "string"}), "one"))
    turned = json.loads(json.dumps(schema))
    turned["properties"] = dict(reversed(turned["properties"].items()))
    turned = dict(reversed(turned.items()))
    same = root(write(models(root=turned, t={"type": "string"}, unused={"type": "null"}), "two"))
    other = root(write(models(root=schema, t={"type": "integer"}), "three"))
    assert first.fingerprint == same.fingerprint
    assert first.fingerprint != other.fingerprint
    assert first.fingerprint.startswith("sha256:")


def test_a_surface_fingerprint_covers_catalogue_and_schemas(write: Write) -> None:
    def of(name: str, **changes: Any) -> str:
        return Registry.from_folder(write(story(**changes), name)).surface("story").fingerprint

    changed = story()
    changed["events/chunk.json"]["properties"]["content"] = {"type": "string", "minLength": 1}
    by_schema = Registry.from_folder(write(changed, "schema")).surface("story").fingerprint
    assert len({of("one"), of("two"), of("other", title="Other"), by_schema}) == 3


def test_a_fingerprint_is_the_same_in_every_process() -> None:
    code = (
        "from copilot_contracts import Registry;"
        "print(Registry.bundled().surface('gns3-chat').fingerprint)"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert seen == {Registry.bundled().surface("gns3-chat").fingerprint}


def test_bundled_schemas_are_copies() -> None:
    contract = Registry.bundled().surface("gns3-chat").contract("event", "content")
    contract.bundled()["properties"].clear()
    assert contract.bundled()["properties"]


def test_importing_the_package_imports_no_library() -> None:
    code = (
        "import sys; before = set(sys.modules); import copilot_contracts;"
        "print(sorted(set(sys.modules) - before))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    new = json.loads(run.stdout.replace("'", '"'))
    assert {name.partition(".")[0] for name in new} <= {
        "copilot_contracts",
        "typing",
        "importlib",
    } | (set(sys.stdlib_module_names))


def test_every_public_name_is_there() -> None:
    import copilot_contracts

    for name in copilot_contracts.__all__:
        assert getattr(copilot_contracts, name) is not None
    with pytest.raises(AttributeError, match="nothing_there"):
        copilot_contracts.nothing_there  # noqa: B018  (the access is the test)


@pytest.mark.parametrize(("schema", "dialect"), [(obj(), DIALECT), (obj(), None)])
def test_the_dialect_may_be_left_to_the_linter(
    write: Write, schema: dict[str, Any], dialect: str | None
) -> None:
    named = schema | ({"$schema": dialect} if dialect else {})
    assert root(write(models(root=named))).violation({"a": 1}) is not None
