"""Labelled rows, checked one by one; errors count rows from 1."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

from yesno.calibration.subjects import Kind
from yesno.errors import DataError, TooFewLabels

__all__ = ["checked_groups", "checked_rows"]

TOLERANCE = 0.02
"""How far from 1 the probabilities of one row may add up: hosts that round to two decimals reach this."""


def checked_rows(
    probabilities: Sequence[Any], labels: Sequence[Any], *, kind: Kind, least: int
) -> tuple[list[tuple[float, ...]], list[int]]:
    """Return for each row the probability of each label, and the number of the right one.

    Args:
        probabilities: Of yes, or of each label.
        labels: Yes or no, or the number of a label.
        kind: Type of the questions.
        least: How many rows there must be.

    Raises:
        TooFewLabels: There are fewer.
        DataError: Something does not fit.
    """
    if len(probabilities) != len(labels):
        raise DataError(f"there are {len(probabilities)} rows of probabilities and {len(labels)} labels")
    if len(labels) < least:
        raise TooFewLabels(
            f"{len(labels)} labels are too few to fit a calibration: it takes {least}, and 200 to show much",
            needed=least,
            given=len(labels),
        )
    read, right = [], []
    for number, (shares, label) in enumerate(zip(probabilities, labels, strict=True), start=1):
        row = _yes_no(shares, number) if kind == "yes_no" else _of_labels(shares, number)
        read.append(row)
        right.append(_yes(label, number) if kind == "yes_no" else _number(label, len(row), number))
    if len(set(right)) == 1:
        same = repr(bool(1 - right[0])) if kind == "yes_no" else f"number {right[0]}"
        raise DataError(f"all {len(right)} rows have the same label, {same}; both, or several, must occur")
    return read, right


def checked_groups(groups: Sequence[Hashable] | None, count: int) -> list[int]:
    """Return the number of each row's group; every row is one of its own where none are given.

    Raises:
        DataError: There are not as many as rows.
    """
    if groups is None:
        return list(range(count))
    if len(groups) != count:
        raise DataError(f"there are {count} rows and {len(groups)} groups")
    known: dict[Hashable, int] = {}
    return [known.setdefault(group, len(known)) for group in groups]


def _yes_no(share: Any, number: int) -> tuple[float, float]:  # noqa: ANN401 - the check is the point
    p = _probability(share, number)
    return p, 1.0 - p


def _of_labels(shares: Any, number: int) -> tuple[float, ...]:  # noqa: ANN401 - the check is the point
    if isinstance(shares, str) or not hasattr(shares, "__len__") or len(shares) < 2:
        raise DataError(f"the probabilities must be two or more numbers, not {shares!r}", row=number)
    row = tuple(_probability(share, number) for share in shares)
    total = math.fsum(row)
    if abs(total - 1.0) > max(TOLERANCE, 0.005 * len(row)):
        raise DataError(f"the probabilities add up to {total:.4g}, not to 1", row=number)
    return tuple(p / total for p in row)


def _probability(value: Any, number: int) -> float:  # noqa: ANN401 - the check is the point
    try:
        p = float(value)
    except (TypeError, ValueError):
        raise DataError(f"{value!r} is no probability", row=number) from None
    if math.isnan(p) or not -1e-6 <= p <= 1 + 1e-6:
        raise DataError(f"{value!r} is no probability; it must be from 0 to 1", row=number)
    return min(1.0, max(0.0, p))


def _yes(label: Any, number: int) -> int:  # noqa: ANN401 - the check is the point
    plain = label.item() if hasattr(label, "item") else label
    if not isinstance(plain, bool):
        raise DataError(f"row {number}: the label of a yes/no question must be True or False, not {label!r}")
    return 0 if plain else 1


def _number(label: Any, count: int, number: int) -> int:  # noqa: ANN401 - the check is the point
    plain = label.item() if hasattr(label, "item") else label
    if type(plain) is not int or not 0 <= plain < count:
        raise DataError(
            f"label {label!r} is not among the options, which are numbered 0 to {count - 1}",
            row=number,
            value=label,
        )
    return plain
