"""Labelled items: an input, a question, and the answer that people gave."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from yesno.bench.rows import Kind
from yesno.messages import Input
from yesno.questions import Choice, Scale, YesNo

__all__ = ["Asked", "Item", "kind_of", "options_of"]

Asked: TypeAlias = YesNo | Choice | Scale
"""The questions that a label can be read for."""


@dataclass(frozen=True, slots=True)
class Item:
    """One labelled item."""

    id: str
    input: Input = field(repr=False)
    question: Asked = field(repr=False)
    label: int
    """Index of the right answer among `options_of(question)`."""
    group: str
    """Items of one group stay together when they are split or resampled; its own id when it belongs to none."""
    shares: tuple[float, ...] | None = None
    """Share (0..1) of the people who labelled it that gave each option; sums to 1."""
    split: str | None = None
    """Name of the part of the set that it belongs to, such as `heldout`."""
    row: int = 0
    """Number of its row in the file, from 1."""


def options_of(question: Asked) -> tuple[str, ...]:
    """Return the names of what can be answered, in the order of `Row.probabilities`.

    `("yes", "no")`; the options of a `Choice` and behind them its way out; the levels of a `Scale` from the lowest.
    """
    match question:
        case YesNo():
            return ("yes", "no")
        case Choice():
            return (*question.options, *([] if question.none is None else [question.none]))
        case Scale():
            return question.levels
        case _:
            assert_never(question)


def kind_of(question: Asked) -> Kind:
    """Return the type of a question as rows call it."""
    match question:
        case YesNo():
            return "yes_no"
        case Choice():
            return "choice"
        case Scale():
            return "scale"
        case _:
            assert_never(question)
