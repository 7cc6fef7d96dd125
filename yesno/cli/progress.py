"""What shows that something goes on, on standard error."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["AFTER_S", "download_progress", "late", "row_progress", "working"]

AFTER_S = 2.0
"""Seconds after which something shows that work goes on."""


@contextmanager
def late(
    start: Callable[[], None], stop: Callable[[], None], *, timer: Callable[..., Any] = threading.Timer
) -> Iterator[None]:
    """Start something when the block takes longer than `AFTER_S`, and then stop it at its end.

    Args:
        start: Called once, in another thread.
        stop: Called only after `start`.
        timer: Makes what calls a function after some seconds, as `threading.Timer` does.
    """
    lock = threading.Lock()
    over = started = False

    def begin() -> None:
        nonlocal started
        with lock:
            if not over:
                started = True
                start()

    waiting = timer(AFTER_S, begin)
    waiting.daemon = True
    waiting.start()
    try:
        yield
    finally:
        waiting.cancel()
        with lock:
            over = True
            if started:
                stop()


def download_progress() -> Callable[[int, int | None], None]:
    """Return a function that shows (bytes here, bytes in all) once bytes come in."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("fetching the model, once"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("download", total=None)

    def show(done: int, total: int | None) -> None:
        if not bar.live.is_started:
            bar.start()
            atexit.register(bar.stop)
        bar.update(task, completed=done, total=total)
        if total is not None and done >= total:
            bar.stop()

    return show


@contextmanager
def working(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Give a function that shows what goes on, on a terminal and once it takes long."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda text: None
        return
    status = console.status("opening the model")
    with late(status.start, status.stop):
        yield status.update


@contextmanager
def row_progress(size: int | None) -> Iterator[Callable[[int, int], None]]:
    """Give a function that shows (rows that are done, bytes of input that were read), on a terminal, if late.

    Args:
        size: Bytes of the input; None when nobody knows, as of a pipe.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda rows, read: None
        return
    bar = Progress(
        TextColumn("{task.fields[rows]:,} rows"),
        BarColumn(),
        TimeElapsedColumn(),
        *([] if size is None else [TextColumn("left"), TimeRemainingColumn()]),
        console=console,
        transient=True,
    )
    task = bar.add_task("rows", total=size, rows=0)
    with late(bar.start, bar.stop):
        yield lambda rows, read: bar.update(task, completed=read, rows=rows)
