"""Which of two templates is better, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from yesno.labelled import Item
from yesno.tuner.objective import Shares, losses, out_of_fold

__all__ = ["LEAST_COVERAGE", "Advantage", "Judge", "paired"]

LEAST_COVERAGE = 0.05
"""A template that leaves so many more of the rows (0..1) without an answer than today's is dropped, however good the
others are."""


@dataclass(frozen=True, slots=True)
class Advantage:
    """By how much a template's log loss (nats) is lower than today's on the rows that both answer."""

    value: float
    low: float
    high: float
    """Bounds of a 95 % interval, by a paired bootstrap of groups."""
    loss: float
    """Mean log loss of the template on these rows, calibrated on the other folds."""
    raw_loss: float
    """The same, as read."""
    n: int
    """Rows that both answer."""
    answered: float
    """Share (0..1) of all rows asked that the template answers."""
    covers: bool
    """Whether it answers enough of them."""

    @property
    def rank_by(self) -> float:
        """What templates are ranked by; what does not answer enough comes last."""
        return self.value if self.covers else float("-inf")


@dataclass(frozen=True, slots=True)
class Judge:
    """Compares templates by log loss, both calibrated on other folds, or both as read."""

    calibrated: bool = True
    draws: int = 1000

    def advantage(
        self, answers: Mapping[str, Shares | None], today: Mapping[str, Shares | None], items: Sequence[Item]
    ) -> Advantage:
        """Return what a template is worth against today's on the same rows."""
        both = [item for item in items if answers[item.id] is not None and today[item.id] is not None]
        answered = sum(answers[item.id] is not None for item in items) / len(items)
        needed = sum(today[item.id] is not None for item in items) / len(items) - LEAST_COVERAGE
        covers = bool(both) and answered >= needed
        if len(both) < 2:
            return Advantage(0.0, 0.0, 0.0, 0.0, 0.0, len(both), answered, covers=False)
        own = [answers[item.id] or () for item in both]
        other = [today[item.id] or () for item in both]
        raw = losses(own, both)
        mine, yours = (out_of_fold(own, both), out_of_fold(other, both)) if self.calibrated else (raw, losses(other, both))
        difference = paired(yours, mine, [item.group for item in both], draws=self.draws)
        return Advantage(
            difference.value, difference.low, difference.high, float(mine.mean()), float(raw.mean()), len(both), answered, covers
        )


def paired(worse, better, groups, *, draws):
    import numpy as np
    from types import SimpleNamespace
    d = np.asarray(worse) - np.asarray(better)
    _, code = np.unique(groups, return_inverse=True)
    k = code.max() + 1
    sums = np.bincount(code, weights=d, minlength=k)
    sizes = np.bincount(code, minlength=k)
    w = np.random.default_rng(0).multinomial(k, np.full(k, 1 / k), size=draws)
    means = (w @ sums) / (w @ sizes)
    lo, hi = np.quantile(means, [0.025, 0.975])
    return SimpleNamespace(value=float(d.mean()), low=float(lo), high=float(hi))
