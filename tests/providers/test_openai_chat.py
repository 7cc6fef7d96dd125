import asyncio

import httpx2
import pytest

from tests.engine.support import both
from tests.providers.contract import KEY, PAYLOADS, TASK, HttpProviderContract, payload, record
from yesno import DecisionModel, YesNo
from yesno.errors import ConfigError, ProviderRejected, Refused
from yesno.providers import load_provider
from yesno.providers.base import NativeTask, PromptTask, Turn
from yesno.providers.openai_chat import OpenAIChat
from yesno.request import DecisionRequest


def clients(handler):
    transport = httpx2.MockTransport(handler)
    return {
        "http_client": httpx2.Client(transport=transport),
        "async_http_client": httpx2.AsyncClient(transport=transport),
    }


def answering(name):
    kept = record(name)
    return OpenAIChat(
        "gpt-5.4-mini",
        api_key=KEY,
        **clients(lambda _: httpx2.Response(kept.get("status", 200), json=kept["response"])),
    )


class TestOpenAIChat(HttpProviderContract):
    provider = "openai"
    recorded = "openai/yes"

    def connect(self, handler):
        return OpenAIChat("gpt-5.4-mini", api_key=KEY, **clients(handler))


@pytest.mark.parametrize("path", sorted((PAYLOADS / "openai").glob("*.json")), ids=lambda path: path.stem)
def test_each_request_on_file_is_what_is_sent_today(path):
    kept = record(f"openai/{path.stem}")["request"]
    turns = tuple(Turn(turn["role"], turn["content"]) for turn in kept["messages"])
    assert OpenAIChat("gpt-5.4-mini", api_key=KEY).build(PromptTask(turns, kept["model"], 4)) == kept


@both
def test_a_recorded_answer_has_its_model_and_tokens(shell):
    response = shell(answering("openai/yes")).decide("x", {"q": YesNo("q?")})
    assert response.model == "gpt-5.4-mini-2026-03-17"
    assert (response.usage.input_tokens, response.usage.output_tokens) == (61, 1)
    assert response.yes_no("q").probability == pytest.approx(0.939, abs=1e-3)


@both
@pytest.mark.parametrize(
    ("name", "reason"), [("openai/refusal", "refusal"), ("openai/content_filter", "content_filter")]
)
def test_a_recorded_refusal_is_a_refusal(shell, name, reason):
    with pytest.raises(Refused) as info:
        shell(answering(name)).decide("x", YesNo("q?"))
    assert info.value.outcome.reason == reason


@both
def test_a_model_that_hides_logprobs_is_undecided(shell):
    outcome = (
        shell(answering("openai/no_logprobs_400"), strategy="logprobs")
        .decide("x", {"q": YesNo("q?")})
        .outcome("q")
    )
    assert (outcome.reason, outcome.low, outcome.high) == ("logprobs_unsupported", None, None)


def test_the_profile_decides_what_is_sent():
    new = OpenAIChat("gpt-5.4-mini", api_key=KEY).build(TASK)
    assert (new["reasoning_effort"], new["max_completion_tokens"], new["temperature"]) == ("none", 4, 0)
    assert (new["logprobs"], new["top_logprobs"]) == (True, 20)
    assert "max_tokens" not in new
    old = OpenAIChat("gpt-4.1-mini", api_key=KEY).build(TASK)
    assert "reasoning_effort" not in old
    assert "max_completion_tokens" not in old
    assert old["max_tokens"] == 4


def test_requests_go_to_openai_or_where_the_caller_says():
    seen = []

    def handler(request):
        seen.append(str(request.url))
        return httpx2.Response(200, json=payload("openai/yes"))

    for options in ({}, {"base_url": "https://eu.test/v1"}):
        provider = OpenAIChat("gpt-5.4-mini", api_key=KEY, **options, **clients(handler))
        provider.send(provider.build(TASK))
    assert seen == ["https://api.openai.com/v1/chat/completions", "https://eu.test/v1/chat/completions"]


def test_a_missing_key_names_its_variable():
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        load_provider("openai:gpt-5.4-mini")


def test_a_key_is_taken_from_the_environment_and_an_argument_wins(monkeypatch):
    seen = []

    def handler(request):
        seen.append(request.headers["authorization"])
        return httpx2.Response(200, json=payload("openai/yes"))

    monkeypatch.setenv("OPENAI_API_KEY", "from-environment")
    for options in ({}, {"api_key": "from-argument"}):
        provider = load_provider("openai:gpt-5.4-mini", **options, **clients(handler))
        provider.send(provider.build(TASK))
    assert seen == ["Bearer from-environment", "Bearer from-argument"]


def test_openai_is_told_the_organization_and_project(monkeypatch):
    seen = []

    def handler(request):
        seen.append((request.headers["openai-organization"], request.headers["openai-project"]))
        return httpx2.Response(200, json=payload("openai/yes"))

    monkeypatch.setenv("OPENAI_ORG_ID", "org")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project")
    provider = OpenAIChat("gpt-5.4-mini", api_key=KEY, **clients(handler))
    provider.send(provider.build(TASK))
    asyncio.run(provider.asend(provider.build(TASK)))
    assert seen == [("org", "project")] * 2


def test_a_missing_model_is_asked_for():
    with pytest.raises(ConfigError, match="name a model"):
        load_provider("openai", api_key=KEY)


@pytest.mark.parametrize(
    ("status", "hint"), [(401, "OPENAI_API_KEY"), (403, "OPENAI_API_KEY"), (404, "'gpt-5.4-mini'")]
)
def test_a_rejection_says_what_to_check(status, hint):
    provider = OpenAIChat("gpt-5.4-mini", api_key=KEY, **clients(lambda _: httpx2.Response(status)))
    with pytest.raises(ProviderRejected, match=hint):
        DecisionModel(provider).decide("x", YesNo("q?"))


def test_chat_completions_has_no_decision_endpoint():
    task = NativeTask(DecisionRequest("x", {"q": YesNo("q?")}), "m")
    with pytest.raises(NotImplementedError):
        OpenAIChat("m", api_key=KEY).build(task)
