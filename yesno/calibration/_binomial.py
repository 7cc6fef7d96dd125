"""Exact binomial bounds (Clopper and Pearson 1934, doi:10.1093/biomet/26.4.404)."""

from __future__ import annotations

from yesno.calibration._arrays import ArrayLike, Floats, np

__all__ = ["largest_share", "least_share"]


def largest_share(hits: ArrayLike, trials: ArrayLike, delta: float) -> Floats:
    """Return the share above which so few hits, or fewer, have a chance of less than `delta`; 1 without trials."""
    from scipy.special import betaincinv

    k, n = np.broadcast_arrays(np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    open_ended = k >= n
    bound = betaincinv(k + 1, np.where(open_ended, 1, n - k), 1 - delta)
    return np.where(open_ended, 1.0, bound)


def least_share(hits: ArrayLike, trials: ArrayLike, delta: float) -> Floats:
    """Return the share below which so many hits, or more, have a chance of less than `delta`; 0 without trials."""
    k, n = np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    return 1 - largest_share(n - k, n, delta)
