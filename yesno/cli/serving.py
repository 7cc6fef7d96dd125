"""`yesno serve`: models behind OpenAI's Decisions and TypeSafe's System One."""

from __future__ import annotations

import socket
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from yesno.cli.options import Connection, Without
from yesno.cli.session import OK
from yesno.errors import ConfigError
from yesno.settings import Settings

if TYPE_CHECKING:
    from yesno.engine.aio import AsyncDecisionModel

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
Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen at.")]
Port = Annotated[
    int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port to listen at; 0 for any.")
]


def serve(
    *,
    models: Models = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    connection: Annotated[Connection, Without("model", "cache")],
) -> int:
    """Serve models over the two decision protocols.

    The other options hold for each of the models.
    """
    try:
        import uvicorn

        from yesno.serve import create_app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "yesno":
            raise
        raise ConfigError(f"serving needs the package {error.name}; pip install 'yesno[serve]'") from error
    with ExitStack() as held:
        served = opened(named_models(models), connection, held)
        app = create_app(served, on_shutdown=[model.close for model in served.values()])
        listener = held.enter_context(bound(host, port))
        print(told(served, listener), file=sys.stderr, flush=True)
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, proxy_headers=False
        )
        uvicorn.Server(config).run(sockets=[listener])
    return OK


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
            options["keep"] = 0
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


def told(models: Mapping[str, AsyncDecisionModel], listener: socket.socket) -> str:
    """Return where a server is, and what it serves."""
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"yesno serves {', '.join(models)} at http://{shown}:{port}/v1 (decisions, systemone, models)"
