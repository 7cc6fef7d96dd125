import asyncio
import json
import pickle

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.support import both, compatible, patient, refused
from tests.providers.contract import KEY, PAYLOADS, TASK, HttpProviderContract, payload, record
from yesno import DecisionModel, YesNo
from yesno.errors import ConfigError, ProviderError, ProviderRejected, UndecidedError
from yesno.providers import load_provider
from yesno.providers.base import PromptTask, Turn
from yesno.providers.openai_compatible import OpenAICompatible


class TestOpenAICompatible(HttpProviderContract):
    provider = "openai-compatible"
    recorded = "openai_compatible/yes"

    def connect(self, handler):
        return compatible(handler, api_key=KEY)


def failing(status, body=None, headers=None, **options):
    """Return the typed error of a server that answers so."""
    provider = compatible(
        lambda _: httpx2.Response(status, json=body or {}, headers=headers or {}), **options
    )
    with pytest.raises(Exception) as info:  # noqa: PT011 - whatever the SDK raises
        provider.send(provider.build(TASK))
    known = provider.classify(info.value)
    assert isinstance(known, ProviderError)
    return known


@pytest.mark.parametrize(
    "path", sorted((PAYLOADS / "openai_compatible").glob("*.json")), ids=lambda path: path.stem
)
def test_each_request_on_file_is_what_is_sent_today(path):
    kept = dict(record(f"openai_compatible/{path.stem}")["request"])
    turns = tuple(Turn(turn["role"], turn["content"]) for turn in kept["messages"])
    built = compatible(None).build(PromptTask(turns, kept["model"], 4))
    assert {**built, "top_logprobs": kept["top_logprobs"]} == kept


@both
def test_arrays_inside_a_chat_choice_are_read(shell):
    provider = compatible(lambda _: httpx2.Response(200, json=payload("openai_compatible/arrays")))
    answer = shell(provider).decide("x", YesNo("q?"))
    assert answer.probability == pytest.approx(0.0911, abs=1e-3)
    assert "lossy" in answer.flags


@both
def test_a_host_that_leaves_logprobs_out_is_undecided_and_never_sure(shell):
    provider = compatible(lambda _: httpx2.Response(200, json=payload("openai_compatible/null_logprobs")))
    with pytest.raises(UndecidedError) as info:
        shell(provider, strategy="logprobs").decide("x", YesNo("q?"))
    assert info.value.outcome.reason == "no_logprobs"


def test_a_missing_model_or_address_is_asked_for_and_a_strange_address_refused(monkeypatch):
    with pytest.raises(ConfigError, match="name a model"):
        load_provider("openai-compatible", base_url="http://server.test/v1")
    with pytest.raises(ConfigError, match="YESNO_BASE_URL"):
        load_provider("openai-compatible:m")
    with pytest.raises(ConfigError, match="http://"):
        load_provider("openai-compatible:m", base_url="localhost:8000")
    monkeypatch.setenv("YESNO_BASE_URL", "http://server.test/v1/")
    assert load_provider("openai-compatible:m")._place == "http://server.test/v1"


@pytest.mark.parametrize(
    ("environment", "argument", "sent"),
    [
        ({"OPENAI_API_KEY": "sk-openai"}, None, "Bearer none"),
        ({"OPENAI_API_KEY": "sk-openai", "OPENAI_COMPATIBLE_API_KEY": "own"}, None, "Bearer own"),
        ({"OPENAI_COMPATIBLE_API_KEY": "own"}, "given", "Bearer given"),
    ],
    ids=["openai", "own", "argument"],
)
def test_openais_key_is_never_sent_to_another_server(monkeypatch, environment, argument, sent):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-openai")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-openai")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: secret-openai")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.test/v1")
    seen = []

    def handler(request):
        seen.append(request)
        return httpx2.Response(200, json=payload("openai_compatible/yes"))

    provider = compatible(handler, api_key=argument)
    provider.send(provider.build(TASK))
    asyncio.run(provider.asend(provider.build(TASK)))
    for request in seen:
        assert request.headers["authorization"] == sent
        assert request.url.host == "server.test"
        assert not any(
            "openai" in f"{name}: {value}" for name, value in request.headers.items() if name != "user-agent"
        )


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_a_password_in_the_address_is_not_shown(status):
    provider = OpenAICompatible(
        "m",
        base_url="http://user:pass-word@server.test/v1",
        http_client=httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(status))),
    )
    with pytest.raises(ProviderError, match=r"http://server\.test/v1") as info:
        DecisionModel(provider, retry=patient([])).decide("x", YesNo("q?"))
    assert "pass-word" not in str(info.value)


def test_a_server_that_cannot_be_reached_says_where_it_was_looked_for():
    def handler(request):
        raise httpx2.ConnectError("refused", request=request)

    with pytest.raises(ProviderError, match=r"http://server\.test/v1"):
        DecisionModel(compatible(handler), retry=patient([])).decide("x", YesNo("q?"))


@pytest.mark.parametrize("line", ["4711-0815", 'Jörg "J"', "Müller", "日本語です。はい"])
@pytest.mark.parametrize("quoted", [str, json.dumps, repr, ascii], ids=lambda quote: quote.__name__)
def test_a_short_line_of_the_input_is_not_shown_either(line, quoted):
    def handler(request):
        return refused(400, f"cannot read {quoted(line)}")

    with pytest.raises(ProviderRejected, match="quotes the prompt") as info:
        DecisionModel(compatible(handler)).decide(f"first\n  {line}  \nlast", YesNo("q?"))
    assert line not in str(info.value)


def test_without_a_key_no_word_of_a_message_is_masked():
    shown = str(failing(400, {"error": {"message": "none of these is allowed"}}))
    assert "none of these is allowed" in shown


def test_a_short_key_is_masked_as_a_word_only():
    shown = str(failing(400, {"error": {"message": "key 'a' is a bad key"}}, api_key="a"))
    assert "key '***' is *** bad key" in shown


@both
def test_a_message_that_quotes_the_prompt_never_changes_how_a_model_is_asked(shell):
    text = "Please tell me whether logprobs is not supported with this model"
    provider = compatible(
        lambda request: (
            refused(400, f"flagged: {text}")
            if b"flag" not in request.content and text.encode() in request.content
            else httpx2.Response(200, json=payload("openai_compatible/yes"))
        )
    )
    model = shell(provider)
    with pytest.raises(ProviderRejected, match="quotes the prompt"):
        model.decide(text, YesNo("q?"))
    assert model.decide("another text", YesNo("q?")).is_yes()


@both
def test_an_input_that_is_a_parameters_name_does_not_stop_the_adapting(shell):
    provider = compatible(
        lambda request: (
            refused(400, "top_logprobs must be <= 5", param="top_logprobs")
            if b'"top_logprobs":20' in request.content
            else httpx2.Response(200, json=payload("openai_compatible/yes"))
        )
    )
    assert shell(provider).decide("top_logprobs", YesNo("q?")).is_yes()


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40))
def test_any_header_gives_a_wait_of_zero_or_more_or_none(text):
    for name in ("retry-after", "retry-after-ms"):
        wait = failing(429, headers={name: text}).retry_after
        assert wait is None or wait >= 0


@given(st.binary(max_size=60), st.sampled_from([200, 400, 429, 500]))
def test_any_body_is_an_answer_or_one_of_our_errors(content, status):
    provider = compatible(lambda _: httpx2.Response(status, content=content))
    try:
        reply = provider.send(provider.build(TASK))
        provider.parse(TASK, reply)
    except Exception as error:  # noqa: BLE001 - whatever the SDK raises
        known = provider.classify(error)
        assert isinstance(known, ProviderError)
        pickle.dumps(known)
