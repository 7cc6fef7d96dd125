"""What a template is worth: log loss after a map of few parameters that is fitted on other rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

from yesno.labelled import Item, options_of

if TYPE_CHECKING:
    from yesno.calibration._arrays import Floats

__all__ = ["FLOOR", "Map", "Shares", "fit_map", "losses", "out_of_fold"]

Shares: TypeAlias = tuple[float, ...]
"""Probabilities in the order of `options_of`; they sum to 1."""
FLOOR = 1e-6
"""A probability below it counts as it: one impossible answer must not decide everything."""
FOLDS = 5
WIDTH = 1.0
"""Standard deviation of the slope around 1 and of the shifts around 0 that the ridge expects."""


def losses(shares: Sequence[Shares], items: Sequence[Item]) -> Floats:
    """Return the log loss (nats) of each item; where several people labelled it, the label is what most of them said."""
    import numpy as np

    from yesno.calibration.scores import log_losses

    logits, targets, _ = _arrays(shares, items)
    return log_losses(np.exp(logits), targets, floor=FLOOR)


@dataclass(frozen=True, slots=True)
class Map:
    """Softmax of slope times log-probability plus a shift per option: temperature and bias; Platt's for yes and no."""

    slope: float
    shifts: tuple[float, ...]
    """Empty where the options differ from row to row."""

    def apply(self, shares: Sequence[Shares]) -> list[Shares]:
        """Return the mapped probabilities."""
        import numpy as np

        found = []
        for row in shares:
            z = self.slope * np.log(np.maximum(row, FLOOR))
            if self.shifts:
                z = z + np.asarray(self.shifts)
            e = np.exp(z - z.max())
            found.append(tuple((e / e.sum()).tolist()))
        return found


def fit_map(shares: Sequence[Shares], items: Sequence[Item]) -> Map:
    """Return the map with the least log loss plus ridge: the fewer rows, the nearer it stays to no change."""
    import numpy as np
    from scipy.optimize import minimize

    from yesno.calibration.calibrators._rows import SEARCH

    logits, targets, shared = _arrays(shares, items)
    mask = np.isfinite(logits)
    z = np.where(mask, logits, 0.0)
    width = logits.shape[1] if shared else 0

    def objective(x: Floats) -> tuple[float, Floats]:
        scores = np.where(mask, x[0] * z + (x[1:] if shared else 0.0), -np.inf)
        normal = scores - _log_sum(scores)
        loss = -np.where(mask, targets * np.where(mask, normal, 0.0), 0.0).sum()
        off = np.where(mask, np.exp(normal) - targets, 0.0)
        pull = np.concatenate([[x[0] - 1.0], x[1:]]) / WIDTH**2
        gradient = np.concatenate([[(off * z).sum()], off.sum(axis=0) if shared else []]) + pull
        return float(loss + 0.5 * WIDTH**2 * (pull**2).sum()), gradient

    start = np.concatenate([[1.0], np.zeros(width)])
    bounds = [(0.0, None), *[(None, None)] * width]
    found = minimize(objective, start, jac=True, method="TNC", bounds=bounds, options=SEARCH).x
    return Map(float(found[0]), tuple(float(v) for v in found[1:]))


@lru_cache(maxsize=8)  # today's template is compared with all others
def out_of_fold(shares: tuple[Shares, ...], items: tuple[Item, ...]) -> Floats:
    """Return the log loss of each item under a map that was fitted on other groups than its own."""
    import numpy as np

    folds = np.array(
        [int(sha256(f"fold:{item.group}".encode()).hexdigest()[:8], 16) % FOLDS for item in items]
    )
    found = np.zeros(len(items))
    for fold in range(FOLDS):
        out = np.flatnonzero(folds == fold)
        rest = np.flatnonzero(folds != fold)
        if not len(out):
            continue
        mapping = Map(1.0, ())
        if len(rest):
            mapping = fit_map([shares[i] for i in rest], [items[i] for i in rest])
        mapped = mapping.apply([shares[i] for i in out])
        found[out] = losses(mapped, [items[i] for i in out])
    return found


def _arrays(shares: Sequence[Shares], items: Sequence[Item]) -> tuple[Floats, Floats, bool]:
    """Return log-probabilities (-inf where a row has fewer options), targets, and whether all rows have the same options."""
    import numpy as np

    width = max(map(len, shares))
    logits = np.full((len(shares), width), -np.inf)
    targets = np.zeros((len(shares), width))
    for i, (row, item) in enumerate(zip(shares, items, strict=True)):
        clipped = np.maximum(row, FLOOR)
        logits[i, : len(row)] = np.log(clipped / clipped.sum())  # some hosts round, and sum to 0.99
        targets[i, item.label] = 1.0
    shared = len({options_of(item.question) for item in items}) == 1
    return logits, targets, shared


def _log_sum(scores: Floats) -> Floats:
    import numpy as np

    top = scores.max(axis=1, keepdims=True)
    return np.asarray(top + np.log(np.exp(scores - top).sum(axis=1, keepdims=True)))
