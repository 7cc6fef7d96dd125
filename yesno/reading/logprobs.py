"""Read the labels' probabilities from the top log-probabilities of a reply."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from yesno.evidence import Completion, Position
from yesno.reading.candidates import CENSORED_BELOW, Candidates, is_measured, usable
from yesno.reading.intervals import Tally
from yesno.reading.labels import FORMS_PER_LABEL, NOTHING, LabelSet, Match
from yesno.reading.outcome import Declined, Reading, Unread
from yesno.reading.position import Start, find_start
from yesno.reading.refusals import is_refusal, refuses_with_no
from yesno.reading.tokens import data_of, has_undecodable, is_special

__all__ = ["CENSORED_BELOW", "mass_at", "read", "read_at", "recognised"]

_DECIMAL = re.compile(r"[.,](?:\d|\s*$)")
"""What may continue a whole number as a decimal one."""


def read(completion: Completion, labels: LabelSet, *, min_mass: float = 0.5) -> Reading | Unread | Declined:
    """Read one reply.

    Args:
        completion: The reply.
        labels: What the prompt asked the model to write.
        min_mass: Least probability on labels (0..1) for a reading; below it the result is `Unread`.

    Returns:
        Shares of the labels; `Declined` for a refusal; else `Unread` with the reason.
    """
    early = recognised(completion)
    if early is not None:
        return early
    result = _read(completion, labels, min_mass)
    text = completion.text or ""
    if isinstance(result, Unread) and not labels.spells(text) and is_refusal(text):
        return Declined("refusal")
    return result


def _read(completion: Completion, labels: LabelSet, min_mass: float) -> Reading | Unread:
    positions = completion.positions or ()
    if not positions:
        return Unread(_without_tokens(completion))
    start = find_start(
        completion,
        positions,
        answers_at=lambda place: mass_at(positions, place, labels) >= 0.5,
    )
    if isinstance(start, str):
        return Unread("truncated" if start == "empty" and completion.finish == "length" else start)
    if start.index >= len(positions):
        return Unread("truncated" if completion.finish == "length" else "empty")
    return read_at(
        positions,
        start,
        labels,
        min_mass,
        cut=completion.finish == "length",
        lossy=completion.lossy,
        exact=completion.exact,
    )


def read_at(
    positions: Sequence[Position],
    start: Start,
    labels: LabelSet,
    min_mass: float,
    *,
    cut: bool = False,
    lossy: bool = False,
    exact: bool = False,
) -> Reading | Unread:
    """Read the answer that begins at a place.

    Args:
        positions: Tokens up to the end of the answer or of the reply.
        start: Where the answer begins.
        labels: What the prompt asked the model to write.
        min_mass: Least probability on labels (0..1) for a reading.
        cut: The tokens end because the reply was cut off.
        lossy: Alternatives with equal text collapsed.
        exact: The host listed just the tokens it was asked for.
    """
    tally = Tally(len(labels), path=start.path)
    problem = _Walk(labels, tally, positions, start, cut=cut).go()
    if problem is not None:
        return Unread(problem)
    if lossy:
        tally.flags.add("lossy")
    if exact:
        tally.flags.add("exact_labels")
    reading = tally.reading()
    if reading is None and not is_measured(positions[start.index]):
        return Unread("sentinel_logprob")
    if reading is None or reading.label_mass < min_mass:
        return Unread("low_label_mass", reading)
    return reading


def _without_tokens(completion: Completion) -> str:
    if (completion.text or "").strip():
        return "no_logprobs"
    return "truncated" if completion.finish == "length" else "empty"


def mass_at(positions: Sequence[Position], place: Start, labels: LabelSet) -> float:
    """Return the probability (0..1) that one token at a place is a whole label."""
    candidates = usable(positions[place.index], place.skip)
    if isinstance(candidates, str):
        return 0.0
    return sum(p for data, p, _ in candidates.values if labels.match(data).exact is not None)


def recognised(completion: Completion) -> Unread | Declined | None:
    """Return the outcome of a reply that must not be read for tokens."""
    if completion.finish == "content_filter":
        return Declined("content_filter")
    if completion.refusal is not None or completion.finish == "refusal":
        return Declined("refusal")
    if completion.finish == "tool_calls":
        return Unread("tool_call")
    if refuses_with_no(completion.text or ""):
        return Declined("refusal")
    return None


@dataclass(slots=True)
class _Walk:
    """Follow the written tokens while they spell a label, and tally their alternatives on the way."""

    labels: LabelSet
    tally: Tally
    positions: Sequence[Position]
    start: Start
    cut: bool
    """Whether the reply was cut off at its end."""
    prefix: bytes = b""
    weight: float = 1.0
    label: int | None = None
    """The label that `prefix` spells in full."""

    def go(self) -> str | None:
        """Walk to the end of the answer; return a word for why it cannot be read, if so."""
        position = self.positions[self.start.index]
        candidates = usable(position, self.start.skip)
        if isinstance(candidates, str):
            return candidates
        self._note(position, candidates)
        more = self._step(candidates)
        for position in self.positions[self.start.index + 1 :]:
            if not more:
                return None
            candidates = usable(position, 0, later=True)
            if isinstance(candidates, str):
                return self._end_at(position, candidates)
            more = self._step(candidates)
        return self._unfinished() if more else None

    def _note(self, position: Position, candidates: Candidates) -> None:
        tally = self.tally
        tally.smallest = candidates.ceiling
        if candidates.censored:
            tally.flags.add("censored")
        if has_undecodable(position.top):
            tally.flags.add("undecodable")

    def _step(self, candidates: Candidates) -> bool:
        """Tally one position; return whether the written token goes on spelling a label."""
        if self.label is not None and self._finishes(candidates.written):
            self._settle(self.label, candidates)
            return False
        spellings = dict.fromkeys(self._reachable(), 0)
        step: tuple[bytes, float, int | None] | None = None
        for data, p, written in candidates.values:
            mass = self.weight * p
            if self.label is not None and self._finishes(data):
                self.tally.seen[self.label] += mass
                continue
            match = self.labels.match(self.prefix + data)
            if match is NOTHING:
                continue
            if match.exact is not None:
                spellings[match.exact] = spellings.get(match.exact, 0) + 1
            if written and (match.exact is not None or match.extends):
                step = (self.prefix + data, mass, match.exact)
            else:
                self._tally_alternative(self.prefix + data, match, mass)
        self.tally.hide(
            self.weight * max(0.0, 1.0 - candidates.total), self.weight * candidates.ceiling, spellings
        )
        if step is None:
            return False
        self.prefix, self.weight, self.label = step
        return True

    def _reachable(self) -> Iterable[int]:
        """Return the labels that what follows the prefix can still spell."""
        return _related(self.labels.match(self.prefix)) if self.prefix else range(len(self.labels))

    def _settle(self, label: int, candidates: Candidates) -> None:
        """Give a finished label all that does not go on to another label at this position."""
        longer = self.labels.match(self.prefix).extends - {label}
        if not longer:
            self.tally.seen[label] += self.weight
            return
        elsewhere = 0.0
        for data, p, _ in candidates.values:
            if not self._finishes(data):
                text = self.prefix + data
                elsewhere += self._tally_alternative(text, self.labels.match(text), self.weight * p)
        own = max(0.0, self.weight - elsewhere)
        hidden = min(own, self.weight * max(0.0, 1.0 - candidates.total))
        self.tally.seen[label] += own
        self.tally.guessed[label] += hidden
        for other in longer:
            self.tally.hidden[other] += min(hidden, FORMS_PER_LABEL * self.weight * candidates.ceiling)

    def _finishes(self, data: bytes) -> bool:
        """Return whether a token ends the answer that `prefix` spells.

        A letter or digit is an answer only before punctuation, a line break or the end of the turn: the
        `A` of "A customer" is not, nor the `3` of "3.5". A word ends before anything that does not continue
        it; a name that begins a longer one does not end before the rest of that one.
        """
        text = data.decode("utf-8", "replace")
        if not text or is_special(text):
            return True
        longer = self.labels.match(self.prefix).extends - {self.label}
        if longer and self._goes_on(data, text):
            return False
        prefix = self.prefix.decode("utf-8", "replace").strip()
        if prefix[-1:].isdecimal() and _DECIMAL.match(text):
            return False
        return _ends(text, closed=_is_closed(prefix))

    def _goes_on(self, data: bytes, text: str) -> bool:
        """Return whether a token leads from one label to a longer one."""
        if not text.strip(" \t"):
            return True
        match = self.labels.match(self.prefix + data)
        return match.exact not in (None, self.label) or (match.exact is None and bool(match.extends))

    def _tally_alternative(self, text: bytes, match: Match, mass: float) -> float:
        """Tally a token that was not written; return the probability that it took for labels."""
        exact, tally = match.exact, self.tally
        if exact is None and not match.extends:
            return 0.0
        if exact is not None and not match.extends - {exact}:
            tally.seen[exact] += mass
        elif exact is None and len(match.extends) == 1 and not _is_text(text):
            (label,) = match.extends
            tally.seen[label] += mass
            tally.guessed[label] += mass
            tally.flags.add("partial_bytes")
        else:
            tally.begin(_related(match), mass)
        return mass

    def _end_at(self, position: Position, problem: str) -> str | None:
        """Finish at a token without a usable probability, which still may end the answer."""
        if self.label is None or not self._finishes(data_of(position.chosen)):
            return problem
        self.tally.seen[self.label] += self.weight
        return None

    def _unfinished(self) -> str | None:
        """Count a label that the reply ends on; one that may have been cut off is none."""
        extends = self.labels.match(self.prefix).extends
        closed = _is_closed(self.prefix.decode("utf-8", "replace").strip())
        if self.cut and (self.label is None or closed or extends - {self.label}):
            return "truncated"
        if self.label is not None:
            self.tally.seen[self.label] += self.weight
        else:
            self.tally.begin(extends, self.weight)
        return None


def _related(match: Match) -> Iterable[int]:
    """Return the labels that a text spells or begins."""
    return match.extends if match.exact is None else match.extends | {match.exact}


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_closed(prefix: str) -> bool:
    return len(prefix) == 1 and prefix.isascii()


def _ends(text: str, *, closed: bool) -> bool:
    """Return whether a text ends the answer before it, which is one letter or digit when `closed`."""
    if text[0] in "\n\r":
        return True
    if closed:
        stripped = text.lstrip(" \t")
        if not stripped:
            return False
        if stripped[0] in "\n\r":
            return True
        spaced = stripped != text
        return (
            not stripped[0].isalnum()
            and (spaced or stripped[0] not in "-'\u2019_/&+")
            and stripped[0] not in "&+/"
        )
    return not (text[0].isalnum() or text[0] in "-'\u2019_")
