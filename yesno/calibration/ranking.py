"""How well probabilities put rows labelled yes before rows labelled no, whatever their size.

`weights` is one number of 0 or more per row; labels are True, False, 1 or 0.
"""

from __future__ import annotations

from yesno.calibration._arrays import (
    ArrayLike,
    Floats,
    Places,
    both_classes,
    count_of,
    counted,
    np,
    numbers,
    truths,
)
from yesno.calibration._statistics import Statistic, dot, prepared_by, value_of
from yesno.errors import DataError

__all__ = ["auroc", "average_precision"]


def _sorted(scores: ArrayLike, labels: ArrayLike, what: str) -> tuple[Places, int, Floats]:
    """Return the place of each row's score among the distinct ones, how many these are, and the labels."""
    p = numbers(scores, "scores")
    if not len(p):
        raise DataError(f"{what} needs rows, and there are none")
    truth = truths(labels, p)
    soft = (truth > 0) & (truth < 1)
    if soft.any():
        row = int(np.flatnonzero(soft)[0])
        raise DataError(
            f"{what} needs labels that are yes or no, not {float(truth[row])!r}",
            row=row + 1,
            value=float(truth[row]),
        )
    both_classes(truth, what)
    distinct, place = np.unique(p, return_inverse=True)
    return place, len(distinct), truth


def _auroc(scores: ArrayLike, labels: ArrayLike) -> Statistic:
    place, count, truth = _sorted(scores, labels, "an AUROC")

    def area(weights: Floats) -> float:
        yes = counted(place, weights * truth, count)
        no = counted(place, weights * (1 - truth), count)
        pairs = yes.sum() * no.sum()
        if not pairs > 0:
            return float("nan")
        return dot(yes, np.cumsum(no) - no / 2) / float(pairs)

    return area


@prepared_by(_auroc)
def auroc(scores: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the chance that a row labelled yes has the higher score; equals count half.

    Args:
        scores: Shape (n,): probabilities of yes, or any finite numbers.
        labels: Shape (n,): True, False, 1 or 0.
        weights: Of the rows.

    Raises:
        DataError: A row is not as it should be, or all labels are the same.
    """
    statistic = _auroc(scores, labels)
    return value_of(statistic, count_of(scores, "scores"), weights)


def _average_precision(scores: ArrayLike, labels: ArrayLike) -> Statistic:
    place, count, truth = _sorted(scores, labels, "an average precision")

    def area(weights: Floats) -> float:
        yes = counted(place, weights * truth, count)[::-1]
        rows = counted(place, weights, count)[::-1]
        if not yes.sum() > 0:
            return float("nan")
        taken = np.cumsum(rows)
        precision = np.divide(np.cumsum(yes), taken, out=np.zeros_like(taken), where=taken > 0)
        return dot(yes, precision) / float(yes.sum())

    return area


@prepared_by(_average_precision)
def average_precision(scores: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the precision at each row labelled yes, averaged; equal scores are taken together.

    No interpolation, as in scikit-learn's `average_precision_score`. By chance it is the share of yes.

    Args:
        scores: Shape (n,): probabilities of yes, or any finite numbers.
        labels: Shape (n,): True, False, 1 or 0.
        weights: Of the rows.

    Raises:
        DataError: A row is not as it should be, or all labels are the same.
    """
    statistic = _average_precision(scores, labels)
    return value_of(statistic, count_of(scores, "scores"), weights)
