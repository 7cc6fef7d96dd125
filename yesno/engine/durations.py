"""How long the newest good replies took: what is slow is seen beside what is usual. No clock, no waiting."""

from __future__ import annotations

from collections import deque
from threading import RLock

__all__ = ["LEAST_KNOWN", "Durations"]

KEPT = 128
"""Newest replies that count."""
LEAST_KNOWN = 20
"""Replies before anything is said: the twentieth part of fewer is none."""
REFRESHED = 8
"""Replies after which a percentile is computed anew."""
LEAST_PATIENCE_S = 2.0
TIMES = 6.0
"""A try that takes this many times as long as 95 % of the replies is given up."""


class Durations:
    """Seconds from sending to the whole reply. Safe to share between threads."""

    __slots__ = ("_age", "_known", "_lock", "_newest")

    def __init__(self) -> None:
        self._newest: deque[float] = deque(maxlen=KEPT)
        self._known: dict[float, float] = {}
        self._age = 0
        self._lock = RLock()  # reentrant, as that of `Limits` and for its reason

    def note(self, seconds: float) -> None:
        """Note how long a good reply took."""
        with self._lock:
            self._newest.append(seconds)
            self._age += 1

    def percentile(self, share: float) -> float | None:
        """Return the seconds within which `share` percent of the replies came; None while too few are known."""
        with self._lock:
            if len(self._newest) < LEAST_KNOWN:
                return None
            if self._age >= REFRESHED:
                self._known.clear()
                self._age = 0
            known = self._known.get(share)
            if known is None:
                ordered = sorted(self._newest)
                place = min(len(ordered) - 1, int(share / 100 * len(ordered)))
                known = self._known[share] = ordered[place]
            return known

    def patience_s(self, unanswered: int) -> float | None:
        """Return how long a try may take when no reply came to so many before it; None while too few replies are known.

        After each of them the next may take twice as long, so that a reply that does take long comes in the end.
        """
        usual = self.percentile(95.0)
        return None if usual is None else float(max(LEAST_PATIENCE_S, TIMES * usual) * 2**unanswered)
