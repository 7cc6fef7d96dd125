"""Shorten a text in its middle, without splitting what a reader sees as one character."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regex import Pattern

__all__ = ["shortened"]

_NOTE = "\n[{} characters of this text were left out here; only its beginning and its end are shown]\n"
_NOT_ALONE = "\u0e33\u0eb3"
"""Letters that belong to the one before them (Thai and Lao AM)."""
_NOT_LAST = "\u0d4e"
"""A letter that belongs to the one after it (Malayalam dot reph)."""
_LAST_PLAIN = "\ud7af"
"""Letters up to here stand alone, but for the above and the parts of Hangul syllables."""


def shortened(text: str, limit: int) -> str:
    """Return a text with its middle replaced by a note when it has more than `limit` characters.

    Keeps `ceil(limit / 2)` characters of the beginning and `floor(limit / 2)` of the end, or a little less where
    that would split a character made of several (accents, emoji sequences, surrogate pairs). The note says how
    many were removed, and is not counted.

    Args:
        text: Any text, lone surrogates included.
        limit: Characters (code points) to keep, 1 or more.
    """
    if len(text) <= limit:
        return text
    head = _whole(text, limit - limit // 2)[0]
    tail = _whole(text, len(text) - limit // 2)[1]
    return text[:head] + _NOTE.format(tail - head) + text[tail:]


def _whole(text: str, at: int) -> tuple[int, int]:
    """Return the start and end of the visible character that a cut at `at` would split; twice `at` when none."""
    if at in (0, len(text)) or _apart(text[at - 1], text[at]):
        return at, at
    if "\ud800" <= text[at - 1] <= "\udbff" and "\udc00" <= text[at] <= "\udfff":
        return at - 1, at + 1
    start = at - 1
    while start and not _apart(text[start - 1], text[start]):
        start -= 1
    for found in _clusters().finditer(text, start):
        if found.end() > at:
            return (found.start(), found.end()) if found.start() < at else (at, at)
    return at, at


def _apart(one: str, other: str) -> bool:
    """Return whether two neighbours certainly belong to different visible characters."""
    if one == "\n":
        return True
    return _is_plain(one) and _is_plain(other) and one not in _NOT_LAST and other not in _NOT_ALONE


def _is_plain(letter: str) -> bool:
    if " " <= letter <= "~":
        return True
    jamo = "\u1100" <= letter <= "\u11ff" or "\ua960" <= letter <= "\ua97f"
    return letter <= _LAST_PLAIN and letter.isalnum() and not jamo


@cache
def _clusters() -> Pattern[str]:
    import regex  # only texts beyond plain letters need it

    return regex.compile(r"\X")
