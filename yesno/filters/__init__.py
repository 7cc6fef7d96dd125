"""Filters: keep, order or reject what is offered, by asking a decision model."""

from yesno.filters.cards import Card, Measurement
from yesno.filters.checks import Check, card, ready_checks
from yesno.filters.guardrails import Guardrails
from yesno.filters.ranking import Ranked, Ranking, Scores, Unscored
from yesno.filters.reranker import Reranker
from yesno.filters.verdicts import CheckResult, Verdict

__all__ = [
    "Card",
    "Check",
    "CheckResult",
    "Guardrails",
    "Measurement",
    "Ranked",
    "Ranking",
    "Reranker",
    "Scores",
    "Unscored",
    "Verdict",
    "card",
    "ready_checks",
]
