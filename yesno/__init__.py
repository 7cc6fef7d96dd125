"""Honest yes/no, choice and scale probabilities from any LLM API."""

from yesno.engine.aio import AsyncDecisionModel
from yesno.engine.listeners import Call, Listener, LoggingListener, UsageListener
from yesno.engine.retry import RetryPolicy
from yesno.engine.sync import DecisionModel
from yesno.errors import (
    AnswerError,
    ConfigError,
    DeadlineExceeded,
    NoAnswer,
    ProviderError,
    QuestionError,
    Refused,
    UndecidedError,
    YesnoError,
)
from yesno.evidence import Usage
from yesno.flow import Flow, ask, ask_all, gather
from yesno.messages import Message, ToolCall
from yesno.providers.fake import FakeProvider
from yesno.questions import (
    Attempt,
    Choice,
    ChoiceAnswer,
    Refusal,
    Scale,
    ScaleAnswer,
    Undecided,
    YesNo,
    YesNoAnswer,
)
from yesno.request import DecisionRequest, Parameters
from yesno.response import DecisionResponse, Failure
from yesno.templates import TemplateSet

__version__ = "0.1.0"

__all__ = [
    "AnswerError",
    "AsyncDecisionModel",
    "Attempt",
    "Call",
    "Choice",
    "ChoiceAnswer",
    "ConfigError",
    "DeadlineExceeded",
    "DecisionModel",
    "DecisionRequest",
    "DecisionResponse",
    "Failure",
    "FakeProvider",
    "Flow",
    "Listener",
    "LoggingListener",
    "Message",
    "NoAnswer",
    "Parameters",
    "ProviderError",
    "QuestionError",
    "Refusal",
    "Refused",
    "RetryPolicy",
    "Scale",
    "ScaleAnswer",
    "TemplateSet",
    "ToolCall",
    "Undecided",
    "UndecidedError",
    "Usage",
    "UsageListener",
    "YesNo",
    "YesNoAnswer",
    "YesnoError",
    "ask",
    "ask_all",
    "gather",
]
