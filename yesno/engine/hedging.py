"""Send an equal request beside one that takes long, and take the first good answer."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from yesno.engine.durations import Durations
from yesno.errors import ConfigError, ProviderError

__all__ = ["Hedge", "checked_hedge", "raced"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Hedge:
    """When to send a request a second time without waiting for its reply any longer.

    The first good answer is taken and the other request is cancelled. A second request is one of the retries that the
    `RetryPolicy`'s budget allows, and is sent only when there is a free place and it fits into the `Budget`; else the
    first is waited for. It costs what a request costs, and what the provider charges for the cancelled one is unknown.

    Raises:
        ConfigError: A number is out of its range.
    """

    after_s: float | None = None
    """Seconds after which the second request goes out; by default as many as `percentile` says."""
    percentile: float = 95.0
    """Percent (0 to 100) of the newest replies of this model that came sooner than the second request goes out. Until
    twenty are known, none does."""

    def __post_init__(self) -> None:
        if self.after_s is not None and not _is_number(self.after_s, 0, math.inf):
            raise ConfigError(f"`after_s` must be a number of seconds above 0, not {self.after_s!r}")
        if not _is_number(self.percentile, 0, 100):
            raise ConfigError(f"`percentile` must be between 0 and 100, not {self.percentile!r}")

    def delay_s(self, durations: Durations) -> float | None:
        """Return the seconds to wait before the second request; None for no second one."""
        return durations.percentile(self.percentile) if self.after_s is None else self.after_s


def checked_hedge(value: Any, *, provider: str, remote: bool) -> Hedge | None:  # noqa: ANN401 - the check is the point
    """Return the policy for what a model was given as `hedge`.

    Raises:
        ConfigError: It is none, or the provider answers in this process, where it would do the same work twice.
    """
    if value is None or isinstance(value, Hedge):
        hedge = value
    elif _is_number(value, 0, math.inf):
        hedge = Hedge(after_s=value)
    else:
        raise ConfigError(f"`hedge` must be a number of seconds above 0 or a Hedge, not {value!r}")
    if hedge is not None and not remote:
        raise ConfigError(
            f"provider {provider!r} runs in this process, where a second request would do the same work again; "
            "leave out `hedge`"
        )
    return hedge


async def raced(
    first: Callable[[], Awaitable[T]], second: Callable[[], Awaitable[T | None]], delay_s: float
) -> T:
    """Return what comes first: the result of `first`, or that of `second`, begun `delay_s` seconds later.

    One that fails leaves the field to the other, unless its failure is final. When both fail, the failure of `first`
    is raised. Both have ended, cancelled if need be, when this returns.

    Args:
        first: Sends the request.
        second: Sends it once more; None when it may not.
        delay_s: Seconds.
    """
    import asyncio

    one: asyncio.Future[Any] = asyncio.ensure_future(first())
    tasks = [one]
    try:
        done, pending = await asyncio.wait(tasks, timeout=delay_s)
        if not done:
            tasks.append(asyncio.ensure_future(second()))
            pending = set(tasks)
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for task in [task for task in tasks if task in done]:
                failure = task.exception()
                if failure is None and task.result() is not None:
                    return task.result()  # type: ignore[no-any-return]  # a future of either kind
                if failure is not None and not _may_pass(failure):
                    raise failure
        return one.result()  # type: ignore[no-any-return]  # as above
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled():
                task.exception()  # seen, so that the event loop does not report the one nobody waits for


def _may_pass(failure: BaseException) -> bool:
    return isinstance(failure, ProviderError) and failure.retryable


def _is_number(value: Any, least: float, most: float) -> bool:  # noqa: ANN401 - the check is the point
    return isinstance(value, int | float) and not isinstance(value, bool) and least < value < most
