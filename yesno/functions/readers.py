"""From a type to the question that it asks, and from the answer back to a value of the type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, get_args, get_origin

from yesno._frozen import FrozenDict
from yesno.errors import QuestionError
from yesno.functions.hints import peeled, shown
from yesno.functions.marks import Asks
from yesno.functions.options import Options, is_options, options_of
from yesno.questions import Answer, Choice, ChoiceAnswer, Question, Scale, ScaleAnswer, YesNo, YesNoAnswer
from yesno.questions.base import checked_text, checked_threshold

__all__ = ["SUPPORTED", "Reader", "check_asks", "is_leaf", "reader_of"]

SUPPORTED = "bool, YesNoAnswer, an Enum, Literal[…], ChoiceAnswer[…] or ScaleAnswer[…]"


@dataclass(frozen=True, slots=True)
class Reader:
    """One question and how its answer is read."""

    question: Question[Any]
    kind: type[Answer]
    full: Callable[[Any], Any]
    """From the answer as the model gave it to one in terms of the type."""
    value: Callable[[Any], Any] | None
    """From that to the value of the type; None for a `bool`, which needs a threshold."""
    threshold: float | None = None


def is_leaf(hint: Any) -> bool:  # noqa: ANN401 - any hint
    """Return whether one question answers a hint, once what it holds is right."""
    hint, _ = peeled(hint)
    return hint in (bool, YesNoAnswer) or is_options(hint) or _family(hint) is not None


def reader_of(hint: Any, asks: Asks, place: str) -> Reader:  # noqa: ANN401 - any hint
    """Return the reader for a type.

    Args:
        hint: One for which `is_leaf` holds.
        asks: The question.
        place: The function or field, for errors.

    Raises:
        QuestionError: The type names no options, or does not go with what the question says.
    """
    kind, _ = peeled(hint)
    check_asks(asks, place)
    try:
        if kind in (bool, YesNoAnswer):
            return _yes_no(kind, asks)
        return _among(hint, asks)
    except QuestionError as error:
        raise QuestionError(f"{place}: {error}") from error


def check_asks(asks: Asks, place: str) -> None:
    """Refuse a question that no type could make right.

    Raises:
        QuestionError: It is blank, or its threshold is not from 0 to 1.
    """
    try:
        checked_text("question", asks.text)
        if asks.threshold is not None:
            checked_threshold(asks.threshold)
    except QuestionError as error:
        raise QuestionError(f"{place}: {error}") from error


def _yes_no(hint: Any, asks: Asks) -> Reader:  # noqa: ANN401 - any hint
    _refuse(asks, "options", shown(hint))
    question = YesNo(asks.text, yes_when=asks.yes_when, no_when=asks.no_when)
    if hint is bool:
        return Reader(question, YesNoAnswer, _itself, None, asks.threshold)
    _refuse(asks, "threshold", "YesNoAnswer, whose probability you compare yourself")
    return Reader(question, YesNoAnswer, _itself, _itself)


def _among(hint: Any, asks: Asks) -> Reader:  # noqa: ANN401 - any hint
    kind, _ = peeled(hint)
    for name in ("threshold", "yes_when", "no_when"):
        _refuse(asks, name, shown(kind))
    family = _family(kind)
    if family is None:
        return _choosing(hint, asks, attrgetter("value"))
    arguments = get_args(kind)
    if not arguments or not is_options(arguments[0]):
        name = family.__name__
        raise QuestionError(f"{shown(kind)} says no options; write {name}[…] of an Enum or a Literal")
    if family is ChoiceAnswer:
        return _choosing(arguments[0], asks, _itself)
    options = options_of(arguments[0], asks.options)
    levels = tuple(options.values.values())
    return Reader(
        Scale(asks.text, options.levels), ScaleAnswer, lambda answer: replace(answer, levels=levels), _itself
    )


def _choosing(hint: Any, asks: Asks, value: Callable[[Any], Any]) -> Reader:  # noqa: ANN401 - any hint
    options = options_of(hint, asks.options)
    question = Choice(asks.text, options.descriptions)
    return Reader(question, ChoiceAnswer, lambda answer: _typed_choice(answer, options), value)


def _typed_choice(answer: ChoiceAnswer, options: Options) -> ChoiceAnswer[Any]:
    def typed(numbers: Any) -> Any:  # noqa: ANN401 - numbers by option, if any
        return None if numbers is None else FrozenDict({options.values[k]: v for k, v in numbers.items()})

    changes: Any = {
        "value": options.values[answer.value],
        "probabilities": typed(answer.probabilities),
        "options": tuple(options.values.values()),
        "raw": typed(answer.raw),
        "bounds": typed(answer.bounds),
    }
    return replace(answer, **changes)


def _itself(answer: Any) -> Any:  # noqa: ANN401 - any answer
    return answer


def _family(hint: Any) -> type[Answer] | None:  # noqa: ANN401 - any hint
    origin = get_origin(hint) or hint
    return origin if origin in (ChoiceAnswer, ScaleAnswer) else None


def _refuse(asks: Asks, name: str, kind: str) -> None:
    if getattr(asks, name) is not None:
        raise QuestionError(f"`{name}` has no meaning for {kind}; leave it out")
