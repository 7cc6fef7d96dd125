"""Warnings of the library that a user of the program must see, as lines on standard error."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["calibration_notes"]


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage() == "calibration_not_applied":
            print(f"yesno: not calibrated: {getattr(record, 'reason', '')}", file=sys.stderr)


@contextmanager
def calibration_notes() -> Iterator[None]:
    """Tell on standard error when a card that was given is not for an answer."""
    logger, notes = logging.getLogger("yesno.engine"), _Notes(logging.WARNING)
    logger.addHandler(notes)
    try:
        yield
    finally:
        logger.removeHandler(notes)
