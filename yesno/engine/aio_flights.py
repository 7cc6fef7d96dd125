"""What `flights` does, for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from yesno.engine.flights import Landed, landed, passed_on
from yesno.evidence import Reply

__all__ = ["AsyncFlights"]


class AsyncFlights:
    """The requests of one model that are under way, for the tasks of an event loop."""

    def __init__(self) -> None:
        self._flights: dict[str, asyncio.Future[Landed]] = {}

    def __len__(self) -> int:
        """Return how many are under way."""
        return len(self._flights)

    async def share(self, key: str, work: Callable[[], Awaitable[Reply]]) -> Reply:
        """Do what `Flights.share` does, awaited; cancelling one that waits leaves the others alone."""
        loop = asyncio.get_running_loop()
        while (flight := self._flights.get(key)) is not None and flight.get_loop() is loop:
            await asyncio.wait([flight])
            end = flight.result()
            if end is not None:
                return passed_on(end)
        own = self._flights[key] = loop.create_future()
        end = None
        try:
            end = reply = await work()
            return reply
        except Exception as error:
            end = landed(error)
            raise
        finally:
            if self._flights.get(key) is own:
                del self._flights[key]
            own.set_result(end)
