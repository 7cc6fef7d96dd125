"""The tokens of one position that have a usable probability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from yesno.evidence import Candidate, Position
from yesno.reading.tokens import data_of

__all__ = ["CENSORED_BELOW", "Candidates", "is_measured", "usable"]

CENSORED_BELOW = -50.0
"""A smaller log-probability is a mask, a clip or a sentinel (-100, -9999, -inf), not a measurement:
float32 softmax over a vocabulary does not resolve 2e-22."""
POSITIVE = 1e-6
"""A log-probability above this is invalid; below it, it is a rounding error of 0."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The usable tokens, in a canonical order."""

    values: list[tuple[bytes, float, bool]]
    """Bytes, probability and whether it was written, for every token with a usable value."""
    written: bytes
    ceiling: float
    """Greatest probability that a token outside the list can have."""
    censored: int
    total: float
    """Probability of all tokens with a usable value."""


def usable(position: Position, skip: int, *, later: bool = False) -> Candidates | str:
    """Return the tokens of a position with real probabilities, or a word for why there are none.

    Past the first token of an answer (`later`) a lone token may well be certain.
    """
    chosen = position.chosen
    listed = _listed(position)
    twin = _twin(listed, chosen)
    values = [_measured(candidate.logprob) for candidate in listed]
    own = _measured(chosen.logprob)
    if twin is None:
        listed.append(chosen)
        values.append(own)
    else:
        listed[twin] = chosen
        values[twin] = own if values[twin] is None else values[twin]
    written = len(listed) - 1 if twin is None else twin
    known = [
        (data_of(candidate), value, place == written)
        for place, (candidate, value) in enumerate(zip(listed, values, strict=True))
        if value is not None
    ]
    problem = _problem([value for _, value, _ in known], len(listed) - len(known), later=later)
    if problem is not None:
        return problem
    inside = min((value for _, value, own in known if twin is not None or not own), default=0.0)
    end = data_of(chosen)
    usable_ones = [(data, math.exp(min(0.0, value)), own) for data, value, own in known]
    if skip:
        lead = end[:skip]
        usable_ones = [(data[skip:], p, own) for data, p, own in usable_ones if data.startswith(lead)]
    return Candidates(
        usable_ones,
        written=end[skip:],
        ceiling=1.0 if position.exact else math.exp(min(0.0, inside)),
        censored=len(listed) - len(known),
        total=sum([p for _, p, _ in usable_ones]),
    )


def _problem(values: list[float], censored: int, *, later: bool) -> str | None:
    """Return a word for why log-probabilities are no distribution, or None."""
    if not values:
        return "sentinel_logprob"
    if max(values) > POSITIVE:
        whole = len(values) > 1 and min(values) >= 0 and sum(values) <= 1 + 1e-3
        return "probabilities_in_logprob_field" if whole else "invalid_logprob"
    certain = not any(values)
    if sum(map(math.exp, values)) > 1 + 1e-2:
        return "degenerate" if certain else "invalid_logprob"
    return "degenerate" if certain and not censored and not later else None


def _listed(position: Position) -> list[Candidate]:
    """Return the alternatives, the most probable first, without repeats of one token id."""
    if _is_canonical(position.top):
        return list(position.top)
    unique: dict[int, Candidate] = {}
    rest: list[Candidate] = []
    for candidate in sorted(position.top, key=_rank):
        if candidate.id is None:
            rest.append(candidate)
        else:
            unique.setdefault(candidate.id, candidate)
    return [*unique.values(), *rest]


def _is_canonical(top: Sequence[Candidate]) -> bool:
    """Return whether the alternatives come as most servers send them: in order, no two alike, without ids."""
    last = math.inf
    for candidate in top:
        value = candidate.logprob
        if value is None or candidate.id is not None or not value < last:
            return False
        last = value
    return True


def _rank(candidate: Candidate) -> tuple[float, str]:
    value = candidate.logprob
    return (math.inf if value is None or math.isnan(value) else -value, candidate.token)


def _twin(listed: Sequence[Candidate], chosen: Candidate) -> int | None:
    """Return which alternative is the written token, the one nearest in value of several."""
    same = [i for i, candidate in enumerate(listed) if _same(candidate, chosen)]
    if len(same) < 2:
        return same[0] if same else None
    return min(same, key=lambda i: _distance(listed[i].logprob, chosen.logprob))


def _distance(a: float | None, b: float | None) -> float:
    if a is None or b is None or math.isnan(a) or math.isnan(b):
        return 0.0 if a is b else math.inf
    return 0.0 if a == b else abs(a - b)


def _measured(value: float | None) -> float | None:
    """Return a log-probability, or None when it is censored."""
    return value if value is not None and value > CENSORED_BELOW else None


def is_measured(position: Position) -> bool:
    """Return whether the written token has a real value somewhere in its position."""
    own = [candidate for candidate in position.top if _same(candidate, position.chosen)]
    return any(_measured(candidate.logprob) is not None for candidate in [*own, position.chosen])


def _same(a: Candidate, b: Candidate) -> bool:
    if a.id is not None and b.id is not None:
        return a.id == b.id
    if a.data is not None and b.data is not None:
        return a.data == b.data
    return a.token == b.token
