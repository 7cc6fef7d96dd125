"""Filters: flows that pick, drop or order things by what a model answers about them."""

from yesno.filters.tool_filter import FilteredTools as FilteredTools
from yesno.filters.tool_filter import ToolFilter as ToolFilter
from yesno.filters.tool_search import ToolSearch as ToolSearch

FILTERS = (
    ToolFilter,
    ToolSearch,
)
"""One line per filter, and one above to export it."""
