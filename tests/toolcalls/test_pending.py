"""Records of waiting calls: they survive the process, cannot be forged, and are good for one use."""

import json
import pickle
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.shells import Sync
from tests.toolcalls.support import KEY, USER, Bench, Log, chat, plain, sealed, statuses
from yesno.errors import ConfigError, PendingStateError
from yesno.toolcalls import (
    ConfirmationRequired,
    InMemoryPendingStore,
    PendingCalls,
    PendingSigner,
    SqlitePendingStore,
    Tool,
    ToolAnnotations,
    ToolCallingManager,
    Verdict,
    run_without_model,
)

REPLY = chat(("delete", {"path": "b", "n": 1}), ("read", {}))
YES = {"c1": True}


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def tools(log):
    return [log.tool("delete", confirm=True), log.tool("read")]


@pytest.fixture
def saved(bench, tools):
    """The JSON of a signed record."""
    return bench.paused(sealed(), REPLY, tools).model_dump_json()


def refused(bench, tools, pending, reason, manager=None, reply=REPLY, **more):
    with pytest.raises(PendingStateError) as error:
        bench.execute(manager or sealed(), reply, tools, pending=pending, decisions=YES, **more)
    assert error.value.reason == reason
    return error.value


CHILD = """
import sys
from yesno.toolcalls import *
ran = []
tools = [Tool("delete", "Do delete.", run=lambda **a: ran.append(a), confirm=True), Tool("read", "Do read.", run=lambda **a: 1)]
manager = ToolCallingManager(signer=PendingSigner(b"k" * 32), store=InMemoryPendingStore())
pending, reply = sys.stdin.read().split("\\n")
import json
flow = manager.execute_tool_calls([{"role": "user", "content": "please do it"}], json.loads(reply), tools=tools,
    pending=PendingCalls.model_validate_json(pending), decisions={"c1": True})
print([r.status for r in run_without_model(flow).results], ran)
"""


def test_case_072_a_record_works_in_another_process(saved):
    given = f"{saved}\n{json.dumps(REPLY)}"
    command = [sys.executable, "-c", CHILD]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "['ran', 'ran'] [{'path': 'b', 'n': 1}]"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"\"b\"", r"\"c\""),
        (r"\"n\": 1", r"\"n\": 1.0"),
        ('"waiting":true', '"waiting":false'),
        ('"name":"delete"', '"name":"read"'),
        ('"audience":null', '"audience":"eve"'),
        ('"expires":', '"expires":9'),
        ('"answers":["allow","deny"]', '"answers":[]'),
        ('"version":1,', ""),
        ('"id":"c1"', '"id":"c3"'),
    ],
)
def test_case_073_074_whatever_is_changed_breaks_the_signature(bench, tools, log, saved, old, new):
    assert old in saved
    changed = saved.replace(old, new, 1) if new else saved.replace(old, '"version":1,"more":2,', 1)
    refused(bench, tools, changed, "signature")
    assert log == []


def test_case_074_a_call_that_was_removed_breaks_the_signature(bench, tools, log, saved):
    fields = json.loads(saved)
    del fields["calls"][1]
    refused(bench, tools, fields, "signature")
    assert log == []


@pytest.mark.parametrize(
    "reply",
    [
        chat(("delete", {"path": "c", "n": 1}), ("read", {})),
        chat(("delete", {"path": "b", "n": 1})),
        chat(("delete", {"path": "b", "n": 1}, "x1"), ("read", {}, "c2")),
        chat(("delete", '{"path":"b","n":1}'), ("read", {})),
        chat(("delete", {"path": "b", "n": 1}), ("read", {}), text="other words"),
    ],
    ids=["arguments", "fewer", "id", "spelling", "text"],
)
def test_case_075_another_reply_is_refused(bench, tools, log, saved, reply):
    refused(bench, tools, saved, "reply", reply=reply)
    assert log == []


def test_a_reply_may_come_back_in_another_shape_of_the_same_calls(bench, tools, saved):
    again = plain(("delete", {"path": "b", "n": 1}), ("read", {}))
    assert statuses(bench.execute(sealed(), again, tools, pending=saved, decisions=YES)) == ["ran", "ran"]


def test_case_076_an_expired_record_and_another_audience_are_refused(bench, tools, log):
    now = [1000.0]
    manager = sealed(clock=lambda: now[0], pending_ttl_s=60)
    pending = bench.paused(manager, REPLY, tools, audience="anna")
    assert (pending.issued, pending.expires) == (1000, 1060)
    for other in (None, "eve", ""):
        refused(bench, tools, pending, "audience", manager, audience=other)
    now[0] = 1061
    refused(bench, tools, pending, "expired", manager, audience="anna")
    assert log == []
    now[0] = 1060
    run = bench.execute(manager, REPLY, tools, pending=pending, decisions=YES, audience="anna")
    assert statuses(run) == ["ran", "ran"]


def test_case_077_a_record_used_twice_runs_once(bench, tools, log):
    manager = sealed()
    pending = bench.paused(manager, REPLY, tools)
    bench.execute(manager, REPLY, tools, pending=pending, decisions=YES)
    refused(bench, tools, pending, "already_used", manager)
    assert log.names == ["delete", "read"]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_case_077_a_record_used_by_sixteen_threads_at_once_runs_once(tmp_path, kind):
    log, outcomes = Log(), []
    store = InMemoryPendingStore() if kind == "memory" else SqlitePendingStore(tmp_path / "pending.db")
    manager = sealed(store=store)
    tools = [log.tool("delete", confirm=True), log.tool("read")]
    pending = Bench(Sync).paused(manager, REPLY, tools)
    together = threading.Barrier(16)

    def resume():
        together.wait()
        try:
            flow = manager.execute_tool_calls(USER, REPLY, tools=tools, pending=pending, decisions=YES)
            outcomes.append(statuses(run_without_model(flow)))
        except PendingStateError as error:
            outcomes.append(error.reason)

    threads = [threading.Thread(target=resume) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, outcomes)) == sorted([str(["ran", "ran"]), *["already_used"] * 15])
    assert log.names == ["delete", "read"]


CONSUME = """
import sys
from yesno.toolcalls import SqlitePendingStore
print(SqlitePendingStore(sys.argv[1]).consume("one", None))
"""


def test_a_file_is_shared_by_processes(tmp_path):
    path = tmp_path / "pending.db"
    command = [sys.executable, "-c", CONSUME, str(path)]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]  # noqa: S603
    told = sorted(child.communicate()[0].strip() for child in children)
    assert told == ["False", "False", "True"]
    assert path.stat().st_mode & 0o077 == 0


def test_case_078_keys_can_be_changed(bench, tools, log):
    old, new = ("2026-10", b"o" * 32), ("2026-11", b"n" * 32)
    pending = bench.paused(sealed(signer=PendingSigner(dict([old]))), REPLY, tools)
    assert pending.signature.startswith("2026-10:")
    refused(bench, tools, pending, "signature", sealed(signer=PendingSigner(dict([new]))))
    renamed = PendingSigner({"2026-10": new[1]})
    refused(bench, tools, pending, "signature", sealed(signer=renamed))
    assert log == []
    both = sealed(signer=PendingSigner(dict([new, old])))
    assert bench.paused(both, REPLY, tools).signature.startswith("2026-11:")
    assert statuses(bench.execute(both, REPLY, tools, pending=pending, decisions=YES)) == ["ran", "ran"]


def test_case_079_a_tool_that_takes_other_arguments_now_is_refused(bench, tools, log):
    manager = sealed()
    pending = bench.paused(manager, REPLY, tools)
    schema = {"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}}
    changed = [log.tool("delete", confirm=True, schema=schema), tools[1]]
    refused(bench, changed, pending, "tools", manager)
    refused(bench, [log.tool("delete", confirm=True, source="mcp:far"), tools[1]], pending, "tools", manager)
    assert log == []


class Sure:
    """A gate that is certain, so that its risk is the whole number 1."""

    check_all = False

    def judge(self, calls, messages):
        yield from ()
        return [Verdict("confirm", 1.0) for _ in calls]


REWRITE = """
const sorted = v => Array.isArray(v) ? v.map(sorted)
  : v && typeof v === "object" ? Object.fromEntries(Object.keys(v).sort().reverse().map(k => [k, sorted(v[k])])) : v;
process.stdout.write(JSON.stringify(sorted(JSON.parse(require("fs").readFileSync(0, "utf8"))), null, 1));
"""


def rewritten(text):
    """Return JSON as JavaScript writes it, with its keys in another order."""
    node = shutil.which("node")
    if node is None:

        def turned(value):
            if isinstance(value, dict):
                return {key: turned(value[key]) for key in sorted(value, reverse=True)}
            return [turned(item) for item in value] if isinstance(value, list) else value

        return json.dumps(turned(json.loads(text)), indent=1, ensure_ascii=False)
    command = [node, "-e", REWRITE]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout  # noqa: S603


def test_case_080_a_record_survives_javascript(bench, log):
    manager = sealed(gate=Sure())
    tools = [log.tool("delete", confirm="auto"), log.tool("read")]
    reply = chat(("delete", '{"x": 1.0, "é": "\\u00e9 ☃ <", "big": 12345678901234567890}'), ("read", {}))
    pending = bench.paused(manager, reply, tools)
    assert pending.calls[0].risk == "1.000"
    text = rewritten(pending.model_dump_json())
    assert text != pending.model_dump_json()
    assert PendingCalls.model_validate_json(text) == pending
    run = bench.execute(manager, reply, tools, pending=text, decisions=YES)
    assert statuses(run) == ["ran", "ran"]
    flipped = text.replace('"waiting": true', '"waiting": false')
    refused(bench, tools, flipped, "signature", manager, reply=reply)


def test_no_signed_field_is_a_float(bench, tools, saved):
    def numbers(value):
        if isinstance(value, dict | list):
            for item in value.values() if isinstance(value, dict) else value:
                yield from numbers(item)
        elif not isinstance(value, str | bool | type(None)):
            yield value

    assert {type(number) for number in numbers(json.loads(saved))} == {int}


@pytest.mark.parametrize(
    ("pending", "reason"),
    [
        ("", "signature"),
        ("{oops", "signature"),
        ("[]", "signature"),
        ({}, "signature"),
        (7, "signature"),
        ({"id": "x", "signature": "AAAA"}, "signature"),
        ({"version": 2}, "version"),
        ({"version": "1"}, "version"),
        (float("nan"), "signature"),
    ],
)
@pytest.mark.parametrize("manager", [sealed(), ToolCallingManager()], ids=["sealed", "open"])
def test_what_is_no_record_is_refused(bench, tools, log, pending, reason, manager):
    refused(bench, tools, pending, reason, manager)
    assert log == []


def test_a_signature_that_is_none_is_refused(bench, tools, saved):
    for signature in (None, "", ":", "5e318f8c:", "é:é", "x" * 10_000, saved):
        refused(bench, tools, {**json.loads(saved), "signature": signature}, "signature")


def test_nobody_signs_with_a_key_of_their_own(bench, tools, log, saved):
    text = PendingCalls.model_validate_json(saved).signed_text
    for own in (PendingSigner({"mine": b"\0" * 16}), PendingSigner({"mine": KEY}), PendingSigner(b"m" * 32)):
        refused(bench, tools, {**json.loads(saved), "signature": own.sign(text)}, "signature")
    assert PendingSigner({"a": KEY}).verify(text, PendingSigner({"a": KEY}).sign(text))
    assert log == []


def test_a_store_alone_knows_the_records_that_it_issued(bench, tools, log):
    manager = ToolCallingManager(store=InMemoryPendingStore())
    pending = bench.paused(manager, REPLY, tools)
    refused(bench, tools, pending.model_copy(update={"id": "other"}), "signature", manager)
    refused(
        bench, tools, pending.model_copy(update={"audience": "eve"}), "signature", manager, audience="eve"
    )
    assert log == []
    assert statuses(bench.execute(manager, REPLY, tools, pending=pending, decisions=YES)) == ["ran", "ran"]
    refused(bench, tools, pending, "already_used", manager)


def test_without_a_store_only_what_may_run_twice_is_resumed(bench, tools, log):
    signed = ToolCallingManager(signer=PendingSigner(KEY))
    refused(bench, tools, bench.paused(signed, REPLY, tools), "replay", signed)
    assert log == []
    free = ToolCallingManager(signer=PendingSigner(KEY), allow_replay=True)
    assert statuses(
        bench.execute(free, REPLY, tools, pending=bench.paused(free, REPLY, tools), decisions=YES)
    ) == ["ran", "ran"]
    again = ToolAnnotations(idempotent=True)
    safe = [
        log.tool("delete", confirm=True, annotations=again),
        log.tool("read", annotations=ToolAnnotations(read_only=True)),
    ]
    pending = bench.paused(signed, REPLY, safe)
    assert statuses(bench.execute(signed, REPLY, safe, pending=pending, decisions=YES)) == ["ran", "ran"]


def test_a_bad_decision_does_not_use_a_record_up(bench, tools):
    manager = sealed()
    pending = bench.paused(manager, REPLY, tools)
    with pytest.raises(ValueError, match="'c9'"):
        bench.execute(manager, REPLY, tools, pending=pending, decisions={"c1": True, "c9": True})
    assert statuses(bench.execute(manager, REPLY, tools, pending=pending, decisions=YES)) == ["ran", "ran"]


def test_a_store_that_cannot_be_written_runs_nothing(bench, tools, log, tmp_path):
    path = tmp_path / "pending.db"
    manager = sealed(store=SqlitePendingStore(path))
    pending = bench.paused(manager, REPLY, tools)
    path.write_bytes(b"no database at all" * 100)
    error = refused(bench, tools, pending, "store", manager)
    assert "pending.db" in str(error)
    assert log == []
    with pytest.raises(PendingStateError, match="store"):
        SqlitePendingStore(tmp_path / "missing" / "pending.db")


def test_stores_forget_what_expired(tmp_path):
    now = [100.0]
    for store in (
        InMemoryPendingStore(clock=lambda: now[0]),
        SqlitePendingStore(tmp_path / "p.db", clock=lambda: now[0]),
    ):
        now[0] = 100.0
        store.issue("a", "d" * 64, 150)
        assert store.digest("a") == "d" * 64
        assert (store.consume("a", 150), store.consume("a", 150), store.consume("b", None)) == (
            True,
            False,
            True,
        )
        now[0] = 200.0
        store.issue("c", "e" * 64, None)
        assert (store.digest("a"), store.digest("c")) == (None, "e" * 64)
        assert not store.consume("b", None)


@pytest.mark.parametrize("keys", [b"short", "", {}, {"a:b": b"k" * 32}, {"a": 5}, None])
def test_a_bad_key_is_refused(keys):
    with pytest.raises(ConfigError, match="key"):
        PendingSigner(keys)


def test_a_key_never_shows():
    assert "kkk" not in repr(PendingSigner({"mine": KEY})) + repr(PendingSigner(KEY))


def test_the_stop_shows_names_and_travels_between_processes(bench, tools):
    with pytest.raises(ConfirmationRequired) as stop:
        bench.execute(sealed(), chat(("delete", {"key": "my secret"})), tools)
    assert "secret" not in str(stop.value) + repr(stop.value)
    assert pickle.loads(pickle.dumps(stop.value)).pending == stop.value.pending  # noqa: S301 - our own


def test_nothing_can_hide_in_the_line_for_people(bench, tools):
    hidden = "a\u202eb\u200bc\x1b[2J\n\U000e0041"
    pending = bench.paused(sealed(), chat(("delete", {"path": hidden})), tools)
    assert pending.calls[0].summary == r'delete({"path": "a\u202eb\u200bc\u001b[2J\n\U000e0041"})'


def test_halves_of_surrogates_in_a_call_beside_do_not_spoil_the_record(bench, tools):
    reply = chat(("delete", {}), ("read", '{"x": "\ud800"}'), ("\udc00", {}))
    manager = sealed()
    pending = bench.paused(manager, reply, tools)
    run = bench.execute(manager, reply, tools, pending=pending.model_dump_json(), decisions=YES)
    assert statuses(run) == ["ran", "invalid_arguments", "unknown_tool"]


def test_what_was_shown_is_what_runs(bench):
    calls = []

    def wipe(path: str):
        """Wipe."""
        calls.append(path)

    made = Tool.from_function(wipe, confirm=True)
    manager = sealed()
    reply = chat(("wipe", {"path": "a"}))
    pending = bench.paused(manager, reply, [made])
    other = pending.calls[0].model_copy(update={"runs_with": '{"path":"b"}'})
    forged = pending.model_copy(update={"calls": (other,)})
    refused(bench, [made], forged, "arguments", ToolCallingManager(), reply=reply)
    assert calls == []


def test_an_audience_is_a_text(bench, tools):
    with pytest.raises(ConfigError, match="audience"):
        bench.execute(sealed(), REPLY, tools, audience=5)


def test_a_path_may_be_given_as_text(tmp_path):
    assert SqlitePendingStore(str(tmp_path / "p.db")).path == Path(tmp_path / "p.db")
