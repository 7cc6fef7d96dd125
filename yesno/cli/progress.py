"""What shows that something goes on, on standard error."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["download_progress", "working"]


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
    """Give a function that shows what goes on, on a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda text: None
        return
    with console.status("opening the model") as status:
        yield status.update
