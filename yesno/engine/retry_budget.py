"""How many retries a stream of requests may have, so that an outage does not multiply its own load."""

from __future__ import annotations

from threading import Lock

from yesno.errors import ConfigError

__all__ = ["RetryBudget"]


class RetryBudget:
    """A bucket of retries: each request puts a part of one in, each retry takes one out.

    So over any stretch of time the retries are at most `share` of the requests, and `reserve` more. Retries that
    the bucket cannot pay are not made: the error that called for one is raised at once.

    Args:
        share: Retries per request, from 0 to 1. At 0.5, a server that fails three requests in ten loses no decision,
            and one that fails them all gets half as many more, not three times as many.
        reserve: Retries in the bucket at first, and the most it holds: for those who ask little.

    Safe to share between models and threads.

    Raises:
        ConfigError: A number is out of its range.
    """

    __slots__ = ("_held", "_lock", "reserve", "share")

    def __init__(self, share: float = 0.5, *, reserve: int = 100) -> None:
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise ConfigError(f"`share` must be a number from 0 to 1, not {share!r}")
        if isinstance(reserve, bool) or not isinstance(reserve, int) or reserve < 0:
            raise ConfigError(f"`reserve` must be a whole number of at least 0, not {reserve!r}")
        self.share = share
        self.reserve = reserve
        self._held = float(reserve)
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"RetryBudget({self.share!r}, reserve={self.reserve!r})"

    def earn(self) -> None:
        """Count a request that is not a retry."""
        with self._lock:
            # with no reserve the parts must still add up to one
            self._held = min(max(self.reserve, 1), self._held + self.share)

    def take(self) -> bool:
        """Return whether there is a retry left, and take it."""
        with self._lock:
            if self._held < 1:
                return False
            self._held -= 1
            return True
