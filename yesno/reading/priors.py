"""Take out of a reading what the model would have said of no input at all.

A model has favourites among the labels: a letter, or the option that sounds right whatever the input is.
Probes ask the same question of inputs without content; the shares found there are the prior, and dividing by
them leaves what the input itself has to say (contextual calibration: Zhao et al. 2021, arXiv 2102.09690).

That is right for a question which many inputs are asked. Where the question alone decides the answer, a part of the
prior is knowledge. `benchmarks/quality` has what was measured of both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from yesno.reading.outcome import Reading

__all__ = ["PROBES", "ModelPrior", "Prior", "corrected", "prior_of"]

PROBES = ("N/A", "", "...")
"""Inputs without content."""


@dataclass(frozen=True, slots=True)
class Prior:
    """Shares (0..1) of the labels, in their order, when there is nothing to judge; all above 0, their sum 1."""

    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.shares or not all(math.isfinite(p) and p > 0 for p in self.shares):
            raise ValueError(f"a prior has a share above 0 for each label, not {self.shares!r}")
        total = sum(self.shares)
        object.__setattr__(self, "shares", tuple(p / total for p in self.shares))


@dataclass(frozen=True, slots=True)
class ModelPrior:
    """What was measured about a model's favourites, as a row of its profile."""

    standing: frozenset[str] = frozenset()
    """Kinds of questions whose answers get better when the prior of a question that many inputs are asked is
    taken out."""
    letters: tuple[float, ...] = ()
    """Share of each letter, A first, averaged over questions whose options were shown in every rotation."""
    template: str = ""
    """The template that the letters were measured with; they are used with no other."""

    def of_letters(self, count: int, template: str) -> Prior | None:
        """Return the prior of the first `count` letters; None when fewer were measured, or with another template."""
        if template != self.template or not 0 < count <= len(self.letters):
            return None
        return Prior(self.letters[:count])


def prior_of(probes: Sequence[Reading]) -> Prior | None:
    """Return the geometric mean of what the probes gave; None when one of them did not list every label.

    A share that was only bounded would be a guess, and dividing by a guess invents a probability.
    """
    if not probes or any(probe.missing for probe in probes):
        return None
    columns = zip(*(probe.probabilities for probe in probes), strict=True)
    return Prior(tuple(math.exp(sum(map(math.log, column)) / len(probes)) for column in columns))


def corrected(reading: Reading, prior: Prior) -> Reading:
    """Return the reading with every label's odds divided by its prior share.

    The bounds are exact: the least and greatest share that any distribution within the old bounds can get.
    """
    weights = [1.0 / share for share in prior.shares]
    scaled = [p * w for p, w in zip(reading.probabilities, weights, strict=True)]
    point = [s / sum(scaled) for s in scaled]
    low = [_extreme(i, reading.low[i], reading, weights, most=True) for i in range(len(point))]
    high = [_extreme(i, reading.high[i], reading, weights, most=False) for i in range(len(point))]
    return replace(
        reading,
        probabilities=tuple(point),
        low=tuple(map(min, low, point)),
        high=tuple(map(max, high, point)),
        mass=_products(reading.mass, weights),
        spare=_products(reading.spare, weights),
        unseen=reading.unseen * max(weights),
        uncorrected=reading.probabilities,
        flags=tuple(sorted({*reading.flags, "prior"})),
    )


def _extreme(i: int, own: float, reading: Reading, weights: Sequence[float], *, most: bool) -> float:
    """Return label i's weighted share when its share is `own` and the others weigh the most or least they can."""
    others = sorted((j for j in range(len(weights)) if j != i), key=weights.__getitem__, reverse=most)
    rest = sum(weights[j] * reading.low[j] for j in others)
    left = max(0.0, 1.0 - own - sum(reading.low[j] for j in others))
    for j in others:
        extra = min(left, max(0.0, reading.high[j] - reading.low[j]))
        rest += weights[j] * extra
        left -= extra
    mine = weights[i] * own
    return mine / (mine + rest) if mine + rest > 0 else 0.0


def _products(values: Iterable[float], weights: Iterable[float]) -> tuple[float, ...]:
    return tuple(v * w for v, w in zip(values, weights, strict=True))
