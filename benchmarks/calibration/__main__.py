"""Fit a card to one half of a run's rows and score it on the other half; see README.md."""

from __future__ import annotations

import argparse
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from benchmarks.runs import count
from benchmarks.tuning.sets import QUESTIONS, loaded
from yesno import SqliteCache
from yesno.bench.fitting import cards_of
from yesno.bench.rows import Row, Way
from yesno.bench.running import run as ask
from yesno.bench.runs import load_run
from yesno.bench.scoring import FLOOR
from yesno.calibration.applying import unrounded
from yesno.calibration.ece import noise_of, smooth_ece
from yesno.calibration.intervals import Difference, mean_difference
from yesno.calibration.options import shown_answers
from yesno.errors import DataError

__all__ = ["Score", "halves", "main", "scored"]

ONE = (
    "set",
    "model",
    "fit",
    "scored",
    "log loss",
    "change (95 %)",
    "smooth ECE",
    "by chance",
    "right",
    "calibrator",
)
ALL = (
    "set",
    "model",
    "splits",
    "shown lower",
    "shown higher",
    "neither",
    "change, median",
    "smooth ECE within chance",
)


@dataclass(frozen=True, slots=True)
class Score:
    """What a card that was fitted to one half does for the other."""

    fitted: int
    scored: int
    before: float
    after: float
    gap: Difference
    """Of the log loss (nats): after less before."""
    ece_before: float
    ece_after: float
    chance: float
    """What the error stays below in 95 of 100 sets of as many rows of a calibrated model."""
    right_before: float
    """Share (0..1) of the rows whose most probable answer is right."""
    right_after: float
    calibrator: str


def halves(rows: Sequence[Row], seed: int) -> tuple[list[Row], list[Row]]:
    """Return the rows of half of the groups, drawn at random, and the others."""
    groups = sorted({row.group for row in rows})
    random.Random(seed).shuffle(groups)  # noqa: S311 - no secret
    first = set(groups[: len(groups) // 2])
    return [row for row in rows if row.group in first], [row for row in rows if row.group not in first]


def scored(rows: Sequence[Row], models: dict[str, str], seed: int) -> Score:
    """Return what fitting to one half does for the other.

    Raises:
        DataError: There are too few rows to fit to, or they were answered in several ways.
    """
    fitting, scoring = halves(rows, seed)
    one, *others = cards_of(fitting, models=models).fitted
    if others:
        raise DataError(f"the rows were answered in {1 + len(others)} ways")
    calibrator, directed = one.card.calibrator, one.card.subject.kind == "yes_no"
    read = [unrounded(row.probabilities or (), row.flags) for row in scoring]
    after = [calibrator(shares, directed=directed) for shares in read]
    labels = [row.label for row in scoring]
    losses = _losses(read, labels), _losses(after, labels)
    top, right = shown_answers(after, labels, directed=directed)
    return Score(
        len(fitting),
        len(scoring),
        fmean(losses[0]),
        fmean(losses[1]),
        mean_difference(losses[1], losses[0], groups=[row.group for row in scoring]),
        smooth_ece(*shown_answers(read, labels, directed=directed)),
        smooth_ece(top, right),
        noise_of(smooth_ece, top).high,
        fmean(shown_answers(read, labels, directed=False)[1]),
        fmean(shown_answers(after, labels, directed=False)[1]),
        "none shown to help" if calibrator.name == "identity" else calibrator.name,
    )


def _losses(shares: Sequence[Sequence[float]], labels: Sequence[int]) -> list[float]:
    return [-math.log(max(FLOOR, row[label])) for row, label in zip(shares, labels, strict=True)]


def _one(rows: Sequence[Row], models: dict[str, str], seed: int) -> tuple[str, ...]:
    try:
        score = scored(rows, models, seed)
    except DataError as error:
        sizes = [str(len(half)) for half in halves(rows, seed)]
        return (*sizes, "–", "–", "–", "–", "–", f"none: {error}")
    return (
        str(score.fitted),
        str(score.scored),
        f"{score.before:.3f} → {score.after:.3f}",
        str(score.gap),
        f"{score.ece_before:.3f} → {score.ece_after:.3f}",
        f"≤{score.chance:.3f}",
        f"{score.right_before:.0%} → {score.right_after:.0%}",
        score.calibrator,
    )


def _all(rows: Sequence[Row], models: dict[str, str], seeds: Sequence[int]) -> tuple[str, ...]:
    try:
        scores = [scored(rows, models, seed) for seed in seeds]
    except DataError as error:
        return (str(len(seeds)), "–", "–", "–", "–", f"none: {error}")
    lower = sum(score.gap.high < 0 for score in scores)
    higher = sum(score.gap.low > 0 for score in scores)
    return (
        str(len(scores)),
        str(lower),
        str(higher),
        str(len(scores) - lower - higher),
        f"{median(score.gap.value for score in scores):+.3f}",
        str(sum(score.ece_after <= score.chance for score in scores)),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table of a run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("run", type=Path, help="folder of a run of `yesno bench`")
    parser.add_argument("--seed", type=int, default=0, help="of the split into halves")
    parser.add_argument("--splits", type=count, default=1, help="how many splits; more than one are counted")
    parser.add_argument("--model", help="ask it about the five sets of benchmarks/tuning first")
    parser.add_argument("--cache", type=Path, default=Path("tuning-replies.db"), help="replies for --model")
    given = parser.parse_args(arguments)
    if given.model:
        with SqliteCache(given.cache) as cache:
            ask([loaded(name) for name in QUESTIONS], models=[given.model], out=given.run, cache=cache)
    run = load_run(given.run)
    parts: dict[tuple[str, Way], list[Row]] = defaultdict(list)
    for row in sorted(run.rows, key=lambda row: row.key):
        if row.probabilities is not None:
            parts[row.set, row.way].append(row)
    models, seeds = dict(run.card.models), range(given.seed, given.seed + given.splits)

    def cells() -> Iterator[tuple[str, ...]]:
        for (name, way), rows in parts.items():
            told = _one(rows, models, given.seed) if len(seeds) == 1 else _all(rows, models, seeds)
            yield name, models.get(way.model, way.model), *told

    _print(ONE if len(seeds) == 1 else ALL, cells())


def _print(headings: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    print(f"| {' | '.join(headings)} |")
    print("|" + "---|" * len(headings))
    for line in lines:
        print(f"| {' | '.join(line)} |")


if __name__ == "__main__":
    main()
