"""Where requests wait for their place, in threads: one queue per model, and one limit over all of them."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import BoundedSemaphore, Event, Lock

from yesno.engine.limits import Limit
from yesno.errors import DeadlineExceeded, ProviderError

__all__ = ["LATE", "Gate", "Places", "Term", "left_until"]

LATE = "the decision took longer than its timeout; raise `timeout_s` or ask less at once"


@dataclass(frozen=True, slots=True)
class Term:
    """How long a decision and each try of its requests may take."""

    deadline: float | None
    """Reading of `time.monotonic`."""
    attempt_s: float | None

    @property
    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return left_until(self.deadline) == 0

    def next_try_s(self) -> float | None:
        """Return the seconds that a try which begins now may take."""
        known = [s for s in (left_until(self.deadline), self.attempt_s) if s is not None]
        return min(known, default=None)


def left_until(deadline: float | None) -> float | None:
    """Return the seconds until a reading of `time.monotonic`; None for no end."""
    return None if deadline is None else max(0.0, deadline - time.monotonic())


class _Turn(Event):
    era = 0


class Gate:
    """Lets requests begin in the order they came, as many at once as a limit allows."""

    def __init__(
        self,
        limit: Limit,
        *,
        clock: Callable[[], float] | None = None,
        wait: Callable[[Event, float | None], object] = Event.wait,
    ) -> None:
        self._limit = limit
        self._clock = clock or (lambda: time.monotonic())
        self._wait = wait
        self._lock = Lock()
        self._under_way = 0
        self._waiting: deque[_Turn] = deque()

    def enter(self, deadline: float | None = None) -> int:
        """Wait for a place and return what `leave` wants to know.

        Raises:
            DeadlineExceeded: The deadline, a reading of the clock, passed.
        """
        turn = _Turn()
        with self._lock:
            self._waiting.append(turn)
            self._admit()
        try:
            while not turn.is_set():
                self._wait(turn, self._patience(deadline))
                self._look_again(turn, deadline)
        except BaseException:
            self._give_up(turn)
            raise
        return turn.era

    def leave(self, era: int, *, heard: bool, error: ProviderError | None = None) -> None:
        """Give a place back; `heard` when the server has answered, be it with an error."""
        with self._lock:
            self._under_way -= 1
            if heard:
                self._limit.hear(era, error, self._clock())
            self._admit()

    def _admit(self) -> None:
        while self._waiting and self._limit.wait_s(self._under_way, now := self._clock()) == 0:
            turn = self._waiting.popleft()
            turn.era = self._limit.begin(now)
            self._under_way += 1
            turn.set()

    def _look_again(self, turn: _Turn, deadline: float | None) -> None:
        with self._lock:
            self._admit()
            if not turn.is_set() and deadline is not None and self._clock() >= deadline:
                raise DeadlineExceeded(LATE)

    def _patience(self, deadline: float | None) -> float | None:
        now = self._clock()
        with self._lock:
            pause = self._limit.wait_s(self._under_way, now)
        until_then = math.inf if deadline is None else max(0.0, deadline - now)
        shorter = min(pause, until_then)
        return None if shorter == math.inf else shorter

    def _give_up(self, turn: _Turn) -> None:
        with self._lock:
            if turn.is_set():
                self._under_way -= 1
            else:
                self._waiting.remove(turn)
            self._admit()


class Places:
    """The places of one model object."""

    def __init__(self, concurrency: int) -> None:
        self._concurrency = concurrency
        self._all = BoundedSemaphore(concurrency)
        self._lock = Lock()
        self._gates: dict[str, Gate] = {}

    @contextmanager
    def one(self, model_name: str, deadline: float | None) -> Iterator[None]:
        """Hold a place while a request is under way, and learn from how it ends.

        Raises:
            DeadlineExceeded: There was none in time.
        """
        gate = self._gate(model_name)
        era, heard, failure = gate.enter(deadline), False, None
        try:
            if not self._all.acquire(timeout=left_until(deadline)):
                raise DeadlineExceeded(LATE)
            try:
                yield
                heard = True
            except ProviderError as error:
                heard, failure = True, error
                raise
            finally:
                self._all.release()
        finally:
            gate.leave(era, heard=heard, error=failure)

    def _gate(self, model_name: str) -> Gate:
        with self._lock:
            if model_name not in self._gates:
                self._gates[model_name] = Gate(Limit(self._concurrency))
            return self._gates[model_name]
