import httpx2
import pytest

from tests.engine.support import both
from tests.providers.contract import KEY, QUESTIONS, NativeProviderContract, record
from yesno import Choice, DecisionModel, Message, YesNo
from yesno.errors import ConfigError, ProviderRejected, QuestionError, Refused
from yesno.providers import load_provider
from yesno.providers.base import NativeTask
from yesno.providers.openai_decisions import OpenAIDecisions
from yesno.request import DecisionRequest
from yesno.wire.openai_decisions import decode_request


def provider_of(handler, **options):
    transport = httpx2.MockTransport(handler)
    return OpenAIDecisions(
        "gpt-6-luna",
        api_key=KEY,
        http_client=httpx2.Client(transport=transport),
        async_http_client=httpx2.AsyncClient(transport=transport),
        **options,
    )


def answering(name):
    kept = record(name)
    return provider_of(lambda _: httpx2.Response(kept.get("status", 200), json=kept["response"]))


class TestOpenAIDecisions(NativeProviderContract):
    provider = "openai-decisions"
    recorded = "openai_decisions/answers"

    def connect(self, handler):
        return provider_of(handler)


@pytest.mark.parametrize(
    "name", ["openai_decisions/answers", "openai_decisions/refusal", "openai_decisions/too_many_400"]
)
def test_each_request_on_file_asks_what_it_asks_when_read_and_written_again(name):
    kept = record(name)["request"]
    asked = decode_request(kept)
    again = provider_of(None).build(NativeTask(asked.request, kept["model"]))
    assert decode_request(again).request.questions == asked.request.questions
    assert again["input"] == kept["input"]


@both
def test_all_questions_go_in_one_request_and_come_back_native(shell):
    response = shell(answering("openai_decisions/answers")).decide("I was charged twice", QUESTIONS)
    assert (response.model, response.usage.requests, response.usage.input_tokens) == ("gpt-6-luna", 1, 96)
    assert response.usage.cached_tokens == 64
    billing, team, mood = (response.answers[name] for name in QUESTIONS)
    assert {billing.method, team.method, mood.method} == {"native"}
    assert (billing.probability, billing.low, billing.high) == (
        0.97,
        pytest.approx(0.965),
        pytest.approx(0.975),
    )
    assert (team.value, team.probabilities["payments"]) == ("payments", pytest.approx(0.9, abs=0.005))
    assert team.none_probability == pytest.approx(0.03, abs=0.005)
    assert mood.mean == pytest.approx(1.18)
    assert "rounded" in team.flags
    assert team.confidence != 0.85  # the vendor's is another formula


@both
def test_a_refusal_next_to_an_answer_without_a_name(shell):
    questions = {"spam": YesNo("Is this spam?"), "tone": YesNo("Is it polite?")}
    response = shell(answering("openai_decisions/refusal")).decide("I was charged twice", questions)
    assert response.is_refused("spam")
    assert response.outcome("spam").attempts[0].method == "native"
    assert response.yes_no("tone").probability == 0.8


@both
def test_a_content_filter_refuses_every_question(shell):
    body = {"error": {"message": "filtered", "code": "content_filter", "param": "input"}}
    model = shell(provider_of(lambda _: httpx2.Response(400, json=body)))
    with pytest.raises(Refused, match="content_filter"):
        model.decide("x", YesNo("q?"))


@both
def test_a_400_is_told_with_its_parameter(shell):
    with pytest.raises(ProviderRejected, match="Too many items in 'questions'") as info:
        shell(answering("openai_decisions/too_many_400")).decide(
            "I was charged twice", YesNo("Is this spam?")
        )
    assert (info.value.status, info.value.param) == (400, "questions")


@both
def test_more_questions_than_the_endpoint_takes_are_refused_unsent(shell):
    sent = []
    model = shell(provider_of(lambda request: sent.append(request)))
    with pytest.raises(QuestionError, match="at most 400 questions in one request, not 401"):
        model.decide("x", {f"q{i}": YesNo("q?") for i in range(401)})
    assert sent == []


@pytest.mark.parametrize(
    ("options", "url"),
    [
        ({}, "https://api.openai.com/v1/decisions"),
        ({"base_url": "https://gateway.test/v1"}, "https://gateway.test/v1/decisions"),
    ],
)
def test_requests_go_to_openai_or_where_the_caller_says(options, url):
    seen = []

    def handler(request):
        seen.append((str(request.url), request.headers["authorization"]))
        return httpx2.Response(200, json=record("openai_decisions/answers")["response"])

    DecisionModel(provider_of(handler, **options)).decide("x", QUESTIONS)
    assert seen == [(url, f"Bearer {KEY}")]


def test_a_missing_key_or_model_is_named():
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        load_provider("openai-decisions:gpt-6-luna")
    with pytest.raises(ConfigError, match="name a model"):
        load_provider("openai-decisions", api_key=KEY)


@pytest.mark.parametrize(("status", "hint"), [(401, "OPENAI_API_KEY"), (404, "'gpt-6-luna'")])
def test_a_rejection_says_what_to_check(status, hint):
    with pytest.raises(ProviderRejected, match=hint):
        DecisionModel(provider_of(lambda _: httpx2.Response(status))).decide("x", YesNo("q?"))


PRIVATE = "account of Alice Smithson"


@pytest.mark.parametrize(
    "given",
    [
        {"deep": [{"note": PRIVATE}]},
        [Message("user", PRIVATE)],
        [Message("assistant", tool_calls=[{"name": "find", "arguments": PRIVATE}])],
    ],
    ids=["mapping", "message", "arguments"],
)
def test_an_error_that_quotes_any_kind_of_input_is_left_out(given):
    model = DecisionModel(provider_of(lambda _: httpx2.Response(400, json={"error": {"message": PRIVATE}})))
    with pytest.raises(ProviderRejected) as info:
        model.decide(given, YesNo("q?"))
    assert "Alice" not in str(info.value)


def test_an_error_that_quotes_a_question_is_left_out():
    question = Choice("Which secret project?", {"bluebird": "the merger with Acme", "redwing": None})
    request = NativeTask(DecisionRequest("x", {"q": question}), "m")
    for words in ("Which secret project?", "bluebird", "the merger with Acme"):
        provider = provider_of(
            lambda _, words=words: httpx2.Response(400, json={"error": {"message": words}})
        )
        with pytest.raises(Exception) as info:  # noqa: PT011 - whatever the SDK raises
            provider.send(provider.build(request))
        assert words not in str(provider.classify(info.value))
