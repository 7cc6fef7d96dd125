"""Where an output file of `yesno map` that was cut off is whole, and whether this run can go on there."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from yesno._rows import Format
from yesno.cli.written import Questions, csv_header, csv_line
from yesno.errors import ConfigError

__all__ = ["Part", "checked_part", "whole_part"]


@dataclass(frozen=True, slots=True)
class Part:
    """The part of an output file that is whole."""

    rows: int = 0
    """Rows in it, a CSV header not counted."""
    size: int = 0
    """Its bytes, from the start of the file."""
    header: str | None = None
    """The CSV header, without its line break."""
    last: str | None = None
    """The last row."""
    rest: str = ""
    """What follows: a row that was cut off."""


def whole_part(lines: Iterable[bytes], to: Format) -> Part:
    """Return where a file that may have been cut off is whole.

    Args:
        lines: The file's lines with their line breaks, in order; only one row is held at a time.
        to: The format; in CSV a line break between double quotes does not end a row.
    """
    ends, size, read = 0, 0, 0
    header = last = None
    held: list[bytes] = []
    quoted = False
    for line in lines:
        held.append(line)
        read += len(line)
        quoted = (to == "csv") and quoted != bool(line.count(b'"') % 2)
        if not quoted and line.endswith(b"\n"):
            text = b"".join(held).decode("utf-8", "replace").rstrip("\r\n")
            header, last = (text, None) if to == "csv" and ends == 0 else (header, text)
            ends, size = ends + 1, read
            held.clear()
    rest = b"".join(held).decode("utf-8", "replace")
    return Part(max(0, ends - (to == "csv")), size, header, last, rest)


def checked_part(part: Part, questions: Questions, copied: Sequence[str], to: Format) -> Part:
    """Return the part of an output file when this run can go on behind it.

    Raises:
        ConfigError: It was written by a run with other questions or columns, or by something else.
    """
    try:
        fits = (_fits_csv if to == "csv" else _fits_json)(part, questions, copied)
    except (ValueError, TypeError, AttributeError, LookupError, csv.Error):
        fits = False
    if not fits:
        raise ConfigError(
            "the output file is not the beginning of this run: its questions, its columns or its row numbers "
            "differ; ask the same questions, or choose another --output"
        )
    return part


def _fits_json(part: Part, questions: Questions, copied: Sequence[str]) -> bool:
    if part.last is None:
        start = '{"row": 1, '
        return start.startswith(part.rest) or part.rest.startswith(start)
    last = json.loads(part.last)
    return (
        last["row"] == part.rows
        and list(last.get("answers", questions)) == list(questions)
        and list(last.get("copied", ())) == list(copied)
    )


def _fits_csv(part: Part, questions: Questions, copied: Sequence[str]) -> bool:
    header = csv_header(questions, copied)
    if part.header is None:
        return csv_line(header).startswith(part.rest)
    return _cells(part.header) == header and (part.last is None or int(_cells(part.last)[0]) == part.rows)


def _cells(text: str) -> list[str]:
    return next(csv.reader(io.StringIO(text, newline="")), [])
