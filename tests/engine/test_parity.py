"""The two models are one model: same bytes out, same outcomes back."""

import asyncio
import json

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.support import SHELLS, Server, both, compatible, patient, refused
from yesno import (
    AsyncDecisionModel,
    Choice,
    DecisionModel,
    DecisionRequest,
    FakeProvider,
    Parameters,
    Scale,
    YesNo,
    YesnoError,
    ask,
    gather,
)
from yesno.providers.fake import chat_reply
from yesno.providers.openai_compatible import OpenAICompatible
from yesno.questions import Refusal, YesNoAnswer

YES = {"Yes": 0.7, "No": 0.2}
MANY = Choice("Which?", [f"option {i}" for i in range(45)], none="none of these")
ALL_KINDS = {
    "y": YesNo("Is it?", yes_when="so", no_when="not so", examples=[("seen", True)]),
    "c": Choice("Which one?", {"one": "the first", "two": None}),
    "s": Scale("How much?", ["low", "mid", "high"]),
    "m": MANY,
}
CONVERSATION = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]

SCENARIOS = {
    "one question": ("x", YesNo("q?"), [YES]),
    "all kinds": ({"a": [1, None, {"b": True}]}, ALL_KINDS, [{"A": 0.6, "B": 0.3, "Yes": 0.05}]),
    "a conversation": (CONVERSATION, {"q": YesNo("q?")}, [YES]),
    "a whole request": (
        DecisionRequest("x", {"q": YesNo("q?")}, Parameters(model_name="other")),
        None,
        [YES],
    ),
    "a second try": ("x", YesNo("q?"), [{"The": 0.9, "Yes": 0.1}, YES]),
    "undecided": ("x", YesNo("q?"), [{"The": 0.9, "Yes": 0.1}]),
    "refused": ("x", YesNo("q?"), [{"<refusal>": 1}]),
    "filtered among others": ("x", {"q": YesNo("q?"), "r": YesNo("r?")}, [{"<content_filter>": 1}]),
    "an adapted request": ("x", YesNo("q?"), [refused(400, "no `temperature`", param="temperature"), YES]),
    "no logprobs": (
        "x",
        YesNo("q?"),
        [refused(400, "logprobs is not supported with this model"), {'{"answer": "yes"}': 1}],
    ),
    "a retry": ("x", YesNo("q?"), [refused(503), YES]),
    "an outage": ("x", YesNo("q?"), [refused(500, "down")]),
    "a rejection": ("x", YesNo("q?"), [refused(401, "bad key")]),
    "junk": ("x", YesNo("q?"), [httpx2.Response(200, text="<html>")]),
    "a tournament": ("x", MANY, [{"A": 0.6, "B": 0.3}]),
    "a blank input": (" ", YesNo("q?"), [YES]),
    "a wide scale": ("x", Scale("q?", [f"l{i}" for i in range(30)]), [YES]),
}


def played(shell, given, questions, replies):
    """Return what was sent, in any order, and what came back."""
    server = Server(*replies)
    try:
        came = shell(compatible(server), retry=patient([])).decide(given, questions)
    except YesnoError as error:
        came = (type(error), str(error))
    return sorted(json.dumps(body) for body in server.bodies), came


@pytest.mark.parametrize("name", SCENARIOS)
def test_both_models_send_the_same_requests_and_give_the_same_outcome(name):
    one, other = (played(shell, *SCENARIOS[name]) for shell in SHELLS)
    assert one == other


def test_both_models_send_the_same_bytes():
    sent = []

    def handler(request):
        sent.append(request.content)
        return httpx2.Response(200, json=chat_reply(YES))

    for shell in SHELLS:
        shell(compatible(handler)).decide({"ü": "漢\n"}, YesNo("Ist das «gut»?"))
    assert sent[0] == sent[1]
    assert "漢".encode() in sent[0]


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=4))
def test_any_distribution_is_read_alike(weights):
    shares = {token: w / sum(weights) for token, w in zip("ABCD", weights, strict=False)}
    question = Choice("q?", ["one", "two", "three", "four"][: len(weights)])
    one, other = (shell(FakeProvider(shares)).decide("x", {"q": question}) for shell in SHELLS)
    assert one == other


@both
def test_a_batch_is_answered_like_one_question_after_another(shell):
    def script(prompt):
        return {"Yes": 0.9, "No": 0.1} if "good" in prompt else {"No": 0.8, "Yes": 0.2}

    model = shell(FakeProvider(script))
    inputs = ["good", "bad", "good again"]
    alone = [model.decide(given, YesNo("q?")) for given in inputs]
    assert model.run(gather([ask(YesNo("q?"), given) for given in inputs])) == alone
    assert model.map(inputs, YesNo("q?")) == alone


@both
def test_one_question_is_unwrapped_and_several_hold_their_outcomes(shell):
    response = shell(FakeProvider({"<content_filter>": 1})).decide("x", {"q": YesNo("q?")})
    assert response.outcome("q") == Refusal("content_filter")
    assert isinstance(shell(FakeProvider()).decide("x", YesNo("q?")), YesNoAnswer)


@both
def test_usage_adds_up_over_all_requests_of_a_decision(shell):
    reply = {
        **chat_reply({"A": 0.6, "B": 0.3}),
        "usage": {
            "prompt_tokens": 10,
            "completion_tokens": 2,
            "prompt_tokens_details": {"cached_tokens": 4},
        },
    }
    usage = shell(compatible(Server(reply))).decide("x", {"m": MANY}).usage
    assert (usage.requests, usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (4, 40, 8, 16)


@both
@pytest.mark.parametrize("kind", ["fake", "openai-compatible:m"])
def test_a_model_may_be_named_instead_of_made(shell, kind, monkeypatch):
    monkeypatch.setenv("YESNO_BASE_URL", "http://server.test/v1")
    assert shell(kind).model.provider_name == kind.partition(":")[0]


def test_one_async_model_serves_one_event_loop_after_another():
    async def handler(request):
        await asyncio.sleep(0)
        return httpx2.Response(200, json=chat_reply(YES))

    client = httpx2.AsyncClient(transport=httpx2.MockTransport(handler))
    provider = OpenAICompatible("m", base_url="http://server.test/v1", async_http_client=client)
    model = AsyncDecisionModel(provider, concurrency=1)

    async def several():
        mapped = [outcome async for outcome in model.map(["a", "b", "c"], YesNo("q?"))]
        return mapped, await model.decide("x", {name: YesNo("q?") for name in "abc"})

    first, second, third = (asyncio.run(several()) for _ in range(3))
    assert first == second == third


def test_the_blocking_model_works_inside_a_running_event_loop():
    async def go():
        return DecisionModel(FakeProvider()).decide("x", YesNo("q?"))

    assert asyncio.run(go()).is_yes()
