"""Down the ladder: what is tried when a model shows no log-probabilities."""

import json
from dataclasses import replace

import httpx2
import pytest

from tests.engine.support import Server, both, compatible, refused
from yesno import Choice, DecisionModel, FakeProvider, Refused, Scale, Undecided, UndecidedError, YesNo
from yesno.engine.sampling import MOST, ROUND, rotated
from yesno.errors import ConfigError
from yesno.providers.fake import chat_reply

BOTH_WAYS = ("logprobs", "sampled")


def said(answer, confidence=80):
    return {f'{{"answer": "{answer}", "confidence": {confidence}}}': 1}


def sampling(script, strategies=("sampled",)):
    return FakeProvider(script, strategies=strategies)


def without_logprobs(body):
    reply = chat_reply(body)
    reply["choices"][0]["logprobs"] = None
    return reply


@both
def test_equal_samples_settle_a_question_in_one_round(shell):
    provider = sampling(said("yes"))
    answer = shell(provider).decide("x", YesNo("q?"))
    assert (answer.method, answer.samples, answer.stated_confidence) == ("sampled", ROUND, pytest.approx(0.8))
    assert answer.probability == pytest.approx((ROUND + 0.5) / (ROUND + 1))
    assert [(a.method, a.result, a.requests) for a in answer.attempts] == [("sampled", "answered", ROUND)]


@both
def test_unequal_samples_are_asked_on_up_to_a_limit(shell):
    provider = sampling([said("yes"), said("no")])
    response = shell(provider).decide("x", {"q": YesNo("q?")})
    assert response.yes_no("q").samples == response.usage.requests == len(provider.requests) == MOST
    assert abs(response.yes_no("q").probability - 0.5) < 0.05


@both
def test_the_options_of_a_choice_take_turns_and_votes_are_put_back(shell):
    def picks_support(prompt):
        line = next(line for line in prompt.splitlines() if line.endswith("support"))
        return said(line[0])

    provider = sampling(picks_support)
    answer = shell(provider).decide("x", Choice("Who?", ["billing", "support", "sales"], none="nobody"))
    assert (answer.value, answer.samples) == ("support", ROUND)
    firsts = [p["messages"][-1]["content"].split("A. ")[1].split("\n")[0] for p in provider.requests]
    assert sorted(set(firsts)) == ["billing", "sales", "support"]
    assert all("D. nobody" in p["messages"][-1]["content"] for p in provider.requests)


@both
def test_the_first_place_has_no_advantage(shell):
    answer = shell(sampling(said("A"))).decide("x", Choice("Who?", ["a1", "b1", "c1", "d1", "e1"]))
    assert max(answer.probabilities.values()) == pytest.approx(min(answer.probabilities.values()))


@both
def test_a_scale_and_many_options_can_be_sampled(shell):
    assert shell(sampling(said("B"))).decide("x", Scale("q?", ["low", "high"])).mean > 0.9
    names = [f"option {i}" for i in range(200)]

    def picks(prompt):
        line = next(line for line in prompt.splitlines() if line.endswith("option 150"))
        return said(line.split(".")[0])

    assert shell(sampling(picks)).decide("x", Choice("q?", names)).value == "option 150"


@both
def test_replies_without_an_answer_are_undecided_after_one_round(shell):
    provider = sampling({"Hard to say.": 1})
    outcome = shell(provider).decide("x", {"q": YesNo("q?")}).outcome("q")
    assert isinstance(outcome, Undecided)
    assert outcome.reason == "no_json_answer"
    assert len(provider.requests) == ROUND


@both
def test_refused_samples_are_a_refusal(shell):
    with pytest.raises(Refused):
        shell(sampling({"<refusal>": 1})).decide("x", YesNo("q?"))


@both
def test_the_prompt_and_the_body_ask_for_json_and_no_logprobs(shell):
    server = Server(refused(400, "logprobs is not supported with this model", param="logprobs"), said("yes"))
    answer = shell(compatible(server)).decide("x", YesNo("q?"))
    assert [(a.method, a.result) for a in answer.attempts] == [
        ("logprobs", "logprobs_unsupported"),
        ("sampled", "answered"),
    ]
    body = server.bodies[-1]
    assert "logprobs" not in body
    assert body["temperature"] == 1.0
    assert body["response_format"]["json_schema"]["schema"]["properties"]["answer"]["enum"] == ["Yes", "No"]
    assert "JSON" in body["messages"][-1]["content"]


@both
def test_a_host_without_structured_output_is_asked_in_words(shell):
    complaint = refused(400, "response_format is not supported", param="response_format")

    def handler(request):
        if b"response_format" in request.content:
            return complaint
        return httpx2.Response(200, json=chat_reply(said("yes")))

    answer = shell(compatible(handler), strategy="sampled", concurrency=1).decide("x", YesNo("q?"))
    assert answer.samples == ROUND


@both
def test_a_model_that_hides_logprobs_is_sampled_and_warned_about_once(shell, caplog):
    server = Server(*[without_logprobs(said("yes"))])
    model = shell(compatible(server))
    first, second = (model.decide("x", YesNo("q?")) for _ in range(2))
    assert [a.result for a in first.attempts] == ["no_logprobs", "answered"]
    assert [a.result for a in second.attempts] == ["answered"]
    assert [r.message for r in caplog.records] == ["sampled_instead"]


@both
def test_strict_fails_by_name_and_says_what_to_do(shell):
    model = shell(compatible(Server(without_logprobs({"Yes": 1}))), strict=True)
    with pytest.raises(
        ConfigError, match=r"openai-compatible:m gives no log-probabilities.*strategy='sampled'"
    ):
        model.decide("x", YesNo("q?"))


@both
def test_strict_leaves_a_weak_reply_undecided(shell):
    provider = sampling({"The": 0.9, "Yes": 0.1}, BOTH_WAYS)
    with pytest.raises(UndecidedError, match="low_label_mass"):
        shell(provider, strict=True).decide("x", YesNo("q?"))
    assert len(provider.requests) == 2


@both
def test_a_weak_reply_is_sampled_after_its_second_try(shell):
    def weak(prompt):
        return said("no") if "JSON" in prompt else {"The": 0.9, "Yes": 0.1}

    answer = shell(sampling(weak, BOTH_WAYS)).decide("x", YesNo("q?"))
    assert [a.method for a in answer.attempts] == ["logprobs", "logprobs", "sampled"]
    assert answer.probability < 0.1


@both
def test_a_reasoning_model_that_takes_no_effort_none_ends_in_samples_without_a_loop(shell):
    bodies = []

    def handler(request):
        body = json.loads(request.content)
        bodies.append(body)
        if body.get("reasoning_effort") == "none":
            return refused(
                400,
                "Unsupported value: 'reasoning_effort' does not support 'none' with this model.",
                param="reasoning_effort",
                code="unsupported_value",
            )
        for name in ("logprobs", "temperature"):
            if name in body:
                return refused(
                    400, f"Unsupported parameter: '{name}' is not supported with this model.", param=name
                )
        return httpx2.Response(200, json=chat_reply(said("yes")))

    provider = compatible(handler)
    provider.profile = replace(provider.profile, effort="none")
    model = shell(provider)
    assert model.decide("x", YesNo("q?")).samples == ROUND
    first = len(bodies)
    model.decide("y", YesNo("q?"))
    assert len(bodies) == first + ROUND
    assert first <= 3 + 2 * ROUND


def test_a_strategy_that_is_unknown_or_not_offered_is_refused():
    with pytest.raises(ConfigError, match="'auto', 'native', 'logprobs', 'sampled'"):
        DecisionModel(FakeProvider(), strategy="guess")
    with pytest.raises(ConfigError, match=r"'fake' does not offer strategy 'sampled'; it offers 'logprobs'"):
        DecisionModel(FakeProvider(), strategy="sampled")


def test_rotation_moves_options_up_and_leaves_other_types_alone():
    choice = Choice("q?", {"a": "1", "b": "2", "c": None}, none="none")
    assert list(rotated(choice, 4).options.items()) == [("b", "2"), ("c", "c"), ("a", "1")]
    assert rotated(choice, 1).none == "none"
    assert rotated(YesNo("q?"), 3) == YesNo("q?")


@both
def test_worked_examples_are_shown_as_json_too(shell):
    provider = sampling(said("yes"))
    shell(provider).decide("x", YesNo("q?", examples=[("fine", True)]))
    turns = provider.requests[0]["messages"]
    assert turns[-2] == {"role": "assistant", "content": '{"answer": "Yes"}'}
    assert "JSON" in turns[-3]["content"]
