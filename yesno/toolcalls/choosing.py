"""Read from the answers of a decision model which tools it would call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from yesno.errors import SelectionError
from yesno.questions import ChoiceAnswer, Outcome, Refusal, Undecided, YesNoAnswer
from yesno.response import no_answer_error
from yesno.toolcalls.selection import Mode, SelectedCall, Why
from yesno.toolcalls.sets import ToolSet

__all__ = ["Judged", "call_of", "read_choice", "read_each"]


@dataclass(frozen=True, slots=True)
class Judged:
    """What the questions brought, before any arguments are written."""

    tools: ToolSet
    task: str
    context: str | None
    mode: Mode
    answers: Mapping[str, YesNoAnswer | ChoiceAnswer]
    probabilities: Mapping[str, float]
    none_probability: float | None
    unanswered: Mapping[str, Why]
    outcomes: Sequence[Outcome]


def read_choice(outcomes: Sequence[Outcome], tools: ToolSet, task: str, context: str | None) -> Judged:
    """Return what the one outcome of a choice among all tools says.

    Raises:
        NoAnswer: It is no answer.
        SelectionError: It has no probabilities.
    """
    (outcome,) = outcomes
    if isinstance(outcome, Refusal | Undecided):
        raise no_answer_error(outcome)
    answer = cast("ChoiceAnswer", outcome)
    if not answer.probabilities:
        raise SelectionError(
            "the model chose a tool without any probabilities, so no threshold can be applied; "
            "use mode='each', or another model"
        )
    known = {name: answer.probabilities[name] for name in tools.names if name in answer.probabilities}
    return Judged(
        tools,
        task,
        context,
        "choice",
        dict.fromkeys(tools.names, answer),
        known,
        answer.none_probability,
        {name: "undecided" for name in tools.names if name not in known},
        outcomes,
    )


def read_each(outcomes: Sequence[Outcome], tools: ToolSet, task: str, context: str | None) -> Judged:
    """Return what one outcome per tool says.

    Raises:
        NoAnswer: None of them is an answer.
    """
    answers: dict[str, YesNoAnswer] = {}
    unanswered: dict[str, Why] = {}
    for name, outcome in zip(tools.names, outcomes, strict=True):
        if isinstance(outcome, Refusal | Undecided):
            unanswered[name] = "refused" if isinstance(outcome, Refusal) else "undecided"
        else:
            answers[name] = cast("YesNoAnswer", outcome)
    if outcomes and not answers:
        raise no_answer_error(cast("Refusal | Undecided", outcomes[0]))
    probabilities = {name: answer.probability for name, answer in answers.items()}
    return Judged(tools, task, context, "each", answers, probabilities, None, unanswered, outcomes)


def call_of(judged: Judged, name: str, arguments: str) -> SelectedCall:
    """Return the call of a tool that was chosen, with these arguments."""
    answer, p = judged.answers[name], judged.probabilities[name]
    rivals = [other for key, other in judged.probabilities.items() if key != name]
    best = max([*rivals, judged.none_probability or 0.0])
    return SelectedCall(
        name, arguments, p, p - best, answer.label_mass, answer.method, answer.stated_confidence
    )
