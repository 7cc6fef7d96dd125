"""Which card an answer is calibrated with, if any, and the answer that comes of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from yesno.calibration.applying import STEP, calibrated, unrounded
from yesno.calibration.cards import Calibration
from yesno.calibration.files import CardSource, load_calibrations
from yesno.calibration.subjects import Asked, Subject, labels_in, question_digest
from yesno.errors import ConfigError
from yesno.questions import (
    Answer,
    ChoiceAnswer,
    Method,
    Question,
    YesNo,
    shares_of,
)
from yesno.reading.answers import make_answer
from yesno.reading.outcome import Reading
from yesno.request import DecisionRequest
from yesno.response import DecisionResponse

__all__ = ["Calibrations", "calibrations_for"]

EVENT = "calibration_not_applied"
KEPT = 1024
"""Most kinds of answers for which the card is remembered."""
_UNKNOWN: Any = object()
T = TypeVar("T")


class Calibrations:
    """The cards of one model object, shared by its threads and tasks.

    A card that is not for an answer is never applied to it; that is told once for each reason.
    """

    def __init__(
        self,
        cards: Sequence[Calibration] = (),
        provider: str = "",
        warn: Callable[[str, str], None] = lambda event, reason: None,
    ) -> None:
        self.cards = tuple(sorted(cards, key=_narrowest_first))
        self._provider = provider
        self._warn = warn
        self._found: dict[Any, Calibration | None] = {}

    def prior_wanted(self, question: Question[Any], model_name: str, template: str) -> bool | None:
        """Return whether a card was fitted to readings with a prior taken out; None when no card says.

        It must not depend on which input is asked first, or answers would not be those that the card is for.
        """
        for card in self.cards:
            wanted = card.subject.prior
            if wanted is None:
                continue
            flags = [*(["prior"] if wanted else []), *(["orders"] if card.subject.orders else [])]
            if (
                self._card(question, self._asked(question, model_name, "logprobs", template, flags=flags))
                is card
            ):
                return wanted
        return None

    def applied(self, result: T, question: Question[Any], model_name: str, template: str) -> T | Reading:
        """Return a reading with its card applied; what is no reading, or has no card, stays as it is."""
        if not self.cards or not isinstance(result, Reading):
            return result
        method: Method = "logprobs" if result.sampled is None else "sampled"
        asked = self._asked(question, model_name, method, template, flags=result.flags)
        card = self._told(question, asked)
        if card is None:
            return result
        return calibrated(result, card.calibrator, directed=isinstance(question, YesNo))

    def in_response(self, request: DecisionRequest, response: DecisionResponse) -> DecisionResponse:
        """Return a decision endpoint's response with its answers calibrated, where there are cards."""
        if not self.cards:
            return response
        model_name = request.parameters.model_name or ""
        answers = {
            name: self.answered(outcome, request.questions.get(name), model_name)
            for name, outcome in response.answers.items()
        }
        return DecisionResponse(answers, metadata=response.metadata)

    def answered(self, answer: T, question: Question[Any] | None, model_name: str) -> T | Answer:
        """Do for the answer of a decision endpoint what `applied` does for a reading."""
        if not self.cards or question is None or not isinstance(answer, Answer) or answer.method != "native":
            return answer
        card = self._told(question, self._asked(question, model_name, "native", None))
        if card is None:
            return answer
        reading = _reading_of(question, answer)
        if reading is None:
            self._warn(EVENT, f"{question.kind}: the provider reports no whole distribution")
            return answer
        changed = calibrated(reading, card.calibrator, directed=isinstance(question, YesNo))
        return _with_reading(question, answer, changed) if changed.calibrated else answer

    def _asked(
        self,
        question: Question[Any],
        model_name: str,
        method: Method,
        template: str | None,
        *,
        flags: Collection[str] = (),
    ) -> Asked:
        return Asked(
            self._provider,
            model_name,
            method,
            template,
            question.kind,
            labels_in(question),
            "",
            "prior" in flags,
            "orders" in flags,
        )

    def _told(self, question: Question[Any], asked: Asked) -> Calibration | None:
        card = self._card(question, asked)
        if card is None:
            complete = replace(asked, digest=question_digest(question))
            self._warn(EVENT, f"{asked.kind} by {asked.method}: {_nearest(self.cards, complete)}")
        return card

    def _card(self, question: Question[Any], asked: Asked) -> Calibration | None:
        key = (repr(question), asked)  # a worked example may hold what has no hash
        known: Calibration | None = self._found.get(key, _UNKNOWN)  # one look: other threads clear it
        if known is not _UNKNOWN:
            return known
        complete = replace(asked, digest=question_digest(question))
        found = next((card for card in self.cards if card.subject.difference(complete) is None), None)
        if len(self._found) >= KEPT:
            self._found.clear()
        self._found[key] = found
        return found


def calibrations_for(
    source: CardSource | None, provider: str, warn: Callable[[str, str], None]
) -> Calibrations:
    """Return the cards of a source, checked against each other.

    Raises:
        ConfigError: A card cannot be read, there is none, or two are for the same.
    """
    if source is None:
        return Calibrations()
    cards = load_calibrations(source)
    seen: set[Subject] = set()
    for card in cards:
        subject = card.subject.comparable()
        if subject in seen:
            asked = "" if subject.question is None else f", question {card.subject.question}"
            raise ConfigError(
                f"two calibration cards are for {subject.provider}:{subject.model}, {subject.kind} by "
                f"{subject.method}, template {card.subject.template}{asked}; leave one out"
            )
        seen.add(subject)
    return Calibrations(cards, provider, warn)


def _narrowest_first(card: Calibration) -> tuple[bool, bool, bool, int]:
    subject = card.subject
    return (
        subject.question is None,
        subject.prior is None,
        subject.orders is None,
        subject.most_labels - subject.least_labels,
    )


def _nearest(cards: Sequence[Calibration], asked: Asked) -> str:
    """Return why the card that comes closest is not for an answer."""
    return max((card.subject for card in cards), key=lambda s: s.alike(asked)).difference(asked) or ""


def _reading_of(question: Question[Any], answer: Answer) -> Reading | None:
    """Return an endpoint's answer as a reading; None without a whole distribution."""
    shown = shares_of(question, answer)
    if shown is None or sum(shown) <= 0:
        return None
    point = unrounded(shown, answer.flags)
    mass = 1.0 if answer.label_mass is None else answer.label_mass
    half = STEP / 2 if "rounded" in answer.flags else 0.0
    low = tuple(min(p, max(0.0, s - half) * mass) for s, p in zip(shown, point, strict=True))
    high = tuple(max(p, min(1.0, s + half) * mass + 1.0 - mass) for s, p in zip(shown, point, strict=True))
    return Reading(point, low, high, low, (0.0,) * len(point), 0.0, mass, flags=answer.flags)


def _with_reading(question: Any, answer: Answer, reading: Reading) -> Answer:  # noqa: ANN401 - a built-in type
    """Return an endpoint's answer with the numbers of a calibrated reading; bounds only where it had some."""
    made: Any = make_answer(question, reading)
    told = answer.low is not None
    kept: dict[str, Any] = {
        "raw": getattr(answer, "raw", None),
        "label_mass": answer.label_mass,
        "method": answer.method,
        "flags": answer.flags,
        "attempts": answer.attempts,
        "template": answer.template,
        "low": made.low if told else None,
        "high": made.high if told else None,
    }
    if isinstance(made, ChoiceAnswer) and not (isinstance(answer, ChoiceAnswer) and answer.bounds):
        kept["bounds"] = None
    changed: Answer = replace(made, **kept)
    return changed
