"""The program `yesno`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

import typer

from yesno.cli.options import prepared
from yesno.cli.session import EXIT_CODES, exit_code, in_options
from yesno.errors import NoAnswer, YesnoError

__all__ = ["COMMANDS", "GROUPS", "WRITES_ROWS", "load", "main", "program"]

COMMANDS: dict[str, tuple[str, str]] = {
    "ask": ("yesno.cli.asking:ask", "Ask a yes/no question about an input."),
    "choose": ("yesno.cli.asking:choose", "Choose one of several options for an input."),
    "rate": ("yesno.cli.asking:rate", "Rate an input on a scale."),
    "filter-tools": (
        "yesno.cli.filtering:filter_tools",
        "Keep the tools that help with what the user asks for.",
    ),
    "route": ("yesno.cli.routing:route", "Choose which route a request should take."),
    "rerank": ("yesno.cli.reranking:rerank", "Order documents by how probably they help to answer a query."),
    "guard": (
        "yesno.cli.guarding:guard",
        "Check what a user wrote, or what a model answered.",
    ),
    "map": ("yesno.cli.mapping:map_rows", "Ask the same questions about every row of a file."),
    "tune": ("yesno.cli.tuning:tune_rows", "Find the template that a model answers a question best with."),
    "demo": ("yesno.cli.demo:demo", "Ask a model twelve questions, filter tools, route a request."),
    "doctor": ("yesno.cli.doctor:doctor", "Check how a model's host behaves, and what to do about it."),
    "serve": (
        "yesno.cli.serving:serve",
        "Serve models over the two decision protocols.",
    ),
    "calls check": (
        "yesno.cli.calls:check_calls",
        "Say which calls of a reply would run, which wait, and why.",
    ),
    "calls approve": (
        "yesno.cli.approving:approve_calls",
        "Show the calls that wait, and ask about each.",
    ),
    "bench run": (
        "yesno.cli.benching:bench",
        "Compare models, template sets and strategies on labelled items.",
    ),
    "bench compare": (
        "yesno.cli.gating:compare_runs",
        "Compare two runs; exit with 1 when the second is worse.",
    ),
    "bench import": (
        "yesno.cli.gating:import_run",
        "Make a run of rows from elsewhere, and report it.",
    ),
    "bench report": ("yesno.cli.benching:report_runs", "Write the report of runs anew, of several together."),
    "calibrate": (
        "yesno.cli.calibrating:calibrate",
        "Fit calibration cards to labelled rows, or to a run.",
    ),
    "keys add": ("yesno.cli.keys:add", "Make a key and print it, once; the file keeps its hash alone."),
    "keys list": ("yesno.cli.keys:list_keys", "List the names of the keys and the days they were made."),
    "keys revoke": ("yesno.cli.keys:revoke", "Take a key away; a running server refuses it after SIGHUP."),
    "models list": ("yesno.cli.models:list_models", "List the models of the catalogue and which are here."),
    "models pull": ("yesno.cli.models:pull_model", "Fetch a model; an interrupted download goes on."),
}
"""Name, or group and name -> `module:function` and the first line of its docstring, in the order of the help.

A command is one file and one line here; see `yesno.cli.options`. Only the command that is called is imported."""

GROUPS = {
    "bench": "Compare models on labelled items; `yesno bench SET…` is short for `yesno bench run SET…`.",
    "calls": "Check and approve the calls of tools that a model asks for.",
    "keys": "Make and revoke the keys of a server.",
    "models": "List and fetch models that run on this computer.",
}
"""Name of a group of commands -> its help."""

SHORT = {"bench": "run"}
"""Group -> the command that is meant when none of its commands is named."""

WRITES_ROWS = {"map"}
"""Commands whose standard output is data, line by line."""


def load(name: str) -> Callable[..., int]:
    """Return the function of a command."""
    module, _, attribute = COMMANDS[name][0].partition(":")
    command: Callable[..., int] = getattr(import_module(module), attribute)
    return command


def program(words: Sequence[str]) -> typer.Typer:
    """Return the program for what was typed: the command that is called, and the names of the others."""
    settings = {"help_option_names": ["-h", "--help"]}
    made = typer.Typer(
        name="yesno",
        help="Ask an LLM typed questions and get probabilities you can threshold.",
        epilog=EXIT_CODES,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        add_completion=False,
        context_settings=settings,
    )
    groups = {
        name: typer.Typer(help=text, no_args_is_help=True, rich_markup_mode=None)
        for name, text in GROUPS.items()
    }
    for name, (_, line) in COMMANDS.items():
        group, _, short = name.rpartition(" ")
        place = groups[group] if group else made
        if [*words[: len(name.split())]] == name.split():
            place.command(short)(prepared(load(name)))
        else:
            place.command(short, help=line)(_only_named)
    for name, group_app in groups.items():
        made.add_typer(group_app, name=name)
    return made


def _only_named() -> None:
    """Stand for a command that is not called."""


def main(arguments: list[str] | None = None) -> None:
    """Run the program; an error becomes one line on standard error and an exit code.

    With `--json`, an error that leaves no outcome is one JSON object on standard output too, except where that
    holds rows.
    """
    given = _whole(sys.argv[1:] if arguments is None else arguments)
    if any(word == "--version" for word in given[:1]):
        from yesno import __version__

        print(f"yesno {__version__}")
        sys.exit(0)
    try:
        program(given)(args=given, prog_name="yesno")
    except Exception as error:
        if "--debug" in given:
            raise
        as_json = "--json" in given and given[0] not in WRITES_ROWS
        if as_json and isinstance(error, YesnoError) and not isinstance(error, NoAnswer):
            from yesno.cli.views import error_document

            print(json.dumps(error_document(error), ensure_ascii=False))
        print(f"yesno: {_told(error)}", file=sys.stderr)
        sys.exit(exit_code(error))


def _whole(words: list[str]) -> list[str]:
    """Return what was typed, with the command that a group means when none of its commands is named."""
    if len(words) < 2 or words[0] not in SHORT:
        return words
    known = [name.split()[1] for name in COMMANDS if name.startswith(f"{words[0]} ")]
    return words if words[1] in (*known, "-h", "--help") else [words[0], SHORT[words[0]], *words[1:]]


def _told(error: Exception) -> str:
    if isinstance(error, YesnoError):
        return in_options(str(error))
    return f"unexpected {type(error).__name__}; run again with --debug to see where"
