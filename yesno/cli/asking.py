"""The commands `ask`, `choose` and `rate`."""

from __future__ import annotations

import json
import time
from typing import Annotated, Any

import typer

from yesno.cli.options import Connection, File, Given, Json, Question
from yesno.cli.progress import working
from yesno.cli.session import NO, OK, read_input
from yesno.cli.values import number
from yesno.cli.views import bounds_text, document, mass_text, method_text, screen
from yesno.errors import QuestionError
from yesno.evidence import Usage
from yesno.messages import InputLike
from yesno.questions import (
    Answer,
    Choice,
    ChoiceAnswer,
    Outcome,
    Refusal,
    Scale,
    ScaleAnswer,
    Undecided,
    YesNo,
    YesNoAnswer,
)
from yesno.questions import Question as AnyQuestion
from yesno.questions.base import checked_threshold
from yesno.response import DecisionResponse, no_answer_error

__all__ = ["Level", "NoWhen", "NoneText", "Option", "YesWhen", "ask", "choose", "parse_option", "rate"]

NAME = "answer"

YesWhen = Annotated[str | None, typer.Option(metavar="TEXT", help="When the answer is yes.")]
NoWhen = Annotated[str | None, typer.Option(metavar="TEXT", help="When the answer is no.")]
Option = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="NAME[=DESCRIPTION]", help="One option; repeat it."),
]
NoneText = Annotated[
    str | None, typer.Option("--none", metavar="TEXT", help="Offer a way out, such as 'none of these'.")
]
Level = Annotated[
    list[str] | None,
    typer.Option("--level", "-l", metavar="NAME", help="One level, lowest first; repeat it."),
]


def ask(
    question: Question,
    input: Given = None,
    file: File = None,
    yes_when: YesWhen = None,
    no_when: NoWhen = None,
    check: Annotated[
        float | None,
        typer.Option(metavar="THRESHOLD", parser=number, help="Exit with 1 when P(yes) is below it."),
    ] = None,
    *,
    connection: Connection,
    as_json: Json = False,
) -> int:
    """Ask a yes/no question about an input."""
    asked = YesNo(question, yes_when=yes_when, no_when=no_when)
    return _ask_once(connection, asked, read_input(input, file), as_json=as_json, check=check)


def choose(
    question: Question,
    input: Given = None,
    option: Option = None,
    none: NoneText = None,
    file: File = None,
    *,
    connection: Connection,
    as_json: Json = False,
) -> int:
    """Choose one of several options for an input."""
    asked = Choice(question, [parse_option(text) for text in option or ()], none=none)
    return _ask_once(connection, asked, read_input(input, file), as_json=as_json)


def rate(
    question: Question,
    input: Given = None,
    level: Level = None,
    file: File = None,
    *,
    connection: Connection,
    as_json: Json = False,
) -> int:
    """Rate an input on a scale."""
    return _ask_once(connection, Scale(question, level or ()), read_input(input, file), as_json=as_json)


def _ask_once(
    connection: Connection,
    question: AnyQuestion[Any],
    given: InputLike,
    *,
    as_json: bool,
    check: float | None = None,
) -> int:
    threshold = None if check is None else checked_threshold(check)
    with working(quiet=as_json), connection.open() as model:
        start = time.perf_counter()
        response: DecisionResponse = model.decide(given, {NAME: question})
        seconds = time.perf_counter() - start
    outcome = response.outcome(NAME)
    if as_json:
        print(json.dumps(document(response, outcome, seconds), ensure_ascii=False, allow_nan=False))
    if isinstance(outcome, Refusal | Undecided):
        raise no_answer_error(outcome)
    if not as_json:
        _show(question, response, outcome, seconds)
    if threshold is not None and isinstance(outcome, YesNoAnswer):
        return OK if outcome.is_yes(threshold) else NO
    return OK


def parse_option(text: str) -> tuple[str, str | None]:
    """Split `name=description`; the description may be left out."""
    name, sign, description = text.partition("=")
    if sign and not description.strip():
        raise QuestionError(f"option {text!r} has an empty description; leave out the = or fill it in")
    return name.strip(), description.strip() or None


def _show(question: AnyQuestion[Any], response: DecisionResponse, outcome: Outcome, seconds: float) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    for column in ("label", "share", "bar"):
        table.add_column(column, justify="right" if column == "share" else "left", no_wrap=column != "label")
    for label, share, best in _rows(question, outcome):
        style = "bold" if best else "none"
        table.add_row(f"[{style}]{escape(label)}[/]", f"[{style}]{share:.3f}[/]", "█" * round(30 * share))
    console = screen()
    console.print(table)
    usage = response.usage or Usage()
    method = method_text(outcome)
    details = [f"label mass {mass_text(outcome)}"] if method is None else [method]
    if isinstance(outcome, YesNoAnswer) and outcome.calibrated and outcome.raw is not None:
        details.insert(0, f"calibrated, yes was read as {outcome.raw:.3f}")
    elif isinstance(outcome, Answer) and outcome.calibrated:
        details.insert(0, "calibrated")
    from_cache = usage.cache_hits and not usage.requests
    details.append("from the cache" if from_cache else f"{seconds:.2f} s")
    details.append(response.model or "unknown model")
    if isinstance(outcome, ScaleAnswer):
        details.insert(0, f"mean level {outcome.mean:.2f} of 0 to {len(outcome.probabilities) - 1}")
    missing = getattr(outcome, "missing", ())
    if missing:
        details.append(f"not listed by the provider: {', '.join(missing)}")
    console.print(f"[dim]bounds {bounds_text(outcome)} · {escape(' · '.join(details))}[/]")


def _rows(question: Any, outcome: Outcome) -> list[tuple[str, float, bool]]:  # noqa: ANN401 - one of three types
    match outcome:
        case YesNoAnswer(probability=p):
            return [("yes", p, p >= 0.5), ("no", 1 - p, p < 0.5)]
        case ChoiceAnswer(value=value, probabilities=shares):
            rows = [(name, share, name == value) for name, share in shares.items()]
            if outcome.none_probability is not None:
                rows.append((question.none, outcome.none_probability, outcome.is_none))
            return rows
        case ScaleAnswer(probabilities=shares):
            best = outcome.level()
            return [
                (level, share, i == best)
                for i, (level, share) in enumerate(zip(question.levels, shares, strict=True))
            ]
        case _:
            return []
