"""Content that a host declined is a `Refusal`, in whatever words and with whatever status it says so."""

import json

import httpx2
import pytest

from tests.engine.support import Server, both, patient
from tests.providers.contract import KEY
from tests.providers.test_anthropic import connected as anthropic
from tests.providers.test_gemini import connected as gemini
from tests.providers.test_hosts import connected
from tests.providers.test_openai_chat import clients
from yesno import DecisionModel, RetryPolicy, YesNo
from yesno.errors import ProviderRejected, ProviderUnavailable, UnreadableReply
from yesno.providers import load_provider
from yesno.providers._moderation import declines

Q = {"q": YesNo("Is it?")}
DECLINED = {
    "azure_inner_code": (
        "azure",
        400,
        {
            "error": {
                "message": "The response was filtered.",
                "code": None,
                "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}},
            }
        },
    ),
    "azure_words": (
        "azure",
        400,
        {
            "error": {
                "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management "
                "policy. Please modify your prompt and retry.",
                "code": "400",
            }
        },
    ),
    "openai_prompt": (
        "openai",
        400,
        {
            "error": {
                "message": "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
                "type": "invalid_request_error",
                "param": None,
                "code": "invalid_prompt",
            }
        },
    ),
    "openai_policy": (
        "openai-responses",
        400,
        {"error": {"message": "rejected by our safety system", "code": "content_policy_violation"}},
    ),
    "openai_moderation": ("openai", 400, {"error": {"message": "blocked", "code": "moderation_blocked"}}),
    "openrouter_moderation": (
        "openrouter",
        403,
        {
            "error": {
                "code": 403,
                "message": "m requires moderation. Your input was rejected.",
                "metadata": {"reasons": ["violence"], "flagged_input": "x", "provider_name": "P"},
            }
        },
    ),
    "openrouter_upstream": (
        "openrouter",
        400,
        {
            "error": {
                "code": 400,
                "message": "Provider returned error",
                "metadata": {"raw": json.dumps({"error": {"message": "no", "code": "content_filter"}})},
            }
        },
    ),
    "xai": (
        "xai",
        403,
        {
            "code": "The caller does not have permission to execute the specified operation",
            "error": "Content violates usage guidelines. Team: t, Failed check: SAFETY_CHECK_TYPE_BIO",
        },
    ),
    "deepseek": (
        "deepseek",
        400,
        {"error": {"message": "Content Exists Risk", "type": "invalid_request_error", "code": None}},
    ),
    "qwen": (
        "openrouter",
        400,
        {
            "error": {
                "code": "data_inspection_failed",
                "message": "<400> InternalError.Algo.DataInspectionFailed: Input text data may be inappropriate.",
            }
        },
    ),
    "mimo": (
        "openrouter",
        400,
        {"error": {"code": "421", "message": "Moderation Block", "type": "content_filter"}},
    ),
    "proxy_guardrail": (
        "openrouter",
        400,
        {"error": {"message": {"error": "Violated guardrail policy", "type": "guardrail_intervened"}}},
    ),
    "google_words": (
        "openrouter",
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "The prompt could not be submitted. This prompt contains sensitive words that violate "
                    "Google's Responsible AI practices.",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
    ),
    "mistral_guardrail": (
        "openrouter",
        403,
        {"message": "Moderation guardrails triggered", "type": "forbidden"},
    ),
    "filter_behind_a_500": ("azure", 500, {"error": {"message": "no", "code": "content_filter"}}),
}


@both
@pytest.mark.parametrize("name", DECLINED)
def test_an_error_about_the_content_is_a_refusal_and_sent_once(shell, name):
    provider, status, body = DECLINED[name]
    server = Server(httpx2.Response(status, json=body))
    waits = []
    response = shell(connected(provider, server), retry=patient(waits)).decide("x", Q)
    assert response.outcome("q").reason == "content_filter"
    assert (len(server.bodies), waits, response.usage.requests) == (1, [], 1)


@both
def test_anthropics_filter_is_a_refusal(shell):
    message = "Output blocked by content filtering policy"
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    server = Server(httpx2.Response(400, json=body))
    assert shell(anthropic(server)).decide("x", Q).outcome("q").reason == "content_filter"


@both
@pytest.mark.parametrize("reason", ["SAFETY", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "BLOCKLIST"])
def test_geminis_reasons_are_refusals(shell, reason):
    stopped = {"candidates": [{"finishReason": reason, "index": 0}]}
    blocked = {"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 3}}
    for body in (stopped, blocked):
        server = Server(httpx2.Response(200, json=body))
        assert shell(gemini(server)).decide("x", Q).outcome("q").reason == "content_filter"


@both
@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("content_filter", "content_filter"),
        ("content_filter: PROHIBITED_CONTENT", "content_filter"),
        ("guardrail_intervened", "content_filter"),
        ("SAFETY", "content_filter"),
        ("refusal", "refusal"),
    ],
)
def test_a_reason_to_finish_that_a_gateway_passes_through_is_a_refusal(shell, finish, reason):
    message = {"role": "assistant", "content": "Sorry, no."}
    body = {"choices": [{"index": 0, "finish_reason": finish, "message": message}]}
    server = Server(httpx2.Response(200, json=body))
    assert shell(connected("openrouter", server)).decide("x", Q).outcome("q").reason == reason


@both
def test_what_a_guardrail_wrote_in_the_models_place_is_not_read(shell):
    message = {"role": "assistant", "content": "No"}
    body = {
        "amazon-bedrock-guardrailAction": "INTERVENED",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
    }
    server = Server(httpx2.Response(200, json=body))
    assert shell(connected("openrouter", server)).decide("x", Q).outcome("q").reason == "content_filter"


@both
def test_coheres_toxic_end_is_a_refusal(shell):
    body = {"message": {"role": "assistant", "content": []}, "finish_reason": "ERROR_TOXIC"}
    server = Server(httpx2.Response(200, json=body))
    assert shell(connected("cohere", server)).decide("x", Q).outcome("q").reason == "content_filter"


@both
def test_a_decision_endpoints_filter_refuses_every_question(shell):
    body = {"error": {"message": "no", "code": "content_policy_violation"}}
    provider = load_provider(
        "openai-decisions:m", api_key=KEY, **clients(Server(httpx2.Response(400, json=body)))
    )
    assert shell(provider).decide("x", Q).outcome("q").reason == "content_filter"


def test_a_rate_limit_is_one_whatever_its_words():
    body = {"error": {"message": "Input traffic violates our fair use policy", "code": "rate_limit"}}
    server = Server(httpx2.Response(429, json=body))
    with pytest.raises(ProviderUnavailable):
        DecisionModel(connected("xai", server), retry=patient([])).decide("x", Q)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (403, "Access to the chat endpoint is denied"),
        (400, "Your account was flagged; contact us"),
        (401, "This key violates our content policies"),
        (400, "prompt is too long: 9000 tokens"),
        (400, "response_format: unknown filter"),
    ],
)
def test_another_error_stays_one(status, message):
    server = Server(
        httpx2.Response(status, json={"error": {"message": message, "code": "permission-denied"}})
    )
    with pytest.raises(ProviderRejected):
        DecisionModel(connected("xai", server)).decide("x", Q)


def test_the_users_own_words_never_make_a_refusal():
    text = "The forum says: Content Exists Risk. What is that?"
    server = Server(httpx2.Response(400, json={"error": {"message": f"cannot parse: {text}"}}))
    with pytest.raises(ProviderRejected, match="quotes the prompt"):
        DecisionModel(connected("deepseek", server)).decide(text, Q)


def test_a_body_of_any_shape_is_looked_at_without_harm():
    deep = {}
    for _ in range(500):
        deep = {"error": deep, "metadata": {"reasons": []}}
    for body in (None, [], "text", 3, deep, {"error": [1]}, {"error": {"code": {"x": 1}}}):
        assert not declines(body, "", None)


@both
@pytest.mark.parametrize(
    ("code", "kind"), [(502, ProviderUnavailable), (None, ProviderUnavailable), (402, ProviderRejected)]
)
def test_an_error_under_a_status_of_success_is_one(shell, code, kind):
    server = Server(httpx2.Response(200, json={"error": {"code": code, "message": "secret words"}}))
    with pytest.raises(kind) as info:
        shell(connected("openrouter", server), retry=patient([])).decide("x", Q)
    assert "secret words" not in str(info.value)
    assert not isinstance(info.value, UnreadableReply)
    assert len(server.bodies) == (1 if kind is ProviderRejected else RetryPolicy().attempts)


@both
def test_declined_content_under_a_status_of_success_is_a_refusal(shell):
    failure = {"code": 403, "message": "no", "metadata": {"reasons": ["hate"], "flagged_input": "x"}}
    server = Server(httpx2.Response(200, json={"error": failure}))
    assert shell(connected("openrouter", server)).decide("x", Q).outcome("q").reason == "content_filter"
