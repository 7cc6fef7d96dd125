"""How many requests to one model may be under way: found out from what its server says. No clock, no waiting.

Additive increase, multiplicative decrease, as TCP does it, with two differences that keep chance from counting:

- A few busy replies (429, 503, 529) among many are no reason to slow down; more than `TOLERATED` of a round are.
- All that was under way when the limit fell says nothing about the new limit, and is not counted.

A round is as many replies as may be under way, at least `LEAST_ROUND`. What a rate limit's headers say counts besides:
after an error that says how many requests are left, no more than these begin until the limit's own reset.
"""

from __future__ import annotations

import math

from yesno.errors import ProviderError, ProviderUnavailable

__all__ = ["LEAST_ROUND", "LONGEST_PAUSE_S", "Limit"]

BUSY = frozenset({429, 503, 529})
"""Too many requests, unavailable, overloaded (Anthropic; 2026-11)."""
TOLERATED = 0.15
"""Share of busy replies in a round that a limit outlives."""
DECREASE = 0.7
LEAST_ROUND = 10
LONGEST_PAUSE_S = 60.0
"""A reset further away is not believed: OpenAI's is when the whole limit is there again, not the next request."""


class Limit:
    """How many requests may be under way; between 1 and `ceiling`, and `ceiling` at first.

    Times are readings of one monotonic clock, in seconds. Not safe to share without a lock.
    """

    __slots__ = ("_answered", "_busy", "_height", "_left", "_until", "ceiling", "era")

    def __init__(self, ceiling: int) -> None:
        self.ceiling = ceiling
        self.era = 0
        """How often the limit has fallen; a request remembers it from its beginning."""
        self._height = float(ceiling)
        self._answered = self._busy = 0
        self._left = 0
        self._until = -math.inf

    @property
    def height(self) -> int:
        """Most requests under way."""
        return int(self._height)

    def widen(self, ceiling: int) -> None:
        """Let the limit rise as far as `ceiling`; one that has never fallen is there at once."""
        if ceiling > self.ceiling:
            self._height = float(ceiling) if self._height == self.ceiling else self._height
            self.ceiling = ceiling

    def wait_s(self, under_way: int, now: float) -> float:
        """Return 0 when one more request may begin, else after how many seconds to ask again.

        Infinity: not before another one ends.
        """
        if under_way >= self.height:
            return math.inf
        return self._until - now if now < self._until and self._left < 1 else 0.0

    def begin(self, now: float) -> int:
        """Count a request that begins, and return what `hear` wants to know of it."""
        if now < self._until:
            self._left -= 1
        return self.era

    def hear(self, era: int, error: ProviderError | None, now: float) -> None:
        """Learn from how a request ended: with a reply, or with an error of the provider's."""
        busy = isinstance(error, ProviderUnavailable) and error.status in BUSY
        if busy and error is not None:
            self._obey(error, now)
        if era != self.era:
            return
        self._answered += 1
        self._busy += busy
        length = max(self.height, LEAST_ROUND)
        if self._busy > TOLERATED * length:
            self._height = max(1.0, self._height * DECREASE)
            self.era += 1
        elif self._answered >= length:
            self._height = min(float(self.ceiling), self._height + max(1.0, self.ceiling / 16))
        else:
            return
        self._answered = self._busy = 0

    def _obey(self, error: ProviderError, now: float) -> None:
        known = [seconds for seconds in (error.retry_after, error.reset_s) if seconds is not None]
        if error.remaining is None or not known:
            return
        # the newest word wins: the strictest of several would add their pauses up
        self._left, self._until = error.remaining, now + min(*known, LONGEST_PAUSE_S)
