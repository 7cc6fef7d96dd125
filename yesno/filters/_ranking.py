"""What a reranker returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

from yesno.evidence import Usage
from yesno.questions import Outcome, Refusal, ScaleAnswer, Undecided, YesNoAnswer

__all__ = ["Alarm", "Ranked", "Ranking", "Scores", "Unscored"]

D = TypeVar("D")

Alarm: TypeAlias = Literal["constant_scores", "tie_at_cut", "unscored", "unread_comparisons"]
"""What makes an order doubtful:

- `constant_scores`: all scores are equal, as when the model never saw the passages.
- `tie_at_cut`: equal scores on both sides of `top_k`, or of what was compared in pairs; the order given decided.
- `unscored`: some documents have no score.
- `unread_comparisons`: some pairs could not be compared in both orders and do not count.
"""


@dataclass(frozen=True, slots=True)
class Ranked(Generic[D]):
    """A document with its score."""

    document: D
    """The caller's own object."""
    index: int
    """Its place among the documents given, from 0."""
    score: float
    """Probability (0..1) that it helps to answer the query, or the expected grade from 0 on."""
    answer: YesNoAnswer | ScaleAnswer
    preference: float | None = None
    """Mean probability (0..1) of being preferred to another one of the best; None when it was not compared."""


@dataclass(frozen=True, slots=True)
class Unscored(Generic[D]):
    """A document without a score, which is neither 0 nor 0.5."""

    document: D
    index: int
    outcome: Refusal | Undecided
    """Why there is none."""


@dataclass(frozen=True, slots=True)
class Scores:
    """A score per document, in the order given."""

    values: tuple[float | None, ...]
    """Probability (0..1) that it helps to answer the query, or the expected grade from 0 on; None without an answer."""
    outcomes: tuple[Outcome, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    usage: Usage | None = None
    """Tokens and requests spent; None when not known."""


@dataclass(frozen=True, slots=True)
class Ranking(Generic[D]):
    """The documents, most relevant first; equals in the order given."""

    ranked: tuple[Ranked[D], ...]
    """At most `top_k` of those that have a score."""
    unscored: tuple[Unscored[D], ...] = ()
    """Those without one, in the order given; they are in no place of the ranking."""
    alarms: tuple[Alarm, ...] = ()
    usage: Usage | None = None
    """Tokens and requests spent; None when not known."""

    @property
    def documents(self) -> tuple[D, ...]:
        """The ranked documents alone, most relevant first."""
        return tuple(item.document for item in self.ranked)
