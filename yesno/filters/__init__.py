"""Filters: flows that pick, drop, order or reject things by what a model answers about them."""

from yesno.filters._bands import CheckResult as CheckResult
from yesno.filters._bands import Verdict as Verdict
from yesno.filters._cards import Card as Card
from yesno.filters._cards import Measurement as Measurement
from yesno.filters._checks import Check as Check
from yesno.filters._checks import card as card
from yesno.filters._checks import ready_checks as ready_checks
from yesno.filters._ranking import Ranked as Ranked
from yesno.filters._ranking import Ranking as Ranking
from yesno.filters._ranking import Scores as Scores
from yesno.filters._ranking import Unscored as Unscored
from yesno.filters._verdicts import ToolSelection as ToolSelection
from yesno.filters._verdicts import ToolVerdict as ToolVerdict
from yesno.filters.guardrails import Guardrails as Guardrails
from yesno.filters.reranker import Reranker as Reranker
from yesno.filters.tool_filter import FilteredTools as FilteredTools
from yesno.filters.tool_filter import ToolFilter as ToolFilter
from yesno.filters.tool_search import FoundTools as FoundTools
from yesno.filters.tool_search import ToolSearch as ToolSearch

FILTERS = (
    Guardrails,
    Reranker,
    ToolFilter,
    ToolSearch,
)
"""One line per filter, and one above to export it."""
