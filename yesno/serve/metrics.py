"""What `/metrics` shows, in Prometheus' text format. Labels are paths, aliases and counts, never content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

if TYPE_CHECKING:
    from yesno.serve.exchange import Exchange

__all__ = ["Metrics"]

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
"""Seconds: from a scripted model to a long list of questions at a slow host."""


class Metrics:
    """Counters of one server, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own: Any = {"registry": self.registry, "namespace": "yesno"}
        self._requests = Counter("requests", "Responses sent.", ["path", "status"], **own)
        self._seconds = Histogram("request_seconds", "Time to a response.", ["path"], buckets=BUCKETS, **own)
        self._questions = Counter("questions", "Questions by outcome.", ["model", "outcome"], **own)
        self._tokens = Counter("tokens", "Tokens used.", ["model", "direction"], **own)
        self._known: dict[tuple[str, int | None], tuple[Counter, Histogram]] = {}
        self._problems = Counter("problems", "Errors sent, by code.", ["code"], **own)

    def note(self, path: str, exchange: Exchange) -> None:
        """Count one exchange that has ended."""
        key = (path, exchange.status)
        counted = self._known.get(key)
        if counted is None:
            counted = self._requests.labels(path, exchange.status or "none"), self._seconds.labels(path)
            self._known[key] = counted
        counted[0].inc()
        counted[1].observe(exchange.seconds)
        if exchange.problem is not None:
            self._problems.labels(exchange.problem).inc()
        if exchange.alias is None:
            return
        for outcome, count in exchange.outcomes.items():
            self._questions.labels(exchange.alias, outcome).inc(count)
        usage = exchange.usage
        if usage.input_tokens or usage.output_tokens:
            self._tokens.labels(exchange.alias, "input").inc(usage.input_tokens)
            self._tokens.labels(exchange.alias, "output").inc(usage.output_tokens)

    def shown(self) -> tuple[bytes, str]:
        """Return the text, and its content type."""
        return generate_latest(self.registry), CONTENT_TYPE_PLAIN_0_0_4
