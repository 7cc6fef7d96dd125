"""For how long the tools of a turn ran, which no conversation says."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock

__all__ = ["TurnTimes"]

_MANY = 10_000


class TurnTimes:
    """Remembers how long the tools of a turn ran, under each of its calls, for the newest 10,000 calls.

    A turn is found again by any of its calls, so a conversation may be shortened. Safe between threads.
    """

    def __init__(self, *, size: int = _MANY) -> None:
        self._size = size
        self._lock = Lock()
        self._spent_s: OrderedDict[str, float] = OrderedDict()

    def of(self, calls: Iterable[str]) -> float:
        """Return the seconds that the tools of a turn took, 0 when none of its calls is known."""
        with self._lock:
            return max((self._spent_s.get(call, 0.0) for call in calls), default=0.0)

    def keep(self, calls: Iterable[str], spent_s: float) -> None:
        """Remember, under the newest calls of a turn, what its tools took so far."""
        with self._lock:
            for call in calls:
                self._spent_s[call] = spent_s
                self._spent_s.move_to_end(call)
            while len(self._spent_s) > self._size:
                self._spent_s.popitem(last=False)
