"""How long the tools of a turn may take, over its rounds, over people's answers and over the end of a process."""

import json
import math

import pytest

from tests.toolcalls.support import KEY, SHAPES, USER, chat, contents, sendable, statuses
from yesno.errors import ConfigError, PendingStateError, ToolLimitExceeded
from yesno.messages import messages_of
from yesno.toolcalls import (
    ConfirmationRequired,
    InMemoryPendingStore,
    PendingSigner,
    Tool,
    ToolCallingManager,
    ToolLimits,
)


class Clock:
    """A time that passes only while tools work."""

    def __init__(self):
        self.now = 100.0
        self.ran = []

    def __call__(self):
        return self.now

    def tool(self, name, takes=0.0, **settings):
        def run(**arguments):
            self.ran.append(name)
            self.now += takes

        return Tool(name, f"Do {name}.", run=run, **settings)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def tools(clock):
    return [
        clock.tool("slow", takes=6),
        clock.tool("quick", takes=1),
        clock.tool("ask", takes=2, confirm=True),
        clock.tool("back", takes=-50),
    ]


def limited(clock, seconds=10, on_exceeded="tell_model", **settings):
    return ToolCallingManager(
        limits=ToolLimits(seconds=seconds, on_exceeded=on_exceeded), timer=clock, **settings
    )


def calls(*names, shape="chat", start=1):
    """Return a reply whose calls have ids of their own."""
    reply = SHAPES[shape](*((name, {"n": start + place}) for place, name in enumerate(names)))
    text = json.dumps(reply)
    for place in reversed(range(1, len(names) + 1)):
        text = text.replace(f'"c{place}"', f'"call-{start + place - 1}"')
    return json.loads(text)


def answered(run):
    """Return the ids of all calls and of all results in the conversation."""
    said = messages_of(run.messages)
    asked = [call.id for message in said for call in message.tool_calls]
    return asked, [message.tool_call_id for message in said if message.role == "tool"]


@pytest.mark.parametrize("shape", ["chat", "anthropic", "responses", "plain"])
def test_the_time_of_earlier_rounds_counts(bench, clock, tools, shape):
    manager = limited(clock)
    first = bench.execute(manager, calls("slow", "quick", shape=shape), tools)
    assert (statuses(first), first.spent_s) == (["ran", "ran"], 7.0)
    clock.now += 1_000  # the model thinks
    second = bench.execute(
        manager, calls("slow", "quick", shape=shape, start=3), tools, messages=first.messages
    )
    assert statuses(second) == ["ran", "over_limit"]
    assert "tools may take 10 seconds together for one request" in contents(second)[1]
    third = bench.execute(manager, calls("quick", shape=shape, start=5), tools, messages=second.messages)
    assert statuses(third) == ["over_limit"]
    assert clock.ran == ["slow", "quick", "slow"]
    asked, results = answered(third)
    assert asked == results == [f"call-{number}" for number in range(1, 6)]
    assert sendable(third)


def test_a_limit_that_is_raised_leaves_a_conversation_to_send(bench, clock, tools):
    manager = limited(clock, on_exceeded="raise")
    with pytest.raises(ToolLimitExceeded, match="10 seconds together") as raised:
        bench.execute(manager, calls("slow", "slow", "quick", "quick"), tools)
    assert (raised.value.tool_name, raised.value.limit) == (None, 10)
    partial = raised.value.partial
    assert statuses(partial) == ["ran", "ran", "over_limit", "over_limit"]
    assert answered(partial)[0] == answered(partial)[1]
    with pytest.raises(ToolLimitExceeded) as again:
        bench.execute(manager, calls("quick", start=5), tools, messages=partial.messages)
    assert clock.ran == ["slow", "slow"]
    assert answered(again.value.partial)[1][-1] == "call-5"
    assert again.value.partial.spent_s == 12.0


def test_a_new_message_of_the_user_begins_anew(bench, clock, tools):
    manager = limited(clock)
    first = bench.execute(manager, calls("slow", "slow"), tools)
    later = [
        *first.messages,
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Again."},
    ]
    assert statuses(bench.execute(manager, calls("slow", start=3), tools, messages=later)) == ["ran"]


def test_the_same_turn_from_its_beginning_begins_anew(bench, clock, tools):
    manager = limited(clock)
    for _ in range(3):
        assert statuses(bench.execute(manager, calls("slow"), tools)) == ["ran"]


def test_a_conversation_may_be_shortened(bench, clock, tools):
    manager = limited(clock)
    first = bench.execute(manager, calls("slow"), tools)
    second = bench.execute(manager, calls("slow", start=2), tools, messages=first.messages)
    short = [*USER, *second.new_messages]
    assert statuses(bench.execute(manager, calls("quick", start=3), tools, messages=short)) == ["over_limit"]


def test_nobody_is_asked_about_a_call_for_which_there_is_no_time(bench, clock, tools):
    manager = limited(clock)
    first = bench.execute(manager, calls("slow", "slow"), tools)
    run = bench.execute(manager, calls("ask", start=3), tools, messages=first.messages)
    assert statuses(run) == ["over_limit"]
    plan = bench.run(manager.plan(first.messages, calls("ask", start=3), tools=tools))
    assert [planned.action for planned in plan] == ["settled"]


def paused_in_the_second_round(bench, clock, tools, manager):
    first = bench.execute(manager, calls("slow"), tools)
    reply = calls("ask", "quick", "quick", "quick", start=2)
    with pytest.raises(ConfirmationRequired) as stop:
        bench.execute(manager, reply, tools, messages=first.messages)
    return first.messages, reply, stop.value.pending.model_dump_json()


@pytest.mark.parametrize("same_process", [True, False])
def test_a_record_carries_the_time_but_not_that_of_the_person(bench, clock, tools, same_process):
    sealing = {"signer": PendingSigner(KEY), "store": InMemoryPendingStore()}
    manager = limited(clock, **sealing)
    messages, reply, pending = paused_in_the_second_round(bench, clock, tools, manager)
    clock.now += 5_000
    if not same_process:
        manager = limited(clock, **sealing)
    said = {"pending": pending, "decisions": {"call-2": True}}
    run = bench.execute(manager, reply, tools, messages=messages, **said)
    assert statuses(run) == ["ran", "ran", "ran", "over_limit"]
    assert run.spent_s == 10.0
    assert answered(run)[0] == answered(run)[1]
    late = bench.execute(manager, calls("quick", start=6), tools, messages=run.messages)
    assert statuses(late) == ["over_limit"]


def test_what_is_denied_needs_no_time(bench, clock, tools):
    manager = limited(clock, on_exceeded="raise")
    messages, reply, pending = paused_in_the_second_round(bench, clock, tools, manager)
    stricter = limited(clock, seconds=6, on_exceeded="raise")
    denied = dict.fromkeys(["call-2", "call-3", "call-4", "call-5"], False)
    run = bench.execute(stricter, reply, tools, messages=messages, pending=pending, decisions=denied)
    assert statuses(run) == ["denied"] * 4
    with pytest.raises(ToolLimitExceeded) as raised:
        bench.execute(stricter, reply, tools, messages=messages, pending=pending, decisions={"call-2": True})
    assert statuses(raised.value.partial) == ["over_limit"] * 4
    assert clock.ran == ["slow"]


def test_the_time_in_a_record_is_sealed(bench, clock, tools):
    sealing = {"signer": PendingSigner(KEY), "store": InMemoryPendingStore()}
    messages, reply, pending = paused_in_the_second_round(bench, clock, tools, limited(clock, **sealing))
    assert '"spent_s":"6.000"' in pending
    forged = pending.replace('"spent_s":"6.000"', '"spent_s":null')
    with pytest.raises(PendingStateError, match="changed"):
        bench.execute(
            limited(clock, **sealing),
            reply,
            tools,
            messages=messages,
            pending=forged,
            decisions={"call-2": True},
        )


def test_another_manager_is_told_the_time(bench, clock, tools):
    first = bench.execute(limited(clock), calls("slow", "slow"), tools)
    late = calls("quick", start=3)
    run = bench.execute(limited(clock), late, tools, messages=first.messages, spent_s=first.spent_s)
    assert statuses(run) == ["over_limit"]
    assert statuses(bench.execute(limited(clock), late, tools, messages=first.messages)) == ["ran"]


def test_a_clock_that_goes_back_gives_no_time(bench, clock, tools):
    manager = limited(clock)
    run = bench.execute(manager, calls("slow", "back", "slow", "quick"), tools)
    assert statuses(run) == ["ran", "ran", "ran", "over_limit"]
    assert run.spent_s == 12.0


class StopNow(BaseException):
    pass


def test_a_tool_that_ends_the_run_has_taken_its_time(bench, clock, tools):
    def stop(**arguments):
        clock.now += 20
        raise StopNow

    manager = limited(clock)
    with pytest.raises(StopNow):
        bench.execute(manager, calls("stop"), [Tool("stop", "Stop.", run=stop)])
    messages = [
        *USER,
        calls("stop")["choices"][0]["message"],
        {"role": "tool", "tool_call_id": "call-1", "content": "It stopped."},
    ]
    assert statuses(bench.execute(manager, calls("quick", start=2), tools, messages=messages)) == [
        "over_limit"
    ]


@pytest.mark.parametrize("value", [-1, math.nan, math.inf, True, "1", None])
def test_a_time_that_is_none_is_refused(bench, clock, tools, value):
    with pytest.raises(ConfigError, match="spent_s"):
        bench.execute(limited(clock), chat(("quick", {})), tools, spent_s=value)


def test_only_the_newest_calls_are_remembered():
    from yesno.toolcalls.timing import TurnTimes

    times = TurnTimes(size=2)
    for number in range(3):
        times.keep([str(number)], float(number + 1))
    assert [times.of([str(number)]) for number in range(3)] == [0.0, 2.0, 3.0]
    assert times.of(["1", "2"]) == 3.0
    assert times.of([]) == 0.0
