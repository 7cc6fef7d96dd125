"""Bootstrap intervals of scores, and paired differences of two models on the same rows.

Rows of one group (paraphrases of one text, questions about one document) stay together: whole groups are resampled.
Groups of one stratum (a set, a label) are resampled among themselves, so that each keeps its weight.
A resample is a count per group, not a copy of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from yesno.calibration._arrays import ArrayLike, Floats, count_of, np, numbers
from yesno.calibration._statistics import Statistic, mean_of, statistic_of
from yesno.calibration.resampling import LEAST_GROUPS, Resampling
from yesno.errors import ConfigError, DataError

__all__ = [
    "LEAST_GROUPS",
    "Difference",
    "Interval",
    "Method",
    "Resampling",
    "difference",
    "interval",
    "mean_difference",
    "mean_interval",
]

Method: TypeAlias = Literal["percentile", "bca"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and the ends of its interval."""

    value: float
    low: float
    high: float
    level: float
    """Share of such intervals that hold the true value, in the long run."""
    n: int
    """Rows."""
    groups: int
    """Groups that the rows belong to; as many as rows when none were given."""

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True, slots=True)
class Difference:
    """A score of the first model minus that of the second on the same rows, with its interval."""

    value: float
    low: float
    high: float
    level: float
    n: int
    groups: int

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval shows a difference; which sign is better depends on the score."""
        return self.low > 0 or self.high < 0

    def __str__(self) -> str:
        return f"{self.value:+.3f} ({self.low:+.3f} to {self.high:+.3f})"


def interval(
    score: Callable[..., float],
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    groups: Iterable[object] | None = None,
    strata: Iterable[object] | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 1,
    method: Method = "percentile",
    **options: Any,
) -> Interval:
    """Return a score with its bootstrap interval.

    >>> from yesno.calibration.scores import brier
    >>> str(interval(brier, [0.9, 0.2, 0.7, 0.4, 0.8, 0.1], [1, 0, 1, 0, 0, 0]))
    '0.158 (0.028 to 0.360)'

    Args:
        score: One of `scores`, `ranking` and `ece`, or a function that takes `weights`, one per row.
        probabilities: As the score takes them.
        labels: One per row.
        groups: Of each row; those of one are resampled together.
        strata: Of each row; groups are resampled within theirs.
        level: Of the interval.
        draws: Resamples; those without a value, such as an AUROC without a row labelled yes, are left out.
        seed: Makes the interval repeatable.
        method: `percentile`, or `bca` (bias-corrected and accelerated, Efron 1987), better for skewed scores.
        options: Of the score, such as `floor=1e-6`.

    Raises:
        DataError: A row is not as it should be, or the score has no value in any resample.
        TooFewLabels: There are fewer than five groups.
        ConfigError: A setting is impossible.
    """
    statistic = statistic_of(score, probabilities, labels, **options)
    resampling = Resampling(
        count_of(probabilities, "probabilities"), groups=groups, strata=strata, draws=draws, seed=seed
    )
    return Interval(*_ends(statistic, resampling, level, method))


def difference(
    score: Callable[..., float],
    first: ArrayLike,
    second: ArrayLike,
    labels: ArrayLike,
    *,
    groups: Iterable[object] | None = None,
    strata: Iterable[object] | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 1,
    method: Method = "percentile",
    **options: Any,
) -> Difference:
    """Return the score of the first model minus that of the second on the same rows, with its paired interval.

    Args:
        score: As in `interval`, as are the other settings.
        first: Probabilities of one model.
        second: Probabilities of the other, row by row of the same items.
        labels: One per row.
        groups: Of each row.
        strata: Of each row.
        level: Of the interval.
        draws: Resamples; each is of both models.
        seed: Makes the interval repeatable.
        method: `percentile` or `bca`.
        options: Of the score.

    Raises:
        DataError: A row is not as it should be, or the models have different numbers of rows.
        TooFewLabels: There are fewer than five groups.
        ConfigError: A setting is impossible.
    """
    count, others = count_of(first, "first"), count_of(second, "second")
    if count != others:
        raise DataError(f"the models have {count} and {others} rows; compare them on the same ones")
    one = statistic_of(score, first, labels, **options)
    other = statistic_of(score, second, labels, **options)
    resampling = Resampling(count, groups=groups, strata=strata, draws=draws, seed=seed)
    return Difference(*_ends(lambda weights: one(weights) - other(weights), resampling, level, method))


def mean_interval(values: ArrayLike, **settings: Any) -> Interval:
    """Return the mean of one number per row, such as losses, costs or seconds, with its interval.

    Args:
        values: Shape (n,), finite.
        settings: `groups`, `strata`, `level`, `draws`, `seed` and `method` of `interval`.

    Raises:
        DataError: A row is not as it should be.
        TooFewLabels: There are fewer than five groups.
        ConfigError: A setting is impossible.
    """
    return Interval(*_of_mean(numbers(values, "values"), **settings))


def mean_difference(first: ArrayLike, second: ArrayLike, **settings: Any) -> Difference:
    """Return the mean of the first numbers minus that of the second, row by row, with its interval.

    Args:
        first: Shape (n,), finite, such as the losses of one model.
        second: Shape (n,): those of the other on the same rows.
        settings: As in `mean_interval`.

    Raises:
        DataError: A row is not as it should be, or the lengths differ.
        TooFewLabels: There are fewer than five groups.
        ConfigError: A setting is impossible.
    """
    one, other = numbers(first, "first"), numbers(second, "second")
    if len(one) != len(other):
        raise DataError(f"there are {len(one)} and {len(other)} numbers; compare the same rows")
    return Difference(*_of_mean(one - other, **settings))


def _of_mean(
    values: Floats, *, level: float = 0.95, method: Method = "percentile", **settings: Any
) -> tuple[float, float, float, float, int, int]:
    return _ends(mean_of(values), Resampling(len(values), **settings), level, method)


def _ends(
    statistic: Statistic, resampling: Resampling, level: float, method: Method
) -> tuple[float, float, float, float, int, int]:
    """Return value, low, high, level, rows and groups."""
    if type(level) is not float or not 0 < level < 1:
        raise ConfigError(f"`level` must be a number between 0 and 1, such as 0.95, not {level!r}")
    if method not in ("percentile", "bca"):
        raise ConfigError(f"`method` must be 'percentile' or 'bca', not {method!r}")
    count = len(resampling.places)
    value = statistic(np.ones(count))
    drawn = np.asarray([statistic(weights) for weights in resampling])
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn):
        raise DataError("the score has no value in any resample; give more rows of each label")
    tails = np.asarray([(1 - level) / 2, (1 + level) / 2])
    if method == "bca":
        tails = _corrected(
            tails, value, drawn, [statistic(weights) for weights in resampling.without_blocks()]
        )
    way: Literal["linear", "nearest"] = "linear" if np.isfinite(drawn).all() else "nearest"
    low, high = np.quantile(drawn, tails, method=way)
    return value, float(low), float(high), level, count, resampling.groups


def _corrected(tails: Floats, value: float, drawn: Floats, jackknife: list[float]) -> Floats:
    """Return the shares of a BCa interval (Efron 1987, doi:10.1080/01621459.1987.10478410)."""
    from scipy.special import ndtr, ndtri

    below = float(((drawn < value).sum() + (drawn == value).sum() / 2) / len(drawn))
    if not 0 < below < 1:
        return tails
    known = np.asarray(jackknife)
    gaps = np.nanmean(known) - known[~np.isnan(known)]
    spread = float((gaps**2).sum()) ** 1.5
    acceleration = float((gaps**3).sum()) / (6 * spread) if spread > 0 else 0.0
    bias = ndtri(below)
    moved = bias + ndtri(tails)
    return np.asarray(ndtr(bias + moved / (1 - acceleration * moved)), dtype=np.float64)
