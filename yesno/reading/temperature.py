"""Whether a host divides log-probabilities by the temperature, from two readings of one place."""

from __future__ import annotations

import math

from yesno.evidence import Position
from yesno.reading.candidates import CENSORED_BELOW
from yesno.reading.tokens import data_of

__all__ = ["NEAR", "temperature_slope"]

NEAR = 0.15
"""Part of the values that may be off the line: rounding moves them too."""
LEAST_SPREAD = 0.25
"""Least sum of squared differences of log-probabilities on which a line can be laid."""


def temperature_slope(hot: Position, cold: Position) -> float | None:
    """Return what differences of log-probabilities at temperature 1 are multiplied by at 0.5.

    About 1 where a host reports them as they are, 2 where it divides them by the temperature; None where the
    two places have too little in common to tell.
    """
    before, after = _values(hot), _values(cold)
    shared = sorted(before.keys() & after.keys(), key=lambda data: (-before[data], data))
    if len(shared) < 2:
        return None
    best = shared[0]
    pairs = [(before[data] - before[best], after[data] - after[best]) for data in shared[1:]]
    spread = sum(x * x for x, _ in pairs)
    if spread < LEAST_SPREAD:
        return None
    slope = sum(x * y for x, y in pairs) / spread
    error, whole = sum((y - slope * x) ** 2 for x, y in pairs), sum(y * y for _, y in pairs)
    return slope if error <= NEAR * NEAR * whole else None


def _values(position: Position) -> dict[bytes, float]:
    found: dict[bytes, float] = {}
    for candidate in (position.chosen, *position.top):
        value = candidate.logprob
        if value is not None and math.isfinite(value) and CENSORED_BELOW < value <= 0:
            found.setdefault(data_of(candidate), value)
    return found
