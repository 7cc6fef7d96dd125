"""Arrays of probabilities and labels, checked; the one place that imports numpy for the room."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from yesno.errors import ConfigError, DataError

try:
    import numpy as np
except ImportError as error:
    raise ConfigError("scores need numpy and scipy: run `pip install 'yesno[bench]'`") from error

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Places: TypeAlias = NDArray[np.intp]
else:
    ArrayLike = Floats = Places = Any

__all__ = [
    "ArrayLike",
    "Floats",
    "Places",
    "both_classes",
    "count_of",
    "counted",
    "group_places",
    "matched",
    "np",
    "numbers",
    "shares",
    "shortened",
    "truths",
    "weighed",
]

LONGEST = 40
ROUNDING = 0.005
"""A share that was rounded to two decimals may be off by this much; so may each summand of a sum that should be 1."""


def numbers(values: ArrayLike, name: str) -> Floats:
    """Return finite numbers, one per row.

    Raises:
        DataError: They are no list of numbers, or one is NaN, None or infinite.
    """
    array = _floats(values, name)
    if array.ndim != 1:
        raise DataError(f"`{name}` must be one number per row, not an array of shape {array.shape}")
    _refuse(array, ~np.isfinite(array), f"`{name}` must be finite")
    return array


def shares(values: ArrayLike, name: str = "probabilities") -> Floats:
    """Return probabilities of shape (n,) or (n, options); those of a row of options sum to 1 but for rounding.

    Raises:
        DataError: There are none, one is NaN, None or outside 0 to 1, or a row of options has another sum.
    """
    array = _floats(values, name)
    if array.ndim not in (1, 2) or 0 in array.shape or (array.ndim == 2 and array.shape[1] < 2):
        raise DataError(
            f"`{name}` must be one number per row, or one row of at least two options each, "
            f"not an array of shape {array.shape}"
        )
    wrong = ~((array >= 0) & (array <= 1))
    _refuse(
        array, wrong, f"`{name}` must lie between 0 and 1 (leave rows without an answer out, and count them)"
    )
    if array.ndim == 2:
        sums = array.sum(axis=1)
        off = np.abs(sums - 1) > ROUNDING * array.shape[1] + 1e-9
        _refuse(sums, off, f"`{name}` of the options must sum to 1, those of a way out included")
    return array


def truths(labels: ArrayLike, probabilities: Floats) -> Floats:
    """Return labels as shares of the shape of the probabilities.

    Args:
        labels: For shape (n,): True, False, 1, 0, or the share of raters who said yes. For shape (n, options): the
            place of the right option, or the shares of raters.
        probabilities: Checked ones.

    Raises:
        DataError: The lengths differ, or a label is none of these.
    """
    if probabilities.ndim == 1:
        array = _floats(labels, "labels")
        if array.ndim != 1:
            raise DataError(f"`labels` must be one per row, not an array of shape {array.shape}")
        matched(array, probabilities, "labels")
        _refuse(
            array, ~((array >= 0) & (array <= 1)), "a label must be yes (1) or no (0), or a share in between"
        )
        return array
    count = probabilities.shape[1]
    array = _floats(labels, "labels")
    matched(array, probabilities, "labels")
    if array.ndim == 2:
        array = shares(array, "labels")
        if array.shape != probabilities.shape:
            raise DataError(f"`labels` have {array.shape[1]} options, the probabilities {count}")
        return array
    _refuse(
        array,
        ~((array >= 0) & (array < count) & (array == np.floor(array))),
        f"a label must be the place of one of {count} options, from 0 to {count - 1}",
    )
    return np.asarray(np.eye(count)[array.astype(np.intp)], dtype=np.float64)


def both_classes(labels: Floats, what: str) -> None:
    """Refuse labels that are all yes or all no.

    Raises:
        DataError: They are.
    """
    if labels.min() == labels.max() and labels[0] in (0, 1):
        only = "yes" if labels[0] else "no"
        raise DataError(
            f"all {len(labels)} labels are {only}; {what} needs rows labelled yes and rows labelled no"
        )


def matched(array: Any, probabilities: Floats, name: str) -> None:  # noqa: ANN401 - anything with a length
    """Refuse what does not have one entry per row of probabilities.

    Raises:
        DataError: The lengths differ.
    """
    if len(array) != len(probabilities):
        raise DataError(f"there are {len(array)} `{name}` for {len(probabilities)} rows; give one for each")


def weighed(weights: ArrayLike | None, count: int) -> Floats:
    """Return weights of 0 or more, one per row; all 1 for None.

    Raises:
        DataError: One is negative or not finite, all are 0, or the lengths differ.
    """
    if weights is None:
        return np.ones(count)
    array = numbers(weights, "weights")
    if len(array) != count:
        raise DataError(f"there are {len(array)} `weights` for {count} rows; give one for each")
    _refuse(array, array < 0, "a weight must be 0 or more")
    if not array.sum() > 0:
        raise DataError("all weights are 0")
    return array


def count_of(values: ArrayLike, name: str) -> int:
    """Return how many rows there are.

    Raises:
        DataError: It is no list of rows.
    """
    try:
        return len(values)  # type: ignore[arg-type]  # a number is what the check is for
    except TypeError:
        raise DataError(f"`{name}` must be a list or an array with one entry per row") from None


def counted(places: Places, weights: Floats, count: int) -> Floats:
    """Return the sum of the weights at each of so many places."""
    return np.asarray(np.bincount(places, weights, count), dtype=np.float64)


def group_places(groups: Iterable[object], count: int, name: str = "groups") -> Places:
    """Return for each row the place of its group in the sorted names.

    Raises:
        DataError: The lengths differ.
    """
    names = groups if isinstance(groups, np.ndarray) else np.asarray(list(groups))
    if names.ndim != 1 or len(names) != count:
        raise DataError(f"there are {len(names)} `{name}` for {count} rows; give one for each")
    return np.unique(names, return_inverse=True)[1]


def shortened(value: object) -> str:
    """Return how a value is written, cut off where it could be a whole text in the wrong column."""
    written = repr(value)
    return written if len(written) <= LONGEST else f"{written[:LONGEST]}…"


def _floats(values: ArrayLike, name: str) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    count_of(values, name)
    rows: Sequence[Any] = list(values)  # type: ignore[arg-type]  # what numpy cannot read may still be iterable
    width = None
    for place, row in enumerate(rows, start=1):
        try:
            array = np.asarray(row, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError(f"`{name}` must be numbers, not {shortened(row)}", row=place, value=row) from None
        if width is not None and array.shape != width:
            raise DataError(f"`{name}` must have as many numbers in each row", row=place, value=row)
        width = array.shape
    raise DataError(f"`{name}` must be numbers, one per row or one row each")


def _refuse(array: Floats, wrong: Any, rule: str) -> None:  # noqa: ANN401 - an array of truths
    """Raise about the first row where something is wrong."""
    if wrong.any():
        where = np.argwhere(wrong)[0]
        value = float(array[tuple(where)])
        shown = "NaN or None" if math.isnan(value) else repr(value)
        raise DataError(f"{rule}, not {shown}", row=int(where[0]) + 1, value=value)
