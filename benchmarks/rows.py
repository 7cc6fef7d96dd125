"""Rows of measurements, kept as JSON lines so that a run can go on where an earlier one stopped."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["Rows", "date_of", "keep", "kept", "now"]

Rows: TypeAlias = dict[tuple[str, str, str], dict[str, Any]]
"""What identifies a measurement -> what was measured."""


def kept(path: Path | None, key: tuple[str, str, str]) -> Rows:
    """Read the rows of an earlier run.

    A last line that was torn by an interruption is cut off the file, so that what is appended begins a line.

    Args:
        path: The file; None for none.
        key: The fields that identify a row.
    """
    if path is None or not path.exists():
        return {}
    whole = path.read_bytes()
    lines = whole[: whole.rfind(b"\n") + 1]
    if len(lines) < len(whole):
        path.write_bytes(lines)
    rows = [json.loads(line) for line in lines.decode("utf-8").splitlines()]
    first, second, third = key
    return {(row[first], row[second], row[third]): row for row in rows}


def keep(path: Path | None, row: dict[str, Any]) -> None:
    """Append one row."""
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def now() -> str:
    """Return the date and time of a measurement."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def date_of(rows: Rows) -> str:
    """Return the date of the newest row."""
    return max((row["at"] for row in rows.values()), default="no rows")[:10]
