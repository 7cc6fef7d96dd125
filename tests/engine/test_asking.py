"""What is asked, when a question is asked again, and what comes of it."""

from dataclasses import replace

import pytest

from tests.engine.support import both
from yesno import Attempt, Choice, DecisionModel, FakeProvider, Scale, Undecided, YesNo
from yesno.errors import ConfigError, QuestionError, Refused, UndecidedError

YES = {"Yes": 0.9, "No": 0.1}
WEAK = {"The": 0.9, "Yes": 0.06, "No": 0.04}


def prompts(provider):
    return [payload["messages"][-1]["content"] for payload in provider.requests]


def ending(reason):
    return {f"<{reason}>": 1}


@both
def test_a_weak_reply_is_asked_again_with_a_stricter_prompt(shell):
    provider = FakeProvider([WEAK, YES])
    answer = shell(provider).decide("x", YesNo("q?"))
    assert answer.attempts == (Attempt("logprobs", "low_label_mass"), Attempt("logprobs", "answered"))
    first, second = prompts(provider)
    assert second.startswith(first)
    assert "exactly one word" in second
    assert "exactly" not in first


@both
@pytest.mark.parametrize(
    ("question", "insisted"),
    [(Choice("q?", ["one", "two", "three"]), "A to C"), (Scale("q?", ["low", "high"]), "A to B")],
    ids=["choice", "scale"],
)
def test_the_second_prompt_names_the_labels(shell, question, insisted):
    provider = FakeProvider([WEAK, {"A": 0.9, "B": 0.1}])
    shell(provider).decide("x", question)
    first, second = prompts(provider)
    assert insisted in second
    assert insisted not in first


@both
def test_after_two_weak_replies_the_outcome_is_undecided_with_what_was_seen(shell):
    provider = FakeProvider(WEAK)
    outcome = shell(provider).decide("x", {"q": YesNo("q?")}).outcome("q")
    assert isinstance(outcome, Undecided)
    assert (outcome.reason, outcome.label_mass) == ("low_label_mass", pytest.approx(0.1))
    assert outcome.low <= 0.6 <= outcome.high
    assert outcome.attempts == (Attempt("logprobs", "low_label_mass"),) * 2
    assert len(provider.requests) == 2


@both
def test_a_good_first_reply_is_asked_once(shell):
    provider = FakeProvider(YES)
    assert shell(provider).decide("x", YesNo("q?")).attempts == (Attempt("logprobs", "answered"),)
    assert len(provider.requests) == 1


@both
def test_a_refusal_is_final_at_once(shell):
    provider = FakeProvider([ending("refusal"), YES])
    with pytest.raises(Refused) as info:
        shell(provider).decide("x", YesNo("q?"))
    assert len(provider.requests) == 1
    assert info.value.outcome.attempts == (Attempt("logprobs", "refusal"),)


@both
def test_a_reply_cut_off_gets_room_for_the_second_try(shell):
    provider = FakeProvider([ending("length"), YES])
    answer = shell(provider).decide("x", YesNo("q?"))
    assert [attempt.result for attempt in answer.attempts] == ["truncated", "answered"]
    assert [payload["max_tokens"] for payload in provider.requests] == [4, 2048]


@both
def test_a_tool_call_is_asked_again_and_then_undecided(shell):
    with pytest.raises(UndecidedError, match="tool") as info:
        shell(FakeProvider(ending("tool_calls"))).decide("x", YesNo("q?"))
    assert [attempt.result for attempt in info.value.outcome.attempts] == ["tool_call", "tool_call"]


@both
def test_one_undecided_question_does_not_spoil_the_others(shell):
    provider = FakeProvider(lambda prompt: WEAK if "vague?" in prompt else YES)
    response = shell(provider).decide("x", {"a": YesNo("vague?"), "b": YesNo("clear?")})
    assert response.is_undecided("a")
    assert response.yes_no("b").is_yes()
    with pytest.raises(UndecidedError, match="'a'"):
        response.yes_no("a")


@both
def test_the_least_label_mass_is_the_callers_choice(shell):
    script = {"The": 0.7, "Yes": 0.2, "No": 0.1}
    with pytest.raises(UndecidedError):
        shell(FakeProvider(script), min_label_mass=0.31).decide("x", YesNo("q?"))
    answer = shell(FakeProvider(script), min_label_mass=0.29).decide("x", YesNo("q?"))
    assert answer.probability == pytest.approx(2 / 3)


@pytest.mark.parametrize("value", [-0.1, 1.5, "x", float("nan"), True], ids=str)
def test_a_least_label_mass_that_is_no_share_is_refused(value):
    with pytest.raises(ConfigError, match="min_label_mass"):
        DecisionModel(FakeProvider(), min_label_mass=value)


@both
def test_an_answer_says_how_it_was_obtained(shell):
    answer = shell(FakeProvider({"Yes": 0.6, "No": 0.2, "Maybe": 0.1})).decide("x", YesNo("q?"))
    assert (answer.method, answer.calibrated, answer.raw) == ("logprobs", False, answer.probability)
    assert answer.label_mass == pytest.approx(0.8)
    assert answer.low < answer.probability < answer.high
    name, _, digest = answer.template.partition("#")
    assert name == "default/yes_no@4"
    assert len(digest) == 8


@both
def test_options_of_one_letter_are_shown_and_read_as_themselves(shell):
    provider = FakeProvider({"B": 0.7, "A": 0.2, "C": 0.1})
    answer = shell(provider).decide("x", Choice("Which?", ["C", "B", "A"]))
    assert answer.probabilities == {"C": pytest.approx(0.1), "B": pytest.approx(0.7), "A": pytest.approx(0.2)}
    assert "C. C\nB. B\nA. A\n" in prompts(provider)[0]


@both
def test_the_way_out_is_offered_last_and_reported_apart(shell):
    provider = FakeProvider({"C": 0.8, "A": 0.15, "B": 0.05})
    answer = shell(provider).decide("x", Choice("Which?", ["one", "two"], none="neither of them"))
    assert "C. neither of them" in prompts(provider)[0]
    assert answer.is_none
    assert (answer.value, answer.none_probability) == ("neither of them", pytest.approx(0.8))
    assert list(answer.probabilities) == ["one", "two"]


def test_a_scale_with_too_many_levels_is_refused_with_the_limit_before_anything_is_sent():
    provider = FakeProvider({"A": 0.9, "B": 0.1})
    assert DecisionModel(provider).decide("x", Scale("q?", [f"l{i}" for i in range(20)])).level() == 0
    with pytest.raises(QuestionError, match="at most 20"):
        DecisionModel(provider).decide("x", Scale("q?", [f"l{i}" for i in range(21)]))
    assert len(provider.requests) == 1


@both
def test_no_question_and_too_many_arguments_are_refused(shell):
    model = shell(FakeProvider())
    with pytest.raises(QuestionError, match="question"):
        model.decide("x", None)
    with pytest.raises(QuestionError, match="at least one"):
        model.decide("x", {})


def test_a_prompt_may_start_the_answer_where_a_host_continues_it(tmp_path):
    (tmp_path / "yes_no.j2").write_text(
        '---\nversion = 1\ndescription = "d"\n---\n{% block system %}{% endblock %}'
        "{% block user %}{{ input }} {{ question }}{% endblock %}{% block prefill %}Answer:{% endblock %}"
    )
    provider = FakeProvider()
    DecisionModel(provider, template=tmp_path).decide("x", YesNo("q?"))
    provider.profile = replace(provider.profile, prefill=True)
    DecisionModel(provider, template=tmp_path).decide("x", YesNo("q?"))
    assert [payload["messages"][-1]["role"] for payload in provider.requests] == ["user", "assistant"]
    assert provider.requests[1]["messages"][-1]["content"] == "Answer:"


@both
def test_a_script_that_runs_dry_is_a_failure_and_no_outcome(shell):
    replies = iter([YES])
    model = shell(FakeProvider(lambda prompt: next(replies)))
    assert model.decide("x", YesNo("q?")).is_yes()
    with pytest.raises((StopIteration, RuntimeError)):
        model.decide("x", YesNo("q?"))
