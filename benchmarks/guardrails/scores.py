"""Scores of a check on one set, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from yesno.calibration.intervals import Interval, interval
from yesno.calibration.ranking import auroc
from yesno.calibration.scores import log_loss

__all__ = ["MOST_FALSE", "Scores", "score"]

MOST_FALSE = 0.1
"""Share of the items labelled no that the reported threshold may reject."""
CLIP = 1e-6
"""Probabilities are kept this far from 0 and 1 for the log loss."""

DRAWS = 2000

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]
Estimate = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Scores:
    """Each estimate is a value and its 95 % bootstrap interval."""

    n: int
    positives: int
    undecided: int
    auroc: Estimate
    log_loss: Estimate
    base_log_loss: float
    recall: Estimate
    false_positive_rate: float
    threshold: float


def score(probabilities: Sequence[float | None], labels: Sequence[bool], groups: Sequence[str]) -> Scores:
    """Return the scores of one check; None is an item without an answer."""
    truth = np.asarray(labels)
    known = np.asarray([p is not None for p in probabilities])
    filled = np.asarray([0.5 if p is None else p for p in probabilities], dtype=np.float64)
    names = np.asarray(groups)
    threshold = _threshold(filled[known], truth[known])
    rate = float(truth.mean())
    return Scores(
        n=len(truth),
        positives=int(truth.sum()),
        undecided=int((~known).sum()),
        auroc=_estimate(interval(auroc, filled[known], truth[known], groups=names[known], draws=DRAWS)),
        log_loss=_estimate(interval(log_loss, filled, truth, groups=names, draws=DRAWS, floor=CLIP)),
        base_log_loss=float(-(rate * np.log(rate) + (1 - rate) * np.log(1 - rate))),
        recall=_estimate(interval(_recall, filled[known], truth[known], groups=names[known], draws=DRAWS)),
        false_positive_rate=float((filled[known][~truth[known]] >= threshold).mean()),
        threshold=threshold,
    )


def _recall(p: Floats, truth: Truths, *, weights: Floats) -> float:
    places = np.repeat(np.arange(len(p)), weights.astype(np.intp))
    p, truth = p[places], truth[places]
    return float((p[truth] >= _threshold(p, truth)).mean()) if 0 < truth.sum() < len(truth) else float("nan")


def _threshold(p: Floats, truth: Truths) -> float:
    """Return the least threshold, just above an item labelled no, that rejects few enough of these."""
    allowed = int(MOST_FALSE * int((~truth).sum()))
    return float(np.nextafter(np.sort(p[~truth])[::-1][allowed], 2))


def _estimate(found: Interval) -> Estimate:
    return found.value, found.low, found.high
