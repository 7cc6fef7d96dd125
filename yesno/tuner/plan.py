"""How much is asked, decided before anything is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from yesno.errors import ConfigError
from yesno.labelled import Item, answer_of, kind_of
from yesno.tuner.splits import SELECT, TRAIN, Split, split

__all__ = ["LEAST_ROWS", "Plan", "Size", "planned"]

LEAST_ROWS = 80
"""Of fewer labels a calibration could not be fitted to the part that is not held out."""
LEAST_SEARCHED = 120
LEAST_RARE = 15
"""Labels in all, and of the rarer answer to a yes/no question, below which only a calibration and thresholds are made."""
CALLS = 2100
MOST = (100, 300, 200)
"""Rows that are used at most: for examples, for comparing, held out. Each part has the answers at the rates of all rows."""


@dataclass(frozen=True, slots=True)
class Size:
    """One size of a search."""

    pool: int
    """Templates without new examples, today's among them."""
    first: int
    """Rows of the first round."""
    second: int
    """Rows of the second."""
    kept: int
    """Templates that go from a first round to a second."""
    parents: int
    """Wordings that get worked examples."""
    variants: int
    """Lists of worked examples that each of them gets."""
    finals: int
    """Templates that are compared on all rows for it, besides today's."""
    proposals: int = 0
    """Wordings that another model is asked for."""

    @property
    def made(self) -> int:
        """Templates that are made on the way."""
        return self.parents * self.variants + self.proposals

    def decisions(self, select: int, held_out: int) -> int:
        """Return the most decisions that a search of this size takes."""
        first, second = min(self.first, select), min(self.second, select)
        kept = self.kept + min(self.kept, self.made)
        rounds = (self.pool + self.made) * first + kept * (second - first)
        # today's template is asked about all rows from the first, and need not be among the finals
        return rounds + self.finals * (select - second) + (select - first) + 2 * held_out


SIZES = (
    Size(16, 32, 64, 5, 3, 4, 3),
    Size(14, 32, 64, 4, 3, 4, 2),
    Size(12, 32, 64, 4, 2, 4, 2),
    Size(10, 24, 56, 3, 2, 4, 2),
    Size(8, 24, 48, 3, 2, 3, 2),
    Size(8, 20, 40, 2, 2, 2, 1),
    Size(6, 16, 32, 2, 1, 2, 1),
    Size(4, 16, 32, 1, 1, 2, 1),
)
"""From the largest to the smallest; the first that the calls allow is taken."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The rows in their parts, and how many of which are asked about."""

    kind: str
    split: Split
    size: Size | None
    """None when templates are not searched."""
    seed: int
    calls: int
    """Most requests."""
    per_decision: int
    """Requests that a decision takes."""
    probes: int
    """Requests for each template besides, for what a model prefers whatever the input is."""
    why_not: str | None = None
    """Why templates are not searched."""
    data: str | None = None
    """SHA-256 of all rows."""

    @property
    def decisions(self) -> int:
        """Most decisions that are asked for."""
        select, held_out = len(self.split.select), len(self.split.held_out)
        return select + held_out if self.size is None else self.size.decisions(select, held_out)

    @property
    def templates(self) -> int:
        """Most templates that are asked with."""
        return 1 if self.size is None else self.size.pool + self.size.made

    @property
    def requests(self) -> int:
        """Most requests that this takes when every reply is readable."""
        proposing = self.size is not None and self.size.proposals > 0
        return self.decisions * self.per_decision + self.templates * self.probes + proposing


def planned(
    items: Sequence[Item],
    *,
    calls: int = CALLS,
    seed: int = 0,
    per_decision: int = 1,
    probes: int = 0,
    why_not: str | None = None,
    data: str | None = None,
    proposals: int = 0,
) -> Plan:
    """Return the largest search that the rows and the calls allow.

    Args:
        items: Labelled rows with questions of one type.
        calls: Most requests to send.
        seed: Fixes what is drawn.
        per_decision: Requests that a decision takes.
        probes: Requests that a template takes besides.
        why_not: Why templates must not be searched, if so.
        data: SHA-256 of all rows, for the card.
        proposals: Wordings that another model will be asked for.

    Raises:
        ConfigError: The rows do not suffice, are of several types or all have one label, or the calls do not suffice.
    """
    kind = _checked(items)
    why = why_not or _too_few(items, kind)
    parts = split(items, seed=seed, **_shares(len(items), search=not why))
    found: Plan | None = None
    for size in (None,) if why else [replace(size, proposals=proposals) for size in SIZES]:
        found = Plan(kind, parts, size, seed, calls, per_decision, probes, why, data)
        if found.requests <= calls:
            return found
    assert found is not None  # noqa: S101 - there is at least one size
    raise ConfigError(
        f"`calls` is {calls}, and the smallest search of these rows takes {found.requests}; raise it"
    )


def _shares(count: int, *, search: bool) -> dict[str, float]:
    """Return the shares of the parts: of few rows all are used, of many the most that are worth their calls."""
    usual = (TRAIN, SELECT, 1 - TRAIN - SELECT) if search else (0.0, 0.7, 0.3)
    names = ("train", "select", "held_out")
    return {name: min(share, most / count) for name, share, most in zip(names, usual, MOST, strict=True)}


def _checked(items: Sequence[Item]) -> str:
    kinds = sorted({kind_of(item.question) for item in items})
    if len(kinds) > 1:
        raise ConfigError(
            f"the rows ask questions of {len(kinds)} types ({', '.join(kinds)}); tune each type alone"
        )
    if len(items) < LEAST_ROWS:
        raise ConfigError(
            f"there are {len(items)} labelled rows, and tuning needs at least {LEAST_ROWS}, "
            f"{LEAST_SEARCHED} to compare templates; 300 are a good number"
        )
    answers = Counter(answer_of(item) for item in items)
    if len(answers) == 1:
        raise ConfigError(
            f"all {len(items)} labels are {next(iter(answers))!r}; tuning needs rows with at least two answers"
        )
    return kinds[0]


def _too_few(items: Sequence[Item], kind: str) -> str | None:
    if len(items) < LEAST_SEARCHED:
        return f"{len(items)} labels are too few to compare templates; {LEAST_SEARCHED} would do"
    rare = min(Counter(answer_of(item) for item in items).values())
    if kind == "yes_no" and rare < LEAST_RARE:
        return (
            f"only {rare} labels have the rarer answer, too few to compare templates; {LEAST_RARE} would do"
        )
    return None
