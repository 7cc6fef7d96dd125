"""Bootstrap intervals of scores, and paired differences of two models on the same rows.

Rows of one group (paraphrases of one text, questions about one document) stay together: whole groups are resampled.
Groups of one stratum (a set, a label) are resampled among themselves, so that each keeps its weight.
A resample is a count per group, not a copy of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from yesno._checks import checked_count
from yesno.calibration._arrays import ArrayLike, Floats, Places, group_places, np, numbers
from yesno.calibration._statistics import Statistic, mean_of, statistic_of
from yesno.errors import ConfigError, DataError, TooFewLabels

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

LEAST_GROUPS = 5
"""Fewer groups say nothing about how much groups differ."""
BLOCKS = 400
"""Groups are left out for the acceleration of a BCa interval in at most so many blocks."""
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


class Resampling:
    """Draws weights of rows: how often the group of each is drawn.

    Args:
        count: Rows.
        groups: Of each row; None makes each a group of its own.
        strata: Of each row; None is one stratum.
        draws: Resamples.
        seed: The same seed gives the same resamples.

    Raises:
        DataError: Lengths differ, or a group lies in two strata.
        TooFewLabels: There are fewer than five groups.
    """

    def __init__(
        self,
        count: int,
        *,
        groups: Iterable[object] | None = None,
        strata: Iterable[object] | None = None,
        draws: int = 1000,
        seed: int = 1,
    ) -> None:
        self.draws = checked_count("draws", draws)
        self.seed = seed
        self.places = np.arange(count) if groups is None else group_places(groups, count)
        self.groups = int(self.places.max()) + 1 if count else 0
        if self.groups < LEAST_GROUPS:
            raise TooFewLabels(
                f"{self.groups} groups say nothing about how much groups differ; "
                f"an interval needs at least {LEAST_GROUPS}",
                needed=LEAST_GROUPS,
                given=self.groups,
            )
        self._pools = _pools(self.places, self.groups, strata)

    def __iter__(self) -> Any:  # noqa: ANN401 - an iterator of arrays
        """Yield the weights of the rows, `draws` times, and the same ones each time."""
        random = np.random.default_rng(self.seed)
        counts = np.zeros(self.groups)
        for _ in range(self.draws):
            for pool in self._pools:
                drawn = np.bincount(random.integers(len(pool), size=len(pool)), minlength=len(pool))
                counts[pool] = drawn
            yield counts[self.places]

    def without_blocks(self) -> Any:  # noqa: ANN401 - an iterator of arrays
        """Yield weights that leave out one block of groups each."""
        blocks = np.arange(self.groups) % min(BLOCKS, self.groups)
        of_rows = blocks[self.places]
        for block in range(int(blocks.max()) + 1):
            yield (of_rows != block).astype(np.float64)


def _pools(places: Places, groups: int, strata: Iterable[object] | None) -> list[Places]:
    """Return the groups of each stratum."""
    if strata is None:
        return [np.arange(groups)]
    stratum = group_places(strata, len(places), "strata")
    of_group = np.zeros(groups, dtype=np.intp)
    of_group[places] = stratum
    torn = np.flatnonzero(of_group[places] != stratum)
    if len(torn):
        raise DataError("its group lies in two strata; groups must lie in one each", row=int(torn[0]) + 1)
    return [np.flatnonzero(of_group == one) for one in range(int(stratum.max()) + 1)]


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
    '0.158 (0.037 to 0.355)'

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
    resampling = Resampling(np.shape(probabilities)[0], groups=groups, strata=strata, draws=draws, seed=seed)
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
    count = np.shape(first)[0]
    if np.shape(second)[0] != count:
        raise DataError(
            f"the models have {count} and {np.shape(second)[0]} rows; compare them on the same ones"
        )
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
