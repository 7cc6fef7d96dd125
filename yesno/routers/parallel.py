"""Run functions at the same time: in threads, or in an event loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import copy_context
from inspect import isawaitable, iscoroutinefunction
from typing import Any

from yesno.errors import ConfigError

__all__ = ["acalled", "arun_each", "called", "is_coroutine_function", "refuse_awaitable", "run_each"]

Work = Callable[[], Any]


def run_each(calls: Mapping[str, Work], done: Callable[[str, Any], Any]) -> None:
    """Call all functions, in threads of their own when there are several.

    Args:
        calls: Name -> function without arguments.
        done: Told each name and result as it comes, in this thread.

    Raises:
        Exception: The first one in the order of `calls`, when all have ended.
    """
    from concurrent.futures import ThreadPoolExecutor, as_completed

    if len(calls) == 1:
        ((name, call),) = calls.items()
        done(name, called(call, name))
        return
    if not calls:
        return
    errors: dict[str, Exception] = {}
    pool = ThreadPoolExecutor(max_workers=len(calls), thread_name_prefix="yesno-agent")
    try:
        futures = {pool.submit(copy_context().run, called, call, name): name for name, call in calls.items()}
        for future in as_completed(futures):
            try:
                done(futures[future], future.result())
            except Exception as error:  # noqa: BLE001 - the others end first, then the first one by order is raised
                errors[futures[future]] = error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    for name in calls:
        if name in errors:
            raise errors[name]


async def arun_each(calls: Mapping[str, Work], done: Callable[[str, Any], Any]) -> None:
    """Do what `run_each` does in an event loop; functions that are not coroutines run in threads.

    Cancelling it cancels the coroutines and does not wait for the threads.
    """
    import anyio

    errors: dict[str, Exception] = {}

    async def one(name: str, call: Work) -> None:
        try:
            told = done(name, await acalled(call))
            if isawaitable(told):
                await told
        except Exception as error:  # noqa: BLE001 - as above
            errors[name] = error

    if len(calls) == 1:
        ((name, call),) = calls.items()
        await one(name, call)
    else:
        async with anyio.create_task_group() as group:
            for name, call in calls.items():
                group.start_soon(one, name, call)
    for name in calls:
        if name in errors:
            raise errors[name]


def called(call: Work, name: str) -> Any:  # noqa: ANN401 - what the function returns
    """Call a function that must not be a coroutine."""
    return refuse_awaitable(call(), name)


async def acalled(call: Work) -> Any:  # noqa: ANN401 - what the function returns
    """Await a coroutine function, call another one in a thread."""
    import anyio.to_thread

    if is_coroutine_function(getattr(call, "func", call)):
        result = call()
    else:
        result = await anyio.to_thread.run_sync(call, abandon_on_cancel=True)
    return await result if isawaitable(result) else result


def is_coroutine_function(call: Any) -> bool:  # noqa: ANN401 - any callable
    """Return whether calling something gives a coroutine, as far as that can be told before."""
    if iscoroutinefunction(call) or iscoroutinefunction(getattr(call, "__call__", None)):  # noqa: B004 - of objects
        return True
    return bool(getattr(getattr(call, "__self__", call), "is_coroutine", False))


def refuse_awaitable(result: Any, name: str) -> Any:  # noqa: ANN401 - what the function returned
    """Return a result that is no awaitable.

    Raises:
        ConfigError: It is one; it is closed.
    """
    if not isawaitable(result):
        return result
    close: Callable[[], None] | None = getattr(result, "close", None) or getattr(result, "cancel", None)
    if close is not None:
        close()
    raise ConfigError(f"{name!r} is asynchronous; give an AsyncDecisionModel as `model`, and await the call")
