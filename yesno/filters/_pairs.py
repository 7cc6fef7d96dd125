"""Compare documents in pairs, each in both orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from yesno.questions import Choice, ChoiceAnswer, Outcome
from yesno.templates.layers import layer_question

__all__ = ["comparisons", "preferences"]

FIRST, SECOND = "first", "second"


def comparisons(texts: Sequence[str]) -> list[Choice]:
    """Return the questions that compare n texts: each pair in both orders, n * (n - 1) in all."""
    question = layer_question("pair")
    return [Choice(question, {FIRST: texts[one], SECOND: texts[other]}) for one, other in _orders(len(texts))]


def preferences(outcomes: Sequence[Outcome], count: int) -> tuple[list[float] | None, bool]:
    """Read the outcomes of `comparisons`.

    Returns:
        For each text the mean probability (0..1) of being preferred, over the pairs that were read in both orders,
        which takes out a liking for the first place; None when a text has no such pair. And whether all were read.
    """
    shares = [_share_of_first(outcome) for outcome in outcomes]
    found: list[list[float]] = [[] for _ in range(count)]
    complete = True
    for (one, other), forth, back in zip(
        combinations(range(count), 2), shares[::2], shares[1::2], strict=True
    ):
        if forth is None or back is None:
            complete = False
            continue
        wins = (forth + 1 - back) / 2
        found[one].append(wins)
        found[other].append(1 - wins)
    if not all(found):
        return None, complete
    return [sum(row) / len(row) for row in found], complete


def _orders(count: int) -> Iterator[tuple[int, int]]:
    for one, other in combinations(range(count), 2):
        yield one, other
        yield other, one


def _share_of_first(outcome: Outcome) -> float | None:
    if isinstance(outcome, ChoiceAnswer) and outcome.probabilities:
        return outcome.probability_of(FIRST)
    return None
