"""The command as a child process: exit codes, what is on stdout, what it loads."""

import json
import os
import resource
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from copilot_adapters.local_model import MODELS
from copilot_contracts import Registry
from copilot_contracts.registry import schemas_folder

COMMAND = [sys.executable, "-c", "from copilot_adapters.cli import main; main()"]
#: What a base install doesn't have.
EXTRAS = [
    *("langgraph", "langchain_core", "langchain_openai", "aiosqlite"),
    *("starlette", "uvicorn", "structlog", "httpx", "jwt", "telnetlib3", "xllamacpp"),
    *("datamodel_code_generator", "hypothesis"),
]
WITHOUT_EXTRAS = [
    sys.executable,
    "-c",
    f"import sys; sys.modules.update(dict.fromkeys({EXTRAS!r}))\n"
    "from copilot_adapters.cli import main; main()",
]
VERSION = Registry.bundled().surface("gns3-chat").version
CHATBOT = Registry.bundled().surface("chatbot").version
GENERATED = Path(__file__).parents[2] / "contracts" / "copilot_contracts" / "generated"
SESSION = "6f1c0f3e-6f4c-4a53-9a51-5d1f6a2f9b10"
GOOD = (
    f'data: {{"type":"content","content":"hi","message_id":"m1","session_id":"{SESSION}"}}\n\n'
    f'data: {{"type":"done","session_id":"{SESSION}"}}\n\n'
)
BAD = GOOD + f'data: {{"type":"done","session_id":"{SESSION}"}}\n\n'


def command(
    *arguments: str | Path,
    program: list[str] = COMMAND,
    stdin: str = "",
    cwd: Path | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*program, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=cwd,
        env={**os.environ, **environment},
    )


def test_the_version_is_said_and_without_much_work() -> None:
    def seconds(*program: str) -> float:
        def spent() -> float:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime

        before = spent()
        subprocess.run(program, check=True, capture_output=True)
        return spent() - before

    said = command("--version")
    assert (said.returncode, said.stdout) == (
        0,
        f"copilot-contracts {version('copilot-contracts')}\n",
    )
    bare = min(seconds(sys.executable, "-c", "0") for _ in range(5))
    assert min(seconds(*COMMAND, "--version") for _ in range(5)) - bare <= 0.150


@pytest.mark.parametrize(
    "name", ["lint", "generate", "docs", "verify-stream", "serve", "model", "model fetch"]
)
def test_every_help_has_an_example_and_no_colour_where_none_is_wanted(name: str) -> None:
    said = command(*name.split(), "--help", NO_COLOR="1")
    assert said.returncode == 0
    assert "\x1b" not in said.stdout
    if name != "model":
        assert f"Example: copilot-contracts {name}" in said.stdout or "| copilot-contracts" in (
            said.stdout
        )


def test_the_help_lists_the_exit_codes_and_what_serve_does_without_a_model() -> None:
    lines = [" ".join(line.split()) for line in command("--help").stdout.splitlines()]
    for said in ("0 fine", "3 stale generated files", "5 internal error"):
        assert said in lines
    said = command("serve", "--help", COLUMNS="400", TERMINAL_WIDTH="400").stdout
    assert "nothing is fetched unasked" in said


@pytest.mark.parametrize("arguments", [["nope"], ["lint", "--nope"], ["serve", "--port", "x"], []])
def test_wrong_usage_is_2(arguments: list[str]) -> None:
    said = command(*arguments)
    assert said.returncode == 2
    assert "Traceback" not in said.stderr


def test_an_internal_error_is_5_and_one_line(tmp_path: Path) -> None:
    broken = [
        sys.executable,
        "-c",
        "import copilot_contracts.lint as lint\n"
        "def boom(path): raise ZeroDivisionError('by\\nzero')\n"
        "lint.lint = boom\n"
        "from copilot_adapters.cli import main; main()",
    ]
    said = command("lint", tmp_path, program=broken)
    assert said.returncode == 5
    assert said.stderr.count("\n") == 1
    assert "internal error: ZeroDivisionError: by zero" in said.stderr
    assert "Traceback" in command("--debug", "lint", tmp_path, program=broken).stderr


def test_lint_of_good_and_of_bad_schemas(tmp_path: Path) -> None:
    said = command("lint", cwd=tmp_path)  # no `schemas` here: those of the package
    assert said.returncode == 0, said.stdout
    warned = said.stdout.splitlines()
    assert all(": PROPERTY_ALIASED " in line and "'_id'" in line for line in warned), warned
    where, summary = said.stderr.splitlines()
    assert "the schemas of the package are meant" in where
    assert summary == f"chatbot {CHATBOT}, gns3-chat {VERSION}: {len(warned)} findings"
    schemas = tmp_path / "schemas"
    subprocess.run(["cp", "-r", str(schemas_folder()), str(schemas)], check=True)
    shutil.rmtree(schemas / "chatbot")
    event = schemas / "gns3-chat" / "events" / "done.json"
    event.write_text(event.read_text().replace('"type": "object"', '"type": "objct"'))
    said = command("lint", cwd=tmp_path)
    assert said.returncode == 1
    path, line, column, rest = said.stdout.splitlines()[0].split(":", 3)
    assert path.endswith("events/done.json")
    assert int(line) > 1
    assert int(column) >= 1
    assert rest.split()[0].isupper()
    count = len(said.stdout.splitlines())
    assert said.stderr.startswith(f"gns3-chat {VERSION}: {count} finding")
    (tmp_path / "empty").mkdir()
    assert command("lint", "empty", cwd=tmp_path).stderr.startswith("empty: ")
    findings = json.loads(command("lint", "--json", schemas).stdout)
    assert {"path", "line", "column", "rule", "message", "level"} == set(findings[0])
    assert command("lint", tmp_path / "nowhere").returncode == 2


def test_what_is_stale_is_named_and_3(tmp_path: Path) -> None:
    schemas = tmp_path / "schemas"
    subprocess.run(["cp", "-r", str(schemas_folder()), str(schemas)], check=True)
    python = tmp_path / "generated"
    subprocess.run(["cp", "-r", str(GENERATED), str(python)], check=True)
    check = ["generate", "--schemas", schemas, "--python", python, "--check"]
    said = command(*check)
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "0 files stale, 6 fresh\n")
    event = schemas / "gns3-chat" / "events" / "done.json"
    event.write_text(event.read_text().replace('"session_id"', '"session"'))
    said = command(*check)
    assert said.returncode == 3
    models = next(line for line in said.stdout.splitlines() if "models.py" in line)
    assert models.endswith(
        f"gns3_chat/models.py: stale: the schemas of gns3-chat {VERSION} changed"
    )
    assert "DoneEvent: `session_id` is gone, `session` is new" in said.stdout
    again = f"copilot-contracts generate --schemas {schemas} --python {python}"
    assert said.stderr == f"3 files stale, 3 fresh\nRun `{again}` and commit what it writes.\n"
    said = command(*check[:-1])
    assert (said.returncode, said.stderr) == (0, "3 files written, 3 fresh\n")


def test_verify_stream_from_a_file_and_from_stdin(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text(GOOD)
    bad.write_text(BAD)
    said = command("verify-stream", "gns3-chat", good)
    assert (said.returncode, said.stdout) == (0, "")
    said = command("verify-stream", "gns3-chat", bad)
    assert said.returncode == 1
    assert said.stdout.startswith(f"{bad}:5: event 3: LAST ")
    said = command("verify-stream", "gns3-chat", "-", "--json", stdin=BAD)
    assert said.returncode == 1
    assert [finding["position"] for finding in json.loads(said.stdout)] == [3]
    said = command("verify-stream", "gns3-chat", "-", "--schemas", schemas_folder(), stdin=GOOD)
    assert said.returncode == 0


def test_of_many_findings_the_first_are_printed_and_json_has_all(tmp_path: Path) -> None:
    many = tmp_path / "many"
    many.write_text(GOOD + 'data: {"type":"done"}\n\n' * 30)
    every = json.loads(command("verify-stream", "gns3-chat", many, "--json").stdout)
    said = command("verify-stream", "gns3-chat", many, PYTHONIOENCODING="utf-8")
    assert len(said.stdout.splitlines()) == 20 < len(every)
    assert said.stderr.splitlines() == [
        f"… and {len(every) - 20} more (all with --json)",
        f"gns3-chat: {len(every)} findings",
    ]


def test_a_model_that_is_in_the_cache_is_said_to_be_there(tmp_path: Path) -> None:
    model = MODELS["135m"]
    file = tmp_path / "copilot-contracts" / "models" / model.file_name
    file.parent.mkdir(parents=True)
    with file.open("wb") as weights:
        weights.truncate(model.size)
    said = command("model", "fetch", "135m", XDG_CACHE_HOME=str(tmp_path))
    assert (said.returncode, said.stdout) == (0, f"{file}\n")
    assert said.stderr == "The local model 135m is already there.\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["lint", "file"], "file"),
        (["verify-stream", "nope", "-"], "gns3-chat"),
        (["verify-stream", "routes", "-", "--schemas", "routes"], "no events"),
        (["verify-stream", "gns3-chat", "nowhere"], "nowhere"),
        (["verify-stream", "gns3-chat", "-", "--schemas", "nowhere"], "nowhere"),
        (["generate", "--schemas", "nowhere", "--python", "out"], "nowhere"),
        (["model", "fetch", "7b"], "1.5b"),
        (["serve", "--host", "0.0.0.0"], "--jwt-secret-file"),
        (["serve", "--jwt-secret-file", "nowhere"], "nowhere"),
        (["serve", "--llm-base-url", "http://host/v1"], "--llm-model"),
        (["serve", "--llm-model", "m"], "--llm-base-url"),
        (["serve", "--llm-base-url", "ftp://u:pa55@h/v1", "--llm-model", "m"], "https://host/v1"),
        (["serve", "--model", "0.5b", "--llm-model", "m"], "Choose one"),
        (["serve", "--model", "0.5b", "--llm-context-window", "9"], "a local model knows its own"),
        (["serve", "--llm-model", "m", "--llm-context-window", "0"], "--llm-context-window"),
        (["serve", "--model-file", "nowhere.gguf"], "nowhere.gguf"),
        (["serve", "--data", "file/below"], "file/below"),
        (["serve", "--log-level", "loud"], "--log-level"),
        (["lint", "x" * 300], "name too long"),
        (["verify-stream", "gns3-chat", "x" * 300], "name too long"),
        (["verify-stream", "gns3-chat", "-", "--schemas", "x" * 300], "no such folder"),
        (["generate", "--schemas", "x" * 300, "--python", "out"], "name too long"),
        (["generate", "--schemas", str(schemas_folder()), "--python", "file"], "file"),
        (["serve", "--model-file", "x" * 300], "name too long"),
    ],
)
def test_what_cannot_be_done_is_said_and_is_2(
    tmp_path: Path, arguments: list[str], says: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "routes").mkdir()
    (tmp_path / "routes" / "surface.json").write_text(
        '{"name": "routes", "version": "1.0.0", "title": "T", "description": "D"}'
    )
    said = command(*arguments, cwd=tmp_path)
    assert said.returncode == 2, said.stderr
    assert said.stdout == ""
    assert says in said.stderr
    assert "pa55" not in said.stderr
    assert "Traceback" not in said.stderr


def test_a_closed_stdin_is_said() -> None:
    line = f"exec '{sys.executable}' -m copilot_adapters.cli verify-stream gns3-chat - <&-"
    said = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60, check=False)
    assert (said.returncode, said.stdout) == (2, "")
    assert "stdin" in said.stderr


def test_a_base_install_lints_and_verifies_and_names_the_extra_for_the_rest() -> None:
    assert command("lint", program=WITHOUT_EXTRAS).returncode == 0
    good = command("verify-stream", "gns3-chat", "-", stdin=GOOD, program=WITHOUT_EXTRAS)
    assert good.returncode == 0
    for arguments, extra in {
        ("serve",): "server",
        ("generate", "--python", "out", "--schemas", str(schemas_folder())): "codegen",
    }.items():
        said = command(*arguments, program=WITHOUT_EXTRAS)
        assert said.returncode == 2, said.stderr
        assert f"pip install 'copilot-contracts[{extra}]'" in said.stderr
        assert "Traceback" not in said.stderr


def test_a_pipe_that_closes_is_no_internal_error(tmp_path: Path) -> None:
    many = tmp_path / "many"
    many.write_text(f'data: {{"type":"done","session_id":"{SESSION}"}}\n\n' * 20_000)
    running = subprocess.Popen(
        [*COMMAND, "verify-stream", "gns3-chat", str(many), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert running.stderr is not None
    running.stdout.readline()
    running.stdout.close()
    said = running.stderr.read()
    running.stderr.close()
    assert running.wait(timeout=60) != 5
    assert "Traceback" not in said
    assert "internal error" not in said
