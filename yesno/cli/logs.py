"""What the server logs, on standard error: lines of JSON, or lines to read on a terminal."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import structlog

if TYPE_CHECKING:
    from yesno.serve.access import LogLine

__all__ = ["log_to_stderr"]


def log_to_stderr(form: str) -> LogLine | None:
    """Print what yesno logs from INFO on, and warnings of the web server.

    Args:
        form: `json`, `text`, or `auto` for text on a terminal and JSON elsewhere.

    Returns:
        What prints a line of the access log in the same form as the rest; None where the logger does.
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
    return None if as_text else _json_line


_write = json.JSONEncoder(ensure_ascii=False).encode


def _json_line(level: str, event: str, fields: Mapping[str, object]) -> None:
    """Print what JSON logging would, in a third of its time."""
    if level == "debug":
        return
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    told = {"event": event, "logger": "yesno.access", "level": level, **fields, "timestamp": now}
    sys.stderr.write(_write(told) + "\n")
