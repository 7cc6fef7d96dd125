"""What users of other libraries reported, as small cases of our own."""

from typing import Annotated

import pytest
from pydantic import AfterValidator

from tests.toolcalls.support import USER, Log, chat, contents, sealed, statuses
from yesno.errors import DecisionError, PendingStateError
from yesno.toolcalls import Allow, Deny, Reply, Tool, ToolCallingManager, ToolLimits, tool


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def manager():
    return sealed()


def test_tools_01_silence_is_no_approval(bench, manager, log):
    tools, reply = [log.tool("format", confirm=True)], chat(("format", {"volume": "v7"}))
    pending = bench.paused(manager, reply, tools)
    with pytest.raises(DecisionError, match="'c1' is None"):
        bench.execute(manager, reply, tools, pending=pending, decisions={"c1": None})
    assert log == []


def test_tools_02_what_the_reviewer_sees_is_what_runs_after_every_rewrite(bench, manager):
    got = []

    @tool(confirm=True)
    def pay(amount: Annotated[int, AfterValidator(lambda amount: min(amount, 50))]):
        """Pay, at most 50."""
        got.append(amount)

    reply = chat(("pay", {"amount": 900}))
    pending = bench.paused(manager, reply, [pay])
    assert pending.waiting[0].arguments == {"amount": 50}
    assert pending.waiting[0].arguments_text == '{"amount": 900}'
    assert "50" in pending.waiting[0].summary
    bench.execute(manager, reply, [pay], pending=pending, decisions={"c1": True})
    assert got == [50]


def test_tools_02_a_rewrite_that_gives_another_value_later_is_refused(bench, manager):
    got, rates = [], iter([50, 60, 70])

    @tool(confirm=True)
    def pay(amount: Annotated[int, AfterValidator(lambda amount: next(rates))]):
        """Pay what the day's rate says."""
        got.append(amount)

    reply = chat(("pay", {"amount": 900}))
    pending = bench.paused(manager, reply, [pay])
    with pytest.raises(PendingStateError) as error:
        bench.execute(manager, reply, [pay], pending=pending, decisions={"c1": True})
    assert error.value.reason == "arguments"
    assert got == []


def test_tools_03_a_denied_reply_cannot_be_run_by_another_way_in(bench, manager, log):
    tools, reply = [log.tool("truncate", confirm=True)], chat(("truncate", {}))
    pending = bench.paused(manager, reply, tools)
    first = bench.execute(manager, reply, tools, pending=pending, decisions={"c1": Deny("no")})
    assert statuses(first) == ["denied"]
    with pytest.raises(PendingStateError) as error:
        bench.execute(manager, reply, tools, pending=pending, decisions={"c1": Allow()})
    assert error.value.reason == "already_used"
    assert log == []


def test_tools_04_mixed_answers_are_honoured_and_every_call_has_a_result(bench, manager, log):
    tools = [log.tool("mail", confirm=True), log.tool("call", confirm=True)]
    reply = chat(("mail", {}), ("call", {}))
    pending = bench.paused(manager, reply, tools)
    run = bench.execute(manager, reply, tools, pending=pending, decisions={"c1": Deny("later"), "c2": True})
    assert [(result.call.id, result.status) for result in run.results] == [("c1", "denied"), ("c2", "ran")]
    assert [message["tool_call_id"] for message in run.new_messages[1:]] == ["c1", "c2"]
    assert log.names == ["call"]


def test_tools_05_the_model_is_told_that_a_person_changed_its_call(bench, manager, log):
    tools, reply = [log.tool("post", confirm=True, editable=True)], chat(("post", {"channel": "everyone"}))
    pending = bench.paused(manager, reply, tools)
    assert pending.waiting[0].answers == ("allow", "deny", "edit")
    run = bench.execute(
        manager, reply, tools, pending=pending, decisions={"c1": Allow(arguments={"channel": "ops"})}
    )
    assert log == [("post", {"channel": "ops"})]
    assert "person changed this call" in contents(run)[0]
    assert run.messages[1] == reply["choices"][0]["message"]


def test_tools_06_a_refusal_without_a_reason_is_not_asked_about_again(bench, manager, log):
    tools, reply = [log.tool("publish", confirm=True)], chat(("publish", {"page": 4}))
    pending = bench.paused(manager, reply, tools)
    run = bench.execute(manager, reply, tools, pending=pending, decisions={"c1": False})
    assert "person refused" in contents(run)[0]
    assert "Do not repeat" in contents(run)[0]
    again = bench.execute(manager, chat(("publish", {"page": 4}, "c2")), tools, messages=run.messages)
    assert statuses(again) == ["denied"]
    assert log == []


def test_tools_07_an_invented_name_is_one_result_among_others(bench, manager, log):
    run = bench.execute(manager, chat(("list_users", {}), ("list_uesrs", {})), [log.tool("list_users")])
    assert statuses(run) == ["ran", "unknown_tool"]
    assert "list_users" in contents(run)[1]


def test_tools_08_finished_results_survive_a_failure_beside_them(bench, manager, log):
    tools = [log.tool("one"), log.tool("two", raises=TimeoutError()), log.tool("three")]
    run = bench.execute(manager, chat(("one", {}), ("two", {}), ("three", {})), tools)
    assert statuses(run) == ["ran", "failed", "ran"]


def test_tools_09_the_same_empty_argument_cannot_go_on_for_ever(bench, log):
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string", "minLength": 1}},
        "required": ["text"],
    }
    summarize = log.tool("summarize", schema=schema)
    manager, messages, found = ToolCallingManager(limits=ToolLimits(identical=3)), USER, []
    for number in range(6):
        run = bench.execute(
            manager, chat(("summarize", {"text": ""}, f"c{number}")), [summarize], messages=messages
        )
        messages = run.messages
        found += statuses(run)
        if number == 0:
            assert "- text: " in contents(run)[0]
    assert found == ["invalid_arguments"] * 3 + ["over_limit"] * 3
    assert log == []


def test_tools_10_wrongly_nested_brackets_are_a_result(bench, manager, log):
    run = bench.execute(manager, chat(("plan", '{"steps":[{"do":"x"]}')), [log.tool("plan")])
    assert statuses(run) == ["invalid_arguments"]
    assert "not valid JSON" in contents(run)[0]


def test_tools_11_a_streamed_call_can_be_shown_for_confirmation(bench, manager, log):
    chunks = [
        {"index": 0, "id": "c1", "name": "unlink", "arguments": '{"fi'},
        {"index": 0, "arguments": 'le":"x"}'},
        {"finish_reason": "tool_calls"},
    ]
    pending = bench.paused(manager, Reply.from_chunks(chunks), [log.tool("unlink", confirm=True)])
    assert [(call.id, call.name, call.arguments_text) for call in pending.waiting] == [
        ("c1", "unlink", '{"file":"x"}')
    ]


def test_tools_12_a_hint_that_is_not_there_is_not_a_safe_one(bench, log):
    hints = {"h1": None, "h2": {"readOnlyHint": True}, "h3": {"readOnlyHint": True, "destructiveHint": True}}
    tools = [
        Tool.from_mcp(
            {"name": name, "description": "d", "inputSchema": {"type": "object"}, "annotations": given},
            lambda name, arguments: "ok",
            trusted=True,
        )
        for name, given in hints.items()
    ]
    pending = bench.paused(sealed(), chat(*((name, {}) for name in hints)), tools)
    assert [call.name for call in pending.waiting] == ["h1", "h3"]
    assert {call.why for call in pending.waiting} == {"hint"}


def test_tools_13_a_client_cannot_make_up_an_approved_call(bench, manager, log):
    reply = chat(("wire", {"account": "mine"}, "x"))
    with pytest.raises(PendingStateError) as error:
        bench.execute(
            manager,
            reply,
            [log.tool("wire", confirm=True)],
            pending={"id": "x", "signature": "AAAA"},
            decisions={"x": True},
        )
    assert error.value.reason == "signature"
    assert log == []


def test_tools_14_a_resume_that_is_tried_again_does_not_charge_twice(bench, manager, log):
    tools, reply = [log.tool("bill", confirm=True)], chat(("bill", {"eur": 9}))
    pending = bench.paused(manager, reply, tools).model_dump_json()
    bench.execute(manager, reply, tools, pending=pending, decisions={"c1": True})
    with pytest.raises(PendingStateError) as error:
        bench.execute(manager, reply, tools, pending=pending, decisions={"c1": True})
    assert error.value.reason == "already_used"
    assert log == [("bill", {"eur": 9})]
