"""From the numbers that a decision endpoint shows to answers.

Vendors send rounded distributions: OpenAI and TypeSafe show two decimals (declared by @ai-sdk/openai 4.0.118 and
@ai-sdk/typesafe-ai 3.0.0; 2026-11), so `0.00` is common and sums of 0.99 or 1.01 are right. A distribution is
taken when some distribution of sum 1 rounds to it. Its point is the one shown, moved by no more than half a
rounding step per option so that it sums to 1; `low` and `high` are half a step around what was shown. Dividing by
the sum instead would leave these bounds: 0.9 and 0.09 would become 0.909, and 0.3 beside 254 zeros 1.0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from yesno._frozen import FrozenDict
from yesno.evidence import NativeAnswers, Reply, Usage
from yesno.questions import Choice, ChoiceAnswer, Outcome, ScaleAnswer, Undecided, YesNoAnswer
from yesno.questions.base import TOLERANCE, confidence_of

__all__ = [
    "Unfit",
    "choice_answer",
    "distribution_of",
    "label_mass_of",
    "number_of",
    "reply_of",
    "scale_answer",
    "usage_of",
    "yes_no_answer",
]

HALF = 0.005
"""Half a rounding step of a number shown with two decimals."""
DUST = 1e-6
BEYOND = 1e9
"""No number of an answer comes near it; JSON may hold integers that no float can."""


class Unfit(ValueError):
    """One answer cannot be read; `args[0]` is the reason of its `Undecided`."""


def number_of(value: Any) -> float:  # noqa: ANN401 - JSON
    """Return a number of a reply.

    Raises:
        Unfit: It is none, or not finite.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < BEYOND:
        raise Unfit("invalid_distribution")
    return float(value)


def _share(value: Any) -> float:  # noqa: ANN401 - JSON
    share = number_of(value)
    if not -TOLERANCE <= share <= 1 + TOLERANCE:
        raise Unfit("invalid_distribution")
    return min(1.0, max(0.0, share))


def label_mass_of(value: Any) -> float | None:  # noqa: ANN401 - JSON
    """Return a reported share of probability on the labels; None when there is none."""
    return None if value is None else _share(value)


@dataclass(frozen=True, slots=True)
class _Distribution:
    """Shares that sum to 1, in the order of what was offered."""

    shares: tuple[float, ...]
    shown: tuple[float, ...]
    bounds: tuple[tuple[float, float], ...] | None
    """Least and greatest share that rounding and unseen mass leave; None where the reply tells neither."""
    flags: tuple[str, ...]


def _two_decimals(shares: Sequence[float]) -> bool:
    return all(abs(share * 100 - round(share * 100)) < DUST for share in shares)


def _bounds(share: float, half: float, mass: float | None) -> tuple[float, float]:
    low, high = max(0.0, share - half), min(1.0, share + half)
    return (low, high) if mass is None else (low * mass, high * mass + 1 - mass)


def distribution_of(values: Sequence[Any], mass: float | None = None) -> _Distribution:
    """Return the distribution that a reply shows.

    Args:
        values: What the reply shows for each thing offered, in order; None for what it left out.
        mass: Share of the model's probability on the labels, where the server reports it.

    Raises:
        Unfit: Something is left out or no probability, nothing of sum 1 rounds to it, or all is rounded away.
    """
    if any(value is None for value in values):
        raise Unfit("incomplete_distribution")
    shown = [_share(value) for value in values]
    gap = 1 - math.fsum(shown)
    if not _two_decimals(shown) and abs(gap) <= DUST:
        exact = tuple(share / (1 - gap) for share in shown)
        bounds = None if mass is None else tuple(_bounds(share, 0.0, mass) for share in exact)
        return _Distribution(exact, exact, bounds, ())
    room = [min(HALF, 1 - share) if gap > 0 else min(HALF, share) for share in shown]
    if abs(gap) > math.fsum(room) + DUST:
        raise Unfit("invalid_distribution")
    if not any(shown):
        raise Unfit("rounded_away")
    scale = gap / math.fsum(room) if abs(gap) > 1e-12 else 0.0
    return _Distribution(
        tuple(min(1.0, max(0.0, s + scale * r)) for s, r in zip(shown, room, strict=True)),
        tuple(shown),
        tuple(_bounds(share, HALF, mass) for share in shown),
        ("rounded",),
    )


def yes_no_answer(value: Any, mass: float | None = None) -> YesNoAnswer:  # noqa: ANN401 - JSON
    """Return the answer for the probability of yes that a reply shows.

    Raises:
        Unfit: It is no probability.
    """
    share = _share(value)
    rounded = _two_decimals([share])
    low, high = _bounds(share, HALF if rounded else 0.0, mass)
    known = rounded or mass is not None
    return YesNoAnswer(
        share,
        low=low if known else None,
        high=high if known else None,
        label_mass=mass,
        flags=("rounded",) if rounded else (),
    )


def choice_answer(
    question: Choice, values: Sequence[Any], claimed: int | None, mass: float | None = None
) -> ChoiceAnswer:
    """Return the answer for the shares of the options (and the way out) and the option that the reply names.

    The most probable option is the answer; the option named breaks ties. The option named may be behind by one
    rounding step, which does happen (0.7 % of 11,916 answers of jev-1.13 through OpenRouter; 2026-09).

    Raises:
        Unfit: There is no distribution, or the option named is not the most probable one.
    """
    found = distribution_of(values, mass)
    top = max(found.shown)
    slack = 2 * HALF + DUST if found.flags else DUST
    if claimed is not None and found.shown[claimed] < top - slack:
        raise Unfit("contradictory_answer")
    best = max(range(len(found.shown)), key=lambda i: (found.shown[i], i == claimed, -i))
    names = list(question.options)
    everything = names if question.none is None else [*names, question.none]
    bounds = found.bounds
    return ChoiceAnswer(
        everything[best],
        FrozenDict(zip(names, found.shares, strict=False)),
        confidence=confidence_of(found.shares),
        options=tuple(names),
        none_probability=None if question.none is None else found.shares[-1],
        bounds=None if bounds is None else FrozenDict(zip(names, bounds, strict=False)),
        low=None if bounds is None else bounds[best][0],
        high=None if bounds is None else bounds[best][1],
        label_mass=mass,
        flags=found.flags,
    )


def scale_answer(values: Sequence[Any], claimed: Any, mass: float | None = None) -> ScaleAnswer:  # noqa: ANN401
    """Return the answer for the shares of the levels and the mean that the reply claims, if any.

    Raises:
        Unfit: There is no distribution, or the mean is not the one of its shares.
    """
    found = distribution_of(values, mass)
    mean = math.fsum(level * share for level, share in enumerate(found.shares))
    half = HALF if found.flags else 0.0
    low, high = _mean_bounds([_bounds(share, half, None) for share in found.shown])
    if claimed is not None and not low - HALF - DUST <= number_of(claimed) <= high + HALF + DUST:
        raise Unfit("contradictory_answer")
    if found.bounds is not None and mass is not None:
        low, high = _mean_bounds(found.bounds)
    known = found.bounds is not None
    return ScaleAnswer(
        mean,
        found.shares,
        confidence=confidence_of(found.shares),
        low=min(low, mean) if known else None,
        high=max(high, mean) if known else None,
        label_mass=mass,
        flags=found.flags,
    )


def _mean_bounds(bounds: Sequence[tuple[float, float]]) -> tuple[float, float]:
    order = range(len(bounds))
    return _extreme_mean(bounds, order), _extreme_mean(bounds, order[::-1])


def _extreme_mean(bounds: Sequence[tuple[float, float]], order: range) -> float:
    left = 1 - math.fsum(low for low, _ in bounds)
    mean = math.fsum(level * low for level, (low, _) in enumerate(bounds))
    for level in order:
        extra = max(0.0, min(left, bounds[level][1] - bounds[level][0]))
        mean, left = mean + level * extra, left - extra
    return mean


def usage_of(usage: Any) -> Usage:  # noqa: ANN401 - JSON
    """Return the tokens of one reply; what is missing or no count is 0."""
    fields = usage if isinstance(usage, Mapping) else {}
    details = fields.get("input_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    return Usage(
        _count(fields.get("input_tokens")), _count(fields.get("output_tokens")), _count(cached), requests=1
    )


def _count(value: Any) -> int:  # noqa: ANN401 - JSON
    return int(value) if isinstance(value, int | float) and 0 <= value < math.inf else 0


def reply_of(body: Mapping[str, Any], readers: Mapping[str, Callable[[], Outcome]]) -> Reply:
    """Read every answer of a response.

    An answer that cannot be read is `Undecided` when something else in the reply can: each answer stands on its
    own, and the others were given. Where nothing can be read, the reply is no answer at all.

    Raises:
        ValueError: No answer can be read.
    """
    outcomes: dict[str, Outcome] = {}
    unfit: list[str] = []
    for name, read in readers.items():
        try:
            outcomes[name] = read()
        except Unfit as error:
            outcomes[name] = Undecided(error.args[0])
            if error.args[0] != "rounded_away":
                unfit.append(error.args[0])
    if len(unfit) == len(outcomes):
        raise ValueError(f"no answer can be read: {', '.join(sorted(set(unfit)))}")
    model = body.get("model")
    return Reply(
        NativeAnswers(outcomes),
        model=model if isinstance(model, str) else None,
        usage=usage_of(body.get("usage")),
    )
