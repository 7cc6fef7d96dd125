"""Fit a card to one half of a run's rows and score it on the other half; see README.md."""

from __future__ import annotations

import argparse
import math
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from benchmarks.tuning.sets import QUESTIONS, loaded
from yesno import SqliteCache
from yesno.bench.fitting import cards_of
from yesno.bench.rows import Row, Way
from yesno.bench.running import run as ask
from yesno.bench.runs import load_run
from yesno.bench.scoring import FLOOR
from yesno.calibration.applying import unrounded
from yesno.calibration.calibrators import Calibrator
from yesno.calibration.ece import noise_of, smooth_ece
from yesno.calibration.intervals import mean_difference
from yesno.calibration.options import shown_answers
from yesno.errors import DataError

__all__ = ["halves", "main", "scored"]

HEADINGS = (
    "set",
    "model",
    "fit",
    "scored",
    "log loss",
    "change (95 %)",
    "smooth ECE",
    "by chance",
    "calibrator",
)


def halves(rows: Sequence[Row], seed: int) -> tuple[list[Row], list[Row]]:
    """Return the rows of half of the groups, drawn at random, and the others."""
    groups = sorted({row.group for row in rows})
    random.Random(seed).shuffle(groups)  # noqa: S311 - no secret
    first = set(groups[: len(groups) // 2])
    return [row for row in rows if row.group in first], [row for row in rows if row.group not in first]


def scored(fitting: Sequence[Row], scoring: Sequence[Row], models: dict[str, str]) -> tuple[str, ...]:
    """Return the cells of a line, from the number of rows that were fitted to on."""
    try:
        one, *others = cards_of(fitting, models=models).fitted
    except DataError as error:
        return _unscored(fitting, scoring, str(error))
    if others:
        return _unscored(fitting, scoring, f"the rows were answered in {1 + len(others)} ways")
    calibrator, directed = one.card.calibrator, one.card.subject.kind == "yes_no"
    read = [unrounded(row.probabilities or (), row.flags) for row in scoring]
    after = [calibrator(shares, directed=directed) for shares in read]
    labels = [row.label for row in scoring]
    before_losses, after_losses = _losses(read, labels), _losses(after, labels)
    gap = mean_difference(after_losses, before_losses, groups=[row.group for row in scoring])
    top, right = shown_answers(after, labels, directed=directed)
    noise = noise_of(smooth_ece, top)
    before_ece = smooth_ece(*shown_answers(read, labels, directed=directed))
    return (
        str(len(fitting)),
        str(len(scoring)),
        f"{sum(before_losses) / len(labels):.3f} → {sum(after_losses) / len(labels):.3f}",
        str(gap),
        f"{before_ece:.3f} → {smooth_ece(top, right):.3f}",
        f"≤{noise.high:.3f}",
        _name(calibrator),
    )


def _unscored(fitting: Sequence[Row], scoring: Sequence[Row], why: str) -> tuple[str, ...]:
    return (str(len(fitting)), str(len(scoring)), "–", "–", "–", "–", f"none: {why}")


def _name(calibrator: Calibrator) -> str:
    return "none shown to help" if calibrator.name == "identity" else calibrator.name


def _losses(shares: Sequence[Sequence[float]], labels: Sequence[int]) -> list[float]:
    return [-math.log(max(FLOOR, row[label])) for row, label in zip(shares, labels, strict=True)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table of a run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("run", type=Path, help="folder of a run of `yesno bench`")
    parser.add_argument("--seed", type=int, default=0, help="of the split into halves")
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
    print("| " + " | ".join(HEADINGS) + " |")
    print("|" + "---|" * len(HEADINGS))
    for (name, way), rows in parts.items():
        first, second = halves(rows, given.seed)
        cells = (
            name,
            run.card.models.get(way.model, way.model),
            *scored(first, second, dict(run.card.models)),
        )
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
