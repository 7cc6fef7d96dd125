import asyncio

import httpx2
import pytest

from tests.engine.support import both
from tests.providers.contract import KEY, NATIVE_TASK, QUESTIONS, NativeProviderContract, record
from yesno import Choice, DecisionModel, Scale, Undecided, YesNo
from yesno.errors import ConfigError, ProviderRejected, ProviderUnavailable, QuestionError
from yesno.providers import load_provider
from yesno.providers.base import NativeTask
from yesno.providers.profiles import SYSTEM_ONE_HOSTS
from yesno.providers.systemone import SystemOne
from yesno.wire.systemone import decode_request

BOTH = {"spam": YesNo("Is this spam?"), "tone": YesNo("Is it polite?")}


def provider_of(handler, **options):
    transport = httpx2.MockTransport(handler)
    return SystemOne(
        "jev-latest",
        **{"api_key": KEY, **options},
        http_client=httpx2.Client(transport=transport),
        async_http_client=httpx2.AsyncClient(transport=transport),
    )


def answering(name, **options):
    kept = record(name)
    return provider_of(lambda _: httpx2.Response(kept.get("status", 200), json=kept["response"]), **options)


class TestSystemOne(NativeProviderContract):
    provider = "systemone"
    recorded = "systemone/answers"

    def connect(self, handler):
        return provider_of(handler)


@pytest.mark.parametrize(
    "name",
    [
        "systemone/answers",
        "systemone/label_mass",
        "systemone/validation_422",
        "systemone/unknown_model_400",
    ],
)
def test_each_request_on_file_is_written_again_as_it_was_read(name):
    kept = record(name)["request"]
    asked = decode_request(kept)
    assert provider_of(None).build(NativeTask(asked.request, kept["model"])) == kept


@both
def test_answers_are_read_by_id_and_not_by_order(shell):
    response = shell(answering("systemone/answers")).decide("I was charged twice", QUESTIONS)
    assert response.model == "typesafe/jev-1.13-20260917"
    assert response.yes_no("billing").probability == 0.86
    team, mood = response.choice("team"), response.scale("mood")
    assert (team.value, team.probability_of("support"), team.none_probability) == ("payments", 0.06, 0)
    assert team.bounds["support"] == pytest.approx((0.055, 0.065))
    assert (mood.level(), mood.mean) == (2, pytest.approx(1.97))
    assert mood.low < mood.mean < mood.high
    assert mood.confidence == pytest.approx((3 * 0.97 - 1) / 2)
    assert team.method == "native"


@both
def test_a_small_label_mass_is_no_answer(shell):
    response = shell(answering("systemone/label_mass")).decide("I was charged twice", BOTH)
    spam, tone = response.yes_no("spam"), response.outcome("tone")
    assert (spam.probability, spam.label_mass) == (0.7512, 0.9)
    assert (spam.low, spam.high) == pytest.approx((0.7512 * 0.9, 0.7512 * 0.9 + 0.1))
    assert isinstance(tone, Undecided)
    assert (tone.reason, tone.label_mass) == ("low_label_mass", 0.2)
    assert (tone.low, tone.high) == pytest.approx((0.2311 * 0.2, 0.2311 * 0.2 + 0.8))


def test_a_422_says_where_and_what_but_not_the_input():
    with pytest.raises(ProviderRejected) as info:
        DecisionModel(answering("systemone/validation_422")).decide("I was charged twice", BOTH)
    assert "body/questions/spam/noul/criteria: Input should be a valid dictionary" in str(info.value)
    assert "charged" not in str(info.value)


def test_a_422_may_name_the_question_it_is_about():
    detail = [{"loc": ["body", "questions", "department"], "msg": "Field required"}]
    model = DecisionModel(provider_of(lambda _: httpx2.Response(422, json={"detail": detail})))
    with pytest.raises(ProviderRejected, match="body/questions/department: Field required"):
        model.decide("x", {"department": YesNo("Is it ours?")})


def test_an_object_in_detail_gives_message_and_code():
    with pytest.raises(ProviderRejected, match="Unknown model: jev-0") as info:
        DecisionModel(answering("systemone/unknown_model_400")).decide("I was charged twice", BOTH)
    assert info.value.code == "api_usage_error"


@pytest.mark.parametrize("detail", [{"error_type": "max_tokens_exceeded"}, "Too many choices.", [3], {}])
def test_details_of_other_shapes_are_classified(detail):
    with pytest.raises(ProviderRejected):
        DecisionModel(provider_of(lambda _: httpx2.Response(400, json={"detail": detail}))).decide("x", BOTH)


def test_the_vendors_request_id_is_kept_and_its_overload_may_be_tried_again():
    headers = {"x-typesafe-request-id": "ts_1"}
    provider = provider_of(lambda _: httpx2.Response(529, headers=headers))
    with pytest.raises(Exception) as info:  # noqa: PT011 - whatever the SDK raises
        provider.send(provider.build(NATIVE_TASK))
    known = provider.classify(info.value)
    assert isinstance(known, ProviderUnavailable)
    assert (known.request_id, known.retryable) == ("ts_1", True)


@pytest.mark.parametrize(
    ("dialect", "url"),
    [
        ("typesafe", "https://api.typesafe.ai/v1/systemone"),
        ("openrouter", "https://openrouter.ai/api/v1/systemone"),
        ("perplexity", "https://api.perplexity.ai/v1/decisions"),
        ("fireworks", "https://api.fireworks.ai/inference/v1/systemone"),
        ("ollama", "http://127.0.0.1:11434/v1/systemone"),
    ],
)
def test_a_dialect_gives_address_and_key_of_its_vendor_only(dialect, url, monkeypatch):
    for host in SYSTEM_ONE_HOSTS.values():
        if host.key:
            monkeypatch.setenv(host.key, f"key of {host.key}")
    monkeypatch.setenv("OPENAI_API_KEY", "key of OpenAI")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-1")
    seen = []

    def handler(request):
        seen.append(request)
        return httpx2.Response(200, json=record("systemone/answers")["response"])

    provider = provider_of(handler, dialect=dialect, api_key=None)
    provider.send(provider.build(NATIVE_TASK))
    asyncio.run(provider.asend(provider.build(NATIVE_TASK)))
    expected = f"key of {SYSTEM_ONE_HOSTS[dialect].key}" if SYSTEM_ONE_HOSTS[dialect].key else "none"
    for request in seen:
        assert str(request.url) == url
        assert request.headers["authorization"] == f"Bearer {expected}"
        assert "openai-organization" not in request.headers
        assert "openai-project" not in request.headers


def test_a_vendors_key_never_goes_to_another_server(monkeypatch):
    monkeypatch.setenv("TYPESAFE_API_KEY", "secret")
    seen = []

    def handler(request):
        seen.append((str(request.url), request.headers["authorization"]))
        return httpx2.Response(200, json=record("systemone/answers")["response"])

    for base in ("http://127.0.0.1:8000/", "https://api.typesafe.ai.evil.test", "http://api.typesafe.ai"):
        DecisionModel(provider_of(handler, base_url=base, api_key=None)).decide("x", QUESTIONS)
    assert seen[0] == ("http://127.0.0.1:8000/v1/systemone", "Bearer none")
    assert {key for _, key in seen} == {"Bearer none"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "TYPESAFE_API_KEY"),
        ({"dialect": "openrouter"}, "OPENROUTER_API_KEY"),
        ({"dialect": "opnerouter"}, "known are azure"),
        ({"dialect": "azure"}, "base_url="),
        ({"base_url": "localhost:8000"}, "http://"),
        ({"dialect": "gemini", "base_url": "https://g.test"}, "path="),
    ],
)
def test_what_is_missing_is_named(options, words):
    with pytest.raises(ConfigError, match=words):
        load_provider("systemone:jev-latest", **options)


def test_a_model_is_asked_for():
    with pytest.raises(ConfigError, match="systemone:jev-latest"):
        load_provider("systemone", api_key=KEY)


def test_the_input_goes_where_the_dialect_wants_it():
    provider = provider_of(None, dialect="gemini", base_url="https://g.test", path="/v1/decisions")
    body = provider.build(NATIVE_TASK)
    assert "state" not in body
    assert "my private sentence" in body["input"]


@pytest.mark.parametrize(
    ("dialect", "questions", "words"),
    [
        ("ollama", {"q": Choice("q?", [f"option {i}" for i in range(27)])}, "at most 26"),
        ("fireworks", {"q": Choice("q?", [f"option {i}" for i in range(209)])}, "at most 208"),
        ("typesafe", {"q": Choice("q?", [f"o {i}" for i in range(255)], none="no")}, "the way out included"),
        ("typesafe", {"q": Scale("q?", [f"level {i}" for i in range(11)])}, "at most 10"),
        ("perplexity", {f"q{i}": YesNo("q?") for i in range(129)}, "at most 128 questions"),
    ],
)
def test_limits_of_a_dialect_are_told_before_anything_is_sent(dialect, questions, words):
    with pytest.raises(QuestionError, match=words):
        DecisionModel(provider_of(None, dialect=dialect)).decide("x", questions)


def test_every_host_has_its_facts():
    for name, host in SYSTEM_ONE_HOSTS.items():
        assert host.source, name
        assert host.date, name
