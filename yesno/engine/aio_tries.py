"""What `tries` does, for asyncio; with a second request beside one that takes long."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from yesno.engine.aio_waiting import await_place
from yesno.engine.delivery import Bill
from yesno.engine.gates import Gate, Ticket
from yesno.engine.hedging import raced
from yesno.engine.metering import Tally
from yesno.engine.waiting import LATE, Term, left_until
from yesno.errors import DeadlineExceeded, ProviderError
from yesno.providers.base import Payload, Task

if TYPE_CHECKING:
    from yesno.engine.core import Core

__all__ = ["AsyncTries"]


class AsyncTries:
    """The tries of one model object, for the tasks of any event loop."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def send(self, task: Task, payload: Payload, attempt_s: float | None, tally: Tally) -> Payload:
        """Send a body within `attempt_s` seconds, and a second time beside it when the model hedges."""
        core = self._core
        loop = asyncio.get_running_loop()
        gate = core.gate(task.model_name)
        ticket = gate.enter(core.party, loop) or await await_place(gate, core.party, loop)
        delay_s = None if core.hedge is None else core.hedge.delay_s(gate.durations)
        if delay_s is None:
            return await self._in_place(gate, ticket, task, payload, attempt_s, tally)
        return await raced(
            partial(self._in_place, gate, ticket, task, payload, attempt_s, tally),
            partial(self._beside, gate, task, payload, attempt_s, tally),
            delay_s,
        )

    async def send_until(self, task: Task, payload: Payload, term: Term, tally: Tally) -> Payload:
        """Do what `send` does before a deadline.

        Raises:
            DeadlineExceeded: There was no place or no reply in time.
        """
        scope = asyncio.timeout(left_until(term.deadline))
        try:
            async with scope:
                return await self.send(task, payload, term.attempt_s, tally)
        except TimeoutError as error:
            if not scope.expired():
                raise
            raise DeadlineExceeded(LATE) from error

    async def once(self, task: Task, payload: Payload, attempt_s: float | None, tally: Tally) -> Payload:
        """Send a body once within `attempt_s` seconds and return the body that comes back."""
        core = self._core
        loop = asyncio.get_running_loop()
        gate = core.gate(task.model_name)
        ticket = gate.enter(core.party, loop) or await await_place(gate, core.party, loop)
        return await self._in_place(gate, ticket, task, payload, attempt_s, tally)

    async def _in_place(
        self,
        gate: Gate,
        ticket: Ticket,
        task: Task,
        payload: Payload,
        attempt_s: float | None,
        tally: Tally,
        bill: Bill | None = None,
    ) -> Payload:
        core, loop = self._core, asyncio.get_running_loop()
        heard, failure = False, None
        try:
            with bill or await core.delivery.abill(task, payload) as open_bill:
                try_s = core.retry.patience_s(attempt_s, gate.durations, tally.unanswered)
                raw = open_bill.paid(await self._send_now(payload, try_s, tally, hedge=bill is not None))
            heard = True
            return raw
        except ProviderError as error:
            heard, failure = True, error
            raise
        finally:
            gate.leave(core.party, ticket, loop, heard=heard, error=failure)

    async def _beside(
        self, gate: Gate, task: Task, payload: Payload, attempt_s: float | None, tally: Tally
    ) -> Payload | None:
        """Send once more if there is room, a retry and money for it right now; None when there is not."""
        core = self._core
        loop = asyncio.get_running_loop()
        ticket = gate.enter(core.party, loop)
        if ticket is None:
            return None
        bill = core.delivery.bill_at_once(task, payload)
        if bill is None or not core.retry.budget.take():
            if bill is not None:
                bill.cancel()
            gate.leave(core.party, ticket, loop, heard=False)
            return None
        return await self._in_place(gate, ticket, task, payload, attempt_s, tally, bill)

    async def _send_now(
        self, payload: Payload, attempt_s: float | None, tally: Tally, *, hedge: bool
    ) -> Payload:
        core = self._core
        scope = None if attempt_s is None else asyncio.timeout(attempt_s)
        tally.begin(hedge=hedge)
        try:
            if scope is None:
                return await core.provider.asend(payload)
            async with scope:
                return await core.provider.asend(payload)
        except Exception as error:
            known = core.overdue(attempt_s) if scope is not None and scope.expired() else core.known(error)
            tally.failed(known)
            if known is error:
                raise
            raise known from error
