"""Ordinal calibration: the proportional-odds model of the mean level that was read (McCullagh 1980)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Self

from yesno.calibration.calibrators._base import EDGE, Calibrator, checked_number, checked_numbers, sigmoid
from yesno.errors import ConfigError

if TYPE_CHECKING:
    from yesno.calibration.calibrators._rows import Array, Rows

__all__ = ["Ordinal"]

LEAST = 1e-3
"""How near the mean level, as a share of the scale, is taken to come to either end."""
CUT_SPREAD = 5.0
"""Standard deviation of the normal prior on each cut, in log-odds."""


@dataclass(frozen=True, slots=True)
class Ordinal(Calibrator):
    """The log-odds that the level is at most so high are a cut less a slope times the log-odds of the mean level.

    It mends a model that never says the ends of a scale, or that is always too kind: the mean keeps its order, and each
    level gets the probability that such means had.
    """

    name: ClassVar[str] = "ordinal"
    by_label: ClassVar[bool] = True
    for_kinds: ClassVar[frozenset[str]] = frozenset({"scale"})
    slope: float
    """Above 0."""
    cuts: tuple[float, ...]
    """One between each two levels; they rise."""

    def __post_init__(self) -> None:
        checked_number(self.name, "slope", self.slope, above=0)
        checked_numbers(self.name, "cuts", self.cuts, least=1)
        if any(a > b for a, b in pairwise(self.cuts)):
            raise ConfigError(f"`cuts` of {self.name!r} must rise, not {self.cuts!r}")

    @property
    def labels(self) -> int | None:
        """One more than there are cuts."""
        return len(self.cuts) + 1

    def __call__(self, probabilities: Sequence[float], *, directed: bool) -> tuple[float, ...]:
        """Return calibrated probabilities of all levels of the scale."""
        place = self._place(math.fsum(i * p for i, p in enumerate(probabilities)))
        found = [max(EDGE, self._share(level, place)) for level in range(len(self.cuts) + 1)]
        total = math.fsum(found)
        return tuple(share / total for share in found)

    def bounds(
        self, low: Sequence[float], high: Sequence[float], *, directed: bool
    ) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return bounds that hold for every distribution within the given ones."""
        least = self._place(_least_mean(low, high))
        most = self._place(len(self.cuts) - _least_mean(low[::-1], high[::-1]))
        ends = [(self._share(i, least), self._share(i, most)) for i in range(len(self.cuts) + 1)]
        tops = [max(pair) for pair in ends]
        for level, (under, over) in enumerate(pairwise(self.cuts), start=1):
            peak = (under + over) / 2 / self.slope  # where a level between two cuts is most probable
            if least < peak < most:
                tops[level] = self._share(level, peak)
        return (
            tuple(max(EDGE, min(pair)) for pair in ends),
            tuple(min(1.0 - EDGE, top) for top in tops),
        )

    def _place(self, mean: float) -> float:
        """Return the log-odds of a mean level as a share of the scale."""
        share = min(1.0 - LEAST, max(LEAST, mean / len(self.cuts)))
        return math.log(share) - math.log1p(-share)

    def _share(self, level: int, place: float) -> float:
        under = 0.0 if level == 0 else sigmoid(self.cuts[level - 1] - self.slope * place)
        upto = 1.0 if level == len(self.cuts) else sigmoid(self.cuts[level] - self.slope * place)
        return upto - under

    @classmethod
    def fitted(cls, rows: Rows) -> Self:
        """Return the slope and cuts with the least log loss, drawn to slope 1 and cuts around 0 by weak normal priors."""
        import numpy as np
        from scipy.optimize import minimize
        from scipy.special import expit

        from yesno.calibration.calibrators._rows import SEARCH, SLOPE_SPREAD

        steps = rows.read.shape[1] - 1
        share = np.clip(rows.read @ np.arange(steps + 1) / steps, LEAST, 1.0 - LEAST)
        place, at = np.log(share) - np.log1p(-share), np.arange(len(rows))

        def total(parameters: Array) -> tuple[float, Array]:
            slope, cuts = np.exp(parameters[0]), _cuts(parameters[1:])
            upto = expit(cuts - slope * place[:, None])  # row x cut
            edges = np.pad(upto, ((0, 0), (1, 1)), constant_values=((0, 0), (0.0, 1.0)))
            own = np.maximum(edges[at, rows.label + 1] - edges[at, rows.label], EDGE)
            loss = -float(np.log(own).sum()) + 0.5 * (parameters[0] / SLOPE_SPREAD) ** 2
            loss += 0.5 * float((cuts**2).sum()) / CUT_SPREAD**2
            dense = np.pad(upto * (1.0 - upto), ((0, 0), (1, 1)))  # slope of each edge in its cut
            by_cut = np.zeros((len(rows), steps + 2))
            by_cut[at, rows.label + 1] -= dense[at, rows.label + 1] / own
            by_cut[at, rows.label] += dense[at, rows.label] / own
            by_slope = -float((by_cut.sum(axis=1) * place).sum()) * slope + parameters[0] / SLOPE_SPREAD**2
            in_cuts = by_cut[:, 1:-1].sum(axis=0) + cuts / CUT_SPREAD**2
            tail = in_cuts[::-1].cumsum()[::-1]  # raising one step raises all cuts above it
            return loss, np.concatenate([[by_slope], tail * np.append(1.0, np.exp(parameters[2:]))])

        start = np.concatenate([[0.0, -1.0], np.zeros(steps - 1)])
        limits = [(-4.0, 4.0), (-20.0, 20.0), *[(-8.0, 4.0)] * (steps - 1)]
        found = minimize(total, start, jac=True, method="TNC", bounds=limits, options=SEARCH).x
        return cls(math.exp(float(found[0])), tuple(_cuts(found[1:]).tolist()))


def _cuts(steps: Array) -> Array:
    """Return cuts from the first one and the logarithms of the distances between them."""
    import numpy as np

    cuts: Array = np.cumsum(np.append(steps[0], np.exp(steps[1:])))
    return cuts


def _least_mean(low: Sequence[float], high: Sequence[float]) -> float:
    """Return the least mean level of the distributions within bounds."""
    left = 1.0 - math.fsum(low)
    mean = math.fsum(i * p for i, p in enumerate(low))
    for level, (a, b) in enumerate(zip(low, high, strict=True)):
        more = max(0.0, min(left, b - a))
        mean += level * more
        left -= more
    return mean
