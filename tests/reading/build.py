"""Build replies from probabilities, so that a test shows numbers a reader can check."""

import math
from collections.abc import Sequence

from yesno.evidence import Candidate, Completion, Position
from yesno.reading.labels import letter_labels, name_labels, yes_no_labels
from yesno.reading.logprobs import read

YES_NO = yes_no_labels()


def candidate(token, p, data=None, id=None):
    logprob = p if p is None or p <= 0 or p > 1 else math.log(p)
    return Candidate(token, logprob, data, id)


def position(*listed, written=None, p=None):
    """List (token, probability) pairs; the first was written unless `written` says another."""
    top = tuple(candidate(*item) for item in listed)
    chosen = top[0] if written is None else candidate(written, p)
    return Position(chosen, top)


def reply(*positions: Position, text: str | None = None, **fields) -> Completion:
    written = "".join(place.chosen.token for place in positions) if text is None else text
    return Completion(written, positions, **fields)


def yes_no(*listed, **fields):
    return read(reply(position(*listed), **fields), YES_NO)


def letters(names: Sequence[str], *positions, **fields):
    return read(reply(*positions, **fields), letter_labels(names))


def names(options: Sequence[str], *positions, **fields):
    return read(reply(*positions, **fields), name_labels(options))
