"""Labelled items: an input, a question, and the answer that people gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, assert_never

from yesno.errors import ConfigError
from yesno.messages import Input
from yesno.questions import Choice, Scale, YesNo

__all__ = ["Asked", "Item", "Kind", "answer_of", "kind_of", "label_index", "options_of"]

Kind: TypeAlias = Literal["yes_no", "choice", "scale"]
"""A type of question, as rows and cards call it."""
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


def label_index(label: Any, options: Sequence[str], *, scale: bool = False) -> int:  # noqa: ANN401
    """Return the index of a label among the options.

    Args:
        label: Name of an option; True or False for yes or no; the number of a level, from 0, on a scale.
        options: The names.
        scale: Whether they are levels.

    Raises:
        ConfigError: There is no label, or it is none of the options.
    """
    if label is None:
        raise ConfigError("it has no `label`")
    if isinstance(label, bool) and tuple(options) == ("yes", "no"):
        return 0 if label else 1
    if isinstance(label, str) and label in options:
        return list(options).index(label)
    if scale and type(label) is int and 0 <= label < len(options):
        return label
    shown = [*map(repr, options[:12]), *(["…"] if len(options) > 12 else [])]
    raise ConfigError(f"`label` is {label!r}, and the options are {', '.join(shown)}")


def answer_of(item: Item) -> str:
    """Return the name of an item's right answer."""
    return options_of(item.question)[item.label]
