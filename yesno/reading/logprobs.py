"""Read the labels' probabilities from the top log-probabilities of a reply."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from yesno.evidence import Candidate, Completion, Position
from yesno.reading.intervals import Tally
from yesno.reading.labels import LabelSet, Match
from yesno.reading.outcome import Declined, Reading, Unread
from yesno.reading.position import Start, find_start
from yesno.reading.refusals import is_refusal
from yesno.reading.tokens import data_of, is_special, is_undecodable

__all__ = ["CENSORED_BELOW", "read"]

CENSORED_BELOW = -50.0
"""A smaller log-probability is a mask, a clip or a sentinel (-100, -9999, -inf), not a measurement:
float32 softmax over a vocabulary does not resolve 2e-22."""
POSITIVE = 1e-6
"""A log-probability above this is invalid; below it, it is a rounding error of 0."""


def read(completion: Completion, labels: LabelSet, *, min_mass: float = 0.5) -> Reading | Unread | Declined:
    """Read one reply.

    Args:
        completion: The reply.
        labels: What the prompt asked the model to write.
        min_mass: Least probability on labels (0..1) for a reading; below it the result is `Unread`.

    Returns:
        Shares of the labels; `Declined` for a refusal; else `Unread` with the reason.
    """
    early = _recognise(completion)
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
        answers_at=lambda place: _label_mass(positions[place.index], place.skip, labels) >= 0.5,
    )
    if isinstance(start, str):
        return Unread("truncated" if start == "empty" and completion.finish == "length" else start)
    if start.index >= len(positions):
        return Unread("truncated" if completion.finish == "length" else "empty")
    tally = Tally(len(labels), path=start.path)
    problem = _Walk(labels, tally, positions, start).go()
    if problem is not None:
        return Unread(problem)
    if completion.lossy:
        tally.flags.add("lossy")
    reading = tally.reading()
    if reading is None and not _is_measured(positions[start.index]):
        return Unread("sentinel_logprob")
    if reading is None or reading.label_mass < min_mass:
        return Unread("low_label_mass", reading)
    return reading


def _without_tokens(completion: Completion) -> str:
    if (completion.text or "").strip():
        return "no_logprobs"
    return "truncated" if completion.finish == "length" else "empty"


def _label_mass(position: Position, skip: int, labels: LabelSet) -> float:
    candidates = _usable(position, skip)
    if isinstance(candidates, str):
        return 0.0
    return sum(p for data, p, _ in candidates.values if labels.match(data).exact is not None)


def _recognise(completion: Completion) -> Unread | Declined | None:
    """Return the outcome of a reply that must not be read for tokens."""
    if completion.finish == "content_filter":
        return Declined("content_filter")
    if completion.refusal is not None or completion.finish == "refusal":
        return Declined("refusal")
    if completion.finish == "tool_calls":
        return Unread("tool_call")
    return None


@dataclass(slots=True)
class _Walk:
    """Follow the written tokens while they spell a label, and tally their alternatives on the way."""

    labels: LabelSet
    tally: Tally
    positions: Sequence[Position]
    start: Start
    prefix: bytes = b""
    weight: float = 1.0
    label: int | None = None
    """The label that `prefix` spells in full."""

    def go(self) -> str | None:
        """Walk to the end of the answer; return a word for why it cannot be read, if so."""
        first = True
        for position in self.positions[self.start.index :]:
            candidates = _usable(position, self.start.skip if first else 0)
            if isinstance(candidates, str):
                return candidates if first else self._unfinished()
            if first:
                self._note(position, candidates)
                if not candidates.values and is_undecodable(position.chosen):
                    return "undecodable_tokens"
            if not self._step(candidates, first=first):
                return None
            first = False
        return self._unfinished()

    def _note(self, position: Position, candidates: _Candidates) -> None:
        tally = self.tally
        if candidates.values:
            tally.smallest = min(p for _, p, _ in candidates.values)
        if candidates.censored:
            tally.flags.add("censored")
        if any(is_undecodable(c) for c in position.top):
            tally.flags.add("undecodable")

    def _step(self, candidates: _Candidates, *, first: bool) -> bool:
        """Tally one position; return whether the written token goes on spelling a label."""
        if not first and self.label is not None and candidates.written_ends(closed=self._closed):
            self._settle(self.label, candidates)
            return False
        tally = self.tally
        step: tuple[bytes, float, int | None] | None = None
        for data, p, written in candidates.values:
            mass = self.weight * p
            if not first and self.label is not None and _ends(data, closed=self._closed):
                tally.seen[self.label] += mass
                continue
            match = self.labels.match(self.prefix + data)
            if written and (match.exact is not None or match.extends):
                step = (self.prefix + data, mass, match.exact)
            else:
                self._tally_alternative(self.prefix + data, match, mass)
        tally.unseen += self.weight * max(0.0, 1.0 - sum(p for _, p, _ in candidates.values))
        if step is None:
            return False
        self.prefix, self.weight, self.label = step
        if self.label is not None:
            tally.listed.add(self.label)
        return True

    def _settle(self, label: int, candidates: _Candidates) -> None:
        """Give a finished label all that does not go on to another label at this position."""
        elsewhere = 0.0
        for data, p, _ in candidates.values:
            if not _ends(data, closed=self._closed):
                text = self.prefix + data
                elsewhere += self._tally_alternative(text, self.labels.match(text), self.weight * p)
        self.tally.seen[label] += max(0.0, self.weight - elsewhere)

    @property
    def _closed(self) -> bool:
        text = self.prefix.decode("utf-8", "replace").strip()
        return len(text) == 1 and text.isascii()

    def _tally_alternative(self, text: bytes, match: Match, mass: float) -> float:
        """Tally a token that was not written; return the probability that it took for labels."""
        exact, tally = match.exact, self.tally
        if exact is None and not match.extends:
            return 0.0
        if exact is not None and not match.extends - {exact}:
            tally.seen[exact] += mass
            tally.listed.add(exact)
        elif exact is None and len(match.extends) == 1 and not _is_text(text):
            (label,) = match.extends
            tally.seen[label] += mass
            tally.guessed[label] += mass
            tally.listed.add(label)
            tally.flags.add("partial_bytes")
        else:
            for label in match.extends | ({exact} if exact is not None else set()):
                tally.open[label] += mass
        return mass

    def _unfinished(self) -> str | None:
        """Count a label that the reply ends on; a reply that stops inside a label leaves it open."""
        if self.label is not None:
            self.tally.seen[self.label] += self.weight
        else:
            for label in self.labels.match(self.prefix).extends:
                self.tally.open[label] += self.weight
        return None


@dataclass(frozen=True, slots=True)
class _Candidates:
    values: list[tuple[bytes, float, bool]]
    """Bytes, probability and whether it was written, for every token with a usable value."""
    censored: int

    def written_ends(self, *, closed: bool) -> bool:
        """Return whether the token that was written ends an answer."""
        return any(written and _ends(data, closed=closed) for data, _, written in self.values)


def _usable(position: Position, skip: int) -> _Candidates | str:
    """Return the tokens of a position with real probabilities, or a word for why there are none."""
    chosen = position.chosen
    lead = data_of(chosen)[:skip]
    values: list[tuple[bytes, float, bool]] = []
    logprobs: list[float] = []
    censored = 0
    ids: set[int] = set()
    met = False
    for candidate in position.top:
        if candidate.id is not None:
            if candidate.id in ids:
                continue
            ids.add(candidate.id)
        written = not met and _same(candidate, chosen)
        met = met or written
        censored += _take(candidate, values, logprobs, written=written)
    if not met:
        censored += _take(chosen, values, logprobs, written=True)
    if any(value > POSITIVE for value in logprobs):
        total = sum(logprobs)
        whole = len(logprobs) > 1 and min(logprobs) >= 0 and total <= 1 + 1e-3
        return "probabilities_in_logprob_field" if whole else "invalid_logprob"
    if sum(p for _, p, _ in values) > 1 + 1e-2:
        return "degenerate" if all(value == 0.0 for value in logprobs) else "invalid_logprob"
    if values and not censored and all(value == 0.0 for value in logprobs):
        return "degenerate"
    if not any(written for _, _, written in values) and not values:
        return "sentinel_logprob"
    if skip:
        values = [(data[skip:], p, w) for data, p, w in values if data.startswith(lead)]
    return _Candidates(values, censored)


def _is_measured(position: Position) -> bool:
    """Return whether the written token has a real value somewhere in its position."""
    own = [candidate.logprob for candidate in position.top if _same(candidate, position.chosen)]
    return any(value is not None and value > CENSORED_BELOW for value in [*own, position.chosen.logprob])


def _take(
    candidate: Candidate, values: list[tuple[bytes, float, bool]], logprobs: list[float], *, written: bool
) -> int:
    """Add a token to the usable values, or return 1 when its value is censored."""
    logprob = candidate.logprob
    if logprob is None or math.isnan(logprob) or logprob <= CENSORED_BELOW:
        return 1
    logprobs.append(logprob)
    if logprob <= POSITIVE:
        values.append((data_of(candidate), math.exp(min(0.0, logprob)), written))
    return 0


def _same(a: Candidate, b: Candidate) -> bool:
    if a.id is not None and b.id is not None:
        return a.id == b.id
    return a.token == b.token or (a.data is not None and a.data == b.data)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _ends(data: bytes, *, closed: bool) -> bool:
    """Return whether a token ends the answer before it.

    A letter or digit (`closed`) is an answer only before punctuation, a line break or the end of the
    turn: the `A` of "A customer" is not. A word ends before anything that does not continue it.
    """
    text = data.decode("utf-8", "replace")
    if not text or is_special(text):
        return True
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
