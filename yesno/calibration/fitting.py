"""Fit every calibrator that so many labels allow, and keep the best one that is shown to help.

Shown means: in grouped cross-validation the paired interval of its mean log loss, less that of the readings as they
are, lies below zero. Otherwise the readings are kept as they are.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from yesno.calibration._labels import checked_groups, checked_rows
from yesno.calibration.calibrators import CALIBRATORS, Calibrator, Identity
from yesno.calibration.cards import Calibration, Candidate, Evidence, Gap
from yesno.calibration.subjects import Kind, Subject
from yesno.errors import ConfigError, DataError

if TYPE_CHECKING:
    from yesno.calibration.calibrators._rows import Array, Rows

__all__ = ["DRAWS", "FOLDS", "LEAST_ROWS", "Fit", "fit"]

LEAST_ROWS = 50
"""Fewer labels than this show nothing that would hold for other rows."""
FOLDS = 10
DIGITS = 6
"""Decimals of what a card tells people."""
DRAWS = 2000
"""Bootstrap draws behind an interval."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What came of fitting calibrators to labelled rows."""

    calibrator: Calibrator
    """`Identity` when none was shown to do better than the readings as they are."""
    rows: int
    groups: int
    folds: int
    before: float
    """Mean log loss (nats) of the readings as they are."""
    candidates: tuple[Candidate, ...]
    """All that were tried, simplest first."""
    held_out: tuple[tuple[float, ...], ...] = field(repr=False)
    """For each row the probability of each label, by what was chosen, fitted to the other folds."""

    @property
    def chosen(self) -> Candidate | None:
        """What cross-validation says of the calibrator; None when the readings are kept as they are."""
        return next((one for one in self.candidates if one.calibrator == self.calibrator.name), None)

    @property
    def after(self) -> float:
        """Mean cross-validated log loss (nats) of what was chosen."""
        return self.before if self.chosen is None else self.chosen.log_loss

    @property
    def why(self) -> str:
        """What was decided, in words."""
        best = min(self.candidates, key=lambda one: one.log_loss)
        shown = self.chosen or best
        gap = f"{shown.gap.value:+.4f} [{shown.gap.low:+.4f}, {shown.gap.high:+.4f}]"
        if self.chosen is not None:
            return f"{shown.calibrator} lowers the log loss by {gap}"
        return f"readings are kept as they are: the best, {best.calibrator}, changes the log loss by {gap}"

    def card(
        self,
        subject: Subject,
        *,
        data: str | None = None,
        sets: Sequence[str] = (),
        repeat_sd: float | None = None,
        day: date | None = None,
    ) -> Calibration:
        """Return the card for what the rows were about.

        Args:
            subject: Model, method, template and type of the questions of the rows.
            data: SHA-256 of the labelled items.
            sets: Names of the sets of labelled items.
            repeat_sd: Standard deviation of the first label's probability from run to run.
            day: Of the fit; today (UTC) by default.
        """
        chosen = self.chosen
        day = datetime.now(UTC).date() if day is None else day
        evidence = Evidence(
            self.rows,
            self.groups,
            day.isoformat(),
            self.folds,
            round(self.before, DIGITS),
            round(self.after, DIGITS),
            None if chosen is None else _rounded(chosen).gap,
            tuple(map(_rounded, self.candidates)),
            None if repeat_sd is None else round(repeat_sd, DIGITS),
            data,
            tuple(sets),
        )
        return Calibration(subject, self.calibrator, evidence)


def _rounded(one: Candidate) -> Candidate:
    gap = one.gap
    value, low, high = (round(end, DIGITS) for end in (gap.value, gap.low, gap.high))
    return Candidate(one.calibrator, round(one.log_loss, DIGITS), Gap(value, low, high, gap.level))


def fit(
    probabilities: Sequence[Any],
    labels: Sequence[Any],
    *,
    kind: Kind,
    groups: Sequence[Hashable] | None = None,
    same_question: bool = False,
    among: Sequence[str] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Fit:
    """Choose a calibrator for labelled rows.

    From 50 rows on temperature and Platt scaling are tried, and where all rows ask the same question taking out the
    prior, the proportional-odds model of a scale's mean, and of choices and scales vector scaling and, up to 20 labels,
    Dirichlet calibration; from 300 on beta calibration, from 1,000 on isotonic regression.

    Args:
        probabilities: For each row the probability (0..1) of yes, or of each label in order (sum 1).
        labels: For each row True for yes and False for no, or the number (from 0) of the right label.
        kind: Type of the questions.
        groups: For each row what it belongs to, such as a document; rows of one group stay on one side of every
            split, and are drawn together. By default every row is a group of its own.
        same_question: Whether all rows ask one question, so that parameters for each label make sense.
        among: Names of the calibrators to try, where they are allowed; all by default.
        level: Of the intervals.
        seed: Of the splits and draws; the same rows and seed give the same result.

    Raises:
        TooFewLabels: There are fewer than 50, or fewer than five groups.
        DataError: A label is unknown, all are the same, or a probability is none; rows are counted from 1.
        ConfigError: A calibrator is unknown or impossible for these rows, or the extra `bench` is missing.
    """
    read, right = checked_rows(probabilities, labels, kind=kind, least=LEAST_ROWS)
    sizes = {len(row) for row in read}
    if same_question and len(sizes) > 1:
        raise DataError(f"rows of one question have the same labels, not {sorted(sizes)} of them")
    parts = checked_groups(groups, len(right))
    names = _names(among, kind, len(right), labels=max(sizes), by_label=same_question)
    rows = _rows(read, right, parts, directed=kind == "yes_no")
    folds = _folds(parts, seed)
    as_read = _applied(rows, Identity())
    before = _losses(rows, as_read)
    held_out = {name: _held_out(rows, CALIBRATORS[name], folds) for name in names}
    candidates = []
    for name, shares in held_out.items():
        after = _losses(rows, shares)
        candidates.append(Candidate(name, float(after.mean()), _gap(after - before, parts, level, seed)))
    better = [one for one in candidates if one.gap.high < 0]
    best = min(better, key=lambda one: one.log_loss, default=None)
    return Fit(
        Identity() if best is None else CALIBRATORS[best.calibrator].fitted(rows),
        len(rows),
        len(set(parts)),
        max(folds) + 1,
        float(before.mean()),
        tuple(candidates),
        tuple(as_read if best is None else held_out[best.calibrator]),
    )


def _rows(
    read: Sequence[Sequence[float]], right: Sequence[int], groups: Sequence[int], *, directed: bool
) -> Rows:
    missing = [name for name in ("numpy", "scipy", "sklearn") if find_spec(name) is None]
    if missing:
        raise ConfigError(f"fitting a calibration needs {missing[0]}: run `pip install 'yesno[bench]'`")
    from yesno.calibration.calibrators._rows import rows_of

    return rows_of(read, right, groups, directed=directed)


def _names(among: Sequence[str] | None, kind: Kind, count: int, *, labels: int, by_label: bool) -> list[str]:
    fitted = [name for name, one in CALIBRATORS.items() if one.least_rows is not None]
    for name in among or ():
        if name not in fitted:
            raise ConfigError(
                f"calibrator {name!r} cannot be fitted to labels; those that can are {', '.join(fitted)}"
            )
    names = [
        name
        for name in fitted
        if (among is None or name in among)
        and count >= (CALIBRATORS[name].least_rows or 0)
        and kind in CALIBRATORS[name].for_kinds
        and labels <= (CALIBRATORS[name].most_labels or labels)
        and (by_label or not CALIBRATORS[name].by_label)
    ]
    if not names:
        raise ConfigError(
            f"none of the calibrators {', '.join(among or fitted)} may be fitted to {count} rows of these"
        )
    return names


def _folds(groups: Sequence[int], seed: int) -> list[int]:
    """Return the fold of each row: groups in random order, each into the fold that is smallest so far."""
    sizes = Counter(groups)
    order = sorted(sizes)
    random.Random(seed).shuffle(order)  # noqa: S311 - no secret
    order.sort(key=sizes.__getitem__, reverse=True)
    count = min(FOLDS, len(order))
    filled = [0] * count
    home: dict[int, int] = {}
    for group in order:
        fold = filled.index(min(filled))
        home[group] = fold
        filled[fold] += sizes[group]
    return [home[group] for group in groups]


def _held_out(rows: Rows, kind: type[Calibrator], folds: Sequence[int]) -> list[tuple[float, ...]]:
    """Return the shares of each row by the calibrator fitted to all other folds."""
    import numpy as np

    fold = np.asarray(folds)
    shares: list[tuple[float, ...]] = [()] * len(rows)
    for number in range(int(fold.max()) + 1):
        held = fold == number
        found = _applied(rows.part(held), kind.fitted(rows.part(~held)))
        for place, row in zip(np.flatnonzero(held).tolist(), found, strict=True):
            shares[place] = row
    return shares


def _applied(rows: Rows, calibrator: Calibrator) -> list[tuple[float, ...]]:
    """Return the shares of each row as an answer would have them."""
    there = [[p for p in row if not math.isnan(p)] for row in rows.read.tolist()]
    return [calibrator(row, directed=rows.directed) for row in there]


def _losses(rows: Rows, shares: Sequence[Sequence[float]]) -> Array:
    """Return the log loss (nats) of each row."""
    import numpy as np

    pairs = zip(shares, rows.label.tolist(), strict=True)
    return np.asarray([-math.log(row[label]) for row, label in pairs])


def _gap(differences: Array, groups: Sequence[int], level: float, seed: int) -> Gap:
    from yesno.calibration.intervals import mean_interval

    found = mean_interval(differences, groups=groups, level=level, draws=DRAWS, seed=seed)
    return Gap(found.value, found.low, found.high, level)
