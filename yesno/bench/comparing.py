"""Two runs of the same items: what got worse by more than chance explains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from yesno.bench.rows import Row, Way
from yesno.bench.runs import Run, load_run
from yesno.bench.scoring import METRICS, Part, differences_of
from yesno.calibration.intervals import Difference, mean_difference
from yesno.errors import ConfigError, DataError

__all__ = ["ANSWERED", "Change", "Changes", "compare"]

ANSWERED = "answered"
"""Name of the share of items that have an answer, which is watched whatever else is."""


@dataclass(frozen=True, slots=True)
class Change:
    """How a way of asking did in the second run against the first, on the items that both hold."""

    part: Part
    before: Way
    after: Way
    n: int
    """Items that both runs answered; the scores are about these."""
    differences: Mapping[str, Difference]
    """Metric -> second minus first, with its paired interval; `answered` is about all items that both hold."""
    regressions: tuple[str, ...]
    """Metrics that got worse by more than the margin, the whole interval."""


@dataclass(frozen=True, slots=True)
class Changes:
    """All that changed between two runs."""

    first: Run = field(repr=False)
    second: Run = field(repr=False)
    changes: tuple[Change, ...]
    unmatched: tuple[str, ...]
    """What only one of the runs holds, in words."""

    @property
    def regressed(self) -> bool:
        """Whether anything got worse."""
        return any(change.regressions for change in self.changes)


def compare(
    first: Run | str | Path,
    second: Run | str | Path,
    *,
    metrics: Sequence[str] = ("log_loss",),
    margin: float = 0.0,
    level: float = 0.95,
) -> Changes:
    """Compare two runs item by item.

    The rows of one model, template set and strategy are compared with those of the same in the other run; two runs of
    one way each are compared even where the ways differ.

    Args:
        first: What was before.
        second: What is now.
        metrics: Those of `METRICS` that must not get worse.
        margin: By how much they may, in the metric's own units.
        level: Of the paired intervals. An interval of 95 % calls one harmless change in forty a regression.

    Raises:
        ConfigError: The runs are about different versions of a set, have nothing in common, or too few items to say
            anything; or a metric is unknown.
    """
    unknown = [name for name in metrics if name not in METRICS]
    if unknown or not metrics:
        raise ConfigError(f"the metric {(unknown or [''])[0]!r} is unknown; known are {', '.join(METRICS)}")
    if not margin >= 0:
        raise ConfigError(f"`margin` must be a number of 0 or more, not {margin!r}")
    one, other = _loaded(first), _loaded(second)
    _check_versions(one, other)
    before, after = _sorted_out(one.rows), _sorted_out(other.rows)
    pairs, unmatched = _matched(before, after)
    changes = [
        _change(part, old, new, before[part, old], after[part, new], metrics, margin, level)
        for part, old, new in pairs
    ]
    return Changes(one, other, tuple(changes), tuple(unmatched))


def _loaded(given: Run | str | Path) -> Run:
    return given if isinstance(given, Run) else load_run(given)


def _check_versions(first: Run, second: Run) -> None:
    shared = [name for name in first.card.sets if name in second.card.sets]
    if not shared:
        raise ConfigError(
            f"the runs have no set in common: {', '.join(first.card.sets)} and {', '.join(second.card.sets)}"
        )
    for name in shared:
        old, new = first.card.sets[name].version, second.card.sets[name].version
        if old != new:
            raise ConfigError(
                f"the runs are about different versions of set {name!r} ({old[:12]} and {new[:12]}): "
                "its items or labels have changed, so make both runs anew"
            )


_Sorted = dict[tuple[Part, Way], dict[str, Row]]


def _sorted_out(rows: Iterable[Row]) -> _Sorted:
    found: _Sorted = {}
    for row in rows:
        found.setdefault((Part(row.set, row.kind), row.way), {})[row.id] = row
    return found


def _matched(before: _Sorted, after: _Sorted) -> tuple[list[tuple[Part, Way, Way]], list[str]]:
    old_ways, new_ways = {way for _, way in before}, {way for _, way in after}
    if len(old_ways) == len(new_ways) == 1:
        renamed = dict(zip(old_ways, new_ways, strict=True))
    else:
        renamed = {way: way for way in old_ways & new_ways}
    pairs = [
        (part, way, renamed[way]) for part, way in before if way in renamed and (part, renamed[way]) in after
    ]
    if not pairs:
        raise ConfigError("the runs share no model, template set and strategy, so nothing can be compared")
    new_keys = {(part, new) for part, _, new in pairs}
    old_keys = {(part, old) for part, old, _ in pairs}
    unmatched = [f"{_named(key)} is only in the first run" for key in before if key not in old_keys]
    unmatched += [f"{_named(key)} is only in the second run" for key in after if key not in new_keys]
    return pairs, unmatched


def _named(key: tuple[Part, Way]) -> str:
    part, way = key
    return f"{' · '.join(way)} on {part.set}"


def _change(
    part: Part,
    old: Way,
    new: Way,
    before: Mapping[str, Row],
    after: Mapping[str, Row],
    metrics: Sequence[str],
    margin: float,
    level: float,
) -> Change:
    both = [id for id in before if id in after]
    ones, others = [before[id] for id in both], [after[id] for id in both]
    answered = {id: row for id, row in after.items() if row.probabilities is not None}
    were = {id: row for id, row in before.items() if row.probabilities is not None}
    differences = differences_of(answered, were, level=level)
    try:
        differences[ANSWERED] = mean_difference(
            [float(row.outcome == "answer") for row in others],
            [float(row.outcome == "answer") for row in ones],
            groups=[row.group for row in ones],
            level=level,
        )
    except DataError:
        raise ConfigError(
            f"the runs share {len(both)} items of set {part.set!r}, too few to tell a change from chance"
        ) from None
    missing = [
        name for name in metrics if name not in differences and (name != "rps" or part.kind == "scale")
    ]
    if missing and not differences[ANSWERED].excludes_zero:
        raise ConfigError(
            f"too few items of set {part.set!r} were answered in both runs to tell a change from chance"
        )
    watched = [name for name in (*metrics, ANSWERED) if name in differences]
    worse = tuple(name for name in watched if _is_worse(differences[name], name, margin))
    return Change(part, old, new, sum(id in were for id in answered), differences, worse)


def _is_worse(found: Difference, metric: str, margin: float) -> bool:
    good_is_more = metric in ("accuracy", ANSWERED)
    allowed = 0.0 if metric == ANSWERED else margin
    return found.high < -allowed if good_is_more else found.low > allowed
