"""How threads wait at a gate, and how long a decision and its tries may take."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event

from yesno.engine.gates import Gate, Party, Ticket, Turn
from yesno.errors import DeadlineExceeded

__all__ = ["LATE", "Term", "left_until", "wait_for_place"]

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


class _ThreadTurn(Turn):
    __slots__ = ("event",)

    def __init__(self) -> None:
        super().__init__()
        self.event = Event()

    def wake(self) -> None:
        self.event.set()


def wait_for_place(
    gate: Gate,
    party: Party,
    deadline: float | None = None,
    *,
    wait: Callable[[Event, float | None], object] = Event.wait,
) -> Ticket:
    """Return a place, waiting in this thread for one.

    Raises:
        DeadlineExceeded: The deadline, a reading of the gate's clock, passed.
    """
    ticket = gate.enter(party)
    if ticket is not None:
        return ticket
    turn = _ThreadTurn()
    gate.queue(party, turn)
    try:
        while (pause := gate.look_again(turn)) > 0 and (left := _left(gate, deadline)) > 0:
            wait(turn.event, _shorter(pause, left))
            turn.event.clear()
    except BaseException:
        gate.give_up(party, turn)
        raise
    if turn.ticket is None:
        gate.give_up(party, turn)
        raise DeadlineExceeded(LATE)
    return turn.ticket


def _left(gate: Gate, deadline: float | None) -> float:
    return math.inf if deadline is None else max(0.0, deadline - gate.clock())


def _shorter(pause: float, left: float) -> float | None:
    shorter = min(pause, left)
    return None if shorter == math.inf else shorter
