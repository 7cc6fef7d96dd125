"""What is known about how well a ready check tells things apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from yesno.errors import ConfigError
from yesno.templates.sets import FileTemplate

__all__ = ["Card", "Estimate", "Measurement", "card_of"]

Estimate: TypeAlias = tuple[float, float, float]
"""A value with the ends of its 95 % interval."""

UNMEASURED = "not measured: no labelled data at hand"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run of a check on labelled items that were not looked at when its words were chosen."""

    data: str
    """Name, source and licence of the items."""
    model: str
    wording: str
    """Digest of the words that were asked; those of today when it equals the card's."""
    date: str
    n: int
    positives: int
    """Items labelled yes."""
    undecided: int
    """Items without an answer; for `log_loss` a probability of 0.5, for the others left out."""
    auroc: Estimate
    """Chance that an item labelled yes gets the higher probability: 0.5 is a coin, 1 is perfect."""
    log_loss: Estimate
    """Mean in nats: 0 is perfect."""
    base_log_loss: float
    """Of always saying the share of yes among these items; a higher `log_loss` says less than that."""
    recall: Estimate
    """Share of the items labelled yes that are found at `threshold`."""
    false_positive_rate: float
    """Share of the items labelled no that are rejected at `threshold`."""
    threshold: float
    """The least one that rejects at most a tenth of these items labelled no."""

    def __str__(self) -> str:
        return (
            f"{self.data}, {self.model}, {self.date}: AUROC {_shown(self.auroc)}, log loss {_shown(self.log_loss)} "
            f"(base rate {self.base_log_loss:.2f}), recall {_shown(self.recall)} at {self.false_positive_rate:.0%} "
            f"false positives (threshold {self.threshold:.3f}), n {self.n} ({self.positives} yes, "
            f"{self.undecided} undecided), wording {self.wording}"
        )


@dataclass(frozen=True, slots=True)
class Card:
    """A ready check's words and the measurements of them. `print(card)` shows it all."""

    name: str
    description: str
    version: int
    wording: str
    """Digest of the words: first 8 hexadecimal digits of a SHA-256."""
    measured: tuple[Measurement, ...] = ()
    note: str = UNMEASURED
    """What the measurements mean for use, or why there are none."""

    @property
    def is_measured(self) -> bool:
        """Whether any measurement is of today's words."""
        return any(run.wording == self.wording for run in self.measured)

    def __str__(self) -> str:
        head = f"{self.name}, version {self.version}: {self.description}"
        return "\n".join([head, *(f"- {run}" for run in self.measured), self.note])


def card_of(name: str, template: FileTemplate) -> Card:
    """Read the card in the front matter of a check's template.

    Raises:
        ConfigError: An entry is missing or of another form.
    """
    given: Mapping[str, Any] = template.front.get("card", {})
    try:
        measured = tuple(_measurement(row) for row in given.get("measured", []))
        return Card(
            name,
            template.front["description"],
            template.front["version"],
            template.wording,
            measured,
            given.get("note", UNMEASURED if not measured else ""),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"template {template.name!r}: its card cannot be read: {error!r}") from error


def _measurement(row: Mapping[str, Any]) -> Measurement:
    estimates = {key: _estimate(row[key]) for key in ("auroc", "log_loss", "recall")}
    return Measurement(**{**row, "date": str(row["date"]), **estimates})


def _estimate(value: Any) -> Estimate:  # noqa: ANN401 - from a file
    point, low, high = value
    return float(point), float(low), float(high)


def _shown(estimate: Estimate) -> str:
    point, low, high = estimate
    return f"{point:.2f} ({low:.2f} to {high:.2f})"
