"""From seen and unseen probability to shares of the labels, with bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    hidden: list[float] = field(default_factory=list)
    """Most of the unlisted probability that all further spellings of the label can have."""
    worth: list[float] = field(default_factory=list)
    """Most of the unlisted probability that one further spelling can have."""
    opened: float = 0.0
    """Probability of all beginnings, each counted once."""
    unseen: float = 0.0
    smallest: float = 1.0
    """Smallest listed probability where the answer begins; nothing unlisted is larger."""
    path: float = 1.0
    """Probability of the marks before the answer."""
    flags: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.seen = [0.0] * self.size
        self.guessed = [0.0] * self.size
        self.open = [0.0] * self.size
        self.hidden = [0.0] * self.size
        self.worth = [0.0] * self.size

    def begin(self, labels: Iterable[int], mass: float) -> None:
        """Note the probability of a beginning that these labels share."""
        self.opened += mass
        for label in labels:
            self.open[label] += mass

    def hide(self, amount: float, ceiling: float, spellings: Mapping[int, int]) -> None:
        """Note probability that a place did not list.

        Args:
            amount: How much.
            ceiling: Greatest probability that one unlisted token can have.
            spellings: Labels it may belong to -> how many of their spellings the place did list.
        """
        self.unseen += amount
        for label, known in spellings.items():
            self.hidden[label] += min(amount, max(0, FORMS_PER_LABEL - known) * ceiling)
            self.worth[label] += min(amount, ceiling)

    def reading(self) -> Reading | None:
        """Return the labels' shares; None when no label was seen at all.

        A label may have more spellings among what was not listed, up to `FORMS_PER_LABEL` in all, each at
        most as probable as the smallest listed token. The point gives each missing label one such token's
        worth at most: the least certain distribution that fits what was seen, and no floor.
        """
        total = sum(self.seen)
        if total <= 0.0:
            return None
        missing = tuple(i for i, mass in enumerate(self.seen) if mass <= 0.0)
        unseen = max(self.unseen, RESOLUTION) if missing else max(self.unseen, 0.0)
        error = RESOLUTION if missing else 0.0
        spare = tuple(
            max(hidden, min(error, FORMS_PER_LABEL * self.smallest)) + opened + guessed
            for hidden, opened, guessed in zip(self.hidden, self.open, self.guessed, strict=True)
        )
        point = list(self.seen)
        for i in missing:
            point[i] += min(unseen / len(missing), max(self.worth[i], min(error, self.smallest)), spare[i])
        scale = sum(point)
        unseen += self.opened + sum(self.guessed)
        low, high = _bounds(
            [s - g for s, g in zip(self.seen, self.guessed, strict=True)],
            spare,
            unseen,
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
