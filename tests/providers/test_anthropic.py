import json
from dataclasses import replace

import httpx2
import pytest

from tests.engine.support import Server, both, refused
from tests.providers.contract import KEY, PAYLOADS, PRIVATE, TASK, HttpProviderContract, payload, record
from tests.providers.test_openai_chat import clients
from yesno import Choice, DecisionModel, Refused, UndecidedError, YesNo
from yesno.engine.sampling import ROUND, schema_of
from yesno.errors import ConfigError, UnreadableReply
from yesno.evidence import Completion
from yesno.providers import load_provider
from yesno.providers.anthropic import THINKING_CAP, AnthropicMessages
from yesno.providers.base import PromptTask, Turn
from yesno.reading.json_reply import stated_in
from yesno.reading.labels import yes_no_labels

SCHEMA = schema_of(yes_no_labels())


def connected(handler, model="claude-haiku-4-5", **settings):
    return AnthropicMessages(model, api_key=KEY, **clients(handler), **settings)


def answering(*names):
    bodies = [payload(name) for name in names]
    return connected(lambda _: httpx2.Response(200, json=bodies.pop(0) if len(bodies) > 1 else bodies[0]))


class TestAnthropic(HttpProviderContract):
    provider = "anthropic"
    recorded = "anthropic/yes"
    request_id_header = "request-id"

    def connect(self, handler):
        return connected(handler)

    def test_a_recorded_reply_reads_as_a_distribution(self):
        reply = connected(None).parse(TASK, payload(self.recorded))
        assert isinstance(reply.evidence, Completion)
        assert stated_in(reply.evidence.text, yes_no_labels()).label == 0
        assert reply.model
        assert reply.usage.requests == 1

    def test_the_request_on_file_is_what_is_sent_today(self):
        for path in sorted((PAYLOADS / "anthropic").glob("*.json")):
            kept = record(f"anthropic/{path.stem}")["request"]
            turns = (Turn("system", kept["system"]), *(Turn(**turn) for turn in kept["messages"]))
            provider = connected(None)
            if "tools" in kept:
                provider.profile = replace(provider.profile, structured="tool")
            task = PromptTask(turns, kept["model"], kept["max_tokens"], schema=SCHEMA, sample=1)
            assert provider.build(task) == kept

    @pytest.mark.parametrize(
        "junk",
        [
            {"content": PRIVATE, "stop_reason": "end_turn"},
            {"content": [PRIVATE], "stop_reason": "end_turn"},
            {"content": [{"type": "text", "text": [PRIVATE]}], "stop_reason": "end_turn"},
            {"content": [{"type": "text"}], "stop_reason": "end_turn"},
            {"content": [], "stop_reason": {}},
            {"content": []},
            {"content": [], "stop_reason": "end_turn", "usage": PRIVATE},
        ],
        ids=["text", "blocks", "part", "bare", "reason", "no reason", "usage"],
    )
    def test_junk_in_its_own_shape_is_unreadable(self, junk):
        with pytest.raises(UnreadableReply) as info:
            connected(None).parse(TASK, junk)
        assert PRIVATE not in str(info.value)


@both
def test_samples_become_a_probability_with_its_width(shell):
    response = shell(answering("anthropic/yes")).decide(
        "I was charged twice", {"q": YesNo("Is this about billing?")}
    )
    answer = response.yes_no("q")
    assert (answer.method, answer.samples) == ("sampled", ROUND)
    assert answer.probability == pytest.approx((ROUND + 0.5) / (ROUND + 1))
    assert answer.stated_confidence == pytest.approx(0.93)
    assert (response.usage.input_tokens, response.usage.output_tokens) == (71 * ROUND, 14 * ROUND)
    assert response.model == "claude-haiku-4-5-20251001"


@both
def test_thoughts_are_not_read_and_cached_tokens_are_part_of_the_input(shell):
    response = shell(answering("anthropic/thinking")).decide("x", {"q": YesNo("q?")})
    assert response.yes_no("q").is_yes()
    assert (response.usage.input_tokens, response.usage.cached_tokens) == (1055 * ROUND, 1024 * ROUND)


@both
def test_a_refusal_is_a_refusal_and_a_cut_answer_is_none(shell):
    with pytest.raises(Refused) as info:
        shell(answering("anthropic/refusal")).decide("x", YesNo("q?"))
    assert (info.value.outcome.reason, info.value.outcome.category) == ("refusal", "cyber")
    with pytest.raises(UndecidedError, match="truncated"):
        shell(answering("anthropic/cut")).decide("x", YesNo("q?"))


@both
def test_a_cut_answer_is_asked_for_once_more_with_more_room(shell):
    server = Server(*[httpx2.Response(200, json=payload("anthropic/cut"))] * ROUND, reply_of("anthropic/yes"))
    response = shell(connected(server), concurrency=1).decide("x", {"q": YesNo("q?")})
    assert response.yes_no("q").label_mass == 1
    assert [body["max_tokens"] for body in server.bodies] == [1024] * ROUND + [4096] * ROUND
    assert response.usage.requests == 2 * ROUND


@both
def test_a_reply_of_thoughts_alone_is_empty_and_asked_for_once_more(shell):
    body = payload("anthropic/thinking")
    body["content"] = body["content"][:1]
    server = Server(httpx2.Response(200, json=body))
    with pytest.raises(UndecidedError, match="empty"):
        shell(connected(server)).decide("x", YesNo("q?"))
    assert len(server.bodies) == 2 * ROUND


def reply_of(name):
    return httpx2.Response(200, json=payload(name))


@both
def test_a_minority_of_refusals_lowers_the_label_mass_only(shell):
    answer = shell(answering("anthropic/refusal", "anthropic/yes")).decide("x", YesNo("q?"))
    assert answer.label_mass == pytest.approx((answer.samples) / (answer.samples + 1))
    assert answer.probability > 0.8


@both
def test_no_temperature_and_no_logprobs_are_ever_sent(shell):
    sent = []

    def handler(request):
        sent.append(json.loads(request.content))
        return httpx2.Response(200, json=payload("anthropic/yes"))

    shell(connected(handler)).decide("x", YesNo("q?"))
    assert set(sent[0]) == {"model", "max_tokens", "messages", "system", "thinking", "output_config"}
    assert sent[0]["thinking"] == {"type": "disabled"}


@both
def test_what_a_model_refuses_is_asked_for_in_the_next_best_way(shell):
    seen = []

    def handler(request):
        body = json.loads(request.content)
        seen.append(sorted(body.keys() & {"output_config", "tools", "tool_choice", "thinking"}))
        for name in ("output_config", "tool_choice"):
            if name in body:
                return refused(400, f"{name}: not supported by this model")
        if "thinking" in body:
            return refused(400, "thinking.type: disabled is not supported for this model")
        return httpx2.Response(200, json=payload("anthropic/yes"))

    provider = connected(handler)
    model = shell(provider, concurrency=1)
    assert model.decide("x", YesNo("q?")).is_yes()
    ways = [["output_config", "thinking"], ["thinking", "tool_choice", "tools"], ["thinking"], []]
    assert [way for i, way in enumerate(seen) if way not in seen[:i]] == ways
    assert provider.profile.structured == "none"
    assert provider.profile.min_tokens == THINKING_CAP
    del seen[:]
    model.decide("y", YesNo("q?"))
    assert seen == [[]] * ROUND


@both
def test_a_forced_tool_is_read_like_an_answer(shell):
    answer = shell(answering("anthropic/tool")).decide("x", YesNo("q?"))
    assert (answer.samples, answer.stated_confidence) == (ROUND, pytest.approx(0.88))


@both
def test_a_choice_takes_its_options_in_turns(shell):
    def handler(request):
        text = json.loads(request.content)["messages"][-1]["content"]
        letter = next(line for line in text.splitlines() if line.endswith("support"))[0]
        reply = payload("anthropic/yes")
        reply["content"][0]["text"] = json.dumps({"answer": letter, "confidence": 50})
        return httpx2.Response(200, json=reply)

    assert shell(connected(handler)).decide("x", Choice("Who?", ["billing", "support"])).value == "support"


def test_a_missing_key_or_model_is_named(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY"):
        load_provider("anthropic:claude-haiku-4-5")
    with pytest.raises(ConfigError, match="name a model"):
        load_provider("anthropic")
    with pytest.raises(ConfigError, match="must begin with http"):
        load_provider("anthropic:m", base_url="127.0.0.1:1")
    assert load_provider("anthropic:m", base_url="http://127.0.0.1:1/").address == "http://127.0.0.1:1"


def test_another_server_is_told_nothing_of_the_account(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "t" * 30)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret" * 5)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Team: ours")
    seen = []

    def handler(request):
        seen.append(dict(request.headers))
        return httpx2.Response(200, json=payload("anthropic/yes"))

    provider = AnthropicMessages("m", base_url="http://server.test", **clients(handler))
    DecisionModel(provider).decide("x", YesNo("q?"))
    assert "ours" not in str(seen)
    assert "t" * 30 not in str(seen)
    assert "secret" not in str(seen)


@both
def test_other_strategies_are_not_offered(shell):
    with pytest.raises(ConfigError, match="offers 'sampled'"):
        shell(connected(Server({})), strategy="logprobs")
