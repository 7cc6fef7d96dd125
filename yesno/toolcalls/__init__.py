"""Run the tools that a model asks for: everything is checked, limited, confirmed and logged before anything runs."""

from yesno.toolcalls.answers import answers_document, read_answers
from yesno.toolcalls.audit import Audit, ChainReport, verify_chain
from yesno.toolcalls.calls import CallResult, Plan, PlannedCall, ToolCall, ToolRun
from yesno.toolcalls.decisions import Allow, Deny, ToolCallDecisions
from yesno.toolcalls.errors import ToolErrors
from yesno.toolcalls.filling import ArgumentsRequest, anthropic_arguments, openai_arguments
from yesno.toolcalls.gates import Gate, JudgedCall, Verdict
from yesno.toolcalls.limits import ToolLimits
from yesno.toolcalls.manager import ToolCallingManager
from yesno.toolcalls.pending import ConfirmationRequired, PendingCall, PendingCalls
from yesno.toolcalls.replies import Reply
from yesno.toolcalls.risk import RiskGate
from yesno.toolcalls.selection import Rejected, SelectedCall, SelectionResult, ToolSelectionConfig
from yesno.toolcalls.selector import ToolSelector
from yesno.toolcalls.sets import ToolDefinition, ToolSet
from yesno.toolcalls.shapes import as_tool, tool
from yesno.toolcalls.signing import PendingSigner
from yesno.toolcalls.stores import InMemoryPendingStore, PendingStore, SqlitePendingStore
from yesno.toolcalls.tool import Tool, ToolAnnotations
from yesno.toolcalls.unasked import arun_without_model, run_without_model
from yesno.tools import ToolContext

__all__ = [
    "Allow",
    "ArgumentsRequest",
    "Audit",
    "CallResult",
    "ChainReport",
    "ConfirmationRequired",
    "Deny",
    "Gate",
    "InMemoryPendingStore",
    "JudgedCall",
    "PendingCall",
    "PendingCalls",
    "PendingSigner",
    "PendingStore",
    "Plan",
    "PlannedCall",
    "Rejected",
    "Reply",
    "RiskGate",
    "SelectedCall",
    "SelectionResult",
    "SqlitePendingStore",
    "Tool",
    "ToolAnnotations",
    "ToolCall",
    "ToolCallDecisions",
    "ToolCallingManager",
    "ToolContext",
    "ToolDefinition",
    "ToolErrors",
    "ToolLimits",
    "ToolRun",
    "ToolSelectionConfig",
    "ToolSelector",
    "ToolSet",
    "Verdict",
    "answers_document",
    "anthropic_arguments",
    "arun_without_model",
    "as_tool",
    "openai_arguments",
    "read_answers",
    "run_without_model",
    "tool",
    "verify_chain",
]
