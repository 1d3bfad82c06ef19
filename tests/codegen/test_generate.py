"""`generate` and its check: what is stale and why, and the same bytes for the same schemas."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from copilot_codegen import generate as generate_module
from copilot_codegen.errors import CodegenError
from copilot_codegen.generate import FileResult, generate
from copilot_codegen.stamp import read_stamp

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "schemas"
VERSION = json.loads((SCHEMAS / "gns3-chat/surface.json").read_text(encoding="utf-8"))["version"]
PYTHON = ROOT / "contracts/copilot_contracts/generated"
TYPESCRIPT = ROOT / "contracts/typescript/src/generated"

MakeSurface = Callable[..., Path]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the repository's schemas and of what is generated from them."""
    shutil.copytree(SCHEMAS, tmp_path / "schemas")
    shutil.copytree(PYTHON, tmp_path / "python", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(TYPESCRIPT, tmp_path / "typescript")
    return tmp_path


def check(folder: Path) -> dict[str, FileResult]:
    """What isn't fresh in a copy, by file name."""
    results = generate(folder / "schemas", folder / "python", folder / "typescript", check=True)
    return {result.path.name: result for result in results if result.state != "fresh"}


def edit(file: Path, *changes: tuple[str, str]) -> None:
    text = file.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")


def raise_version(folder: Path) -> None:
    old = f'"version": "{VERSION}"'
    edit(folder / "schemas/gns3-chat/surface.json", (old, '"version": "99.0.0"'))


def test_what_is_committed_is_fresh(copy: Path) -> None:
    assert check(copy) == {}


@pytest.mark.node
def test_generating_anew_gives_the_committed_bytes(tmp_path: Path, node: str) -> None:
    generate(SCHEMAS, tmp_path / "python", tmp_path / "typescript")
    for made in (tmp_path / "python").glob("*/*.py"):
        committed = PYTHON / made.relative_to(tmp_path / "python")
        assert made.read_bytes() == committed.read_bytes()
    for made in (tmp_path / "typescript").iterdir():
        assert made.read_bytes() == (TYPESCRIPT / made.name).read_bytes()


class TestB12EditedSchemas:
    """modelcontextprotocol/python-sdk#1774: types drifted from the schema, and nothing said so."""

    @pytest.mark.node
    def test_the_check_names_the_file_and_the_field(self, copy: Path, node: str) -> None:
        edit(
            copy / "schemas/gns3-chat/models/openai_tool_call.json",
            ('"arguments": {', '"args": {'),
            ('"required": ["name", "arguments"]', '"required": ["name", "args"]'),
        )
        stale = check(copy)
        assert set(stale) == {"__init__.py", "models.py", "types.py", "gns3-chat.ts"}
        for name in ("models.py", "types.py", "gns3-chat.ts"):
            assert stale[name].state == "stale"
            assert stale[name].reason == f"the schemas of gns3-chat {VERSION} changed"
            assert stale[name].drift == ("OpenAIFunctionCall: `arguments` is gone, `args` is new",)

    def test_a_changed_type_a_new_one_and_one_that_is_gone(self, copy: Path) -> None:
        models = copy / "schemas/gns3-chat/models"
        edit(models / "token_usage.json", ('"type": "integer"', '"type": "string"'))
        edit(models / "timestamp.json", ('"title": "Timestamp"', '"title": "Moment"'))
        edit(copy / "schemas/gns3-chat/surface.json", ('"Timestamp": {', '"Moment": {'))
        drift = check(copy)["models.py"].drift
        assert drift[:2] == ("Timestamp is gone", "Moment is new")
        assert "TokenUsage: `llm_calls` changed" in drift
        assert "ConversationHistory: `created_at` changed, `updated_at` changed" in drift

    @pytest.mark.node
    @pytest.mark.parametrize("before", [True, False])
    def test_a_new_field_says_nothing_of_its_neighbours(
        self, copy: Path, node: str, before: bool
    ) -> None:
        new = '"duration_ms": { "description": "How long it took.", "type": "integer" }'
        old = '"session_id": { "$ref": "../models/session_id.json" }'
        both = f"{new}, {old}" if before else f"{old}, {new}"
        edit(copy / "schemas/gns3-chat/events/done.json", (old, both))
        stale = check(copy)
        for name in ("models.py", "types.py", "gns3-chat.ts"):
            assert stale[name].drift == ("DoneEvent: `duration_ms` is new",)

    @pytest.mark.node
    def test_a_changed_description_is_that_fields(self, copy: Path, node: str) -> None:
        edit(
            copy / "schemas/gns3-chat/events/error.json",
            ("The same request may succeed later.", "Ask again."),
            ('"description": "The turn failed.', '"description": "It failed.'),
        )
        assert check(copy)["gns3-chat.ts"].drift == ("ErrorEvent: changed, `retryable` changed",)

    def test_what_no_type_shows_changes_nothing(self, copy: Path) -> None:
        file = copy / "schemas/gns3-chat/models/timestamp.json"
        schema = json.loads(file.read_text(encoding="utf-8"))
        schema |= {"examples": ["2026-12-01T00:00:00Z"], "x-note": 1}
        file.write_text(json.dumps(schema, indent=8), encoding="utf-8")
        assert check(copy) == {}

    def test_stale_is_stale_without_the_generators(
        self, copy: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        raise_version(copy)
        monkeypatch.setenv("PATH", "")
        monkeypatch.setitem(sys.modules, "datamodel_code_generator", None)
        assert {result.drift for result in check(copy).values()} == {()}
        assert len(check(copy)) == 4


def test_a_raised_version_alone_is_told_from_changed_schemas(copy: Path) -> None:
    raise_version(copy)
    reasons = {result.reason for result in check(copy).values()}
    assert reasons == {f"version {VERSION} is now 99.0.0"}
    edit(copy / "schemas/gns3-chat/events/done.json", ('"session_id"', '"session"'))
    reasons = {result.reason for result in check(copy).values()}
    assert reasons == {f"the schemas of gns3-chat {VERSION} changed"}


def test_an_edit_by_hand_is_seen_and_undone(copy: Path) -> None:
    file = copy / "python/gns3_chat/models.py"
    before = file.read_bytes()
    edit(file, ("tool_output: str", "tool_output: str | None"))
    assert check(copy)["models.py"].reason == "edited by hand"
    assert check(copy)["models.py"].drift == ("ToolEndEvent: `tool_output` changed",)
    results = generate(copy / "schemas", copy / "python", None)
    assert [r.path.name for r in results if r.state == "written"] == ["models.py"]
    assert file.read_bytes() == before


def test_a_missing_file_is_made_again(copy: Path) -> None:
    file = copy / "python/gns3_chat/types.py"
    before = file.read_bytes()
    file.unlink()
    assert check(copy)["types.py"].reason == "missing"
    assert not file.exists()
    generate(copy / "schemas", copy / "python", None)
    assert file.read_bytes() == before


def test_another_version_of_a_generator_is_named(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = generate_module.python_generator()
    newer = here.rpartition(" ")[0] + " 99.0"
    monkeypatch.setattr(generate_module, "python_generator", lambda: newer)
    stale = check(copy)
    assert set(stale) == {"__init__.py", "models.py", "types.py"}
    assert stale["models.py"].reason == f"generator version changed: {here} is now {newer}"


def test_a_generator_that_is_not_installed_is_no_reason(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> str:
        from importlib.metadata import PackageNotFoundError

        raise PackageNotFoundError(name)

    monkeypatch.setattr("copilot_codegen.stamp.version", absent)
    assert check(copy) == {}


def test_files_of_a_surface_that_is_gone(copy: Path, make_surface: MakeSurface) -> None:
    shutil.rmtree(copy / "schemas/gns3-chat")
    shutil.copytree(make_surface({"title": "A", "type": "string"}) / "sample", copy / "schemas/a")
    own = copy / "python/gns3_chat/own.py"
    own.write_text("mine = True\n", encoding="utf-8")
    stale = check(copy)
    assert stale["gns3-chat.ts"].reason == "no longer has a surface"
    removed = [
        result.path.name
        for result in generate(copy / "schemas", copy / "python", None)
        if result.state == "removed"
    ]
    assert removed == ["__init__.py", "models.py", "types.py"]
    assert list((copy / "python/gns3_chat").iterdir()) == [own]


def test_one_surface_alone_says_nothing_about_others(copy: Path, make_surface: MakeSurface) -> None:
    alone = make_surface({"title": "A", "type": "string"}) / "sample"
    generate(alone, copy / "python", None)
    assert check(copy)["models.py"].surface == "sample"  # of the folder of all: gone
    results = generate(alone, copy / "python", None, check=True)
    assert {result.surface for result in results} == {"sample"}


def test_a_file_that_is_not_generated_is_not_overwritten(
    make_surface: MakeSurface, tmp_path: Path
) -> None:
    mine = tmp_path / "python/sample/models.py"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine = True\n", encoding="utf-8")
    schemas = make_surface({"title": "A", "type": "string"})
    with pytest.raises(CodegenError, match=r"models\.py would be overwritten"):
        generate(schemas, tmp_path / "python", None)
    assert mine.read_text(encoding="utf-8") == "mine = True\n"


def test_a_file_with_other_line_ends_is_fresh(copy: Path) -> None:
    file = copy / "python/gns3_chat/models.py"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert check(copy) == {}


def test_progress_is_told(make_surface: MakeSurface, tmp_path: Path) -> None:
    said: list[str] = []
    schemas = make_surface({"title": "A", "type": "string"})
    generate(schemas, tmp_path, None, progress=said.append)
    assert said == ["sample: Pydantic models and TypedDicts"]
    generate(schemas, tmp_path, None, progress=said.append)
    assert len(said) == 1  # nothing to do


def test_the_header_says_what_the_file_is_made_of() -> None:
    found = read_stamp((PYTHON / "gns3_chat/models.py").read_text(encoding="utf-8"))
    assert found is not None
    assert (found[0].surface, found[0].version) == ("gns3-chat", VERSION)
    assert "datamodel-code-generator 0." in found[0].generator
    found = read_stamp((TYPESCRIPT / "gns3-chat.ts").read_text(encoding="utf-8"))
    assert found is not None
    assert "json-schema-to-typescript 16.0.0" in found[0].generator


GENERATE = """
import sys
from pathlib import Path
from copilot_codegen.generate import generate
typescript = Path(sys.argv[3]) if len(sys.argv) > 3 else None
generate(Path(sys.argv[1]), Path(sys.argv[2]), typescript)
"""


@pytest.mark.node
def test_same_schemas_same_bytes_wherever_and_however(tmp_path: Path, node: str) -> None:
    """Another folder, hash seed, locale, time zone, order of files, and a pyproject.toml nearby."""
    made = []
    surfaces = Path(__file__).parent / "surfaces"
    for number, seed in enumerate(("1", "4242")):
        home = tmp_path / f"home{number}"
        home.mkdir()
        settings = "[tool.black]\nline-length = 60\nskip-string-normalization = true\n"
        (home / "pyproject.toml").write_text(settings * number, encoding="utf-8")
        copied = home / "schemas"
        for folder in sorted(surfaces.iterdir(), reverse=bool(number)):
            for file in sorted(folder.iterdir(), reverse=bool(number)):
                (copied / folder.name).mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copied / folder.name)
        env = {**os.environ, "PYTHONHASHSEED": seed, "TZ": "Asia/Tokyo"}
        env |= {"LC_ALL": "C", "LANG": "tr_TR"} if number else {"LC_ALL": "C.UTF-8"}
        command = [sys.executable, "-c", GENERATE, "schemas", "python", "typescript"]
        subprocess.run(command, cwd=home, env=env, check=True, timeout=120)
        files = sorted(p for p in home.rglob("*") if p.suffix in (".py", ".ts"))
        made.append({str(file.relative_to(home)): file.read_bytes() for file in files})
    assert len(made[0]) == 8
    assert made[0] == made[1]


COMMAND = "from copilot_adapters.cli import main; main()"


def test_the_check_is_fast_and_needs_no_generator() -> None:
    """`generate --check`, nothing changed: at most 0.5 s of CPU in a cold process."""
    command = [sys.executable, "-c", COMMAND, "generate", "--check"]
    before = os.times()
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PATH": ""}, capture_output=True, timeout=60
    )
    after = os.times()
    assert done.returncode == 0, done.stdout
    spent = after.children_user + after.children_system
    assert spent - before.children_user - before.children_system <= 0.5

    script = f"""
import sys
from pathlib import Path
from copilot_codegen.generate import generate
generate(Path({str(SCHEMAS)!r}), Path({str(PYTHON)!r}), Path({str(TYPESCRIPT)!r}), check=True)
print([name for name in ("datamodel_code_generator", "pydantic") if name in sys.modules])
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert done.stdout.strip() == b"[]", done.stderr
