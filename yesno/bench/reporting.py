"""What a report of runs says, before it has a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from yesno.bench.rows import Row, Way
from yesno.bench.runs import Run
from yesno.bench.scoring import Cell, Part, cells_of, differences_of, paired
from yesno.calibration.intervals import Difference
from yesno.errors import ConfigError
from yesno.labelled import LabelledSet, load_set

__all__ = ["Comparison", "Dispute", "Report", "report_of", "way_names"]

MOST_DISPUTES = 12
EXCERPT = 280
"""Characters of an input that a report shows."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One way against the first, on the items of a part that both answered."""

    part: Part
    first: Way
    """The one that others are compared with."""
    second: Way
    differences: Mapping[str, Difference]
    """Metric -> score of `second` minus that of `first`: below 0 is better for all but accuracy."""
    n: int


@dataclass(frozen=True, slots=True)
class Dispute:
    """An item that ways of asking answer differently."""

    part: Part
    id: str
    label: str
    distance: float
    """Largest total variation distance (0..1) between two of the distributions."""
    said: Mapping[Way, tuple[str, float, float]]
    """Way -> the most probable option, its probability, and the probability of the label."""
    text: str | None = None
    """Beginning of the input, where the set is at hand."""


@dataclass(frozen=True, slots=True)
class Report:
    """All that a report says."""

    runs: tuple[Run, ...] = field(repr=False)
    cells: tuple[Cell, ...]
    comparisons: tuple[Comparison, ...]
    disputes: tuple[Dispute, ...]
    names: Mapping[Way, str]
    """Way -> the shortest name that tells it from the others."""

    @property
    def parts(self) -> list[Part]:
        """The parts, in order."""
        return [*dict.fromkeys(cell.part for cell in self.cells)]

    def of(self, part: Part) -> list[Cell]:
        """Return the cells of a part."""
        return [cell for cell in self.cells if cell.part == part]

    @property
    def ways(self) -> list[Way]:
        """The ways, in order."""
        return [*self.names]

    @property
    def unasked(self) -> int:
        """Rows that are planned and not there."""
        return sum(max(0, run.planned - len(run.rows)) for run in self.runs)


def report_of(
    runs: Sequence[Run], *, sets: Mapping[str, LabelledSet] | None = None, texts: bool = True, **settings: Any
) -> Report:
    """Return the report of one run, or of several together.

    Args:
        runs: What to report. Runs of one set must be about one version of it.
        sets: Name -> set, for the inputs of disputed items; by default those that a run just asked, and else the files
            that it was made from, where they are still there and unchanged.
        texts: Whether to show the beginnings of inputs at all.
        settings: Of `cells_of`.

    Raises:
        ConfigError: There is nothing to report, two runs are about different versions of a set, or they hold the same
            rows.
    """
    rows = _joined(runs)
    by_part = paired(rows)
    names = way_names([*dict.fromkeys(row.way for row in rows)])
    disputes = _disputes(by_part)
    if texts and disputes:
        known = dict(sets) if sets is not None else _found(runs, {one.part.set for one in disputes})
        disputes = [_with_text(one, known) for one in disputes]
    return Report(
        tuple(runs),
        tuple(cells_of(rows, **settings)),
        tuple(_comparisons(by_part, [*names])),
        tuple(disputes),
        names,
    )


def _joined(runs: Sequence[Run]) -> list[Row]:
    versions: dict[str, tuple[str, str]] = {}
    rows: dict[Any, Row] = {}
    for run in runs:
        for name, held in run.card.sets.items():
            version, earlier = versions.setdefault(name, (held.version, run.name))
            if version != held.version:
                raise ConfigError(
                    f"the runs {earlier!r} and {run.name!r} are about different versions of set {name!r} "
                    f"({version[:12]} and {held.version[:12]}); only runs of the same items and labels can be compared"
                )
        for row in run.rows:
            if row.key in rows:
                raise ConfigError(
                    f"two of the runs hold {' · '.join(row.way)} on item {row.id!r} of set {row.set!r}; "
                    "to compare two runs of the same model use `yesno bench compare`"
                )
            rows[row.key] = row
    if not rows:
        raise ConfigError("there are no rows to report")
    return [*rows.values()]


def way_names(ways: Sequence[Way]) -> dict[Way, str]:
    """Return for each way what tells it from the others: the model, and its template and strategy where they vary."""
    templates, strategies = len({way.template for way in ways}) > 1, len({way.strategy for way in ways}) > 1
    return {
        way: " · ".join(
            [way.model, *([way.template] if templates else []), *([way.strategy] if strategies else [])]
        )
        for way in ways
    }


def _comparisons(
    by_part: Mapping[Part, Mapping[Way, Mapping[str, Row]]], ways: Sequence[Way]
) -> list[Comparison]:
    found = []
    for part, answers in by_part.items():
        order = [way for way in ways if way in answers]
        for way in order[1:]:
            differences = differences_of(answers[way], answers[order[0]])
            both = sum(id in answers[order[0]] for id in answers[way])
            found.append(Comparison(part, order[0], way, differences, both))
    return found


def _disputes(by_part: Mapping[Part, Mapping[Way, Mapping[str, Row]]]) -> list[Dispute]:
    found: list[tuple[float, Part, str]] = []
    for part, answers in by_part.items():
        ids = dict.fromkeys(id for rows in answers.values() for id in rows)
        for id in ids:
            said = [rows[id].probabilities or () for rows in answers.values() if id in rows]
            if len(said) > 1:
                found.append((_distance(said), part, id))
    found.sort(key=lambda one: -one[0])
    return [
        _dispute(part, id, distance, by_part[part])
        for distance, part, id in found[:MOST_DISPUTES]
        if distance > 0
    ]


def _distance(said: Sequence[Sequence[float]]) -> float:
    return max(
        sum(abs(p - q) for p, q in zip(one, other, strict=True)) / 2
        for place, one in enumerate(said)
        for other in said[place + 1 :]
    )


def _dispute(part: Part, id: str, distance: float, answers: Mapping[Way, Mapping[str, Row]]) -> Dispute:
    said = {}
    label = ""
    for way, rows in answers.items():
        if id in rows:
            row = rows[id]
            shares = row.probabilities or ()
            best = max(range(len(shares)), key=shares.__getitem__)
            said[way] = (row.options[best], shares[best], shares[row.label])
            label = row.options[row.label]
    return Dispute(part, id, label, distance, said)


def _found(runs: Sequence[Run], names: set[str]) -> dict[str, LabelledSet]:
    """Return the sets that runs were made from, as far as they are there and have not changed."""
    found: dict[str, LabelledSet] = {}
    for run in runs:
        found |= {name: held for name, held in run.sets.items() if name in names}
        for name, held in run.card.sets.items():
            if name not in names or name in found or held.path is None or not Path(held.path).is_file():
                continue
            try:
                loaded = load_set(held.path, name=name)
            except ConfigError:
                continue
            if loaded.version == held.version:
                found[name] = loaded
    return found


def _with_text(one: Dispute, sets: Mapping[str, LabelledSet]) -> Dispute:
    held = sets.get(one.part.set)
    item = None if held is None else next((item for item in held.items if item.id == one.id), None)
    if item is None:
        return one
    text = " ".join(_words(item.input).split())
    shown = text if len(text) <= EXCERPT else text[:EXCERPT].rstrip() + " …"
    return Dispute(one.part, one.id, one.label, one.distance, one.said, shown)


def _words(given: Any) -> str:  # noqa: ANN401 - a text, a mapping or messages
    if isinstance(given, str):
        return given
    if isinstance(given, Mapping):
        return "; ".join(f"{name}: {value}" for name, value in given.items())
    return " / ".join(f"{message.role}: {message.text}" for message in given)
