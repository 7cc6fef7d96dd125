"""One try at sending one body, in a thread: in its place, on its budget, counted."""

from __future__ import annotations

from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from yesno.engine.metering import Tally
from yesno.engine.portal import Portal
from yesno.engine.waiting import LATE, Term, left_until, wait_for_place
from yesno.errors import ConfigError, DeadlineExceeded, ProviderError
from yesno.providers.base import Payload, Task

if TYPE_CHECKING:
    from yesno.engine.core import Core

__all__ = ["Tries", "wait_until"]


class Tries:
    """The tries of one model object, for threads."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._portal = Portal()
        if core.hedge is not None and not core.provider.cancellable:
            raise ConfigError(
                f"`hedge` cannot cancel a request of provider {core.provider.name!r} from another thread; give it an "
                "asynchronous form (`asend`, or `async_http_client` beside `http_client`), or leave out `hedge`"
            )

    def send(self, task: Task, payload: Payload, term: Term, tally: Tally) -> Payload:
        """Send a body, and a second time beside it when the model hedges.

        A request that was sent from a thread cannot be cancelled, so hedged ones go the provider's asynchronous way.
        """
        if self._core.hedge is None:
            return self.once(task, payload, term, tally)
        from yesno.engine.aio_tries import AsyncTries

        return self._portal.run(AsyncTries(self._core).send_until(task, payload, term, tally))

    def once(self, task: Task, payload: Payload, term: Term, tally: Tally) -> Payload:
        """Send a body once and return the body that comes back.

        Raises:
            DeadlineExceeded: There was no place or no reply in time.
        """
        core = self._core
        gate = core.gate(task.model_name)
        ticket = wait_for_place(gate, core.party, term.deadline)
        heard, failure = False, None
        try:
            if term.is_over:
                raise DeadlineExceeded(LATE)
            with core.delivery.bill(task, payload, partial(wait_until, term.deadline)) as bill:
                try_s = core.retry.patience_s(term.attempt_s, gate.durations, tally.unanswered)
                raw = bill.paid(self._send_now(payload, Term(term.deadline, try_s), tally))
            heard = True
            return raw
        except ProviderError as error:
            heard, failure = True, error
            raise
        finally:
            gate.leave(core.party, ticket, heard=heard, error=failure)

    def close(self) -> None:
        """End the thread of hedged requests, if there is one."""
        self._portal.close(self._core.provider.aclose)

    def _send_now(self, payload: Payload, term: Term, tally: Tally) -> Payload:
        core = self._core
        tally.begin()
        try:
            return core.provider.send(payload, timeout_s=term.next_try_s())
        except Exception as error:
            known = core.known(error)
            tally.failed(known)
            if term.is_over:
                raise DeadlineExceeded(LATE) from error
            if known is error:
                raise
            raise known from error


def wait_until(deadline: float | None, event: Event) -> None:
    """Wait for an event.

    Raises:
        DeadlineExceeded: It did not come before the deadline, a reading of `time.monotonic`.
    """
    if not event.wait(left_until(deadline)):
        raise DeadlineExceeded(LATE)
