"""What `waiting` does, for asyncio."""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress

from yesno.engine.gates import Gate, Party, Ticket, Turn

__all__ = ["await_place"]


class _TaskTurn(Turn):
    __slots__ = ("_own", "future")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._own = loop
        self.future: asyncio.Future[None] = loop.create_future()

    def wake(self) -> None:
        if asyncio._get_running_loop() is self._own:
            self.look()
            return
        with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
            self._own.call_soon_threadsafe(self.look)

    def look(self) -> None:
        if not self.future.done():
            self.future.set_result(None)


async def await_place(gate: Gate, party: Party, loop: asyncio.AbstractEventLoop) -> Ticket:
    """Do what `wait_for_place` does, in a task of this event loop, until it is cancelled."""
    ticket = gate.enter(party, loop)
    if ticket is not None:
        return ticket
    turn = _TaskTurn(loop)
    gate.queue(party, turn)
    try:
        while (pause := gate.look_again(turn)) > 0:
            timer = None if pause == math.inf else loop.call_later(pause, turn.look)
            try:
                await turn.future
            finally:
                if timer is not None:
                    timer.cancel()
            turn.future = loop.create_future()
    except BaseException:
        gate.give_up(party, turn, loop)
        raise
    assert turn.ticket is not None  # noqa: S101 - no pause is left only for one that has its place
    return turn.ticket
