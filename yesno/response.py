"""What came back: an outcome for every question, the model's name and the tokens spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from yesno._frozen import FrozenDict
from yesno.errors import AnswerError, NoAnswer, Refused, UndecidedError
from yesno.evidence import Usage
from yesno.questions import Answer, ChoiceAnswer, Outcome, Refusal, ScaleAnswer, Undecided, YesNoAnswer

__all__ = ["DecisionResponse", "Failure", "Metadata", "no_answer_error"]

A = TypeVar("A", bound=Answer)


@dataclass(frozen=True, slots=True)
class Metadata:
    """Facts about a response as a whole."""

    model: str | None = None
    """The model name that the provider reports, else the one asked for."""
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """One item of `map` that could not be decided because something failed; the others go on."""

    error: Exception


@dataclass(frozen=True, slots=True, init=False)
class DecisionResponse:
    """An outcome for every question, by name.

    Raises:
        AnswerError: There is no answer, a name is blank, or `metadata` comes along with `model` or `usage`.
    """

    answers: Mapping[str, Outcome]
    """Name -> answer, `Refusal` or `Undecided`, in the order asked."""
    metadata: Metadata

    def __init__(
        self,
        answers: Mapping[str, Outcome],
        *,
        metadata: Metadata | None = None,
        model: str | None = None,
        usage: Usage | None = None,
    ) -> None:
        if metadata is not None and (model is not None or usage is not None):
            raise AnswerError("give either `metadata`, or `model` and `usage`, not both")
        if not answers:
            raise AnswerError("a response needs at least one answer")
        for name, outcome in answers.items():
            if not isinstance(name, str) or not name.strip():
                raise AnswerError(f"an answer's name must be a text that is not blank, not {name!r}")
            if not isinstance(outcome, Answer | Refusal | Undecided):
                raise AnswerError(f"answer {name!r} must be an answer, not {type(outcome).__name__}")
        object.__setattr__(self, "answers", FrozenDict(answers))
        object.__setattr__(self, "metadata", Metadata(model, usage) if metadata is None else metadata)

    @property
    def model(self) -> str | None:
        """The model name that the provider reports."""
        return self.metadata.model

    @property
    def usage(self) -> Usage | None:
        """Tokens and requests spent on this response."""
        return self.metadata.usage

    def outcome(self, name: str) -> Outcome:
        """Return what came back for a question: an answer, a `Refusal` or an `Undecided`."""
        try:
            return self.answers[name]
        except KeyError:
            known = ", ".join(repr(key) for key in self.answers)
            raise AnswerError(f"there is no answer {name!r}; the answers are {known}") from None

    def answer(self, name: str, kind: type[A]) -> A:
        """Return the answer to a question, of the type you expect.

        Raises:
            AnswerError: The name is unknown or the answer has another type.
            Refused: The provider declined the question.
            UndecidedError: The evidence did not suffice.
        """
        outcome = self.outcome(name)
        if isinstance(outcome, kind):
            return outcome
        if isinstance(outcome, Refusal | Undecided):
            raise no_answer_error(outcome, name)
        raise AnswerError(f"answer {name!r} is a {type(outcome).__name__}, not a {kind.__name__}")

    def yes_no(self, name: str) -> YesNoAnswer:
        """Return the answer to a yes/no question; raises as `answer` does."""
        return self.answer(name, YesNoAnswer)

    def choice(self, name: str) -> ChoiceAnswer:
        """Return the answer to a choice; raises as `answer` does."""
        return self.answer(name, ChoiceAnswer)

    def scale(self, name: str) -> ScaleAnswer:
        """Return the answer on a scale; raises as `answer` does."""
        return self.answer(name, ScaleAnswer)

    def is_refused(self, name: str) -> bool:
        """Return whether the provider declined this question."""
        return isinstance(self.outcome(name), Refusal)

    def is_undecided(self, name: str) -> bool:
        """Return whether the evidence did not suffice for this question."""
        return isinstance(self.outcome(name), Undecided)


_WHY: dict[str, str] = {
    "low_label_mass": "most of the model's probability fell on other words than the answers asked for",
    "no_logprobs": "the provider sent no log-probabilities",
    "logprobs_unsupported": "the provider refuses to send log-probabilities for this model",
    "truncated": "the reply was cut off before an answer",
    "reasoning_unfinished": "the reply was cut off inside its reasoning",
    "empty": "the reply was empty",
    "tool_call": "the model called a tool instead of answering",
    "invalid_logprob": "the reply holds positive log-probabilities, which cannot be",
    "probabilities_in_logprob_field": "the server seems to send probabilities where log-probabilities belong",
    "degenerate": "every listed token has the log-probability 0, so there is no distribution to read",
    "sentinel_logprob": "the answer token has no real log-probability",
    "undecodable_tokens": "the server garbled the bytes of the answer tokens",
    "misaligned": "the tokens do not add up to the text of the reply",
    "incomplete_distribution": "the provider left out the probability of something that was offered",
    "invalid_distribution": "the provider's numbers are no probabilities that could sum to 1",
    "contradictory_answer": "the provider's answer is not the one its own probabilities give",
    "rounded_away": "the provider rounded all probabilities to 0",
    "no_json_answer": "the sampled replies name no answer, or several",
    "missing_answer": "the provider left the question out",
}


def no_answer_error(outcome: Refusal | Undecided, name: str | None = None) -> NoAnswer:
    """Turn an outcome without an answer into the error that says so."""
    where = "the question" if name is None else f"question {name!r}"
    if isinstance(outcome, Refusal):
        category = f" ({outcome.category})" if outcome.category else ""
        return Refused(f"the provider refused {where}: {outcome.reason}{category}", outcome=outcome)
    mass = "" if outcome.label_mass is None else f"; label mass {outcome.label_mass:.3f}"
    why = _WHY.get(outcome.reason, outcome.reason)
    return UndecidedError(f"{where} is undecided: {why} ({outcome.reason}{mass})", outcome=outcome)


def unwrapped(outcome: Any) -> Any:  # noqa: ANN401 - generic over answers
    """Return an answer, or raise the error of an outcome without one."""
    if isinstance(outcome, Refusal | Undecided):
        raise no_answer_error(outcome)
    return outcome
