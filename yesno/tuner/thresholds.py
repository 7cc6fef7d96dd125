"""Thresholds for the chosen template, from the rows held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from yesno.errors import DataError
from yesno.labelled import Item, kind_of
from yesno.tuner.carding import Carded
from yesno.tuner.objective import Shares

__all__ = ["DELTA", "RISK", "Line", "thresholds_of"]

RISK, DELTA = 0.05, 0.1
"""Share (0..1) of the answers acted on that may be wrong, and how often (0..1) more of them may be."""


@dataclass(frozen=True, slots=True)
class Line:
    """One threshold and what it promises, or why there is none."""

    name: str
    """What is acted on: `"yes"`, `"no"` or `"answer"`."""
    threshold: float | None
    """Least probability (0..1), calibrated with the card; None when the rows do not suffice for any."""
    coverage: float | None
    """Share (0..1) of the rows held out that reach it."""
    rows: int
    """Rows held out with an answer."""
    why_not: str | None = None
    risk: float = RISK
    delta: float = DELTA

    def sentence(self) -> str:
        """Return it in words."""
        acted = "the answer" if self.name == "answer" else self.name
        if self.threshold is None:
            return f"no threshold for acting on {acted}: {self.why_not}"
        return (
            f"act on {acted} from {self.threshold:.3f}: at most {self.risk:.0%} wrong with {1 - self.delta:.0%} "
            f"confidence, {self.coverage:.0%} of {self.rows} rows"
        )

    def document(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


def thresholds_of(
    chosen: Carded, answers: Mapping[str, Shares | None], items: Sequence[Item]
) -> tuple[Line, ...]:
    """Return from which probability on answers may be acted on, with a guarantee for rows like those held out.

    The choice between two templates has seen these rows too; beyond that the guarantee is the one of `threshold_for`.
    """
    used = [item for item in items if answers.get(item.id)]
    shares = chosen.applied([answers[item.id] or () for item in used], used)
    if not used:
        return ()
    from yesno.calibration.options import shown_answers

    groups = [item.group for item in used]
    if kind_of(used[0].question) == "yes_no":
        return tuple(
            _line(name, [row[place] for row in shares], [item.label == place for item in used], groups)
            for place, name in enumerate(("yes", "no"))
        )
    best, right = shown_answers(shares, [item.label for item in used], directed=False)
    return (_line("answer", best, right, groups),)


def _line(name: str, probabilities: Sequence[float], right: Sequence[bool], groups: Sequence[str]) -> Line:
    from yesno.calibration.thresholds import threshold_for

    if len(set(right)) == 1:
        why = f"all {len(right)} would be right" if right[0] else f"none of {len(right)} would be right"
        return Line(name, None, None, len(right), f"{why}, so these rows tell nothing apart")
    try:
        found = threshold_for(probabilities, list(right), risk=RISK, delta=DELTA, groups=list(groups))
    except DataError as error:  # too few, or the risk cannot be kept: its own words say which
        why = str(error).replace("those taken for yes", "those acted on")
        return Line(name, None, None, len(right), why)
    return Line(name, found.threshold, found.coverage, len(right))
