"""Loggers that hosts route like any other, and that say nothing unless somebody listens."""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

__all__ = ["get_logger"]

logging.getLogger("yesno").addHandler(logging.NullHandler())


@cache
def get_logger(room: str) -> Any:  # noqa: ANN401 - structlog's bound loggers are made at run time
    """Return the structlog logger of a room, on top of the standard logger `yesno.<room>`.

    Events are past-tense words with fields. Context variables bound by the host come along. Nothing of an
    input, a prompt or a key is logged above DEBUG.
    """
    import structlog

    return structlog.wrap_logger(
        logging.getLogger(f"yesno.{room}"),
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.contextvars.merge_contextvars,
            structlog.processors.format_exc_info,
            structlog.stdlib.render_to_log_kwargs,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
