"""Filters: flows that pick, drop or order things by what a model answers about them."""

from yesno.filters._verdicts import ToolSelection as ToolSelection
from yesno.filters._verdicts import ToolVerdict as ToolVerdict
from yesno.filters.tool_filter import FilteredTools as FilteredTools
from yesno.filters.tool_filter import ToolFilter as ToolFilter
from yesno.filters.tool_search import FoundTools as FoundTools
from yesno.filters.tool_search import ToolSearch as ToolSearch

FILTERS = (
    ToolFilter,
    ToolSearch,
)
"""One line per filter, and one above to export it."""
