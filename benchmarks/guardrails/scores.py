"""Scores of a check on one set, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

__all__ = ["MOST_FALSE", "Scores", "score"]

MOST_FALSE = 0.1
"""Share of the items labelled no that the reported threshold may reject."""
CLIP = 1e-6
"""Probabilities are kept this far from 0 and 1 for the log loss."""

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
        auroc=_estimate(_auroc, filled[known], truth[known], names[known]),
        log_loss=_estimate(_log_loss, filled, truth, names),
        base_log_loss=float(-(rate * np.log(rate) + (1 - rate) * np.log(1 - rate))),
        recall=_estimate(_recall, filled[known], truth[known], names[known]),
        false_positive_rate=float((filled[known][~truth[known]] >= threshold).mean()),
        threshold=threshold,
    )


def _auroc(p: Floats, truth: Truths) -> float:
    return float(roc_auc_score(truth, p))


def _log_loss(p: Floats, truth: Truths) -> float:
    clipped = np.clip(p, CLIP, 1 - CLIP)
    return float(-np.log(np.where(truth, clipped, 1 - clipped)).mean())


def _recall(p: Floats, truth: Truths) -> float:
    return float((p[truth] >= _threshold(p, truth)).mean())


def _threshold(p: Floats, truth: Truths) -> float:
    """Return the least threshold, just above an item labelled no, that rejects few enough of these."""
    allowed = int(MOST_FALSE * int((~truth).sum()))
    return float(np.nextafter(np.sort(p[~truth])[::-1][allowed], 2))


def _estimate(
    measure: Callable[[Floats, Truths], float],
    p: Floats,
    truth: Truths,
    groups: NDArray[np.str_],
    *,
    draws: int = 2000,
    seed: int = 1,
) -> Estimate:
    """Return a measure with its bootstrap interval, resampling whole groups; draws without both labels are left out."""
    names = sorted(set(groups))
    places = [np.flatnonzero(groups == name) for name in names]
    random = np.random.default_rng(seed)
    values = []
    for _ in range(draws):
        picked = np.concatenate([places[i] for i in random.integers(len(names), size=len(names))])
        if 0 < truth[picked].sum() < len(picked):
            values.append(measure(p[picked], truth[picked]))
    low, high = np.quantile(values, [0.025, 0.975])
    return measure(p, truth), float(low), float(high)
