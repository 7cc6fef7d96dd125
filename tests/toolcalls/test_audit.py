"""What is written of each call, and what is not."""

import json
import logging

import pytest
import structlog

from tests.toolcalls.support import Log, chat, sealed, statuses
from yesno.errors import AuditError, PendingStateError
from yesno.toolcalls import Allow, Audit, Deny, ToolCallingManager, ToolLimits, verify_chain


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def tools(log):
    return [log.tool("read", result="my secret result"), log.tool("delete", confirm=True)]


@pytest.fixture
def events():
    return []


SECRET = chat(("read", {"key": "my secret"}))


def steps(events, call_id):
    return [event["event"] for event in events if event.get("call_id") == call_id]


def test_case_097_each_call_is_followed_from_proposal_to_end_without_its_arguments(bench, tools, events):
    bench.execute(
        ToolCallingManager(audit=events.append), chat(("read", {"key": "my secret"}), ("read", {})), tools
    )
    assert steps(events, "c1") == steps(events, "c2") == ["proposed", "started", "finished"]
    assert len({event["run"] for event in events}) == 1
    assert "secret" not in json.dumps(events)
    last = events[-1]
    assert (last["tool"], last["source"], last["status"], last["turn"]) == ("read", "local", "ran", 1)
    assert last["seconds"] >= 0
    assert len(last["arguments_digest"]) == 64
    assert last["time"].endswith("+00:00")


def test_case_098_only_redacted_values_are_written(bench, tools, events):
    def redact(value):
        return {**value, "key": "***"} if isinstance(value, dict) else "***"

    bench.execute(
        ToolCallingManager(audit=Audit(events.append, include_arguments=True, redact=redact)), SECRET, tools
    )
    assert "secret" not in json.dumps(events)
    assert events[-1]["arguments"] == {"key": "***"}
    assert events[-1]["result"] == "***"
    events.clear()
    bench.execute(ToolCallingManager(audit=Audit(events.append, include_arguments=True)), SECRET, tools)
    assert events[-1]["arguments"] == {"key": "my secret"}


def test_a_redaction_that_fails_writes_nothing_of_the_value(bench, tools, events, caplog):
    audit = Audit(events.append, include_arguments=True, redact=lambda value: 1 / 0)
    with caplog.at_level(logging.WARNING, "yesno.toolcalls"):
        assert statuses(bench.execute(ToolCallingManager(audit=audit), SECRET, tools)) == ["ran"]
    assert "secret" not in json.dumps(events) + caplog.text
    assert "audit_redaction_failed" in caplog.text


def test_case_099_the_log_says_who_decided_what_and_when(bench, tools, events):
    manager = sealed(audit=events.append)
    reply = chat(("read", {}), ("delete", {}), ("delete", {"n": 2}))
    pending = bench.paused(manager, reply, tools)
    decisions = {"c2": Allow(by="anna", note="fine"), "c3": Deny("not this", by="bert")}
    bench.execute(manager, reply, tools, pending=pending, decisions=decisions)
    decided = [event for event in events if event["event"] == "decided"]
    assert [(e["call_id"], e["tool"], e["decision"], e["by"]) for e in decided] == [
        ("c2", "delete", "allow", "anna"),
        ("c3", "delete", "deny", "bert"),
    ]
    assert all(event["time"] for event in decided)
    assert {event["run"] for event in events} == {pending.id}
    assert steps(events, "c2") == ["proposed", "waiting", "decided", "started", "finished"]
    assert steps(events, "c3") == ["proposed", "waiting", "decided"]


def test_refused_calls_and_records_are_written(bench, tools, events):
    manager = sealed(audit=events.append, limits=ToolLimits(per_tool=1, on_exceeded="tell_model"))
    bench.execute(manager, chat(("read", "{oops"), ("zzz", {}), ("read", {})), tools)
    assert [steps(events, f"c{n}") for n in (1, 2, 3)] == [["proposed", "rejected"]] * 2 + [
        ["proposed", "limit"]
    ]
    events.clear()
    with pytest.raises(PendingStateError):
        bench.execute(manager, SECRET, tools, pending="{}", decisions={})
    assert [(event["event"], event["status"]) for event in events] == [("pending_refused", "signature")]


class Broken:
    """A sink that takes some events and then no more."""

    def __init__(self, good):
        self.good, self.taken = good, []

    def __call__(self, event):
        if len(self.taken) >= self.good:
            raise OSError("disk full")
        self.taken.append(event["event"])


def test_case_100_a_sink_that_fails_stops_nothing_unless_it_is_required(bench, tools, log, caplog):
    with caplog.at_level(logging.WARNING, "yesno.toolcalls"):
        assert statuses(bench.execute(ToolCallingManager(audit=Broken(0)), SECRET, tools)) == ["ran"]
    assert "audit_sink_failed" in caplog.text
    log.clear()
    with pytest.raises(AuditError, match="OSError"):
        bench.execute(ToolCallingManager(audit=Broken(0), audit_required=True), SECRET, tools)
    assert log == []


@pytest.mark.parametrize(("good", "ran"), [(2, 0), (3, 1), (4, 1), (5, 2)])
def test_a_required_sink_that_fails_on_the_way_runs_no_more(bench, tools, log, good, ran):
    reply = chat(("read", {}), ("read", {"n": 2}))
    with pytest.raises(AuditError) as error:
        bench.execute(ToolCallingManager(audit=Broken(good), audit_required=True), reply, tools)
    assert len(log) == ran
    assert [result.status for result in error.value.partial.results].count("ran") == ran
    assert len(error.value.partial.new_messages) == 3


def test_a_required_sink_that_fails_before_does_not_use_the_record_up(bench, tools, log):
    sink = Broken(100)
    manager = sealed(audit=sink, audit_required=True)
    reply = chat(("delete", {}))
    pending = bench.paused(manager, reply, tools)
    sink.good = 0
    with pytest.raises(AuditError):
        bench.execute(manager, reply, tools, pending=pending, decisions={"c1": True})
    sink.good = 100
    assert statuses(bench.execute(manager, reply, tools, pending=pending, decisions={"c1": True})) == ["ran"]


def test_events_go_to_structlog_and_to_standard_loggers(bench, tools, caplog):
    with structlog.testing.capture_logs() as captured:
        bench.execute(ToolCallingManager(audit=Audit(structlog.get_logger())), SECRET, tools)
    assert [entry["event"] for entry in captured] == ["proposed", "started", "finished"]
    with caplog.at_level(logging.INFO):
        bench.execute(ToolCallingManager(audit=Audit(logging.getLogger("mine"))), SECRET, tools)
        bench.execute(ToolCallingManager(audit=Audit()), SECRET, tools)
    names = [record.name for record in caplog.records]
    assert (names.count("mine"), names.count("yesno.toolcalls.audit")) == (3, 3)


def chained(bench, tools, **more):
    events = []
    audit = Audit(events.append, chain=True, **more)
    bench.execute(ToolCallingManager(audit=audit), chat(("read", {}), ("read", {"n": 2})), tools)
    return events


def test_a_chain_shows_what_is_missing_changed_or_moved(bench, tools):
    events = chained(bench, tools)
    assert len(events) == 6
    report = verify_chain(events)
    assert report
    assert (report.count, report.broken_at, report.last) == (6, None, events[-1])
    for number in range(5):
        assert verify_chain(events[:number] + events[number + 1 :]).broken_at == number + 1
    for key in ("tool", "time", "event"):
        changed = [dict(event) for event in events]
        changed[2][key] = "other"
        assert verify_chain(changed).broken_at == 4
    moved = [*events[:2], events[3], events[2], *events[4:]]
    assert verify_chain(moved).broken_at == 3
    assert verify_chain([*events, {"event": "x"}]).broken_at == 7


def test_a_chain_is_read_from_lines_and_goes_on_after_a_restart(bench, tools):
    first = chained(bench, tools)
    second = chained(bench, tools, last=first[-1])
    lines = [json.dumps(event) for event in [*first, *second]]
    assert verify_chain(lines).count == 12
    assert verify_chain([*lines[:3], "{oops"]).broken_at == 4
    assert verify_chain(lines[6:]).broken_at == 1


def test_a_chain_breaks_for_no_event_that_was_not_written(bench, tools):
    events, failing = [], [False]

    def sink(event):
        if failing[0]:
            raise OSError
        events.append(event)

    audit = Audit(sink, chain=True)
    manager = ToolCallingManager(audit=audit)
    for failing[0] in (False, True, False):
        bench.execute(manager, SECRET, tools)
    assert verify_chain(events)
