"""Who is asked before a call runs, and what their answer does."""

import pytest

from tests.toolcalls.support import SHAPES, USER, Log, anthropic, chat, contents, sealed, statuses
from yesno import YesNo, ask_all
from yesno.errors import (
    ConfigError,
    DecisionError,
    GateUnavailable,
    PendingStateError,
    ProviderRejected,
    ToolDefinitionError,
)
from yesno.toolcalls import (
    Allow,
    ConfirmationRequired,
    Deny,
    Tool,
    ToolAnnotations,
    ToolCallDecisions,
    ToolCallingManager,
    Verdict,
    tool,
)

MANAGER = ToolCallingManager()
BOTH = chat(("read", {"path": "a"}), ("delete", {"path": "b"}))


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def tools(log):
    return [log.tool("read"), log.tool("delete", confirm=True)]


@pytest.fixture
def manager():
    return sealed()


def answered(bench, manager, tools, decisions, reply=BOTH, **more):
    pending = bench.paused(manager, reply, tools)
    return bench.execute(manager, reply, tools, pending=pending, decisions=decisions, **more)


def test_case_056_one_call_that_waits_holds_back_all(bench, manager, tools, log):
    with pytest.raises(ConfirmationRequired, match="1 of 2") as stop:
        bench.execute(manager, BOTH, tools)
    assert "delete" in str(stop.value)
    assert log == []


def test_case_057_the_record_shows_all_calls_and_which_wait(bench, manager, tools):
    pending = bench.paused(manager, BOTH, tools)
    assert [(c.name, c.waiting, c.why, c.arguments) for c in pending.calls] == [
        ("read", False, None, {"path": "a"}),
        ("delete", True, "confirm", {"path": "b"}),
    ]
    assert [call.id for call in pending.waiting] == ["c2"]
    assert pending.waiting[0].summary == 'delete({"path": "b"})'


@pytest.mark.parametrize("shape", SHAPES)
def test_case_058_allowed_calls_run_once_in_order(bench, manager, tools, log, shape):
    reply = SHAPES[shape](("read", {"path": "a"}), ("delete", {"path": "b"}))
    run = answered(bench, manager, tools, {"c1": Allow(), "c2": True}, reply)
    assert statuses(run) == ["ran", "ran"]
    assert log == [("read", {"path": "a"}), ("delete", {"path": "b"})]


def test_case_059_a_denied_call_does_not_run_and_says_why(bench, manager, tools, log):
    run = answered(bench, manager, tools, {"c2": Deny("keep it")})
    assert statuses(run) == ["ran", "denied"]
    assert "person refused" in contents(run)[1]
    assert contents(run)[1].endswith("keep it")
    assert log.names == ["read"]


def test_case_060_a_denial_without_words_still_forbids_to_repeat(bench, manager, tools):
    assert "Do not repeat" in contents(answered(bench, manager, tools, {"c2": False}))[1]


def refused(bench, manager, tools, log, decisions, told):
    with pytest.raises(DecisionError, match=told):
        answered(bench, manager, tools, decisions)
    assert log == []


def test_case_061_a_decision_for_another_call_is_refused(bench, manager, tools, log):
    refused(bench, manager, tools, log, {"c2": True, "c7": True}, "'c7'")


def test_case_062_a_call_that_waits_needs_a_decision(bench, manager, tools, log):
    refused(bench, manager, tools, log, {"c1": True}, "'c2'")
    refused(bench, manager, tools, log, None, "'c2'")


@pytest.mark.parametrize("value", [None, 1, 0, "yes", "allow", object(), Allow, [True]])
def test_case_063_only_a_decision_is_a_decision(bench, manager, tools, log, value):
    refused(bench, manager, tools, log, {"c2": value}, "'c2'")


def test_case_064_two_decisions_for_one_call_are_refused(bench, manager, tools, log):
    refused(bench, manager, tools, log, [("c2", False), ("c2", True)], "two decisions for call 'c2'")


@pytest.mark.parametrize("decisions", ["c2", 5, [True], {2: True}])
def test_decisions_of_no_known_shape_are_refused(bench, manager, tools, log, decisions):
    refused(bench, manager, tools, log, decisions, "decision")


def test_case_065_a_tool_that_is_not_there_any_more_cannot_be_allowed(bench, manager, tools, log):
    pending = bench.paused(manager, BOTH, tools)
    with pytest.raises(PendingStateError, match="'delete'") as error:
        bench.execute(manager, BOTH, tools[:1], pending=pending, decisions={"c2": True})
    assert error.value.reason == "tools"
    with pytest.raises(DecisionError, match="'delete'"):
        bench.execute(MANAGER, BOTH, tools[:1], decisions={"c1": True, "c2": True})
    assert log == []


@pytest.mark.parametrize(("cents", "waits"), [(500, False), (5000, True)])
def test_case_066_a_rule_may_look_at_the_arguments(bench, cents, waits):
    @tool(confirm=lambda call, context: call.arguments["cents"] > context["most"])
    def refund(cents: int):
        """Pay back."""

    manager = ToolCallingManager()
    reply = chat(("refund", {"cents": cents}))
    plan = bench.run(manager.plan(USER, reply, tools=[refund], context={"most": 1000}))
    assert [planned.action for planned in plan] == ["wait" if waits else "run"]


def raising(call, context):
    raise KeyError("x")


async def asynchronous(call, context):
    return False


RULES = {
    "raises": raising,
    "none": lambda call, context: None,
    "zero": lambda call, context: 0,
    "text": lambda call, context: "no",
    "other signature": lambda: False,
    "asynchronous": asynchronous,
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_case_067_a_rule_without_a_real_answer_asks_a_person(bench, log, rule):
    bench.paused(MANAGER, chat(("a", {})), [log.tool("a", confirm=rule)])
    bench.paused(
        ToolCallingManager(policy=lambda call, tool, context: rule(call, context)),
        chat(("b", {})),
        [log.tool("b")],
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_case_068_a_denied_call_is_denied_again_without_asking(bench, manager, tools, log, shape):
    first = answered(
        bench, manager, tools, {"c1": Deny("no")}, SHAPES[shape](("delete", {"path": "b", "deep": True}))
    )
    if shape == "langchain":  # its messages are of another package
        from yesno import Message

        first.messages[1:] = [
            Message(
                "assistant",
                tool_calls=[
                    {"id": "c1", "function": {"name": "delete", "arguments": '{"path":"b","deep":true}'}}
                ],
            ),
            Message("tool", contents(first)[0], tool_call_id="c1"),
        ]
    again = chat(("delete", '{"deep":true,  "path":"b"}', "c5"))
    run = bench.execute(manager, again, tools, messages=first.messages)
    assert statuses(run) == ["denied"]
    assert "Do not repeat" in contents(run)[0]
    bench.paused(manager, chat(("delete", {"path": "other"}, "c6")), tools, messages=run.messages)
    third = bench.execute(
        manager, chat(("delete", {"path": "b", "deep": True}, "c7")), tools, messages=run.messages
    )
    assert statuses(third) == ["denied"]
    later = [*run.messages, {"role": "user", "content": "now do it"}]
    bench.paused(manager, chat(("delete", {"path": "b", "deep": True}, "c8")), tools, messages=later)
    assert log == []


def mail_tool(log, **settings):
    @tool(confirm=True, **settings)
    def mail(to: str, copies: int = 1):
        """Send."""
        log.append(("mail", {"to": to, "copies": copies}))
        return "sent"

    return mail


def test_case_069_a_person_may_change_the_arguments_of_an_editable_tool(bench, manager, log):
    tools, reply = [mail_tool(log, editable=True)], chat(("mail", {"to": "all"}))
    with pytest.raises(DecisionError, match="copies"):
        answered(bench, manager, tools, {"c1": Allow(arguments={"to": "bob", "copies": "many"})}, reply)
    with pytest.raises(DecisionError, match="JSON"):
        answered(bench, manager, tools, {"c1": Allow(arguments={"to": object()})}, reply)
    assert log == []
    run = answered(bench, manager, tools, {"c1": Allow(arguments={"to": "bob"})}, reply)
    assert log == [("mail", {"to": "bob", "copies": 1})]
    assert contents(run)[0].startswith(
        'A person changed this call before it ran. It ran with the arguments {"to":"bob"}'
    )
    assert contents(run)[0].endswith("sent")
    assert run.new_messages[0] is reply["choices"][0]["message"]


def test_case_070_the_arguments_of_another_tool_may_not_be_changed(bench, manager, log):
    with pytest.raises(DecisionError, match="not `editable`"):
        answered(
            bench,
            manager,
            [mail_tool(log)],
            {"c1": Allow(arguments={"to": "bob"})},
            chat(("mail", {"to": "all"})),
        )
    assert log == []


@pytest.mark.parametrize(
    ("annotations", "trusted", "waits"),
    [
        (None, False, True),
        (None, True, True),
        ({"readOnlyHint": True}, False, True),
        ({"readOnlyHint": True}, True, False),
        ({"readOnlyHint": True, "destructiveHint": False}, True, False),
        ({"readOnlyHint": True, "destructiveHint": True}, True, True),
        ({"readOnlyHint": "true"}, True, True),
        ({"destructiveHint": False, "idempotentHint": True}, True, True),
    ],
)
def test_case_071_hints_count_only_from_trusted_servers_and_absent_is_the_worst(
    bench, annotations, trusted, waits
):
    given = {"name": "t", "description": "d", "inputSchema": {"type": "object"}, "annotations": annotations}
    far = Tool.from_mcp(given, lambda name, arguments: "ok", server="far", trusted=trusted)
    plan = bench.run(MANAGER.plan(USER, chat(("far__t", {})), tools=[far]))
    assert [(planned.action, planned.why) for planned in plan] == [
        ("wait", "hint") if waits else ("run", None)
    ]


class Gate:
    """Says about each tool what a table says."""

    def __init__(self, check_all=False, **verdicts):
        self.check_all = check_all
        self.verdicts = verdicts
        self.asked = []

    def judge(self, calls, messages):
        self.asked.append([call.call.name for call in calls])
        yield from ()
        return [self.verdicts.get(call.tool.name, Verdict("run", 0.05)) for call in calls]


def ruled(bench, *, confirm=False, source="local", policy=None, verdict=None, check_all=False):
    """Return action and reason of one call under rules."""
    gate = None if verdict is None else Gate(check_all, a=verdict)
    made = Tool("a", "d", run=lambda: None, confirm=confirm, source=source)
    manager = ToolCallingManager(gate=gate, policy=None if policy is None else lambda *_: policy)
    (planned,) = bench.run(manager.plan(USER, chat(("a", {})), tools=[made]))
    return planned.result.status if planned.result else planned.action, planned.why


RISKY, BAD, FINE = Verdict("confirm", 0.6), Verdict("block", 0.97, reason="wipes"), Verdict("run", 0.0)


@pytest.mark.parametrize(
    ("rules", "outcome"),
    [
        ({}, ("run", None)),
        ({"policy": Deny("never"), "confirm": True}, ("blocked", None)),
        ({"confirm": True, "policy": False, "verdict": FINE}, ("wait", "confirm")),
        ({"policy": True, "verdict": FINE}, ("wait", "policy")),
        ({"policy": False, "source": "mcp:far"}, ("run", None)),
        ({"policy": "auto", "source": "mcp:far", "verdict": FINE}, ("wait", "hint")),
        ({"confirm": "auto", "source": "mcp:far", "verdict": FINE}, ("wait", "hint")),
        ({"confirm": "auto"}, ("wait", "gate")),
        ({"policy": "auto"}, ("wait", "gate")),
        ({"confirm": "auto", "verdict": FINE}, ("run", None)),
        ({"confirm": "auto", "verdict": RISKY}, ("wait", "gate")),
        ({"confirm": "auto", "verdict": BAD}, ("blocked", None)),
        ({"verdict": BAD}, ("run", None)),
        ({"verdict": BAD, "check_all": True}, ("blocked", None)),
        ({"verdict": RISKY, "check_all": True}, ("wait", "gate")),
        ({"confirm": lambda call, context: False, "source": "mcp:far"}, ("run", None)),
        ({"confirm": lambda call, context: True, "policy": False}, ("wait", "confirm")),
    ],
)
def test_the_stricter_rule_comes_first_and_no_judge_overrules_one(bench, rules, outcome):
    assert ruled(bench, **rules) == outcome


@pytest.mark.parametrize(
    "verdict",
    [
        None,
        "run",
        {"action": "run"},
        Verdict("go"),
        Verdict("run", float("nan")),
        Verdict("run", 1.5),
        Verdict("run", True),
        Verdict("run", 0.0, method=5),
        Verdict("run", 0.0, reason=["x"]),
    ],
)
def test_a_verdict_that_cannot_be_read_asks_a_person(bench, log, verdict):
    gate = Gate(a=verdict)
    pending = bench.paused(ToolCallingManager(gate=gate), chat(("a", {})), [log.tool("a", confirm="auto")])
    assert [(call.why, call.risk) for call in pending.calls] == [("gate", None)]


class AskingGate:
    """Asks the model about each call, one round for the batch and one more for the first call."""

    check_all = False

    def __init__(self, log):
        self.log, self.seen = log, None

    def judge(self, calls, messages):
        self.seen = [message.text for message in messages]
        questions = [YesNo(f"Is {call.tool.name} risky?") for call in calls]
        outcomes = yield from ask_all(questions, "a call")
        again = yield from ask_all(questions[:1], "the first call again")
        assert self.log == []
        return [
            Verdict("confirm" if outcome.probability > 0.5 else "run", outcome.probability, outcome.method)
            for outcome in [*again, *outcomes[1:]]
        ]


def test_a_gate_asks_the_model_that_runs_the_flow_and_no_tool_starts_before_its_last_question(bench, log):
    bench.answers = {"Is a risky": 0.1, "Is b risky": 0.2, "Is c risky": 0.9}
    gate = AskingGate(log)
    tools = [log.tool(name, confirm="auto") for name in "abc"]
    manager = sealed(gate=gate)
    assert statuses(bench.execute(manager, chat(("a", {}), ("b", {})), tools)) == ["ran", "ran"]
    assert bench.questions == [["Is a risky?", "Is b risky?"], ["Is a risky?"]]
    assert gate.seen == ["please do it"]
    log.clear()
    pending = bench.paused(manager, chat(("a", {}), ("c", {})), tools)
    assert [(call.waiting, call.risk, call.method) for call in pending.calls] == [
        (False, "0.100", "logprobs"),
        (True, "0.900", "logprobs"),
    ]
    assert log == []


def test_a_model_that_fails_while_the_gate_asks_stops_everything(bench, log):
    bench.answers = {"Is a risky": ProviderRejected("no", provider="fake", status=400)}
    with pytest.raises(ProviderRejected):
        bench.execute(
            sealed(gate=AskingGate(log)),
            chat(("b", {}), ("a", {})),
            [log.tool("b"), log.tool("a", confirm="auto")],
        )
    assert log == []


def test_too_few_verdicts_ask_a_person_about_all(bench, log):
    gate = Gate()
    gate.judge = lambda calls, messages: ((yield from ()), [Verdict("run")])[1]
    pending = bench.paused(
        ToolCallingManager(gate=gate), chat(("a", {}), ("a", {"n": 2})), [log.tool("a", confirm="auto")]
    )
    assert len(pending.waiting) == 2


def test_a_gate_is_asked_once_about_valid_open_calls_and_its_risk_is_kept(bench, log):
    gate = Gate(a=RISKY, b=Verdict("run", 0.123456))
    tools = [log.tool(name, confirm="auto") for name in "ab"] + [log.tool("c"), log.tool("d", confirm=True)]
    manager = sealed(gate=gate)
    reply = chat(("a", {}), ("b", {}), ("c", {}), ("d", {}), ("a", "{oops"), ("zzz", {}))
    pending = bench.paused(manager, reply, tools)
    assert gate.asked == [["a", "b"]]
    assert [call.risk for call in pending.calls] == ["0.600", "0.123", None, None, None, None]
    run = bench.execute(manager, reply, tools, pending=pending, decisions={"c1": True, "c4": False})
    assert gate.asked == [["a", "b"]]
    assert statuses(run) == ["ran", "ran", "ran", "denied", "invalid_arguments", "unknown_tool"]
    assert run.results[0].risk == 0.6


def test_what_the_gate_blocked_stays_blocked_on_resume(bench, log):
    manager = sealed(gate=Gate(a=BAD))
    reply = chat(("a", {}), ("d", {}))
    tools = [log.tool("a", confirm="auto"), log.tool("d", confirm=True)]
    run = answered(bench, manager, tools, {"c1": Allow(), "c2": Allow()}, reply)
    assert statuses(run) == ["blocked", "ran"]
    assert "wipes" in contents(run)[0]
    assert log.names == ["d"]


def test_a_gate_that_raises_stops_everything(bench, log):
    gate = Gate()

    def judge(calls, messages):
        raise GateUnavailable("down")
        yield

    gate.judge = judge
    with pytest.raises(GateUnavailable):
        bench.execute(
            ToolCallingManager(gate=gate),
            chat(("b", {}), ("a", {})),
            [log.tool("b"), log.tool("a", confirm="auto")],
        )
    assert log == []


def test_a_policy_that_became_stricter_wins_over_a_person(bench, tools, log):
    closed = []
    manager = sealed(policy=lambda call, tool, context: Deny("closed") if closed else False)
    pending = bench.paused(manager, BOTH, tools)
    closed.append(True)
    run = bench.execute(manager, BOTH, tools, pending=pending, decisions={"c2": True})
    assert statuses(run) == ["blocked", "blocked"]
    assert log == []


def test_a_policy_sees_changed_arguments(bench, log):
    manager = sealed(
        policy=lambda call, tool, context: Deny("no") if call.arguments["to"] == "boss" else False
    )
    run = answered(
        bench,
        manager,
        [mail_tool(log, editable=True)],
        {"c1": Allow(arguments={"to": "boss"})},
        chat(("mail", {"to": "all"})),
    )
    assert statuses(run) == ["blocked"]
    assert log == []


def test_without_a_seal_decisions_alone_resume_what_the_caller_vouches_for(bench, tools, log):
    assert statuses(bench.execute(MANAGER, BOTH, tools, decisions={"c2": True})) == ["ran", "ran"]
    with pytest.raises(DecisionError, match="'c2'"):
        bench.execute(MANAGER, BOTH, tools, decisions={"c1": True})
    with pytest.raises(PendingStateError) as error:
        bench.execute(sealed(), BOTH, tools, decisions={"c2": True})
    assert error.value.reason == "missing"
    assert len(log) == 2


def test_without_a_record_a_gate_that_checks_all_needs_a_decision_for_all(bench, log):
    manager = ToolCallingManager(gate=Gate(check_all=True))
    with pytest.raises(DecisionError, match="'c1'"):
        bench.execute(
            manager,
            chat(("a", {}), ("d", {})),
            [log.tool("a"), log.tool("d", confirm=True)],
            decisions={"c2": True},
        )
    assert log == []


def test_a_harmless_call_may_be_denied_too(bench, manager, tools, log):
    assert statuses(answered(bench, manager, tools, {"c1": Deny(), "c2": Allow()})) == ["denied", "ran"]
    assert log.names == ["delete"]


def test_decisions_show_no_words_of_a_person():
    shown = repr(
        ToolCallDecisions(
            {"c1": Deny("my secret"), "c2": Allow(arguments={"key": "my secret"}, note="my secret")}
        )
    )
    assert "secret" not in shown


@pytest.mark.parametrize(
    "setting",
    [{"policy": "x"}, {"parallel": 0}, {"audit_required": True}, {"audit": 5}, {"pending_ttl_s": 0}],
)
def test_an_impossible_setting_of_the_manager_is_refused(setting):
    with pytest.raises(ConfigError):
        ToolCallingManager(**setting)


def test_read_only_and_idempotent_are_told_apart():
    assert ToolAnnotations(read_only=True).may_repeat
    assert not ToolAnnotations(read_only=True, destructive=True).may_repeat
    assert ToolAnnotations(idempotent=True).may_repeat
    assert not ToolAnnotations().may_repeat


def test_a_reply_of_anthropic_says_that_a_denied_call_is_an_error(bench, manager, tools):
    run = answered(bench, manager, tools, {"c1": False}, anthropic(("delete", {})))
    assert run.new_messages[-1]["content"][0]["is_error"] is True


def test_a_tool_definition_error_on_resume_is_raised_before_the_record_is_used(bench, manager, log):
    described = Tool("delete", "d", confirm=True)
    reply = chat(("delete", {}))
    pending = bench.paused(manager, reply, [described])
    with pytest.raises(ToolDefinitionError):
        bench.execute(manager, reply, [described], pending=pending, decisions={"c1": True})
    run = bench.execute(
        manager, reply, [log.tool("delete", confirm=True)], pending=pending, decisions={"c1": True}
    )
    assert statuses(run) == ["ran"]
