"""An event loop in a thread of its own, for what a thread cannot cancel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio

__all__ = ["Portal"]

T = TypeVar("T")


class Portal:
    """Runs coroutines for threads; its own thread begins with the first one and ends with `close`."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what a coroutine returns; interrupting the wait cancels it."""
        import asyncio

        future = asyncio.run_coroutine_threadsafe(work, self._opened())
        try:
            return future.result()
        finally:
            future.cancel()

    def close(self, last: Callable[[], Awaitable[None]]) -> None:
        """Run `last` in the event loop, and end its thread; nothing when it never began."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        import asyncio

        async def end() -> None:
            mine = asyncio.current_task()
            others = [task for task in asyncio.all_tasks() if task is not mine]
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await last()

        try:
            asyncio.run_coroutine_threadsafe(end(), loop).result()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def _opened(self) -> asyncio.AbstractEventLoop:
        import asyncio

        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = Thread(target=self._loop.run_forever, name="yesno-hedges", daemon=True)
                self._thread.start()
            return self._loop
