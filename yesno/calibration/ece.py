"""Calibration errors: how far probabilities are from the shares of yes among rows that were given them.

They are for yes/no, shape (n,). For a choice take one option at a time, or the answer on top: see `options`.
A calibration error of few rows is never 0, even of a calibrated model: compare it with `noise_of`. For the same reason
resamples have larger errors than the rows they are drawn from, so take `method="bca"` for an interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from yesno._checks import checked_count
from yesno.calibration._arrays import (
    ArrayLike,
    Floats,
    Places,
    count_of,
    counted,
    group_places,
    np,
    shares,
    truths,
)
from yesno.calibration._statistics import Statistic, dot, prepared_by, statistic_of, value_of
from yesno.errors import ConfigError, DataError

__all__ = ["Noise", "debiased_ece", "equal_mass_bins", "noise_of", "smooth_ece"]

CELLS = 4096
"""The unit interval is cut into so many cells, so the kernel is not narrower than one of them."""
NARROWEST = 1 / CELLS


def _given(probabilities: ArrayLike, labels: ArrayLike) -> tuple[Floats, Floats]:
    p = shares(probabilities)
    if p.ndim != 1:
        raise DataError(
            "a calibration error is of yes/no, shape (n,); for a choice use `by_option` or `top_label` "
            "of yesno.calibration.options"
        )
    return p, truths(labels, p)


def _smooth_ece(probabilities: ArrayLike, labels: ArrayLike) -> Statistic:
    p, truth = _given(probabilities, labels)
    residual = truth - p
    spread = _Cells(p)

    def error(weights: Floats) -> float:
        total = weights.sum()
        return _fixed_point(spread.put(residual * weights) / total) if total > 0 else float("nan")

    return error


@prepared_by(_smooth_ece)
def smooth_ece(probabilities: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the smooth calibration error (smECE): 0 is calibrated, and there are no bins to choose.

    The residuals are smoothed by a Gaussian kernel that is reflected at 0 and 1, and the width is the one that equals
    the error (Błasiok and Nakkiran 2023, arXiv:2309.12236, definition 3).

    Args:
        probabilities: Of yes, shape (n,).
        labels: True, False, 1 or 0, or shares of raters.
        weights: Of the rows.

    Raises:
        DataError: A row is not as it should be.
    """
    statistic = _smooth_ece(probabilities, labels)
    return value_of(statistic, len(shares(probabilities)), weights)


def equal_mass_bins(p: Floats, bins: int) -> Places:
    """Return the bin of each row: as many rows in each as can be, equal probabilities in one, empty ones left out."""
    _, place, sizes = np.unique(p, return_inverse=True, return_counts=True)
    middle = np.cumsum(sizes) - sizes / 2
    wanted = np.floor(middle / len(p) * bins)
    return np.unique(wanted, return_inverse=True)[1][place]


def _debiased_ece(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = 15) -> Statistic:
    from scipy.special import ndtr

    p, truth = _given(probabilities, labels)
    place = equal_mass_bins(p, checked_count("bins", bins))
    count = int(place.max()) + 1

    def error(weights: Floats) -> float:
        n = counted(place, weights, count)
        used = n > 0
        n = n[used]
        share = counted(place, weights * truth, count)[used] / n
        gap = np.abs(share - counted(place, weights * p, count)[used] / n)
        spread = np.sqrt(share * (1 - share) / n)
        ratio = np.divide(gap, spread, out=np.full_like(gap, np.inf), where=spread > 0)
        chance = spread * np.sqrt(2 / np.pi) * np.exp(-(ratio**2) / 2) - 2 * gap * ndtr(-ratio)
        return dot(n, gap - chance) / float(n.sum())

    return error


@prepared_by(_debiased_ece)
def debiased_ece(
    probabilities: ArrayLike, labels: ArrayLike, *, bins: int = 15, weights: ArrayLike | None = None
) -> float:
    """Return the binned calibration error, less what the noise of the labels adds to it.

    Bins hold equally many rows. What noise adds is what normal errors of each bin's share of yes add (Kumar, Liang and
    Ma 2019, arXiv:1909.10155, for the absolute error as in their package), worked out and not simulated. It takes away
    about half of the noise of few rows, so compare with `noise_of`; the result may be a little below 0.

    Args:
        probabilities: Of yes, shape (n,).
        labels: True, False, 1 or 0, or shares of raters, for whom the noise is taken too large.
        bins: Fewer when probabilities are equal.
        weights: Of the rows.

    Raises:
        DataError: A row is not as it should be.
        ConfigError: `bins` is no count.
    """
    statistic = _debiased_ece(probabilities, labels, bins=bins)
    return value_of(statistic, len(shares(probabilities)), weights)


@dataclass(frozen=True, slots=True)
class Noise:
    """What a calibration error is on average, and at most at the level, for a model that is calibrated."""

    mean: float
    high: float
    level: float
    n: int
    draws: int

    def explains(self, value: float) -> bool:
        """Return whether chance alone makes an error as large as this."""
        return value <= self.high

    def __str__(self) -> str:
        return f"{self.mean:.3f}, up to {self.high:.3f}"


def noise_of(
    score: Callable[..., float],
    probabilities: ArrayLike,
    *,
    groups: Iterable[object] | None = None,
    level: float = 0.95,
    draws: int = 200,
    seed: int = 1,
    **options: object,
) -> Noise:
    """Return the calibration error that chance alone makes with these very probabilities.

    Labels are drawn with the probabilities as given, so a model that gives them is calibrated by construction.

    Args:
        score: `smooth_ece` or `debiased_ece`.
        probabilities: Of yes, shape (n,).
        groups: Of each row. The labels of a group are drawn by one number, as if they had to agree, which makes the
            noise as large as it can be; None draws each by its own.
        level: Share of the draws that `high` is not below.
        draws: How often labels are drawn.
        seed: Makes the result repeatable.
        options: Of the score, such as `bins=10`.

    Raises:
        DataError: A row is not as it should be.
        ConfigError: A setting is impossible.
    """
    p, _ = _given(probabilities, np.zeros(count_of(probabilities, "probabilities")))
    if not 0 < level < 1:
        raise ConfigError(f"`level` must lie between 0 and 1, not {level!r}")
    places = np.arange(len(p)) if groups is None else group_places(groups, len(p))
    random = np.random.default_rng(seed)
    ones, found = np.ones(len(p)), []
    for _ in range(checked_count("draws", draws)):
        labels = random.random(int(places.max()) + 1)[places] < p
        found.append(statistic_of(score, p, labels, **options)(ones))
    return Noise(float(np.mean(found)), float(np.quantile(found, level)), level, len(p), draws)


class _Cells:
    """Puts numbers of rows into cells of the unit interval, each shared between the two nearest centres."""

    def __init__(self, p: Floats) -> None:
        position = p * CELLS - 0.5
        left = np.floor(position)
        self._part = position - left
        self._left = np.clip(left, 0, CELLS - 1).astype(np.intp)
        self._right = np.clip(left + 1, 0, CELLS - 1).astype(np.intp)

    def put(self, values: Floats) -> Floats:
        """Return the sum of the values in each cell."""
        shared = values * self._part
        return counted(self._left, values - shared, CELLS) + counted(self._right, shared, CELLS)


def _fixed_point(residuals: Floats) -> float:
    """Return the width of the kernel that equals the error it gives; the error falls as the width grows.

    A reflected Gaussian is diagonal in the cosine transform, so each width costs one inverse transform.
    """
    from scipy.fft import dct, idct
    from scipy.optimize import brentq

    waves = dct(residuals)
    exponents = -((np.pi * np.arange(CELLS)) ** 2) / 2

    def excess(width: float) -> float:
        # the waves beyond are damped by e^-50 and more, and numbers so small are the slowest
        near = min(CELLS, int(10 / (np.pi * width)) + 1)
        smoothed = idct(waves[:near] * np.exp(exponents[:near] * width**2), n=CELLS)
        return float(np.abs(smoothed).sum()) - width

    if excess(NARROWEST) <= 0:
        return float(np.abs(residuals).sum())
    if excess(1.0) >= 0:
        return 1.0
    return float(brentq(excess, NARROWEST, 1.0, xtol=1e-7))
