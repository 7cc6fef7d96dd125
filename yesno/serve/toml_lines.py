"""Where in a TOML file a value stands; `tomllib` says so for syntax errors alone."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any, TypeAlias

__all__ = ["Place", "lines_of", "nearest_line"]

Place: TypeAlias = tuple[str | int, ...]
"""Keys and, in arrays of tables, numbers from the outside in, such as `("chat", "routes", "small", "model")`."""


def lines_of(text: str) -> dict[Place, int]:
    """Return the line, from 1, on which each key of a valid TOML document is first named.

    The document is cut into its statements, which `tomllib` reads one by one: a statement ends with the first line
    up to which it can be read.
    """
    found: dict[Place, int] = {}
    tables: dict[Place, int] = {}
    head: Place = ()
    first, kept = 1, ""
    for number, line in enumerate(text.split("\n"), start=1):
        kept += f"{line}\n"
        try:
            statement = tomllib.loads(kept)
        except tomllib.TOMLDecodeError:
            continue
        if kept.lstrip().startswith("["):
            head = _head(statement, tables, repeated=kept.lstrip().startswith("[["))
            _note(found, head, first)
        else:
            _note_all(found, head, statement, first)
        first, kept = number + 1, ""
    return found


def nearest_line(lines: dict[Place, int], place: Sequence[str | int]) -> int | None:
    """Return the line of a place, or of the innermost of what holds it that has one; None when nothing has."""
    for length in range(len(place), 0, -1):
        if (line := lines.get((*place[:length],))) is not None:
            return line
    return None


def _head(statement: dict[str, Any], tables: dict[Place, int], *, repeated: bool) -> Place:
    """Return the place that a table's header opens, counting the tables of an array."""
    place: Place = ()
    inside: Any = statement
    while inside:
        ((name, inside),) = inside.items()
        place = (*place, name)
        if isinstance(inside, list):
            break
        if inside and place in tables:  # the header goes on below the newest table of an array
            place = (*place, tables[place] - 1)
    if repeated:
        tables[place] = tables.get(place, 0) + 1
        place = (*place, tables[place] - 1)
    return place


def _note_all(found: dict[Place, int], head: Place, value: Any, line: int) -> None:  # noqa: ANN401 - any value
    if isinstance(value, dict):
        for name, inside in value.items():
            _note(found, (*head, name), line)
            _note_all(found, (*head, name), inside, line)


def _note(found: dict[Place, int], place: Place, line: int) -> None:
    for length in range(1, len(place) + 1):
        found.setdefault(place[:length], line)
