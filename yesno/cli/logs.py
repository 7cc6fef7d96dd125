"""What the server logs, on standard error: lines of JSON, or lines to read on a terminal."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog

__all__ = ["log_to_stderr"]


def log_to_stderr(form: str) -> None:
    """Print what yesno logs from INFO on, and warnings of the web server.

    Args:
        form: `json`, `text`, or `auto` for text on a terminal and JSON elsewhere.
    """
    terminal = sys.stderr.isatty()
    as_text = form == "text" or (form == "auto" and terminal)
    renderer: Any = (
        structlog.dev.ConsoleRenderer(colors=terminal)
        if as_text
        else structlog.processors.JSONRenderer(ensure_ascii=False)
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[
                structlog.stdlib.add_logger_name,
                structlog.stdlib.add_log_level,
                structlog.stdlib.ExtraAdder(),
                structlog.processors.TimeStamper(fmt="iso", utc=True),
            ],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    for name, level in (("yesno", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.propagate = False
        logger.addHandler(handler)
