import logging
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.filters.contract import PRIVATE, FilterContract
from tests.naming import stable
from tests.shells import REFUSED, UNDECIDED, Scripted
from yesno import Message, YesNo, YesNoAnswer
from yesno.errors import ConfigError, ProviderRejected, QuestionError, Refused, UndecidedError
from yesno.filters import Check, Guardrails
from yesno.flow import run

RUDE = "Is this rude?"
SPAM = "Is this spam?"
LEAK = "Does this leak a secret?"
CHECKS = {"rude": RUDE, "spam": SPAM}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
CALL = {"id": "1", "type": "function", "function": {"name": "pay", "arguments": '{"to": "secret"}'}}


def judge(model, guard, *args, side="input", **kwargs):
    """Judge a text through a model of either kind, as a flow."""
    check = guard.judge_input if side == "input" else guard.judge_output
    return model.run(check(*args, **kwargs))


def test_case_180_checks_below_the_threshold_pass_after_one_call_with_all_questions_and_the_plain_text(shell):
    model = Scripted(shell, {"rude": 0.1, "spam": 0.49})
    verdict = judge(model, Guardrails(CHECKS), "hello there")
    assert (verdict.band, verdict.passed, verdict.message) == ("pass", True, None)
    (request,) = model.requests
    assert request.input == "hello there"
    assert dict(request.questions) == {"rude": YesNo(RUDE), "spam": YesNo(SPAM)}
    assert verdict.usage.requests == 2


def test_case_181_a_check_at_97_of_80_is_fatal_and_the_message_names_it_alone(shell):
    model = Scripted(shell, {"rude": 0.97, "spam": 0.6})
    verdict = judge(model, Guardrails(CHECKS, threshold=0.8), "x")
    assert verdict.blocked
    assert verdict.is_fatal
    assert verdict.message == "The input was rejected by: rude"
    assert verdict.names("block") == ("rude",)


@pytest.mark.parametrize(
    ("message", "shown"),
    [("Please rephrase.", "Please rephrase."), (lambda names: f"{len(names)} of two", "1 of two")],
    ids=["text", "function"],
)
def test_case_182_a_message_of_ones_own_takes_the_place_of_the_usual_one(shell, message, shown):
    model = Scripted(shell, {"rude": 0.97})
    assert judge(model, Guardrails(CHECKS, message=message), "x").message == shown


def test_case_183_of_a_message_with_an_image_alone_the_marker_is_checked(shell):
    model = Scripted(shell, {"rude": 0.97})
    picture = [{"role": "user", "content": [IMAGE]}]
    assert judge(model, Guardrails(CHECKS), picture).blocked
    assert model.requests[0].input == "[attached image]"


@pytest.mark.parametrize("text", ["", " \n", [{"role": "user", "content": "  "}]], ids=repr)
def test_case_183_blank_text_passes_without_a_call(shell, text):
    model = Scripted(shell)
    verdict = judge(model, Guardrails(CHECKS), text)
    assert (verdict.band, verdict.checks, verdict.usage) == ("pass", (), None)
    assert model.requests == []


def test_case_184_a_list_of_checks_given_after_single_ones_replaces_them_and_their_thresholds(shell):
    single = Guardrails({"leak": LEAK}).with_check(Check("rude", RUDE, threshold=0.9))
    bulk = single.with_checks({"rude": RUDE, "spam": SPAM})
    model = Scripted(shell, {"rude": 0.6})
    assert judge(model, bulk, "x").names("block") == ("rude",)
    assert judge(model, single, "x").passed
    assert [list(request.questions) for request in model.requests] == [["rude", "spam"], ["leak", "rude"]]


@pytest.mark.parametrize("checks", [[], {}, None, "rude", 3], ids=repr)
def test_case_185_no_checks_fail_at_once(checks):
    with pytest.raises(QuestionError, match="check"):
        Guardrails(checks)


def test_case_185_without_a_model_checking_fails_at_once_and_with_one_gives_the_verdict(shell):
    for side in ("check_input", "check_output"):
        with pytest.raises(ConfigError, match=r"model=DecisionModel\(\.\.\.\)"):
            getattr(Guardrails(CHECKS), side)("x")
    model = Scripted(shell, {"rude": 0.97})
    guard = Guardrails(CHECKS, model=model.model)
    assert model.result(guard.check_input("x")).blocked
    assert model.result(guard.check_output("x")).blocked
    assert model.result(guard.with_check(Check("leak", LEAK)).check_input("x")).blocked


def test_case_186_each_check_may_have_a_threshold_of_its_own(shell):
    model = Scripted(shell, {"rude": 0.4, "spam": 0.7})
    checks = [Check("rude", RUDE, threshold=0.3), Check("spam", SPAM, threshold=0.8)]
    assert judge(model, Guardrails(checks), "x").names("block") == ("rude",)


def test_case_187_checks_without_one_take_that_of_the_guardrails_and_failures_are_listed_in_order(shell):
    model = Scripted(shell, {"rude": 0.7, "spam": 0.9, "leak": 0.65})
    checks = [Check("spam", SPAM), Check("leak", LEAK, threshold=0.8), Check("rude", RUDE)]
    verdict = judge(model, Guardrails(checks, threshold=0.6), "x")
    assert verdict.message == "The input was rejected by: spam, rude"


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), "0.5", True], ids=repr)
@pytest.mark.parametrize("name", ["threshold", "review"])
def test_case_188_a_threshold_of_a_check_that_is_none_fails_naming_the_check(name, value):
    with pytest.raises(ConfigError, match=f"`{name}` of check `rude`"):
        Check("rude", RUDE, **{name: value})


def test_case_189_a_probability_equal_to_the_threshold_is_rejected(shell):
    model = Scripted(shell, {"rude": 0.5})
    assert judge(model, Guardrails({"rude": RUDE}), "x").blocked


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (lambda: Guardrails(CHECKS, threshold=1.5), "threshold.*1.5"),
        (lambda: Guardrails(CHECKS, review=-1), "review.*-1"),
        (lambda: Guardrails(CHECKS, threshold=0.4, review=0.5), "'rude' blocks from 0.4"),
        (lambda: Guardrails({" ": RUDE}), "name.*blank"),
        (lambda: Guardrails({"rude": " "}), "'rude'.*blank"),
        (lambda: Guardrails({"rude": 3}), "'rude'.*int"),
        (lambda: Guardrails(CHECKS, reprompt=" "), "reprompt.*blank"),
        (lambda: Guardrails(CHECKS, message=""), "message.*blank"),
        (lambda: Guardrails([Check("rude", RUDE), Check("rude", SPAM)]), "'rude' is used twice"),
        (lambda: Guardrails({"rude": None}), "'rude' has no question"),
        (lambda: Guardrails(CHECKS).with_checks(None), "None"),
    ],
    ids=stable,
)
def test_case_190_what_makes_no_sense_fails_at_once_naming_the_problem(build, problem):
    with pytest.raises((QuestionError, ConfigError), match=problem):
        build()


@pytest.mark.parametrize("side", ["input", "output"])
@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (ProviderRejected("down", provider="fake", status=400), ProviderRejected),
        (REFUSED, Refused),
        (UNDECIDED, UndecidedError),
    ],
    ids=["failure", "refusal", "undecided"],
)
def test_case_191_a_failure_a_refusal_and_an_undecided_check_raise_and_never_pass(shell, side, reply, error):
    model = Scripted(shell, {"spam": reply, "rude": 0.99})
    with pytest.raises(error) as caught:
        judge(model, Guardrails(CHECKS), "some text", side=side)
    if error is not ProviderRejected:
        assert "'spam'" in str(caught.value)
        assert "some text" not in str(caught.value)


@pytest.mark.parametrize(
    ("user", "sent"),
    [
        (
            [
                Message("user", "old"),
                Message("assistant", "hi"),
                Message("user", "new"),
                Message("tool", "t"),
            ],
            {"userMessage": "new", "response": "answer"},
        ),
        ("said", {"userMessage": "said", "response": "answer"}),
        (None, {"response": "answer"}),
        ([Message("system", "s")], {"response": "answer"}),
        (" ", {"response": "answer"}),
    ],
    ids=["conversation", "message", "none", "no_user", "blank"],
)
def test_case_192_of_an_output_the_last_user_message_is_sent_with_the_response(shell, user, sent):
    model = Scripted(shell)
    assert judge(model, Guardrails(CHECKS), "answer", side="output", user=user).passed
    (request,) = model.requests
    assert request.input == sent
    assert list(request.input) == list(sent)


def test_case_193_a_blocked_response_asks_for_another_with_the_instruction(shell):
    model = Scripted(shell, {"rude": 0.9})
    guard = Guardrails(CHECKS, reprompt="Say it politely.")
    verdict = judge(model, guard, "answer", side="output")
    assert (verdict.reprompt, verdict.is_fatal) == ("Say it politely.", False)
    assert verdict.message == "The output was rejected by: rude"
    assert judge(model, guard, "asked").reprompt is None
    assert judge(Scripted(shell), guard, "answer", side="output").reprompt is None


@pytest.mark.parametrize(
    "response",
    [
        "answer",
        Message("assistant", "answer"),
        {"role": "assistant", "content": "answer", "tool_calls": [CALL]},
    ],
    ids=["text", "message", "with_calls"],
)
def test_case_194_a_response_that_passes_is_a_success_and_arguments_of_calls_are_not_judged(shell, response):
    model = Scripted(shell)
    assert judge(model, Guardrails(CHECKS), response, side="output").passed
    assert model.requests[0].input == {"response": "answer"}


@pytest.mark.parametrize(
    "response",
    [
        Message("assistant", tool_calls=[CALL]),
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        [{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "pay", "input": {}}]}],
        " ",
    ],
    ids=["message", "openai", "anthropic", "blank"],
)
def test_case_194_a_response_that_only_calls_tools_is_a_success_without_a_call(shell, response):
    model = Scripted(shell, {"rude": 0.99})
    assert judge(model, Guardrails(CHECKS), response, side="output").passed
    assert model.requests == []


def test_a_check_between_its_two_thresholds_wants_a_review_and_the_worst_band_counts(shell):
    checks = [Check("spam", SPAM, threshold=0.9, review=0.2), Check("rude", RUDE)]
    guard = Guardrails(checks, threshold=0.8, review=0.4)
    bands = {
        (0.1, 0.1): ("pass", ("pass", "pass")),
        (0.2, 0.39): ("review", ("review", "pass")),
        (0.89, 0.4): ("review", ("review", "review")),
        (0.2, 0.8): ("block", ("review", "block")),
    }
    for (spam, rude), (worst, each) in bands.items():
        verdict = judge(Scripted(shell, {"spam": spam, "rude": rude}), guard, "x")
        assert (verdict.band, tuple(check.band for check in verdict.checks)) == (worst, each)
        assert (verdict.message is None) is (worst != "block")


def test_a_result_holds_the_answer_and_both_thresholds_of_each_check(shell):
    verdict = judge(Scripted(shell, {"spam": 0.7}), Guardrails(CHECKS, threshold=0.9, review=0.6), "x")
    spam = verdict.checks[1]
    assert (spam.name, spam.block, spam.review) == ("spam", 0.9, 0.6)
    assert verdict.probability_of("spam") == spam.probability == pytest.approx(0.7)
    assert spam.answer.low == pytest.approx(0.7)
    with pytest.raises(Exception, match="no result of a check 'rood'; the results are 'rude', 'spam'"):
        verdict.probability_of("rood")


def test_probabilities_are_logged_at_debug_only_and_texts_not_at_all(shell, caplog):
    model = Scripted(shell, {"rude": 0.97})
    with caplog.at_level(logging.INFO, logger="yesno.filters"):
        verdict = judge(model, Guardrails(CHECKS), "my secret")
    assert caplog.records == []
    assert "0.9" not in verdict.message
    with caplog.at_level(logging.DEBUG, logger="yesno.filters"):
        judge(model, Guardrails(CHECKS), "my secret")
    (record,) = caplog.records
    assert record.probabilities["rude"] == pytest.approx(0.97)
    assert "secret" not in str(vars(record))


@pytest.mark.parametrize("side", ["input", "output"])
def test_a_conversation_without_the_message_to_judge_is_an_error_not_a_pass(side):
    guard = Guardrails(CHECKS)
    with pytest.raises(QuestionError, match=r"no .*message to check"):
        (guard.judge_input if side == "input" else guard.judge_output)([Message("system", "be kind")])


def test_of_a_conversation_the_last_message_of_the_side_is_judged(shell):
    talk = [
        Message("user", "one"),
        Message("assistant", "two"),
        Message("user", "three"),
        Message("assistant", "four"),
    ]
    model = Scripted(shell)
    judge(model, Guardrails(CHECKS), talk)
    judge(model, Guardrails(CHECKS), talk, side="output", user=talk)
    assert [request.input for request in model.requests] == [
        "three",
        {"userMessage": "three", "response": "four"},
    ]


SHARES = st.integers(0, 20).map(lambda n: n / 20)


@given(st.lists(st.tuples(SHARES, SHARES, SHARES), min_size=1, max_size=5))
def test_a_text_is_blocked_by_exactly_the_checks_that_reach_their_threshold_and_by_no_fewer(rows):
    checks = [
        Check(f"c{n}", RUDE, threshold=max(limits), review=min(limits)) for n, (_, *limits) in enumerate(rows)
    ]
    answers = [YesNoAnswer(p) for p, _, _ in rows]
    verdict = run(Guardrails(checks).judge_input("x"), lambda _: answers)
    assert list(verdict.names("block")) == [
        c.name for c, a in zip(checks, answers, strict=True) if a.is_yes(c.threshold)
    ]
    assert verdict.blocked is bool(verdict.names("block"))
    wanted = {n for n, (p, *limits) in enumerate(rows) if min(limits) <= p < max(limits)}
    assert {f"c{n}" for n in wanted} == set(verdict.names("review"))
    assert verdict.passed is not (verdict.blocked or bool(wanted))


class TestGuardrails(FilterContract):
    filter = Guardrails
    settings: ClassVar = {"checks": CHECKS}
    impossible = (
        ({"threshold": 1.5}, "threshold"),
        ({"review": -1}, "review"),
        ({"reprompt": " "}, "reprompt"),
        ({"message": ""}, "message"),
        ({"threshold": 0.2, "review": 0.3}, "review"),
    )

    def flow(self, made):
        return made.judge_input(PRIVATE)

    def call(self, made):
        return made.check_input(PRIVATE)
