"""Limits on what may be spent, kept before anything is sent."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal, TypeAlias

from yesno.errors import BudgetExceeded, ConfigError

__all__ = ["Amounts", "Budget", "Reservation"]

Limit: TypeAlias = Literal["usd", "requests", "tokens"]
PICO = 10**12
"""Dollars are counted in whole trillionths: sums of floats drift, and a limit must not."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """What a request may use, or what was used."""

    usd: float | None = 0.0
    """None when unknown."""
    requests: int = 0
    tokens: int = 0
    """Input and output together."""


class Budget:
    """Limits that hold over everything that is asked with one object; share it between models and threads.

    Each request, a retry too, first reserves the most it can use: one request, as many input tokens as its body
    has bytes, the output tokens it asks for, and their price. One that does not fit is not sent and raises
    `BudgetExceeded`; one that fits if those under way use less than they reserved waits for them. When the reply
    is there, what the provider counted takes the reservation's place. An error with a status counts no tokens; a
    request whose fate is unknown (time ran out, the connection broke, the reply has no counts or could not be
    read) counts with all that it had reserved. A limit of 0 sends nothing. A reply from a cache costs nothing.

    Args:
        usd: Most US dollars; the price of the model has to be known.
        requests: Most requests, failed ones among them.
        tokens: Most tokens, input and output together.

    Raises:
        ConfigError: There is no limit, or one is not a number of at least 0.
    """

    def __init__(
        self, *, usd: float | None = None, requests: int | None = None, tokens: int | None = None
    ) -> None:
        if usd is None and requests is None and tokens is None:
            raise ConfigError("a budget needs a limit: `usd`, `requests` or `tokens`")
        self.usd = _checked("usd", usd, whole=False)
        self.requests = _checked("requests", requests, whole=True)
        self.tokens = _checked("tokens", tokens, whole=True)
        self._limits: dict[Limit, int | None] = {
            "usd": None if usd is None else math.floor(usd * PICO),
            "requests": requests,
            "tokens": tokens,
        }
        self._spent: dict[Limit, int] = {"usd": 0, "requests": 0, "tokens": 0}
        self._held: dict[Limit, int] = {"usd": 0, "requests": 0, "tokens": 0}
        self._unpriced = False
        self._waiting: list[Callable[[], None]] = []
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"Budget(usd={self.usd!r}, requests={self.requests!r}, tokens={self.tokens!r})"

    @property
    def spent(self) -> Amounts:
        """What was spent so far; `usd` is None when a model without a known price took part."""
        with self._lock:
            usd = None if self._unpriced else self._spent["usd"] / PICO
            return Amounts(usd, self._spent["requests"], self._spent["tokens"])

    def reserve(self, most: Amounts) -> Reservation:
        """Put aside the most that a request can use; settle what comes back.

        Raises:
            BudgetExceeded: It does not fit beside what is spent and what is reserved.
            ConfigError: There is a limit in dollars, and the price is unknown.
        """
        held = self._reserve(most, None)
        assert held is not None  # noqa: S101 - only who waits is given None
        return held

    def claim(self, most: Amounts, freed: Callable[[], None]) -> Reservation | None:
        """Do what `reserve` does, but return None when it may fit once the requests under way are settled.

        Args:
            most: The most that the request can use.
            freed: Called once, from any thread, when it is worth trying again after None.
        """
        return self._reserve(most, freed)

    def _reserve(self, most: Amounts, freed: Callable[[], None] | None) -> Reservation | None:
        if self.usd is not None and most.usd is None:
            raise ConfigError(
                "a budget in dollars needs a known price, and the price of this model is unknown; "
                "pass `price=Price(...)` to the model, or limit `requests` or `tokens`"
            )
        needs = _counted(most)
        with self._lock:
            for name, limit in self._limits.items():
                if limit is None:
                    continue
                sure = self._spent[name] + needs[name]
                if limit == 0 or sure > limit or (freed is None and sure + self._held[name] > limit):
                    raise self._exceeded(name, needs[name])
            if freed is not None and not self._fits(needs):
                self._waiting.append(freed)
                return None
            for name, need in needs.items():
                self._held[name] += need
        return Reservation(self, most)

    def _fits(self, needs: Mapping[Limit, int]) -> bool:
        return all(
            limit is None or self._spent[name] + self._held[name] + needs[name] <= limit
            for name, limit in self._limits.items()
        )

    def _settle(self, most: Amounts, used: Amounts) -> None:
        held, spent = _counted(most), _counted(used)
        with self._lock:
            for name in self._limits:
                self._held[name] -= held[name]
                self._spent[name] += spent[name]
            self._unpriced = self._unpriced or used.usd is None
            waiting, self._waiting = self._waiting, []
        for freed in waiting:
            freed()

    def _exceeded(self, name: Limit, need: int) -> BudgetExceeded:
        scale = PICO if name == "usd" else 1
        limit, spent, held, more = (
            _shown(name, amount)
            for amount in (self._limits[name] or 0, self._spent[name], self._held[name], need)
        )
        return BudgetExceeded(
            f"the budget of {limit} does not allow another request: {spent} spent, {held} reserved by requests "
            f"under way, and this one may use {more}; raise `{name}`, or go on with a new Budget",
            limit=name,
            spent=self._spent[name] / scale if name == "usd" else self._spent[name],
        )


class Reservation:
    """A part of a budget that is put aside for one request."""

    __slots__ = ("_budget", "_open", "most")

    def __init__(self, budget: Budget, most: Amounts) -> None:
        self._budget = budget
        self._open = True
        self.most = most

    def settle(self, used: Amounts) -> None:
        """Count what was used, and give the rest back; only the first call counts."""
        if self._open:
            self._open = False
            self._budget._settle(self.most, used)


def _counted(amounts: Amounts) -> dict[Limit, int]:
    usd = 0 if amounts.usd is None else math.ceil(amounts.usd * PICO)
    return {"usd": usd, "requests": amounts.requests, "tokens": amounts.tokens}


def _shown(name: Limit, amount: int) -> str:
    return f"${amount / PICO:.12f}".rstrip("0").rstrip(".") if name == "usd" else f"{amount:,} {name}"


def _checked(name: str, value: Any, *, whole: bool) -> Any:  # noqa: ANN401 - the check is the point
    kinds = int if whole else int | float
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, kinds) or not 0 <= value < math.inf:
        kind = "whole number" if whole else "number"
        raise ConfigError(f"the budget's `{name}` must be a {kind} of at least 0, not {value!r}")
    return value
