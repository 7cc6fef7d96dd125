"""Scores as functions of row weights, so that resampling copies no rows and sorts them once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from yesno.calibration._arrays import ArrayLike, Floats, np, weighed

__all__ = ["Statistic", "dot", "mean_of", "prepared_by", "statistic_of", "value_of"]

Statistic: TypeAlias = Callable[[Floats], float]
"""From one weight of 0 or more per row to a value; NaN where it is not defined for these weights."""
Score = TypeVar("Score", bound=Callable[..., float])

_PREPARED: dict[Callable[..., float], Callable[..., Statistic]] = {}


def prepared_by(prepare: Callable[..., Statistic]) -> Callable[[Score], Score]:
    """Register what checks and sorts the rows of a score once; it takes the arguments of the score but `weights`."""

    def register(score: Score) -> Score:
        _PREPARED[score] = prepare
        return score

    return register


def statistic_of(score: Callable[..., float], *data: ArrayLike, **options: Any) -> Statistic:
    """Return a score as a function of weights; one that is not of this room is called with `weights=` anew."""
    prepare = _PREPARED.get(score)
    if prepare is not None:
        return prepare(*data, **options)
    return lambda weights: float(score(*data, weights=weights, **options))


def value_of(statistic: Statistic, count: int, weights: ArrayLike | None) -> float:
    """Return the value of a statistic of some rows."""
    return statistic(weighed(weights, count))


def dot(one: Floats, other: Floats) -> float:
    """Return the sum of the products; without BLAS, whose threads wait for each other on a busy machine."""
    return float(np.einsum("i,i->", one, other))


def mean_of(values: Floats) -> Statistic:
    """Return the weighted mean; infinite as soon as an infinite value has a weight."""
    infinite = ~np.isfinite(values)
    if not infinite.any():
        return lambda weights: dot(values, weights) / float(weights.sum())
    finite = np.where(infinite, 0.0, values)

    def mean(weights: Floats) -> float:
        if weights[infinite].any():
            return float(values[infinite & (weights > 0)].mean())
        return dot(finite, weights) / float(weights.sum())

    return mean
