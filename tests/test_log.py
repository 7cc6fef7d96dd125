import subprocess
import sys

import pytest
import structlog

from yesno._log import get_logger


def printed(code):
    """Return what a fresh process prints, on both of its outputs."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    return done.stdout + done.stderr


def test_an_event_is_a_record_of_the_standard_library_with_its_fields(caplog):
    get_logger("engine").warning("answer_read", question="q", share=0.5)
    (record,) = caplog.records
    assert (record.name, record.levelname, record.message) == ("yesno.engine", "WARNING", "answer_read")
    assert (record.question, record.share) == ("q", 0.5)


def test_context_variables_of_the_host_come_along(caplog):
    with structlog.contextvars.bound_contextvars(request_id="r-1"):
        get_logger("engine").warning("answer_read")
    assert caplog.records[0].request_id == "r-1"


def test_an_exception_comes_with_its_traceback(caplog):
    try:
        {}["nothing there"]
    except LookupError:
        get_logger("engine").exception("answer_missed")
    assert "KeyError: 'nothing there'" in caplog.text


def test_the_hosts_level_decides_what_is_recorded(caplog):
    log = get_logger("engine")
    with caplog.at_level("ERROR", logger="yesno"):
        log.warning("unheard")
    with caplog.at_level("DEBUG", logger="yesno"):
        log.debug("heard")
    assert [record.message for record in caplog.records] == ["heard"]


def test_a_room_has_one_logger():
    assert get_logger("engine") is get_logger("engine")
    assert get_logger("engine") is not get_logger("providers")


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error"])
def test_without_a_listening_host_nothing_is_printed(level):
    code = f"from yesno._log import get_logger; get_logger('engine').{level}('answer_read', share=0.5)"
    assert printed(code) == ""


def test_a_host_that_listens_hears_the_library_like_any_other():
    code = (
        "import logging; logging.basicConfig(format='%(name)s %(message)s %(share)s');"
        "from yesno._log import get_logger; get_logger('engine').warning('answer_read', share=0.5)"
    )
    assert printed(code) == "yesno.engine answer_read 0.5\n"


def test_nothing_is_configured_on_behalf_of_the_host():
    code = (
        "import logging, structlog; from yesno import *; DecisionModel(FakeProvider()).decide('x', YesNo('q?'));"
        "ours = logging.getLogger('yesno');"
        "print(structlog.is_configured(), logging.root.handlers, ours.propagate, ours.level, ours.handlers)"
    )
    assert printed(code) == "False [] True 0 [<NullHandler (NOTSET)>]\n"
