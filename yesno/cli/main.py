"""The program `yesno`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from yesno.cli.session import EXIT_CODES, PROVIDER, USAGE, Connection, exit_code, read_input
from yesno.errors import YesnoError

__all__ = ["app", "main"]

app = typer.Typer(
    name="yesno",
    help="Ask an LLM typed questions and get probabilities you can threshold.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
models_app = typer.Typer(
    help="List and fetch models that run on this computer.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(models_app, name="models")

Question = Annotated[str, typer.Argument(metavar="QUESTION", help="The question, in plain words.")]
Given = Annotated[
    str | None,
    typer.Argument(metavar="INPUT", help="What it is about; '-' or nothing reads standard input."),
]
File = Annotated[
    Path | None,
    typer.Option("--file", "-f", help="Read the input from a file; .json holds fields or messages."),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help="provider:model, such as openai:gpt-5.4-mini. [default: YESNO_MODEL, else local]",
    ),
]
BaseUrl = Annotated[str | None, typer.Option("--base-url", help="Address of an OpenAI-compatible server.")]
Template = Annotated[str | None, typer.Option("--template", help="Template set, or a folder of your own.")]
Timeout = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", help="Longest time for the decision.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


@app.command()
def ask(
    question: Question,
    input: Given = None,
    file: File = None,
    yes_when: Annotated[str | None, typer.Option(help="When the answer is yes.")] = None,
    no_when: Annotated[str | None, typer.Option(help="When the answer is no.")] = None,
    check: Annotated[
        float | None, typer.Option(metavar="THRESHOLD", help="Exit with 1 when P(yes) is below it.")
    ] = None,
    model: Model = None,
    base_url: BaseUrl = None,
    template: Template = None,
    timeout: Timeout = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Ask a yes/no question about an input."""
    from yesno.cli.asking import ask_once
    from yesno.questions import YesNo

    asked = YesNo(question, yes_when=yes_when, no_when=no_when)
    connection = Connection(model, base_url, template, timeout)
    raise typer.Exit(ask_once(connection, asked, read_input(input, file), as_json=as_json, check=check))


@app.command()
def choose(
    question: Question,
    input: Given = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", metavar="NAME[=DESCRIPTION]", help="One option; repeat it."),
    ] = None,
    none: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Offer a way out, such as 'none of these'.")
    ] = None,
    file: File = None,
    model: Model = None,
    base_url: BaseUrl = None,
    template: Template = None,
    timeout: Timeout = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Choose one of several options for an input."""
    from yesno.cli.asking import ask_once, parse_option
    from yesno.questions import Choice

    asked = Choice(question, [parse_option(text) for text in option or ()], none=none)
    connection = Connection(model, base_url, template, timeout)
    raise typer.Exit(ask_once(connection, asked, read_input(input, file), as_json=as_json))


@app.command()
def rate(
    question: Question,
    input: Given = None,
    level: Annotated[
        list[str] | None,
        typer.Option("--level", "-l", metavar="NAME", help="One level, lowest first; repeat it."),
    ] = None,
    file: File = None,
    model: Model = None,
    base_url: BaseUrl = None,
    template: Template = None,
    timeout: Timeout = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Rate an input on a scale."""
    from yesno.cli.asking import ask_once
    from yesno.questions import Scale

    asked = Scale(question, level or ())
    connection = Connection(model, base_url, template, timeout)
    raise typer.Exit(ask_once(connection, asked, read_input(input, file), as_json=as_json))


@app.command()
def demo(
    model: Model = None,
    base_url: BaseUrl = None,
    template: Template = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Ask a model twelve questions of all types, then filter tools and route a request."""
    from yesno.cli.demo import run_demo

    raise typer.Exit(run_demo(Connection(model or "local", base_url, template), as_json=as_json))


@app.command()
def doctor(
    model: Model = None,
    base_url: BaseUrl = None,
    template: Template = None,
    timeout: Timeout = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Check with about a dozen requests how a model's host behaves, and say what to do about it."""
    from yesno.cli.doctor import run_doctor

    raise typer.Exit(run_doctor(Connection(model, base_url, template, timeout), as_json=as_json))


@models_app.command("list")
def models_list(as_json: Json = False, debug: Debug = False) -> None:
    """List the models of the catalogue and which of them are here."""
    from yesno.cli.models import list_models

    list_models(as_json=as_json)


@models_app.command("pull")
def models_pull(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Such as qwen2.5-coder-1.5b, or hf:OWNER/REPO/FILE.gguf.")
    ],
    accept_licence: Annotated[
        bool, typer.Option(help="You have read and accept the model's licence.")
    ] = False,
    verify: Annotated[
        bool, typer.Option(help="Read a file that is here already and compare its digest.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Fetch a model; an interrupted download goes on where it stopped."""
    from yesno.cli.models import pull_model

    pull_model(name, accept_licence=accept_licence, verify=verify)


def main(arguments: list[str] | None = None) -> None:
    """Run the program; an error becomes one line on standard error and an exit code."""
    given: list[Any] = sys.argv[1:] if arguments is None else arguments
    if any(word == "--version" for word in given[:1]):
        from yesno import __version__

        print(f"yesno {__version__}")
        sys.exit(0)
    try:
        app(args=given, prog_name="yesno")
    except YesnoError as error:
        if "--debug" in given:
            raise
        print(f"yesno: {error}", file=sys.stderr)
        sys.exit(exit_code(error))
    except KeyboardInterrupt:
        print("yesno: interrupted", file=sys.stderr)
        sys.exit(130)
    except Exception as error:
        if "--debug" in given:
            raise
        print(
            f"yesno: unexpected {type(error).__name__}; run again with --debug to see where", file=sys.stderr
        )
        sys.exit(PROVIDER if isinstance(error, OSError) else USAGE)
