"""Choices and scales as yes/no: the names of labels, one option at a time, and the answer on top."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from yesno.calibration._arrays import ArrayLike, Floats, Places, np, shares, shortened, truths
from yesno.errors import DataError

__all__ = ["by_option", "label_places", "shown_answers", "top_label"]


def label_places(labels: Iterable[str], options: Sequence[str]) -> Places:
    """Return the place of each label among the options, as the scores take them.

    Raises:
        DataError: A label is no option (`row`, counted from 1, and `value` say which), or two options are equal.
    """
    places = {option: place for place, option in enumerate(options)}
    if len(places) != len(options):
        raise DataError("two options have the same name")
    found = []
    for row, label in enumerate(labels, start=1):
        if label not in places:
            near = get_close_matches(str(label), [str(option) for option in options], n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise DataError(
                f"label {shortened(label)} is none of the {len(options)} options{hint}", row=row, value=label
            )
        found.append(places[label])
    return np.asarray(found, dtype=np.intp)


def top_label(probabilities: ArrayLike, labels: ArrayLike) -> tuple[Floats, Floats]:
    """Return the probability of the most probable option of each row, and whether it is right (1 or 0).

    All that is for yes/no can then be said of the answer on top: its calibration error, its reliability diagram, the
    threshold from which on it may be acted on.

    Args:
        probabilities: Shape (n, options).
        labels: Places of the right options, or shares of raters, who may be right in part.

    Raises:
        DataError: A row is not as it should be.
    """
    p, truth = _given(probabilities, labels)
    top = p.argmax(axis=1)[:, None]
    return np.take_along_axis(p, top, axis=1)[:, 0], np.take_along_axis(truth, top, axis=1)[:, 0]


def shown_answers(
    rows: Sequence[Sequence[float]], labels: Sequence[int], *, directed: bool
) -> tuple[list[float], list[bool]]:
    """Return what is said of the answer on top, and whether it is right; of yes/no what is said of yes, and whether it holds.

    Like `top_label`, for rows that may have different numbers of options and one right option each.

    Args:
        rows: Probabilities of each row.
        labels: Places of the right options.
        directed: Whether the options are yes and no, in this order.
    """
    tops = [0 if directed else max(range(len(row)), key=row.__getitem__) for row in rows]
    said = [row[top] for row, top in zip(rows, tops, strict=True)]
    return said, [top == label for top, label in zip(tops, labels, strict=True)]


def by_option(
    score: Callable[..., float],
    probabilities: ArrayLike,
    labels: ArrayLike,
    options: Sequence[str],
    **settings: Any,
) -> dict[str, float]:
    """Return a yes/no score for each option: is it this one, or another?

    An option for which the score has no value, such as an AUROC of one that is never right, is left out.

    Args:
        score: One of `scores`, `ranking` and `ece`.
        probabilities: Shape (n, options).
        labels: Places of the right options, or shares of raters.
        options: Their names, in order.
        settings: Of the score, such as `floor=1e-6` or `weights`.

    Raises:
        DataError: A row is not as it should be, or there are other than `options` columns.
    """
    p, truth = _given(probabilities, labels)
    if len(options) != p.shape[1]:
        raise DataError(f"there are {len(options)} options for {p.shape[1]} columns")
    found = {}
    for place, option in enumerate(options):
        try:
            found[option] = score(p[:, place], truth[:, place], **settings)
        except DataError:
            if 0 < truth[:, place].mean() < 1:
                raise
    return found


def _given(probabilities: ArrayLike, labels: ArrayLike) -> tuple[Floats, Floats]:
    p = shares(probabilities)
    if p.ndim != 2:
        raise DataError("give the probability of each option, in shape (n, options)")
    return p, truths(labels, p)
