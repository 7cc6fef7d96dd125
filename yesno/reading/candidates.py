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

    @property
    def total(self) -> float:
        """Probability of all tokens with a usable value."""
        return sum(p for _, p, _ in self.values)


def usable(position: Position, skip: int, *, later: bool = False) -> Candidates | str:
    """Return the tokens of a position with real probabilities, or a word for why there are none.

    Past the first token of an answer (`later`) a lone token may well be certain.
    """
    chosen = position.chosen
    listed = _listed(position)
    twin = _twin(listed, chosen)
    table = [(candidate, _measured(candidate), False) for candidate in listed]
    if twin is None:
        table.append((chosen, _measured(chosen), True))
    else:
        table[twin] = (chosen, _first_of(_measured(listed[twin]), _measured(chosen)), True)
    known = [(data_of(candidate), value, written) for candidate, value, written in table if value is not None]
    problem = _problem([value for _, value, _ in known], len(table) - len(known), later=later)
    if problem is not None:
        return problem
    inside = [value for _, value, written in known if twin is not None or not written]
    lead = data_of(chosen)[:skip]
    return Candidates(
        [(data[skip:], math.exp(min(0.0, v)), w) for data, v, w in known if data.startswith(lead)],
        written=data_of(chosen)[skip:],
        ceiling=math.exp(min(0.0, *inside)) if inside and not position.exact else 1.0,
        censored=len(table) - len(known),
    )


def _problem(values: list[float], censored: int, *, later: bool) -> str | None:
    """Return a word for why log-probabilities are no distribution, or None."""
    if not values:
        return "sentinel_logprob"
    if max(values) > POSITIVE:
        whole = len(values) > 1 and min(values) >= 0 and sum(values) <= 1 + 1e-3
        return "probabilities_in_logprob_field" if whole else "invalid_logprob"
    certain = all(value == 0.0 for value in values)
    if sum(math.exp(value) for value in values) > 1 + 1e-2:
        return "degenerate" if certain else "invalid_logprob"
    return "degenerate" if certain and not censored and not later else None


def _listed(position: Position) -> list[Candidate]:
    """Return the alternatives, the most probable first, without repeats of one token id."""
    unique: dict[int, Candidate] = {}
    rest: list[Candidate] = []
    for candidate in sorted(position.top, key=_rank):
        if candidate.id is None:
            rest.append(candidate)
        else:
            unique.setdefault(candidate.id, candidate)
    return [*unique.values(), *rest]


def _rank(candidate: Candidate) -> tuple[float, str]:
    value = candidate.logprob
    return (math.inf if value is None or math.isnan(value) else -value, candidate.token)


def _twin(listed: Sequence[Candidate], chosen: Candidate) -> int | None:
    """Return which alternative is the written token, the one nearest in value of several."""
    same = [i for i, candidate in enumerate(listed) if _same(candidate, chosen)]
    return min(same, key=lambda i: _distance(listed[i].logprob, chosen.logprob), default=None)


def _distance(a: float | None, b: float | None) -> float:
    if a is None or b is None or math.isnan(a) or math.isnan(b):
        return 0.0 if a is b else math.inf
    return 0.0 if a == b else abs(a - b)


def _measured(candidate: Candidate) -> float | None:
    """Return a token's log-probability, or None when it is censored."""
    value = candidate.logprob
    return None if value is None or math.isnan(value) or value <= CENSORED_BELOW else value


def _first_of(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


def is_measured(position: Position) -> bool:
    """Return whether the written token has a real value somewhere in its position."""
    own = [candidate for candidate in position.top if _same(candidate, position.chosen)]
    return any(_measured(candidate) is not None for candidate in [*own, position.chosen])


def _same(a: Candidate, b: Candidate) -> bool:
    if a.id is not None and b.id is not None:
        return a.id == b.id
    if a.data is not None and b.data is not None:
        return a.data == b.data
    return a.token == b.token
