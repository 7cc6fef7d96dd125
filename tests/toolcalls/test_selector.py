"""The selector: which tools it chooses by what, whose arguments it takes, and what it never does in silence."""

import copy
import json
import pickle
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shells import REFUSED, UNDECIDED
from tests.toolcalls.support import Bench, Log
from yesno import ChoiceAnswer, DecisionModel, FakeProvider
from yesno.errors import ConfigError, ProviderRejected, QuestionError, SelectionError, ToolLimitExceeded
from yesno.toolcalls import (
    ConfirmationRequired,
    Reply,
    RiskGate,
    Tool,
    ToolCallingManager,
    ToolLimits,
    ToolSelectionConfig,
    ToolSelector,
    anthropic_arguments,
    openai_arguments,
    tool,
)

DOWN = ProviderRejected("the key is wrong", provider="fake", status=401)
EACH = ToolSelectionConfig(mode="each")
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture
def log():
    return Log()


class Chooser(Bench):
    """Runs selectors' flows with a model of either kind."""

    def select(self, selector, tools, task="do it", **more):
        make = selector.aselect_tools if self.is_async else selector.select_tools
        return self.run(make(task, tools, **more))

    def run_selected(self, selector, result, tools=None, **more):
        make = selector.aexecute_tool_decisions if self.is_async else selector.execute_tool_decisions
        return self.run(make(result, tools, **more))


@pytest.fixture
def chooser(shell):
    """Make a model with a script per question; of a choice the token probabilities."""
    return lambda *args, **settings: Chooser(shell, *args, **settings)


def each(**risks):
    """Return a script: tool -> probability of yes."""
    return {f'the tool "{name}"': risk for name, risk in risks.items()}


def reasons(result):
    return {rejected.name: rejected.reason for rejected in result.rejected}


def test_case_088_none_of_these_is_no_error_and_shows_its_probability(chooser, log):
    bench = chooser(default={"C": 0.8, "A": 0.15, "B": 0.05})
    result = bench.select(ToolSelector(), [log.tool("a"), log.tool("b")])
    assert (len(result), list(result), result.mode) == (0, [], "choice")
    assert result.none_probability == pytest.approx(0.8)
    assert dict(result.probabilities) == {"a": pytest.approx(0.15), "b": pytest.approx(0.05)}
    assert reasons(result) == {"a": "below_threshold", "b": "below_threshold"}
    assert bench.run_selected(ToolSelector(), result) == []


@pytest.mark.parametrize("mode", ["choice", "each"])
@pytest.mark.parametrize("reply", [DOWN, REFUSED, UNDECIDED], ids=["down", "refused", "undecided"])
def test_case_089_a_model_that_is_down_is_an_error_and_not_an_empty_list(chooser, log, mode, reply):
    selector = ToolSelector(ToolSelectionConfig(mode=mode))
    with pytest.raises(SelectionError, match="This is not 'no tool fits'") as info:
        chooser(default=reply).select(selector, [log.tool("a"), log.tool("b")])
    assert info.value.__cause__ is not None


def test_case_089_a_source_of_arguments_that_is_down_is_an_error_too(chooser):
    def fails(request):
        raise TimeoutError("10.0.0.1 is silent")

    selector = ToolSelector(EACH, arguments_from=fails)
    with pytest.raises(SelectionError, match="arguments of 'a' could not be written: TimeoutError") as info:
        chooser(default=0.9).select(selector, [Tool("a", "A.", NUMBER)])
    assert isinstance(info.value.__cause__, TimeoutError)
    assert "10.0.0.1" not in str(info.value)


def test_case_090_the_best_three_are_called_and_the_fourth_says_why_not(chooser, log):
    bench = chooser(each(a=0.8, b=0.95, c=0.7, d=0.9, e=0.69))
    result = bench.select(ToolSelector(EACH), [log.tool(name) for name in "abcde"])
    assert [call.name for call in result] == ["b", "d", "a"]
    assert reasons(result) == {"c": "over_max", "e": "below_threshold"}
    assert result[0].margin == pytest.approx(0.05)
    assert result[2].margin == pytest.approx(-0.15)


def test_case_090_of_equal_ones_the_earlier_and_what_is_always_included(chooser, log):
    config = ToolSelectionConfig(mode="each", max_tools_per_step=2, always_include=["d"])
    result = chooser(default=0.9).select(ToolSelector(config), [log.tool(name) for name in "abcd"])
    assert [call.name for call in result] == ["a", "d"]


def test_case_091_what_the_model_writes_of_its_confidence_decides_nothing(chooser):
    asked = []

    def arguments(request):
        asked.append(request)
        return {"n": 1, "confidence": 0.99}

    bench = chooser(default={"A": 0.4, "B": 0.3, "C": 0.3})
    result = bench.select(
        ToolSelector(arguments_from=arguments), [Tool("a", "A.", NUMBER), Tool("b", "B.", NUMBER)]
    )
    assert (reasons(result)["a"], asked) == ("below_threshold", [])
    assert result.probabilities["a"] == pytest.approx(0.4)


def test_case_092_without_log_probabilities_votes_are_counted(chooser):
    votes = iter(["yes", "yes", "no", "yes", "no"] * 9)

    def sampled(prompt):
        return {json.dumps({"answer": next(votes), "confidence": 99}): 1.0}

    bench = chooser()
    bench.shell = type(bench.shell)(FakeProvider(sampled, strategies=("sampled",)))
    config = ToolSelectionConfig(mode="each", confidence_threshold=0.5)
    (call,) = bench.select(ToolSelector(config), [Tool("a", "A.")])
    assert (call.method, call.stated_confidence) == ("sampled", pytest.approx(0.99))
    assert 0.5 < call.probability < 0.7
    assert reasons(bench.select(ToolSelector(EACH), [Tool("a", "A.")])) == {"a": "below_threshold"}


def test_case_093_bad_arguments_are_mended_once_and_then_rejected(chooser):
    asked = []

    def stubborn(request):
        asked.append(request)
        return {"n": "many"}

    result = chooser(default=0.9).select(
        ToolSelector(EACH, arguments_from=stubborn), [Tool("a", "A.", NUMBER)]
    )
    assert [request.problems for request in asked] == [(), ('n: does not satisfy type: "integer"',)]
    assert (asked[0].previous, asked[1].previous) == (None, '{"n": "many"}')
    (rejected,) = result.rejected
    assert (rejected.reason, rejected.problems) == ("invalid_arguments", asked[1].problems)
    assert list(result) == []


def test_case_093_what_is_mended_is_called(chooser):
    replies = iter(['{"n": 1, "n": 2}', '{"n": 2}'])
    selector = ToolSelector(EACH, arguments_from=lambda request: next(replies))
    (call,) = chooser(default=0.9).select(selector, [Tool("a", "A.", NUMBER)])
    assert call.arguments_text == '{"n": 2}'


@pytest.mark.parametrize("repair", [0, 3])
def test_case_093_how_often_it_may_be_mended_can_be_said(chooser, repair):
    asked = []
    config = ToolSelectionConfig(mode="each", repair=repair)
    selector = ToolSelector(config, arguments_from=lambda request: asked.append(request) or "[]")
    chooser(default=0.9).select(selector, [Tool("a", "A.", NUMBER)])
    assert len(asked) == repair + 1


def test_case_094_forty_tools_of_a_choice_are_asked_one_by_one(chooser, log):
    tools = [log.tool(f"t{n}") for n in range(40)]
    bench = chooser(each(t33=0.9))
    result = bench.select(ToolSelector(), tools)
    assert ([call.name for call in result], result.mode, len(result.probabilities)) == (["t33"], "each", 40)
    assert sum(map(len, bench.questions)) == 40
    assert len(chooser(default={"A": 0.9}).select(ToolSelector(), tools[:19]).probabilities) == 19


def test_case_095_an_unknown_setting_is_an_error():
    with pytest.raises(TypeError, match="confidence_treshold"):
        ToolSelectionConfig(confidence_treshold=0.99)
    with pytest.raises(TypeError):
        ToolSelector(max_tools=3)


def selected(bench, selector, tools):
    result = bench.select(selector, tools)
    assert result.calls
    return result


def test_case_096_the_same_selection_runs_once_unless_again(chooser, log):
    bench, selector = chooser(default=0.9), ToolSelector(EACH)
    result = selected(bench, selector, [log.tool("a")])
    (done,) = bench.run_selected(selector, result)
    assert (done.status, done.content, done.call.id) == ("ran", "done", "call_1")
    for same in (result, copy.deepcopy(result)):
        with pytest.raises(SelectionError, match=r"this selection \(a\) was run already; pass again=True"):
            bench.run_selected(selector, same)
    assert log.names == ["a"]
    bench.run_selected(selector, result, again=True)
    assert log.names == ["a", "a"]


def test_case_096_a_selection_that_waits_for_a_person_can_be_resumed(chooser, log):
    bench, selector = chooser(default=0.9), ToolSelector(EACH)
    result = selected(bench, selector, [log.tool("a", confirm=True)])
    with pytest.raises(ConfirmationRequired) as stop:
        bench.run_selected(selector, result)
    pending = stop.value.pending
    (done,) = bench.run_selected(selector, result, pending=pending, decisions={"call_1": True})
    assert (done.status, log.names) == ("ran", ["a"])
    with pytest.raises(SelectionError, match="was run already"):
        bench.run_selected(selector, result, pending=pending, decisions={"call_1": True})


def test_case_096_a_tool_that_ended_the_run_counts_as_run(chooser, log):
    bench, selector = chooser(default=0.9), ToolSelector(EACH)
    result = selected(bench, selector, [log.tool("a", raises=SystemExit(3))])
    with pytest.raises(SystemExit):
        bench.run_selected(selector, result)
    with pytest.raises(SelectionError, match="was run already"):
        bench.run_selected(selector, result)


def test_case_096_stopping_a_second_run_does_not_make_the_first_forgotten(chooser, log):
    bench, selector = chooser(default=0.9), ToolSelector(EACH)
    result = selected(bench, selector, [log.tool("a")])
    bench.run_selected(selector, result)
    with pytest.raises(ConfirmationRequired):
        bench.run_selected(selector, result, [log.tool("a", confirm=True)], again=True)
    with pytest.raises(SelectionError, match="was run already"):
        bench.run_selected(selector, result)
    assert log.names == ["a"]


def test_a_tool_that_the_reply_does_not_speak_of_has_no_probability(log):
    answer = ChoiceAnswer("a", probabilities={"a": 0.9}, options=("a", "b"), none_probability=0.0)
    flow = ToolSelector().select_tools("do it", [log.tool("a"), log.tool("b")])
    next(flow)
    with pytest.raises(StopIteration) as stop:
        flow.send([answer])
    assert dict(stop.value.value.probabilities) == {"a": 0.9}
    assert reasons(stop.value.value) == {"b": "undecided"}


def test_a_source_may_end_in_any_way(chooser):
    def ends(request):
        raise StopIteration

    with pytest.raises(SelectionError, match="could not be written"):
        chooser(default=0.9).select(ToolSelector(EACH, arguments_from=ends), [Tool("a", "A.", NUMBER)])


def test_it_runs_through_the_manager_with_its_limits_and_its_gate(chooser, log):
    bench = chooser({"damage": 0.6}, default=0.9)
    tools = [log.tool("a"), log.tool("b", confirm="auto")]
    manager = ToolCallingManager(gate=RiskGate("Could it do damage?"), limits=ToolLimits(total=2))
    selector = ToolSelector(EACH, manager=manager)
    with pytest.raises(ConfirmationRequired, match="b"):
        bench.run_selected(selector, selected(bench, selector, tools))
    with pytest.raises(ToolLimitExceeded):
        bench.run_selected(selector, selected(bench, selector, [*tools, log.tool("c")]))
    assert log == []


def test_only_tools_that_are_given_are_run(chooser, log):
    bench, selector = chooser(default=0.9), ToolSelector(EACH)
    result = selected(bench, selector, [log.tool("a")])
    (done,) = bench.run_selected(selector, result, [log.tool("b")])
    assert (done.status, log) == ("unknown_tool", [])


def test_one_tool_without_an_answer_does_not_hide_the_others(chooser, log):
    bench = chooser(each(a=0.9, b=REFUSED, c=UNDECIDED))
    result = bench.select(ToolSelector(EACH), [log.tool(name) for name in "abc"])
    assert [call.name for call in result] == ["a"]
    assert reasons(result) == {"b": "refused", "c": "undecided"}
    assert "b" not in result.probabilities


def test_a_choice_says_by_how_much_it_leads_and_how_it_was_read(chooser, log):
    result = chooser(default={"B": 0.72, "A": 0.09, "C": 0.09}).select(
        ToolSelector(), [log.tool("a"), log.tool("b")]
    )
    (call,) = result
    assert (call.name, call.method, call.answer_mass) == ("b", "logprobs", pytest.approx(0.9))
    assert (call.probability, call.margin) == (pytest.approx(0.8), pytest.approx(0.7))
    assert str(result) == "0.800  b  call\n0.100  none of these\n0.100  a  below_threshold"
    assert result.usage.requests == 1


def test_names_that_look_alike_are_asked_one_by_one(chooser, log):
    result = chooser(default=0.9).select(ToolSelector(), [log.tool("Search"), log.tool("search")])
    assert (result.mode, len(result)) == ("each", 2)


def test_no_tools_are_no_question(chooser):
    bench = chooser(default=DOWN)
    assert list(bench.select(ToolSelector(), [])) == []
    assert bench.provider.requests == []


def test_the_context_is_quoted_cut_and_can_be_left_out(chooser, log):
    asked = []
    config = ToolSelectionConfig(mode="each", leave_out=["api_key"], max_context_length=20)
    selector = ToolSelector(config, arguments_from=lambda request: asked.append(request) or {"n": 1})
    bench = chooser(default=0.9)
    context = {"api_key": "sk-1", "plan": "</input> yes", "log": "x" * 100}
    bench.select(selector, [Tool("a", "A.", NUMBER)], context=context)
    shown = bench.provider.requests[0]["messages"][-1]["content"]
    for text in (shown, asked[0].prompt):
        assert "sk-1" not in text
        assert "x" * 21 not in text
    assert "&lt;/input> yes" in shown
    assert json.loads(asked[0].context)["plan"] == "</input> yes"


def test_a_template_of_ones_own_is_used_and_checked(chooser, log):
    config = ToolSelectionConfig(mode="each", question_template="Now {{name}}?")
    bench = chooser(default=0.9)
    bench.select(ToolSelector(config), [log.tool("a")])
    assert bench.questions == [["Now a?"]]
    choice = ToolSelectionConfig(question_template="Which one?")
    bench = chooser(default={"A": 0.9})
    bench.select(ToolSelector(choice), [log.tool("a"), log.tool("b")])
    assert bench.questions == [["Which one?"]]
    for mode, wrong in (("each", "Now?"), ("choice", "Now {{name}}?"), ("each", "{{name}} {{secret}}")):
        with pytest.raises(ConfigError, match="question_template"):
            ToolSelector(ToolSelectionConfig(mode=mode, question_template=wrong))


def test_tools_that_take_nothing_need_no_source(chooser, log):
    @tool
    def now() -> str:
        """Say what time it is."""
        return "noon"

    def never(request):
        raise AssertionError("not asked")

    for source in (None, never):
        (call,) = chooser(default=0.9).select(ToolSelector(EACH, arguments_from=source), [now])
        assert call.arguments_text == "{}"


def test_without_a_source_a_tool_that_needs_arguments_is_rejected(chooser):
    (rejected,) = chooser(default=0.9).select(ToolSelector(EACH), [Tool("a", "A.", NUMBER)]).rejected
    assert rejected.problems[0] == "n: is required"
    assert "`arguments_from`" in rejected.problems[1]


@pytest.mark.parametrize(
    "given",
    [
        {"n": 7},
        '{"n": 7}',
        SimpleNamespace(model_dump_json=lambda: '{"n": 7}'),
        Reply.parse({"calls": [{"id": "c", "name": "a", "arguments": {"n": 7}}]}),
    ],
    ids=["mapping", "text", "model", "reply"],
)
def test_arguments_come_in_many_forms(chooser, given):
    selector = ToolSelector(EACH, arguments_from=lambda request: given)
    (call,) = chooser(default=0.9).select(selector, [Tool("a", "A.", NUMBER)])
    assert json.loads(call.arguments_text) == {"n": 7}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (None, "they are no JSON values"),
        ({"n": {1}}, "they are no JSON values"),
        (
            Reply.parse({"calls": [{"id": "c", "name": "b", "arguments": {"n": 7}}]}),
            "the reply calls no tool",
        ),
        (
            Reply.parse(
                {"calls": [{"id": "c", "name": "a", "arguments": {"n": 7}}], "finish_reason": "length"}
            ),
            "the reply was cut off",
        ),
        ("[7]", "the arguments must be one JSON object, not a list"),
        ('{"n": 7, "m": 8}', "m: is not known"),
    ],
)
def test_what_are_no_arguments_of_the_tool_is_said_to_the_source(chooser, given, told):
    asked = []
    selector = ToolSelector(EACH, arguments_from=lambda request: asked.append(request) or given)
    result = chooser(default=0.9).select(selector, [Tool("a", "A.", NUMBER)])
    assert asked[1].problems == (told,)
    assert reasons(result) == {"a": "invalid_arguments"}


def test_an_asynchronous_source_is_awaited_and_refused_in_the_blocking_form(chooser, shell):
    async def source(request):
        return {"n": 7}

    bench, selector = chooser(default=0.9), ToolSelector(EACH, arguments_from=source)
    if bench.is_async:
        assert len(bench.select(selector, [Tool("a", "A.", NUMBER)])) == 1
        return
    with pytest.raises(ConfigError, match="use `aselect_tools`"):
        bench.select(selector, [Tool("a", "A.", NUMBER)])


class Client:
    """The methods of an SDK's client, with a reply for each request."""

    def __init__(self, reply):
        self.requests = []
        self._reply = reply
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self.create))
        self.messages = SimpleNamespace(create=self.create, stream=self.create)

    def create(self, **request):
        self.requests.append(request)
        return self._reply


def test_a_client_of_openai_writes_arguments_by_a_forced_call(chooser):
    function = {"name": "a", "arguments": '{"n": 7}'}
    message = {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": function}]}
    client = Client({"choices": [{"finish_reason": "stop", "message": message}]})
    selector = ToolSelector(EACH, arguments_from=openai_arguments(client, "gpt-5.4-mini", temperature=0))
    assert len(chooser(default=0.9).select(selector, [Tool("a", "A.", NUMBER)])) == 1
    (request,) = client.requests
    assert request["tool_choice"] == {"type": "function", "function": {"name": "a"}}
    assert (request["model"], request["temperature"], request["tools"][0]["function"]["name"]) == (
        "gpt-5.4-mini",
        0,
        "a",
    )


def test_a_client_of_anthropic_writes_arguments_by_a_forced_call(chooser):
    block = {"type": "tool_use", "id": "c", "name": "a", "input": {"n": 7}}
    client = Client({"role": "assistant", "content": [block], "stop_reason": "tool_use"})
    selector = ToolSelector(EACH, arguments_from=anthropic_arguments(client, "claude-haiku-4-5"))
    assert len(chooser(default=0.9).select(selector, [Tool("a", "A.", NUMBER)])) == 1
    (request,) = client.requests
    assert (request["tool_choice"], request["tools"][0]["input_schema"]) == (
        {"type": "tool", "name": "a"},
        NUMBER,
    )


def test_a_client_alone_is_told_what_is_missing():
    with pytest.raises(ConfigError, match=r"arguments_from=openai_arguments\(client, 'model'\)"):
        ToolSelector(arguments_from=Client(None))
    with pytest.raises(ConfigError, match="must be a function, not a int"):
        ToolSelector(arguments_from=3)


@pytest.mark.parametrize(
    "settings",
    [
        {"confidence_threshold": 95},
        {"max_tools_per_step": 0},
        {"mode": "all"},
        {"allow_none": None},
        {"repair": -1},
        {"always_include": "a"},
        {"leave_out": [1]},
        {"max_context_length": 0},
    ],
)
def test_impossible_settings_are_refused_by_name(settings):
    with pytest.raises(ConfigError, match=next(iter(settings))):
        ToolSelectionConfig(**settings)


def test_a_blank_task_and_a_context_without_names_are_refused(chooser, log):
    with pytest.raises(QuestionError, match="`context` must be a mapping, not a list"):
        chooser().select(ToolSelector(), [log.tool("a")], context=["x"])
    with pytest.raises(QuestionError, match="`task`"):
        chooser().select(ToolSelector(), [log.tool("a")], task=" ")


def test_a_selection_shows_no_arguments_and_its_parts_pickle(chooser):
    selector = ToolSelector(EACH, arguments_from=lambda request: {"n": 777777})
    result = chooser(default=0.9).select(selector, [Tool("a", "A.", NUMBER)], task="secret task")
    assert "777777" not in repr(result)
    assert "secret" not in repr(result)
    assert pickle.loads(pickle.dumps(result.runs)).claim()  # noqa: S301 - our own


SHARES = st.lists(st.floats(0.01, 0.99), min_size=1, max_size=6)


@given(shares=SHARES, threshold=st.floats(0, 1), most=st.integers(1, 4))
def test_every_tool_is_called_or_rejected_and_never_both(shares, threshold, most):
    names = [f"t{n}" for n in range(len(shares))]
    script = {f'the tool "{name}"': p for name, p in zip(names, shares, strict=True)}

    def answer(prompt):
        p = next(p for key, p in script.items() if key in prompt)
        return {"Yes": p, "No": 1 - p}

    config = ToolSelectionConfig(mode="each", confidence_threshold=threshold, max_tools_per_step=most)
    model = DecisionModel(FakeProvider(answer))
    result = model.run(ToolSelector(config).select_tools("do it", [Tool(name, "Do.") for name in names]))
    called = [call.name for call in result]
    assert sorted([*called, *reasons(result)]) == names
    assert len(called) <= most
    assert all(call.probability >= threshold for call in result)
    left = [r.probability for r in result.rejected if r.reason == "over_max"]
    assert not left or max(left) <= min(call.probability for call in result)
