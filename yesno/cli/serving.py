"""`yesno serve`: models behind OpenAI's Decisions and TypeSafe's System One."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from yesno.cli.logs import log_to_stderr
from yesno.cli.options import Connection, Without
from yesno.cli.session import OK
from yesno.cli.values import word
from yesno.errors import ConfigError
from yesno.settings import Settings

if TYPE_CHECKING:
    from yesno.engine.aio import AsyncDecisionModel
    from yesno.serve.assembly import Parts
    from yesno.serve.guard import Policy

__all__ = ["serve"]

BACKLOG = 2048
"""Connections that may wait to be accepted; uvicorn's own default."""
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        "-m",
        metavar="[ALIAS=]PROVIDER:MODEL",
        help="A model to serve, and the name that requests give it; more than once for several. "
        "[default: YESNO_MODEL, else local]",
    ),
]
Host = Annotated[
    str | None, typer.Option("--host", metavar="ADDRESS", help="Address to listen at. [default: 127.0.0.1]")
]
Port = Annotated[
    int | None,
    typer.Option("--port", metavar="N", min=0, max=65535, help="Port; 0 for any. [default: 8000]"),
]
Keys = Annotated[
    Path | None,
    typer.Option("--keys", metavar="FILE", help="Ask for keys; `yesno keys add` makes the file."),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="A TOML file that says what is served; --example prints one."
    ),
]
Check = Annotated[bool, typer.Option("--check", help="Check the file of --config and serve nothing.")]
Example = Annotated[
    bool, typer.Option("--example", help="Print a file for --config with all settings, and serve nothing.")
]
Access = Annotated[
    bool, typer.Option("--access-log/--no-access-log", help="Log a line per request, without content.")
]
Log = Annotated[
    str,
    typer.Option(
        "--log",
        metavar="FORM",
        parser=word("auto", "json", "text"),
        help="Form of the log: json, text, or auto for text on a terminal.",
    ),
]


def serve(
    *,
    models: Models = None,
    host: Host = None,
    port: Port = None,
    keys: Keys = None,
    config: ConfigFile = None,
    check: Check = False,
    example: Example = False,
    access_log: Access = True,
    log: Log = "auto",
    connection: Annotated[Connection, Without("model", "cache")],
) -> int:
    """Serve models over the two decision protocols.

    The other options hold for each of the models, and do not go with --config. SIGHUP reads the files again,
    SIGTERM ends what is under way before the server leaves.
    """
    if example:
        print(files("yesno.serve").joinpath("example.toml").read_text(encoding="utf-8"), end="")
        return OK
    if check and config is None:
        raise ConfigError("--check is about the file of --config; name one")
    try:
        import uvicorn  # noqa: F401 - to name what is missing

        from yesno.serve.running import Runner
        from yesno.serve.service import Service
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "yesno":
            raise
        raise ConfigError(f"serving needs the package {error.name}; pip install 'yesno[serve]'") from error
    with ExitStack() as held:
        if config is None:
            parts, reread = from_options(named_models(models), host, port, keys, access_log, connection, held)
        else:
            if models or keys or connection != Connection(cache=False):
                raise ConfigError("--config says what is served: put the other options into the file")
            parts, reread = from_file(config, host, port, access_log)
            if check:
                print(f"{config} holds no mistake: {', '.join(parts.models)}")
                return OK
        listener = held.enter_context(bound(parts.server.host, parts.server.port))
        service = Service(parts, reread, log_to_stderr(log))
        print(
            told(parts.models, listener, () if parts.chat is None else parts.chat.names),
            file=sys.stderr,
            flush=True,
        )
        Runner(service).run(sockets=[listener])
    return OK


def from_options(
    specs: Mapping[str, str],
    host: str | None,
    port: int | None,
    keys: Path | None,
    access_log: bool,
    connection: Connection,
    held: ExitStack,
) -> tuple[Parts, Callable[[Parts], Parts]]:
    """Return what the options of a command describe, and what reads the keys again.

    Raises:
        ConfigError: Others could reach the server without a key, or something is impossible.
    """
    from yesno.serve.assembly import Parts, policy_of, settings_of, unlimited
    from yesno.serve.config import check_binding
    from yesno.serve.keys import read_keys
    from yesno.serve.tables import ServerTable

    server = ServerTable(host=host or "127.0.0.1", port=8000 if port is None else port, access_log=access_log)

    def policy() -> Policy:
        ring = None if keys is None else read_keys(keys)
        check_binding(server.host, ring)
        return policy_of(server, ring, unlimited(ring))

    made = policy()
    parts = Parts(server, opened(specs, connection, held), made, settings_of(server))
    return parts, lambda before: replace(before, policy=policy())


def from_file(
    path: Path, host: str | None, port: int | None, access_log: bool
) -> tuple[Parts, Callable[[Parts | None], Parts]]:
    """Return what a configuration file describes, and what reads it again.

    Raises:
        ConfigError: The file holds mistakes, or others could reach the server without a key.
    """
    from yesno.serve.assembly import assemble
    from yesno.serve.config import check_binding, load_config
    from yesno.settings import variable

    other: dict[str, Any] = {}
    if host is not None:
        other["host"] = host
    if port is not None:
        other["port"] = port
    if not access_log:
        other["access_log"] = False

    def read(before: Parts | None) -> Parts:
        config = load_config(path, variable)
        parts = assemble(config, variable, before)
        parts.server = parts.server.model_copy(update=other)
        check_binding(parts.server.host, config.ring)
        return parts

    return read(None), read


def named_models(given: list[str] | None) -> dict[str, str]:
    """Return alias -> model for what `--model` was given; the alias of one without is what it is called.

    Raises:
        ConfigError: An alias is there twice, or blank.
    """
    if not given:
        spec = Settings.from_env().model
        return {spec: spec}
    named: dict[str, str] = {}
    for text in given:
        alias, sign, spec = text.partition("=")
        if not sign or ":" in alias:
            alias, spec = text, text
        if not alias.strip() or not spec.strip():
            raise ConfigError(f"--model {text!r} lacks a name; write ALIAS=PROVIDER:MODEL")
        if alias in named:
            raise ConfigError(
                f"the alias {alias!r} is used twice; give one model another with ALIAS=PROVIDER:MODEL"
            )
        named[alias] = spec
    return named


def opened(
    specs: Mapping[str, str], connection: Connection, held: ExitStack
) -> dict[str, AsyncDecisionModel]:
    """Return the models, each with the same options.

    Args:
        specs: Alias -> model.
        connection: The options.
        held: Closes what the options hold open.
    """
    from yesno.engine.aio import AsyncDecisionModel

    models = {}
    for alias, spec in specs.items():
        name, options = replace(connection, model=spec).resolved(held)
        if name.partition(":")[0] == "fake":
            # a stand-in that answers at once, as a decision endpoint does; --strategy logprobs has prompts and tokens
            options.update(keep=0, native=connection.strategy in ("auto", "native"))
        models[alias] = AsyncDecisionModel(name, **options)
    return models


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address.

    Raises:
        ConfigError: That cannot be.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's delay off only where the protocol is named, and a response leaves in two pieces
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        words = f"cannot listen at {host}:{port}: {error.strerror or error}; choose another --host or --port"
        raise ConfigError(words) from error
    return listener


def told(models: Mapping[str, AsyncDecisionModel], listener: socket.socket, chats: Sequence[str] = ()) -> str:
    """Return where a server is, and what it serves."""
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    names, paths = ", ".join(models), "decisions, systemone, models"
    if chats:
        names, paths = f"{names} and the chats {', '.join(chats)}", f"{paths}, chat/completions"
    return f"yesno serves {names} at http://{shown}:{port}/v1 ({paths})"
