"""Curves to look at: reliability diagrams, and the risk of acting on the surest answers only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from yesno._checks import checked_count, checked_share
from yesno.calibration._arrays import (
    ArrayLike,
    Floats,
    counted,
    group_places,
    np,
    shares,
    truths,
)
from yesno.calibration._binomial import largest_share, least_share
from yesno.calibration._statistics import Statistic, prepared_by, value_of
from yesno.calibration.ece import equal_mass_bins
from yesno.calibration.options import top_label
from yesno.errors import ConfigError, DataError

__all__ = [
    "ReliabilityPoint",
    "RiskCoverage",
    "reliability_points",
    "risk_coverage",
    "risk_coverage_area",
]


@dataclass(frozen=True, slots=True)
class ReliabilityPoint:
    """Rows with about the same probability, and how many of them are yes."""

    probability: float
    """Mean of the rows."""
    share: float
    """Of yes among their labels."""
    low: float
    high: float
    n: int
    groups: int


def reliability_points(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    bins: int = 10,
    groups: Iterable[object] | None = None,
    level: float = 0.95,
) -> tuple[ReliabilityPoint, ...]:
    """Return the points of a reliability diagram, with exact binomial intervals.

    Args:
        probabilities: Of yes, shape (n,); for a choice see `top_label`.
        labels: True, False, 1 or 0, or shares of raters.
        bins: As many rows in each as can be, equal probabilities in one; there may be fewer bins then.
        groups: Of each row. The rows of a group count as one observation, which is too careful when their labels
            differ.
        level: Of the intervals.

    Raises:
        DataError: A row is not as it should be.
        ConfigError: A setting is impossible.
    """
    p, truth = _yes_no(probabilities, labels)
    places = equal_mass_bins(p, checked_count("bins", bins))
    count = int(places.max()) + 1
    if not 0 < checked_share("level", level) < 1:
        raise ConfigError(f"`level` must lie between 0 and 1, not {level!r}")
    n = counted(places, np.ones(len(p)), count)
    of_row = np.arange(len(p)) if groups is None else group_places(groups, len(p))
    pairs = np.unique(np.column_stack([places, of_row]), axis=0)[:, 0]
    trials = counted(pairs, np.ones(len(pairs)), count)
    share = counted(places, truth, count) / n
    tail = (1 - level) / 2
    low, high = least_share(share * trials, trials, tail), largest_share(share * trials, trials, tail)
    means = counted(places, p, count) / n
    return tuple(
        ReliabilityPoint(
            float(means[one]),
            float(share[one]),
            float(low[one]),
            float(high[one]),
            int(n[one]),
            int(trials[one]),
        )
        for one in range(count)
    )


@dataclass(frozen=True, slots=True, eq=False)
class RiskCoverage:
    """The risk of acting on the surest answers only, for each threshold; all arrays have shape (points,)."""

    threshold: Floats
    """Act on answers with at least this probability; falling."""
    coverage: Floats
    """Share of all rows that are acted on; rising."""
    risk: Floats
    """Share of wrong answers among those acted on."""
    area: float
    """Mean risk over the coverages that can be reached: 0 is perfect (AURC; Geifman and others 2019)."""
    n: int
    unanswered: int

    def risk_at(self, coverage: float) -> float:
        """Return the risk at the first point that covers at least so much; NaN when none does."""
        place = int(np.searchsorted(self.coverage, checked_share("coverage", coverage) - 1e-12))
        return float(self.risk[place]) if place < len(self.risk) else float("nan")

    def coverage_at(self, risk: float) -> float:
        """Return the largest coverage whose risk on these rows is at most so much; 0 when there is none.

        It holds for these rows only: for a promise use `threshold_for`.
        """
        kept = self.coverage[self.risk <= checked_share("risk", risk)]
        return float(kept[-1]) if len(kept) else 0.0

    def points(self, most: int = 200) -> list[tuple[float, float]]:
        """Return at most so many pairs of coverage and risk, spread evenly, for a plot."""
        places = np.unique(
            np.linspace(0, len(self.risk) - 1, min(checked_count("most", most), len(self.risk)))
        )
        chosen = places.round().astype(np.intp)
        return [(float(self.coverage[place]), float(self.risk[place])) for place in chosen]


def risk_coverage(probabilities: ArrayLike, labels: ArrayLike, *, unanswered: int = 0) -> RiskCoverage:
    """Return how the share of wrong answers falls when only the surest ones are acted on.

    Args:
        probabilities: Of yes, shape (n,), where the answer is yes from 0.5 on; or shape (n, options).
        labels: One per row, or shares of raters.
        unanswered: Rows beyond these that have no answer: they are never covered.

    Raises:
        DataError: A row is not as it should be, or `unanswered` is negative.
    """
    confidence, wrong = _answers(probabilities, labels)
    if unanswered < 0:
        raise DataError(f"`unanswered` must be 0 or more, not {unanswered}")
    thresholds, place = np.unique(-confidence, return_inverse=True)
    taken = np.cumsum(counted(place, np.ones(len(place)), len(thresholds)))
    errors = np.cumsum(counted(place, wrong, len(thresholds)))
    return RiskCoverage(
        threshold=-thresholds,
        coverage=taken / (len(confidence) + unanswered),
        risk=errors / taken,
        area=_area(confidence, wrong)(np.ones(len(confidence))),
        n=len(confidence),
        unanswered=unanswered,
    )


def _risk_coverage_area(probabilities: ArrayLike, labels: ArrayLike) -> Statistic:
    return _area(*_answers(probabilities, labels))


@prepared_by(_risk_coverage_area)
def risk_coverage_area(
    probabilities: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Return the area under the curve of `risk_coverage`, for intervals and differences of it.

    Equal probabilities count as the mean over all orders of their rows.

    Raises:
        DataError: A row is not as it should be.
    """
    statistic = _risk_coverage_area(probabilities, labels)
    return value_of(statistic, len(shares(probabilities)), weights)


def _area(confidence: Floats, wrong: Floats) -> Statistic:
    from scipy.special import digamma

    distinct, place = np.unique(-confidence, return_inverse=True)
    count = len(distinct)

    def area(weights: Floats) -> float:
        size, errors = counted(place, weights, count), counted(place, weights * wrong, count)
        used = size > 0
        size, errors = size[used], errors[used]
        total = np.concatenate([[0.0], np.cumsum(size)])
        before = np.concatenate([[0.0], np.cumsum(errors)[:-1]])
        # of m rows in any order after N with E errors, e of their own: the sum over j of (E + e j / m) / (N + j)
        steps = np.diff(digamma(total + 1))
        return float((errors + (before - errors * total[:-1] / size) * steps).sum() / total[-1])

    return area


def _answers(probabilities: ArrayLike, labels: ArrayLike) -> tuple[Floats, Floats]:
    """Return the probability of the answer that is given, and how wrong it is."""
    p = shares(probabilities)
    if p.ndim == 2:
        confidence, right = top_label(p, labels)
        return confidence, 1 - right
    truth = truths(labels, p)
    return np.maximum(p, 1 - p), np.where(p >= 0.5, 1 - truth, truth)


def _yes_no(probabilities: ArrayLike, labels: ArrayLike) -> tuple[Floats, Floats]:
    p = shares(probabilities)
    if p.ndim != 1:
        raise DataError("a reliability diagram is of yes/no, shape (n,); for a choice see `top_label`")
    return p, truths(labels, p)
