"""What the commands that read labelled items have in common: which items, and what is asked of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from yesno.cli.asking import parse_option
from yesno.cli.values import number
from yesno.errors import QuestionError
from yesno.questions import Choice, Scale, YesNo

if TYPE_CHECKING:
    from yesno.labelled import Asked, LabelledSet

__all__ = ["BudgetUsd", "QuestionText", "Split", "question_from", "set_from"]

QuestionText = Annotated[
    str | None, typer.Option("--question", metavar="TEXT", help="What to ask of rows without a question.")
]
Split = Annotated[str | None, typer.Option("--split", metavar="NAME", help="Only the items of this split.")]
BudgetUsd = Annotated[
    float | None,
    typer.Option("--budget", metavar="DOLLARS", parser=number, help="Stop before more is spent."),
]


def set_from(text: str, *, question: Asked | None = None, split: str | None = None) -> LabelledSet:
    """Read the set that `FILE` or `NAME=FILE` names.

    Raises:
        ConfigError: It cannot be read.
    """
    from yesno.labelled import load_set

    name, equals, file = text.partition("=")
    if not equals or Path(text).exists():
        name, file = "", text
    return load_set(file, name=name or None, question=question, split=split)


def question_from(
    question: str | None,
    option: list[str] | None,
    none: str | None,
    level: list[str] | None,
    yes_when: str | None,
    no_when: str | None,
) -> Asked | None:
    """Return the question that the options ask of rows without one; None when they ask none.

    Raises:
        QuestionError: An option has no question, or there are both options and levels.
    """
    if question is None:
        if option or none or level or yes_when or no_when:
            raise QuestionError("--option, --none, --level, --yes-when and --no-when belong to a --question")
        return None
    if option and level:
        raise QuestionError("give either --option or --level, not both")
    if option:
        return Choice(question, [parse_option(text) for text in option], none=none)
    return Scale(question, level) if level else YesNo(question, yes_when=yes_when, no_when=no_when)
