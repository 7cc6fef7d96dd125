"""Thresholds that keep a promise on rows to come, as far as so many labels allow."""

from __future__ import annotations

from collections.abc import Iterable

from yesno.calibration._arrays import ArrayLike, Floats, np
from yesno.calibration._binomial import largest_share
from yesno.calibration._sides import Risk, Side, Threshold, checked_promise, labelled_rows, rounded_up
from yesno.calibration._walk import largest_allowed, least_rows
from yesno.errors import ConfigError, RiskNotKept, TooFewLabels

__all__ = ["Risk", "Threshold", "threshold_for"]


def threshold_for(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    risk: float = 0.05,
    delta: float = 0.1,
    of: Risk = "error",
    groups: Iterable[object] | None = None,
    seed: int = 1,
) -> Threshold:
    """Return the threshold that acts most often while it keeps a risk on rows to come.

    >>> from yesno.filters import Guardrails
    >>> chosen = threshold_for([0.97] * 60 + [0.3] * 40, [1] * 60 + [0] * 40)
    >>> print(chosen)
    0.97: at most 3.8% errors (0.0% seen, n 60), 90% sure; acts on 60.0%
    >>> checks = Guardrails(["prompt_injection"], threshold=chosen.threshold)

    The promise is exact for rows that are drawn as these were, whatever the model: no calibration is assumed. An
    `error` is tested on a fixed grid from the strictest threshold on (see `_walk`); there the promise also takes for
    granted that errors do not become rarer below the first threshold whose risk is too high. The other two rest on one
    order statistic and take nothing for granted.

    Args:
        probabilities: Of yes, shape (n,); of the answer on top for a choice, see `options.top_label`.
        labels: True, False, 1 or 0.
        risk: The largest risk that is allowed.
        delta: Chance, over the labels, that the risk is larger all the same.
        of: Which risk; `false_negative` gives the highest threshold that keeps it, the others the lowest.
        groups: Of each row. One row of each is used, so that rows may depend on each other within a group.
        seed: Which one that is.

    Raises:
        TooFewLabels: It cannot be shown with so few labels; `needed` says with about how many rows it could.
        RiskNotKept: No threshold keeps it, whatever the number of labels.
        DataError: A row is not as it should be, or all labels are the same.
        ConfigError: A setting is impossible.
    """
    p, truth = labelled_rows(probabilities, labels, groups, seed)
    checked_promise(risk, delta)
    if of == "error":
        side = Side("yes", p, truth, risk=risk, delta=delta)
        return side.threshold(side.furthest())
    if of == "false_positive":
        return _of_false_positives(p, truth, risk=risk, delta=delta)
    if of == "false_negative":
        return _of_false_negatives(p, truth, risk=risk, delta=delta)
    raise ConfigError(f"`of` must be 'error', 'false_positive' or 'false_negative', not {of!r}")


def _of_false_positives(p: Floats, truth: Floats, *, risk: float, delta: float) -> Threshold:
    negatives = np.sort(p[truth == 0])[::-1]
    allowed = _allowed(len(negatives), len(p), "no", risk=risk, delta=delta)
    threshold = float(np.nextafter(negatives[allowed], 2))
    if threshold > 1:
        seen = float((negatives == 1).mean())
        raise RiskNotKept(
            f"no threshold keeps a false positive rate of at most {risk:.4g}: {seen:.3f} of the rows labelled no "
            "have the probability 1",
            best=seen,
        )
    hits = int((negatives >= threshold).sum())
    coverage = float((p >= threshold).mean())
    return _from_order(threshold, hits, len(negatives), coverage, risk=risk, delta=delta, of="false_positive")


def _of_false_negatives(p: Floats, truth: Floats, *, risk: float, delta: float) -> Threshold:
    positives = np.sort(p[truth == 1])
    threshold = float(positives[_allowed(len(positives), len(p), "yes", risk=risk, delta=delta)])
    hits = int((positives < threshold).sum())
    coverage = float((p >= threshold).mean())
    return _from_order(threshold, hits, len(positives), coverage, risk=risk, delta=delta, of="false_negative")


def _from_order(
    threshold: float, hits: int, n: int, coverage: float, *, risk: float, delta: float, of: Risk
) -> Threshold:
    bound = min(risk, float(largest_share(hits, n, delta)))
    return Threshold(threshold, bound, hits / n, n, coverage, risk, delta, of)


def _allowed(labelled: int, total: int, name: str, *, risk: float, delta: float) -> int:
    """Return how many rows of a label may go wrong.

    So many of the sorted rows are stepped over: the chance that the share beyond the next one is above `risk` is that
    of at most so many hits in as many trials (Wilks 1941, doi:10.1214/aoms/1177731788).
    """
    allowed = largest_allowed(labelled, risk=risk, delta=delta)
    if allowed >= 0:
        return allowed
    least = least_rows(risk, delta)
    needed = rounded_up(least * total / labelled)
    raise TooFewLabels(
        f"{labelled} rows labelled {name} are not enough for a rate of at most {risk:.4g}, {1 - delta:.0%} sure: it "
        f"takes at least {least}, which are about {needed} rows like these",
        needed=needed,
        given=total,
    )
