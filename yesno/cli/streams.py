"""The files that `yesno map` reads and writes."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

from yesno._rows import LONGEST_CELL, Format, Row
from yesno.cli.resuming import Part, checked_part, whole_part
from yesno.errors import ConfigError, QuestionError
from yesno.questions import Question

__all__ = ["Lines", "after", "check_files", "opened", "sink"]


@dataclass(slots=True)
class Lines:
    """The lines of an input that is open."""

    texts: TextIOWrapper
    size: int | None = None
    """Bytes in all; None where nobody knows."""
    read: int = 0
    """Bytes in the lines that were taken."""

    def __iter__(self) -> Iterator[str]:
        for line in self.texts:
            self.read += len(line.encode("utf-8", "surrogateescape"))
            yield line


def check_files(source: Path | None, output: Path | None, *, resume: bool, overwrite: bool) -> None:
    """Refuse to wait for a terminal, to write over the input, or to write over an output unasked.

    Raises:
        QuestionError: There is no input, or options contradict each other.
        ConfigError: The output is the input, or is there already.
    """
    if source is None and sys.stdin.isatty():
        raise QuestionError("there is no input; name a file, or give the rows on standard input")
    if output is None:
        if resume or overwrite:
            raise QuestionError("--resume and --overwrite need an --output file")
        return
    if resume and overwrite:
        raise QuestionError("give either --resume or --overwrite, not both")
    if output.exists():
        if source is not None and source.exists() and output.samefile(source):
            raise ConfigError(f"{str(output)!r} is the input; choose another --output")
        if not (resume or overwrite):
            raise ConfigError(f"{str(output)!r} is there already; add --resume to go on, or --overwrite")


@contextmanager
def opened(source: Path | None, form: Format) -> Iterator[Lines]:
    """Open a file, or standard input, for its lines; bytes that are no UTF-8 come as lone surrogates.

    Raises:
        ConfigError: The file cannot be read.
    """
    if form == "csv":
        csv.field_size_limit(LONGEST_CELL)
    try:
        file = sys.stdin.buffer if source is None else source.open("rb")
    except OSError as error:
        raise ConfigError(f"{str(source)!r} cannot be read: {error.strerror or error}") from error
    end = "" if form == "csv" else "\n"
    texts = TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline=end)
    size = source.stat().st_size if source is not None and source.is_file() else None
    try:
        yield Lines(texts, size)
    finally:
        texts.detach()  # or standard input is closed with it
        if source is not None:
            file.close()


def after(count: int, rows: Iterator[Row]) -> Iterator[Row]:
    """Return the rows behind the first ones.

    Raises:
        ConfigError: There are not so many.
    """
    for done in range(count):
        if next(rows, None) is None:
            raise ConfigError(
                f"the output file has {count:,} rows and the input only {done:,}; is it the same input?"
            )
    return rows


@contextmanager
def sink(
    output: Path | None,
    form: Format,
    questions: Mapping[str, Question[Any]],
    copied: Sequence[str],
    *,
    resume: bool,
) -> Iterator[tuple[Part, Callable[[str], None]]]:
    """Open a file, or standard output, and give the part that is whole and a function that writes a line behind it.

    Raises:
        ConfigError: The file cannot be written, or holds something else than the beginning of this run.
    """
    if output is None:
        yield Part(), _print
        return
    try:
        file: IO[bytes] = output.open("r+b" if resume and output.exists() else "wb")
    except OSError as error:
        raise ConfigError(f"{str(output)!r} cannot be written: {error.strerror or error}") from error
    with file:
        part = Part()
        if file.readable():
            part = checked_part(whole_part(file, form), questions, copied, form)
            file.seek(part.size)
            file.truncate()

        def write(line: str) -> None:
            try:
                file.write(line.encode())
                file.flush()
            except OSError as error:
                raise ConfigError(
                    f"{str(output)!r} cannot be written further: {error.strerror or error}; "
                    "--resume goes on behind its last whole row"
                ) from error

        yield part, write


def _print(line: str) -> None:
    sys.stdout.write(line)
    sys.stdout.flush()
