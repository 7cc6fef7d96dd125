"""Scores of one set, and the paired difference of two readers with its interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

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


def filled(rows: Sequence[dict[str, Any]], sizes: Sequence[int]) -> list[NDArray[np.float64]]:
    """Return the shares of each item; an item without an answer counts as all answers equally likely."""
    return [
        np.full(size, 1 / size) if row["shares"] is None else np.asarray(row["shares"], dtype=np.float64)
        for row, size in zip(rows, sizes, strict=True)
    ]


def log_losses(
    rows: Sequence[dict[str, Any]], labels: Sequence[int], sizes: Sequence[int]
) -> NDArray[np.float64]:
    """Return the log loss of each item."""
    shares = filled(rows, sizes)
    return -np.log([np.clip(p[label], CLIP, 1 - CLIP) for p, label in zip(shares, labels, strict=True)])


def score(
    rows: Sequence[dict[str, Any]], labels: Sequence[int], sizes: Sequence[int], *, yes_no: bool
) -> Scores:
    """Return the scores of one reader on one set."""
    shares = filled(rows, sizes)
    brier = np.mean(
        [np.sum((p - np.eye(len(p))[label]) ** 2) for p, label in zip(shares, labels, strict=True)]
    )
    auroc = None
    if yes_no and len(set(labels)) == 2:
        auroc = float(roc_auc_score([label == 0 for label in labels], [p[0] for p in shares]))
    right = [
        row["shares"] is not None and int(p.argmax()) == label
        for row, p, label in zip(rows, shares, labels, strict=True)
    ]
    masses = [row["mass"] for row in rows if row["mass"] is not None]
    return Scores(
        log_loss=float(log_losses(rows, labels, sizes).mean()),
        brier=float(brier),
        auroc=auroc,
        accuracy=float(np.mean(right)),
        undecided=float(np.mean([row["shares"] is None for row in rows])),
        mass=float(np.mean(masses)) if masses else float("nan"),
        seconds=float(np.median([row["seconds"] for row in rows])),
    )


def paired_interval(
    difference: NDArray[np.float64], groups: Sequence[str], *, draws: int = 2000, seed: int = 1
) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a mean difference, resampling whole groups."""
    return interval_of(lambda picked: float(difference[picked].mean()), groups, draws=draws, seed=seed)


def interval_of(
    measure: Callable[[NDArray[np.intp]], float], groups: Sequence[str], *, draws: int = 2000, seed: int = 1
) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a measure, resampling whole groups.

    Args:
        measure: From the places of the items drawn, with repeats, to the value; NaN where it is not defined.
        groups: Of each item; those of one stay together.
        draws: Resamples.
        seed: Makes the interval repeatable.
    """
    names = sorted(set(groups))
    places = [np.flatnonzero(np.asarray(groups) == name) for name in names]
    random = np.random.default_rng(seed)
    found = []
    for _ in range(draws):
        picked = np.concatenate([places[i] for i in random.integers(len(names), size=len(names))])
        found.append(measure(picked))
    low, high = np.nanquantile(found, [0.025, 0.975])
    return float(low), float(high)
