"""Successive halving over templates, as a generator that yields what to ask."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from yesno.labelled import Item
from yesno.tuner.candidates import Candidate
from yesno.tuner.judging import Advantage, Judge
from yesno.tuner.objective import Shares
from yesno.tuner.plan import Size

__all__ = ["Found", "Round", "Search", "Track", "Trial", "search"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One template and the rows to ask with it."""

    candidate: Candidate
    items: tuple[Item, ...]


Search: TypeAlias = Generator[Trial, "Mapping[str, Shares | None] | None", "Found"]
"""Yields trials and is sent row id -> probabilities, None for a row without an answer; None when the calls are used up."""


@dataclass(frozen=True, slots=True)
class Round:
    """How a template did in one round."""

    name: str
    advantage: Advantage
    kept: bool
    rank: int
    """From 1."""
    of: int


@dataclass(slots=True)
class Track:
    """All that is known of one template."""

    candidate: Candidate
    answers: dict[str, Shares | None] = field(default_factory=dict)
    """Row id -> probabilities."""
    rounds: list[Round] = field(default_factory=list)
    unfinished: bool = False
    """The calls were used up before it was asked about all rows of a round."""

    def answered(self, items: Sequence[Item]) -> bool:
        """Return whether it was asked about all these rows."""
        return all(item.id in self.answers for item in items)


@dataclass(frozen=True, slots=True)
class Found:
    """How a search ended."""

    tracks: tuple[Track, ...]
    """Today's template first, then in the order in which they were tried."""
    winner: Track | None
    """What is to be compared with today's on the rows held out; None when nothing was better."""
    stopped: bool
    """The calls were used up before the last round."""


Variants: TypeAlias = Callable[[Candidate], Sequence[Candidate]]
Propose: TypeAlias = Callable[[Track], Sequence[Candidate]]


@dataclass(slots=True)
class _Halving:
    judge: Judge
    items: tuple[Item, ...]
    tracks: dict[str, Track] = field(default_factory=dict)
    stopped: bool = False

    def ask(
        self, candidates: Sequence[Candidate], count: int
    ) -> Generator[Trial, Mapping[str, Shares | None] | None, list[Track]]:
        """Ask all candidates about the first rows, as far as that was not done; return those that were."""
        done = []
        for candidate in candidates:
            track = self.tracks.setdefault(candidate.name, Track(candidate))
            left = tuple(item for item in self.items[:count] if item.id not in track.answers)
            if left and not self.stopped:
                answers = yield Trial(candidate, left)
                if answers is None:
                    self.stopped = track.unfinished = True
                else:
                    track.answers.update(answers)
            if track.answered(self.items[:count]):
                done.append(track)
        return done

    def cut(self, name: str, tracks: Sequence[Track], today: Track, count: int, keep: int) -> list[Track]:
        """Rank the templates by their advantage over today's on the first rows, and return the best."""
        ranked = self.judge.ranked([track.answers for track in tracks], today.answers, self.items[:count])
        kept = []
        for rank, (place, advantage) in enumerate(ranked, start=1):
            stays = rank <= keep and advantage.covers
            tracks[place].rounds.append(Round(name, advantage, stays, rank, len(ranked)))
            if stays:
                kept.append(tracks[place])
        return kept


def search(
    pool: Sequence[Candidate],
    items: Sequence[Item],
    size: Size,
    judge: Judge,
    variants: Variants,
    propose: Propose = lambda best: (),
) -> Search:
    """Drop the worse templates in rounds of more and more rows; the best wordings get worked examples on the way.

    Args:
        pool: Templates, today's first.
        items: Rows to compare on; each round takes the first so many.
        size: How many of what.
        judge: What compares two templates.
        variants: Makes templates with worked examples of one.
        propose: Makes other wordings of the best one so far, from what it got wrong.
    """
    halving = _Halving(judge, tuple(items))
    first, second = min(size.first, len(items)), min(size.second, len(items))
    # what all others are compared with, and what is there to keep when the calls are used up
    found = yield from halving.ask(pool[:1], len(items))
    if not found:
        return Found(tuple(halving.tracks.values()), None, stopped=True)
    today = found[0]
    opened = yield from halving.ask(pool[: size.pool], first)
    kept = halving.cut("wordings", opened, today, first, size.kept)
    kept = (
        halving.cut(
            "wordings, more rows", (yield from halving.ask(_of(kept), second)), today, second, size.kept
        )
        or kept
    )
    made = [variant for track in kept[: size.parents] for variant in variants(track.candidate)]
    made += propose(kept[0]) if kept and not halving.stopped else ()
    grown = halving.cut("made on the way", (yield from halving.ask(made, first)), today, first, size.kept)
    grown = yield from halving.ask(_of(grown), second)
    rivals = list({track.candidate.name: track for track in [*kept, *grown] if track is not today}.values())
    last = halving.cut("before the last", rivals, today, second, size.finals)
    ended = yield from halving.ask(_of(last), len(items))
    final = halving.cut("last", [today, *ended], today, len(items), 1)
    winner = final[0] if final and final[0] is not today else None
    return Found(tuple(halving.tracks.values()), winner, halving.stopped)


def _of(tracks: Sequence[Track]) -> list[Candidate]:
    return [track.candidate for track in tracks]
