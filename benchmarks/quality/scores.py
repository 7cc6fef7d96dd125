"""Scores of one set, and the paired difference of two readers with its interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from yesno.calibration import ranking, scores
from yesno.calibration.intervals import LEAST_GROUPS, Resampling, mean_interval

__all__ = ["Scores", "interval_of", "log_losses", "paired_interval", "score"]

CLIP = 1e-6
"""Probabilities are kept this far from 0 and 1 for the log loss, for both readers."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over the items of a set."""

    log_loss: float
    brier: float
    """Sum over the answers of the squared error."""
    auroc: float | None
    """Of P(yes); None for other types."""
    accuracy: float
    undecided: float
    mass: float
    seconds: float
    """Median, so that a pause does not count."""


def filled(rows: Sequence[dict[str, Any]], sizes: Sequence[int]) -> NDArray[np.float64]:
    """Return the shares of each item, those it does not have 0; one without an answer has all equally likely."""
    shares = np.zeros((len(rows), max(sizes)))
    for place, (row, size) in enumerate(zip(rows, sizes, strict=True)):
        shares[place, :size] = 1 / size if row["shares"] is None else row["shares"]
    return shares


def log_losses(
    rows: Sequence[dict[str, Any]], labels: Sequence[int], sizes: Sequence[int]
) -> NDArray[np.float64]:
    """Return the log loss of each item."""
    return scores.log_losses(filled(rows, sizes), labels, floor=CLIP)


def score(
    rows: Sequence[dict[str, Any]], labels: Sequence[int], sizes: Sequence[int], *, yes_no: bool
) -> Scores:
    """Return the scores of one reader on one set."""
    shares = filled(rows, sizes)
    auroc = None
    if yes_no and len(set(labels)) == 2:
        auroc = ranking.auroc(shares[:, 0], [label == 0 for label in labels])
    right = [
        row["shares"] is not None and int(p.argmax()) == label
        for row, p, label in zip(rows, shares, labels, strict=True)
    ]
    masses = [row["mass"] for row in rows if row["mass"] is not None]
    return Scores(
        log_loss=float(log_losses(rows, labels, sizes).mean()),
        brier=scores.brier(shares, labels),
        auroc=auroc,
        accuracy=float(np.mean(right)),
        undecided=float(np.mean([row["shares"] is None for row in rows])),
        mass=float(np.mean(masses)) if masses else float("nan"),
        seconds=float(np.median([row["seconds"] for row in rows])),
    )


def paired_interval(
    difference: NDArray[np.float64], groups: Sequence[str], *, draws: int = 2000, seed: int = 1
) -> tuple[float, float] | None:
    """Return the 95 % bootstrap interval of a mean difference, resampling whole groups; None with too few of them."""
    if len(set(groups)) < LEAST_GROUPS:
        return None
    found = mean_interval(difference, groups=groups, draws=draws, seed=seed)
    return found.low, found.high


def interval_of(
    measure: Callable[[NDArray[np.intp]], float], groups: Sequence[str], *, draws: int = 2000, seed: int = 1
) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a measure, resampling whole groups, of which there must be five.

    Args:
        measure: From the places of the items drawn, with repeats, to the value; NaN where it is not defined.
        groups: Of each item; those of one stay together.
        draws: Resamples.
        seed: Makes the interval repeatable.
    """
    places = np.arange(len(groups))
    resampling = Resampling(len(groups), groups=groups, draws=draws, seed=seed)
    found = [measure(np.repeat(places, weights.astype(np.intp))) for weights in resampling]
    low, high = np.nanquantile(found, [0.025, 0.975])
    return float(low), float(high)
