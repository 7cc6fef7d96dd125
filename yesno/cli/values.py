"""From the words of an option to its value; a word that is none is named, with the close match."""

from __future__ import annotations

import csv
import difflib
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from yesno.prices import Price

__all__ = ["names", "number", "orders", "price", "whole", "word"]


def number(text: str) -> float:
    """Return a number; `inf` is one."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number") from None


def whole(text: str) -> int:
    """Return a whole number."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number") from None


def orders(text: str) -> int | str:
    """Return a whole number, or `auto`."""
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a whole number nor auto") from None


def word(*known: str) -> Callable[[str], str]:
    """Return what takes one of these words and nothing else."""

    def read(text: str) -> str:
        if text in known:
            return text
        close = difflib.get_close_matches(text.lower(), known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"
        raise typer.BadParameter(f"{text!r} is unknown; {hint}")

    return read


def price(text: str) -> Price:
    """Return a price from dollars per million tokens: `input,output` or `input,output,cached input`."""
    from yesno.prices import Price

    parts = [number(part.strip()) for part in text.split(",")]
    if len(parts) not in (2, 3):
        raise typer.BadParameter(f"{text!r} is not of the form INPUT,OUTPUT or INPUT,OUTPUT,CACHED")
    if not all(0 <= part < math.inf for part in parts):
        raise typer.BadParameter(f"{text!r} holds something else than numbers of at least 0")
    given, written, *cached = parts
    return Price(given, written, cached[0] if cached else None, source="--price")


def names(texts: Sequence[str] | None) -> list[str]:
    """Return the names in lists separated by commas; a name that holds one goes in double quotes."""
    return [name.strip() for line in csv.reader(texts or ()) for name in line if name.strip()]
