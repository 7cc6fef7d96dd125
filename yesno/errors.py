"""Every error yesno raises on purpose.

YesnoError
├── QuestionError            the question or the input cannot be asked as written (fix the code)
├── AnswerError              an answer was built, or is read, in a way it does not allow
│   └── NoProbabilities      the answer carries no probabilities to compute from
├── ConfigError              a setting, key, extra or model is missing      (fix the environment)
│   ├── ModelFileError       a model file cannot be fetched, stored or trusted
│   └── DataError            labelled rows cannot be used as they are         (fix the rows)
│       ├── TooFewLabels         there are too few of them for what is asked
│       └── RiskNotKept          no threshold keeps the risk, however many there are
├── RoutingError             a router named no route that can be taken   (fix the router)
├── NoAnswer                 the question was asked, and there is no answer to give
│   ├── Refused              the provider declined it
│   └── UndecidedError       the reply does not carry enough evidence
├── ToolError                something about a tool
│   ├── ToolDefinitionError  it has no name, or is described in a way that cannot be read
│   │   └── DuplicateToolError   two tools have one name
│   ├── InvalidArgumentsError    it was called with arguments that it cannot take
│   ├── UnknownToolError     a call names no tool of the request
│   ├── ToolFailed           it could not do what it was called for; the model hears it
│   ├── RetryTool            it could if called otherwise; the model hears how
│   ├── ToolTimeout          it did not finish in its time
│   ├── ReplyError           the reply that asks for calls cannot be acted upon
│   │   └── NoToolCallsError     it asks for none
│   ├── ToolLimitExceeded    the calls of a turn are more than `ToolLimits` allow
│   ├── DecisionError        a person's decisions do not fit the calls they are about
│   ├── PendingStateError    a record of waiting calls is not to be trusted
│   ├── AuditError           an event could not be written, and `audit_required` is set
│   ├── SelectionError       no tools could be selected, because a model failed, or a selection was run already
│   └── GateUnavailable      a call could not be judged
├── RequestProblem           a request to the server is answered with an HTTP error
├── DeadlineExceeded         the decision took longer than `timeout_s`
├── BudgetExceeded           a request was not sent because it could exceed a `Budget`
└── ProviderError            the other side failed, or said nonsense
    ├── ProviderUnavailable  timeout, 408, 409, 429, 5xx or no connection; `retryable` unless the server says no
    ├── ProviderRejected     another 4xx: the same request fails again
    ├── UnreadableReply      a success status, but not the documented shape
    ├── InvalidResponse      an answer does not fit its question
    ├── AsyncUnsupported     the provider has no asynchronous form
    └── NotRecorded          a recording is played back, and the request is not in it
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "AnswerError",
    "AsyncUnsupported",
    "AuditError",
    "BudgetExceeded",
    "ConfigError",
    "DataError",
    "DeadlineExceeded",
    "DecisionError",
    "DuplicateToolError",
    "GateUnavailable",
    "InvalidArgumentsError",
    "InvalidResponse",
    "ModelFileError",
    "NoAnswer",
    "NoProbabilities",
    "NoToolCallsError",
    "NotRecorded",
    "PendingStateError",
    "ProviderError",
    "ProviderRejected",
    "ProviderUnavailable",
    "QuestionError",
    "Refused",
    "ReplyError",
    "RequestProblem",
    "RetryTool",
    "RiskNotKept",
    "RoutingError",
    "SelectionError",
    "TooFewLabels",
    "ToolDefinitionError",
    "ToolError",
    "ToolFailed",
    "ToolLimitExceeded",
    "ToolTimeout",
    "UndecidedError",
    "UnknownToolError",
    "UnreadableReply",
    "YesnoError",
]


class YesnoError(Exception):
    """Base of every error yesno raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Keyword-only arguments break the default, and process pools pickle every error.
        return (_rebuild, (type(self), self.args, self.__dict__))


def _rebuild(cls: type[YesnoError], args: tuple[Any, ...], state: dict[str, Any]) -> YesnoError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class QuestionError(YesnoError, ValueError):
    """The question or the input cannot be asked as written.

    `where` is the path to it in a body that came over the wire, such as `("questions", 0, "choices")`; empty elsewhere.
    """

    def __init__(self, message: str, *, where: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.where = where


class AnswerError(YesnoError, ValueError):
    """An answer was built, or is read, in a way it does not allow."""


class NoProbabilities(AnswerError):
    """The answer carries no probabilities to compute from."""


class ConfigError(YesnoError):
    """A setting, key, extra or model is missing or impossible."""


class ModelFileError(ConfigError):
    """A model file cannot be fetched, stored or trusted."""


class DataError(ConfigError, ValueError):
    """Labelled rows cannot be used as they are; `row`, counted from 1, and `value` say where, when one is to blame."""

    def __init__(self, message: str, *, row: int | None = None, value: object = None) -> None:
        super().__init__(message if row is None else f"row {row}: {message}")
        self.row = row
        self.value = value


class TooFewLabels(DataError):
    """There are too few labelled rows for what is asked; `needed` says about how many would do, of `given`."""

    def __init__(self, message: str, *, needed: int, given: int) -> None:
        super().__init__(message)
        self.needed = needed
        self.given = given


class RiskNotKept(DataError):
    """No threshold keeps the risk: `best` is the least that was seen, and more labels would not change that."""

    def __init__(self, message: str, *, best: float) -> None:
        super().__init__(message)
        self.best = best


class RoutingError(YesnoError):
    """A router returned something that is no route, or a route that cannot be taken."""


class NoAnswer(YesnoError):
    """The question was asked and there is no answer; `outcome` says why."""

    def __init__(self, message: str, *, outcome: Any = None) -> None:  # noqa: ANN401 - set in a room above
        super().__init__(message)
        self.outcome = outcome


class Refused(NoAnswer):
    """The provider declined the question."""


class UndecidedError(NoAnswer):
    """The reply does not carry enough evidence for an answer."""


class ToolError(YesnoError):
    """Something about a tool."""


class ToolDefinitionError(ToolError, ValueError):
    """A tool has no name, or is described in a way that cannot be read."""


class DuplicateToolError(ToolDefinitionError):
    """Two tools have one name."""


class InvalidArgumentsError(ToolError, ValueError):
    """A tool was called with arguments that it cannot take."""


class ToolFailed(ToolError):
    """A tool could not do what it was called for; the message is for the model that called it."""


class RetryTool(ToolError):
    """A tool could do what it was called for if it were called otherwise; the message is for the model."""


class ToolTimeout(ToolError, TimeoutError):
    """A tool did not finish in its time; it may still be at work."""


class UnknownToolError(ToolError, LookupError):
    """A call names no tool of the request."""


class ReplyError(ToolError, ValueError):
    """The reply that asks for calls is cut off, unreadable, or names its calls in a way that is no use."""


class NoToolCallsError(ReplyError):
    """The reply asks for no calls."""


class ToolLimitExceeded(ToolError):
    """The calls of a turn are more than `ToolLimits` allow.

    `tool_name` is None for a limit on all tools, `limit` the number that was set, and `partial` a complete
    `ToolRun`: calls that did not run have a result that says so, hence its messages can be sent to a provider.
    """

    def __init__(
        self,
        message: str,
        *,
        tool_name: str | None = None,
        limit: float | None = None,
        partial: Any = None,  # noqa: ANN401 - of a room above
    ) -> None:
        super().__init__(message)
        self.tool_name = tool_name
        self.limit = limit
        self.partial = partial


class DecisionError(ToolError, ValueError):
    """A decision is neither allow nor deny, is missing, or is about no call of the reply."""


class PendingStateError(ToolError):
    """A record of waiting calls is not to be trusted, or no longer; nothing ran.

    `reason` is one of `"version"`, `"signature"`, `"expired"`, `"audience"`, `"reply"`, `"tools"`, `"arguments"`,
    `"missing"`, `"replay"`, `"already_used"` and `"store"`.
    """

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class AuditError(ToolError):
    """An event could not be written and `audit_required` is set; no further tool was run.

    `partial` is a complete `ToolRun` when tools had run before, else None.
    """

    def __init__(self, message: str, *, partial: Any = None) -> None:  # noqa: ANN401 - of a room above
        super().__init__(message)
        self.partial = partial


class SelectionError(ToolError):
    """No tools could be selected, because a model failed (the cause says why), or a selection was run already."""


class GateUnavailable(ToolError):
    """A call could not be judged, and the gate is told to raise in that case."""


class RequestProblem(YesnoError):
    """A request to the server is answered with an HTTP error, in the form of the protocol it speaks.

    Args:
        message: A sentence for whoever sent the request: what is wrong with it, and what to do.
        status: The HTTP status. What is `"invalid"` with status 400 is 422 in System One.
        kind: `"invalid"` (the body cannot be read as a request), `"usage"`, `"model"` (there is no such one),
            `"authentication"`, `"permission"`, `"rate_limit"`, `"no_answer"` or `"server"`.
        code: One word for programs, such as `"invalid_json"`.
        where: Path to what is wrong in the body.
        headers: Names and values of further response headers.
        details: Fields for System One's error object; their names begin with `x_`.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        kind: str = "invalid",
        code: str | None = None,
        where: tuple[str | int, ...] = (),
        headers: tuple[tuple[str, str], ...] = (),
        details: Any = None,  # noqa: ANN401 - a mapping of JSON values
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.code = code
        self.where = where
        self.headers = headers
        self.details = details


class DeadlineExceeded(YesnoError, TimeoutError):
    """The decision, retries included, took longer than `timeout_s` seconds."""


class BudgetExceeded(YesnoError):
    """A request was not sent, because with it a `Budget` could be exceeded.

    `limit` says which (`"usd"`, `"requests"` or `"tokens"`), `spent` what was spent of it.
    """

    personal = False
    """Whether it says something about who asked alone: another with the same question may have a budget left."""

    def __init__(self, message: str, *, limit: str | None = None, spent: float | None = None) -> None:
        super().__init__(message)
        self.limit = limit
        self.spent = spent


class ProviderError(YesnoError):
    """A provider call did not yield an answer."""

    retryable: bool = False
    shared: bool = False
    """It came to an equal request that was under way; the one that raises it was not sent."""
    reached: bool = True
    """False when no connection was made."""
    remaining: int | None = None
    """Requests that the server's rate limit still allows, if it said so."""
    reset_s: float | None = None
    """Seconds after which it allows more."""
    usage: Any = None
    """`Usage` of the requests that were sent in vain before this error was raised; None when nobody has counted."""

    def __init__(
        self,
        message: str,
        *,
        provider: str,
        status: int | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(message)
        if retryable is not None:
            self.retryable = retryable  # what the server or the provider says wins over what the class says
        self.provider = provider
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after


class ProviderUnavailable(ProviderError):
    """Timeout, 408, 409, 429, 5xx or no connection; trying again may help."""

    retryable = True


class ProviderRejected(ProviderError):
    """A 4xx that a retry cannot fix; `param` and `code` are the parameter and the reason it names, if any."""

    def __init__(
        self, message: str, *, param: str | None = None, code: str | None = None, **fields: Any
    ) -> None:
        super().__init__(message, **fields)
        self.param = param
        self.code = code


class UnreadableReply(ProviderError):
    """A success status, but not the shape the provider documents."""


class InvalidResponse(ProviderError):
    """An answer does not fit the question it is for."""


class AsyncUnsupported(ProviderError):
    """The provider has no asynchronous form; use `DecisionModel`."""


class NotRecorded(ProviderError):
    """A recording is played back, and the request is not in it."""
