"""`calls approve` in a real terminal: what somebody at the keys sees and decides."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest

from tests.toolcalls.support import KEY, USER, Log, chat
from yesno.toolcalls import ConfirmationRequired, PendingSigner, ToolCallingManager, run_without_model

UP, DOWN, ENTER, END = b"\x1b[A", b"\x1b[B", b"\r", b"\x04"
SHOWN = "the letter"
"""The last words of the menu."""


class Terminal:
    """A program in a terminal of its own; what it prints is read up to some words before a key is pressed."""

    def __init__(self, *words, term="xterm", typed_before=b""):
        self._ours, theirs = pty.openpty()
        os.write(self._ours, typed_before)
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "yesno", "calls", "approve", *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": term, "COLUMNS": "100"},
        )
        os.close(theirs)
        self._unread = self.printed = ""

    def press(self, *pairs):
        for words, key in pairs:
            while words not in self._unread:
                assert self._more(), f"{words!r} did not come: {self.printed}"
            self._unread = self._unread.split(words, 1)[1]
            os.write(self._ours, key)

    def end(self):
        """Return the exit code and all that was printed, without colours."""
        while self._more():
            pass
        os.close(self._ours)
        return self._process.wait(), re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.printed)

    def _more(self):
        try:
            read = os.read(self._ours, 4096).decode("utf-8", "replace")
        except OSError:  # the other side is closed
            return False
        self.printed += read
        self._unread += read
        return bool(read)


@pytest.fixture
def record(tmp_path):
    log = Log()
    tools = [log.tool("read"), log.tool("wipe", confirm=True), log.tool("send", confirm=True)]
    reply = chat(("read", {}), ("wipe", {"path": "b\u202e", "deep": {"n": 1}}), ("send", {"to": "bob"}))
    manager = ToolCallingManager(signer=PendingSigner(KEY))
    with pytest.raises(ConfirmationRequired) as stop:
        run_without_model(manager.execute_tool_calls(USER, reply, tools=tools))
    path = tmp_path / "pending.json"
    path.write_text(stop.value.pending.model_dump_json())
    return path


def decided(record, *keys, **settings):
    """Return exit code, decisions (None for none) and what was printed."""
    output = record.with_name("answers.json")
    terminal = Terminal(str(record), "--output", str(output), **settings)
    terminal.press(*keys)
    code, printed = terminal.end()
    document = json.loads(output.read_text()) if output.exists() else None
    return code, document and document["decisions"], printed


def test_arrows_and_enter_choose_and_what_will_run_is_shown(record):
    code, decisions, printed = decided(
        record,
        (SHOWN, UP),
        ("> Run it (y)", ENTER),
        ("2 of 2", b""),
        (SHOWN, UP),
        ("> Run it (y)", DOWN),
        ("> Do not run it (n)", ENTER),
        ("Why?", b"not now\r"),
    )
    assert (code, decisions) == (0, {"c2": {"allow": True}, "c3": {"allow": False, "message": "not now"}})
    for line in ('path: "b\\u202e"', '"n": 1', 'to: "bob"', "read({})  runs as well"):
        assert line in printed
    assert printed.index("1 of 2") < printed.index("> Run it\r\n") < printed.index("2 of 2")


def test_letters_choose_at_once_and_an_enter_after_one_is_not_the_next_answer(record):
    code, decisions, _ = decided(record, (SHOWN, b"y\r"), ("2 of 2", b""), (SHOWN, b"Y"))
    assert (code, decisions) == (0, {"c2": {"allow": True}, "c3": {"allow": True}})


def test_enter_alone_and_keys_typed_before_allow_nothing(record):
    code, decisions, _ = decided(
        record,
        (SHOWN, ENTER),
        ("Why?", ENTER),
        ("2 of 2", b""),
        (SHOWN, b"x\x1b[C\x1b[Zq\xc3\xa9"),
        ("> Do not run it (n)", ENTER),
        ("Why?", ENTER),
        typed_before=b"y\ny\ny\n",
    )
    assert (code, decisions) == (0, {"c2": {"allow": False}, "c3": {"allow": False}})


def test_a_terminal_that_is_left_decides_nothing(record):
    code, decisions, printed = decided(record, (SHOWN, b"y"), ("2 of 2", b""), (SHOWN, END))
    assert (code, decisions) == (130, None)
    assert "nothing was decided" in printed


def test_a_dumb_terminal_asks_for_a_line(record):
    code, decisions, printed = decided(
        record, ("[y/n]", b"y\n"), ("[y/n]", b"n\n"), ("Why?", b"\n"), term="dumb"
    )
    assert (code, decisions) == (0, {"c2": {"allow": True}, "c3": {"allow": False}})
    assert SHOWN not in printed
