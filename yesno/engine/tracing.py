"""OpenTelemetry spans of decisions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from yesno import __version__
from yesno.engine.listeners import Call, Listener
from yesno.errors import ConfigError, ProviderError
from yesno.evidence import Usage
from yesno.messages import Input
from yesno.questions import ChoiceAnswer, Outcome, Refusal, ScaleAnswer, Undecided, YesNoAnswer
from yesno.request import DecisionRequest
from yesno.response import DecisionResponse
from yesno.wire.decisions import plain

if TYPE_CHECKING:
    from opentelemetry.trace import Span, TracerProvider

__all__ = ["TracingListener"]

_PROVIDERS = {
    "azure": "azure.ai.openai",
    "gemini": "gcp.gemini",
    "gemini-compat": "gcp.gemini",
    "mistral": "mistral_ai",
    "openai-decisions": "openai",
    "openai-responses": "openai",
    "xai": "x_ai",
}
"""Names of the semantic conventions that are not our own (opentelemetry-semantic-conventions 0.66b2; 2026-11)."""
_OPERATIONS = {"gemini": "generate_content", "openai-decisions": "decide", "systemone": "decide"}
"""What is not `chat`. The conventions have no word for a decision endpoint and allow one's own."""
_INSIDE = {"local", "fake"}
"""Providers that run in this process."""


class TracingListener(Listener):
    """Make one OpenTelemetry span per decision; needs `pip install 'yesno[otel]'`.

    The span covers all requests and retries of the decision, and is a child of the span that is current where the
    decision is asked for. Attributes are those of the GenAI conventions (still in development, as of
    opentelemetry-semantic-conventions 0.66b2), and `yesno.*` for what they have no name for. A failure gives the
    status ERROR and the error's type, never its words. The span of a call that is cancelled is not exported.

    Args:
        content: Whether inputs, questions and answers are recorded too.
        tracer_provider: By default the process's own, whenever it is set.

    Raises:
        ConfigError: The package is missing.
    """

    def __init__(self, *, content: bool = False, tracer_provider: TracerProvider | None = None) -> None:
        try:
            from opentelemetry import trace
        except ImportError as error:
            raise ConfigError("tracing needs opentelemetry-api: run `pip install 'yesno[otel]'`") from error
        self._content = content
        self._tracer = trace.get_tracer("yesno", __version__, tracer_provider)
        self._name = f"yesno.span.{id(self)}"

    def on_request(self, call: Call) -> None:
        """Start the span."""
        from opentelemetry.trace import SpanKind

        operation = _OPERATIONS.get(call.provider, "chat")
        model = call.request.parameters.model_name
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": _PROVIDERS.get(call.provider, call.provider),
            "yesno.questions": len(call.request.questions),
        }
        if model:
            attributes["gen_ai.request.model"] = model
        if self._content:
            attributes["gen_ai.input.messages"] = _told(_messages(call.request))
        call.attributes[self._name] = self._tracer.start_span(
            f"{operation} {model}" if model else operation,
            kind=SpanKind.INTERNAL if call.provider in _INSIDE else SpanKind.CLIENT,
            attributes=attributes,
        )

    def on_response(self, call: Call, response: DecisionResponse) -> None:
        """Say who answered, what it took and how many questions have no answer, and end the span."""
        span: Span | None = call.attributes.pop(self._name, None)
        if span is None:
            return
        if span.is_recording():
            span.set_attributes(dict(_results(response)))
            if self._content:
                answers = {name: _shown(outcome) for name, outcome in response.answers.items()}
                said = {"role": "assistant", "parts": [_text(_told(answers))], "finish_reason": "stop"}
                span.set_attribute("gen_ai.output.messages", _told([said]))
        span.end()

    def on_error(self, call: Call, error: Exception) -> None:
        """Give the span the error's type, and end it."""
        from opentelemetry.trace import Status, StatusCode

        span: Span | None = call.attributes.pop(self._name, None)
        if span is None:
            return
        # the exception itself is not recorded: what caused it may quote the prompt
        kind = type(error).__name__
        span.set_attribute("error.type", kind)
        if isinstance(error, ProviderError) and error.status is not None:
            span.set_attribute("http.response.status_code", error.status)
        span.set_status(Status(StatusCode.ERROR, kind))
        span.end()


def _results(response: DecisionResponse) -> Iterator[tuple[str, Any]]:
    if response.model:
        yield "gen_ai.response.model", response.model
    if response.usage is not None:
        yield from _spent(response.usage)
    outcomes = response.answers.values()
    yield "yesno.refused", sum(isinstance(outcome, Refusal) for outcome in outcomes)
    yield "yesno.undecided", sum(isinstance(outcome, Undecided) for outcome in outcomes)


def _spent(usage: Usage) -> Iterator[tuple[str, Any]]:
    yield "gen_ai.usage.input_tokens", usage.input_tokens
    yield "gen_ai.usage.output_tokens", usage.output_tokens
    yield "gen_ai.usage.cache_read.input_tokens", usage.cached_tokens
    yield "gen_ai.usage.cache_creation.input_tokens", usage.cache_written_tokens
    yield "gen_ai.usage.reasoning.output_tokens", usage.reasoning_tokens
    yield "yesno.requests", usage.requests
    yield "yesno.retries", usage.retries
    yield "yesno.hedges", usage.hedges
    yield "yesno.cache_hits", usage.cache_hits
    if usage.cost_usd is not None:
        yield "yesno.cost_usd", usage.cost_usd
    for reason, count in usage.fallbacks.items():
        yield f"yesno.fallbacks.{reason}", count


def _messages(request: DecisionRequest) -> list[dict[str, Any]]:
    questions = {name: question.text for name, question in request.questions.items()}
    return [*_input(request.input), {"role": "user", "parts": [_text(_told(questions))]}]


def _input(given: Input) -> list[dict[str, Any]]:
    if isinstance(given, str):
        return [{"role": "user", "parts": [_text(given)]}]
    if isinstance(given, Mapping):
        return [{"role": "user", "parts": [_text(_told(plain(given)))]}]
    return [{"role": message.role, "parts": [_text(message.text)]} for message in given]


def _text(content: str) -> dict[str, str]:
    return {"type": "text", "content": content}


def _shown(outcome: Outcome) -> Any:  # noqa: ANN401 - JSON
    match outcome:
        case YesNoAnswer(probability=probability):
            return {"probability": probability}
        case ChoiceAnswer(value=value, probabilities=probabilities):
            return {"value": value, "probabilities": dict(probabilities)}
        case ScaleAnswer(mean=mean, probabilities=probabilities):
            return {"mean": mean, "probabilities": list(probabilities or ())}
        case Refusal(reason=reason):
            return {"refused": reason}
        case Undecided(reason=reason):
            return {"undecided": reason}
        case _:
            return {"type": type(outcome).__name__}


def _told(value: Any) -> str:  # noqa: ANN401 - JSON
    return json.dumps(value, ensure_ascii=False)
