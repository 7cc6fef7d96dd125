"""Which of two templates is better, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from yesno.labelled import Item
from yesno.tuner.objective import Shares, losses, out_of_fold

if TYPE_CHECKING:
    from yesno.calibration._arrays import Floats

__all__ = ["LEAST_COVERAGE", "Advantage", "Answers", "Judge", "compared"]

LEAST_COVERAGE = 0.05
"""A template that leaves so many more of the rows (0..1) without an answer than today's is dropped, however good its
answers are."""
LEAST_BOTH = 8
"""Rows that two templates must both answer to be compared at all."""

Loss: TypeAlias = "Callable[[tuple[Shares, ...], tuple[Item, ...]], Floats]"
Answers: TypeAlias = Mapping[str, Shares | None]
"""Row id -> probabilities; None for a row without an answer."""


@dataclass(frozen=True, slots=True)
class Advantage:
    """By how much a template's log loss (nats) is lower than today's, on the rows that both answer."""

    value: float
    low: float
    high: float
    """Ends of the 95 % interval: a paired bootstrap of groups."""
    loss: float
    """Mean log loss of the template."""
    raw_loss: float
    """The same of its probabilities as read."""
    n: int
    """Rows that both answer."""
    answered: float
    """Share (0..1) of all rows asked that the template answers."""
    covers: bool
    """Whether that is enough."""


def compared(
    answers: Answers,
    today: Answers,
    items: Sequence[Item],
    loss: Loss = losses,
    today_loss: Loss | None = None,
    *,
    draws: int = 2000,
) -> Advantage:
    """Compare a template with today's.

    Args:
        answers: Of the template.
        today: Of today's.
        items: The rows.
        loss: From probabilities and rows to the loss of each.
        today_loss: The same for today's template, where it is another.
        draws: Resamples behind the interval.
    """
    from yesno.calibration.intervals import mean_difference

    both = tuple(item for item in items if answers.get(item.id) and today.get(item.id))
    answered = sum(answers.get(item.id) is not None for item in items) / len(items)
    needed = sum(today.get(item.id) is not None for item in items) / len(items) - LEAST_COVERAGE
    if len({item.group for item in both}) < LEAST_BOTH:
        return Advantage(0.0, 0.0, 0.0, 0.0, 0.0, len(both), answered, covers=False)
    own = tuple(answers[item.id] or () for item in both)
    other = tuple(today[item.id] or () for item in both)
    mine = loss(own, both)
    groups = [item.group for item in both]
    difference = mean_difference((today_loss or loss)(other, both), mine, groups=groups, draws=draws)
    return Advantage(
        difference.value,
        difference.low,
        difference.high,
        float(mine.mean()),
        float(losses(own, both).mean()),
        len(both),
        answered,
        covers=answered >= needed,
    )


@dataclass(frozen=True, slots=True)
class Judge:
    """Ranks templates by what they are worth once calibrated, each on the other folds of the same rows."""

    loss: Loss = out_of_fold
    draws: int = 500

    def ranked(
        self, answers: Sequence[Answers], today: Answers, items: Sequence[Item]
    ) -> list[tuple[int, Advantage]]:
        """Return the places of the templates in `answers`, the best first, those that answer too little last."""
        found = [
            (place, compared(one, today, items, self.loss, draws=self.draws))
            for place, one in enumerate(answers)
        ]
        # of equals the one that was tried first
        return sorted(found, key=lambda pair: (not pair[1].covers, -pair[1].value))
