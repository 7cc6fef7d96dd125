"""More options than one list of log-probabilities can hold: heats and a final.

The options are dealt into even groups; each group is asked for its best (one request each, all at once),
then the winners are asked for the best of all (one more request). Within a group the reply says how much
less probable an option is than its winner; that ratio is taken to hold among all options too (Luce's
choice axiom). For n options and lists of k this costs ceil(n / k) + 1 requests; winners that are
themselves more than k meet in heats again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from yesno.questions import Choice
from yesno.reading.outcome import Reading

__all__ = ["combine", "final_of", "groups_of"]


def groups_of(question: Choice, limit: int) -> list[Choice]:
    """Deal the options, in order, into as few even groups of at most `limit` as possible, at least two."""
    total = len(question.options)
    count = max(2, -(-total // limit))
    items = iter(question.options.items())
    sizes = [total // count + (1 if i < total % count else 0) for i in range(count)]
    return [_among(question, dict(islice(items, size))) for size in sizes]


def final_of(question: Choice, groups: Sequence[Choice], readings: Sequence[Reading]) -> Choice:
    """Return the question among the winners of the groups, and the way out if there is one."""
    winners: dict[str, str] = {}
    for group, reading in zip(groups, readings, strict=True):
        best = max(range(len(group.options)), key=reading.probabilities.__getitem__)
        name = list(group.options)[best]
        winners[name] = question.options[name]
    return _among(question, winners, none=question.none)


def _among(question: Choice, options: Mapping[str, str], none: str | None = None) -> Choice:
    """Return the question among some of its options, with the worked examples that these can answer."""
    examples = [example for example in question.examples if example[1] in options or example[1] == none]
    return Choice(question.text, options, none=none, examples=examples)


def combine(heats: Sequence[Reading], final: Reading) -> Reading:
    """Put the readings of the groups and of their winners together into one over all options.

    The final may have one label more than there are groups: the way out, which goes last.
    """
    point: list[float] = []
    low: list[float] = []
    high: list[float] = []
    missing: list[int] = []
    for group, heat in enumerate(heats):
        best = max(range(len(heat.probabilities)), key=heat.probabilities.__getitem__)
        for i, p in enumerate(heat.probabilities):
            if i in heat.missing:
                missing.append(len(point))
            won = i == best
            point.append(final.probabilities[group] * p / heat.probabilities[best])
            low.append(final.low[group] * (1.0 if won else _ratio(heat.low[i], heat.high[best])))
            high.append(final.high[group] * (1.0 if won else _ratio(heat.high[i], heat.low[best])))
    for extra in range(len(heats), len(final.probabilities)):
        point.append(final.probabilities[extra])
        low.append(final.low[extra])
        high.append(final.high[extra])
    total, least, most = sum(point), sum(low), sum(high)
    shares = [p / total for p in point]
    return Reading(
        probabilities=tuple(shares),
        low=tuple(min(s, a / (a + most - b)) for s, a, b in zip(shares, low, high, strict=True)),
        high=tuple(max(s, b / (b + least - a)) for s, a, b in zip(shares, low, high, strict=True)),
        mass=tuple(shares),
        spare=tuple(0.0 for _ in shares),
        unseen=0.0,
        label_mass=min(reading.label_mass for reading in (*heats, final)),
        missing=tuple(missing),
        flags=tuple(sorted({"tournament", *(f for reading in (*heats, final) for f in reading.flags)})),
    )


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 1.0
