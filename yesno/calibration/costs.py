"""The threshold that costs least, for mistakes that do not cost the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from yesno.calibration._arrays import ArrayLike, Floats, both_classes, np, shares, truths
from yesno.calibration.intervals import Resampling
from yesno.errors import ConfigError, DataError

__all__ = ["CheapestThreshold", "cheapest_threshold"]


@dataclass(frozen=True, slots=True)
class CheapestThreshold:
    """The threshold that costs least on some rows, and how sure that is."""

    threshold: float
    """Act on probabilities of at least this."""
    low: float
    """The interval of the threshold over resamples; a wide one says that the place hardly matters, or is not known."""
    high: float
    level: float
    cost: float
    """Mean cost per row on these rows; rows to come cost more, because the threshold was chosen on these."""
    expected: float
    """Mean cost per row of rows that the threshold was not chosen on, over the resamples."""
    calibrated: float
    """The threshold that calibrated probabilities would need: no labels go into it."""
    cost_of_calibrated: float
    """What that one costs on these rows."""
    n: int
    groups: int

    def __str__(self) -> str:
        return (
            f"{self.threshold:.3f} ({self.low:.3f} to {self.high:.3f}): costs {self.cost:.4g} per row, about "
            f"{self.expected:.4g} on others; {self.calibrated:.3f} would cost {self.cost_of_calibrated:.4g}"
        )


def cheapest_threshold(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    false_positive: float = 1.0,
    false_negative: float = 1.0,
    groups: Iterable[object] | None = None,
    level: float = 0.95,
    draws: int = 500,
    seed: int = 1,
) -> CheapestThreshold:
    """Return the threshold that costs least on these rows, with its interval.

    It lies in the middle between the two probabilities that it separates. It promises nothing: for that see
    `threshold_for`.

    >>> print(cheapest_threshold([0.9, 0.8, 0.7, 0.3, 0.2, 0.1], [1, 1, 0, 1, 0, 0], false_positive=5))
    0.750 (0.250 to 0.850): costs 0.1667 per row, about 1.106 on others; 0.833 would cost 0.3333

    Args:
        probabilities: Of yes, shape (n,).
        labels: True, False, 1 or 0, or shares of raters.
        false_positive: Cost of acting on a row labelled no.
        false_negative: Cost of not acting on a row labelled yes.
        groups: Of each row; those of one are resampled together.
        level: Of the interval.
        draws: Resamples, in each of which the threshold is chosen anew.
        seed: Makes the interval repeatable.

    Raises:
        DataError: A row is not as it should be, or all labels are the same.
        TooFewLabels: There are fewer than five groups.
        ConfigError: A cost or another setting is impossible.
    """
    for name, cost in (("false_positive", false_positive), ("false_negative", false_negative)):
        if type(cost) not in (int, float) or not 0 < cost < float("inf"):
            raise ConfigError(f"`{name}` must be a cost above 0, not {cost!r}")
    if type(level) is not float or not 0 < level < 1:
        raise ConfigError(f"`level` must be a number between 0 and 1, such as 0.95, not {level!r}")
    p = shares(probabilities)
    if p.ndim != 1:
        raise DataError(
            "a threshold is for yes/no, shape (n,); for a choice use `top_label` of yesno.calibration.options"
        )
    truth = truths(labels, p)
    both_classes(truth, "a threshold")
    costs = _Costs(p, truth, false_positive=false_positive, false_negative=false_negative)
    resampling = Resampling(len(p), groups=groups, draws=draws, seed=seed)
    ones = np.ones(len(p))
    chosen = costs.cheapest(ones)
    calibrated = false_positive / (false_positive + false_negative)
    found, others = [], []
    for weights in resampling:
        threshold = costs.cheapest(weights)
        found.append(threshold)
        left_out = (weights == 0).astype(np.float64)
        if left_out.any():
            others.append(costs.at(threshold, left_out))
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return CheapestThreshold(
        threshold=chosen,
        low=float(low),
        high=float(high),
        level=level,
        cost=costs.at(chosen, ones),
        expected=float(np.mean(others)),
        calibrated=calibrated,
        cost_of_calibrated=costs.at(calibrated, ones),
        n=len(p),
        groups=resampling.groups,
    )


class _Costs:
    """What each threshold costs on rows with weights."""

    def __init__(self, p: Floats, truth: Floats, *, false_positive: float, false_negative: float) -> None:
        self._p = p
        self._acted, self._left = false_positive * (1 - truth), false_negative * truth
        distinct, self._place = np.unique(p, return_inverse=True)
        ends = np.concatenate([[0.0], distinct, [1.0]])
        self._between = (ends[:-1] + ends[1:]) / 2
        self._between[0] = 0.0
        if distinct[-1] == 1:
            self._between = self._between[:-1]  # nothing above acts on no row at all
        self._gains = self._acted - self._left

    def cheapest(self, weights: Floats) -> float:
        """Return the threshold that costs least; the middle one among equals."""
        gains = np.bincount(self._place, weights * self._gains, self._place.max() + 1)
        total = np.cumsum(gains[::-1])[::-1]
        acting = np.concatenate([total, [0.0]])[: len(self._between)]
        best = np.flatnonzero(acting <= acting.min() + 1e-9)
        return float(self._between[best[len(best) // 2]])

    def at(self, threshold: float, weights: Floats) -> float:
        """Return the mean cost per row of a threshold."""
        costs = np.where(self._p >= threshold, self._acted, self._left)
        return float((costs * weights).sum() / weights.sum())
