"""Tests of many thresholds at once that together keep one chance of being wrong.

Thresholds are those of a fixed grid, tested in a fixed order, from the strictest on, each with an exact binomial test
of "the risk is too high". The chance `delta` is split over a few starting places; a test that succeeds hands its part
on to the next threshold, one that fails loses it (fallback procedure, Wiens and Dmitrienko 2005,
doi:10.1080/10543400500265660; as a way to choose thresholds: Angelopoulos and others, Learn then Test,
arXiv:2110.01052). The chance that any threshold is passed whose risk is too high is then at most `delta`, however many
thresholds are tested, which scanning them one by one does not give.

Starting places are at a number of rows that are acted on, so they know probabilities and no labels.
"""

from __future__ import annotations

from yesno.calibration._arrays import Floats, Places, np

__all__ = ["GRID", "largest_allowed", "least_rows", "rows_needed", "walked"]

STARTS = 5
DECADES = 10.0 ** -np.arange(6, 2, -1)
TAIL = np.concatenate([decade * np.arange(1, 10) for decade in DECADES])
GRID: Floats = np.round(np.concatenate([1 - TAIL, np.arange(198, 1, -1) / 200, TAIL[::-1]]), 6)
"""Thresholds from 0.999999 down to 0.000001: steps of 0.005, and finer ones within 0.01 of the ends."""


def least_rows(risk: float, delta: float) -> int:
    """Return the rows, all of them right, that it takes to show a risk at all: 45 for 0.05 and 0.1."""
    return int(np.ceil(np.log(delta) / np.log1p(-risk) - 1e-9))


def walked(hits: Places, rows: Places, total: int, *, risk: float, delta: float) -> Floats:
    """Return for each threshold the chance of being wrong that its test was allowed, 0 when it was not passed.

    Args:
        hits: Wrong rows among those acted on, shape (..., thresholds), from the strictest on.
        rows: Rows acted on at each, of the same shape; never falling.
        total: All rows.
        risk: What is to be kept.
        delta: Chance of being wrong about it.
    """
    from scipy.special import bdtr

    starts = _starts(total, risk, delta)
    share = delta / len(starts)
    handed = np.zeros(rows.shape)
    for start in starts:
        handed += share * np.diff(rows >= start, axis=-1, prepend=False)
    chances = np.where(rows > 0, bdtr(hits, np.maximum(rows, 1), risk), 1.0)
    allowed = np.zeros(rows.shape)
    held = np.zeros(rows.shape[:-1])
    for place in range(rows.shape[-1]):
        held = held + handed[..., place]
        held = np.where(chances[..., place] <= held * (1 + 1e-12), held, 0.0)
        allowed[..., place] = held
    return allowed


def _starts(total: int, risk: float, delta: float) -> Floats:
    """Return the numbers of rows to start at: more of them when there are rows to spare."""
    spare = np.log2(max(total, 1) / least_rows(risk, delta))
    count = int(np.clip(np.floor(spare) - 2, 1, STARTS))
    least = least_rows(risk, delta / count)
    return np.asarray(np.ceil(np.geomspace(least, max(total / 2, least), count) - 1e-9), dtype=np.float64)


def largest_allowed(trials: int, *, risk: float, delta: float) -> int:
    """Return how many of so many trials may go wrong when the risk is to be kept; -1 when even none is too many."""
    from scipy.special import bdtr

    return int((bdtr(np.arange(trials + 1), trials, risk) <= delta * (1 + 1e-12)).sum()) - 1


def rows_needed(hits: Places, rows: Places, *, risk: float, delta: float) -> Floats:
    """Return with about how many rows acted on the risk would probably be shown; infinite when it never would.

    Args:
        hits: Wrong rows among those acted on now, for each threshold.
        rows: Rows acted on now.
        risk: What is to be kept.
        delta: Chance of being wrong about it.
    """
    from scipy.special import bdtr

    sizes = np.unique(np.geomspace(least_rows(risk, delta), 1e7, 300).astype(np.int64))
    rates = (hits + 0.5) / (rows + 1)
    rates = np.where(hits == 0, np.minimum(rates, risk / 4), rates)[:, None]
    likely = rates * sizes + np.sqrt(sizes * rates * (1 - rates))  # five times in six it will be fewer
    tests = bdtr(np.floor(likely), sizes, risk) <= delta
    return np.asarray(np.where(tests.any(axis=1), sizes[tests.argmax(axis=1)], np.inf), dtype=np.float64)
