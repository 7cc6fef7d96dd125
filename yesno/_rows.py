"""From the lines of a JSONL or CSV file to inputs, one row at a time; a row that cannot be read says why."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from yesno._json import JSONFault, strict_json
from yesno.errors import ConfigError, QuestionError

__all__ = ["LONGEST_CELL", "Format", "Row", "csv_rows", "json_rows", "picked"]

Format: TypeAlias = Literal["jsonl", "csv"]
LONGEST_CELL = 2**31 - 1
"""Characters that a CSV cell may have; the csv module's own limit is 131,072."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the input."""

    number: int
    """From 1; blank lines and the header of a CSV file are not rows."""
    value: Any = field(default=None, repr=False)
    """A text, a mapping or a list of messages; None when the row cannot be read."""
    problem: str | None = None
    """Why it cannot be read, without its content."""


def json_rows(lines: Iterable[str]) -> Iterator[Row]:
    """Yield the row of each line that is not blank."""
    number = 0
    for line in lines:
        if line.strip():
            number += 1
            yield _json_row(number, line)


def csv_rows(lines: Iterable[str], needed: Sequence[str] = ()) -> Iterator[Row]:
    """Yield the rows below a header as mappings of texts.

    Args:
        lines: With their line breaks, as the csv module wants them.
        needed: Columns that the header must have.

    Raises:
        ConfigError: There is no header, it lacks a column or has one twice, or the lines are no CSV.
    """
    cells = csv.reader(lines, strict=True)
    number = 0
    try:
        header = _header(next(cells, []), needed)
        for row in cells:
            if row:
                number += 1
                yield _csv_row(number, header, row)
    except csv.Error as error:
        raise ConfigError(f"the input is not CSV after row {number}: {error}") from error


def picked(row: Row, *, text_field: str | None = None, fields: Sequence[str] = ()) -> Any:  # noqa: ANN401
    """Return what to ask about in a row: one of its fields, some of them, or all of it.

    Raises:
        QuestionError: The row cannot be read, or lacks a field.
    """
    if row.problem is not None:
        raise QuestionError(row.problem)
    if text_field is not None:
        return _of(row, text_field)
    if fields:
        return {name: _of(row, name) for name in fields}
    return row.value


def _json_row(number: int, line: str) -> Row:
    if not _is_text(line):
        return Row(number, problem="it is not UTF-8 text")
    try:
        return Row(number, strict_json(line))
    except JSONFault as fault:
        if fault.kind == "constant":
            return Row(number, problem=f"it is not JSON: it has {fault.name}, which is no number there")
        place = f", column {fault.at.colno}: {fault.at.msg}" if fault.at is not None else f": {fault}"
        return Row(number, problem=f"it is not JSON{place}")


def _header(names: list[str], needed: Sequence[str]) -> list[str]:
    if not names:
        raise ConfigError("the input has no CSV header; its first line must name the columns")
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ConfigError(f"the CSV header names a column twice: {', '.join(map(repr, sorted(twice)))}")
    for name in needed:
        if name not in names:
            raise ConfigError(f"the CSV header has no column {name!r}; {_hint(name, names)}")
    return names


def _csv_row(number: int, header: list[str], cells: list[str]) -> Row:
    if len(cells) != len(header):
        return Row(number, problem=f"it has {len(cells)} cells, and the header has {len(header)}")
    if not all(map(_is_text, cells)):
        return Row(number, problem="it is not UTF-8 text")
    return Row(number, dict(zip(header, cells, strict=True)))


def _is_text(line: str) -> bool:
    # bytes that are no UTF-8 come as lone surrogates, which cannot be encoded again
    try:
        line.encode()
    except UnicodeEncodeError:
        return False
    return True


def _of(row: Row, name: str) -> Any:  # noqa: ANN401 - any JSON value
    if not isinstance(row.value, Mapping):
        raise QuestionError(f"it has no fields, so no {name!r}")
    if name not in row.value:
        raise QuestionError(f"it has no field {name!r}; {_hint(name, list(row.value))}")
    return row.value[name]


def _hint(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"it has {', '.join(map(repr, known))}" if known else "it has none"
