import json

import httpx2
import pytest

from tests.providers.contract import TASK, HttpProviderContract, payload
from yesno import DecisionModel, YesNo
from yesno.errors import ConfigError, ProviderUnavailable, Refused
from yesno.providers import load_provider
from yesno.providers.openai_chat import OpenAIChat
from yesno.providers.openai_compatible import OpenAICompatible

KEY = "k" * 30


def clients(handler):
    transport = httpx2.MockTransport(handler)
    return {
        "http_client": httpx2.Client(transport=transport),
        "async_http_client": httpx2.AsyncClient(transport=transport),
    }


def answer(status, body, headers=None):
    content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return lambda request: httpx2.Response(status, content=content, headers=headers or {})


class TestOpenAIChat(HttpProviderContract):
    provider = "openai"
    recorded = "openai/yes"

    def answering(self, status, body, headers=None):
        return OpenAIChat("gpt-5.4-mini", api_key=KEY, **clients(answer(status, body, headers)))

    def make(self, body):
        return self.answering(200, body)

    def test_the_profile_decides_what_is_sent(self):
        body = self.make({}).build(TASK)
        assert (body["reasoning_effort"], body["max_completion_tokens"], body["temperature"]) == (
            "none",
            4,
            0,
        )
        assert (body["logprobs"], body["top_logprobs"]) == (True, 20)
        assert "max_tokens" not in body
        old = OpenAIChat("gpt-4.1-mini", api_key=KEY).build(TASK)
        assert "reasoning_effort" not in old
        assert old["max_tokens"] == 4

    def test_a_recorded_refusal_is_a_refusal(self):
        with pytest.raises(Refused):
            DecisionModel(self.make(payload("openai/refusal"))).decide("x", YesNo("q?"))

    def test_a_missing_key_names_its_variable(self):
        with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
            load_provider("openai:gpt-5.4-mini")

    def test_a_missing_model_is_asked_for(self):
        with pytest.raises(ConfigError, match="name a model"):
            load_provider("openai", api_key=KEY)


class TestOpenAICompatible(HttpProviderContract):
    provider = "openai-compatible"
    recorded = "openai_compatible/yes"

    def answering(self, status, body, headers=None):
        return OpenAICompatible(
            "m", base_url="http://server.test/v1", api_key=KEY, **clients(answer(status, body, headers))
        )

    def make(self, body):
        return self.answering(200, body)

    def test_arrays_inside_a_chat_choice_are_read(self):
        got = DecisionModel(self.make(payload("openai_compatible/arrays"))).decide("x", YesNo("q?"))
        assert got.probability == pytest.approx(0.0911, abs=1e-3)
        assert "lossy" in got.flags

    def test_an_unknown_host_is_asked_at_temperature_one_and_with_a_cap(self):
        body = self.make({}).build(TASK)
        assert (body["temperature"], body["max_tokens"]) == (1, 4)

    def test_a_missing_address_is_asked_for_and_a_strange_one_refused(self):
        with pytest.raises(ConfigError, match="YESNO_BASE_URL"):
            load_provider("openai-compatible:m")
        with pytest.raises(ConfigError, match="http://"):
            load_provider("openai-compatible:m", base_url="localhost:8000")

    def test_openais_key_is_never_sent_to_another_server(self, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
        seen = []

        def handler(request):
            seen.append(request.headers["authorization"])
            return httpx2.Response(200, json=payload("openai_compatible/yes"))

        provider = OpenAICompatible("m", base_url="http://server.test/v1", **clients(handler))
        provider.send(provider.build(TASK))
        assert "sk-openai" not in seen[0]

    def test_a_server_that_cannot_be_reached_says_what_to_check(self):
        def handler(request):
            raise httpx2.ConnectError("refused", request=request)

        provider = OpenAICompatible("m", base_url="http://server.test/v1", **clients(handler))
        with pytest.raises(Exception) as info:  # noqa: PT011 - whatever the SDK raises
            provider.send(provider.build(TASK))
        known = provider.classify(info.value)
        assert isinstance(known, ProviderUnavailable)
        assert "http://server.test/v1" in str(known)


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("opnai:gpt-5", "'openai'"),
        ("gpt-5.4-mini", "'openai:gpt-5.4-mini'"),
        ("locl", "'local'"),
        ("zzz:m", "known are"),
    ],
    ids=["typo", "bare", "local", "far"],
)
def test_an_unknown_provider_suggests_what_was_meant(spec, hint):
    with pytest.raises(ConfigError, match=hint):
        load_provider(spec)


def test_an_option_that_a_provider_does_not_take_is_named():
    with pytest.raises(ConfigError, match="base_url"):
        load_provider("fake", base_url="http://x")
