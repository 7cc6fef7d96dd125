"""Promises of thresholds, and the two sides on which they are tested."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from yesno.calibration._arrays import (
    ArrayLike,
    Floats,
    Places,
    both_classes,
    group_places,
    np,
    shares,
    truths,
)
from yesno.calibration._binomial import largest_share
from yesno.calibration._walk import GRID, least_rows, rows_needed, walked
from yesno.errors import ConfigError, DataError, RiskNotKept, TooFewLabels

__all__ = ["Risk", "Side", "Threshold", "checked_promise", "labelled_rows", "rounded_up"]

Risk: TypeAlias = Literal["error", "false_positive", "false_negative"]
"""`error`: share of no among the rows acted on. `false_positive`: share of the rows labelled no that are acted on.
`false_negative`: share of the rows labelled yes that are not."""

HOPELESS = 50
"""When it would take so many times as many labels, more labels are no advice."""
WORDS = {"error": "errors", "false_positive": "of no acted on", "false_negative": "of yes missed"}


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold with its promise: with a chance of `1 - delta`, the risk of rows to come is at most `bound`."""

    threshold: float
    """Act on probabilities of at least this; below this, when it is the `no` of `Bands`."""
    bound: float
    """Upper bound of the risk, at most the one that was asked for."""
    seen: float
    """The risk on these rows."""
    n: int
    """Labels that the bound rests on: rows acted on, or labelled no, or labelled yes, whatever the risk is about."""
    coverage: float
    """Share of all rows that are acted on."""
    risk: float
    """What was asked for."""
    delta: float
    """Chance that the promise does not hold."""
    of: Risk

    def __str__(self) -> str:
        return (
            f"{self.threshold:.6g}: at most {self.bound:.1%} {WORDS[self.of]} ({self.seen:.1%} seen, n {self.n}), "
            f"{1 - self.delta:.0%} sure; acts on {self.coverage:.1%}"
        )


class Side:
    """Thresholds of the grid from the strictest on, with the rows they act on: from each up for yes, below it for no."""

    def __init__(
        self, name: Literal["yes", "no"], p: Floats, truth: Floats, *, risk: float, delta: float
    ) -> None:
        self.name, self.risk, self.delta, self.total = name, risk, delta, len(p)
        every, wrong = np.sort(p), np.sort(p[truth == (name == "no")])
        if name == "yes":
            self.grid = GRID
            self.rows = len(every) - np.searchsorted(every, GRID)
            self.hits = len(wrong) - np.searchsorted(wrong, GRID)
        else:
            self.grid = GRID[::-1]
            self.rows, self.hits = np.searchsorted(every, self.grid), np.searchsorted(wrong, self.grid)
        self.allowed = walked(self.hits, self.rows, self.total, risk=risk, delta=delta)

    def furthest(self, limit: float = 1.0) -> int:
        """Return the place of the threshold that acts most often, the strictest of those that act on the same rows.

        Raises:
            TooFewLabels: None below the limit was passed.
            RiskNotKept: And none would be.
        """
        passed = np.flatnonzero((self.allowed > 0) & (self.grid < limit))
        if not len(passed):
            raise _not_shown(self)
        return int(passed[self.rows[passed] == self.rows[passed[-1]]][0])

    def threshold(self, place: int) -> Threshold:
        """Return a threshold that was passed."""
        hits, rows = int(self.hits[place]), int(self.rows[place])
        return Threshold(
            threshold=float(self.grid[place]),
            bound=min(self.risk, float(largest_share(hits, rows, float(self.allowed[place])))),
            seen=hits / rows,
            n=rows,
            coverage=rows / self.total,
            risk=self.risk,
            delta=self.delta,
            of="error",
        )


def _not_shown(side: Side) -> TooFewLabels | RiskNotKept:
    """Return the error that says what it would take."""
    least = least_rows(side.risk, side.delta)
    promise = (
        f"an error of at most {side.risk:.4g} among those taken for {side.name}, {1 - side.delta:.0%} sure"
    )
    if side.total < least:
        return TooFewLabels(
            f"{side.total} rows are not enough to promise {promise}: it takes at least {least} that are acted on, "
            "and all of them right",
            needed=least,
            given=side.total,
        )
    some = side.rows > 0
    hits, rows = side.hits[some], side.rows[some]
    wanted = rows_needed(hits, rows, risk=side.risk, delta=side.delta / 2) * side.total / rows
    if wanted.min() < HOPELESS * side.total:
        needed = rounded_up(max(float(wanted.min()), 1.3 * side.total))
        return TooFewLabels(
            f"{side.total} rows are not enough to promise {promise}: with these probabilities it takes about "
            f"{needed} rows",
            needed=needed,
            given=side.total,
        )
    many = rows >= min(least, rows.max())
    best = float((hits[many] / rows[many]).min())
    return RiskNotKept(
        f"no threshold promises {promise}: the least error that was seen is {best:.3f}, and more labels are not likely "
        "to change that; ask a better question, use a better model, or allow more errors",
        best=best,
    )


def labelled_rows(
    probabilities: ArrayLike, labels: ArrayLike, groups: Iterable[object] | None, seed: int
) -> tuple[Floats, Floats]:
    """Return probabilities and labels of the rows to use, one of each group.

    Raises:
        DataError: A row is not as it should be, or all labels are the same.
    """
    p = shares(probabilities)
    if p.ndim != 1:
        raise DataError(
            "a threshold is for yes/no, shape (n,); for a choice use `top_label` of yesno.calibration.options"
        )
    truth = truths(labels, p)
    soft = np.flatnonzero((truth > 0) & (truth < 1))
    if len(soft):
        value = float(truth[soft[0]])
        raise DataError(
            f"a threshold needs labels that are yes or no, not {value!r}", row=int(soft[0]) + 1, value=value
        )
    both_classes(truth, "a threshold")
    if groups is None:
        return p, truth
    kept = _one_of_each(group_places(groups, len(p)), seed)
    both_classes(truth[kept], "a threshold")
    return p[kept], truth[kept]


def _one_of_each(places: Places, seed: int) -> Places:
    order = np.random.default_rng(seed).permutation(len(places))
    return np.sort(order[np.unique(places[order], return_index=True)[1]])


def checked_promise(risk: float, delta: float) -> None:
    """Refuse a promise that is none.

    Raises:
        ConfigError: The risk or its chance is not between 0 and 1.
    """
    for name, value in (("risk", risk), ("delta", delta)):
        if type(value) is not float or not 0 < value < 1:
            raise ConfigError(f"`{name}` must be a number between 0 and 1, such as 0.05, not {value!r}")


def rounded_up(number: float) -> int:
    """Return the next number of two digits and zeros."""
    unit = int(10 ** max(0, math.floor(math.log10(number)) - 1))
    return math.ceil(number / unit - 1e-9) * unit
