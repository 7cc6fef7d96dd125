"""Give up what nobody waits for any more."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, TypeVar

from yesno.errors import RequestProblem

if TYPE_CHECKING:
    from starlette.types import Receive

__all__ = ["while_wanted"]

T = TypeVar("T")

PATIENCE_S = 0.1
"""Watching costs a task, which quick answers are spared."""


async def while_wanted(work: Awaitable[T], receive: Receive) -> T:
    """Return the result of some work, which is cancelled when the client goes before.

    Args:
        work: What to await.
        receive: The ASGI channel, whose body has been read to its end.

    Raises:
        RequestProblem: The client went.
    """
    loop = asyncio.get_running_loop()
    waiting = asyncio.current_task()
    watches: list[asyncio.Task[None]] = []
    gone = False

    async def watch() -> None:
        nonlocal gone
        while (await receive())["type"] != "http.disconnect":
            pass
        gone = True
        if waiting is not None:
            waiting.cancel()

    timer = loop.call_later(PATIENCE_S, lambda: watches.append(loop.create_task(watch())))
    try:
        return await work
    except asyncio.CancelledError:
        if waiting is None or not gone or waiting.uncancel():
            raise
        raise RequestProblem("the client went", status=499, kind="usage", code="client_gone") from None
    finally:
        timer.cancel()
        for task in watches:
            task.cancel()
