import asyncio
import json
import pickle
import threading

import httpx2
import pytest

from tests.engine.support import Recorder, Server, both, compatible, refused
from yesno import (
    AsyncDecisionModel,
    DecisionModel,
    FakeProvider,
    LoggingListener,
    Scale,
    Usage,
    UsageListener,
    YesNo,
    ask,
    gather,
)
from yesno.errors import ConfigError, ProviderRejected, QuestionError
from yesno.providers.base import Provider
from yesno.providers.fake import chat_reply


@both
def test_usage_adds_up_over_decisions_and_models(shell):
    meter = UsageListener()
    model, other = (shell(FakeProvider(), listeners=[meter]) for _ in range(2))
    model.decide("x", {"a": YesNo("q?"), "b": YesNo("q?")})
    other.decide("x", YesNo("q?"))
    assert meter.total == Usage(requests=3, output_tokens=3, cost_usd=0.0)


def without_logprobs(prompt):
    return {'{"answer": "yes", "confidence": 90}': 1.0} if "JSON" in prompt else {"Well": 0.9, "Yes": 0.05}


@both
def test_falls_to_a_second_best_way_are_counted_by_reason(shell):
    meter = UsageListener()
    model = shell(FakeProvider(without_logprobs, strategies=("logprobs", "sampled")), listeners=[meter])
    response = model.decide("x", {"a": YesNo("q?"), "b": YesNo("r?")})
    assert response.usage.fallbacks == {"low_label_mass": 2}
    model.decide("y", YesNo("q?"))
    assert meter.total.fallbacks == {"low_label_mass": 3}
    assert shell(FakeProvider()).decide("x", {"q": YesNo("q?")}).usage.fallbacks == {}


@both
def test_a_model_known_to_be_blind_falls_at_every_question(shell):
    def server(request):
        body = json.loads(request.content)
        if "logprobs" in body:
            return refused(400, "no", param="logprobs")
        return httpx2.Response(200, json=chat_reply({'{"answer": "yes", "confidence": 90}': 1}))

    model = shell(compatible(server))
    for _ in range(3):
        response = model.decide("x", {"q": YesNo("q?")})
        assert response.usage.fallbacks == {"logprobs_unsupported": 1}
    chosen = shell(compatible(server), strategy="sampled").decide("x", {"q": YesNo("q?")})
    assert chosen.usage.fallbacks == {}


def test_usage_stays_a_value_that_cannot_be_changed():
    counts = {"no_logprobs": 1}
    usage = Usage(requests=1, fallbacks=counts)
    counts["no_logprobs"] = 9
    assert usage.fallbacks == {"no_logprobs": 1}
    assert hash(usage) == hash(Usage(requests=1, fallbacks={"no_logprobs": 1}))
    assert pickle.loads(pickle.dumps(usage)) == usage  # noqa: S301 - our own bytes
    total = usage + Usage(fallbacks={"no_logprobs": 1, "truncated": 2}) + Usage()
    assert total.fallbacks == {"no_logprobs": 2, "truncated": 2}
    with pytest.raises(TypeError):
        usage.fallbacks["x"] = 1


@both
def test_the_log_shows_what_was_fallen_back_for(shell, caplog):
    with caplog.at_level("INFO", logger="yesno"):
        provider = FakeProvider(without_logprobs, strategies=("logprobs", "sampled"))
        shell(provider, listeners=[LoggingListener()]).decide("x", YesNo("q?"))
    made = next(record for record in caplog.records if record.message == "decision_made")
    assert made.fallbacks == {"low_label_mass": 1}


def test_usage_is_counted_right_from_many_threads():
    meter = UsageListener()
    model = DecisionModel(FakeProvider(), listeners=[meter], concurrency=8)
    with model:
        list(model.map(["x"] * 200, YesNo("q?")))
    assert meter.total.requests == 200


@both
def test_decisions_and_failures_are_logged_without_their_content(shell, caplog):
    failure = ProviderRejected("no", provider="fake", status=400)
    with caplog.at_level("INFO", logger="yesno"):
        model = shell(FakeProvider(model="m1"), listeners=[LoggingListener()])
        model.decide("my secret", {"a": YesNo("private?"), "b": YesNo("hidden?")})
        with pytest.raises(ProviderRejected):
            shell(FakeProvider(failure), listeners=[LoggingListener()]).decide("my secret", YesNo("private?"))
    made, failed = caplog.records
    assert (made.message, made.levelname, made.name) == ("decision_made", "INFO", "yesno.engine")
    assert (made.provider, made.model, made.requests) == ("fake", "m1", 2)
    assert made.outcomes == {"a": "YesNoAnswer", "b": "YesNoAnswer"}
    assert (failed.message, failed.levelname) == ("decision_failed", "WARNING")
    assert (failed.error, failed.status) == ("ProviderRejected", 400)
    shown = " ".join(str(vars(record)) for record in caplog.records)
    assert "secret" not in shown
    assert "private" not in shown


@both
def test_each_decision_of_map_and_run_is_heard(shell):
    ear = Recorder()
    model = shell(FakeProvider(), listeners=[ear], concurrency=1)
    model.map(["x", "y"], YesNo("q?"))
    model.run(gather([ask(YesNo("q?"), "x"), ask(YesNo("q?"), "y")]))
    assert sorted(ear.names) == ["request"] * 4 + ["response"] * 4


@both
def test_each_call_has_attributes_of_its_own(shell):
    ear = Recorder()
    model = shell(FakeProvider(), listeners=[ear])
    for _ in range(2):
        model.decide("x", YesNo("q?"))
    first, again, second, _ = (call.attributes for call in ear.calls)
    assert first is again
    assert first is not second


@both
def test_a_question_that_cannot_be_asked_is_heard_as_an_error(shell):
    ear = Recorder()
    with pytest.raises(QuestionError):
        shell(FakeProvider(), listeners=[ear]).decide("x", Scale("q?", [str(i) for i in range(30)]))
    assert ear.names == ["request", "error"]


def test_the_request_is_heard_on_the_calling_thread():
    threads = []

    class Where(Recorder):
        def on_request(self, call):
            threads.append(threading.current_thread())

    DecisionModel(FakeProvider(), listeners=[Where()]).decide("x", {"a": YesNo("q?"), "b": YesNo("q?")})
    assert threads == [threading.current_thread()]


@both
def test_an_adapted_request_is_warned_about_once(shell, caplog):
    class Forgetful(FakeProvider):
        def send(self, payload, *, timeout_s=None):
            if "adapted" not in payload:
                raise ProviderRejected("no", provider="fake", status=400, param="colour")
            return super().send(payload)

        def adapt(self, payload, error):
            return {**payload, "adapted": True}

    model = shell(Forgetful())
    for _ in range(2):
        assert model.decide("x", YesNo("q?")).is_yes()
    assert [(r.levelname, r.message, r.reason) for r in caplog.records] == [
        ("WARNING", "request_adapted", "colour")
    ]


@both
def test_a_model_without_logprobs_is_warned_about_once_and_by_name(shell, caplog):
    model = shell(compatible(Server(refused(400, "no logprobs", param="logprobs"))), strategy="logprobs")
    for _ in range(2):
        assert model.decide("x", {"q": YesNo("q?")}).is_undecided("q")
    assert [(r.message, r.model) for r in caplog.records] == [("logprobs_unsupported", "m")]


def test_closing_twice_is_fine_and_a_context_manager_closes():
    closed = []

    class Closing(Provider):
        def close(self):
            closed.append(1)

    with DecisionModel(Closing()) as model:
        assert closed == []
    model.close()

    async def go():
        async with AsyncDecisionModel(Closing()) as twin:
            assert len(closed) == 2
        await twin.close()

    asyncio.run(go())
    assert len(closed) == 4


@both
def test_an_option_that_nobody_takes_is_named(shell):
    with pytest.raises(ConfigError, match="colour"):
        shell("fake", colour="red")
