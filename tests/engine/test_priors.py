"""When a model's favourites are measured, and what of."""

import asyncio
from dataclasses import replace

import pytest

from tests.engine.support import both
from yesno import AsyncDecisionModel, Attempt, Choice, DecisionModel, FakeProvider, Scale, YesNo
from yesno.engine import priors
from yesno.errors import ConfigError, Refused
from yesno.reading.priors import PROBES, ModelPrior
from yesno.templates.sets import TemplateSet

QUESTION = Choice("Which?", ["one", "two"])
LIKES_B = {"A": 0.2, "B": 0.8}
CHOICE_TEMPLATE = TemplateSet.load("default").template("choice").id


def biased(prompt):
    """Say A of "first", B of "second", each a little; without content, prefer B."""
    if "first" in prompt:
        return {"A": 0.5, "B": 0.5}
    return {"A": 0.1, "B": 0.9} if "second" in prompt else LIKES_B


def measured(provider, **facts):
    facts = {"standing": frozenset({"choice"}), **facts}
    provider.profile = replace(provider.profile, prior=ModelPrior(**facts))
    return provider


def probes(provider):
    prompts = [payload["messages"][-1]["content"] for payload in provider.requests]
    return [prompt for prompt in prompts if any(f"<input>\n{probe}\n</input>" in prompt for probe in PROBES)]


@both
@pytest.mark.parametrize(
    ("question", "reply", "expected"),
    [
        (YesNo("q?"), {"Yes": 0.6, "No": 0.4}, 0.5),
        (QUESTION, {"A": 0.6, "B": 0.4}, 0.5),
        (Scale("q?", ["low", "high"]), {"A": 0.6, "B": 0.4}, 0.5),
    ],
    ids=["yes_no", "choice", "scale"],
)
def test_content_free_takes_the_prior_out_of_every_type_from_the_first_input_on(
    shell, question, reply, expected
):
    provider = FakeProvider(reply)
    answer = shell(provider, prior="content_free").decide("first", question)
    number = {"yes_no": "probability", "scale": "mean"}.get(question.kind)
    value = answer.probability_of("one") if number is None else getattr(answer, number)
    assert value == pytest.approx(expected)
    assert len(probes(provider)) == len(PROBES)


@both
def test_a_measured_prior_is_used_again_for_nothing(shell):
    provider = FakeProvider(biased)
    model = shell(provider, prior="content_free")
    first, second = (model.decide(text, QUESTION) for text in ("first", "second"))
    assert first.probability_of("one") == pytest.approx(0.5 / 0.2 / (0.5 / 0.2 + 0.5 / 0.8))
    assert first.raw["one"] == pytest.approx(0.5)
    assert second.value == "two"
    assert first.attempts == (Attempt("logprobs", "prior", len(PROBES)), Attempt("logprobs", "answered"))
    assert second.attempts == (Attempt("logprobs", "answered"),)
    assert len(provider.requests) == 2 + len(PROBES)


@both
def test_the_requests_that_measure_are_in_the_usage(shell):
    response = shell(FakeProvider(biased), prior="content_free").decide("first", {"q": QUESTION})
    assert response.usage.requests == 1 + len(PROBES)


@both
def test_by_default_a_question_stands_from_its_second_input_on(shell):
    provider = measured(FakeProvider(biased))
    model = shell(provider)
    once, again = model.decide("first", QUESTION), model.decide("first", QUESTION)
    assert once.probabilities == again.probabilities == {"one": 0.5, "two": 0.5}
    assert probes(provider) == []
    model.decide("second", QUESTION)
    assert len(probes(provider)) == len(PROBES)
    assert model.decide("first", QUESTION).value == "one"


@both
def test_the_questions_of_map_stand_from_its_first_input_on(shell):
    provider = measured(FakeProvider(biased))
    answers = shell(provider, concurrency=1).map(["first", "second"], QUESTION)
    assert [answer.value for answer in answers] == ["one", "two"]
    assert all("prior" in answer.flags for answer in answers)
    assert len(probes(provider)) == len(PROBES)


@both
def test_a_question_stands_in_all_orders_or_in_none(shell):
    provider = measured(FakeProvider(biased))
    (answer,) = shell(provider, orders=2, concurrency=1).map(["first"], QUESTION)
    assert [attempt.result for attempt in answer.attempts] == ["prior", "answered"] * 2
    provider = measured(FakeProvider(biased))
    answer = shell(provider, orders=2).decide("first", QUESTION)
    assert [attempt.result for attempt in answer.attempts] == ["answered"] * 2


@both
def test_named_questions_of_map_stand_too(shell):
    provider = measured(FakeProvider(biased))
    (response,) = shell(provider).map(["first"], {"q": QUESTION})
    assert response.choice("q").value == "one"


@both
@pytest.mark.parametrize("settings", [{"prior": "off"}, {}], ids=["off", "not measured to help"])
def test_otherwise_nothing_is_taken_out(shell, settings):
    provider = FakeProvider(biased)
    if settings:
        measured(provider, letters=(0.2, 0.8), template=CHOICE_TEMPLATE)
    answers = shell(provider, **settings).map(["first", "second"], QUESTION)
    assert [dict(answer.probabilities) for answer in answers] == [
        {"one": 0.5, "two": 0.5},
        {"one": pytest.approx(0.1), "two": pytest.approx(0.9)},
    ]
    assert len(provider.requests) == 2


@both
def test_kinds_that_were_not_measured_are_left_alone(shell):
    provider = measured(FakeProvider({"Yes": 0.6, "No": 0.4}))
    answers = shell(provider).map(["first", "second"], YesNo("q?"))
    assert [answer.probability for answer in answers] == [pytest.approx(0.6)] * 2


@both
def test_favourite_letters_are_taken_out_of_questions_that_do_not_stand(shell):
    provider = measured(FakeProvider(LIKES_B), letters=(0.2, 0.8), template=CHOICE_TEMPLATE)
    answer = shell(provider).decide("x", QUESTION)
    assert dict(answer.probabilities) == {"one": pytest.approx(0.5), "two": pytest.approx(0.5)}
    assert dict(answer.raw) == {"one": pytest.approx(0.2), "two": pytest.approx(0.8)}
    assert len(provider.requests) == 1


@both
@pytest.mark.parametrize(
    ("question", "reply", "template"),
    [
        (QUESTION, LIKES_B, "default/choice@0#other"),
        (Choice("q?", ["A", "B", "C"]), {"A": 0.2, "B": 0.7, "C": 0.1}, CHOICE_TEMPLATE),
        (Choice("q?", ["B", "A"]), LIKES_B, CHOICE_TEMPLATE),
        (Scale("q?", ["low", "high"]), LIKES_B, CHOICE_TEMPLATE),
    ],
    ids=["another template", "more letters", "options that are letters", "a scale"],
)
def test_favourite_letters_are_never_used_elsewhere(shell, question, reply, template):
    provider = measured(FakeProvider(reply), letters=(0.2, 0.8), template=template)
    assert "prior" not in shell(provider).decide("x", question).flags


@both
def test_a_stricter_second_prompt_is_read_as_it_is(shell):
    def weak_at_first(prompt):
        if "exactly" in prompt or "x" not in prompt.split("</input>")[0]:
            return LIKES_B
        return {"The": 0.9, "A": 0.05, "B": 0.05}

    answer = shell(FakeProvider(weak_at_first), prior="content_free").decide("x", QUESTION)
    assert answer.probability_of("two") == pytest.approx(0.8)
    assert "prior" not in answer.flags


@both
def test_probes_that_leave_a_label_out_change_nothing_and_are_not_sent_again(shell):
    def probed(prompt):
        return {"A": 0.5, "B": 0.5} if "first" in prompt else {"B": 0.9}

    provider = FakeProvider(probed)
    model = shell(provider, prior="content_free")
    for _ in range(2):
        answer = model.decide("first", QUESTION)
        assert dict(answer.probabilities) == {"one": 0.5, "two": 0.5}
        assert "prior" not in answer.flags
    assert len(probes(provider)) == len(PROBES)


@both
def test_a_refused_probe_does_not_refuse_the_question(shell):
    def refuses_nothing(prompt):
        return {"A": 0.5, "B": 0.5} if "first" in prompt else {"<refusal>": 1}

    answer = shell(FakeProvider(refuses_nothing), prior="content_free").decide("first", QUESTION)
    assert dict(answer.probabilities) == {"one": 0.5, "two": 0.5}


@both
def test_a_refused_question_stays_refused(shell):
    def refuses(prompt):
        return {"<refusal>": 1} if "first" in prompt else LIKES_B

    with pytest.raises(Refused):
        shell(FakeProvider(refuses), prior="content_free").decide("first", QUESTION)


@both
def test_a_question_with_more_options_than_a_list_holds_is_left_alone(shell):
    names = [f"option {i}" for i in range(30)]
    provider = measured(FakeProvider({"A": 0.5, "B": 0.3} | dict.fromkeys("CDEFGHIJKLMNO", 0.01)))
    shell(provider).map(["x"], Choice("q?", names))
    assert probes(provider) == []


def test_models_named_per_call_have_priors_of_their_own():
    from yesno import Parameters

    provider = FakeProvider(biased)
    model = DecisionModel(provider, prior="content_free")
    for name in ("one", "other", "one"):
        model.decide("first", QUESTION, parameters=Parameters(model_name=name))
    asked = [payload["model"] for payload in provider.requests]
    assert (asked.count("one"), asked.count("other")) == (2 + len(PROBES), 1 + len(PROBES))


def test_the_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(priors, "KEPT", 2)
    provider = FakeProvider(biased)
    model = DecisionModel(provider, prior="content_free")
    for text in ("a?", "b?", "c?", "a?"):
        model.decide("first", Choice(text, ["one", "two"]))
    assert len(probes(provider)) == 4 * len(PROBES)


@pytest.mark.parametrize("value", ["on", None, True, "OFF"])
@pytest.mark.parametrize("kind", [DecisionModel, AsyncDecisionModel])
def test_an_unknown_policy_is_refused_with_the_known_ones(kind, value):
    with pytest.raises(ConfigError, match="'auto', 'content_free', 'off'"):
        kind(FakeProvider(), prior=value)


def test_async_map_measures_before_it_answers():
    async def go():
        model = AsyncDecisionModel(measured(FakeProvider(biased)), concurrency=4)
        return [answer async for answer in model.map(["first", "second", "first"], QUESTION)]

    assert [answer.value for answer in asyncio.run(go())] == ["one", "two", "one"]
