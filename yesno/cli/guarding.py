"""The command `guard`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from yesno.cli.layers import Done, conversation, printed, read_table, run_flow
from yesno.cli.options import Connection, File, Given, Json
from yesno.cli.session import NO, OK, read_text
from yesno.cli.values import number, word
from yesno.cli.views import outcome_document, screen
from yesno.errors import QuestionError
from yesno.filters import Check, Guardrails, Verdict
from yesno.questions import YesNo

__all__ = ["check_of", "checks_in", "guard", "verdict_document"]

_OWN = ("question", "yes_when", "no_when", "examples")
_LIMITS = ("threshold", "review")
_COLOURS = {"pass": "green", "review": "yellow", "block": "red"}


def guard(
    input: Given = None,
    check: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=QUESTION]",
            help="A ready check, or one of your own whose yes means reject; repeat it.",
        ),
    ] = None,
    checks: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML or JSON file with a table per check.")
    ] = None,
    side: Annotated[
        str,
        typer.Option(
            metavar="input|output",
            parser=word("input", "output"),
            help="Whether a user wrote the text, or a model answered it.",
        ),
    ] = "input",
    user: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the user wrote, of an output.")
    ] = None,
    source: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Text that an output must rest on; repeat it."),
    ] = None,
    threshold: Annotated[
        float,
        typer.Option(metavar="SHARE", parser=number, help="Block from this probability of rejection on."),
    ] = 0.5,
    review: Annotated[
        float | None, typer.Option(metavar="SHARE", parser=number, help="Want a review from this one on.")
    ] = None,
    file: File = None,
    *,
    connection: Connection,
    as_json: Json = False,
) -> int:
    """Check what a user wrote, or what a model answered.

    The exit code is 1 when a check blocks. A check that is refused or undecided is never a pass.
    """
    if side == "input" and (user is not None or source):
        raise QuestionError("--user and --source belong to an output; add --side output")
    found = [check_of(text) for text in check or ()] + ([] if checks is None else _checks_of(checks))
    if not found:
        raise QuestionError("there is no check; give --check NAME, or a file with --checks")
    guardrails = Guardrails(found, threshold=threshold, review=review)
    given = conversation(input, file)
    if side == "input":
        flow = guardrails.judge_input(given)
    else:
        texts = [read_text(one) for one in source or ()]
        flow = guardrails.judge_output(given, user=user, sources=texts or None)
    done = run_flow(connection, flow, as_json=as_json)
    if as_json:
        printed({**verdict_document(done.result), **done.document()})
    else:
        _show(done)
    return NO if done.result.blocked else OK


def check_of(text: str) -> Check:
    """Return the check that `name` or `name=question` stands for.

    Raises:
        QuestionError: There is no ready check of this name, it needs a variable, or the question is blank.
    """
    name, sign, question = text.partition("=")
    return Check(name.strip(), question.strip() if sign else None)


def checks_in(table: Mapping[str, Any]) -> list[Check]:
    """Return the checks that a document describes, in its order.

    Each is a table under its name: with a `question`, and perhaps `yes_when`, `no_when` and `examples`, one of your
    own; without, a ready one and its variables, such as `topic`. Both may have a `threshold` and a `review`.

    Raises:
        QuestionError: One has another form, or cannot be asked; the message names it.
        ConfigError: A threshold is no probability.
    """
    return [_check(name, fields) for name, fields in table.items()]


def _check(name: str, fields: Any) -> Check:  # noqa: ANN401 - parsed TOML or JSON
    if not isinstance(fields, Mapping):
        raise QuestionError(f"check {name!r} must be a table, not {type(fields).__name__}")
    limits = {key: fields[key] for key in _LIMITS if key in fields}
    rest = {key: value for key, value in fields.items() if key not in limits}
    if "question" not in rest:
        return Check(name, **limits, **rest)
    for key in rest:
        if key not in _OWN:
            close = difflib.get_close_matches(key, [*_OWN, *_LIMITS], n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join([*_OWN, *_LIMITS])}"
            raise QuestionError(f"check {name!r} has an unknown key {key!r}; {hint}")
    try:
        return Check(name, YesNo(rest.pop("question"), **rest), **limits)
    except QuestionError as error:
        raise QuestionError(f"check {name!r}: {error}") from error
    except TypeError:
        raise QuestionError(f"check {name!r} has a value of the wrong type") from None


def _checks_of(file: Path) -> list[Check]:
    try:
        return checks_in(read_table(file))
    except QuestionError as error:
        raise QuestionError(f"{str(file)!r}: {error}") from error


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as plain JSON values."""
    return {
        "type": "verdict",
        "band": verdict.band,
        "message": verdict.message,
        "checks": [
            {
                "name": result.name,
                "band": result.band,
                "probability": result.probability,
                "block": result.block,
                "review": result.review,
                "answer": outcome_document(result.answer),
            }
            for result in verdict.checks
        ],
    }


def _show(done: Done[Verdict]) -> None:
    from rich.markup import escape
    from rich.table import Table

    console, verdict = screen(), done.result
    table = Table(box=None, show_header=False, pad_edge=False)
    for justify in ("left", "left", "right", "left"):
        table.add_column(justify=justify, overflow="fold")
    for result in verdict.checks:
        limits = [f"blocks from {result.block:g}"]
        limits += [] if result.review is None else [f"review from {result.review:g}"]
        band = f"[{_COLOURS[result.band]}]{result.band}[/]"
        table.add_row(band, escape(result.name), f"{result.probability:.3f}", f"[dim]{', '.join(limits)}[/]")
    if verdict.checks:
        console.print(table)
    told = verdict.message or ("there is no text to check" if not verdict.checks else None)
    if told is not None:
        console.print(told, markup=False)
    console.print(f"[dim]{escape(done.text())}[/]")
