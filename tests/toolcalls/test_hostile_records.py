"""Decisions, records and clocks that nobody in their right mind would give."""

import math

import pytest

from tests.toolcalls.support import USER, Log, chat, sealed, sendable, statuses
from yesno.errors import DecisionError, PendingStateError, ReplyError
from yesno.toolcalls import Allow, Deny, InMemoryPendingStore, PendingCalls, SqlitePendingStore
from yesno.toolcalls.pending import visible


@pytest.fixture
def log():
    return Log()


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Deny, {"message": 5}),
        (Deny, {"by": 5}),
        (Allow, {"note": b"x"}),
        (Allow, {"arguments": [1]}),
        (Allow, {"arguments": "{}"}),
    ],
)
def test_a_decision_of_other_things_than_text_is_refused(kind, fields):
    with pytest.raises(DecisionError, match=next(iter(fields))):
        kind(**fields)


def test_half_a_letter_in_a_refusal_does_not_stop_the_conversation(bench, log):
    manager, tools = sealed(), [log.tool("t", confirm=True)]
    pending = bench.paused(manager, chat(("t", {})), tools)
    run = bench.execute(manager, chat(("t", {})), tools, pending=pending, decisions={"c1": Deny("\ud800no")})
    assert sendable(run)


@pytest.fixture
def now():
    return [1_000.0]


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path, now):
    if request.param == "memory":
        return InMemoryPendingStore(clock=lambda: now[0])
    return SqlitePendingStore(tmp_path / "p.db", clock=lambda: now[0])


class Waiting:
    """A reply that waits, and the world around it."""

    def __init__(self, bench, log, now, store=None):
        self.bench, self.tools = bench, [log.tool("t", confirm=True)]
        self.manager = sealed(store=store or InMemoryPendingStore(), clock=lambda: now[0], pending_ttl_s=60)
        self.pending = bench.paused(self.manager, chat(("t", {})), self.tools)

    def resume(self, pending=None, messages=USER):
        said = {"pending": self.pending if pending is None else pending, "decisions": {"c1": True}}
        return self.bench.execute(self.manager, chat(("t", {})), self.tools, messages, **said)


def test_a_clock_that_goes_back_makes_no_record_new(bench, log, now, store):
    waiting = Waiting(bench, log, now, store)
    waiting.resume()
    now[0] += 100
    store.issue("another", "d", 2_000)  # which forgets what expired
    now[0] = 1_000.0
    with pytest.raises(PendingStateError, match="used before"):
        waiting.resume()
    assert len(log) == 1
    assert statuses(Waiting(bench, log, [1_001.0], store).resume()) == ["ran"]


@pytest.mark.parametrize(
    ("time", "taken"), [(1_060.0, True), (1_060.1, False), (10.0, True), (math.nan, False), (math.inf, False)]
)
def test_a_record_holds_to_its_last_second(bench, log, now, time, taken):
    waiting = Waiting(bench, log, now)
    now[0] = time
    if taken:
        assert statuses(waiting.resume()) == ["ran"]
        return
    with pytest.raises(PendingStateError) as refused:
        waiting.resume()
    assert refused.value.reason == "expired"


CHANGES = {
    "another value first": lambda record: '{"audience":"other",' + record.model_dump_json()[1:],
    "the same value twice": lambda record: record.model_dump_json()[:-1] + ',"audience":null}',
    "made without checks": lambda record: PendingCalls.model_construct(id=object()),
    "no calls": lambda record: PendingCalls.model_construct(**{**record.__dict__, "calls": ()}),
    "another type": lambda record: record.model_copy(update={"audience": 5}),
    "bytes": lambda record: record.model_dump_json().encode() + b"\xff",
    "deep": lambda record: "[" * 100_000,
}


@pytest.mark.parametrize("change", CHANGES)
def test_no_other_writing_of_a_record_is_taken(bench, log, now, change):
    waiting = Waiting(bench, log, now)
    with pytest.raises(PendingStateError) as refused:
        waiting.resume(CHANGES[change](waiting.pending))
    assert refused.value.reason == "signature"
    assert log == []


@pytest.mark.parametrize("old", [0, 30])
def test_a_conversation_that_went_on_while_a_person_thought_is_refused_and_the_record_stays(
    bench, log, now, old
):
    waiting = Waiting(bench, log, now)
    before = [*({"role": "assistant", "content": "x"} for _ in range(old)), *USER]
    asked = chat(("t", {}))["choices"][0]["message"]
    with pytest.raises(ReplyError, match="goes on after the reply"):
        waiting.resume(messages=[*before, asked, {"role": "user", "content": "Well?"}])
    assert log == []
    assert statuses(waiting.resume(messages=[*before, asked])) == ["ran"]


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("\u202e", "\\u202e"),
        ("\u200b", "\\u200b"),
        ("\u2028", "\\u2028"),
        ("\u00a0", "\\u00a0"),
        ("\u3164", "\\u3164"),
        ("\ufe0f", "\\ufe0f"),
        ("\U000e0041", "\\U000e0041"),
        ("\U000e0101", "\\U000e0101"),
        ("\x1b[2J", "\\u001b[2J"),
        ("\x7f", "\\u007f"),
    ],
)
def test_nothing_hides_from_a_person(hidden, shown):
    assert visible(f"é 日本{hidden}!") == f"é 日本{shown}!"
    assert visible(f"a{hidden}!") == f"a{shown}!"
