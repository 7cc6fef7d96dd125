"""How often tools may be called, and what is left when they were called too often."""

import pytest

from tests.toolcalls.support import SHAPES, USER, Log, chat, contents, sealed, statuses
from yesno.errors import ConfigError, ToolLimitExceeded
from yesno.messages import messages_of
from yesno.toolcalls import Allow, Deny, PendingSigner, ToolCallingManager, ToolLimits


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def tools(log):
    return [log.tool("a"), log.tool("b"), log.tool("ask", confirm=True)]


def limited(**limits):
    return ToolCallingManager(limits=ToolLimits(**limits))


def history(*rounds):
    """Return a conversation in which the assistant called tools in rounds, all with different arguments."""
    messages, number = [*USER], 0
    for names in rounds:
        calls = []
        for name in names:
            number += 1
            calls.append((name, {"old": number}, f"h{number}"))
        message = chat(*calls)["choices"][0]["message"]
        messages.append(message)
        messages += [
            {"role": "tool", "tool_call_id": call["id"], "content": "x"} for call in message["tool_calls"]
        ]
    return messages


def counted(name, count):
    return chat(*((name, {"n": n}) for n in range(count)))


@pytest.mark.parametrize("shape", SHAPES)
def test_case_049_the_call_over_the_limit_raises_with_a_complete_conversation(bench, tools, log, shape):
    reply = SHAPES[shape](*(("a", {"n": n}) for n in range(3)))
    with pytest.raises(ToolLimitExceeded, match="'a'") as raised:
        bench.execute(limited(per_tool=2), reply, tools)
    assert (raised.value.tool_name, raised.value.limit) == ("a", 2)
    partial = raised.value.partial
    assert statuses(partial) == ["over_limit"] * 3
    assert log == []
    answered = (
        [m.tool_call_id for m in messages_of(partial.messages) if m.role == "tool"]
        if shape != "langchain"
        else []
    )
    assert answered in ([], ["c1", "c2", "c3"])
    assert contents(partial)[0] == "This call did not run: another call of the same reply was over a limit."
    assert "may be called 2 times" in contents(partial)[2]


def test_case_049_rounds_before_count_too(bench, tools):
    with pytest.raises(ToolLimitExceeded):
        bench.execute(limited(per_tool=2), chat(("a", {})), tools, messages=history(["a"], ["a"]))
    assert statuses(
        bench.execute(limited(per_tool=2), chat(("b", {})), tools, messages=history(["a"], ["a"]))
    ) == ["ran"]


def test_case_050_the_model_can_be_told_instead(bench, tools, log):
    reply = chat(("a", {"n": 1}), ("a", {"n": 2}), ("a", {"n": 3}), ("b", {}))
    run = bench.execute(limited(per_tool=2, on_exceeded="tell_model"), reply, tools)
    assert statuses(run) == ["ran", "ran", "over_limit", "ran"]
    assert "2 times" in contents(run)[2]
    assert log.names == ["a", "a", "b"]


def test_case_051_a_new_message_of_the_user_begins_at_zero(bench, tools):
    messages = [*history(["a"] * 50, ["b"] * 50), *USER]
    assert statuses(
        bench.execute(limited(per_tool=1, total=1), chat(("a", {})), tools, messages=messages)
    ) == ["ran"]


def test_case_052_an_exempt_tool_counts_to_the_total_alone(bench, tools):
    messages = history(["a"] * 99)
    open_ = limited(per_tool=2, total=100, exempt=("a",))
    assert statuses(bench.execute(open_, chat(("a", {})), tools, messages=messages)) == ["ran"]
    with pytest.raises(ToolLimitExceeded) as raised:
        bench.execute(open_, counted("a", 2), tools, messages=messages)
    assert (raised.value.tool_name, raised.value.limit) == (None, 100)


def test_case_053_the_same_call_a_fourth_time_is_over_the_limit(bench, tools, log):
    again = chat(
        ("a", '{"x": 1, "y": 2}'), ("a", '{"y":2,"x":1}'), ("a", '{"x":1.0,"y":2}'), ("a", {"x": 1, "y": 2})
    )
    assert statuses(bench.execute(limited(identical=3), again, tools)) == ["ran", "ran", "ran", "over_limit"]
    assert len(log) == 3


@pytest.mark.parametrize("value", [0, -1, True, 2.5, "3"])
@pytest.mark.parametrize("name", ["per_tool", "total", "identical", "rounds", "seconds"])
def test_case_054_a_limit_below_one_is_refused(name, value):
    if name == "seconds" and value == 2.5:
        return
    with pytest.raises(ValueError, match=name) as refused:
        ToolLimits(**{name: value})
    assert isinstance(refused.value, ConfigError)


@pytest.mark.parametrize("limits", [{"tools": {"a": 0}}, {"exempt": "a"}, {"on_exceeded": "stop"}])
def test_other_impossible_limits_are_refused(limits):
    with pytest.raises(ConfigError, match=next(iter(limits))):
        ToolLimits(**limits)


def test_case_055_on_resume_only_calls_that_were_allowed_break_a_limit(bench, tools, log):
    before = {"signer": PendingSigner(b"k" * 32), "allow_replay": True}
    reply = counted("ask", 2)
    pending = bench.paused(ToolCallingManager(**before), reply, tools)
    stricter = ToolCallingManager(**before, limits=ToolLimits(per_tool=1))
    with pytest.raises(ToolLimitExceeded) as raised:
        bench.execute(stricter, reply, tools, pending=pending, decisions={"c1": Allow(), "c2": Allow()})
    assert log == []
    assert statuses(raised.value.partial) == ["over_limit"] * 2
    run = bench.execute(stricter, reply, tools, pending=pending, decisions={"c1": Deny(), "c2": Allow()})
    assert statuses(run) == ["denied", "ran"]


def test_what_is_over_a_limit_stays_so_on_resume(bench, tools, log):
    manager = sealed(limits=ToolLimits(per_tool=1, on_exceeded="tell_model"))
    reply = counted("ask", 2)
    pending = bench.paused(manager, reply, tools)
    assert [call.waiting for call in pending.calls] == [True, False]
    run = bench.execute(manager, reply, tools, pending=pending, decisions={"c1": Deny()})
    assert statuses(run) == ["denied", "over_limit"]
    assert log == []


def test_calls_of_tools_that_do_not_exist_count(bench, tools):
    with pytest.raises(ToolLimitExceeded):
        bench.execute(limited(total=2), counted("nonsense", 3), tools)


def test_rounds_are_limited(bench, tools):
    assert statuses(
        bench.execute(limited(rounds=3), chat(("a", {})), tools, messages=history(["a"], ["b"]))
    ) == ["ran"]
    with pytest.raises(ToolLimitExceeded, match="in a row"):
        bench.execute(limited(rounds=2), chat(("a", {})), tools, messages=history(["a"], ["b"]))


def test_the_smaller_of_two_limits_of_one_tool_counts(bench, log):
    tools = [log.tool("a", max_calls=2), log.tool("b")]
    tell = limited(tools={"a": 5, "b": 1}, on_exceeded="tell_model")
    assert statuses(bench.execute(tell, counted("a", 3), tools)) == ["ran", "ran", "over_limit"]
    assert statuses(bench.execute(tell, counted("b", 2), tools)) == ["ran", "over_limit"]


def test_no_limit_is_a_limit_of_none(bench, tools):
    unlimited = limited(per_tool=None, total=None, identical=None)
    assert statuses(bench.execute(unlimited, chat(*[("a", {})] * 200), tools)) == ["ran"] * 200


def test_a_plan_shows_limits_in_place_of_raising(bench, tools):
    plan = bench.run(limited(per_tool=1).plan(USER, counted("a", 2), tools=tools))
    assert [planned.action for planned in plan] == ["run", "settled"]
    assert "over_limit" in str(plan)
