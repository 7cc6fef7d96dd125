"""When and how long to wait before trying again: the only place that retries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from yesno.errors import ProviderError

__all__ = ["RetryPolicy"]

T = TypeVar("T")

LONGEST_HINT_S = 120.0
"""A server that asks to wait longer is not waited for, as in openai 3.57.0 (2026-11)."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Try a call again when its error says that this may help.

    The wait is what the server asks for, else exponential with jitter from 0.5 to 20 seconds.
    """

    attempts: int = 4
    """Tries in all."""
    total_s: float = 60.0
    """Seconds after which no further try begins."""
    sleep: Callable[[float], None] | None = None
    asleep: Callable[[float], Awaitable[None]] | None = None
    """Replacements for waiting, so that tests need not wait."""

    def call(self, send: Callable[[], T], *, deadline: float | None = None) -> T:
        """Call until it succeeds, the error is final, or tries or time are used up.

        Args:
            send: What to call.
            deadline: Reading of `time.monotonic` after which no wait goes on; `send` is then called once more
                and is expected to say that time is up.
        """
        try:
            return send()
        except ProviderError as error:
            if not self._again(error):
                raise
            first = error
        return self._retry(send, first, deadline)

    async def acall(self, send: Callable[[], Awaitable[T]]) -> T:
        """Do what `call` does, awaited."""
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

        play = _after(first, send)
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(self._again),
            wait=_wait,
            stop=tenacity.stop_after_attempt(self.attempts) | tenacity.stop_before_delay(self.total_s),
            sleep=sleep,
            reraise=True,
        )
        return retrying(play)

    async def _aretry(self, send: Callable[[], Awaitable[T]], first: ProviderError) -> T:
        import asyncio

        import tenacity

        pending: list[ProviderError] = [first]

        async def play() -> T:
            if pending:
                raise pending.pop()
            return await send()

        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(self._again),
            wait=_wait,
            stop=tenacity.stop_after_attempt(self.attempts) | tenacity.stop_before_delay(self.total_s),
            sleep=self.asleep or asyncio.sleep,
            reraise=True,
        )
        return await retrying(play)


def _after(first: ProviderError, send: Callable[[], T]) -> Callable[[], T]:
    pending = [first]

    def play() -> T:
        if pending:
            raise pending.pop()
        return send()

    return play


def _wait(state: object) -> float:
    import tenacity

    assert isinstance(state, tenacity.RetryCallState)  # noqa: S101 - narrows for mypy
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, ProviderError) and error.retry_after is not None:
        return error.retry_after
    return tenacity.wait_exponential_jitter(multiplier=0.5, max=20)(state)
