"""Count every request that was really sent, and add up what was spent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock

from yesno.errors import ProviderError, ProviderUnavailable
from yesno.evidence import Kept, Reply, Usage

__all__ = ["Meter", "Spent", "Tally"]

_NOTHING = Usage()


class Meter:
    """A running total of usage; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._total = Usage()

    @property
    def total(self) -> Usage:
        """What was spent so far."""
        return self._total

    def add(self, usage: Usage) -> None:
        """Add what was spent."""
        with self._lock:
            self._total += usage

    def reset(self) -> Usage:
        """Begin anew, and return what was spent until now."""
        with self._lock:
            total, self._total = self._total, Usage()
        return total


@dataclass(slots=True)
class Spent:
    """What the requests of one decision have used, and who answered."""

    usage: Usage = _NOTHING
    model: str | None = None
    kept: tuple[Kept, ...] | None = ()
    """What the cache gave; None once a reply came from elsewhere."""

    def add(self, reply: Reply) -> None:
        """Count one reply."""
        self.kept = None if reply.kept is None or self.kept is None else (*self.kept, reply.kept)
        self.usage = reply.usage if self.usage is _NOTHING else self.usage + reply.usage
        self.model = reply.model or self.model


class Tally:
    """The requests that were sent for one body: a first one, retries and hedges."""

    __slots__ = ("_on_sent", "_uncharged", "hedges", "sent", "unanswered")

    def __init__(self, on_sent: Callable[[], None] | None = None) -> None:
        self.sent = 0
        self.hedges = 0
        self.unanswered = 0
        """Those that no reply came to: in time, or before the connection broke."""
        self._uncharged = 0
        self._on_sent = on_sent

    @property
    def retries(self) -> int:
        """How many were sent again after a failure."""
        return max(0, self.sent - self.hedges - 1)

    def begin(self, *, hedge: bool = False) -> None:
        """Count a request that is sent now."""
        self.sent += 1
        self.hedges += hedge
        if self._on_sent is not None:
            self._on_sent()

    def failed(self, error: Exception) -> None:
        """Note how a request failed: nobody charges for an error, but what a filter's verdict costs is not known."""
        self.unanswered += isinstance(error, ProviderUnavailable) and error.status is None
        if isinstance(error, ProviderError) and (error.status or 0) >= 400:
            self._uncharged += getattr(error, "code", None) != "content_filter"

    def answered(self, reply: Reply) -> Reply:
        """Return the reply with the requests that were sent for it in its usage."""
        if self.sent == reply.usage.requests == 1:
            return reply
        known = replace(reply.usage, requests=1)
        return replace(reply, usage=known + self.in_vain(answered=1))

    def in_vain(self, *, answered: int = 0) -> Usage:
        """Return what was sent without bringing an answer."""
        wasted = self.sent - answered
        cost = 0.0 if wasted == self._uncharged else None
        return Usage(requests=wasted, retries=self.retries, hedges=self.hedges, cost_usd=cost)
