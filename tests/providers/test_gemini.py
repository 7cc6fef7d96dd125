import asyncio
import copy
import json

import httpx2
import pytest

from tests.engine.support import Server, both
from tests.providers.contract import KEY, PAYLOADS, PRIVATE, TASK, HttpProviderContract, payload, record
from tests.providers.test_openai_chat import clients
from yesno import Choice, DecisionModel, YesNo
from yesno.errors import ConfigError, ProviderRejected, ProviderUnavailable, Refused, UnreadableReply
from yesno.providers import load_provider
from yesno.providers.base import NativeTask, PromptTask, Turn
from yesno.providers.gemini import Gemini
from yesno.request import DecisionRequest

MODEL = "gemini-2.5-flash"
JSON = '{"answer": "yes", "confidence": 90}'


def connected(handler, model=MODEL, **options):
    return Gemini(model, api_key=KEY, **options, **clients(handler))


def reply_of(name):
    kept = record(name)
    return httpx2.Response(kept.get("status", 200), json=kept["response"])


def answering(name, model=MODEL):
    return connected(lambda _: reply_of(name), model)


def refused(message):
    body = {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}
    return httpx2.Response(400, json=body)


def on_file(name):
    kept = record(name)["request"]
    roles = [("system", kept["systemInstruction"]), ("user", kept["contents"][0])]
    turns = tuple(Turn(role, content["parts"][0]["text"]) for role, content in roles)
    return kept, PromptTask(turns, kept["model"], 4)


def sampling(reply_to_logprobs, bodies):
    """Return a server that gives one reply while it is asked for log-probabilities, and JSON otherwise."""

    def handler(request):
        bodies.append(json.loads(request.content))
        if "logprobs" in bodies[-1]["generationConfig"]:
            return reply_to_logprobs()
        body = copy.deepcopy(payload("gemini/yes"))
        del body["candidates"][0]["logprobsResult"]
        body["candidates"][0]["content"]["parts"][0]["text"] = JSON
        return httpx2.Response(200, json=body)

    return handler


class TestGemini(HttpProviderContract):
    provider = "gemini"
    recorded = "gemini/yes"
    key_header = "x-goog-api-key"

    def connect(self, handler):
        return connected(handler)

    def travelling(self, body):
        return {name: value for name, value in body.items() if name != "model"}

    def test_the_request_on_file_is_what_is_sent_today(self):
        for path in (PAYLOADS / "gemini").glob("*.json"):
            kept, task = on_file(f"gemini/{path.stem}")
            assert connected(None, kept["model"]).build(task) == kept

    @pytest.mark.parametrize(
        "junk",
        [
            {"candidates": PRIVATE},
            {"candidates": [PRIVATE]},
            {"candidates": []},
            {"candidates": [{}]},
            {"candidates": [{"content": PRIVATE}]},
            {"candidates": [{"content": {"parts": PRIVATE}}]},
            {"candidates": [{"content": {"parts": [{"text": [PRIVATE]}]}}]},
            {"candidates": [{"content": {}, "logprobsResult": {"chosenCandidates": PRIVATE}}]},
            {"candidates": [{"content": {}, "logprobsResult": {"chosenCandidates": [{"token": 3}]}}]},
            {"candidates": [{"content": {}}], "usageMetadata": PRIVATE},
            {"choices": [{"message": {"content": "Yes"}}]},
        ],
        ids=[
            "text",
            "texts",
            "none",
            "bare",
            "content",
            "parts",
            "part",
            "chosen",
            "token",
            "usage",
            "foreign",
        ],
    )
    def test_junk_in_its_own_shape_is_unreadable(self, junk):
        with pytest.raises(UnreadableReply) as info:
            connected(None).parse(TASK, junk)
        assert PRIVATE not in str(info.value)


def test_the_model_is_in_the_address_and_the_key_is_not():
    seen = []

    def handler(request):
        seen.append(request)
        return reply_of("gemini/yes")

    home = "https://generativelanguage.googleapis.com/v1beta"
    for model, route in [
        (MODEL, f"models/{MODEL}"),
        ("models/x", "models/x"),
        ("tunedModels/y", "tunedModels/y"),
        ("a b?key=1", "models/a%20b%3Fkey%3D1"),
    ]:
        provider = connected(handler, model)
        provider.send(provider.build(PromptTask(TASK.turns, model, 4)))
        assert str(seen[-1].url) == f"{home}/{route}:generateContent"
    assert "authorization" not in seen[0].headers
    assert KEY not in str(seen[0].url)
    assert KEY in connected(handler).secrets()


@pytest.mark.parametrize(
    ("model", "thinking"),
    [
        (MODEL, {"thinkingBudget": 0}),
        ("models/gemini-2.5-flash-lite", {"thinkingBudget": 0}),
        ("gemini-3.5-flash-lite", {"thinkingLevel": "minimal"}),
        ("gemini-3.7-flash", {"thinkingLevel": "low"}),
        ("gemini-3.1-pro-preview", {"thinkingLevel": "low"}),
        ("gemini-2.5-pro", None),
        ("gemini-2.0-flash", None),
    ],
)
def test_a_model_is_asked_to_think_as_little_as_it_is_known_to_accept(model, thinking):
    config = connected(None, model).build(TASK)["generationConfig"]
    assert config.get("thinkingConfig") == thinking


def test_roles_are_geminis_own():
    turns = (Turn("user", "q"), Turn("assistant", "a"), Turn("user", "again"))
    body = connected(None).build(PromptTask(turns, MODEL, 4))
    assert [turn["role"] for turn in body["contents"]] == ["user", "model", "user"]
    assert "systemInstruction" not in body


@both
def test_thoughts_are_not_read_and_all_tokens_are_counted(shell):
    response = shell(answering("gemini/thoughts")).decide("x", {"q": YesNo("q?")})
    answer, usage = response.yes_no("q"), response.usage
    assert (answer.probability, answer.method) == (pytest.approx(0.938, abs=1e-3), "logprobs")
    assert answer.label_mass == pytest.approx(0.97, abs=1e-3)
    assert (usage.input_tokens, usage.cached_tokens) == (1500, 1024)
    assert (usage.output_tokens, usage.reasoning_tokens) == (39, 38)
    assert response.model == "gemini-2.5-pro"


@both
@pytest.mark.parametrize("name", ["gemini/safety", "gemini/blocked"])
def test_what_was_blocked_is_a_refusal(shell, name):
    with pytest.raises(Refused) as info:
        shell(answering(name)).decide("x", YesNo("q?"))
    assert info.value.outcome.reason == "content_filter"


@both
@pytest.mark.parametrize("name", ["gemini/no_logprobs_400", "gemini/not_enabled_400"])
def test_a_model_that_refuses_logprobs_is_sampled_with_the_schema_kept(shell, name):
    bodies = []
    model = shell(connected(sampling(lambda: reply_of(name), bodies)), concurrency=1)
    answer = model.decide("x", Choice("q?", {"yes": None, "no": None}))
    assert model.decide("x", YesNo("q?")).method == answer.method == "sampled"
    assert [("logprobs" in body["generationConfig"]) for body in bodies].count(True) == 1
    for body in bodies[1:]:
        config = body["generationConfig"]
        assert config["responseMimeType"] == "application/json"
        assert config["responseJsonSchema"]["properties"]["answer"]["enum"]
        assert "responseLogprobs" not in config


@both
def test_a_caller_who_allows_nothing_else_gets_no_number(shell):
    provider = answering("gemini/no_logprobs_400")
    outcome = shell(provider, strategy="logprobs").decide("x", {"q": YesNo("q?")}).outcome("q")
    assert (outcome.reason, outcome.low, outcome.high) == ("logprobs_unsupported", None, None)


@both
def test_a_reply_that_thought_too_long_is_asked_for_with_more_room(shell):
    cut = {"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]}
    server = Server(httpx2.Response(200, json=cut), reply_of("gemini/yes"))
    assert shell(connected(server, "gemini-2.5-pro")).decide("x", YesNo("q?")).is_yes()
    assert [body["generationConfig"]["maxOutputTokens"] for body in server.bodies] == [4, 2048]


@both
def test_a_model_that_must_think_is_asked_again_without_the_budget(shell):
    server = Server(reply_of("gemini/thinking_400"), reply_of("gemini/yes"))
    model = shell(connected(server))
    assert model.decide("x", YesNo("q?")).is_yes()
    assert model.decide("y", YesNo("q?")).is_yes()
    assert [("thinkingConfig" in b["generationConfig"]) for b in server.bodies] == [True, False, False]


@both
@pytest.mark.parametrize(
    ("message", "allowed"),
    [
        ("logprobs value of 20 but the supported range is from 1 (inclusive) to 6 (exclusive)", 5),
        ("logprobs must be in the range [1, 5]", 5),
    ],
)
def test_a_smaller_number_of_alternatives_is_taken_over(shell, message, allowed):
    server = Server(refused(message), reply_of("gemini/yes"))
    assert shell(connected(server)).decide("x", YesNo("q?")).is_yes()
    assert [body["generationConfig"]["logprobs"] for body in server.bodies] == [20, allowed]


@pytest.mark.parametrize(
    ("message", "gone"),
    [
        ('Unknown name "responseJsonSchema" at generation_config', {"responseJsonSchema"}),
        ("JSON mode is not enabled for this model", {"responseJsonSchema", "responseMimeType"}),
    ],
)
def test_a_form_that_is_refused_is_left_out(message, gone):
    provider = connected(None)
    task = PromptTask(TASK.turns, MODEL, 64, schema={"type": "object"})
    before = provider.build(task)
    error = ProviderRejected(message, provider="gemini", status=400, param=provider._named(message, None))
    after = provider.adapt(before, error)
    assert set(before["generationConfig"]) - set(after["generationConfig"]) == gone
    assert provider.build(task) == after


@pytest.mark.parametrize("message", ["The input is too long", "maxOutputTokens is odd"])
def test_another_complaint_is_final(message):
    server = Server(refused(message))
    with pytest.raises(ProviderRejected) as info:
        DecisionModel(connected(server)).decide("x", YesNo("q?"))
    assert (len(server.bodies), info.value.code) == (1, "INVALID_ARGUMENT")


def test_the_wait_in_the_body_of_an_error_is_kept():
    provider = answering("gemini/busy_429")
    with pytest.raises(httpx2.HTTPStatusError) as info:
        provider.send(provider.build(TASK))
    known = provider.classify(info.value)
    assert isinstance(known, ProviderUnavailable)
    assert known.retry_after == 34.5


@pytest.mark.parametrize("status", [302, 307])
def test_a_redirect_is_not_followed(status):
    seen = []

    def handler(request):
        seen.append(request)
        return httpx2.Response(status, headers={"location": "https://elsewhere.test/"})

    with pytest.raises(ProviderRejected):
        DecisionModel(connected(handler)).decide("x", YesNo("q?"))
    assert len(seen) == 1


def test_what_is_missing_is_named(monkeypatch):
    with pytest.raises(ConfigError, match="GEMINI_API_KEY"):
        load_provider("gemini:m")
    with pytest.raises(ConfigError, match="name a model"):
        load_provider("gemini", api_key=KEY)
    with pytest.raises(ConfigError, match="http://"):
        load_provider("gemini:m", api_key=KEY, base_url="localhost:1")
    with pytest.raises(ConfigError) as info:
        load_provider("gemini:m", api_key=f"{KEY}\n")
    assert KEY not in str(info.value)
    monkeypatch.setenv("GEMINI_API_KEY", "from-environment")
    assert load_provider("gemini:m").secrets() == ("from-environment",)
    with pytest.raises(ProviderRejected, match="GEMINI_API_KEY"):
        DecisionModel(connected(lambda _: httpx2.Response(403))).decide("x", YesNo("q?"))
    bad_key = refused("API key not valid. Please pass a valid API key.")
    with pytest.raises(ProviderRejected, match="GEMINI_API_KEY"):
        DecisionModel(connected(lambda _: bad_key)).decide("x", YesNo("q?"))


def test_the_address_is_googles_own_or_the_callers_without_credentials():
    assert load_provider("gemini:m", api_key=KEY).address is None
    given = load_provider("gemini:m", api_key=KEY, base_url="https://user:word@proxy.test/v1/")
    assert given.address == "https://proxy.test/v1"


def test_clients_of_its_own_are_made_when_needed_and_closed():
    async def rounds():
        provider = Gemini("m", api_key=KEY)
        client = provider._async_client()
        assert provider._async_client() is client
        await provider.aclose()
        assert client.is_closed
        assert provider._async_client() is not client
        await provider.aclose()

    asyncio.run(rounds())
    provider = Gemini("m", api_key=KEY)
    own = provider._own
    provider.close()
    assert own.is_closed


def test_there_is_no_decision_endpoint():
    with pytest.raises(NotImplementedError):
        connected(None).build(NativeTask(DecisionRequest("x", {"q": YesNo("q?")}), "m"))
