"""Honest yes/no, choice and scale probabilities from any LLM API."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yesno.engine.aio import AsyncDecisionModel
    from yesno.engine.budget import Budget
    from yesno.engine.folder_memory import FolderMemory
    from yesno.engine.gates import Limits
    from yesno.engine.hedging import Hedge
    from yesno.engine.listeners import Call, Listener, LoggingListener, UsageListener
    from yesno.engine.monitoring import MonitorListener
    from yesno.engine.redis_cache import RedisCache
    from yesno.engine.retry import RetryPolicy
    from yesno.engine.sqlite_cache import SqliteCache
    from yesno.engine.sync import DecisionModel
    from yesno.engine.tracing import TracingListener
    from yesno.errors import (
        AnswerError,
        BudgetExceeded,
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
    from yesno.providers.recording import RecordingProvider, ReplayProvider
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
    from yesno.templates.sets import TemplateSet

__version__ = "0.1.0"

_ROOMS = {
    "engine.aio": ("AsyncDecisionModel",),
    "engine.budget": ("Budget",),
    "engine.folder_memory": ("FolderMemory",),
    "engine.gates": ("Limits",),
    "engine.hedging": ("Hedge",),
    "engine.listeners": ("Call", "Listener", "LoggingListener", "UsageListener"),
    "engine.monitoring": ("MonitorListener",),
    "engine.redis_cache": ("RedisCache",),
    "engine.retry": ("RetryPolicy",),
    "engine.sqlite_cache": ("SqliteCache",),
    "engine.sync": ("DecisionModel",),
    "engine.tracing": ("TracingListener",),
    "errors": (
        "AnswerError",
        "BudgetExceeded",
        "ConfigError",
        "DeadlineExceeded",
        "NoAnswer",
        "ProviderError",
        "QuestionError",
        "Refused",
        "UndecidedError",
        "YesnoError",
    ),
    "evidence": ("Usage",),
    "flow": ("Flow", "ask", "ask_all", "gather"),
    "messages": ("Message", "ToolCall"),
    "providers.fake": ("FakeProvider",),
    "providers.recording": ("RecordingProvider", "ReplayProvider"),
    "questions": (
        "Attempt",
        "Choice",
        "ChoiceAnswer",
        "Refusal",
        "Scale",
        "ScaleAnswer",
        "Undecided",
        "YesNo",
        "YesNoAnswer",
    ),
    "request": ("DecisionRequest", "Parameters"),
    "response": ("DecisionResponse", "Failure"),
    "templates.sets": ("TemplateSet",),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "AnswerError",
    "AsyncDecisionModel",
    "Attempt",
    "Budget",
    "BudgetExceeded",
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
    "FolderMemory",
    "Hedge",
    "Limits",
    "Listener",
    "LoggingListener",
    "Message",
    "MonitorListener",
    "NoAnswer",
    "Parameters",
    "ProviderError",
    "QuestionError",
    "RecordingProvider",
    "RedisCache",
    "Refusal",
    "Refused",
    "ReplayProvider",
    "RetryPolicy",
    "Scale",
    "ScaleAnswer",
    "SqliteCache",
    "TemplateSet",
    "ToolCall",
    "TracingListener",
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


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any exported object
    """Import an exported name when it is first used, so that `import yesno` costs next to nothing."""
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'yesno' has no attribute {name!r}")
    value = getattr(import_module(f"yesno.{_ROOM_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
