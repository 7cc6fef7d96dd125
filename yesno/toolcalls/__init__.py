"""Run the tools that a model asks for: everything is checked, limited, confirmed and logged before anything runs."""

from yesno.toolcalls.calls import CallResult, Plan, PlannedCall, ToolCall, ToolRun
from yesno.toolcalls.decisions import Allow, Deny, ToolCallDecisions
from yesno.toolcalls.gates import Gate, JudgedCall, Verdict
from yesno.toolcalls.limits import ToolLimits
from yesno.toolcalls.sets import ToolDefinition, ToolSet
from yesno.toolcalls.shapes import as_tool, tool
from yesno.toolcalls.tool import Tool, ToolAnnotations
from yesno.tools import ToolContext

__all__ = [
    "Allow",
    "CallResult",
    "Deny",
    "Gate",
    "JudgedCall",
    "Plan",
    "PlannedCall",
    "Tool",
    "ToolAnnotations",
    "ToolCall",
    "ToolCallDecisions",
    "ToolContext",
    "ToolDefinition",
    "ToolLimits",
    "ToolRun",
    "ToolSet",
    "Verdict",
    "as_tool",
    "tool",
]
