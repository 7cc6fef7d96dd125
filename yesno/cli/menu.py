"""Choose with the arrow keys, where there is a terminal that has them."""

from __future__ import annotations

import os
import re
import select
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["has_keys", "picked"]

_KEY = re.compile(rb"\x1b[\[O][A-D]|[\x00-\xff]", re.DOTALL)
_MOVES = {b"A": -1, b"D": -1, b"k": -1, b"B": 1, b"C": 1, b"j": 1, b"\t": 1}
_ENTER_AFTER_S = 0.2
"""Within this time an Enter belongs to the letter before it, as after a typed answer."""


def has_keys(console: Console) -> bool:
    """Return whether single keys can be read and the choice be shown: not on Windows, in a pipe or a dumb terminal."""
    if not console.is_terminal or console.is_dumb_terminal or find_spec("termios") is None:
        return False
    try:
        return os.isatty(sys.stdin.fileno())
    except (OSError, ValueError):  # standard input that is no file
        return False


def picked(console: Console, options: Sequence[tuple[str, str]], *, start: int) -> int:
    """Return the place of the option that is chosen with the arrows and Enter, or with its letter.

    What was typed before the options were shown is dropped.

    Args:
        console: Where they are shown; they are gone afterwards.
        options: Letter and text of each.
        start: The one that Enter alone chooses.

    Raises:
        EOFError: Ctrl-D was pressed, or the terminal is gone.
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    from rich.live import Live

    letters = [letter.encode() for letter, _ in options]
    with _single_keys() as keys, Live(console=console, auto_refresh=False, transient=True) as live:
        live.update(_shown(options, start), refresh=True)
        for key in keys:
            if key in (b"\r", b"\n"):
                break
            if key.lower() in letters:
                start = letters.index(key.lower())
                _drop_enter()
                break
            move = _MOVES.get(key[-1:] if len(key) > 1 else key.lower(), 0)
            start = max(0, min(len(options) - 1, start + move))
            live.update(_shown(options, start), refresh=True)
    return start


def _shown(options: Sequence[tuple[str, str]], chosen: int) -> Text:
    from rich.text import Text

    lines = [
        Text(f"  {text} ({letter})") if place != chosen else Text(f"> {text} ({letter})", "bold")
        for place, (letter, text) in enumerate(options)
    ]
    return Text("\n").join([*lines, Text("  arrows and Enter, or the letter", "dim")])


@contextmanager
def _single_keys() -> Iterator[Iterator[bytes]]:
    """Have the terminal give each key at once and show none; as before afterwards."""
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSAFLUSH)
    try:
        yield _keys(terminal)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _keys(terminal: int) -> Iterator[bytes]:
    while read := os.read(terminal, 32):
        for key in _KEY.findall(read):
            if key == b"\x04":
                raise EOFError
            yield key
    raise EOFError


def _drop_enter() -> None:
    terminal = sys.stdin.fileno()
    if select.select([terminal], [], [], _ENTER_AFTER_S)[0]:
        os.read(terminal, 1)
