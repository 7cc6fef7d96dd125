"""Labelled items from JSON lines, CSV, Parquet and JevBench files, each problem with the number of its row."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from yesno._rows import LONGEST_CELL, Row, csv_rows, json_rows
from yesno.errors import ConfigError, QuestionError
from yesno.labelled.item import Asked, Item, kind_of
from yesno.labelled.parsing import item_from
from yesno.messages.message import Message
from yesno.questions import Choice, Scale, YesNo

__all__ = ["LabelledSet", "lines_of", "load_set", "set_of"]


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """The items of a file, in its order."""

    name: str
    items: tuple[Item, ...] = field(repr=False)
    version: str
    """SHA-256 of all that is asked and labelled in the whole file, whatever its format and whichever split is taken."""
    path: str | None = field(default=None, compare=False)
    """The file, as it was named."""


def load_set(
    path: str | Path, *, question: Asked | None = None, name: str | None = None, split: str | None = None
) -> LabelledSet:
    """Read the labelled items of a file: `.csv`, `.parquet`, and JSON lines for everything else.

    A row has `input` (a text, an object or a list of messages; `messages` will do) and `label`; further `id` (by
    default `row-N`), `group`, `split`, `question` and `label_dist`, shares in the order of the options. A `question`
    is a text, or an object with `type` (`yesno`, `choice`, `scale`), `text`, and `yes_when` and `no_when`, `options`
    (names, or objects with `name` and `description`) and `none`, or `levels` (names, or objects with `value` and
    `name`). In CSV and Parquet it may be a JSON object in a cell, or spread over columns `question`, `type`,
    `options`, `levels`, `none`, `yes_when`, `no_when`, lists as JSON. Rows of JevBench (`state`, `question.criteria`,
    `expected`) are known by their fields.

    Args:
        path: The file.
        question: What is asked of rows without a question of their own.
        name: Name of the set, by default that of the file.
        split: Take only the items of this part.

    Raises:
        ConfigError: The file cannot be read, a row has no label or one that is not among its options, an id is there
            twice, or nothing is left; the message names the row.
    """
    place = Path(path)
    loaded = set_of(lines_of(place), name or place.stem, question=question, where=str(path))
    loaded = replace(loaded, path=str(path))
    if split is None:
        return loaded
    kept = tuple(item for item in loaded.items if item.split == split)
    if not kept:
        known = sorted({item.split for item in loaded.items if item.split is not None})
        raise ConfigError(
            f"{str(path)!r} has no items of the split {split!r}; it has {', '.join(known) or 'none'}"
        )
    return replace(loaded, items=kept)


def set_of(
    rows: Iterable[Row], name: str, *, question: Asked | None = None, where: str | None = None
) -> LabelledSet:
    """Return the labelled items of rows; see `load_set`.

    Args:
        rows: As read.
        name: Name of the set.
        question: What is asked of rows without a question of their own.
        where: What the rows came from, for messages; by default the name.
    """
    place = repr(where or name)
    items: list[Item] = []
    numbers: dict[str, int] = {}
    digest = hashlib.sha256()
    for row in rows:
        try:
            item = item_from(row, question)
        except (ConfigError, QuestionError) as error:
            raise ConfigError(f"{place}, row {row.number}: {error}") from None
        if item.id in numbers:
            raise ConfigError(
                f"{place}, row {row.number}: the id {item.id!r} is that of row {numbers[item.id]} too; "
                "an id must be there once"
            )
        numbers[item.id] = row.number
        items.append(item)
        digest.update(_stamp(item))
    if not items:
        raise ConfigError(f"{place} has no rows")
    return LabelledSet(name, tuple(items), digest.hexdigest())


def lines_of(path: Path) -> Iterator[Row]:
    """Yield the rows of a file as they are, by its name CSV, Parquet or JSON lines.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        match path.suffix.lower():
            case ".parquet":
                yield from _parquet_rows(path)
            case ".csv":
                csv.field_size_limit(LONGEST_CELL)
                with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
                    yield from csv_rows(file)
            case _:
                with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="\n") as file:
                    yield from json_rows(file)
    except OSError as error:
        raise ConfigError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error


def _parquet_rows(path: Path) -> Iterator[Row]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ConfigError("reading Parquet needs pyarrow; pip install 'yesno[bench]'") from error
    try:
        number = 0
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1024):
                for value in batch.to_pylist():
                    number += 1
                    yield Row(number, value)
    except pyarrow.ArrowException as error:
        raise ConfigError(
            f"{str(path)!r} is no Parquet file that can be read: {type(error).__name__}"
        ) from error


def _stamp(item: Item) -> bytes:
    """Return what makes an item what it is, as bytes that are the same in every format."""
    question = item.question
    asked: list[Any] = [kind_of(question), question.text]
    match question:
        case YesNo():
            asked += [question.yes_when, question.no_when]
        case Choice():
            asked += [[*question.options.items()], question.none]
        case Scale():
            asked.append(question.levels)
    shares = None if item.shares is None else [round(share, 9) for share in item.shares]
    parts = [item.id, item.group, item.input, asked, item.label, shares]
    return json.dumps(parts, ensure_ascii=True, sort_keys=True, default=_plain).encode() + b"\n"


def _plain(value: Any) -> Any:  # noqa: ANN401 - a message, or a part of one
    return value.as_dict() if isinstance(value, Message) else dict(value)
