"""Run tools: in this thread, in threads, or in an event loop. The only place of this room that does."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from yesno.errors import ConfigError
from yesno.toolcalls.binding import Binding
from yesno.tools import ToolContext

__all__ = ["Done", "Job", "acall_each", "arun_jobs", "refuse_inside_a_loop", "run_jobs"]

T = TypeVar("T")

_GRACE_S = 1.0
"""Seconds that a cancelled coroutine has to clean up."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a tool."""

    binding: Binding
    values: Mapping[str, Any] = field(repr=False)
    context: ToolContext
    timeout_s: float | None

    def start(self) -> Any:  # noqa: ANN401 - the tool's result
        """Call the tool, to the end of its generator if it is one; the result may have to be awaited."""
        return _gathered(self.binding.call(self.values, self.context))


@dataclass(frozen=True, slots=True)
class Done:
    """What a run gave: a value, or what it raised, or that its time was over."""

    value: Any = field(default=None, repr=False)
    error: Exception | None = None
    timed_out: bool = False
    seconds: float = 0.0


def refuse_inside_a_loop(jobs: Sequence[Job]) -> None:
    """Refuse to run asynchronous tools where an event loop is running already.

    Raises:
        ConfigError: It is, and one of the tools is asynchronous.
    """
    if not any(job.binding.is_async for job in jobs):
        return
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise ConfigError(
        "an asynchronous tool cannot be run in blocking form inside a running event loop; use `aexecute_tool_calls` "
        "with an AsyncDecisionModel"
    )


def run_jobs(jobs: Sequence[Job]) -> list[Done]:
    """Run tools, several at once when there are several, and return what each gave, in their order.

    A tool that does not finish in time goes on in its thread, which cannot be stopped, while its `Done` says so.
    `SystemExit` and the like come through.
    """
    if len(jobs) == 1:
        return [_timed(jobs[0])]
    futures = [_in_thread(partial(_timed, job)) for job in jobs]
    return [future.result() for future in futures]


async def arun_jobs(jobs: Sequence[Job]) -> list[Done]:
    """Do what `run_jobs` does in an event loop: coroutines are awaited, blocking tools run in threads."""
    if len(jobs) == 1:
        return [await _atimed(jobs[0])]
    return list(await asyncio.gather(*map(_atimed, jobs)))


async def acall_each(function: Callable[[T], Any], values: Sequence[T]) -> list[Any]:
    """Call a function with each value, all at once, in threads; what has to be awaited is.

    What it raises comes through.
    """

    async def result(value: T) -> Any:  # noqa: ANN401 - the function's result
        done = await asyncio.wrap_future(_in_thread(partial(_kept, partial(function, value))))
        if done.error is not None:
            raise done.error
        return await done.value if inspect.isawaitable(done.value) else done.value

    return list(await asyncio.gather(*map(result, values)))


def _timed(job: Job) -> Done:
    begun = time.perf_counter()
    if job.timeout_s is None:
        done = _kept(lambda: _awaited(job.start()))
    else:
        future = _in_thread(lambda: _kept(lambda: _awaited(job.start(), job.timeout_s)))
        # a coroutine ends itself in time and cleans up; only one that blocks is left in its thread
        finished, _ = wait([future], job.timeout_s + (_GRACE_S if job.binding.is_async else 0.0))
        done = future.result() if finished else Done(timed_out=True)
    return _with_seconds(done, begun)


async def _atimed(job: Job) -> Done:
    begun = time.perf_counter()
    if job.timeout_s is None:
        return _with_seconds(await _adone(job), begun)
    task = asyncio.ensure_future(_adone(job))
    try:
        finished, _ = await asyncio.wait({task}, timeout=job.timeout_s)
        if finished:
            return _with_seconds(task.result(), begun)
        task.cancel()
        await asyncio.wait({task}, timeout=_GRACE_S)
        return _with_seconds(Done(timed_out=True), begun)
    finally:
        task.cancel()


async def _adone(job: Job) -> Done:
    if job.binding.is_async:
        done = _kept(job.start)
    else:  # kept in the thread: a future of asyncio cannot carry every exception, such as StopIteration
        done = await asyncio.wrap_future(_in_thread(partial(_kept, job.start)))
    return await _akept(_finished(done.value)) if _is_unfinished(done.value) else done


class _LateError(Exception):
    """A coroutine did not finish in its time."""


def _kept(work: Callable[[], Any]) -> Done:
    try:
        return Done(work())
    except _LateError:
        return Done(timed_out=True)
    except Exception as error:  # noqa: BLE001 - a tool may raise anything, and the others have to run
        return Done(error=error)


async def _akept(work: Awaitable[Any]) -> Done:
    try:
        return Done(await work)
    except Exception as error:  # noqa: BLE001 - a tool may raise anything, and the others have to run
        return Done(error=error)


def _awaited(value: Any, timeout_s: float | None = None) -> Any:  # noqa: ANN401 - the tool's result
    """Await what has to be, in a loop of its own."""
    if not _is_unfinished(value):
        return value

    async def finish() -> Any:  # noqa: ANN401 - the tool's result
        try:
            async with asyncio.timeout(timeout_s) as scope:
                return await _finished(value)
        except TimeoutError:
            if scope.expired():  # a coroutine that is late is cancelled, not left behind
                raise _LateError from None
            raise

    work = finish()
    try:
        return asyncio.run(work)
    except RuntimeError:
        work.close()
        if inspect.iscoroutine(value):
            value.close()
        raise


def _is_unfinished(value: object) -> bool:
    return inspect.isawaitable(value) or inspect.isasyncgen(value)


async def _finished(value: Any) -> Any:  # noqa: ANN401 - the tool's result
    if inspect.isawaitable(value):
        value = await value
    return [item async for item in value] if inspect.isasyncgen(value) else _gathered(value)


def _gathered(value: Any) -> Any:  # noqa: ANN401 - the tool's result
    """Return all that a generator yields, so that it works while the tool runs and not when its result is read."""
    return list(value) if inspect.isgenerator(value) else value


def _in_thread(work: Callable[[], T]) -> Future[T]:
    """Run work in a thread that does not keep the program from ending."""
    future: Future[T] = Future()
    inherited = contextvars.copy_context()

    def go() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = inherited.run(work)
        except BaseException as error:  # noqa: BLE001 - carried to the thread that waits
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=go, name="yesno-tool", daemon=True).start()
    return future


def _with_seconds(done: Done, begun: float) -> Done:
    return Done(done.value, done.error, done.timed_out, time.perf_counter() - begun)
