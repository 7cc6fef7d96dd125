import copy
import json
from dataclasses import replace

import httpx2
import pytest

from tests.engine.support import Server, both, patient, refused
from tests.providers.contract import KEY, PAYLOADS, PRIVATE, TASK, HttpProviderContract, payload, record
from tests.providers.test_openai_chat import clients
from yesno import DecisionModel, YesNo
from yesno.errors import ConfigError, ProviderRejected, ProviderUnavailable, Refused, UnreadableReply
from yesno.providers import load_provider
from yesno.providers.base import NativeTask, PromptTask, Turn
from yesno.providers.openai_responses import OpenAIResponses
from yesno.request import DecisionRequest


def connected(handler, model="gpt-5.4-mini"):
    return OpenAIResponses(model, api_key=KEY, **clients(handler))


def answering(name):
    kept = record(name)
    return connected(lambda _: httpx2.Response(kept.get("status", 200), json=kept["response"]))


def on_file(name):
    kept = record(name)["request"]
    turns = tuple(Turn(turn["role"], turn["content"]) for turn in kept["input"])
    return kept, PromptTask(turns, kept["model"], 4)


class TestOpenAIResponses(HttpProviderContract):
    provider = "openai-responses"
    recorded = "openai_responses/yes"

    def connect(self, handler):
        return connected(handler)

    def test_the_request_on_file_is_what_is_sent_today(self):
        for path in (PAYLOADS / "openai_responses").glob("*.json"):
            kept, task = on_file(f"openai_responses/{path.stem}")
            assert connected(None).build(task) == kept

    @pytest.mark.parametrize(
        "junk",
        [
            {"output": PRIVATE},
            {"output": [PRIVATE]},
            {"output": [{"type": "message", "content": PRIVATE}]},
            {"output": [{"type": "message", "content": [{"type": "output_text", "text": [PRIVATE]}]}]},
            {"output": [], "status": PRIVATE},
            {"output": [], "usage": PRIVATE},
        ],
        ids=["text", "items", "content", "part", "status", "usage"],
    )
    def test_junk_in_its_own_shape_is_unreadable(self, junk):
        with pytest.raises(UnreadableReply) as info:
            connected(None).parse(TASK, junk)
        assert PRIVATE not in str(info.value)


def test_the_body_asks_for_alternatives_and_stores_nothing():
    body = connected(None).build(TASK)
    assert body["include"] == ["message.output_text.logprobs"]
    assert (body["top_logprobs"], body["max_output_tokens"], body["store"]) == (20, 16, False)
    assert body["reasoning"] == {"effort": "none"}
    assert "reasoning" not in connected(None, "gpt-4.1-mini").build(TASK)
    assert connected(None).build(PromptTask(TASK.turns, "m", 2048))["max_output_tokens"] == 2048


@both
def test_thoughts_and_commentary_are_not_read_and_all_tokens_are_counted(shell):
    provider = answering("openai_responses/reasoning_and_commentary")
    response = shell(provider).decide("x", {"q": YesNo("q?")})
    assert response.yes_no("q").probability == pytest.approx(0.939, abs=1e-3)
    usage = response.usage
    assert (usage.input_tokens, usage.cached_tokens) == (1500, 1024)
    assert (usage.output_tokens, usage.reasoning_tokens) == (40, 38)


@both
@pytest.mark.parametrize(
    ("name", "reason"),
    [("openai_responses/refusal", "refusal"), ("openai_responses/content_filter", "content_filter")],
)
def test_what_was_declined_is_a_refusal(shell, name, reason):
    with pytest.raises(Refused) as info:
        shell(answering(name)).decide("x", YesNo("q?"))
    assert info.value.outcome.reason == reason


@both
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("openai_responses/no_logprobs", "no_logprobs"),
        ("openai_responses/include_400", "logprobs_unsupported"),
    ],
)
def test_without_logprobs_there_is_no_number(shell, name, reason):
    outcome = shell(answering(name), strategy="logprobs").decide("x", {"q": YesNo("q?")}).outcome("q")
    assert (outcome.reason, outcome.low, outcome.high) == (reason, None, None)


@both
def test_a_reply_that_thought_too_long_is_asked_for_with_more_room(shell):
    server = Server(httpx2.Response(200, json=payload("openai_responses/length")))
    outcome = shell(connected(server), strategy="logprobs").decide("x", {"q": YesNo("q?")}).outcome("q")
    assert outcome.reason == "truncated"
    assert [body["max_output_tokens"] for body in server.bodies] == [16, 2048]


@both
def test_a_failed_response_that_may_pass_is_tried_again(shell):
    failed = httpx2.Response(200, json=payload("openai_responses/failed"))
    good = httpx2.Response(200, json=payload("openai_responses/yes"))
    waits = []
    server = Server(failed, good)
    assert shell(connected(server), retry=patient(waits)).decide("x", YesNo("q?")).is_yes()
    assert (len(server.bodies), len(waits)) == (2, 1)


@pytest.mark.parametrize(
    ("failure", "kind", "code"),
    [
        ({"code": "rate_limit_exceeded", "message": PRIVATE}, ProviderUnavailable, None),
        ({"code": "invalid_prompt", "message": PRIVATE}, ProviderRejected, "invalid_prompt"),
        ({"code": "bio_policy", "message": PRIVATE}, ProviderRejected, "content_filter"),
        ({"code": PRIVATE}, ProviderRejected, "it gives no code"),
        (PRIVATE, ProviderRejected, "it gives no code"),
        (None, ProviderRejected, "it gives no code"),
    ],
)
def test_a_failed_response_is_an_error_that_shows_no_words(failure, kind, code):
    body = {**payload("openai_responses/failed"), "error": failure}
    provider = connected(lambda _: httpx2.Response(200, json=body))
    with pytest.raises(kind) as info:
        provider.send(provider.build(TASK))
    assert PRIVATE not in str(info.value)
    assert getattr(info.value, "code", None) == code


@both
@pytest.mark.parametrize(
    ("reply", "field", "values"),
    [
        (httpx2.Response(400, json=payload("openai_responses/least_cap_400")), "max_output_tokens", [4, 16]),
        (refused(400, "top_logprobs must be <= 5", param="top_logprobs"), "top_logprobs", [20, 5]),
        (refused(400, "not supported", param="temperature"), "temperature", [0.0, None]),
        (
            refused(400, "'none' is not supported", param="reasoning.effort"),
            "reasoning",
            [{"effort": "none"}, None],
        ),
    ],
    ids=["cap", "top", "temperature", "effort"],
)
def test_what_a_400_names_is_changed_and_remembered(shell, reply, field, values):
    server = Server(reply, httpx2.Response(200, json=payload("openai_responses/yes")))
    provider = connected(server)
    if field == "max_output_tokens":
        provider.profile = type(provider.profile)(min_tokens=1)
    model = shell(provider)
    assert model.decide("x", YesNo("q?")).is_yes()
    assert model.decide("y", YesNo("q?")).is_yes()
    assert [body.get(field) for body in server.bodies] == [*values, values[-1]]


@both
@pytest.mark.parametrize(
    "reply",
    [
        refused(400, "too long", param="input"),
        refused(400, "max_output_tokens is odd", param="max_output_tokens"),
        refused(404, "no such model", param="temperature"),
    ],
)
def test_another_complaint_is_final(shell, reply):
    server = Server(reply)
    with pytest.raises(ProviderRejected):
        shell(connected(server)).decide("x", YesNo("q?"))
    assert len(server.bodies) == 1


def test_a_limit_without_a_number_means_no_logprobs():
    server = Server(refused(400, "top_logprobs is not allowed", param="top_logprobs"))
    outcome = (
        DecisionModel(connected(server), strategy="logprobs").decide("x", {"q": YesNo("q?")}).outcome("q")
    )
    assert outcome.reason == "logprobs_unsupported"


@both
def test_a_model_without_logprobs_is_sampled_in_the_form_of_a_schema(shell):
    bodies = []

    def handler(request):
        bodies.append(json.loads(request.content))
        if "include" in bodies[-1]:
            return httpx2.Response(400, json=payload("openai_responses/include_400"))
        body = copy.deepcopy(payload("openai_responses/no_logprobs"))
        body["output"][0]["content"][0]["text"] = '{"answer": "yes", "confidence": 90}'
        return httpx2.Response(200, json=body)

    answer = shell(connected(handler)).decide("x", YesNo("q?"))
    assert (answer.method, answer.is_yes(), answer.samples) == ("sampled", True, 5)
    form = bodies[-1]["text"]["format"]
    assert (form["type"], form["strict"], form["schema"]["type"]) == ("json_schema", True, "object")
    assert (bodies[-1]["store"], bodies[-1]["temperature"]) == (False, 1.0)


@pytest.mark.parametrize(("structured", "form"), [("json_object", {"type": "json_object"}), ("none", None)])
def test_another_form_of_json_is_a_fact_of_the_profile(structured, form):
    provider = connected(None)
    provider.profile = replace(provider.profile, structured=structured)
    body = provider.build(PromptTask(TASK.turns, "m", 64, schema={"type": "object"}))
    assert body.get("text", {}).get("format") == form


def test_a_missing_key_or_model_is_named_and_a_rejected_key_too():
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        load_provider("openai-responses:gpt-5.4-mini")
    with pytest.raises(ConfigError, match="name a model"):
        load_provider("openai-responses", api_key=KEY)
    with pytest.raises(ProviderRejected, match="OPENAI_API_KEY"):
        DecisionModel(connected(lambda _: httpx2.Response(401))).decide("x", YesNo("q?"))


def test_requests_go_to_the_responses_route():
    seen = []

    def handler(request):
        seen.append((str(request.url), json.loads(request.content)["store"]))
        return httpx2.Response(200, json=payload("openai_responses/yes"))

    provider = connected(handler)
    provider.send(provider.build(TASK))
    assert seen == [("https://api.openai.com/v1/responses", False)]


def test_there_is_no_decision_endpoint():
    with pytest.raises(NotImplementedError):
        connected(None).build(NativeTask(DecisionRequest("x", {"q": YesNo("q?")}), "m"))
