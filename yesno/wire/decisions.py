"""What the decision protocols have in common: limits, names, texts and worked examples."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from yesno.errors import QuestionError
from yesno.messages import Input, Message, freeze_input
from yesno.messages.plain import thawed
from yesno.questions import Choice, Scale, YesNo, shares_of
from yesno.questions.choice import folded
from yesno.request import DecisionRequest

__all__ = [
    "WHICH_LEVEL",
    "WHICH_OPTION",
    "Asked",
    "BuiltIn",
    "Limits",
    "Where",
    "asked_of",
    "checked_count",
    "checked_limits",
    "checked_size",
    "examples_of",
    "json_text",
    "marks_of",
    "misshaped",
    "named",
    "optioned",
    "path_of",
    "placed",
    "plain",
    "typed_key",
    "whole_shares_of",
]

BuiltIn: TypeAlias = YesNo | Choice | Scale
WHICH_OPTION = "Which option fits?"
WHICH_LEVEL = "Which level fits?"
"""What is asked where a request leaves that to its options or levels: clients send no instructions then
(@ai-sdk/openai 4.0.118), or empty ones (pydantic-ai-slim 2.68.0; 2026-11)."""
Where: TypeAlias = tuple[str | int, ...]
"""The path to a value in a body, such as `("questions", 0, "choices")`."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a decision endpoint takes in one request; None where no limit is known."""

    questions: int | None = None
    options: int = 255
    levels: int = 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A request with what its questions, options and levels are called on the wire."""

    request: DecisionRequest
    names: tuple[str | None, ...]
    """Names on the wire, in question order; they may be missing or equal."""
    offered: Mapping[str, tuple[Any, ...]]
    """Question name -> values of its options (the way out at the end) or levels, in order, as they are sent."""


@contextmanager
def placed(where: Where, field: str) -> Iterator[None]:
    """Say where a question is that cannot be built.

    Args:
        where: The path of the question.
        field: The field of it that is at fault.
    """
    try:
        yield
    except QuestionError as error:
        raise QuestionError(f"`{path_of(where)}`: {error}", where=(*where, field)) from error


def asked_of(request: DecisionRequest) -> Asked:
    """Return a request of ours under its own names."""
    offered: dict[str, tuple[Any, ...]] = {}
    for name, question in request.questions.items():
        match question:
            case Choice():
                offered[name] = tuple(question.options) + (() if question.none is None else (question.none,))
            case Scale():
                offered[name] = question.levels
    return Asked(request, tuple(request.questions), offered)


ROUNDING = 1e-3
"""Shares that sum to 1 but for so much are a whole distribution that was rounded."""
EXACT = 1e-9
"""Strict clients take a sum that is off by 1e-6 (pydantic-ai 2.68.0; 2026-11)."""


def typed_key(value: Any) -> tuple[bool, str | bool] | None:  # noqa: ANN401 - JSON
    """Return a key under which the text "true" and the boolean differ; None for other types."""
    return (type(value) is bool, value) if isinstance(value, str | bool) else None


def whole_shares_of(question: Any, outcome: Any) -> list[float] | None:  # noqa: ANN401 - any question and outcome
    """Return the shares of what was offered, in order; None without a whole distribution.

    Nothing is made up: an answer that lacks a share is none that a protocol with distributions can carry.
    """
    shares = shares_of(question, outcome)
    total = math.fsum(shares or ())
    if shares is None or abs(total - 1) > ROUNDING:
        return None
    return [*shares] if abs(total - 1) < EXACT else [share / total for share in shares]


def marks_of(answer: Any) -> dict[str, Any]:  # noqa: ANN401 - any answer
    """Return what an answer says of itself, as fields that no protocol has: how it was read, and how sure that is.

    `x_low` and `x_high` bound the answer's number: the probability of yes or of the option chosen, or the score.
    """
    marks = {
        "x_method": answer.method,
        "x_label_mass": answer.label_mass,
        "x_low": answer.low,
        "x_high": answer.high,
        "x_calibrated": answer.calibrated if answer.method is not None else None,
    }
    return {name: value for name, value in marks.items() if value is not None}


def path_of(where: Where) -> str:
    """Return a path as `questions[0].choices`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in where)
    return "".join(steps).removeprefix(".")


def misshaped(where: Where, words: str) -> QuestionError:
    """Return the error for a value of a body, which begins with its path."""
    return QuestionError(f"`{path_of(where)}` {words}", where=where)


def checked_limits(request: DecisionRequest, limits: Limits, place: str) -> None:
    """Refuse what an endpoint would refuse, before anything is sent.

    Raises:
        QuestionError: There are too many questions, options or levels, or a question is of another type.
    """
    checked_count(len(request.questions), limits, place)
    for name, question in request.questions.items():
        checked_size(name, question, limits, place)


def checked_count(count: int, limits: Limits, place: str) -> None:
    """Refuse too many questions.

    Raises:
        QuestionError: There are.
    """
    if limits.questions is not None and count > limits.questions:
        raise QuestionError(
            f"{place} takes at most {limits.questions} questions in one request, not {count}; ask in parts",
            where=("questions",),
        )


def checked_size(name: str, question: Any, limits: Limits, place: str) -> None:  # noqa: ANN401 - any type
    """Refuse a question that is too large for an endpoint, or of a type that no endpoint answers.

    Raises:
        QuestionError: It is.
    """
    match question:
        case YesNo():
            return
        case Choice():
            size, most, what = len(question.options), limits.options, "options"
            size += question.none is not None
        case Scale():
            size, most, what = len(question.levels), limits.levels, "levels"
        case _:
            raise QuestionError(
                f"question {name!r} is a {type(question).__name__}; {place} answers YesNo, Choice and Scale"
            )
    if size > most:
        way_out = ", the way out included" if isinstance(question, Choice) and question.none else ""
        raise QuestionError(f"question {name!r} has {size} {what}{way_out}; {place} takes at most {most}")


def json_text(value: Any) -> str:  # noqa: ANN401 - plain JSON values
    """Return a text as it is, and any other value as JSON, the same every time."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def plain(value: Input) -> Any:  # noqa: ANN401 - plain JSON values
    """Return an input as the JSON value it is: a text, an object, or a list of messages."""
    if isinstance(value, tuple) and value and isinstance(value[0], Message):
        return [_plain_message(message) for message in value]
    return thawed(value)


def _plain_message(message: Message) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.name is not None:
        fields["name"] = message.name
    if message.tool_calls:
        fields["tool_calls"] = [
            {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        fields["tool_call_id"] = message.tool_call_id
    return fields


def examples_of(question: BuiltIn) -> str:
    """Return worked examples as lines to append to the instructions; no protocol has a field for them."""
    lines = []
    for given, answer in question.examples:
        said = ("yes" if answer else "no") if isinstance(question, YesNo) else answer
        lines.append(f"Input: {json_text(plain(freeze_input(given)))}\nAnswer: {said}")
    return "\n\n".join(["\n\nExamples:", *lines]) if lines else ""


def named(names: Iterable[str | None]) -> list[str]:
    """Return names that a request can hold: those given, and numbered ones for missing, blank and equal ones."""
    taken: set[str] = set()
    chosen = []
    for number, name in enumerate(names, start=1):
        own = name if name is not None and name.strip() and name not in taken else f"question {number}"
        while own in taken:
            own += "'"
        taken.add(own)
        chosen.append(own)
    return chosen


def optioned(values: Sequence[tuple[Any, str | None]]) -> list[tuple[str, str]]:
    """Return pairs of option and description for values and descriptions, each in its place.

    Values that a `Choice` cannot hold or tell apart (blank, or equal once case and space are folded, as the text
    "true" beside the boolean) get a numbered name, and the value moves into the description.
    """
    taken: set[str] = set()
    pairs = []
    for number, (value, description) in enumerate(values, start=1):
        shown = json_text(value)
        told = description if description and description.strip() else None
        if not folded(shown) or folded(shown) in taken:
            quoted = json.dumps(value, ensure_ascii=False)
            told = quoted if told is None else f"{quoted}: {told}"
            shown = f"option {number}"
            while folded(shown) in taken:
                shown += "'"
        taken.add(folded(shown))
        pairs.append((shown, told or shown))
    return pairs
