"""Where requests wait for their place: a limit per server and model that models share, and one of each model's own.

A request begins when both have room. Those of one model begin in the order they came, and models take turns, so that
a long `map` of one keeps nobody else waiting. Threads and the tasks of any event loops wait at the same gates.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Hashable
from hashlib import blake2b
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

from yesno.engine.durations import Durations
from yesno.engine.limits import Limit
from yesno.errors import ProviderError
from yesno.providers.base import Provider

if TYPE_CHECKING:
    import asyncio

__all__ = ["SHARED", "Gate", "Limits", "Party", "Ticket", "Turn"]


class Ticket(NamedTuple):
    """A place that a request holds."""

    era: int
    begun: float
    """Reading of the gate's clock."""


class Turn:
    """One that waits. Subclasses say how it is woken, which happens from any thread."""

    __slots__ = ("loop", "ticket", "watches")

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.loop = loop
        self.ticket: Ticket | None = None
        self.watches = False
        """It will look again by itself when a pause is over."""

    def wake(self) -> None:
        """Let it look whether its place has come, and look again where none has."""
        raise NotImplementedError

    @property
    def is_gone(self) -> bool:
        """Whether nobody waits any more: its event loop was closed."""
        return self.loop is not None and self.loop.is_closed()


class Party:
    """One model object among those that share a gate."""

    __slots__ = ("gates", "most", "under_way")

    def __init__(self, most: int) -> None:
        self.most = most
        self.under_way = 0
        self.gates: dict[str, Gate] = {}
        """By model name; held here, a gate lives as long as somebody may use it."""


class Gate:
    """Lets requests to one model of one server begin, as many at once as a limit allows."""

    def __init__(self, limit: Limit, lock: RLock, clock: Callable[[], float]) -> None:
        self.limit = limit
        self.durations = Durations()
        self.clock = clock
        self._lock = lock
        self._under_way = 0
        self._lines: dict[Party, deque[Turn]] = {}
        self._loops: dict[tuple[Party, asyncio.AbstractEventLoop], int] = {}
        """Places that tasks hold: those of an event loop that was closed in their midst are nobody's."""

    def enter(self, party: Party, loop: asyncio.AbstractEventLoop | None = None) -> Ticket | None:
        """Return a place if one is free now and nobody of the same model waits for it."""
        with self._lock:
            now = self.clock()
            if party in self._lines or party.under_way >= party.most:
                return None
            if self.limit.wait_s(self._under_way, now) > 0:
                return None
            return self._taken(party, loop, now)

    def leave(
        self,
        party: Party,
        ticket: Ticket,
        loop: asyncio.AbstractEventLoop | None = None,
        *,
        heard: bool = True,
        error: ProviderError | None = None,
    ) -> None:
        """Give a place back; `heard` when the server has answered, be it with an error."""
        with self._lock:
            if not self._freed(party, loop):
                return
            if heard:
                now = self.clock()
                self.limit.hear(ticket.era, error, now)
                if error is None:
                    self.durations.note(now - ticket.begun)
                else:
                    for line in self._lines.values():
                        line[0].watches = False  # the pause may be another one now
            self._admit_all(party)

    def queue(self, party: Party, turn: Turn) -> None:
        """Wait behind the others of the same model, and `look_again` at once."""
        with self._lock:
            for gate in party.gates.values():
                gate._forget_closed_loops()
            self._forget_closed_loops()
            self._lines.setdefault(party, deque()).append(turn)

    def look_again(self, turn: Turn) -> float:
        """Let in whom there is room for, and return the seconds after which this one looks again; may be infinity."""
        with self._lock:
            turn.watches = True
            self._admit()
            if turn.ticket is not None:
                return 0.0
            # room here and no place all the same: its model has as many under way as it may, at other gates too
            pause = self.limit.wait_s(self._under_way, self.clock()) or math.inf
            turn.watches = pause < math.inf
            return pause

    def give_up(self, party: Party, turn: Turn, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Take back a turn, and its place if it had come."""
        with self._lock:
            if turn.ticket is not None:
                self._freed(party, loop)
            else:
                line = self._lines.get(party, deque())
                if turn in line:
                    line.remove(turn)
                if not line:
                    self._lines.pop(party, None)
            self._admit_all(party)

    def _taken(self, party: Party, loop: asyncio.AbstractEventLoop | None, now: float) -> Ticket:
        self._under_way += 1
        party.under_way += 1
        if loop is not None:
            key = (party, loop)
            self._loops[key] = self._loops.get(key, 0) + 1
        return Ticket(self.limit.begin(now), now)

    def _freed(self, party: Party, loop: asyncio.AbstractEventLoop | None) -> bool:
        if loop is not None:
            held = self._loops.get((party, loop), 0)
            if held == 0:
                return False  # its loop was closed in its midst, and the place was taken back already
            if held == 1:
                del self._loops[party, loop]
            else:
                self._loops[party, loop] = held - 1
        self._under_way -= 1
        party.under_way -= 1
        return True

    def _admit_all(self, party: Party) -> None:
        if self._lines:
            self._admit()
        if len(party.gates) > 1:
            for gate in party.gates.values():
                if gate is not self and party in gate._lines:
                    gate._admit()

    def _admit(self) -> None:
        while (party := self._next()) is not None:
            line = self._lines[party]
            turn = line[0]
            now = self.clock()
            pause = self.limit.wait_s(self._under_way, now)
            if pause > 0:
                if pause < math.inf and not turn.watches:
                    turn.wake()
                return
            line.popleft()
            del self._lines[party]
            if line:
                self._lines[party] = line  # behind the other models
            turn.ticket = self._taken(party, turn.loop, now)
            turn.wake()

    def _next(self) -> Party | None:
        for party, line in list(self._lines.items()):
            while line and line[0].is_gone:
                line.popleft()
            if not line:
                del self._lines[party]
            elif party.under_way < party.most:
                return party
        return None

    def _forget_closed_loops(self) -> None:
        for (party, loop), held in list(self._loops.items()):
            if loop.is_closed():
                del self._loops[party, loop]
                self._under_way -= held
                party.under_way -= held


class Limits:
    """What the models of a process have learned of their servers.

    Models that are given the same `Limits` share, per server, key and model name, how many requests may be under way,
    the pause that a rate limit asks for, and how long replies take. Together they have no more requests under way than
    the largest `concurrency` among them, and take turns. By default all models of a process share one; pass
    `limits=Limits()` to keep some apart. What is learned of a server is forgotten with the last model that asks it.

    Safe to share between `DecisionModel` and `AsyncDecisionModel`, threads and event loops.
    """

    def __init__(self, *, clock: Callable[[], float] | None = None) -> None:
        self._clock = clock or (lambda: time.monotonic())
        # reentrant: a collected coroutine gives its place back wherever the collector happens to run
        self._lock = RLock()
        self._gates: WeakValueDictionary[Hashable, Gate] = WeakValueDictionary()

    def __repr__(self) -> str:
        return f"Limits({len(self._gates)} in use)"

    def gate(self, provider: Provider, model_name: str, party: Party) -> Gate:
        """Return the gate to a model of a provider's server."""
        gate = party.gates.get(model_name)
        if gate is not None:
            return gate
        key = (*_place_of(provider), model_name)
        with self._lock:
            gate = self._gates.get(key)
            if gate is None:
                gate = self._gates[key] = Gate(Limit(party.most), self._lock, self._clock)
            gate.limit.widen(party.most)
            party.gates[model_name] = gate
        return gate


SHARED = Limits()
"""What models share that are given no `limits`; it holds nothing beyond the models in use."""


def _place_of(provider: Provider) -> tuple[Hashable, ...]:
    """Return where requests count: a server and an account there, or this one object."""
    if provider.server is None:
        return (id(provider),)
    account = blake2b("\n".join(provider.secrets()).encode(), digest_size=16).hexdigest()
    return (provider.server, account)
