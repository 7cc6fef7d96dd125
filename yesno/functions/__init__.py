"""Typed functions that a decision model decides."""

from yesno.functions.decisions import AsyncDecisionFunction, DecisionFunction
from yesno.functions.decorator import decide
from yesno.functions.marks import Asks, Name, Option
from yesno.functions.models import set_default_model, using
from yesno.functions.protocols import implement
from yesno.functions.results import Result
from yesno.functions.thresholds import ThresholdContext, Thresholds

__all__ = [
    "Asks",
    "AsyncDecisionFunction",
    "DecisionFunction",
    "Name",
    "Option",
    "Result",
    "ThresholdContext",
    "Thresholds",
    "decide",
    "implement",
    "set_default_model",
    "using",
]
