"""The doorman: does a response fit its request?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from yesno.errors import InvalidResponse
from yesno.questions import (
    Answer,
    Choice,
    ChoiceAnswer,
    Outcome,
    Question,
    Refusal,
    Scale,
    ScaleAnswer,
    Undecided,
    YesNo,
    YesNoAnswer,
)
from yesno.questions.scale import misfit
from yesno.request import DecisionRequest
from yesno.response import DecisionResponse

__all__ = ["validated"]

_EXPECTED: Mapping[type, type[Answer]] = {YesNo: YesNoAnswer, Choice: ChoiceAnswer, Scale: ScaleAnswer}


def validated(request: DecisionRequest, response: DecisionResponse | None, provider: str) -> DecisionResponse:
    """Return the response with the offered options attached to its choices, and levels to its scales.

    A refusal or an undecided outcome fits every question, and answers nobody asked for are kept.

    Raises:
        InvalidResponse: There is no response, a question has no answer, or an answer does not fit.
    """
    if response is None:
        raise InvalidResponse("the provider returned no response", provider=provider)
    answers: dict[str, Outcome] = dict(response.answers)
    changed = False
    for name, question in request.questions.items():
        if name not in answers:
            raise InvalidResponse(f"question {name!r} has no answer", provider=provider)
        outcome = answers[name]
        if isinstance(outcome, Refusal | Undecided):
            continue
        problem = _problem(question, outcome)
        if problem is not None:
            raise InvalidResponse(f"the answer to question {name!r} {problem}", provider=provider)
        if isinstance(question, Choice) and isinstance(outcome, ChoiceAnswer):
            offered = tuple(question.options)
            if outcome.options != offered and (outcome.value in offered or outcome.is_none):
                answers[name] = replace(outcome, options=offered)
                changed = True
        elif (
            isinstance(question, Scale)
            and isinstance(outcome, ScaleAnswer)
            and outcome.levels != question.levels
        ):
            answers[name] = replace(outcome, levels=question.levels)
            changed = True
    return DecisionResponse(answers, metadata=response.metadata) if changed else response


def _problem(question: Question[Answer], answer: Answer) -> str | None:
    expected = _EXPECTED.get(type(question))
    if expected is not None and not isinstance(answer, expected):
        return f"is a {type(answer).__name__}, not a {expected.__name__}"
    if isinstance(question, Choice) and isinstance(answer, ChoiceAnswer):
        return _choice_problem(question, answer)
    if isinstance(question, Scale) and isinstance(answer, ScaleAnswer):
        return misfit(answer, len(question.levels))
    return None


def _choice_problem(question: Choice, answer: ChoiceAnswer) -> str | None:
    offered = list(question.options)
    if answer.value not in question.options and answer.value != question.none:
        return f"is {answer.value!r}, which was not offered; the options are {offered!r}"
    for option in answer.probabilities:
        if option not in question.options:
            return f"has a probability for {option!r}, which was not offered; the options are {offered!r}"
    return None
