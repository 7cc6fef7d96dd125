"""From seen and unseen probability to shares of the labels, with bounds."""

from __future__ import annotations

from dataclasses import dataclass, field

from yesno.reading.labels import FORMS_PER_LABEL
from yesno.reading.outcome import Reading

__all__ = ["RESOLUTION", "Tally", "mean_bounds"]

RESOLUTION = 1e-6
"""Least unseen probability while a label is missing: reported sums carry a rounding error of this size."""


@dataclass(slots=True)
class Tally:
    """Probability found while walking through a reply."""

    size: int
    seen: list[float] = field(default_factory=list)
    """Probability on each label."""
    guessed: list[float] = field(default_factory=list)
    """Part of `seen` that rests on the first bytes of a character only."""
    open: list[float] = field(default_factory=list)
    """Probability of beginnings that may still become the label."""
    listed: set[int] = field(default_factory=set)
    """Labels with at least one spelling seen."""
    unseen: float = 0.0
    smallest: float = 1.0
    """Smallest listed probability at the answer position; nothing unlisted is larger."""
    path: float = 1.0
    """Probability of the marks before the answer."""
    flags: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.seen = [0.0] * self.size
        self.guessed = [0.0] * self.size
        self.open = [0.0] * self.size

    def reading(self) -> Reading | None:
        """Return the labels' shares; None when no label was seen at all.

        A listed label may have more spellings among what was not listed, a missing one too, each at most
        as probable as the smallest listed token. The point gives each missing label one such token's
        worth at most: the least certain distribution that fits what was seen, and no floor.
        """
        total = sum(self.seen)
        if total <= 0.0:
            return None
        missing = tuple(i for i in range(self.size) if i not in self.listed)
        unseen = max(self.unseen, RESOLUTION) if missing else max(self.unseen, 0.0)
        spare = tuple(self._spare(i, unseen) for i in range(self.size))
        point = list(self.seen)
        for i in missing:
            point[i] += min(unseen / len(missing), self.smallest)
        scale = sum(point)
        low, high = _bounds(
            [s - g for s, g in zip(self.seen, self.guessed, strict=True)],
            spare,
            unseen + sum(self.open) + sum(self.guessed),
        )
        return Reading(
            probabilities=tuple(p / scale for p in point),
            low=tuple(min(a, p / scale) for a, p in zip(low, point, strict=True)),
            high=tuple(max(b, p / scale) for b, p in zip(high, point, strict=True)),
            mass=tuple(self.seen),
            spare=spare,
            unseen=unseen,
            label_mass=min(1.0, total * self.path),
            missing=missing,
            flags=tuple(sorted(self.flags)),
        )

    def _spare(self, index: int, unseen: float) -> float:
        return min(unseen, FORMS_PER_LABEL * self.smallest) + self.open[index] + self.guessed[index]


def _bounds(seen: list[float], spare: tuple[float, ...], unseen: float) -> tuple[list[float], list[float]]:
    total, room = sum(seen), sum(spare)
    low, high = [], []
    for own, extra in zip(seen, spare, strict=True):
        others = min(unseen, room - extra)
        low.append(own / (total + others) if total + others > 0 else 0.0)
        high.append((own + extra) / (total + extra) if total + extra > 0 else 1.0)
    return low, high


def mean_bounds(reading: Reading) -> tuple[float, float]:
    """Return the least and greatest probability-weighted label number that the evidence allows."""
    order = range(len(reading.mass))
    return _extreme_mean(reading, order), _extreme_mean(reading, order[::-1])


def _extreme_mean(reading: Reading, order: range) -> float:
    total = sum(reading.mass)
    weighted = sum(i * m for i, m in enumerate(reading.mass))
    left = reading.unseen
    ascending = order.step > 0
    for i in order:
        mean = weighted / total
        if left <= 0.0 or (i >= mean if ascending else i <= mean):
            break
        extra = min(left, reading.spare[i])
        weighted, total, left = weighted + i * extra, total + extra, left - extra
    return weighted / total
