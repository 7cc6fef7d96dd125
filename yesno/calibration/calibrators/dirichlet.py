"""Dirichlet calibration: each label's weight depends on what was read for every label (Kull et al. 2019, arXiv 1910.12656)."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, Self

from yesno.calibration.calibrators._base import EDGE, Calibrator, checked_numbers, softmax
from yesno.errors import ConfigError

if TYPE_CHECKING:
    from yesno.calibration.calibrators._rows import Array, Rows

__all__ = ["Dirichlet"]

LEAST = 1e-3
"""A smaller probability counts as this: what is next to nothing must not decide, by a large factor of its logarithm,
what the others get."""
SLOPE_SPREAD = 3.0
"""Standard deviation of the normal prior on the slope that all labels share, around 1."""
BIAS_SPREAD = 1.0
"""The same for each label's bias, around 0."""
SPREADS = (0.3, 1.0, 3.0)
"""The same for each further entry of the matrix, around 0; which of them, cross-validation within the rows decides."""
FOLDS = 3
PLENTY = 10
"""Rows for each entry of the matrix from which on the spread hardly matters, and `USUAL` is taken."""
USUAL = 1.0


@dataclass(frozen=True, slots=True)
class Dirichlet(Calibrator):
    """A matrix times the log-probabilities, plus a bias for each label, then renormalised.

    It mends labels that are mistaken for each other: where a model says the second option of what is the fifth, and does
    so reliably, the fifth gets its due. A label's probability need not grow with what was read for it.
    """

    name: ClassVar[str] = "dirichlet"
    by_label: ClassVar[bool] = True
    for_kinds: ClassVar[frozenset[str]] = frozenset({"choice", "scale"})
    most_labels: ClassVar[int | None] = 20
    matrix: tuple[tuple[float, ...], ...]
    """For each label, in order, the factor of the log-probability of each label."""
    biases: tuple[float, ...]
    """One for each label, in order; their sum is 0."""

    def __post_init__(self) -> None:
        biases = checked_numbers(self.name, "biases", self.biases, least=2)
        rows = self.matrix if isinstance(self.matrix, list | tuple) else ()
        checked = tuple(
            checked_numbers(self.name, f"matrix[{i}]", row, least=2) for i, row in enumerate(rows)
        )
        if {len(row) for row in (biases, *checked)} != {len(checked)}:
            raise ConfigError(
                f"`matrix` of {self.name!r} must have a row for each of {len(biases)} biases, and as many columns"
            )
        object.__setattr__(self, "matrix", checked)

    @property
    def labels(self) -> int | None:
        """As many as there are biases."""
        return len(self.biases)

    def __call__(self, probabilities: Sequence[float], *, directed: bool) -> tuple[float, ...]:
        """Return calibrated probabilities of all labels of the question."""
        read = [math.log(max(LEAST, p)) for p in probabilities]
        pairs = zip(self.matrix, self.biases, strict=True)
        return softmax([bias + sum(map(operator.mul, row, read)) for row, bias in pairs])

    def bounds(
        self, low: Sequence[float], high: Sequence[float], *, directed: bool
    ) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return bounds that hold for every distribution within the given ones."""
        least, most = self._leads(low, high)
        return tuple(map(_share, most)), tuple(map(_share, least))

    def _leads(
        self, low: Sequence[float], high: Sequence[float]
    ) -> tuple[list[list[float]], list[list[float]]]:
        """Return by how much at least, and at most, the log-weight of each label (inner) exceeds that of each other."""
        count = len(self.biases)
        ends = [(math.log(max(LEAST, a)), math.log(max(LEAST, b))) for a, b in zip(low, high, strict=True)]
        least, most = ([[0.0] * count for _ in range(count)] for _ in range(2))
        for own, other in combinations(range(count), 2):
            under = over = self.biases[other] - self.biases[own]
            for mine, theirs, (bottom, top) in zip(self.matrix[own], self.matrix[other], ends, strict=True):
                factor = theirs - mine
                under += factor * (bottom if factor > 0 else top)
                over += factor * (top if factor > 0 else bottom)
            least[own][other], most[own][other] = under, over
            least[other][own], most[other][own] = -over, -under
        return least, most

    @classmethod
    def fitted(cls, rows: Rows) -> Self:
        """Return the matrix and biases with the least log loss, drawn by normal priors to one slope for all labels."""
        matrix, biases = _fit(rows, _spread(rows))
        return cls(tuple(map(tuple, matrix.tolist())), tuple((biases - biases.mean()).tolist()))


def _share(leads: Sequence[float]) -> float:
    """Return the share of a label over which the others, itself among them, lead by so much in log-weight."""
    most = max(leads)
    total = most + math.log(math.fsum(math.exp(lead - most) for lead in leads))
    return min(1.0 - EDGE, max(EDGE, math.exp(-min(total, 700.0))))


def _log_read(rows: Rows) -> Array:
    import numpy as np

    found: Array = np.log(np.maximum(rows.read, LEAST))
    return found


def _spread(rows: Rows) -> float:
    """Return the spread with the least loss on rows that were not fitted to."""
    if len(rows) >= PLENTY * rows.read.shape[1] ** 2:
        return USUAL
    parts = [rows.group % FOLDS == fold for fold in range(FOLDS)]
    if not all(part.any() and not part.all() for part in parts):
        return SPREADS[0]
    return min(
        SPREADS,
        key=lambda spread: sum(_held_out(rows.part(~part), rows.part(part), spread) for part in parts),
    )


def _held_out(fitting: Rows, scoring: Rows, spread: float) -> float:
    matrix, biases = _fit(fitting, spread)
    return float(scoring.loss_of(_log_read(scoring) @ matrix.T + biases).sum())


def _fit(rows: Rows, spread: float) -> tuple[Array, Array]:
    import numpy as np
    from scipy.optimize import minimize

    from yesno.calibration.calibrators._rows import SEARCH, log_softmax

    log_read, count = _log_read(rows), rows.read.shape[1]

    def split(parameters: Array) -> tuple[float, Array, Array]:
        return parameters[0], parameters[1 : 1 + count], parameters[1 + count :].reshape(count, count)

    def total(parameters: Array) -> tuple[float, Array]:
        slope, biases, rest = split(parameters)
        loss, error = rows.loss_and_slope(log_softmax(slope * log_read + log_read @ rest.T + biases))
        loss += 0.5 * ((slope - 1.0) / SLOPE_SPREAD) ** 2
        loss += 0.5 * float((biases**2).sum()) / BIAS_SPREAD**2 + 0.5 * float((rest**2).sum()) / spread**2
        gradient = np.concatenate(
            [
                [float((error * log_read).sum()) + (slope - 1.0) / SLOPE_SPREAD**2],
                error.sum(axis=0) + biases / BIAS_SPREAD**2,
                (error.T @ log_read + rest / spread**2).ravel(),
            ]
        )
        return loss, gradient

    start = np.zeros(1 + count + count * count)
    start[0] = 1.0
    slope, biases, rest = split(minimize(total, start, jac=True, method="TNC", options=SEARCH).x)
    return slope * np.eye(count) + rest, biases
