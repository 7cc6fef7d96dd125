"""Put a report beside its rows."""

from __future__ import annotations

from pathlib import Path

from yesno.bench.markdown import markdown_of
from yesno.bench.pages import page_of
from yesno.bench.reporting import Report
from yesno.calibration.files import write_whole

__all__ = ["MARKDOWN", "PAGE", "write_report"]

MARKDOWN = "report.md"
PAGE = "report.html"


def write_report(report: Report, folder: str | Path) -> tuple[Path, Path]:
    """Write `report.md` and `report.html` into a folder, each whole or not at all; return their paths.

    Raises:
        ConfigError: One cannot be written.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    write_whole(place / MARKDOWN, _text(markdown_of(report)))
    write_whole(place / PAGE, _text(page_of(report)))
    return place / MARKDOWN, place / PAGE


def _text(made: str) -> str:
    """Return a text that UTF-8 can hold: half of a surrogate pair, which JSON can have, becomes its escape."""
    return made.encode("utf-8", "backslashreplace").decode("utf-8")
