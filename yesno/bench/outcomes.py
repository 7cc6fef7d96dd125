"""From what came back about an item to its row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from yesno.bench.rows import Row, Way
from yesno.calibration.subjects import question_digest
from yesno.evidence import Usage
from yesno.labelled import Asked, Item, kind_of, options_of
from yesno.questions import Outcome, Refusal, Undecided, raw_shares_of, shares_of
from yesno.response import DecisionResponse

__all__ = ["Place", "failed_row", "row_of"]

NO_PROBABILITIES = "no_probabilities"
"""Reason of an answer that lacks the probability of an option: there is nothing to score."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row belongs."""

    set: str
    data: str
    way: Way
    template_hash: str | None
    """Digest of the template for the item's type of question."""


def row_of(
    item: Item, place: Place, response: DecisionResponse, *, name: str, latency_s: float, at: str
) -> Row:
    """Return the row of an item that was decided.

    Args:
        item: What was asked about.
        place: Where the row belongs.
        response: What came back.
        name: Of the question.
        latency_s: How long it took; not kept when a reply came from a cache.
        at: When it came.
    """
    outcome = response.outcome(name)
    usage = response.usage or Usage()
    return Row(
        **_head(item, place),
        **_result(item.question, outcome),
        latency_s=None if usage.cache_hits else round(latency_s, 4),
        requests=usage.requests,
        cache_hits=usage.cache_hits,
        tokens_in=usage.input_tokens,
        tokens_cached=usage.cached_tokens,
        tokens_out=usage.output_tokens,
        cost_usd=usage.cost_usd,
        at=at,
    )


def failed_row(item: Item, place: Place, error: Exception, *, at: str) -> Row:
    """Return the row of an item about which asking failed."""
    usage = getattr(error, "usage", None) or Usage()
    return Row(
        **_head(item, place),
        outcome="error",
        reason=type(error).__name__,
        requests=usage.requests,
        cost_usd=usage.cost_usd,
        at=at,
    )


def _head(item: Item, place: Place) -> dict[str, Any]:
    return {
        "set": place.set,
        "id": item.id,
        "group": item.group,
        "data": place.data,
        **place.way._asdict(),
        "template_hash": place.template_hash,
        "kind": kind_of(item.question),
        "options": options_of(item.question),
        "label": item.label,
        "asked": question_digest(item.question),
        "shares": item.shares,
    }


def _result(question: Asked, outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Refusal():
            return {"outcome": "refusal", "reason": outcome.category or outcome.reason}
        case Undecided():
            return {"outcome": "undecided", "reason": outcome.reason, "label_mass": outcome.label_mass}
    probabilities, raw = shares_of(question, outcome), raw_shares_of(question, outcome)
    if probabilities is None:
        return {"outcome": "undecided", "reason": NO_PROBABILITIES, "method": outcome.method}
    return {
        "outcome": "answer",
        "probabilities": probabilities,
        "raw": None if raw == probabilities else raw,
        "calibrated": outcome.calibrated,
        "label_mass": outcome.label_mass,
        "method": outcome.method,
        "flags": outcome.flags,
    }
