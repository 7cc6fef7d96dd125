"""From a reading to a calibrated reading."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from yesno.calibration.calibrators import Calibrator, Identity, LabelPrior
from yesno.questions import shares_of
from yesno.reading.outcome import Reading, Sampled
from yesno.reading.priors import corrected

__all__ = ["STEP", "calibrated", "shares_read", "unrounded"]

STEP = 0.01
"""Decision endpoints show two decimals (see `yesno.wire.distributions`)."""


def unrounded(probabilities: Sequence[float], flags: Collection[str]) -> tuple[float, ...]:
    """Return probabilities that were rounded with half a rounding step, shared by all labels, as the least.

    A shown 0.00 or 1.00 says no more than that, and at 0 itself a fit would hang on a few such rows. What is not
    flagged `rounded` stays as it is.
    """
    if "rounded" not in flags:
        return tuple(probabilities)
    least = STEP / 2 / len(probabilities)
    lifted = [max(least, p) for p in probabilities]
    total = math.fsum(lifted)
    return tuple(p / total for p in lifted)


def shares_read(question: object, outcome: object) -> tuple[float, ...] | None:
    """Return the probabilities of an answer as a card is fitted to them and applied to them; None when one is not there."""
    shares = shares_of(question, outcome)
    return None if shares is None else unrounded(shares, getattr(outcome, "flags", ()))


def calibrated(reading: Reading, calibrator: Calibrator, *, directed: bool) -> Reading:
    """Return a reading with a calibrator applied to its probabilities and bounds.

    The bounds of two labels are the calibrated old bounds, and those of a prior exact. Those of more labels hold for
    every distribution within the old bounds; of samples they are what a label's old bounds give when the other labels
    keep their proportions.

    Args:
        reading: What was read; its shares before all corrections stay in `uncorrected`.
        calibrator: What to apply; `Identity` changes nothing, and the reading does not count as calibrated.
        directed: Whether the labels are yes and no, in this order.
    """
    if isinstance(calibrator, Identity):
        return reading
    raw = reading.probabilities if reading.uncorrected is None else reading.uncorrected
    if isinstance(calibrator, LabelPrior) and reading.sampled is None:
        return replace(
            corrected(reading, calibrator.prior), uncorrected=raw, flags=reading.flags, calibrated=True
        )
    point = calibrator(reading.probabilities, directed=directed)
    if reading.sampled is not None and len(point) > 2:
        low, high = _along(reading, calibrator, directed=directed)
    else:
        low, high = calibrator.bounds(reading.low, reading.high, directed=directed)
    low = tuple(map(min, low, point))
    high = tuple(map(max, high, point))
    return replace(
        reading,
        probabilities=point,
        low=low,
        high=high,
        mass=low,
        spare=tuple(b - a for a, b in zip(low, high, strict=True)),
        unseen=max(0.0, 1.0 - sum(low)),
        uncorrected=raw,
        calibrated=True,
        sampled=None if reading.sampled is None else _stretched(reading, reading.sampled, low, high),
    )


def _along(
    reading: Reading, calibrator: Calibrator, *, directed: bool
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return each label's share when it has its least and greatest, and the others share the rest as before."""
    even = 1.0 / (len(reading.probabilities) - 1)

    def at(label: int, own: float) -> float:
        others = sum(p for i, p in enumerate(reading.probabilities) if i != label)
        moved = [
            p * (1.0 - own) / others if others > 0 else even * (1.0 - own) for p in reading.probabilities
        ]
        moved[label] = own
        return calibrator(moved, directed=directed)[label]

    return _each(at, reading.low), _each(at, reading.high)


def _each(at: Callable[[int, float], float], values: Sequence[float]) -> tuple[float, ...]:
    return tuple(at(i, value) for i, value in enumerate(values))


def _stretched(reading: Reading, sampled: Sampled, low: Sequence[float], high: Sequence[float]) -> Sampled:
    """Return the standard errors in the proportion in which the intervals became wider or narrower."""
    widths = zip(reading.low, reading.high, low, high, strict=True)
    factors = [(d - c) / (b - a) if b > a else 1.0 for a, b, c, d in widths]
    return replace(sampled, errors=tuple(e * f for e, f in zip(sampled.errors, factors, strict=True)))
