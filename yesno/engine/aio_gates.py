"""What `gates` does, for asyncio."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from yesno.engine.limits import Limit
from yesno.errors import ProviderError

__all__ = ["AsyncGate", "AsyncPlaces"]


class AsyncGate:
    """Lets the requests of one event loop begin in the order they came, as many at once as a limit allows."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._under_way = 0
        self._waiting: deque[asyncio.Future[int]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    async def enter(self) -> int:
        """Wait for a place and return what `leave` wants to know."""
        now = self._loop.time()
        if not self._waiting and self._limit.wait_s(self._under_way, now) == 0:
            self._under_way += 1
            return self._limit.begin(now)
        turn: asyncio.Future[int] = self._loop.create_future()
        self._waiting.append(turn)
        self._admit()
        try:
            return await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self._under_way -= 1
            with suppress(ValueError):
                self._waiting.remove(turn)
            self._admit()
            raise

    def leave(self, era: int, *, heard: bool, error: ProviderError | None = None) -> None:
        """Give a place back; `heard` when the server has answered, be it with an error."""
        self._under_way -= 1
        if heard:
            self._limit.hear(era, error, self._loop.time())
        self._admit()

    def _admit(self) -> None:
        while self._waiting:
            if self._waiting[0].done():
                self._waiting.popleft()
                continue
            now = self._loop.time()
            wait_s = self._limit.wait_s(self._under_way, now)
            if wait_s > 0:
                self._look_again(wait_s)
                return
            self._under_way += 1
            self._waiting.popleft().set_result(self._limit.begin(now))

    def _look_again(self, wait_s: float) -> None:
        if wait_s != math.inf and self._timer is None:
            self._timer = self._loop.call_later(wait_s, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._admit()


class AsyncPlaces:
    """The places of one model object, for one event loop after another."""

    def __init__(self, concurrency: int) -> None:
        self._concurrency = concurrency
        self._limits: dict[str, Limit] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._all = asyncio.Semaphore(concurrency)
        self._gates: dict[str, AsyncGate] = {}

    @asynccontextmanager
    async def one(self, model_name: str) -> AsyncIterator[None]:
        """Hold a place while a request is under way, and learn from how it ends."""
        gate, everyone = self._gate(model_name)
        era, heard, failure = await gate.enter(), False, None
        try:
            async with everyone:
                try:
                    yield
                    heard = True
                except ProviderError as error:
                    heard, failure = True, error
                    raise
        finally:
            gate.leave(era, heard=heard, error=failure)

    def _gate(self, model_name: str) -> tuple[AsyncGate, asyncio.Semaphore]:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            # places that another loop still held are gone with it; what was learned of the server stays
            self._loop, self._gates, self._all = loop, {}, asyncio.Semaphore(self._concurrency)
        if model_name not in self._gates:
            limit = self._limits.setdefault(model_name, Limit(self._concurrency))
            self._gates[model_name] = AsyncGate(limit)
        return self._gates[model_name], self._all
