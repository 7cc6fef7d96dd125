"""Guardrails: yes/no checks of what a user asks and of what a model answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, Never, TypeAlias, TypeVar, cast, overload

from yesno._checks import checked_share
from yesno._log import get_logger
from yesno.errors import ConfigError, QuestionError
from yesno.filters._bands import Band, CheckResult, Verdict
from yesno.filters._checks import Check, Side
from yesno.flow import Ask, AsyncRunner, Flow, Runner, SyncRunner, run_with, spent_on
from yesno.messages import InputLike, last_user_message, messages_of
from yesno.questions import Outcome, Refusal, Undecided, YesNo, YesNoAnswer
from yesno.response import no_answer_error

__all__ = ["Checks", "Guardrails", "MessageOf"]

Checks: TypeAlias = Iterable[str | Check] | Mapping[str, str | YesNo]
"""Names of ready checks and `Check`s in order, or a mapping of names to questions of your own."""
MessageOf: TypeAlias = str | Callable[[Sequence[str]], str]
"""The message of a verdict that blocks, or a function that makes it of the failed checks' names."""
R_co = TypeVar("R_co", covariant=True)


class Guardrails(Generic[R_co]):
    """Checks that a text must pass: all in one call, each a yes/no question.

    Args:
        checks: Names of ready checks and `Check`s, or a mapping of names to questions.
        model: The model that `check_input` and `check_output` ask: a `DecisionModel`, or an `AsyncDecisionModel` whose
            verdicts are awaited. The flows `judge_input` and `judge_output` need none.
        threshold: Probability (0..1) of reject from which on a check blocks, unless it has its own.
        review: Probability from which on a check that does not block wants a review, unless it has its own; None for
            no such band.
        reprompt: What to ask the model to do over when a response is blocked; None to end there.
        message: The message of a verdict that blocks, or a function of the failed checks' names.

    It fails closed: a provider's failure, a refusal and an undecided check raise, and there is no way to turn that
    into a pass. A text that is blank, or a response that only calls tools, passes without a call.

    Raises:
        QuestionError: There is no check, or a name is unknown, blank or used twice.
        ConfigError: A text is blank, or a threshold is no probability or lies below the one for a review.
    """

    @overload
    def __init__(
        self: Guardrails[Never],
        checks: Checks,
        *,
        model: None = None,
        threshold: float = 0.5,
        review: float | None = None,
        reprompt: str | None = None,
        message: MessageOf | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: Guardrails[Verdict],
        checks: Checks,
        *,
        model: SyncRunner,
        threshold: float = 0.5,
        review: float | None = None,
        reprompt: str | None = None,
        message: MessageOf | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self: Guardrails[Awaitable[Verdict]],
        checks: Checks,
        *,
        model: AsyncRunner,
        threshold: float = 0.5,
        review: float | None = None,
        reprompt: str | None = None,
        message: MessageOf | None = None,
    ) -> None: ...
    def __init__(
        self,
        checks: Checks,
        *,
        model: SyncRunner | AsyncRunner | None = None,
        threshold: float = 0.5,
        review: float | None = None,
        reprompt: str | None = None,
        message: MessageOf | None = None,
    ) -> None:
        self.checks = _checked(checks)
        self.threshold = checked_share("threshold", threshold)
        self.review = None if review is None else checked_share("review", review)
        self.reprompt = _words("reprompt", reprompt)
        self._message = message if callable(message) else _words("message", message)
        self._model = cast("Runner | None", model)
        for check in self.checks:
            self._limits(check)

    def with_checks(self, checks: Checks) -> Guardrails[R_co]:
        """Return a copy that asks these checks in place of the earlier ones, with their thresholds."""
        again = cast("Any", Guardrails)(
            checks,
            model=self._model,
            threshold=self.threshold,
            review=self.review,
            reprompt=self.reprompt,
            message=self._message,
        )
        return cast("Guardrails[R_co]", again)

    def with_check(self, check: str | Check) -> Guardrails[R_co]:
        """Return a copy that asks one more check."""
        return self.with_checks([*self.checks, check])

    def check_input(self, given: object) -> R_co:
        """Judge what a user wrote with the model given; see `judge_input`.

        Raises:
            ConfigError: There is no model.
        """
        return cast("R_co", run_with(self._model, self.judge_input(given)))

    def check_output(
        self,
        response: object,
        *,
        user: object = None,
        sources: str | Sequence[str] | None = None,
    ) -> R_co:
        """Judge what a model answered with the model given; see `judge_output`.

        Raises:
            ConfigError: There is no model.
        """
        return cast("R_co", run_with(self._model, self.judge_output(response, user=user, sources=sources)))

    def judge_input(self, given: object) -> Flow[Verdict]:
        """Return the flow that judges what a user wrote.

        Args:
            given: A text, a message, or a conversation in any shape that `messages_of` reads, of which the last user
                message is judged. What is attached to it shows as a marker such as `[attached image]`.

        Raises:
            QuestionError: There is no user message, or a check judges responses only.
            Refused, UndecidedError: A check has no answer; the error names it.
            ProviderError: The provider failed.
        """
        questions = self._questions("input")
        text = _user_text(given)
        if text is None:
            raise QuestionError("there is no user message to check; give a text or messages with one")
        return self._judged("input", questions, text if text.strip() else None)

    def judge_output(
        self,
        response: object,
        *,
        user: object = None,
        sources: str | Sequence[str] | None = None,
    ) -> Flow[Verdict]:
        """Return the flow that judges what a model answered; it raises what that of `judge_input` does.

        Args:
            response: A text, an assistant's message, or messages, of which the last one of the assistant is judged.
                The arguments of tool calls are not.
            user: What it answers: a text, a message, or a conversation, whose last user message is shown.
            sources: Texts that the response must rest on, for checks that judge by them.
        """
        questions = self._questions("output")
        for check in self.checks:
            if "sources" in check.needs and not sources:
                raise QuestionError(f"check {check.name!r} judges by sources; give `sources`")
        asked = None if user is None else _user_text(user)
        text = _response_text(response)
        fields: dict[str, Any] = {"userMessage": asked} if asked and asked.strip() else {}
        fields["response"] = text
        if sources:
            fields["sources"] = [sources] if isinstance(sources, str) else list(sources)
        return self._judged("output", questions, fields if text.strip() else None)

    def _questions(self, side: Side) -> dict[str, YesNo]:
        return {check.name: check.question(side) for check in self.checks}

    def _judged(self, side: Side, questions: Mapping[str, YesNo], given: InputLike | None) -> Flow[Verdict]:
        if given is None:
            return Verdict("pass")
        outcomes = yield [Ask(question, given, name) for name, question in questions.items()]
        answers = [_answer(check.name, outcome) for check, outcome in zip(self.checks, outcomes, strict=True)]
        results = tuple(
            self._result(check, answer) for check, answer in zip(self.checks, answers, strict=True)
        )
        get_logger("filters").debug(
            "checks_read",
            side=side,
            probabilities={result.name: result.probability for result in results},
            bands={result.name: result.band for result in results},
        )
        failed = [result.name for result in results if result.band == "block"]
        usage = spent_on(outcomes)
        if failed:
            again = self.reprompt if side == "output" else None
            return Verdict("block", results, self._message_for(side, failed), again, usage)
        wanted: Band = "review" if any(result.band == "review" for result in results) else "pass"
        return Verdict(wanted, results, usage=usage)

    def _limits(self, check: Check) -> tuple[float, float | None]:
        block = self.threshold if check.threshold is None else check.threshold
        review = self.review if check.review is None else check.review
        if review is not None and review > block:
            raise ConfigError(
                f"check {check.name!r} blocks from {block:g} on, so it cannot want a review from {review:g} on; "
                "lower `review`"
            )
        return block, review

    def _result(self, check: Check, answer: YesNoAnswer) -> CheckResult:
        block, review = self._limits(check)
        probability = answer.probability if check.rejects == "yes" else 1 - answer.probability
        band: Band = "pass"
        if probability >= block:
            band = "block"
        elif review is not None and probability >= review:
            band = "review"
        return CheckResult(check.name, band, probability, answer, block, review)

    def _message_for(self, side: Side, failed: Sequence[str]) -> str:
        if self._message is None:
            return f"The {side} was rejected by: {', '.join(failed)}"
        return self._message(failed) if callable(self._message) else self._message


def _words(name: str, value: object) -> str | None:
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise ConfigError(f"`{name}` must be a text that is not blank, not {value!r}")
    return value


def _checked(checks: Any) -> tuple[Check, ...]:  # noqa: ANN401 - user input
    if isinstance(checks, str) or not isinstance(checks, Iterable):
        raise QuestionError(
            f"`checks` must be a list of checks or a mapping of names to questions, not {checks!r}"
        )
    items = (
        (Check(name, question) for name, question in _pairs(checks))
        if isinstance(checks, Mapping)
        else (item if isinstance(item, Check) else Check(item) for item in checks)
    )
    found: dict[str, Check] = {}
    for check in items:
        if check.name in found:
            raise QuestionError(f"the check name {check.name!r} is used twice; rename one")
        found[check.name] = check
    if not found:
        raise QuestionError("there is no check; give at least one")
    return tuple(found.values())


def _pairs(checks: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for name, question in checks.items():
        if question is None:
            raise QuestionError(f"check {name!r} has no question; give a text or a YesNo")
        yield name, question


def _user_text(given: object) -> str | None:
    if isinstance(given, str):
        return given
    message = last_user_message(messages_of(given))
    return None if message is None else message.text


def _response_text(given: object) -> str:
    if isinstance(given, str):
        return given
    for message in reversed(messages_of(given)):
        if message.role == "assistant":
            return message.text
    raise QuestionError("there is no assistant's message to check; give a text or messages with one")


def _answer(name: str, outcome: Outcome) -> YesNoAnswer:
    if isinstance(outcome, Refusal | Undecided):
        raise no_answer_error(outcome, name)
    return cast("YesNoAnswer", outcome)
