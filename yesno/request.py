"""What is asked: an input, named questions, parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from yesno._frozen import FrozenDict
from yesno.errors import QuestionError
from yesno.messages import Input, InputLike, freeze_input
from yesno.questions import Question

__all__ = ["DecisionRequest", "Parameters", "Questions"]

Questions: TypeAlias = Mapping[str, Question[Any]] | Iterable[tuple[str, Question[Any]]]


@dataclass(frozen=True, slots=True)
class Parameters:
    """Settings of one request; None leaves the model's default."""

    model_name: str | None = None
    timeout_s: float | None = None
    """Seconds that the whole decision may take, retries included."""

    def overridden_by(self, other: Parameters | None) -> Parameters:
        """Return these parameters with every one that `other` sets in place of ours."""
        if other is None:
            return self
        # field by field, for this is on the way of every decision
        name = self.model_name if other.model_name is None else other.model_name
        timeout_s = self.timeout_s if other.timeout_s is None else other.timeout_s
        if name is self.model_name and timeout_s is self.timeout_s:
            return self
        return Parameters(name, timeout_s)


@dataclass(frozen=True, slots=True, init=False)
class DecisionRequest:
    """An input and the questions about it, copied deeply so that nothing changes it afterwards.

    Args:
        input: A text, a mapping of plain values, or a list of messages.
        questions: Name -> question, or pairs of them, in the order to ask.
        parameters: Settings of this request.

    Raises:
        QuestionError: The input is missing or of another type, there is no question, or a name is blank
            or given twice.
    """

    input: Input = field(repr=False)
    questions: Mapping[str, Question[Any]]
    parameters: Parameters

    def __init__(self, input: InputLike, questions: Questions, parameters: Parameters = Parameters()) -> None:
        object.__setattr__(self, "input", freeze_input(input))
        object.__setattr__(self, "questions", _checked_questions(questions))
        object.__setattr__(self, "parameters", parameters)

    def with_question(self, name: str, question: Question[Any]) -> DecisionRequest:
        """Return a copy that asks one more question."""
        return self.with_questions([*self.questions.items(), (name, question)])

    def with_questions(self, questions: Questions) -> DecisionRequest:
        """Return a copy that asks these questions in place of the earlier ones."""
        return DecisionRequest(self.input, questions, self.parameters)

    def with_parameters(self, parameters: Parameters) -> DecisionRequest:
        """Return a copy with these parameters."""
        made = object.__new__(DecisionRequest)  # input and questions are checked and frozen already
        object.__setattr__(made, "input", self.input)
        object.__setattr__(made, "questions", self.questions)
        object.__setattr__(made, "parameters", parameters)
        return made


def _items(questions: Any) -> Iterable[Any]:  # noqa: ANN401 - user input
    return questions.items() if isinstance(questions, Mapping) else questions


def _checked_questions(questions: Any) -> FrozenDict[str, Question[Any]]:  # noqa: ANN401 - user input
    try:
        pairs = [(name, question) for name, question in _items(questions)]
    except (TypeError, ValueError):
        raise QuestionError(
            f"`questions` must be a mapping of names to questions, or pairs of them, not {questions!r}"
        ) from None
    if not pairs:
        raise QuestionError("there is no question; give at least one")
    seen: dict[str, Question[Any]] = {}
    for name, question in pairs:
        if not isinstance(name, str) or not name.strip():
            raise QuestionError(f"a question's name must be a text that is not blank, not {name!r}")
        if name in seen:
            raise QuestionError(f"the question name {name!r} is used twice; rename one")
        if not isinstance(question, Question):
            raise QuestionError(
                f"question {name!r} must be a YesNo, Choice or Scale, not {type(question).__name__}"
            )
        seen[name] = question
    return FrozenDict(seen)
