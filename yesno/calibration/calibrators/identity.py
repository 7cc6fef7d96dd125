"""Probabilities as they were read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from yesno.calibration.calibrators._base import EDGE, ByWeight

if TYPE_CHECKING:
    from yesno.calibration.calibrators._rows import Rows

__all__ = ["Identity"]


@dataclass(frozen=True, slots=True)
class Identity(ByWeight):
    """Changes nothing: what a card holds when no calibrator was shown to do better."""

    name: ClassVar[str] = "identity"
    least_rows: ClassVar[int | None] = None

    def log_weight(self, label: int, probability: float, *, directed: bool) -> float:
        """Return the logarithm of the probability, at least that of `EDGE`."""
        return math.log(max(EDGE, probability))

    @classmethod
    def fitted(cls, rows: Rows) -> Self:
        """Return it; there is nothing to fit."""
        return cls()
