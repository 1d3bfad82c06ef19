"""`docs`: what the documents of surfaces say, and whether they are what the catalogues say."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import chatbot_document
from copilot_codegen.docs import document, write_documents
from copilot_codegen.errors import CodegenError
from copilot_contracts import Registry, Surface, UnknownSurface

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "schemas"
DOCS = ROOT / "docs/surfaces"
SURFACES = Path(__file__).parent / "surfaces"
CHATBOT = (DOCS / "chatbot.md").read_text("utf-8")

MakeSurface = Callable[..., Path]
Row = dict[str, str]


def surfaces() -> Iterator[Surface]:
    for folder in (SCHEMAS, SURFACES):
        yield from Registry.from_folder(folder).surfaces.values()


def sections(text: str) -> dict[str, str]:
    """Heading to what stands under it."""
    parts = re.split(r"(?m)^#{1,3} (.*)$", text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def rows(text: str) -> list[Row]:
    """The rows of the only table in a piece of a document."""
    lines = [cells(line) for line in text.splitlines() if line.startswith("|")]
    head, _, *body = lines
    assert all(len(row) == len(head) for row in body)
    return [dict(zip(head, row, strict=True)) for row in body]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def codes(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


# The documents of this repository


def test_what_is_committed_is_fresh() -> None:
    results = write_documents(SCHEMAS, DOCS, check=True)
    assert [(r.path.name, r.state) for r in results] == [
        ("chatbot.md", "fresh"),
        ("gns3-chat.md", "fresh"),
    ]


@pytest.mark.parametrize("surface", list(surfaces()), ids=lambda surface: surface.name)
def test_links_lead_somewhere_and_tables_are_tables(surface: Surface) -> None:
    text = document(surface)
    prose = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    headings = re.findall(r"(?m)^#{1,3} (.*)$", text)
    anchors = [re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-") for name in headings]
    assert len(set(anchors)) == len(anchors)
    assert set(re.findall(r"\]\(#([^)]*)\)", prose)) <= set(anchors)
    widths = 0
    for line in text.splitlines():
        if line.startswith("|"):
            widths = widths or len(cells(line))
            assert len(cells(line)) == widths, line
        else:
            widths = 0


@pytest.mark.parametrize("surface", list(surfaces()), ids=lambda surface: surface.name)
def test_every_entry_of_the_catalogue_is_there(surface: Surface) -> None:
    catalogue, headings = surface.catalogue, sections(document(surface))
    kinds: list[tuple[str, Any]] = [
        ("Event", catalogue.events),
        ("Route", catalogue.routes),
        ("Tool", catalogue.tools),
        ("MCP tool", catalogue.mcp),
        ("Consumer", catalogue.consumers),
        ("Outcome", catalogue.outcomes),
    ]
    for kind, entries in kinds:
        assert {f"{kind} `{name}`" for name in entries} <= headings.keys()
    assert catalogue.models.keys() <= headings.keys()


# The chatbot's, beside the document that the surface was written from


def test_the_event_table_has_every_row_of_the_document() -> None:
    table = {codes(row["Event"])[0]: row for row in rows(sections(CHATBOT)["Events"])}
    assert list(table) == list(chatbot_document.EVENTS)
    for name, shape in chatbot_document.EVENTS.items():
        row = table[name]
        assert row["Event"] == f"`{name}`"  # and not: (additive)
        said = [*row["Keys"].split(", "), *row["Optional keys"].split(", ")]
        additive = {key for key in said if key.endswith(" (additive)")}
        assert codes(row["Keys"]) == [key for key in shape or () if not key.endswith("?")]
        optional = [key for key in row["Optional keys"].split(", ") if key not in additive]
        assert codes(", ".join(optional)) == [k[:-1] for k in shape or () if k.endswith("?")]
        assert bool(additive) is (name not in ("complete", "error", "suggestions"))
    assert table["suggestions"]["Status"] == "placeholder"


@pytest.mark.parametrize("name", [n for n, shape in chatbot_document.EVENTS.items() if shape])
def test_the_keys_of_an_event_have_the_documents_types(name: str) -> None:
    words = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
    table = {row["Key"]: row for row in rows(sections(CHATBOT)[f"Event `{name}`"])}
    for key, type_ in (chatbot_document.EVENTS[name] or {}).items():
        row = table.pop(f"`{key.rstrip('?')}`")
        assert row["There"] == ("optional" if key.endswith("?") else "always")
        if not row["Type"].startswith("`"):  # a constant, or one of some words
            word = f"list of {words[type_[0]]}" if isinstance(type_, list) else words[type_]
            assert row["Type"].startswith(word)
    assert all(key.endswith("(additive)") for key in table)


def test_the_consumer_table_has_every_row_of_the_document() -> None:
    known = sections(CHATBOT)
    callbacks = {row["Reads"]: row for row in rows(known["Consumer `streamCallbacks`"])}
    for name, (callback, required, optional) in chatbot_document.CALLBACKS.items():
        row = callbacks.pop(f"event `{name}`")
        assert row["Handler"] == f"`{callback}`"
        assert codes(row["Required keys"]) == required
        assert codes(row["Optional keys"]) == optional
    assert callbacks == {}
    calls = {row["Handler"]: row for row in rows(known["Consumer `apiService`"])}
    for call, ((method, path), keys) in chatbot_document.CALLS.items():
        row = calls.pop(f"`{call}`")
        assert row["Reads"] == f"`{method} {path}` 200"
        assert codes(row["Required keys"]) == keys
    assert calls == {}
    heard = {row["Event"]: codes(row["Read by"]) for row in rows(known["Events"])}
    assert heard == {
        f"`{name}`": [chatbot_document.CALLBACKS[name][0]]
        if name in chatbot_document.CALLBACKS
        else []
        for name in chatbot_document.EVENTS
    }


def test_all_else_of_the_document_has_its_row() -> None:
    known = sections(CHATBOT)
    overview = known["Routes"].split("Every route may answer")[0]
    routes = {row["Route"] for row in rows(overview)}
    assert routes == {f"`{method} {path}`" for method, path in chatbot_document.ROUTES}
    assert [codes(row["Tool"])[0] for row in rows(known["Tools"])] == list(chatbot_document.TOOLS)
    assert [codes(row["MCP tool"])[0] for row in rows(known["MCP tools"])] == list(
        chatbot_document.MCP
    )
    lines = [row["Line"] for row in rows(known["Checklist"])]
    assert len(lines) == len(chatbot_document.CHECKLIST) == 12
    assert all(map(str.startswith, lines, chatbot_document.CHECKLIST))
    assert len(rows(known["Known inconsistencies"])) == len(chatbot_document.INCONSISTENCIES)
    assert "`: keepalive`" in known["Events"]


# Any surface


TEXT = {"title": "Text", "description": "A text.", "type": "string", "minLength": 1}


def test_hostile_words_stay_words(make_surface: MakeSurface) -> None:
    schema = {
        "title": "Odd",
        "description": "a | b\n\n# no heading <script> `<code> | x`",
        "type": "object",
        "required": ["a|b"],
        "properties": {
            "a|b": {"description": "`", "type": "string", "pattern": "^(a|b)`+$"},
            "` `": {"enum": ["|", "``", None], "x-additive": True},
        },
    }
    folder = make_surface(schema, title="<b>", description="| x\n# y")
    text = document(Registry.from_folder(folder).surface("sample"))
    assert re.findall(r"(?m)^#.*", text) == ["# &lt;b>", "## Shapes", "### Odd"]
    assert "a \\| b # no heading &lt;script> `<code> \\| x`" in text
    first, second = rows(sections(text)["Odd"])
    assert first["Key"] == "`a\\|b`"
    assert first["Type"] == "string, ``^(a\\|b)`+$``"
    assert second["Key"] == "`` ` ` `` (additive)"
    assert second["Type"] == '`"\\|"` or ```"``"``` or `null`'


def test_types_in_words() -> None:
    kitchen = sections(document(Registry.from_folder(SURFACES).surface("kitchen")))
    said = {row["Key"]: row["Type"] for row in rows(kitchen["Everything"])}
    assert len(said) > 10
    shapes = {"Pair": "a list of exactly", "Bag": "map of [Odd](#odd)", "Numbers": "list of number"}
    for title, words in shapes.items():
        assert words in kitchen[title], title
    assert "[Tree](#tree)" in kitchen["Tree"]


def test_order_rules_in_sentences(make_surface: MakeSurface) -> None:
    known = sections((DOCS / "gns3-chat.md").read_text("utf-8"))["Order of events"].splitlines()
    assert [line for line in known if line] == [
        "- The last event is `done` or `error` or `abort`: exactly one, and nothing after it.",
        "- At any point before the end may come `heartbeat`.",
        "- Each `tool_start` is followed by one `tool_end` of the same `/tool_call_id`; those of "
        "different ones may interleave.",
        "- Events `tool_call` of one `/tool_call/id` come until one has `true` at "
        "`/tool_call/function/complete`; each is followed by one `tool_start` with that "
        "`/tool_call_id`, and doesn't come again after it.",
        "- `/session_id` is the same in all events of a stream that have it.",
    ]
    known = sections(CHATBOT)["Order of events"].splitlines()
    assert [line for line in known if line] == [
        "- The first event is `metadata`; it doesn't come again.",
        "- The last event is `complete` or `error`: exactly one, and nothing after it.",
        "- Each `thinking_start` is followed by one `thinking_end`, before another begins; between "
        "the two comes only `thinking`, which nowhere else does.",
        "- `/step_index` counts `thinking` from 0, without gaps.",
        "- `/chunk_index` counts `chunk` from 0, without gaps.",
        "- `/request_id` is the same in all events of a stream that have it.",
    ]


def test_answers_of_all_routes_stand_once(make_surface: MakeSurface) -> None:
    def answer(description: str, **more: Any) -> dict[str, Any]:
        return {"description": description, "schema": "text.json", **more}

    route = {"method": "GET", "status": "active"}
    folder = make_surface(
        TEXT,
        answers={"404": answer("Gone."), "500": answer("Broken.", media_type="text/plain")},
        routes={
            "a": {**route, "path": "/a", "responses": {"200": {"description": "Nothing."}}},
            "b": {
                **route,
                "path": "/b",
                "status": "deprecated",
                "deprecated": {"since": "1.0.0", "replacement": "GET /a"},
                "responses": {"404": answer("Never was.", additive=True)},
            },
        },
    )
    known = sections(document(Registry.from_folder(folder).surface("sample")))
    shared = rows(known["Routes"].split("Every route may answer")[1])
    assert [row["When"] for row in shared] == ["Gone.", "Broken."]
    assert shared[1]["Body"].endswith(", `text/plain`")
    (own,) = rows(known["Route `a`"])
    assert own == {"Status": "200", "Body": "empty", "When": "Nothing."}
    (own,) = rows(known["Route `b`"])
    assert (own["Status"], own["When"]) == ("404 (additive)", "Never was.")
    assert "deprecated since 1.0.0: use GET /a." in known["Route `b`"]


# Drift


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the repository's schemas and documents."""
    shutil.copytree(SCHEMAS, tmp_path / "schemas")
    shutil.copytree(DOCS, tmp_path / "docs")
    return tmp_path


def stale(folder: Path) -> dict[str, tuple[str | None, tuple[str, ...]]]:
    results = write_documents(folder / "schemas", folder / "docs", check=True)
    return {r.path.name: (r.reason, r.drift) for r in results if r.state != "fresh"}


def test_a_changed_surface_is_stale_and_written_anew(copy: Path) -> None:
    path = copy / "schemas/chatbot/events/chunk.json"
    schema = json.loads(path.read_text("utf-8"))
    schema["properties"]["newer"] = {"description": "New.", "type": "boolean"}
    path.write_text(json.dumps(schema), "utf-8")
    version = Registry.bundled().surface("chatbot").version
    reason = f"the surface chatbot {version} changed"
    assert stale(copy) == {"chatbot.md": (reason, ("Events changed", "Event `chunk` changed"))}
    before = (copy / "docs/gns3-chat.md").stat().st_mtime_ns
    write_documents(copy / "schemas", copy / "docs")
    assert stale(copy) == {}
    assert "`newer`" in (copy / "docs/chatbot.md").read_text("utf-8")
    assert (copy / "docs/gns3-chat.md").stat().st_mtime_ns == before


def test_a_hand_in_a_document_is_seen(copy: Path) -> None:
    path = copy / "docs/chatbot.md"
    text = path.read_text("utf-8")
    path.write_text(text.replace("A piece of the answer.", "A part of the answer."), "utf-8")
    assert stale(copy) == {"chatbot.md": ("edited by hand", ("Event `chunk` changed",))}
    path.write_bytes(text.replace("\n", "\r\n").encode())
    assert stale(copy) == {}
    path.unlink()
    assert stale(copy) == {"chatbot.md": ("missing", ())}


def test_a_document_of_a_surface_that_is_gone(copy: Path) -> None:
    shutil.rmtree(copy / "schemas/chatbot")
    (copy / "docs/own.md").write_text("# Mine\n", "utf-8")
    assert stale(copy) == {"chatbot.md": ("no longer has a surface", ())}
    write_documents(copy / "schemas", copy / "docs")
    assert sorted(path.name for path in (copy / "docs").iterdir()) == ["gns3-chat.md", "own.md"]


def test_some_surfaces_only(copy: Path) -> None:
    shutil.rmtree(copy / "docs")
    (result,) = write_documents(copy / "schemas", copy / "docs", ["gns3-chat"])
    assert (result.path, result.state) == (copy / "docs/gns3-chat.md", "written")
    assert not (copy / "docs/chatbot.md").exists()
    with pytest.raises(UnknownSurface, match="'nope'"):
        write_documents(copy / "schemas", copy / "docs", ["nope"])


def test_what_is_not_generated_is_not_overwritten(copy: Path) -> None:
    (copy / "docs/chatbot.md").write_text("# Mine\n", "utf-8")
    with pytest.raises(CodegenError, match="would be overwritten"):
        write_documents(copy / "schemas", copy / "docs")
    assert (copy / "docs/chatbot.md").read_text("utf-8") == "# Mine\n"
    reason, _ = stale(copy)["chatbot.md"]
    assert reason == "edited by hand: its first line isn't the generated one"


# The command


def command(*arguments: str, cwd: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    program = [sys.executable, "-c", "from copilot_adapters.cli import main; main()", "docs"]
    return subprocess.run(
        [*program, *arguments], cwd=cwd, capture_output=True, text=True, timeout=60, check=False
    )


def test_stdout_is_the_document() -> None:
    said = command("chatbot")
    assert (said.returncode, said.stdout, said.stderr) == (0, CHATBOT, "")


def test_the_check_says_what_is_stale_and_3(copy: Path) -> None:
    assert command("--check").stderr == "0 files stale, 2 fresh\n"
    path = copy / "docs/chatbot.md"
    path.write_text(path.read_text("utf-8").replace("Event `chunk`", "Event `piece`"), "utf-8")
    said = command("--out", "docs", "--check", cwd=copy)
    assert said.returncode == 3
    assert said.stdout.splitlines() == [
        "docs/chatbot.md: stale: edited by hand",
        "  Event `piece` is gone",
        "  Event `chunk` is new",
    ]
    again = "Run `copilot-contracts docs --out docs` and commit what it writes."
    assert said.stderr == f"1 file stale, 1 fresh\n{again}\n"
    assert command("--out", "docs", cwd=copy).returncode == 0
    assert command("--out", "docs", "--check", cwd=copy).returncode == 0


@pytest.mark.parametrize("arguments", [["nope"], ["--schemas", "nowhere"]])
def test_what_is_not_there_is_2(arguments: list[str]) -> None:
    said = command(*arguments)
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr.startswith("copilot-contracts: There is no ")
