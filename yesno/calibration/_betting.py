"""Betting against "the mean is what it was": wealth that a fair game cannot make, whenever one looks."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Bet", "Range", "mean_range"]

FRACTIONS = (0.9, 0.5, 0.25, 0.12, 0.06, 0.03, 0.015)
"""Stakes, as shares of the largest one that cannot lose everything."""
PATIENCE = 200
"""After so many numbers half of the wealth is staked; the rest is kept for changes that come later."""


@dataclass(frozen=True, slots=True)
class Range:
    """A mean of numbers from 0 to 1, and where the true one lies."""

    mean: float
    low: float
    high: float
    n: int


def mean_range(total: float, squares: float, n: int, delta: float) -> Range:
    """Return the mean of `n` numbers from 0 to 1 with an interval that misses the true mean with a chance of `delta`.

    The tighter of two, at half the chance each: by the relative entropy of the means (Hoeffding 1963,
    doi:10.1080/01621459.1963.10500830, theorem 1), and by the variance that was seen (Maurer and Pontil 2009,
    arXiv:0907.3740, theorem 4). They hold whatever the distribution of the numbers.

    Args:
        total: Their sum.
        squares: The sum of their squares.
        n: How many, at least 2.
        delta: Chance to miss the mean.
    """
    mean = min(1.0, max(0.0, total / n))
    most = math.log(4 / delta) / n
    variance = max(0.0, (squares - n * mean**2) / (n - 1))
    logs = math.log(8 / delta)
    half = math.sqrt(2 * variance * logs / n) + 7 * logs / (3 * (n - 1))
    low, high = max(1 - _above(1 - mean, most), mean - half), min(_above(mean, most), mean + half)
    return Range(mean, low, high, n)


def _above(mean: float, most: float) -> float:
    """Return the largest mean whose relative entropy from this one is at most so much."""
    low, high = mean, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _entropy(mean, middle) > most:
            high = middle
        else:
            low = middle
    return high


def _entropy(p: float, q: float) -> float:
    yes = p * math.log(p / q) if p > 0 else 0.0
    if p >= 1:
        return yes
    return math.inf if q >= 1 else yes + (1 - p) * math.log((1 - p) / (1 - q))


class Bet:
    """Wealth of a gambler who starts with 1 and bets that numbers from 0 to 1 have a mean above a bound.

    While the mean of each number, given all before it, is at most the bound, the chance that the wealth is ever
    above `w` is at most `1 / w` (Ville's inequality; Waudby-Smith and Ramdas 2024, arXiv:2010.09686). Wealth is put in
    little by little, so that a change is found late too, and spread over several stakes.
    """

    __slots__ = ("_bound", "_cash", "_n", "_staked", "_stakes")

    def __init__(self, bound: float) -> None:
        self._bound = bound
        self._stakes = tuple(fraction / bound for fraction in FRACTIONS) if 0 < bound < 1 else ()
        self._staked = [0.0] * len(self._stakes)
        self._cash = 1.0
        self._n = 0

    def place(self, number: float) -> None:
        """Bet on one number from 0 to 1."""
        if not self._stakes:
            return
        self._n += 1
        left = PATIENCE / (PATIENCE + self._n)
        put = (self._cash - left) / len(self._stakes)
        self._cash = left
        gain = number - self._bound
        self._staked = [
            (staked + put) * (1 + stake * gain)
            for staked, stake in zip(self._staked, self._stakes, strict=True)
        ]

    @property
    def wealth(self) -> float:
        """What there is now."""
        return self._cash + sum(self._staked)
