"""The command `serve`."""

from __future__ import annotations

import os
import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from copilot_adapters.cli.model import LocalModel  # noqa: TC001 - Typer reads the annotations
from copilot_adapters.cli.outcome import INTERNAL, WRONG_USAGE, CommandError, needs

if TYPE_CHECKING:
    from copilot_adapters.starlette.identity import JwtAuthenticator
    from copilot_adapters.starlette.llm import ServerLlm

#: For a model that we know nothing of.
_TOOL_STEPS = 6
#: Seconds for a reader to come back (A32).
_DISCONNECT_GRACE = 10.0
_URL, _MODEL, _KEY = "COPILOT_LLM_BASE_URL", "COPILOT_LLM_MODEL", "COPILOT_LLM_API_KEY"
_WINDOW = "COPILOT_LLM_CONTEXT_WINDOW"


class Validation(StrEnum):
    """What happens to an event or answer of ours that breaks its contract."""

    ENFORCE = "enforce"
    REPORT = "report"
    OFF = "off"


class OnDisconnect(StrEnum):
    """What becomes of a turn whose last reader has left."""

    STOP = "stop"
    CONTINUE = "continue"


def add_to(app: typer.Typer) -> None:
    app.command(epilog="Example: copilot-contracts serve --model 0.5b --port 8000")(serve)


def serve(
    host: Annotated[str, typer.Option(help="Where to listen.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 8000,
    data: Annotated[
        Path | None,
        typer.Option(help="Where conversations are kept.", show_default="in your data folder"),
    ] = None,
    jwt_secret_file: Annotated[
        Path | None,
        typer.Option(help="Users log in with HS256 tokens, claim `sub`. Without: one local user."),
    ] = None,
    llm_base_url: Annotated[
        str | None, typer.Option(help=f"An OpenAI-compatible endpoint; or in {_URL}.")
    ] = None,
    llm_model: Annotated[
        str | None, typer.Option(help=f"Its model; or in {_MODEL}. A key only in {_KEY}.")
    ] = None,
    llm_context_window: Annotated[
        int | None,
        typer.Option(
            min=1, help=f"The tokens it takes, question and answer together; or in {_WINDOW}."
        ),
    ] = None,
    model: Annotated[
        LocalModel | None,
        typer.Option(
            help="A local model; fetched first if need be. Without any model's option: one that is "
            "in the cache, if any; nothing is fetched unasked."
        ),
    ] = None,
    model_file: Annotated[
        Path | None, typer.Option(help="Any GGUF file as the local model.")
    ] = None,
    validation: Annotated[
        Validation, typer.Option(help="What becomes of an event of ours that breaks its contract.")
    ] = Validation.REPORT,
    heartbeat: Annotated[
        float, typer.Option(min=0.05, max=3600, help="Seconds of silence before a heartbeat.")
    ] = 15.0,
    on_disconnect: Annotated[
        OnDisconnect, typer.Option(help="What becomes of a turn whose last reader has left.")
    ] = OnDisconnect.STOP,
    grace: Annotated[
        float, typer.Option(min=1, max=3600, help="Seconds to end in, once told to.")
    ] = 10.0,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
) -> None:
    """Serve the chat API and a page, with a small lab to try it on."""
    with needs("server"):
        from copilot_adapters.starlette import logs, server
    if log_level not in ("debug", "info", "warning", "error"):
        raise typer.BadParameter("debug, info, warning or error", param_hint="--log-level")
    authenticator = _authenticator(host, jwt_secret_file)
    key = os.environ.pop(_KEY, "")  # not for child processes
    folder = _data(data)
    llm = _llm(llm_base_url, llm_model, key, llm_context_window, model, model_file)
    try:
        listening = server.listen(host, port)
    except OSError as error:
        raise CommandError(
            f"{host}, port {port}, can't be listened on: {error.strerror}.", WRONG_USAGE
        ) from error
    address = _address(host, listening.getsockname()[1])
    token = "" if authenticator is None else " -H 'Authorization: Bearer TOKEN'"

    logs.configure(terminal=sys.stderr.isatty(), level=log_level, secrets=[key] if key else [])
    with needs("server"):  # late, because it takes longest
        from copilot_adapters.starlette.app import AppSettings, create_app
        from copilot_adapters.starlette.endpoint import ChatSettings
    app = create_app(
        AppSettings(
            data=folder,
            llm=llm,
            authenticator=authenticator,
            validation=validation.value,
            chat=ChatSettings(heartbeat=heartbeat),
            disconnect_grace=_DISCONNECT_GRACE if on_disconnect is OnDisconnect.STOP else None,
            stop_seconds=min(5.0, grace / 4),
        )
    )
    if not server.run(app, listening, grace=grace, started=lambda: _greet(address, token)):
        raise CommandError("The server couldn't start; the log above says why.", INTERNAL)


def _authenticator(host: str, secret_file: Path | None) -> JwtAuthenticator | None:
    """None: one local user, on loopback only."""
    from copilot_adapters.starlette.identity import JwtAuthenticator, SecretFileError
    from copilot_adapters.starlette.loopback import is_loopback

    if secret_file is not None:
        try:
            return JwtAuthenticator.from_file(secret_file)
        except SecretFileError as error:
            raise CommandError(str(error), WRONG_USAGE) from error
    if not is_loopback(host):
        raise CommandError(
            "Without --jwt-secret-file there are no logins, so this server listens on loopback "
            f"only, not on {host}.",
            WRONG_USAGE,
        )
    return None


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _greet(address: str, token: str) -> None:
    from copilot_adapters.embedded_lab import EMBEDDED_PROJECT_ID

    told = (
        f"Page: {address}/projects/{EMBEDDED_PROJECT_ID}\n"
        f"Or:   curl -N {address}/v3/projects/{EMBEDDED_PROJECT_ID}/chat/stream{token} "
        "-H 'Content-Type: application/json' "
        """-d '{"message": "which hosts are in this lab?"}'"""
    )
    try:
        print(told, flush=True)
    except BrokenPipeError:  # nobody listens; we serve all the same
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - for the rest of the process


def _data(given: Path | None) -> Path:
    """The folder for conversations: only its owner may look into one that is made here."""
    base = os.environ.get("XDG_DATA_HOME")
    home = (Path(base) if base else Path.home() / ".local" / "share") / "copilot-contracts"
    folder = (given or home).absolute()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(
            f"The data folder {folder} can't be made: {error.strerror}.", WRONG_USAGE
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CommandError(f"The data folder {folder} can't be written to.", WRONG_USAGE)
    return folder


def _llm(
    base_url: str | None,
    name: str | None,
    key: str,
    window: int | None,
    model: LocalModel | None,
    model_file: Path | None,
) -> ServerLlm:
    """The model: what the command line says, else the environment, else one that was fetched."""
    from copilot_adapters.starlette.llm import NOT_CONFIGURED, NoLlm

    local = model is not None or model_file is not None
    if (model and model_file) or (local and (base_url or name)):
        raise CommandError(
            "Choose one: --llm-base-url with --llm-model, --model, or --model-file.", WRONG_USAGE
        )
    if not local:
        base_url = base_url or os.environ.get(_URL) or None
        name = name or os.environ.get(_MODEL) or None
        if base_url or name:
            return _endpoint(base_url, name, key, window or _window_in_environment())
    if window is not None:
        raise CommandError(
            "--llm-context-window belongs to --llm-model; a local model knows its own.", WRONG_USAGE
        )
    found = _local(model, model_file)
    if found is None:
        print(NOT_CONFIGURED, file=sys.stderr)
        return NoLlm()
    return found


def _window_in_environment() -> int | None:
    written = os.environ.get(_WINDOW)
    if not written:
        return None
    if not re.fullmatch("[1-9][0-9]{0,9}", written):
        raise CommandError(f"{_WINDOW} must be a number of tokens, such as 32768.", WRONG_USAGE)
    return int(written)


def _endpoint(base_url: str | None, name: str | None, key: str, window: int | None) -> ServerLlm:
    from urllib.parse import urlsplit

    from pydantic import SecretStr

    from copilot_adapters.starlette.llm import OneLlm
    from copilot_core.llm.config import LlmConfig

    _load_client()
    if not name:
        raise CommandError(f"--llm-base-url needs --llm-model (or {_MODEL}).", WRONG_USAGE)
    if base_url:
        try:
            parts = urlsplit(base_url)
            fine = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            fine = False
        if not fine:  # not shown: it may hold a password
            raise CommandError("--llm-base-url must look like https://host/v1.", WRONG_USAGE)
    elif not key:
        raise CommandError(
            f"--llm-model needs --llm-base-url (or {_URL}), or a key in {_KEY} for OpenAI's own "
            "endpoint.",
            WRONG_USAGE,
        )
    return OneLlm(
        LlmConfig(
            model=name,
            base_url=base_url,
            api_key=SecretStr(key) if key else None,
            context_window=window,
        )
    )


def _local(model: LocalModel | None, file: Path | None) -> ServerLlm | None:
    """A local model; None where none was asked for and none is in the cache."""
    from importlib.util import find_spec

    from copilot_adapters.cli.model import fetch_with_progress
    from copilot_adapters.local_model import MODELS, LocalModelServer, cached

    wanted = model.value if model else None
    there = find_spec("xllamacpp") is not None
    if wanted is None and file is None:
        wanted = next((name for name in MODELS if cached(name)), None) if there else None
        if wanted is None:
            return None
    if not there:
        raise CommandError(
            "A local model needs the extra `local-model`: "
            "pip install 'copilot-contracts[local-model]'",
            WRONG_USAGE,
        )
    from copilot_adapters.starlette.llm import LocalLlm

    _load_client()
    if file is None:
        assert wanted is not None
        path = cached(wanted) or fetch_with_progress(wanted)
        return LocalLlm(LocalModelServer(path), tool_steps=MODELS[wanted].tool_steps)
    if not file.is_file():
        raise CommandError(f"There is no file {file}.", WRONG_USAGE)
    return LocalLlm(LocalModelServer(file), tool_steps=_TOOL_STEPS)


def _load_client() -> None:
    """The models' client takes two seconds to import: better now than in the first turn."""
    with needs("openai"):
        import langchain_openai  # noqa: F401 - only to have it loaded
