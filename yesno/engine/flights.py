"""Equal requests that are under way at the same time go out once.

The first one of a key leads: it asks the provider, and those that come while it is under way wait for its reply.

- Its reply is everyone's, without usage of their own: what was spent is counted where it was sent.
- Its failure is everyone's too when it says something about the request or the provider: it has been retried
  already, and an outage must not be multiplied by everyone who waits.
- When it gave up for reasons of its own (its deadline passed, its own budget is spent, it was cancelled, a bug), the others
  try for themselves: one of them leads, and the rest go on waiting.
- Each waits within its own deadline. Nothing is kept once a request has ended.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from threading import Event, Lock

from yesno.errors import BudgetExceeded, DeadlineExceeded, ProviderError, YesnoError
from yesno.evidence import Reply, Usage

__all__ = ["Flights", "Landed", "landed", "passed_on"]

Landed = Reply | YesnoError | None
"""How a request ended, for those that waited for it; None when they have to try for themselves."""


class _Flight:
    __slots__ = ("done", "end")

    def __init__(self) -> None:
        self.done = Event()
        self.end: Landed = None


class Flights:
    """The requests of one model that are under way, for threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._flights: dict[str, _Flight] = {}

    def __len__(self) -> int:
        """Return how many are under way."""
        return len(self._flights)

    def share(self, key: str, work: Callable[[], Reply], wait: Callable[[Event], None]) -> Reply:
        """Return what `work` returns, or what it returned to an equal request that was under way.

        Args:
            key: Equal for equal requests.
            work: Asks the provider.
            wait: Waits for an event, and raises when the caller's own time is up.
        """
        while True:
            with self._lock:
                flight = self._flights.get(key)
                if flight is None:
                    own = self._flights[key] = _Flight()
                    break
            wait(flight.done)
            if flight.end is not None:
                return passed_on(flight.end)
        try:
            own.end = reply = work()
            return reply
        except Exception as error:
            own.end = landed(error)
            raise
        finally:
            with self._lock:
                del self._flights[key]
            own.done.set()


def landed(error: Exception) -> Landed:
    """Return what an error means for those that waited: the error, or None when it is the leader's own affair."""
    own = isinstance(error, DeadlineExceeded) or (isinstance(error, BudgetExceeded) and error.personal)
    return error if isinstance(error, YesnoError) and not own else None


def passed_on(end: Reply | YesnoError) -> Reply:
    """Return another one's reply without its usage, or raise another one's error anew."""
    if isinstance(end, Reply):
        return replace(end, usage=Usage(cache_hits=end.usage.cache_hits))
    own = copy.copy(end)  # an error that several threads raise would collect all their tracebacks
    own.__cause__ = end.__cause__
    if isinstance(own, ProviderError):
        own.shared, own.usage = True, None
    raise own
