"""A lock that serves in the order of arrival, which `threading.Lock` does not promise."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Line"]


class Line:
    """Threads wait here one behind the other."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()

    def __len__(self) -> int:
        """Return how many wait or have their turn."""
        return len(self._waiting)

    @contextmanager
    def turn(self, timeout_s: float | None = None) -> Iterator[bool]:
        """Wait for one's turn; False when it did not come within `timeout_s` seconds."""
        ticket = threading.Lock()
        ticket.acquire()
        with self._guard:
            self._waiting.append(ticket)
            if len(self._waiting) == 1:
                ticket.release()
        try:
            yield ticket.acquire(timeout=-1 if timeout_s is None else max(0.0, timeout_s))
        finally:
            self._leave(ticket)

    def _leave(self, ticket: threading.Lock) -> None:
        with self._guard:
            first = self._waiting[0] is ticket
            self._waiting.remove(ticket)
            if first and self._waiting:
                self._waiting[0].release()
