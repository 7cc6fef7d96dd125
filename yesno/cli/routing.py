"""The command `route`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from yesno.cli.layers import Done, conversation, printed, read_table, run_flow
from yesno.cli.options import Connection, File, Given, Json
from yesno.cli.session import OK
from yesno.cli.values import number
from yesno.cli.views import plain, screen
from yesno.errors import ConfigError, QuestionError
from yesno.routers import ChatRouter, RouteChoice

__all__ = ["choice_document", "route", "router_in"]

_KEYS = ("routes", "default", "min_probability", "question")


def route(
    routes: Annotated[
        Path,
        typer.Argument(metavar="ROUTES", help="TOML file: `default`, and under [routes] name = description."),
    ],
    input: Given = None,
    file: File = None,
    said: Annotated[
        str | None, typer.Option("--input", metavar="TEXT", help="Another way to give INPUT.")
    ] = None,
    min_probability: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", parser=number, help="Below it the default is taken; wins over the file's."
        ),
    ] = None,
    *,
    connection: Connection,
    as_json: Json = False,
) -> int:
    """Choose which route a request should take."""
    if input is not None and said is not None:
        raise QuestionError("give the input once: as an argument or with --input")
    table = read_table(routes)
    if min_probability is not None:
        table["min_probability"] = min_probability
    try:
        router = router_in(table)
    except ConfigError as error:
        raise ConfigError(f"{str(routes)!r}: {error}") from error
    done = run_flow(
        connection, router.route(conversation(said if input is None else input, file)), as_json=as_json
    )
    if as_json:
        printed({**choice_document(done.result), **done.document()})
    else:
        _show(router, done)
    return OK


def router_in(table: Mapping[str, Any]) -> ChatRouter:
    """Return the router that a table describes.

    It has `routes`: name -> description, or a list of them; the name of the `default` route; and perhaps a
    `min_probability` and a `question`. A decision that fails raises.

    Raises:
        ConfigError: It has another form; the message says where.
    """
    for key in table:
        if key not in _KEYS:
            close = difflib.get_close_matches(key, _KEYS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(_KEYS)}"
            raise ConfigError(f"{key!r} is unknown; {hint}")
    if "routes" not in table:
        raise ConfigError("there is no table [routes] with name = description")
    if not isinstance(table["routes"], Mapping):
        raise ConfigError("`routes` must be a table with name = description")
    settings = {key: table[key] for key in ("default", "min_probability", "question") if key in table}
    return ChatRouter(table["routes"], fallback="fail", **settings)


def choice_document(choice: RouteChoice) -> dict[str, Any]:
    """Return a choice as plain JSON values."""
    return {
        "type": "route",
        "route": choice.route,
        "probabilities": plain(choice.probabilities),
        "why": choice.why,
        "fell_back": choice.fell_back,
    }


def _show(router: ChatRouter, done: Done[RouteChoice]) -> None:
    from rich.markup import escape
    from rich.table import Table

    console, choice = screen(), done.result
    table = Table(box=None, show_header=False, pad_edge=False)
    for justify in ("left", "right", "left"):
        table.add_column(justify=justify, overflow="fold")
    for name in [one.name for one in router.routes]:
        share = choice.probabilities.get(name)
        style = "bold" if name == choice.route else "none"
        number = "–" if share is None else f"{share:.3f}"
        table.add_row(f"[{style}]{escape(name)}[/]", f"[{style}]{number}[/]", "█" * round(30 * (share or 0)))
    console.print(table)
    console.print(f"[bold]Route[/] {escape(choice.route)}{escape(_reason(choice, router))}")
    console.print(f"[dim]{escape(done.text())}[/]")


def _reason(choice: RouteChoice, router: ChatRouter) -> str:
    match choice.why:
        case "chosen":
            return ""
        case "below_minimum":
            return f" (the default; none reaches {router.min_probability:g})"
        case "no_user_text":
            return " (the default; the user wrote no text, so nothing was asked)"
        case "only_route":
            return " (the only one, so nothing was asked)"
        case other:
            return f" ({other.replace('_', ' ')})"
