"""When and how long to wait before trying again: the only place that retries."""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from yesno.engine.durations import Durations
from yesno.engine.retry_budget import RetryBudget
from yesno.errors import ConfigError, ProviderError, UnreadableReply

if TYPE_CHECKING:
    from tenacity import RetryCallState

__all__ = ["RetryPolicy"]

T = TypeVar("T")

LONGEST_HINT_S = 120.0
"""A server that asks to wait longer is not waited for, as in openai 3.57.0 (2026-11)."""
LONGEST_WAIT_S = 20.0
"""The longest wait that the server did not ask for."""
GROWTH = 1.5
UNREACHED_ATTEMPTS = 4
"""Most tries where nobody answers at all: a wrong address or a server that is down stays so for longer than tries take."""
AT_ONCE_S = 0.1
"""The longest wait before a second try when no reply came; a little jitter parts those that failed together."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Try a call again when its error says that this may help.

    The wait is what the server asks for, else exponential with jitter: at first half a second, then half as long again
    each time, 20 seconds at most. When no reply came, or one that broke off, the second try comes at once: nothing says
    that the server has too much to do. With all eight tries it takes about a quarter of a minute to give up.
    """

    attempts: int = 8
    """Tries in all; no more than four where no connection was made."""
    total_s: float = 60.0
    """Seconds after which no further try begins."""
    attempt_timeout_s: float | None = None
    """Seconds that one try may take, its body included. By default half of what the decision may take, so that there
    is time for a second one; and once twenty replies are known, six times as long as 95 % of the newest took, two
    seconds at least, and twice as long for each try before it that no reply came to. `math.inf` for no limit of its own."""
    budget: RetryBudget = field(default_factory=RetryBudget, compare=False)
    """How many retries there may be in all; one for every model that this policy is passed to."""
    sleep: Callable[[float], None] | None = None
    asleep: Callable[[float], Awaitable[None]] | None = None
    """Replacements for waiting, so that tests need not wait."""

    def __post_init__(self) -> None:
        limit = self.attempt_timeout_s
        if limit is not None and (isinstance(limit, bool) or not limit > 0):
            raise ConfigError(f"`attempt_timeout_s` must be a number above 0, not {limit!r}")

    def attempt_s(self, timeout_s: float | None) -> float | None:
        """Return the seconds that one try of a decision may take; None for no limit of its own."""
        if self.attempt_timeout_s is not None:
            return None if self.attempt_timeout_s == math.inf else self.attempt_timeout_s
        return None if timeout_s is None else timeout_s / 2

    def patience_s(self, attempt_s: float | None, durations: Durations, unanswered: int) -> float | None:
        """Return the seconds for a try that has `attempt_s` at most, by how long replies took and how many tries got none."""
        if attempt_s is None or self.attempt_timeout_s is not None:
            return attempt_s
        usual = durations.patience_s(unanswered)
        return attempt_s if usual is None else min(attempt_s, usual)

    def call(self, send: Callable[[], T], *, deadline: float | None = None) -> T:
        """Call until it succeeds, the error is final, or tries or time are used up.

        Args:
            send: What to call.
            deadline: Reading of `time.monotonic` after which no wait goes on; `send` is then called once more
                and is expected to say that time is up.
        """
        self.budget.earn()
        try:
            return send()
        except ProviderError as error:
            if not self._again(error):
                raise
            first = error
        return self._retry(send, first, deadline)

    async def acall(self, send: Callable[[], Awaitable[T]]) -> T:
        """Do what `call` does, awaited."""
        self.budget.earn()
        try:
            return await send()
        except ProviderError as error:
            if not self._again(error):
                raise
            first = error
        return await self._aretry(send, first)

    def _again(self, error: BaseException) -> bool:
        if not isinstance(error, ProviderError) or not error.retryable or self.attempts < 2:
            return False
        return error.retry_after is None or error.retry_after <= min(LONGEST_HINT_S, self.total_s)

    # tenacity is imported and set up only once something has failed: that costs more than a decision

    def _retry(self, send: Callable[[], T], first: ProviderError, deadline: float | None) -> T:
        import time

        import tenacity

        def sleep(seconds: float) -> None:
            left = seconds if deadline is None else min(seconds, max(0.0, deadline - time.monotonic()))
            (self.sleep or time.sleep)(left)

        pending = [first]

        def play() -> T:
            if pending:
                raise pending.pop()
            return send()

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(self._again),
            wait=_wait,
            stop=self._stop(),
            sleep=sleep,
            reraise=True,
        )
        return retrying(play)

    async def _aretry(self, send: Callable[[], Awaitable[T]], first: ProviderError) -> T:
        import asyncio

        import tenacity

        pending = [first]

        async def play() -> T:
            if pending:
                raise pending.pop()
            return await send()

        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(self._again),
            wait=_wait,
            stop=self._stop(),
            sleep=self.asleep or asyncio.sleep,
            reraise=True,
        )
        return await retrying(play)

    def _stop(self) -> Callable[[RetryCallState], bool]:
        import tenacity

        ended = tenacity.stop_after_attempt(self.attempts) | tenacity.stop_before_delay(self.total_s)
        # the budget is asked last: it pays only for tries that are made
        return lambda state: ended(state) or _is_nobody_there(state) or not self.budget.take()


def _is_nobody_there(state: RetryCallState) -> bool:
    error = state.outcome.exception() if state.outcome else None
    reached = not isinstance(error, ProviderError) or error.reached
    return not reached and state.attempt_number >= UNREACHED_ATTEMPTS


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, ProviderError) and error.retry_after is not None:
        return error.retry_after
    unanswered = isinstance(error, UnreadableReply) or getattr(error, "status", None) is None
    if unanswered and state.attempt_number == 1:
        return AT_ONCE_S * random.random()  # noqa: S311 - jitter
    longest = min(LONGEST_WAIT_S, 0.5 * GROWTH ** (state.attempt_number - 1))
    return longest * (1 - 0.25 * random.random())  # noqa: S311 - jitter
