"""How well tools were ranked and picked, and paired differences with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.scores import interval_of
from yesno.calibration import ranking as by_rank
from yesno.calibration.intervals import LEAST_GROUPS

__all__ = [
    "CUTS",
    "LEAST_GROUPS",
    "Difference",
    "Judged",
    "Scores",
    "auroc",
    "compared",
    "picked_share",
    "ranking",
    "score",
]

CUTS = (1, 3, 5)
Measure: TypeAlias = Callable[[Sequence["Judged"]], float]
Gap: TypeAlias = Callable[[NDArray[np.intp]], float]
ROUNDING = 1e-9
"""A difference as small as this is none."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What one reader says about the tools of one request."""

    scores: tuple[float | None, ...]
    """Of each tool on offer, the more the better; None when nothing was said about it."""
    relevant: tuple[bool, ...]
    kept: tuple[int, ...] = ()
    """Places of the tools that were let through."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over requests; NaN where a value is not defined, such as an AUROC with one kind of label."""

    n: int
    needing: int
    """Requests that need a tool at all."""
    offered: float
    recall_at: tuple[float, ...]
    """Share of the needed tools among the best 1, 3 and 5, over the requests that need any."""
    auroc_tools: float
    """Of all pairs of a request and a tool: does it help?"""
    auroc_requests: float
    """Of the best score of each request: does it need any of the tools?"""
    recall: float
    """Share of the needed tools that were let through, over the requests that need any."""
    precision: float
    """Share of all tools let through that are needed."""
    kept: float
    """Tools let through per request."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A paired difference, of which more is better, with its 95 % interval."""

    name: str
    value: float
    interval: tuple[float, float] | None
    """None with fewer than five groups, which say nothing about how much groups differ."""

    @classmethod
    def of(cls, name: str, gap: Gap, groups: Sequence[str], *, draws: int = 1000) -> Difference:
        """Return the difference that `gap` gives for the places of items; groups are resampled whole."""
        value = gap(np.arange(len(groups)))
        if len(set(groups)) < LEAST_GROUPS:
            return cls(name, value, None)
        return cls(name, value, interval_of(gap, groups, draws=draws))

    @property
    def verdict(self) -> str:
        """What the interval shows."""
        if self.interval is None:
            return f"not said with fewer than {LEAST_GROUPS} groups"
        low, high = self.interval
        return "better" if low > ROUNDING else "worse" if high < -ROUNDING else "no difference shown"

    def __str__(self) -> str:
        shown = "–" if self.interval is None else "{:+.3f} to {:+.3f}".format(*self.interval)
        return f"| {self.name} | {self.value:+.3f} | {shown} | {self.verdict} |"


def ranking(scores: Sequence[float | None]) -> list[int]:
    """Return places, best first; equals in the order given, and those without a score after all others."""
    return sorted(range(len(scores)), key=lambda place: -_number(scores[place]))


def picked_share(relevant: Sequence[bool], picked: Sequence[int]) -> float:
    """Return the share of the needed tools that are among the picked places; NaN when none is needed."""
    needed = sum(relevant)
    return sum(relevant[place] for place in picked) / needed if needed else float("nan")


def score(found: Sequence[Judged]) -> Scores:
    """Return the scores of one reader on one set."""
    kept = sum(len(one.kept) for one in found)
    right = sum(one.relevant[place] for one in found for place in one.kept)
    return Scores(
        n=len(found),
        needing=sum(any(one.relevant) for one in found),
        offered=float(np.mean([len(one.scores) for one in found])),
        recall_at=tuple(_recall_at(found, cut) for cut in CUTS),
        auroc_tools=_auroc_of_tools(found),
        auroc_requests=_auroc_of_requests(found),
        recall=_recall(found),
        precision=right / kept if kept else float("nan"),
        kept=kept / len(found),
    )


def compared(
    ours: Sequence[Judged], theirs: Sequence[Judged], groups: Sequence[str], *, draws: int = 1000
) -> list[Difference]:
    """Return ours minus theirs on the same requests; groups are resampled whole, both readers together.

    What is not defined for these requests is left out.
    """
    measures: dict[str, Measure] = {f"R@{cut}": partial(_recall_at, cut=cut) for cut in CUTS}
    measures |= {"recall": _recall, "AUROC, tools": _auroc_of_tools, "AUROC, requests": _auroc_of_requests}
    differences = []
    for name, measure in measures.items():
        gap = partial(_gap, measure, ours, theirs)
        if not np.isnan(gap(np.arange(len(ours)))):
            differences.append(Difference.of(name, gap, groups, draws=draws))
    return differences


def _gap(
    measure: Measure, ours: Sequence[Judged], theirs: Sequence[Judged], picked: NDArray[np.intp]
) -> float:
    return measure([ours[place] for place in picked]) - measure([theirs[place] for place in picked])


def _recall_at(found: Sequence[Judged], cut: int) -> float:
    return _mean([picked_share(one.relevant, ranking(one.scores)[:cut]) for one in found])


def _recall(found: Sequence[Judged]) -> float:
    return _mean([picked_share(one.relevant, one.kept) for one in found])


def _auroc_of_tools(found: Sequence[Judged]) -> float:
    truth = [truth for one in found for truth in one.relevant]
    return auroc(truth, [_number(score) for one in found for score in one.scores])


def _auroc_of_requests(found: Sequence[Judged]) -> float:
    return auroc([any(one.relevant) for one in found], [max(map(_number, one.scores)) for one in found])


def _number(score: float | None) -> float:
    """Return a number below all scores, which are 0 or more, for a tool without one."""
    return -1.0 if score is None else score


def auroc(truth: Sequence[bool], scores: Sequence[float]) -> float:
    """Return the AUROC; NaN when all labels are the same."""
    return by_rank.auroc(scores, truth) if 0 < sum(truth) < len(truth) else float("nan")


def _mean(values: Sequence[float]) -> float:
    """Return the mean of what is known."""
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
