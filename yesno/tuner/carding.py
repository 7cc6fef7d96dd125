"""The calibration and the thresholds of one template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yesno.calibration import AskedQuestion, Calibration, Calibrator, Fit, Subject, band_of, fit
from yesno.calibration.applying import shares_read
from yesno.errors import ConfigError
from yesno.labelled import Asked, Item, kind_of, options_of
from yesno.questions import Answer, Outcome
from yesno.response import Failure
from yesno.tuner.candidates import Candidate
from yesno.tuner.objective import Shares, losses

if TYPE_CHECKING:
    from yesno.calibration._arrays import Floats

__all__ = ["Carded", "carded"]

Outcomes = Mapping[str, Outcome | Failure]
"""Row id -> outcome."""
LEAST_FITTED = 50


@dataclass(frozen=True, slots=True)
class Carded:
    """A template with what was fitted for it."""

    candidate: Candidate
    fit: Fit | None
    """None when too few rows were answered."""
    card: Calibration | None
    """None when the readings are kept as they are."""
    why: str
    """What was decided about its calibration, in words."""

    def loss(self, shares: Sequence[Shares], items: Sequence[Item]) -> Floats:
        """Return the log loss (nats) of each row with the calibration applied."""
        return losses(self.applied(shares, items), items)

    def applied(self, shares: Sequence[Shares], items: Sequence[Item]) -> list[Shares]:
        """Return probabilities with the calibration applied."""
        calibrator = None if self.card is None else self.card.calibrator
        return [_applied(calibrator, row, item) for row, item in zip(shares, items, strict=True)]


def carded(
    candidate: Candidate,
    outcomes: Outcomes,
    items: Sequence[Item],
    *,
    provider: str,
    model: str,
    data: str | None,
) -> Carded:
    """Fit the calibration of a template as `yesno calibrate` does: one that is not shown to help is not kept.

    Args:
        candidate: The template.
        outcomes: What came back with it.
        items: The rows to fit to.
        provider: For the card.
        model: For the card.
        data: SHA-256 of all rows.
    """
    answers = [(item, outcome) for item in items if isinstance(outcome := outcomes.get(item.id), Answer)]
    methods = Counter(answer.method for _, answer in answers if answer.method is not None)
    method = methods.most_common(1)[0][0] if methods else None
    used = [
        (i, a, s) for i, a in answers if a.method == method and (s := shares_read(i.question, a)) is not None
    ]
    if method is None or len(used) < LEAST_FITTED:
        why = f"{len(used)} answered rows are too few to fit a calibration; it takes {LEAST_FITTED}"
        return Carded(candidate, None, None, why)
    questions = {item.question for item, _, _ in used}
    labels = _label_counts(questions)
    if labels is None:
        why = "the questions have such different numbers of labels that no one card holds for them"
        return Carded(candidate, None, None, f"no calibration: {why}")
    kind = kind_of(used[0][0].question)
    try:
        found = fit(
            [shares[0] if kind == "yes_no" else shares for _, _, shares in used],
            [item.label == 0 if kind == "yes_no" else item.label for item, _, _ in used],
            kind=kind,
            groups=[item.group for item, _, _ in used],
            same_question=len(questions) == 1,
        )
    except ConfigError as error:
        return Carded(candidate, None, None, f"no calibration: {error}")
    if found.chosen is None:
        return Carded(candidate, found, None, found.why)
    subject = Subject(
        provider,
        model,
        method,
        next((a.template for _, a, _ in used), None),
        kind,
        *labels,
        AskedQuestion.of(next(iter(questions))) if len(questions) == 1 else None,
        _flagged("prior", [answer for _, answer, _ in used]),
        _flagged("orders", [answer for _, answer, _ in used]),
    )
    return Carded(candidate, found, found.card(subject, data=data), found.why)


def _label_counts(questions: Collection[Asked]) -> tuple[int, int] | None:
    """Return the least and most labels that a card for these questions holds for; None when no one card does."""
    sizes = {len(options_of(question)) for question in questions}
    if len(questions) == 1:
        return min(sizes), max(sizes)
    bands = {band_of(size) for size in sizes}
    return bands.pop() if len(bands) == 1 else None


def _flagged(flag: str, answers: Sequence[Answer]) -> bool | None:
    """Return whether all answers have a flag, or none of them; None when some have."""
    seen = {flag in answer.flags for answer in answers}
    return seen.pop() if len(seen) == 1 else None


def _applied(calibrator: Calibrator | None, shares: Shares, item: Item) -> Shares:
    if calibrator is None:
        return shares
    return calibrator(shares, directed=kind_of(item.question) == "yes_no")
