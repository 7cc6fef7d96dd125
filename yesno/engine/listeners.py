"""Watch decisions from outside: logging, usage, tracing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from yesno._log import get_logger
from yesno.errors import ProviderError
from yesno.evidence import Usage
from yesno.request import DecisionRequest
from yesno.response import DecisionResponse

__all__ = ["Call", "Listener", "LoggingListener", "UsageListener", "notify"]


@dataclass(slots=True)
class Call:
    """One `decide`, as its listeners see it."""

    request: DecisionRequest
    """The request with the model's defaults filled in."""
    provider: str
    attributes: MutableMapping[str, Any] = field(default_factory=dict)
    """Yours to use; the same mapping in all events of one call."""


class Listener:
    """Override what you want to hear. An exception in a listener is logged and changes nothing."""

    def on_request(self, call: Call) -> None:
        """Hear that a request is about to be decided."""

    def on_response(self, call: Call, response: DecisionResponse) -> None:
        """Hear the response, after it has been checked against its request."""

    def on_error(self, call: Call, error: Exception) -> None:
        """Hear the exception that the caller is about to get. Cancelling a call is not an error."""


class LoggingListener(Listener):
    """Log each decision through structlog, without its content."""

    def on_response(self, call: Call, response: DecisionResponse) -> None:
        """Log names, outcomes' types and tokens at INFO."""
        usage = response.usage or Usage()
        get_logger("engine").info(
            "decision_made",
            provider=call.provider,
            model=response.model,
            outcomes={name: type(outcome).__name__ for name, outcome in response.answers.items()},
            requests=usage.requests,
            retries=usage.retries,
            hedges=usage.hedges,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cache_hits=usage.cache_hits,
            cost_usd=usage.cost_usd,
            fallbacks=dict(usage.fallbacks),
        )

    def on_error(self, call: Call, error: Exception) -> None:
        """Log the error's type, and the status when a provider sent one, at WARNING."""
        get_logger("engine").warning(
            "decision_failed",
            provider=call.provider,
            model=call.request.parameters.model_name,
            error=type(error).__name__,
            status=error.status if isinstance(error, ProviderError) else None,
        )


class UsageListener(Listener):
    """Add up the tokens and requests of all decisions; may be shared by threads and models."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._total = Usage()

    @property
    def total(self) -> Usage:
        """What has been spent so far."""
        return self._total

    def on_response(self, call: Call, response: DecisionResponse) -> None:
        """Add this response's usage."""
        if response.usage is not None:
            with self._lock:
                self._total += response.usage


def notify(listeners: Iterable[Listener], tell: Callable[[Listener], None]) -> None:
    """Tell every listener; one that fails is logged and the others are told all the same."""
    for listener in listeners:
        try:
            tell(listener)
        except Exception as error:  # noqa: BLE001 - somebody else's code must not break a decision
            get_logger("engine").warning(
                "listener_failed", listener=type(listener).__name__, error=type(error).__name__
            )
