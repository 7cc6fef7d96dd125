"""What the rows of runs say about each way of asking: scores with intervals, answers, time and cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from yesno.bench.rows import Row, Way
from yesno.calibration._arrays import Floats, np
from yesno.calibration.curves import ReliabilityPoint, reliability_points, risk_coverage
from yesno.calibration.ece import Noise, noise_of, smooth_ece
from yesno.calibration.intervals import Difference, Interval, interval, mean_difference, mean_interval
from yesno.calibration.options import shown_answers
from yesno.calibration.ranking import auroc
from yesno.calibration.scores import brier_scores, log_losses, ranked_probability_scores
from yesno.errors import DataError
from yesno.labelled import Kind

__all__ = [
    "FLOOR",
    "METRICS",
    "Cell",
    "Part",
    "Spread",
    "cells_of",
    "confidences_of",
    "differences_of",
    "losses_of",
    "paired",
]

FLOOR = 1e-6
"""Probabilities are kept this far from 0 and 1 in the log loss, so that one rounded to 0 does not make it infinite."""
DRAWS = 1000
"""Resamples of an interval."""
NOISE_DRAWS = 200
"""Sets of labels that are drawn for the calibration error that chance alone makes; each costs more."""
POINT = 10
"""Fewest rows that make a point of a reliability diagram."""
METRICS = {"log_loss": "log loss", "brier": "Brier", "rps": "RPS", "accuracy": "accuracy"}
"""Scores that are a mean over items, hence compared item by item -> what people call them."""


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """The questions of one type in a set."""

    set: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Spread:
    """How a number is spread over rows."""

    median: float
    p95: float
    """95 % of the rows have at most this much."""
    n: int


@dataclass(frozen=True, slots=True)
class Cell:
    """How one way of asking did on one part; a score is None where it means nothing or there are too few rows."""

    part: Part
    way: Way
    asked: int
    """Rows, whatever became of them; the scores are of those that have an answer."""
    outcomes: Mapping[str, int]
    """`answer`, `undecided`, `refusal` and `error` -> rows."""
    reasons: Mapping[str, int]
    """Why rows have no answer -> rows."""
    soft: bool
    """Whether labels are shares of people, so that not even the truth scores 0."""
    scores: Mapping[str, Interval | None]
    """`log_loss`, `brier`, `rps` (of scales), `auroc` (of yes/no) and `accuracy`; None without five groups at least."""
    points: Mapping[str, float]
    """The same without intervals, where there is a row with an answer at all."""
    ece: float | None
    """Smooth calibration error, of yes, and of the most probable option for choices and scales. It has no interval:
    resampled rows repeat, which looks like miscalibration."""
    noise: Noise | None
    """What the calibration error would be of a calibrated model with these very probabilities."""
    reliability: tuple[ReliabilityPoint, ...]
    """Points of the diagram; few rows make few."""
    risk: tuple[tuple[float, float], ...]
    """Pairs of coverage (0..1) and the share of wrong answers when only the surest are acted on."""
    floored: int
    """Rows whose label had a probability below `FLOOR`."""
    label_mass: float | None
    """Mean share of the model's probability that fell on an option."""
    latency: Spread | None
    """Seconds, of rows that no cache had a part in."""
    tokens: tuple[int, int, int]
    """In, of these from a provider's cache, and out."""
    requests: int
    cache_hits: int
    cost_usd: float | None
    """Of all rows; None when that of any is unknown."""
    methods: Mapping[str, int] = field(default_factory=dict)
    """How answers were read -> rows."""

    @property
    def coverage(self) -> float:
        """Share of the rows that have an answer."""
        return self.share("answer")

    def share(self, outcome: str) -> float:
        """Return the share of the rows that came to this."""
        return self.outcomes.get(outcome, 0) / self.asked


def cells_of(rows: Iterable[Row], *, draws: int = DRAWS) -> list[Cell]:
    """Return a cell for each part and way, in the order in which sets and ways first come.

    Args:
        rows: Of one run or several.
        draws: Resamples of each interval.
    """
    sorted_out: dict[tuple[Part, Way], list[Row]] = {}
    for row in rows:
        sorted_out.setdefault((Part(row.set, row.kind), row.way), []).append(row)
    sets = {name: place for place, name in enumerate(dict.fromkeys(part.set for part, _ in sorted_out))}
    parts = {part: (sets[part.set], place) for place, (part, _) in reversed([*enumerate(sorted_out)])}
    ways = {way: place for place, way in enumerate(dict.fromkeys(way for _, way in sorted_out))}
    order = sorted(sorted_out, key=lambda key: (parts[key[0]], ways[key[1]]))
    return [_cell(part, way, sorted_out[part, way], draws) for part, way in order]


def _cell(part: Part, way: Way, rows: Sequence[Row], draws: int) -> Cell:
    answered = [row for row in rows if row.probabilities is not None]
    masses = [row.label_mass for row in rows if row.label_mass is not None]
    seconds = [row.latency_s for row in rows if row.latency_s is not None]
    costs = [row.cost_usd for row in rows]
    return Cell(
        part,
        way,
        len(rows),
        Counter(row.outcome for row in rows),
        Counter(row.reason or "no reason" for row in rows if row.outcome != "answer"),
        any(row.shares is not None for row in answered),
        _scores(part, answered, draws),
        _points(part, answered),
        *_pictures(part, answered, len(rows), draws),
        sum(_probability_of_label(row) < FLOOR for row in answered),
        float(np.mean(masses)) if masses else None,
        _spread(seconds),
        (sum(r.tokens_in for r in rows), sum(r.tokens_cached for r in rows), sum(r.tokens_out for r in rows)),
        sum(row.requests for row in rows),
        sum(row.cache_hits for row in rows),
        None
        if any(cost is None for cost in costs)
        else math.fsum(cost for cost in costs if cost is not None),
        Counter(row.method or "unknown" for row in answered),
    )


def _pictures(
    part: Part, answered: Sequence[Row], asked: int, draws: int
) -> tuple[float | None, Noise | None, tuple[ReliabilityPoint, ...], tuple[tuple[float, float], ...]]:
    if not answered:
        return None, None, (), ()
    said, right = confidences_of(answered)
    groups = [row.group for row in answered]
    noise = noise_of(smooth_ece, said, groups=groups, draws=min(draws, NOISE_DRAWS))
    bins = max(1, min(10, len(answered) // POINT))
    points = reliability_points(said, right, groups=groups, bins=bins)
    p, _ = _arrays(answered)
    hard = right if part.kind == "yes_no" else np.asarray([row.label for row in answered])
    curve = risk_coverage(p, hard, unanswered=asked - len(answered))
    return smooth_ece(said, right), noise, points, tuple(curve.points())


def _probability_of_label(row: Row) -> float:
    assert row.probabilities is not None  # noqa: S101 - only rows with an answer are asked
    return row.probabilities[row.label]


def _spread(values: Sequence[float]) -> Spread | None:
    if not values:
        return None
    median, high = np.quantile(values, [0.5, 0.95])
    return Spread(float(median), float(high), len(values))


def _scores(part: Part, rows: Sequence[Row], draws: int) -> dict[str, Interval | None]:
    found: dict[str, Interval | None] = {}
    groups = [row.group for row in rows]
    for metric in METRICS:
        if metric != "rps" or part.kind == "scale":
            found[metric] = _known(partial(_mean, rows, metric, groups, draws))
    if part.kind == "yes_no":
        said, right = confidences_of(rows)
        found["auroc"] = _known(partial(interval, auroc, said, right, groups=groups, draws=draws))
    return found


def _points(part: Part, rows: Sequence[Row]) -> dict[str, float]:
    if not rows:
        return {}
    found = {
        metric: float(losses_of(rows, metric).mean())
        for metric in METRICS
        if metric != "rps" or part.kind == "scale"
    }
    if part.kind == "yes_no":
        said, right = confidences_of(rows)
        with suppress(DataError):
            found["auroc"] = auroc(said, right)
    return found


def _mean(rows: Sequence[Row], metric: str, groups: Sequence[str], draws: int) -> Interval:
    return mean_interval(losses_of(rows, metric), groups=groups, draws=draws)


def _known(score: Callable[[], Interval]) -> Interval | None:
    """Return a score; None where the rows are too few for one or have one label only."""
    try:
        return score()
    except DataError:
        return None


def losses_of(rows: Sequence[Row], metric: str) -> Floats:
    """Return one number per row, all of which have an answer and belong to one part.

    Args:
        rows: The rows.
        metric: One of `METRICS`; of `accuracy` 1 for right and 0 for wrong.
    """
    p, truth = _arrays(rows)
    match metric:
        case "log_loss":
            return log_losses(p, truth, floor=FLOOR)
        case "brier":
            return brier_scores(p, truth)
        case "rps":
            return ranked_probability_scores(p, truth)
        case _:
            # the most probable option, the first among equals; yes from 0.5 on
            _, right = shown_answers(_shares(rows), [row.label for row in rows], directed=False)
            return np.asarray(right, dtype=float)


def _arrays(rows: Sequence[Row]) -> tuple[Floats, Floats]:
    """Return probabilities and shares of labels, shape (n,) of yes or (n, options); what a row lacks has 0."""
    if not rows:
        return np.zeros(0), np.zeros(0)
    width = max(len(row.options) for row in rows)
    p, truth = np.zeros((len(rows), width)), np.zeros((len(rows), width))
    for place, row in enumerate(rows):
        p[place, : len(row.options)] = row.probabilities
        if row.shares is None:
            truth[place, row.label] = 1.0
        else:
            truth[place, : len(row.options)] = row.shares
    return (p[:, 0], truth[:, 0]) if rows[0].kind == "yes_no" else (p, truth)


def confidences_of(rows: Sequence[Row]) -> tuple[Floats, Floats]:
    """Return what a reliability diagram shows: probabilities, and 1 or 0 for what came true of them.

    For yes/no that is yes; for choices and scales it is the most probable option.
    """
    directed = bool(rows) and rows[0].kind == "yes_no"
    said, right = shown_answers(_shares(rows), [row.label for row in rows], directed=directed)
    return np.asarray(said), np.asarray(right, dtype=float)


def _shares(rows: Sequence[Row]) -> list[tuple[float, ...]]:
    return [row.probabilities for row in rows if row.probabilities is not None]


def paired(rows: Iterable[Row]) -> dict[Part, dict[Way, dict[str, Row]]]:
    """Return the rows with an answer: part -> way -> id of the item -> row."""
    found: dict[Part, dict[Way, dict[str, Row]]] = {}
    for row in rows:
        if row.probabilities is not None:
            found.setdefault(Part(row.set, row.kind), {}).setdefault(row.way, {})[row.id] = row
    return found


def differences_of(
    first: Mapping[str, Row], second: Mapping[str, Row], **settings: Any
) -> dict[str, Difference]:
    """Return by how much the first way differs from the second on the items that both answered, per metric.

    Args:
        first: Id of an item -> row.
        second: The same of the other way.
        settings: Of `mean_difference`.

    Returns:
        One of `METRICS` -> first minus second, with its paired interval; empty where there are too few items.
    """
    both = [id for id in first if id in second]
    ones, others = [first[id] for id in both], [second[id] for id in both]
    groups = [row.group for row in ones]
    found = {}
    for metric in METRICS:
        if not ones or (metric == "rps" and ones[0].kind != "scale"):
            continue
        try:
            found[metric] = mean_difference(
                losses_of(ones, metric),
                losses_of(others, metric),
                groups=groups,
                **{"draws": DRAWS, **settings},
            )
        except DataError:
            continue
    return found
