"""Who asks, and what is left of what they may use."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Literal

from yesno.engine.budget import Amounts, Budget, Reservation
from yesno.errors import BudgetExceeded

__all__ = ["CALLER", "Allowance", "Bucket", "Caller", "CallersBudget", "Denial"]

Period = Literal["day", "month", "total"]
BURST_S = 10.0
"""Seconds whose requests may come at once where no burst is set."""


class Bucket:
    """A rate of requests with a burst: holds so many tokens, and fills again at the rate.

    Args:
        per_minute: Requests in a minute, in the long run; 0 lets none pass.
        burst: Most requests at once.
        clock: Returns seconds.
    """

    def __init__(self, per_minute: float, burst: int | None, clock: Callable[[], float]) -> None:
        self.per_minute = per_minute
        self.burst = max(1, math.ceil(per_minute * BURST_S / 60)) if burst is None else burst
        self._clock = clock
        self._tokens = float(self.burst)
        self._seen = clock()

    def take(self) -> float | None:
        """Let one request pass and return None, or return the seconds after which it may."""
        now = self._clock()
        self._tokens = min(self.burst, self._tokens + max(0.0, now - self._seen) * self.per_minute / 60)
        self._seen = now
        if self.per_minute == 0:
            return math.inf
        if self._tokens >= 1 - 1e-9:
            self._tokens -= 1
            return None
        return (1 - self._tokens) * 60 / self.per_minute


@dataclass(frozen=True, slots=True)
class Denial:
    """Why a request is not let through."""

    code: Literal["rate_limit_exceeded", "too_many_requests", "insufficient_quota", "model_not_allowed"]
    message: str
    retry_after_s: float | None = None
    """Seconds after which it may be; None where waiting does not help."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a caller may use; None is no limit."""

    requests_per_minute: float | None = None
    burst: int | None = None
    concurrency: int | None = None
    budget_usd: float | None = None
    budget_requests: int | None = None
    budget_tokens: int | None = None
    period: Period = "day"
    models: frozenset[str] | None = None
    """Names of models; None allows all."""

    @property
    def has_budget(self) -> bool:
        """Whether what is spent is limited."""
        return any(x is not None for x in (self.budget_usd, self.budget_requests, self.budget_tokens))


@dataclass(slots=True)
class Counted:
    """A number that several count."""

    number: int = 0


@dataclass(slots=True)
class Caller:
    """One key, or all who ask without one, and what they have used.

    Args:
        name: The key's name.
        allowance: What it may use.
        clock: Returns seconds, for rates.
        today: Returns the present day of UTC, for budgets.
    """

    name: str
    allowance: Allowance
    clock: Callable[[], float]
    today: Callable[[], datetime] = lambda: datetime.now(UTC)
    _under_way: Counted = field(init=False, repr=False)
    _bucket: Bucket | None = field(init=False, repr=False)
    _budget: Budget | None = field(init=False, default=None, repr=False)
    _period: str = field(init=False, default="", repr=False)
    _lock: Lock = field(init=False, default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        self._under_way = Counted()
        rate = self.allowance.requests_per_minute
        self._bucket = None if rate is None else Bucket(rate, self.allowance.burst, self.clock)

    @property
    def under_way(self) -> int:
        """How many of its requests have begun and not ended."""
        return self._under_way.number

    def enter(self) -> Denial | None:
        """Count a request that begins; where it may not, say why and count nothing. End it by `leave`."""
        most = self.allowance.concurrency
        if most is not None and self.under_way >= most:
            return Denial(
                "too_many_requests",
                f"{self.under_way} requests of this key are under way; it may have {most}",
                1.0,
            )
        wait = None if self._bucket is None else self._bucket.take()
        if wait is not None:
            assert self._bucket is not None  # noqa: S101 - it said so
            rate = f"{self._bucket.per_minute:g} requests per minute"
            if math.isinf(wait):
                return Denial("rate_limit_exceeded", f"this key may send {rate}")
            return Denial("rate_limit_exceeded", f"this key may send {rate}; try again in {wait:.1f} s", wait)
        self._under_way.number += 1
        return None

    def leave(self) -> None:
        """Count a request that ends."""
        self._under_way.number -= 1

    def budget(self) -> Budget | None:
        """Return the budget of the present day or month; None where there is none."""
        if not self.allowance.has_budget:
            return None
        period = _named(self.allowance.period, self.today())
        with self._lock:
            if self._budget is None or period != self._period:
                self._budget, self._period = _fresh(self.allowance), period
            return self._budget

    def inherit(self, before: Caller) -> None:
        """Go on from what the same caller used before its limits were read anew.

        What a period has cost so far counts in full; what is under way then is no longer waited for.
        """
        self._under_way = before._under_way
        spent, budget = before.budget(), self.budget()
        if spent is not None and budget is not None and before._period == self._period:
            with suppress(BudgetExceeded):  # a limit of 0 lets nothing pass anyhow
                budget.reserve(Amounts()).settle(spent.spent)
        if self._bucket is not None and before._bucket is not None:
            self._bucket._tokens = min(self._bucket.burst, before._bucket._tokens)


CALLER: ContextVar[Caller | None] = ContextVar("yesno_caller", default=None)
"""Who is asking, in everything that is done for a request."""


class CallersBudget(Budget):
    """Stands in a model for the budget of whoever is asking at the time."""

    def __init__(self) -> None:
        super().__init__(requests=2**62)

    def reserve(self, most: Amounts) -> Reservation:
        """Reserve from the budget of the caller."""
        with _personal():
            own = _present()
            return super().reserve(most) if own is None else own.reserve(most)

    def claim(self, most: Amounts, freed: Callable[[], None]) -> Reservation | None:
        """Claim from the budget of the caller."""
        with _personal():
            own = _present()
            return super().claim(most, freed) if own is None else own.claim(most, freed)


@contextmanager
def _personal() -> Iterator[None]:
    """Mark the end of a budget as one caller's own affair, which others with the same question do not share."""
    try:
        yield
    except BudgetExceeded as error:
        error.personal = True
        raise


def _present() -> Budget | None:
    caller = CALLER.get()
    return None if caller is None else caller.budget()


def _fresh(allowance: Allowance) -> Budget:
    return Budget(
        usd=allowance.budget_usd, requests=allowance.budget_requests, tokens=allowance.budget_tokens
    )


def _named(period: Period, today: datetime) -> str:
    match period:
        case "day":
            return today.strftime("%Y-%m-%d")
        case "month":
            return today.strftime("%Y-%m")
        case "total":
            return ""
