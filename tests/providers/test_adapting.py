"""A 400 that names a parameter is an answer about the host, not a failure."""

import json
from dataclasses import replace

import httpx2
import pytest

from tests.engine.support import Server, both, compatible, patient, refused
from tests.providers.contract import payload
from yesno import AsyncDecisionModel, Choice, DecisionModel, Parameters, YesNo
from yesno.errors import ProviderRejected, UndecidedError
from yesno.providers.fake import chat_reply
from yesno.providers.openai_chat import OpenAIChat

GOOD = {"Yes": 0.70, "No": 0.25}


def recorded(name):
    return httpx2.Response(400, json=payload(name))


def openai(handler):
    transport = httpx2.MockTransport(handler)
    return OpenAIChat(
        "gpt-5.4-mini",
        api_key="k" * 30,
        http_client=httpx2.Client(transport=transport),
        async_http_client=httpx2.AsyncClient(transport=transport),
    )


@both
@pytest.mark.parametrize(
    ("message", "param", "allowed"),
    [
        ("top_logprobs must be <= 5", None, 5),
        ("Invalid value for 'top_logprobs': must be less than or equal to 5.", "top_logprobs", 5),
        (
            "Invalid 'top_logprobs': integer above maximum value. Expected a value <= 8, but got 20 instead.",
            "top_logprobs",
            8,
        ),
        ("top_logprobs must be between 0 and 8", None, 8),
        ("Invalid top_logprobs value, the valid range of top_logprobs is [0, 5]", None, 5),
        ("top_logprobs: at most 3 are allowed", None, 3),
        ("top_logprobs should be in the range from 0 to 5", None, 5),
    ],
)
def test_fewer_alternatives_are_asked_for_and_remembered(shell, message, param, allowed):
    server = Server(refused(400, message, param=param), GOOD)
    model = shell(compatible(server))
    assert model.decide("x", YesNo("q?")).probability == pytest.approx(0.737, abs=1e-3)
    model.decide("y", YesNo("q?"))
    assert [body["top_logprobs"] for body in server.bodies] == [20, allowed, allowed]


@both
def test_vllms_flat_error_about_its_limit_is_understood(shell):
    server = Server(recorded("openai_compatible/vllm_limit_400"), GOOD)
    provider = compatible(server)
    provider.profile = replace(provider.profile, top_logprobs=50)
    assert shell(provider).decide("x", YesNo("q?")).is_yes()
    assert [body["top_logprobs"] for body in server.bodies] == [50, 20]


@both
def test_a_422_of_a_validating_server_is_understood(shell):
    detail = [
        {
            "type": "less_than_equal",
            "loc": ["body", "top_logprobs"],
            "msg": "Input should be less than or equal to 5",
        }
    ]
    server = Server(httpx2.Response(422, json={"detail": detail}), GOOD)
    shell(compatible(server)).decide("x", YesNo("q?"))
    assert [body["top_logprobs"] for body in server.bodies] == [20, 5]


def test_a_shorter_list_makes_smaller_heats():
    server = Server(
        refused(400, "top_logprobs must be at most 5", param="top_logprobs"), {"A": 0.9, "B": 0.1}
    )
    model = DecisionModel(compatible(server))
    options = [f"option {i}" for i in range(10)]
    model.decide("x", Choice("Which?", options))
    server.bodies.clear()
    model.decide("x", Choice("Which?", options))
    assert len(server.bodies) == 3


@both
def test_a_cap_of_the_newer_name_is_used_when_the_older_is_refused(shell):
    message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    server = Server(refused(400, message, param="max_tokens", code="unsupported_parameter"), GOOD)
    model = shell(compatible(server))
    model.decide("x", YesNo("q?"))
    model.decide("y", YesNo("q?"))
    assert ["max_tokens" in body for body in server.bodies] == [True, False, False]
    assert [body.get("max_completion_tokens") for body in server.bodies] == [None, 4, 4]


@both
def test_a_cap_of_the_older_name_is_used_when_the_newer_is_refused(shell):
    server = Server(refused(400, "unknown field max_completion_tokens, did you mean max_tokens?"), GOOD)
    model = shell(openai(server))
    model.decide("x", YesNo("q?"))
    model.decide("y", YesNo("q?"))
    assert [body.get("max_tokens") for body in server.bodies] == [None, 4, 4]
    assert ["max_completion_tokens" in body for body in server.bodies] == [True, False, False]


@both
@pytest.mark.parametrize("name", ["temperature", "reasoning_effort"])
def test_a_refused_parameter_is_left_out_and_remembered(shell, name):
    server = Server(refused(400, f"`{name}` is not supported by this model."), GOOD)
    model = shell(openai(server))
    model.decide("x", YesNo("q?"))
    model.decide("y", YesNo("q?"))
    assert [name in body for body in server.bodies] == [True, False, False]
    assert {**server.bodies[1], name: server.bodies[0][name]} == server.bodies[0]


@both
def test_several_complaints_are_met_one_after_the_other(shell):
    server = Server(
        refused(400, "temperature is not supported", param="temperature"),
        refused(400, "top_logprobs must be <= 5", param="top_logprobs"),
        refused(400, "use max_completion_tokens instead of max_tokens", param="max_tokens"),
        GOOD,
    )
    assert shell(compatible(server)).decide("x", YesNo("q?")).is_yes()
    last = server.bodies[-1]
    assert "temperature" not in last
    assert (last["top_logprobs"], last["max_completion_tokens"]) == (5, 4)


@both
def test_an_upstreams_error_inside_a_routers_error_is_unwrapped(shell):
    server = Server(recorded("openai_compatible/openrouter_400"), GOOD)
    assert shell(compatible(server)).decide("x", YesNo("q?")).is_yes()
    assert ["temperature" in body for body in server.bodies] == [True, False]


@both
@pytest.mark.parametrize(
    "reply",
    [
        refused(400, "`logprobs` is not supported with this model"),
        refused(400, "This model does not support logprobs.", param="top_logprobs"),
        refused(403, "You are not allowed to request logprobs from this model", param="logprobs"),
        recorded("openai/no_logprobs_400"),
    ],
    ids=["words", "top", "forbidden", "recorded"],
)
def test_a_model_without_logprobs_is_undecided_and_not_asked_again(shell, reply):
    waits = []
    server = Server(reply)
    model = shell(compatible(server), retry=patient(waits), strategy="logprobs")
    for _ in range(2):
        with pytest.raises(UndecidedError, match="logprobs_unsupported") as info:
            model.decide("x", YesNo("q?"))
        assert (info.value.outcome.low, info.value.outcome.label_mass) == (None, None)
    assert len(server.bodies) == 1
    assert waits == []


@both
def test_another_model_of_the_same_host_is_still_asked(shell):
    def handler(request):
        if json.loads(request.content)["model"] == "m":
            return refused(400, "logprobs is not supported with this model", param="logprobs")
        return httpx2.Response(200, json=chat_reply(GOOD))

    model = shell(compatible(handler), strategy="logprobs")
    with pytest.raises(UndecidedError):
        model.decide("x", YesNo("q?"))
    assert model.decide("x", YesNo("q?"), parameters=Parameters(model_name="other")).is_yes()


@both
@pytest.mark.parametrize(
    "reply",
    [
        refused(400, "messages: too long", param="messages"),
        refused(400, "maximum context length is 4096 tokens, of which max_tokens takes 4"),
        refused(401, "no `temperature` for you", param="temperature"),
        refused(404, "logprobs", param="logprobs"),
    ],
    ids=["other", "context", "key", "missing"],
)
def test_a_rejection_about_something_else_is_final(shell, reply):
    server = Server(reply)
    with pytest.raises(ProviderRejected):
        shell(compatible(server)).decide("x", YesNo("q?"))
    assert len(server.bodies) == 1


@both
def test_a_server_that_always_complains_ends_the_conversation(shell):
    limits = (
        refused(400, f"top_logprobs must be <= {n}", param="top_logprobs") for n in (9, 8, 7, 6, 5, 4, 3)
    )
    server = Server(*limits)
    with pytest.raises(UndecidedError):
        shell(compatible(server), strategy="logprobs").decide("x", YesNo("q?"))
    assert len(server.bodies) == 5


@both
def test_a_server_that_wants_each_cap_in_turn_ends_the_conversation(shell):
    def handler(request):
        given = "max_tokens" if b'"max_tokens"' in request.content else "max_completion_tokens"
        other = "max_completion_tokens" if given == "max_tokens" else "max_tokens"
        bodies.append(given)
        return refused(400, f"{given} is not supported, use {other}", param=given)

    bodies = []
    with pytest.raises(ProviderRejected):
        shell(compatible(handler)).decide("x", YesNo("q?"))
    assert len(bodies) == 5


def test_many_first_requests_at_once_are_all_adapted():
    def handler(request):
        body = json.loads(request.content)
        if body["top_logprobs"] > 5 or "temperature" in body:
            name = "temperature" if "temperature" in body else "top_logprobs"
            return refused(400, f"{name} must be <= 5", param=name)
        return httpx2.Response(200, json=chat_reply(GOOD))

    with DecisionModel(compatible(handler), concurrency=8) as model:
        assert all(outcome.is_yes() for outcome in model.map(["x"] * 30, YesNo("q?")))


@both
def test_what_was_learned_belongs_to_the_provider_object(shell):
    server = Server(refused(400, "no temperature", param="temperature"), GOOD)
    provider = compatible(server)
    for kind in (DecisionModel, AsyncDecisionModel):
        assert kind(provider).provider.profile.refuses == frozenset()
    shell(provider).decide("x", YesNo("q?"))
    shell(provider).decide("x", YesNo("q?"))
    assert ["temperature" in body for body in server.bodies] == [True, False, False]


@both
def test_a_429_is_answered_by_the_next_try(shell):
    server = Server(refused(429, headers={"retry-after-ms": "1"}), GOOD)
    assert shell(compatible(server)).decide("x", YesNo("q?")).is_yes()
    assert len(server.bodies) == 2


@both
def test_a_400_of_a_content_filter_is_a_refusal_and_no_failure(shell):
    filtered = refused(400, "The response was filtered", code="content_filter", param="prompt")
    server = Server(filtered)
    response = shell(compatible(server)).decide("x", {"q": YesNo("q?")})
    assert response.outcome("q").reason == "content_filter"
    assert len(server.bodies) == 1


@both
def test_each_answered_request_is_counted_and_none_that_was_not_sent(shell):
    limit = refused(400, "top_logprobs must be <= 5", param="top_logprobs")
    response = shell(compatible(Server(limit, GOOD))).decide("x", {"q": YesNo("q?")})
    assert response.usage.requests == response.yes_no("q").attempts[0].requests == 2
    model = shell(
        compatible(Server(refused(400, "logprobs is not supported with this model"))), strategy="logprobs"
    )
    asked = [model.decide("x", {"q": YesNo("q?")}) for _ in range(2)]
    assert [response.usage.requests for response in asked] == [1, 0]
    assert [response.outcome("q").attempts[0].requests for response in asked] == [1, 0]
