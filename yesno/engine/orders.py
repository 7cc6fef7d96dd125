"""Ask in other orders too, and take the mean: what a place in the list is worth then cancels out.

Models prefer letters and places (Zheng et al. 2023, arXiv 2309.03882), which shows most where they are unsure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from yesno.engine.sampling import original_label, rotated
from yesno.errors import ConfigError
from yesno.questions import Choice, Question, YesNo
from yesno.reading.outcome import Declined, Reading, Unread

__all__ = ["Order", "Orders", "averaged", "checked_orders", "further_orders"]

Orders: TypeAlias = int | Literal["auto"]
UNSURE = 0.2
"""`"auto"` asks on when yes is within this of 0.5, or the best option leads by less."""
AUTO_CHOICE = 3
"""Orders of a `Choice` that `"auto"` takes in all."""


@dataclass(frozen=True, slots=True)
class Order:
    """One way to show the possible answers."""

    rotation: int = 0
    """Places that the options of a `Choice` move up."""
    swapped: bool = False
    """"No" is named before "yes"."""

    def of(self, question: Any) -> Any:  # noqa: ANN401 - a question of any type, and the same type back
        """Return the question in this order."""
        return rotated(question, self.rotation) if self.rotation else question

    def undone(self, question: Question[Any], reading: Reading) -> Reading:
        """Return a reading of the turned question with its labels in the original order."""
        if not self.rotation:
            return reading
        count = len(reading.probabilities)
        places = [0] * count
        for shown in range(count):
            original = original_label(question, shown, self.rotation)
            places[shown if original is None else original] = shown

        def back(values: tuple[float, ...]) -> tuple[float, ...]:
            return tuple(values[place] for place in places)

        return replace(
            reading,
            probabilities=back(reading.probabilities),
            low=back(reading.low),
            high=back(reading.high),
            mass=back(reading.mass),
            spare=back(reading.spare),
            missing=tuple(i for i, place in enumerate(places) if place in reading.missing),
            uncorrected=None if reading.uncorrected is None else back(reading.uncorrected),
        )


def further_orders(
    question: Question[Any], first: Reading | Unread | Declined, orders: Orders
) -> list[Order]:
    """Return the orders to ask in after the given one; none for a scale, a tournament or without a reading."""
    if orders == 1 or not isinstance(first, Reading) or "tournament" in first.flags:
        return []
    match question:
        case YesNo():
            sure = abs(first.probabilities[0] - 0.5) >= UNSURE
            return [] if orders == "auto" and sure else [Order(swapped=True)]
        case Choice():
            best, second, *_ = sorted(first.probabilities, reverse=True)
            if orders == "auto" and best - second >= UNSURE:
                return []
            size = len(question.options)
            count = min(size, AUTO_CHOICE if orders == "auto" else orders)
            return [Order(rotation=size * i // count) for i in range(1, count)]
        case _:
            return []


def averaged(readings: Sequence[Reading]) -> Reading:
    """Return the mean of readings with the same order of labels; their mean bounds hold for it."""
    if len(readings) == 1:
        return readings[0]

    def mean(columns: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
        return tuple(sum(column) / len(column) for column in zip(*columns, strict=True))

    raw = mean([r.probabilities if r.uncorrected is None else r.uncorrected for r in readings])
    corrected = any(r.uncorrected is not None for r in readings)
    return Reading(
        probabilities=mean([r.probabilities for r in readings]),
        low=mean([r.low for r in readings]),
        high=mean([r.high for r in readings]),
        mass=mean([r.mass for r in readings]),
        spare=mean([r.spare for r in readings]),
        unseen=sum(r.unseen for r in readings) / len(readings),
        label_mass=min(r.label_mass for r in readings),
        missing=tuple(sorted({i for r in readings for i in r.missing})),
        flags=tuple(sorted({"orders", *(flag for r in readings for flag in r.flags)})),
        uncorrected=raw if corrected else None,
    )


def checked_orders(value: Any) -> Orders:  # noqa: ANN401 - the check is the point
    """Return a number of orders, or `"auto"`, unchanged; else raise `ConfigError`."""
    if value == "auto" or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value  # type: ignore[no-any-return]
    raise ConfigError(f"`orders` must be a whole number of at least 1 or 'auto', not {value!r}")
