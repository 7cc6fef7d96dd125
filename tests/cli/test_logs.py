"""What a server prints: the same form for lines that are logged and for those of the access log."""

import json
import logging
from datetime import datetime

import pytest

from yesno._log import get_logger
from yesno.cli.logs import log_to_stderr


@pytest.fixture
def printed(capsys):
    """Return what reads standard error, and take the handlers away again."""
    loggers = [logging.getLogger(name) for name in ("yesno", "uvicorn")]
    kept = [(logger, logger.level, logger.propagate, [*logger.handlers]) for logger in loggers]
    yield lambda: capsys.readouterr().err
    for logger, level, propagate, handlers in kept:
        logger.setLevel(level)
        logger.propagate, logger.handlers[:] = propagate, handlers


def test_a_line_of_the_access_log_is_what_logging_would_print(printed):
    line = log_to_stderr("json")
    fields = {"path": "/v1/decisions", "status": 200, "client": "Zoë"}
    line("info", "request_served", fields)
    get_logger("access").info("request_served", **fields)
    ours, theirs = (json.loads(text) for text in printed().splitlines())
    for told in (ours, theirs):
        assert datetime.fromisoformat(told.pop("timestamp")).tzinfo is not None
    assert ours == theirs
    assert ours["client"] == "Zoë"


def test_debug_lines_are_not_printed(printed):
    log_to_stderr("json")("debug", "request_served", {})
    assert printed() == ""


def test_text_is_printed_by_the_logger(printed):
    assert log_to_stderr("text") is None
