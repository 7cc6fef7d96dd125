"""From a reading to a calibrated reading."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from yesno.calibration.calibrators import Calibrator, Identity, LabelPrior
from yesno.calibration.calibrators._base import softmax
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

    The bounds of two labels are the calibrated old bounds, and those of a prior exact. Those of more labels hold for every distribution within
    the old bounds; of samples they are what a label's old bounds give when the other labels keep their proportions.

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
    if len(point) == 2:
        low, high = _of_two(reading, calibrator, directed=directed)
    elif reading.sampled is not None:
        low, high = _along(reading, calibrator, directed=directed)
    else:
        low, high = _around(reading, calibrator, directed=directed)
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


def _of_two(
    reading: Reading, calibrator: Calibrator, *, directed: bool
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the bounds of two labels: where one is least, the other is greatest."""
    down, up = reading.low[0], reading.high[0]
    least = calibrator((down, 1.0 - down), directed=directed)
    most = least if up == down else calibrator((up, 1.0 - up), directed=directed)
    return (least[0], most[1]), (most[0], least[1])


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


def _around(
    reading: Reading, calibrator: Calibrator, *, directed: bool
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return each label's share when its own weight is least and the others' greatest, and the other way round."""
    least = [calibrator.log_weight(i, p, directed=directed) for i, p in enumerate(reading.low)]
    most = [calibrator.log_weight(i, p, directed=directed) for i, p in enumerate(reading.high)]

    def share(label: int, own: Sequence[float], others: Sequence[float]) -> float:
        return softmax([own[label] if i == label else w for i, w in enumerate(others)])[label]

    labels = range(len(least))
    return tuple(share(i, least, most) for i in labels), tuple(share(i, most, least) for i in labels)


def _each(at: Callable[[int, float], float], values: Sequence[float]) -> tuple[float, ...]:
    return tuple(at(i, value) for i, value in enumerate(values))


def _stretched(reading: Reading, sampled: Sampled, low: Sequence[float], high: Sequence[float]) -> Sampled:
    """Return the standard errors in the proportion in which the intervals became wider or narrower."""
    widths = zip(reading.low, reading.high, low, high, strict=True)
    factors = [(d - c) / (b - a) if b > a else 1.0 for a, b, c, d in widths]
    return replace(sampled, errors=tuple(e * f for e, f in zip(sampled.errors, factors, strict=True)))
