"""Scores of separate and of packed answers, and what packing costs with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.packing.items import Item
from yesno.calibration import ranking, scores
from yesno.calibration.intervals import Resampling

__all__ = ["LEAST_INPUTS", "Cost", "Scores", "cost_of", "losses", "score"]

CLIP = 1e-6
"""Probabilities are kept this far from 0 and 1 for the log loss, both ways."""
LEAST_INPUTS = 5
"""Fewer inputs than this say nothing about how much inputs differ, so there is no interval."""
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over all questions of a set; the last four are per input."""

    log_loss: float
    brier: float
    auroc: float | None
    undecided: float
    packed: float
    """Share of the answers that came out of a packed reply."""
    requests: float
    tokens_in: float
    tokens_out: float
    seconds: float
    """Median."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Log loss of packed answers above that of separate ones."""

    nats: float
    nats_low: float
    nats_high: float
    percent: float
    low: float
    high: float


def shares(row: dict[str, Any], item: Item) -> Array:
    """Return P(yes) of each question; one half where there is no answer."""
    return np.asarray(
        [0.5 if row["answers"][name] is None else row["answers"][name] for name in item.questions]
    )


def losses(rows: Sequence[dict[str, Any]], items: Sequence[Item]) -> list[Array]:
    """Return the log loss of each question, by input."""
    return [
        scores.log_losses(shares(row, item), list(item.labels.values()), floor=CLIP)
        for row, item in zip(rows, items, strict=True)
    ]


def score(rows: Sequence[dict[str, Any]], items: Sequence[Item]) -> Scores:
    """Return the scores of one way on one set."""
    p = np.concatenate([shares(row, item) for row, item in zip(rows, items, strict=True)])
    labels = np.asarray([label for item in items for label in item.labels.values()])
    count = len(labels)
    return Scores(
        log_loss=float(np.concatenate(losses(rows, items)).mean()),
        brier=scores.brier(p, labels),
        auroc=ranking.auroc(p, labels) if len(set(labels.tolist())) == 2 else None,
        undecided=sum(answer is None for row in rows for answer in row["answers"].values()) / count,
        packed=sum(row["packed"] for row in rows) / count,
        requests=float(np.mean([row["requests"] for row in rows])),
        tokens_in=float(np.mean([row["tokens_in"] for row in rows])),
        tokens_out=float(np.mean([row["tokens_out"] for row in rows])),
        seconds=float(np.median([row["seconds"] for row in rows])),
    )


def cost_of(
    sets: Sequence[tuple[Sequence[Array], Sequence[Array]]], *, draws: int = 2000, seed: int = 1
) -> Cost:
    """Return what packing costs on average over sets, each of the same weight.

    Args:
        sets: Losses of separate and of packed answers per set, by input. The 95 % interval is a paired bootstrap over
            the inputs of each set: all questions about one stay together, and so do both ways.
        draws: Resamples.
        seed: Makes the interval repeatable.
    """
    sums = [
        np.asarray([[a.sum(), b.sum(), len(a)] for a, b in zip(one, other, strict=True)])
        for one, other in sets
    ]
    nats, percent = _gap(sums)
    strata = np.repeat(np.arange(len(sums)), [len(s) for s in sums])
    drawn = np.asarray(
        [
            _gap([s * weights[strata == place, None] for place, s in enumerate(sums)])
            for weights in Resampling(len(strata), strata=strata, draws=draws, seed=seed)
        ]
    )
    (nats_low, low), (nats_high, high) = np.quantile(drawn, [0.025, 0.975], axis=0)
    return Cost(nats, float(nats_low), float(nats_high), percent, float(low), float(high))


def _gap(sums: Sequence[Array]) -> tuple[float, float]:
    means = np.mean([s[:, :2].sum(axis=0) / s[:, 2].sum() for s in sums], axis=0)
    return float(means[1] - means[0]), float(100 * (means[1] / means[0] - 1))
