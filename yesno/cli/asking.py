"""The commands `ask`, `choose` and `rate`."""

from __future__ import annotations

import json
import time
from typing import Any

from yesno.cli.session import NO, OK, Connection
from yesno.cli.views import bounds_text, document, mass_text
from yesno.errors import QuestionError
from yesno.messages import InputLike
from yesno.questions import ChoiceAnswer, Outcome, Question, Refusal, ScaleAnswer, Undecided, YesNoAnswer
from yesno.questions.base import checked_threshold
from yesno.response import DecisionResponse, no_answer_error

__all__ = ["ask_once", "parse_option"]

NAME = "answer"


def ask_once(
    connection: Connection,
    question: Question[Any],
    given: InputLike,
    *,
    as_json: bool,
    check: float | None = None,
) -> int:
    """Ask one question, print the outcome and return the exit code."""
    threshold = None if check is None else checked_threshold(check)
    with connection.open() as model:
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


def _show(question: Question[Any], response: DecisionResponse, outcome: Outcome, seconds: float) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    for column in ("label", "share", "bar"):
        table.add_column(column, justify="right" if column == "share" else "left", no_wrap=column != "label")
    for label, share, best in _rows(question, outcome):
        style = "bold" if best else "none"
        table.add_row(f"[{style}]{escape(label)}[/]", f"[{style}]{share:.3f}[/]", "█" * round(30 * share))
    console = Console(highlight=False)
    console.print(table)
    details = [f"label mass {mass_text(outcome)}", f"{seconds:.2f} s", response.model or "unknown model"]
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
