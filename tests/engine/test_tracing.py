import builtins
import json
import threading

import httpx2
import pytest

from tests.engine.support import both, compatible, refused
from yesno import (
    Choice,
    DecisionModel,
    DecisionRequest,
    DecisionResponse,
    FakeProvider,
    Listener,
    Scale,
    TracingListener,
    YesNo,
    YesNoAnswer,
)
from yesno.engine.listeners import Call
from yesno.errors import ConfigError, ProviderRejected
from yesno.providers.fake import chat_reply

pytest.importorskip("opentelemetry.sdk", reason="the extra `otel` is not installed")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import SpanKind, StatusCode

PRIVATE = "my secret"


@pytest.fixture
def traced():
    """Return a tracer provider and a function for the spans that have ended."""
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    return provider, kept.get_finished_spans


def everything(span):
    return span.to_json()


@both
def test_a_decision_is_one_span_with_the_conventions_attributes(shell, traced):
    provider, spans = traced
    reply = {**chat_reply({"Yes": 0.9, "No": 0.1}), "model": "m-2026"}
    reply["usage"] = {
        "prompt_tokens": 60,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 32},
        "completion_tokens_details": {"reasoning_tokens": 1},
    }
    model = shell(
        compatible(lambda _: httpx2.Response(200, json=reply)),
        listeners=[TracingListener(tracer_provider=provider)],
    )
    model.decide(PRIVATE, {"a": YesNo("private?"), "b": YesNo("hidden?")})
    (span,) = spans()
    assert (span.name, span.kind, span.status.status_code) == ("chat m", SpanKind.CLIENT, StatusCode.UNSET)
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai-compatible",
        "gen_ai.request.model": "m",
        "gen_ai.response.model": "m-2026",
        "gen_ai.usage.input_tokens": 120,
        "gen_ai.usage.output_tokens": 4,
        "gen_ai.usage.cache_read.input_tokens": 64,
        "gen_ai.usage.cache_creation.input_tokens": 0,
        "gen_ai.usage.reasoning.output_tokens": 2,
        "yesno.questions": 2,
        "yesno.requests": 2,
        "yesno.retries": 0,
        "yesno.hedges": 0,
        "yesno.cache_hits": 0,
        "yesno.refused": 0,
        "yesno.undecided": 0,
    }
    assert PRIVATE not in everything(span)
    assert "private" not in everything(span)


@both
def test_a_failure_is_an_error_without_its_words(shell, traced):
    provider, spans = traced
    server = lambda _: refused(400, f"cannot answer {PRIVATE}")  # noqa: E731
    model = shell(compatible(server), listeners=[TracingListener(tracer_provider=provider, content=False)])
    with pytest.raises(ProviderRejected):
        model.decide(PRIVATE, YesNo("private?"))
    (span,) = spans()
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "ProviderRejected")
    assert span.attributes["error.type"] == "ProviderRejected"
    assert span.attributes["http.response.status_code"] == 400
    assert not span.events
    assert PRIVATE not in everything(span)


@both
def test_questions_without_an_answer_are_counted_and_no_error(shell, traced):
    provider, spans = traced
    for script in ({"<refusal>": 1}, {"The": 0.9, "Yes": 0.05}):
        model = shell(FakeProvider(script), listeners=[TracingListener(tracer_provider=provider)])
        model.decide("x", {"q": YesNo("q?")})
    counts = [(s.attributes["yesno.refused"], s.attributes["yesno.undecided"]) for s in spans()]
    assert counts == [(1, 0), (0, 1)]
    assert all(span.status.status_code is StatusCode.UNSET for span in spans())
    assert all(span.kind is SpanKind.INTERNAL for span in spans())


def test_falls_and_costs_are_told(traced):
    provider, spans = traced
    talker = FakeProvider(
        lambda prompt: {'{"answer": "yes", "confidence": 90}': 1} if "JSON" in prompt else {"Well": 0.9},
        strategies=("logprobs", "sampled"),
    )
    DecisionModel(talker, listeners=[TracingListener(tracer_provider=provider)]).decide("x", YesNo("q?"))
    attributes = spans()[0].attributes
    assert [attributes[name] for name in attributes if name.startswith("yesno.fallbacks.")] == [1]
    assert attributes["yesno.cost_usd"] == 0


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (PRIVATE, [{"role": "user", "parts": [{"type": "text", "content": PRIVATE}]}]),
        (
            {"text": PRIVATE, "tags": ["é"]},
            [
                {
                    "role": "user",
                    "parts": [{"type": "text", "content": '{"text": "my secret", "tags": ["é"]}'}],
                }
            ],
        ),
        (
            [{"role": "assistant", "content": "hm"}, {"role": "user", "content": PRIVATE}],
            [
                {"role": "assistant", "parts": [{"type": "text", "content": "hm"}]},
                {"role": "user", "parts": [{"type": "text", "content": PRIVATE}]},
            ],
        ),
    ],
    ids=["text", "mapping", "messages"],
)
def test_content_is_recorded_only_when_asked_for(traced, given, shown):
    provider, spans = traced
    script = lambda prompt: {"Yes": 0.9, "No": 0.1} if "yes?" in prompt else {"A": 0.9, "B": 0.1}  # noqa: E731
    questions = {
        "yes": YesNo("yes?"),
        "team": Choice("Who?", ["billing", "support"]),
        "mood": Scale("How?", ["calm", "angry"]),
    }
    listener = TracingListener(content=True, tracer_provider=provider)
    DecisionModel(FakeProvider(script), listeners=[listener]).decide(given, questions)
    attributes = spans()[0].attributes
    *told, asked = json.loads(attributes["gen_ai.input.messages"])
    assert told == shown
    assert json.loads(asked["parts"][0]["content"]) == {"yes": "yes?", "team": "Who?", "mood": "How?"}
    (said,) = json.loads(attributes["gen_ai.output.messages"])
    answers = json.loads(said["parts"][0]["content"])
    assert list(answers) == list(questions)
    assert answers["team"]["value"] == "billing"
    assert {"probability", "mean"} <= {key for answer in answers.values() for key in answer}


def test_content_of_what_has_no_answer_says_so(traced):
    provider, spans = traced
    listener = TracingListener(content=True, tracer_provider=provider)
    for script in ({"<refusal>": 1}, {"The": 0.9, "Yes": 0.05}):
        DecisionModel(FakeProvider(script), listeners=[listener]).decide("x", {"q": YesNo("q?")})
    shown = [
        json.loads(span.attributes["gen_ai.output.messages"])[0]["parts"][0]["content"] for span in spans()
    ]
    assert [json.loads(text)["q"] for text in shown] == [
        {"refused": "refusal"},
        {"undecided": "low_label_mass"},
    ]


@both
def test_a_span_is_a_child_of_the_one_that_is_current(shell, traced):
    provider, spans = traced
    model = shell(FakeProvider(), listeners=[TracingListener(tracer_provider=provider)], concurrency=4)
    with provider.get_tracer("test").start_as_current_span("outer") as outer:
        model.decide("x", YesNo("q?"))
        model.map(["a", "b", "c"], YesNo("q?"))
    inner = [span for span in spans() if span.name != "outer"]
    assert len(inner) == 4
    assert {span.parent.span_id for span in inner} == {outer.get_span_context().span_id}


def test_decisions_at_the_same_time_do_not_share_a_span(traced):
    provider, spans = traced
    listener = TracingListener(tracer_provider=provider)
    with DecisionModel(
        FakeProvider(), listeners=[listener, TracingListener(tracer_provider=provider)]
    ) as model:
        threads = [threading.Thread(target=model.decide, args=("x", {"q": YesNo("q?")})) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len({span.context.span_id for span in spans()}) == len(spans()) == 40


def test_a_sampler_that_wants_nothing_costs_nothing_and_breaks_nothing():
    provider = TracerProvider(sampler=ALWAYS_OFF)
    listener = TracingListener(content=True, tracer_provider=provider)
    assert DecisionModel(FakeProvider(), listeners=[listener]).decide("x", YesNo("q?")).is_yes()


def test_an_event_of_a_call_that_was_not_seen_to_begin_is_ignored(traced):
    provider, spans = traced
    listener = TracingListener(tracer_provider=provider)
    seen = []

    class Late(Listener):
        def on_response(self, call, response):
            seen.append((call, response))

    DecisionModel(FakeProvider(), listeners=[Late()]).decide("x", YesNo("q?"))
    call = Call(seen[0][0].request, "fake")
    listener.on_response(call, seen[0][1])
    listener.on_error(call, ValueError("x"))
    assert spans() == ()


def test_tokens_that_nobody_counted_are_not_told_as_none(traced):
    provider, spans = traced
    listener = TracingListener(tracer_provider=provider)
    call = Call(DecisionRequest("x", {"q": YesNo("q?")}), "other")
    listener.on_request(call)
    listener.on_response(call, DecisionResponse({"q": YesNoAnswer(probability=0.9)}))
    assert not any("usage" in name or "model" in name for name in spans()[0].attributes)
    assert spans()[0].name == "chat"


def test_a_missing_package_is_named_with_the_command(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("opentelemetry"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ConfigError, match=r"pip install 'yesno\[otel\]'"):
        TracingListener()
