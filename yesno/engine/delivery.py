"""What surrounds the sending of one payload: the cache before it, the bill with it, the price after it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event
from types import TracebackType
from typing import TYPE_CHECKING, Self

from yesno._log import get_logger
from yesno.engine.budget import Amounts, Budget, Reservation
from yesno.engine.caching import Cache, key_of, payload_of, text_of, value_of
from yesno.errors import BudgetExceeded, ConfigError, ProviderError, UnreadableReply
from yesno.evidence import Kept, Reply, Usage
from yesno.prices import Price, price_for
from yesno.providers.base import NativeTask, Payload, PromptTask, Provider, Task

if TYPE_CHECKING:
    import asyncio

__all__ = ["Bill", "Delivery"]

PER_ANSWER = 16
"""Output tokens to reserve for each question of a decision endpoint; those known count none or a few (2026-11)."""
_UNREADABLE = (UnreadableReply, KeyError, IndexError, TypeError, ValueError, AttributeError)
"""What a body of another shape than expected raises, whoever reads it."""


@dataclass(slots=True)
class Delivery:
    """The settings of one model for what surrounds sending."""

    provider: Provider
    cache: Cache | None = None
    budget: Budget | None = None
    price: Price | None = None
    """The caller's own, for every model name."""
    reads_at_once: bool = False
    """The cache may be read from an event loop."""
    _prices: dict[str, Price | None] = field(default_factory=dict)
    _warned: bool = False

    def __post_init__(self) -> None:
        if self.cache is not None and not isinstance(self.cache, Cache):
            raise ConfigError(
                f"`cache` must have the methods `get` and `put`, unlike {type(self.cache).__name__}"
            )
        if self.budget is not None and not isinstance(self.budget, Budget):
            raise ConfigError(f"`budget` must be a Budget, not {type(self.budget).__name__}")
        if self.price is not None and not isinstance(self.price, Price):
            raise ConfigError(f"`price` must be a Price, not {type(self.price).__name__}")
        self.reads_at_once = bool(getattr(self.cache, "reads_at_once", False))
        if self.provider.model:
            self.check(self.provider.model)

    def check(self, model_name: str) -> None:
        """Refuse a budget in dollars for a model whose price is unknown."""
        if self.budget is not None and self.budget.usd is not None and self.price_of(model_name) is None:
            raise ConfigError(
                f"a budget in dollars needs a known price, and the price of {model_name!r} at "
                f"{self.provider.name!r} is unknown; pass `price=Price(...)` from `yesno.prices`, "
                "or limit `requests` or `tokens`"
            )

    def price_of(self, model_name: str) -> Price | None:
        """Return what a model costs; None when that is unknown."""
        if self.price is not None:
            return self.price
        if model_name not in self._prices:
            self._prices[model_name] = price_for(self.provider.name, model_name, self.provider.address)
        return self._prices[model_name]

    def key(self, task: Task, payload: Payload) -> str | None:
        """Return what equal requests have in common; None for one that is neither merged nor cached."""
        if isinstance(task, PromptTask) and task.sample > 0:
            return None
        if self.cache is None and not self.provider.merges:
            return None
        text = text_of(payload)
        return None if text is None else key_of(self.provider.name, self.provider.address, text)

    def recall(self, task: Task, key: str | None) -> Reply | None:
        """Return the reply that the cache holds; one that cannot be read is a miss."""
        if self.cache is None or key is None:
            return None
        value = self.get(key)
        payload = payload_of(value)
        if value is None or payload is None:
            return None
        try:
            reply = self.provider.parse(task, payload)
        except _UNREADABLE:
            return None
        return replace(reply, usage=Usage(cache_hits=1), kept=Kept(key, value))

    def get(self, key: str) -> bytes | None:
        """Return what the cache holds under a key; None when it has nothing, or fails."""
        try:
            return None if self.cache is None else self.cache.get(key)
        except Exception as error:  # noqa: BLE001 - somebody else's store must not break a decision
            self._failed(error)
            return None

    async def arecall(self, task: Task, key: str | None) -> Reply | None:
        """Do what `recall` does, in a thread unless the cache may be read in place."""
        if self.cache is None or self.reads_at_once:
            return self.recall(task, key)
        import asyncio

        return await asyncio.to_thread(self.recall, task, key)

    def keep(self, key: str | None, raw: Payload, reply: Reply) -> None:
        """Let the cache keep a reply that could be read."""
        if self.cache is None or key is None:
            return
        value = value_of(raw, reply)
        if value is None:
            return
        try:
            self.cache.put(key, value)
        except Exception as error:  # noqa: BLE001 - somebody else's store must not break a decision
            self._failed(error)

    async def akeep(self, key: str | None, raw: Payload, reply: Reply) -> None:
        """Do what `keep` does, in a thread: writing may wait for other writers."""
        if self.cache is not None and key is not None:
            import asyncio

            await asyncio.to_thread(self.keep, key, raw, reply)

    def read(self, task: Task, raw: Payload) -> Reply:
        """Return what a body says, its price included."""
        reply = self.provider.parse(task, raw)
        price = self.price_of(task.model_name)
        if price is None:
            return reply
        usage = replace(reply.usage, cost_usd=price.cost(reply.usage))
        return Reply(reply.evidence, reply.model, usage, reply.kept)

    def bill(self, task: Task, payload: Payload, wait: Callable[[Event], None]) -> Bill:
        """Reserve the most that a request can use; use it as a context manager around sending.

        Args:
            task: What is asked.
            payload: The body to send.
            wait: Waits for an event, and raises when the caller's own time is up.

        Raises:
            BudgetExceeded: It does not fit into the budget.
        """
        if self.budget is None:
            return _FREE
        self.check(task.model_name)
        most = self._most(task, payload)
        while True:
            freed = Event()
            held = self.budget.claim(most, freed.set)
            if held is not None:
                return Bill(held, partial(self._counted, task))
            wait(freed)

    def bill_at_once(self, task: Task, payload: Payload) -> Bill | None:
        """Do what `bill` does without waiting for requests under way; None when it does not fit beside them."""
        if self.budget is None:
            return _FREE
        try:
            held = self.budget.reserve(self._most(task, payload))
        except BudgetExceeded:
            return None
        return Bill(held, partial(self._counted, task))

    async def abill(self, task: Task, payload: Payload) -> Bill:
        """Do what `bill` does, awaited."""
        if self.budget is None:
            return _FREE
        import asyncio

        self.check(task.model_name)
        most = self._most(task, payload)
        loop = asyncio.get_running_loop()
        while True:
            freed = asyncio.Event()
            held = self.budget.claim(most, partial(_tell, loop, freed))
            if held is not None:
                return Bill(held, partial(self._counted, task))
            await freed.wait()

    def _most(self, task: Task, payload: Payload) -> Amounts:
        text = text_of(payload)
        size = len(text if text is not None else repr(payload).encode("utf-8", "replace"))
        if isinstance(task, NativeTask):
            output = PER_ANSWER * len(task.request.questions)
        else:
            output = max(task.max_tokens, self.provider.profile.min_tokens)
        price = self.price_of(task.model_name)
        return Amounts(None if price is None else price.most(size, output), 1, size + output)

    def _counted(self, task: Task, raw: Payload, most: Amounts) -> Amounts:
        try:
            usage = self.read(task, raw).usage
        except _UNREADABLE:
            return most
        tokens = usage.input_tokens + usage.output_tokens if usage.input_tokens else most.tokens
        return Amounts(most.usd if usage.cost_usd is None else usage.cost_usd, most.requests, tokens)

    def _failed(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            get_logger("engine").warning(
                "cache_failed", cache=type(self.cache).__name__, error=type(error).__name__
            )


class Bill:
    """What one try costs: settled by what the provider counted, else by how it failed."""

    __slots__ = ("_counted", "_reservation")

    def __init__(
        self, reservation: Reservation | None, counted: Callable[[Payload, Amounts], Amounts]
    ) -> None:
        self._reservation = reservation
        self._counted = counted

    def paid(self, raw: Payload) -> Payload:
        """Settle by the counts of a body and return the body."""
        if self._reservation is not None:
            self._reservation.settle(self._counted(raw, self._reservation.most))
        return raw

    def cancel(self) -> None:
        """Settle what was not sent after all."""
        if self._reservation is not None:
            self._reservation.settle(Amounts())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._reservation is not None:
            most = self._reservation.most
            refused = isinstance(error, ProviderError) and (error.status or 0) >= 400
            self._reservation.settle(Amounts(requests=most.requests) if refused else most)


_FREE = Bill(None, lambda _, most: most)


def _tell(loop: asyncio.AbstractEventLoop, freed: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
        loop.call_soon_threadsafe(freed.set)
