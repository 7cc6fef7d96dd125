"""Hosts that speak OpenAI's Chat Completions: each is a name, an address, a key variable and rows of facts."""

import copy
import json
from dataclasses import replace

import httpx2
import pytest

from tests.engine.support import both, refused
from tests.providers.contract import (
    KEY,
    PRIVATE,
    TASK,
    HttpProviderContract,
    ProviderContract,
    payload,
    record,
)
from tests.providers.test_openai_chat import clients
from yesno import Choice, DecisionModel, YesNo
from yesno.errors import ConfigError, ProviderRejected, UnreadableReply
from yesno.evidence import Completion
from yesno.providers import PROVIDERS, load_provider
from yesno.providers._host import Host
from yesno.providers.base import PromptTask, Turn
from yesno.providers.fake import chat_reply
from yesno.reading.labels import yes_no_labels
from yesno.reading.logprobs import read
from yesno.reading.outcome import Unread

RESOURCE = "https://example.openai.azure.com"


def connected(name, handler, model="m"):
    options = {"base_url": RESOURCE} if name == "azure" else {}
    return load_provider(f"{name}:{model}", api_key=KEY, **options, **clients(handler))


def answering(name, model="m"):
    kept = record(name)
    handler = lambda _: httpx2.Response(kept.get("status", 200), json=kept["response"])  # noqa: E731
    return connected(name.partition("/")[0], handler, model)


class HostTests:
    """A host; `connect` makes it with the model of its recorded request, whose row it then has."""

    route = "/chat/completions"

    def connect(self, handler):
        return connected(self.provider, handler, record(self.recorded)["request"]["model"])

    def test_the_address_is_the_hosts_own_and_base_url_wins(self):
        seen = []

        def handler(request):
            seen.append(str(request.url))
            return httpx2.Response(200, json=payload(self.recorded))

        for address in (None, "https://proxy.test/v1/"):
            provider = load_provider(
                f"{self.provider}:m",
                api_key=KEY,
                base_url=address or (RESOURCE if self.provider == "azure" else None),
                **clients(handler),
            )
            provider.send(provider.build(TASK))
        assert seen[0].endswith(self.route)
        assert seen[1] == f"https://proxy.test/v1{self.route}"
        assert "test" not in seen[0]
        assert provider.address == "https://proxy.test/v1"
        assert self.provider == "azure" or load_provider(f"{self.provider}:m", api_key=KEY).address is None


class HostContract(HostTests, ProviderContract):
    """A host that changes nothing about how bodies travel: OpenRouter and others prove the whole of that."""

    make = HttpProviderContract.make
    test_bytes = HttpProviderContract.test_sync_and_async_send_equal_bytes_to_the_same_place_with_the_key
    test_request = HttpProviderContract.test_the_request_on_file_is_what_is_sent_today


class SilentHostContract(HostContract):
    """A host that is not known to give log-probabilities: whatever comes back, no number is made of it."""

    def test_a_recorded_reply_reads_as_a_distribution(self):
        provider = self.make(payload(self.recorded))
        reply = provider.parse(TASK, provider.send(provider.build(TASK)))
        assert isinstance(reply.evidence, Completion)
        assert read(reply.evidence, yes_no_labels()) == Unread("no_logprobs")
        assert provider.profile.strategies == ("sampled",)

    def test_it_is_sampled_and_never_asked_for_log_probabilities(self):
        bodies = []

        def handler(request):
            bodies.append(json.loads(request.content))
            return httpx2.Response(200, json=self.saying('{"answer": "yes", "confidence": 90}'))

        answer = DecisionModel(self.connect(handler)).decide("x", YesNo("q?"))
        assert (answer.method, answer.is_yes()) == ("sampled", True)
        assert not any("logprobs" in body for body in bodies)
        assert all(body["response_format"]["type"].startswith("json") for body in bodies)

    def saying(self, text):
        """Return the recorded reply with another text."""
        body = copy.deepcopy(payload(self.recorded))
        body["choices"][0]["message"]["content"] = text
        return body

    def test_a_caller_who_wants_log_probabilities_is_told(self):
        with pytest.raises(ConfigError, match="logprobs"):
            DecisionModel(self.make(payload(self.recorded)), strategy="logprobs")


class TestAzure(HostContract):
    provider = "azure"
    recorded = "azure/yes"


class TestCohere(SilentHostContract):
    provider = "cohere"
    recorded = "cohere/no_logprobs"
    route = "/v2/chat"

    def saying(self, text):
        body = copy.deepcopy(payload(self.recorded))
        body["message"]["content"][1]["text"] = text
        return body

    def test_the_address_is_the_hosts_own_and_base_url_wins(self):
        seen = []

        def handler(request):
            seen.append(str(request.url))
            return httpx2.Response(200, json=payload(self.recorded))

        for address in (None, "https://proxy.test/v2/"):
            provider = connected("cohere", handler)
            if address:
                provider = load_provider("cohere:m", api_key=KEY, base_url=address, **clients(handler))
            provider.send(provider.build(TASK))
        assert seen == ["https://api.cohere.com/v2/chat", "https://proxy.test/v2/chat"]

    def test_blocks_that_are_no_text_are_not_read_and_tokens_are_counted(self):
        reply = self.make({}).parse(TASK, payload(self.recorded))
        assert reply.evidence == Completion("Yes")
        assert (reply.usage.input_tokens, reply.usage.output_tokens) == (566, 3)

    @pytest.mark.parametrize(
        ("reason", "finish"), [("MAX_TOKENS", "length"), ("TOOL_CALL", "tool_calls"), ("ERROR", "other")]
    )
    def test_other_ends_are_told_apart(self, reason, finish):
        body = {**payload(self.recorded), "finish_reason": reason}
        assert self.make({}).parse(TASK, body).evidence.finish == finish

    @pytest.mark.parametrize(
        "message",
        [{}, PRIVATE, {"content": PRIVATE}, {"content": [{"type": "text", "text": [PRIVATE]}]}],
        ids=["empty", "text", "content", "block"],
    )
    def test_junk_in_its_own_shape_is_unreadable(self, message):
        with pytest.raises(UnreadableReply) as info:
            self.make({}).parse(TASK, {"message": message})
        assert PRIVATE not in str(info.value)

    @pytest.mark.parametrize(
        "message", ["invalid `response_format`", "invalid json schema: additionalProperties"]
    )
    def test_a_form_that_is_refused_is_left_out(self, message):
        bodies = []

        def handler(request):
            bodies.append(json.loads(request.content))
            if "response_format" in bodies[-1]:
                return httpx2.Response(400, json={"message": message})
            return httpx2.Response(200, json=self.saying('{"answer": "no", "confidence": 90}'))

        model = DecisionModel(self.connect(handler), concurrency=1)
        assert not model.decide("x", YesNo("q?")).is_yes()
        assert ["response_format" in body for body in bodies].count(True) == 1


class TestDeepSeek(HostContract):
    provider = "deepseek"
    recorded = "deepseek/yes"


class TestFireworks(HostContract):
    provider = "fireworks"
    recorded = "fireworks/yes"


class TestGeminiCompat(SilentHostContract):
    provider = "gemini-compat"
    recorded = "gemini_compat/no_logprobs"


class TestGroq(SilentHostContract):
    provider = "groq"
    recorded = "groq/no_logprobs"


class TestLlamaCpp(HostContract):
    provider = "llamacpp"
    recorded = "llamacpp/yes"


class TestLMStudio(SilentHostContract):
    provider = "lmstudio"
    recorded = "lmstudio/no_logprobs"


class TestMistral(SilentHostContract):
    provider = "mistral"
    recorded = "mistral/no_logprobs"


class TestOllama(HostContract):
    provider = "ollama"
    recorded = "ollama/yes"


class TestOpenRouter(HostTests, HttpProviderContract):
    provider = "openrouter"
    recorded = "openrouter/yes"


class TestSGLang(HostContract):
    provider = "sglang"
    recorded = "sglang/yes"

    def test_the_tokens_of_the_reasoning_are_not_the_answer(self):
        answer = DecisionModel(answering("sglang/reasoning")).decide("x", YesNo("q?"))
        assert answer.probability == pytest.approx(0.25, abs=1e-3)


class TestTogether(HostContract):
    provider = "together"
    recorded = "together/yes"


class TestVLLM(HostContract):
    provider = "vllm"
    recorded = "vllm/yes"


class TestXAI(HostContract):
    provider = "xai"
    recorded = "xai/yes"


HOSTS = sorted(
    kind.provider
    for kind in [
        *HostTests.__subclasses__(),
        *HostContract.__subclasses__(),
        *SilentHostContract.__subclasses__(),
    ]
    if hasattr(kind, "provider")
)
KEYED = [
    "azure",
    "cohere",
    "deepseek",
    "fireworks",
    "gemini-compat",
    "groq",
    "mistral",
    "openrouter",
    "together",
    "xai",
]


def variable(name):
    return type(connected(name, None)).key_variable


def test_every_host_is_tested_here():
    elsewhere = {"openai-compatible"}  # has the whole contract over HTTP in a file of its own
    assert {name for name in PROVIDERS if isinstance(_made(name), Host)} == set(HOSTS) | elsewhere


def _made(name):
    try:
        return load_provider(f"{name}:m", api_key=KEY, base_url="http://server.test/v1")
    except ConfigError:
        return None


@pytest.mark.parametrize("name", KEYED)
def test_a_missing_key_names_the_vendors_variable(name):
    with pytest.raises(ConfigError, match=variable(name)):
        load_provider(f"{name}:m", base_url="http://server.test/v1")


@pytest.mark.parametrize("name", HOSTS)
def test_a_key_comes_from_the_vendors_variable_and_openais_goes_nowhere(monkeypatch, name):
    seen = []

    def handler(request):
        seen.append(request.headers["authorization"])
        return httpx2.Response(200, json=payload("openai_compatible/yes"))

    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    monkeypatch.setenv("YESNO_BASE_URL", "http://elsewhere.test/v1")
    if name not in KEYED:
        provider = load_provider(f"{name}:m", **clients(handler))
        provider.send(provider.build(TASK))
        assert seen.pop() == "Bearer none"
    monkeypatch.setenv(variable(name), "from-environment")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", RESOURCE)
    provider = load_provider(f"{name}:m", **clients(handler))
    assert "elsewhere" not in provider._place
    provider.send(provider.build(TASK))
    assert seen == ["Bearer from-environment"]


@pytest.mark.parametrize("name", HOSTS)
def test_a_missing_model_is_asked_for_with_an_example_and_a_strange_address_refused(name):
    with pytest.raises(ConfigError, match=f"'{name}:"):
        load_provider(name, api_key=KEY)
    with pytest.raises(ConfigError, match="http://"):
        load_provider(f"{name}:m", api_key=KEY, base_url="localhost:1")


@pytest.mark.parametrize("name", HOSTS)
def test_a_rejected_key_names_the_variable(name):
    provider = connected(name, lambda _: refused(401, "bad key"))
    with pytest.raises(ProviderRejected, match=variable(name)):
        DecisionModel(provider).decide("x", YesNo("q?"))


@pytest.mark.parametrize(
    "name",
    [
        "azure/filter_400",
        "groq/no_logprobs_400",
        "mistral/unknown_field_422",
        "ollama/cloud_no_logprobs",
        "openrouter/omitted",
        "openrouter/no_host_404",
        "sglang/reasoning",
        "together/list",
        "xai/reasoning_null",
    ],
)
def test_each_other_request_on_file_is_what_is_sent_today(name):
    kept = record(name)["request"]
    turns = tuple(Turn(turn["role"], turn["content"]) for turn in kept["messages"])
    assert answering(name, kept["model"]).build(PromptTask(turns, kept["model"], 4)) == kept


@both
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("groq/no_logprobs_400", "logprobs_unsupported"),
        ("mistral/unknown_field_422", "logprobs_unsupported"),
        ("ollama/cloud_no_logprobs", "no_logprobs"),
        ("openrouter/omitted", "no_logprobs"),
        ("openrouter/no_host_404", "logprobs_unsupported"),
        ("xai/reasoning_null", "no_logprobs"),
    ],
)
def test_without_logprobs_there_is_no_number(shell, name, reason):
    provider = answering(name)
    provider.profile = replace(provider.profile, strategies=("logprobs",))
    outcome = shell(provider).decide("x", {"q": YesNo("q?")}).outcome("q")
    assert (outcome.reason, outcome.low, outcome.high) == (reason, None, None)


@both
def test_azures_filter_is_a_refusal(shell):
    outcome = shell(answering("azure/filter_400")).decide("x", {"q": YesNo("q?")}).outcome("q")
    assert outcome.reason == "content_filter"


def test_azure_adds_its_route_and_needs_an_address(monkeypatch):
    with pytest.raises(ConfigError, match="AZURE_OPENAI_ENDPOINT"):
        load_provider("azure:m", api_key=KEY)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"{RESOURCE}/")
    assert load_provider("azure:m", api_key=KEY)._place == f"{RESOURCE}/openai/v1"
    given = load_provider("azure:m", api_key=KEY, base_url="https://gate.test/openai/v1/")
    assert given._place == "https://gate.test/openai/v1"


def test_a_deployment_called_as_its_model_gets_that_models_row():
    body = connected("azure", None, "gpt-5.2-prod").build(TASK)
    assert (body["reasoning_effort"], "max_completion_tokens" in body) == ("none", True)
    assert "reasoning_effort" not in connected("azure", None, "mine").build(TASK)


def test_deepseek_is_asked_without_thinking_and_xai_for_eight_alternatives():
    assert connected("deepseek", None).build(TASK)["thinking"] == {"type": "disabled"}
    assert connected("xai", None).build(TASK)["top_logprobs"] == 8
    assert connected("xai", None, "grok-4.3").build(TASK)["reasoning_effort"] == "none"
    assert connected("fireworks", None).build(TASK)["top_logprobs"] == 5


def test_more_options_than_a_host_lists_are_asked_in_groups():
    bodies = []

    def handler(request):
        bodies.append(json.loads(request.content))
        return httpx2.Response(200, json=payload("xai/yes"))

    DecisionModel(connected("xai", handler)).decide(
        "x", {"q": Choice("Which?", [f"option-{n}-" for n in range(12)])}
    )
    bodies = [body for body in bodies if "top_logprobs" in body]
    shown = [sum(f"option-{n}-" in body["messages"][-1]["content"] for n in range(12)) for body in bodies]
    assert shown[:2] == [6, 6]


def test_openrouter_asks_only_hosts_that_take_every_field():
    body = connected("openrouter", None).build(TASK)
    assert body["provider"] == {"require_parameters": True}
    body["provider"].clear()
    assert connected("openrouter", None).build(TASK)["provider"] == {"require_parameters": True}


@both
def test_openrouter_leaves_out_a_temperature_that_no_host_takes(shell):
    bodies = []

    def handler(request):
        bodies.append(json.loads(request.content))
        if "temperature" in bodies[-1]:
            return httpx2.Response(404, json=payload("openrouter/no_host_404"))
        return httpx2.Response(200, json=payload("openrouter/yes"))

    model = shell(connected("openrouter", handler))
    assert model.decide("x", YesNo("q?")).is_yes()
    assert model.decide("y", YesNo("q?")).is_yes()
    assert ["temperature" in body for body in bodies] == [True, False, False]


@both
def test_openrouter_samples_where_no_host_has_logprobs_nor_forms(shell):
    bodies = []

    def handler(request):
        bodies.append(json.loads(request.content))
        if {"temperature", "logprobs", "response_format"} & set(bodies[-1]):
            return httpx2.Response(404, json=payload("openrouter/no_host_404"))
        body = copy.deepcopy(payload("openrouter/omitted"))
        body["choices"][0]["message"]["content"] = '{"answer": "yes", "confidence": 90}'
        return httpx2.Response(200, json=body)

    answer = shell(connected("openrouter", handler), concurrency=1).decide("x", YesNo("q?"))
    assert (answer.method, answer.is_yes()) == ("sampled", True)
    assert all(body["provider"] == {"require_parameters": True} for body in bodies)


def test_openrouter_without_any_host_is_a_rejection():
    handler = lambda _: httpx2.Response(404, json=payload("openrouter/no_host_404"))  # noqa: E731
    with pytest.raises(ProviderRejected, match="takes what is sent"):
        DecisionModel(connected("openrouter", handler)).decide("x", YesNo("q?"))


@both
def test_openrouters_unknown_model_is_a_rejection(shell):
    with pytest.raises(ProviderRejected, match="right model name"):
        shell(connected("openrouter", lambda _: refused(404, "No such model"))).decide("x", YesNo("q?"))


@both
def test_together_is_told_a_number_and_its_arrays_are_read(shell):
    answer = shell(answering("together/yes")).decide("x", YesNo("q?"))
    assert answer.probability == pytest.approx(0.938, abs=1e-3)
    assert "lossy" in answer.flags
    assert shell(answering("together/list")).decide("x", YesNo("q?")).is_yes()
    body = connected("together", None).build(TASK)
    assert body["logprobs"] == 20
    assert body["logprobs"] is not True
    assert "top_logprobs" not in body


@both
def test_a_smaller_number_for_together_is_taken_over(shell):
    bodies = []

    def handler(request):
        bodies.append(json.loads(request.content))
        if bodies[-1]["logprobs"] > 5:
            return refused(400, "logprobs must be at most 5", param="logprobs")
        return httpx2.Response(200, json=payload("together/yes"))

    assert shell(connected("together", handler)).decide("x", YesNo("q?")).is_yes()
    assert [body["logprobs"] for body in bodies] == [20, 5]


def test_what_vllm_and_deepseek_clamp_counts_as_nothing():
    for name in ("vllm/yes", "deepseek/yes"):
        answer = DecisionModel(answering(name)).decide("x", YesNo("q?"))
        assert answer.probability == pytest.approx(0.938, abs=5e-3)
        assert answer.missing == ()


def test_thoughts_that_xai_counts_apart_are_output_too():
    provider = connected("xai", None)
    body = chat_reply({"Yes": 0.9, "No": 0.1})
    spent = {
        "prompt_tokens": 9,
        "completion_tokens": 1,
        "completion_tokens_details": {"reasoning_tokens": 40},
    }
    usage = provider.parse(PromptTask((Turn("user", "?"),), "m", 4), {**body, "usage": spent}).usage
    assert (usage.output_tokens, usage.reasoning_tokens) == (41, 40)
