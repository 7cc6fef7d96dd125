"""Descriptions of tools, in whatever shape they come."""

from yesno.tools.context import ToolContext
from yesno.tools.shapes import tool_of, tools_of
from yesno.tools.tool import NO_PARAMETERS, Tool

__all__ = ["NO_PARAMETERS", "Tool", "ToolContext", "tool_of", "tools_of"]
