"""What every calibrator has in common.

Applying one needs no package; fitting one needs the extra `bench`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

from yesno.errors import ConfigError

if TYPE_CHECKING:
    from yesno.calibration.calibrators._rows import Rows

__all__ = [
    "EDGE",
    "ByWeight",
    "Calibrator",
    "checked_number",
    "checked_numbers",
    "log_odds",
    "sigmoid",
    "softmax",
]

EDGE = 1e-12
"""A calibrator takes 0 and 1 for this and 1 - this, and returns nothing outside of them: no finite number of labels
shows that something cannot be."""


@dataclass(frozen=True, slots=True)
class Calibrator(ABC):
    """A map from probabilities as read to calibrated ones; its fields are its parameters."""

    name: ClassVar[str]
    least_rows: ClassVar[int | None] = 50
    """Labelled rows from which on it may be fitted; None when labels cannot fit it."""
    by_label: ClassVar[bool] = False
    """Whether there are parameters for each label, so that it holds for one question only."""
    for_kinds: ClassVar[frozenset[str]] = frozenset({"yes_no", "choice", "scale"})
    """Types of questions that it may be fitted for."""
    most_labels: ClassVar[int | None] = None
    """Labels of a question up to which it is fitted; None for any number."""

    @property
    def labels(self) -> int | None:
        """How many labels its parameters are for; None for any number."""
        return None

    @abstractmethod
    def __call__(self, probabilities: Sequence[float], *, directed: bool) -> tuple[float, ...]:
        """Return calibrated probabilities (0..1, neither 0 nor 1; sum 1 within 1e-9) of all labels of one question.

        Args:
            probabilities: What was read for each label, in order.
            directed: Whether the labels are yes and no, in this order, and not peers.
        """

    @abstractmethod
    def bounds(
        self, low: Sequence[float], high: Sequence[float], *, directed: bool
    ) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the least and the greatest calibrated probability of each label, for all distributions within bounds."""

    @classmethod
    @abstractmethod
    def fitted(cls, rows: Rows) -> Self:
        """Return the calibrator with the least penalised log loss on labelled rows (extra `bench`)."""

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as JSON has them."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Self:
        """Return the calibrator with these parameters.

        Raises:
            ConfigError: A parameter is missing, unknown or impossible.
        """
        known = [field.name for field in fields(cls)]
        if sorted(parameters) != sorted(known):
            wanted = ", ".join(known) or "none"
            raise ConfigError(f"the parameters of {cls.name!r} are {wanted}, not {sorted(parameters)!r}")
        return cls(
            **{name: tuple(v) if isinstance(v, list) else v for name, v in parameters.items()},
        )


class ByWeight(Calibrator):
    """A calibrator that gives each label a weight by what was read for this label; the shares are the weights over their sum."""

    __slots__ = ()

    @abstractmethod
    def log_weight(self, label: int, probability: float, *, directed: bool) -> float:
        """Return the logarithm of a label's weight, which grows with its probability (0..1) or stays.

        Args:
            label: Number of the label, from 0.
            probability: What was read for it.
            directed: Whether the labels are yes and no, in this order, and not peers.
        """

    def __call__(self, probabilities: Sequence[float], *, directed: bool) -> tuple[float, ...]:
        """Return the weights divided by their sum."""
        return softmax([self.log_weight(i, p, directed=directed) for i, p in enumerate(probabilities)])

    def bounds(
        self, low: Sequence[float], high: Sequence[float], *, directed: bool
    ) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return each label's share when its own weight is least and the others' greatest, and the other way round."""
        if len(low) == 2:  # where one is least, the other is greatest
            least = self((low[0], 1.0 - low[0]), directed=directed)
            most = least if low[0] == high[0] else self((high[0], 1.0 - high[0]), directed=directed)
            return (least[0], most[1]), (most[0], least[1])
        down = [self.log_weight(i, p, directed=directed) for i, p in enumerate(low)]
        up = [self.log_weight(i, p, directed=directed) for i, p in enumerate(high)]

        def share(label: int, own: Sequence[float], others: Sequence[float]) -> float:
            return softmax([own[label] if i == label else w for i, w in enumerate(others)])[label]

        labels = range(len(low))
        return tuple(share(i, down, up) for i in labels), tuple(share(i, up, down) for i in labels)


def log_odds(probability: float) -> float:
    """Return the natural log-odds of a probability, kept `EDGE` away from 0 and 1."""
    p = min(1.0 - EDGE, max(EDGE, probability))
    return math.log(p) - math.log1p(-p)


def sigmoid(z: float) -> float:
    """Return the probability with these log-odds, kept `EDGE` away from 0 and 1."""
    p = 1.0 / (1.0 + math.exp(-z)) if z >= 0 else math.exp(max(z, -700.0)) / (1.0 + math.exp(max(z, -700.0)))
    return min(1.0 - EDGE, max(EDGE, p))


def softmax(log_weights: Sequence[float]) -> tuple[float, ...]:
    """Return weights divided by their sum, none of them below `EDGE`."""
    most = max(log_weights)
    weights = [max(EDGE, math.exp(w - most)) for w in log_weights]
    total = math.fsum(weights)
    return tuple(w / total for w in weights)


def checked_number(calibrator: str, name: str, value: Any, *, above: float = -math.inf) -> float:  # noqa: ANN401
    """Return a parameter that is a finite number above a limit.

    Raises:
        ConfigError: It is none.
    """
    if type(value) not in (int, float) or not math.isfinite(value) or not value > above:
        limit = "" if above == -math.inf else f" above {above:g}"
        raise ConfigError(f"`{name}` of {calibrator!r} must be a finite number{limit}, not {value!r}")
    return float(value)


def checked_numbers(calibrator: str, name: str, values: Iterable[Any], *, least: int) -> tuple[float, ...]:
    """Return a parameter that is a list of at least so many finite numbers.

    Raises:
        ConfigError: It is none.
    """
    if not isinstance(values, list | tuple) or len(values) < least:
        raise ConfigError(
            f"`{name}` of {calibrator!r} must be a list of at least {least} numbers, not {values!r}"
        )
    return tuple(checked_number(calibrator, f"{name}[{i}]", value) for i, value in enumerate(values))
