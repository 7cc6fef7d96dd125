"""A model's favourites among the labels, found without labels and taken out of its answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from yesno.calibration.calibrators._base import EDGE, ByWeight, checked_numbers
from yesno.errors import ConfigError
from yesno.reading.priors import Prior

if TYPE_CHECKING:
    from yesno.calibration.calibrators._rows import Rows

__all__ = ["LabelPrior"]


@dataclass(frozen=True, slots=True)
class LabelPrior(ByWeight):
    """Every label's odds divided by its share of the prior, as `yesno.reading.priors.corrected` does.

    It takes the labels to be equally frequent among the inputs, which is wrong where yes is rare: use labels
    when there are any.
    """

    name: ClassVar[str] = "prior"
    by_label: ClassVar[bool] = True
    shares: tuple[float, ...]
    """Share (above 0, sum 1) of each label, in order."""

    def __post_init__(self) -> None:
        values = checked_numbers(self.name, "shares", self.shares, least=2)
        try:
            object.__setattr__(self, "shares", Prior(values).shares)
        except ValueError as error:
            raise ConfigError(f"`shares` of 'prior': {error}") from None

    @property
    def prior(self) -> Prior:
        """The prior in the form that readings are corrected with."""
        return Prior(self.shares)

    @property
    def labels(self) -> int | None:
        """As many as there are shares."""
        return len(self.shares)

    def log_weight(self, label: int, probability: float, *, directed: bool) -> float:
        """Return the log-probability less the logarithm of the prior share."""
        return math.log(max(EDGE, probability)) - math.log(self.shares[label])

    @classmethod
    def of_batch(cls, probabilities: Sequence[Sequence[float]]) -> Self:
        """Return the mean of what was read for a batch of inputs (batch calibration: Zhou et al. 2023, arXiv 2309.17249).

        Args:
            probabilities: For each input the probability (0..1) of each label.

        Raises:
            ConfigError: There is no input, or a label had no probability in any.
        """
        if not probabilities:
            raise ConfigError("a prior needs at least one reading")
        return cls(
            tuple(math.fsum(column) / len(probabilities) for column in zip(*probabilities, strict=True))
        )

    @classmethod
    def fitted(cls, rows: Rows) -> Self:
        """Return the mean of what was read; the labels of the rows are not looked at."""
        import numpy as np

        return cls.of_batch(np.asarray(rows.read, dtype=float).tolist())
