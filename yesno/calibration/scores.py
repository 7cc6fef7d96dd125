"""Proper scores of probabilities against labels, and accuracy.

All take `probabilities` of yes, of shape (n,), or of each option, of shape (n, options), and one label per row: for
yes/no True, False, 1 or 0; for options the place of the right one. Shares of raters are labels as well: shape (n,)
from 0 to 1, or (n, options). The score is then the mean over the raters, as if each had a row, so it has a floor
above 0 where raters disagree, which is the same for every model.

An option that a row does not have has the probability 0. Rows are counted from 1 in errors.
"""

from __future__ import annotations

from dataclasses import dataclass

from yesno._checks import checked_share
from yesno.calibration._arrays import ArrayLike, Floats, both_classes, np, shares, truths, weighed
from yesno.calibration._statistics import Statistic, dot, mean_of, prepared_by, value_of
from yesno.errors import DataError

__all__ = [
    "BrierParts",
    "accuracy",
    "brier",
    "brier_parts",
    "brier_scores",
    "log_loss",
    "log_losses",
    "ranked_probability_score",
    "ranked_probability_scores",
]


@dataclass(frozen=True, slots=True)
class BrierParts:
    """A Brier score taken apart: `score = reliability - resolution + uncertainty`, exactly."""

    score: float
    reliability: float
    """What is lost by being miscalibrated; 0 is calibrated."""
    resolution: float
    """What is won over always saying the share of yes; 0 is a model that tells nothing apart."""
    uncertainty: float
    """The Brier score of always saying the share of yes."""


def log_losses(probabilities: ArrayLike, labels: ArrayLike, *, floor: float = 0.0) -> Floats:
    """Return the log loss of each row, in nats.

    Args:
        probabilities: Of shape (n,) or (n, options).
        labels: One per row.
        floor: Probabilities are kept this far from 0 and from 1. Nothing is kept from them unless you say so: a
            probability of 0 for what is true is an infinite loss.

    Returns:
        Shape (n,), each 0 or more.

    Raises:
        DataError: A row is not as it should be.
        ConfigError: The floor is not from 0 to 1.
    """
    p, truth = _given(probabilities, labels)
    least = checked_share("floor", floor)
    p = np.clip(p, least, 1 - least)
    if p.ndim == 1:
        return _surprise(truth, p) + _surprise(1 - truth, 1 - p)
    return np.asarray(_surprise(truth, p).sum(axis=1), dtype=np.float64)


def _surprise(truth: Floats, p: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        logs = -np.log(p)
    return np.multiply(truth, logs, out=np.zeros_like(p), where=truth > 0) + 0.0


def _log_loss(probabilities: ArrayLike, labels: ArrayLike, *, floor: float = 0.0) -> Statistic:
    return mean_of(log_losses(probabilities, labels, floor=floor))


@prepared_by(_log_loss)
def log_loss(
    probabilities: ArrayLike, labels: ArrayLike, *, floor: float = 0.0, weights: ArrayLike | None = None
) -> float:
    """Return the mean log loss in nats: 0 is perfect; see `log_losses` for `floor` and errors."""
    return _mean(log_losses(probabilities, labels, floor=floor), weights)


def brier_scores(probabilities: ArrayLike, labels: ArrayLike) -> Floats:
    """Return the Brier score of each row.

    Returns:
        Shape (n,): the squared error of yes, from 0 to 1; of options the sum over all, from 0 to 2. Two options thus
        score twice what the same row scores as yes/no.

    Raises:
        DataError: A row is not as it should be.
    """
    p, truth = _given(probabilities, labels)
    errors = (p - truth) ** 2 + truth * (1 - truth)
    return errors if p.ndim == 1 else np.asarray(errors.sum(axis=1), dtype=np.float64)


def _brier(probabilities: ArrayLike, labels: ArrayLike) -> Statistic:
    return mean_of(brier_scores(probabilities, labels))


@prepared_by(_brier)
def brier(probabilities: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the mean Brier score: 0 is perfect; see `brier_scores` for its range and errors."""
    return _mean(brier_scores(probabilities, labels), weights)


def brier_parts(
    probabilities: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None
) -> BrierParts:
    """Take the Brier score of yes/no apart without bins.

    Reliability is what the best monotone map of the probabilities would win on these very rows, by isotonic regression
    (CORP; Dimitriadis, Gneiting and Jordan 2021, doi:10.1073/pnas.2016191118). On few rows it is too large, because
    the map fits noise; so is resolution.

    Raises:
        DataError: A row is not as it should be, or all labels are the same.
    """
    from scipy.optimize import isotonic_regression

    p, truth = _given(probabilities, labels)
    if p.ndim != 1:
        raise DataError("a Brier score is taken apart for yes/no; take one option of a choice at a time")
    both_classes(truth, "taking a Brier score apart")
    weight = weighed(weights, len(p))
    _, place = np.unique(p, return_inverse=True)
    total = np.bincount(place, weight)
    yes = np.bincount(place, weight * truth)
    used = total > 0
    fitted = np.zeros_like(total)
    fitted[used] = isotonic_regression(yes[used] / total[used], weights=total[used]).x
    rate = float(yes.sum() / total.sum())

    def mean(values: Floats) -> float:
        return dot(values, weight) / float(weight.sum())

    noise = truth * (1 - truth)
    score = mean((p - truth) ** 2 + noise)
    recalibrated = mean((fitted[place] - truth) ** 2 + noise)
    uncertainty = mean((rate - truth) ** 2 + noise)
    return BrierParts(score, score - recalibrated, uncertainty - recalibrated, uncertainty)


def ranked_probability_scores(
    probabilities: ArrayLike, labels: ArrayLike, *, normalise: bool = True
) -> Floats:
    """Return the ranked probability score of each row of a scale, whose levels are in order.

    Args:
        probabilities: Shape (n, levels), the lowest level first.
        labels: Places of the levels, or shares of raters.
        normalise: Divide by the number of levels less one, so that scales of any length score from 0 to 1
            (Murphy 1971); without it the sum of the squared differences of the cumulative shares (Epstein 1969).

    Raises:
        DataError: A row is not as it should be, or there are no levels.
    """
    p, truth = _given(probabilities, labels)
    if p.ndim != 2:
        raise DataError(
            "a ranked probability score needs the probability of each level, in shape (n, levels)"
        )
    below, said = np.cumsum(truth, axis=1)[:, :-1], np.cumsum(p, axis=1)[:, :-1]
    sums = ((said - below) ** 2 + below * (1 - below)).sum(axis=1)
    return np.asarray(sums / (p.shape[1] - 1 if normalise else 1), dtype=np.float64)


def _ranked(probabilities: ArrayLike, labels: ArrayLike, *, normalise: bool = True) -> Statistic:
    return mean_of(ranked_probability_scores(probabilities, labels, normalise=normalise))


@prepared_by(_ranked)
def ranked_probability_score(
    probabilities: ArrayLike, labels: ArrayLike, *, normalise: bool = True, weights: ArrayLike | None = None
) -> float:
    """Return the mean ranked probability score: 0 is perfect; see `ranked_probability_scores`."""
    return _mean(ranked_probability_scores(probabilities, labels, normalise=normalise), weights)


def _accuracy(probabilities: ArrayLike, labels: ArrayLike) -> Statistic:
    p, truth = _given(probabilities, labels)
    if p.ndim == 1:
        return mean_of(np.where(p >= 0.5, truth, 1 - truth))
    return mean_of(np.take_along_axis(truth, p.argmax(axis=1)[:, None], axis=1)[:, 0])


@prepared_by(_accuracy)
def accuracy(probabilities: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the share of right answers: yes from 0.5 on, or the most probable option, the first among equals.

    Raises:
        DataError: A row is not as it should be.
    """
    statistic = _accuracy(probabilities, labels)
    return value_of(statistic, len(shares(probabilities)), weights)


def _given(probabilities: ArrayLike, labels: ArrayLike) -> tuple[Floats, Floats]:
    p = shares(probabilities)
    return p, truths(labels, p)


def _mean(values: Floats, weights: ArrayLike | None) -> float:
    return value_of(mean_of(values), len(values), weights)
