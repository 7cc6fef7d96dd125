"""Replies from public bug reports through the public door: provider, engine, outcome."""

import json
from pathlib import Path

import httpx2
import pytest

from tests.engine.support import Server, both, compatible, refused
from tests.providers.test_hosts import connected as to_host
from yesno import Choice, ConfigError, DecisionModel, QuestionError, Refusal, Scale, Undecided, YesNo

FOLDER = Path(__file__).parents[1] / "payloads" / "reading"
YES_NO = YesNo("Is it?")
near = pytest.approx


def connected(name, handler, *model):
    return compatible(handler) if name == "openai-compatible" else to_host(name, handler, *model)


def recorded(name):
    response = json.loads(FOLDER.joinpath(f"{name}.json").read_text("utf-8"))["response"]
    text = response if isinstance(response, str) else json.dumps(response)
    return httpx2.Response(200, content=text.encode())


def outcome_of(shell, provider, question, *replies, **settings):
    server = Server(*replies)
    response = shell(connected(provider, server), **settings).decide("x", {"q": question})
    return response.outcome("q"), server.bodies


READ = [
    ("topk-missing-option", Choice("?", ["Yes", "No", "Maybe"]), {"No": 0.9278, "Maybe": 0.0103}, 0.96),
    ("minus-inf-json", YES_NO, {"yes": 0.999999}, 1.0),
    ("clip-100", Choice("?", ["A", "B", "C"]), {"A": 0.999999, "B": 5e-7, "C": 5e-7}, 1.0),
    ("sampled-absent-from-top", YES_NO, {"yes": 0.8947}, 0.95),
    ("fewer-than-requested", Choice("?", list("ABCD")), {"B": 0.97, "C": 0.02}, 0.99),
    ("duplicate-decoded-token", Choice("?", ["8", "9"]), {"8": 0.5652, "9": 0.4348}, 0.92),
    ("duplicate-dict-overwrite", YES_NO, {"yes": 0.8571}, 0.7),
    ("variant-case-space", YES_NO, {"yes": 0.7368}, 0.95),
    ("variant-punctuation", YES_NO, {"yes": 0.08}, 1.0),
    ("prefix-not-label", YES_NO, {"yes": 0.2857}, 0.7),
    ("choices-space-mismatch", Choice("?", [" YES", " NO"]), {" YES": 0.9596}, 0.99),
    ("bpe-marker-token", YES_NO, {"yes": 0.8}, 1.0),
    ("space-lost-in-alternatives", YES_NO, {"yes": 0.6667}, 0.9),
    ("utf8-escaped-token", Choice("?", ["🌍", "🔥"]), {"🌍": 0.6979}, 0.993),
    ("logprobs-include-reasoning", YES_NO, {"yes": 0.25}, 0.98),
    ("newline-first-token", Choice("?", ["safe", "unsafe"]), {"unsafe": 0.7489}, 0.999),
    ("bom-or-quote-first", YES_NO, {"yes": 0.66}, 1.0),
    ("reason-contains-label", Choice("?", list("123456789")), {"8": 0.5, "9": 0.5}, 1.0),
    ("fixed-offset-score", Choice("?", [str(i) for i in range(11)]), {"10": 0.6, "9": 0.4}, 1.0),
    (
        "fixed-offset-score-split",
        Choice("?", [str(i) for i in range(11)]),
        {"10": 0.63, "1": 0.07, "9": 0.3},
        1.0,
    ),
    ("localized-yes", YES_NO, {"yes": 0.8333}, 0.9),
    ("multi-token-negative", YES_NO, {"yes": 0.2691}, 0.929),
    (
        "length-normalisation-bias",
        Choice("?", ["organ", "organelle", "organometallic"]),
        {"organ": 0.6333, "organelle": 0.3333, "organometallic": 0.0333},
        0.9,
    ),
]


@pytest.mark.parametrize(
    ("name", "question", "shares", "mass"), READ, ids=[row[0].replace("-", "_") for row in READ]
)
def test_a_reported_reply_has_its_probability_and_its_mass(name, question, shares, mass):
    provider = "gemini" if name == "sampled-absent-from-top" else "openai-compatible"
    answer, bodies = outcome_of(DecisionModel, provider, question, recorded(name))
    found = {"yes": answer.probability} if question is YES_NO else answer.probabilities
    assert {key: found[key] for key in shares} == near(shares, abs=0.01 if "bias" in name else 2e-4)
    assert answer.label_mass == near(mass, abs=1e-3)
    assert (answer.method, len(bodies)) == ("logprobs", 1)
    if question is YES_NO:
        assert answer.low <= answer.probability <= answer.high
        assert 0 < answer.probability < 1


def test_the_levels_of_a_scale_are_read_by_their_numbers():
    levels = Scale("?", [str(i) for i in range(11)])
    answer, _ = outcome_of(DecisionModel, "openai-compatible", levels, recorded("fixed-offset-score"))
    assert answer.mean == near(0.6 * 10 + 0.4 * 9, abs=1e-3)


@pytest.mark.parametrize("name", ["topk-missing-option", "minus-inf-json", "clip-100"])
def test_what_a_list_leaves_out_or_masks_is_named_and_never_zero(name):
    question = {row[0]: row[1] for row in READ}[name]
    answer, _ = outcome_of(DecisionModel, "openai-compatible", question, recorded(name))
    assert answer.missing
    assert ("censored" in answer.flags) is (name != "topk-missing-option")
    assert answer.high > answer.low


UNREAD = {
    "sentinel-9999-sampled": "sentinel_logprob",
    "nan-scores": "sentinel_logprob",
    "utf8-replacement": "undecodable_tokens",
    "positive-first-logprob": "invalid_logprob",
    "prob-in-logprob-field": "probabilities_in_logprob_field",
    "local-ollama-prob-as-logprob": "probabilities_in_logprob_field",
    "guidance-zero": "degenerate",
    "bom-or-quote-first-only-marks": "sentinel_logprob",
    "all-filtered-zero-division": "low_label_mass",
    "logit-bias-not-reflected": "low_label_mass",
    "silent-score-fallback": "no_logprobs",
    "thinking-eats-budget": "truncated",
}
QUESTIONS = {
    "sentinel-9999-sampled": Choice("?", list("0123456789")),
    "utf8-replacement": Choice("?", ["👍", "👎"]),
    "guidance-zero": Choice("?", ["heads", "tails"]),
    "all-filtered-zero-division": Scale("?", list("12345")),
}


@pytest.mark.parametrize("name", UNREAD, ids=[name.replace("-", "_") for name in UNREAD])
def test_a_reported_reply_without_a_distribution_gives_no_number(name):
    question = QUESTIONS.get(name, YES_NO)
    outcome, _ = outcome_of(DecisionModel, "openai-compatible", question, recorded(name), strategy="logprobs")
    assert isinstance(outcome, Undecided)
    assert outcome.reason == UNREAD[name]


@both
@pytest.mark.parametrize(
    ("name", "reason"), [("openai-refusal-field", "refusal"), ("azure-completion-filter", "content_filter")]
)
def test_a_reported_refusal_is_never_read(shell, name, reason):
    outcome, bodies = outcome_of(shell, "azure", YES_NO, recorded(name))
    assert (type(outcome), outcome.reason, len(bodies)) == (Refusal, reason, 1)


@pytest.mark.parametrize("pair", [["billing", "billing"], ["Billing", " billing "], ["yes", "Yes"]])
def test_options_that_cannot_be_told_apart_are_refused_unsent(pair):
    with pytest.raises(QuestionError, match="rename"):
        Choice("?", pair)


def said(text, finish="stop"):
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}
    return httpx2.Response(200, json={"choices": [choice]})


@both
def test_samples_that_name_no_answer_lower_the_mass_and_are_never_half(shell):
    texts = ['{"answer": "yes"}', "Probability: 80%", "It depends on many factors", "N/A", "Perhaps"]
    outcome, _ = outcome_of(
        shell, "openai-compatible", YES_NO, *map(said, texts * 3), strategy="sampled", concurrency=1
    )
    assert (outcome.reason, outcome.label_mass) == ("low_label_mass", near(0.2))
    mostly = [*['{"answer": "no"}'] * 4, "N/A"]
    answer, _ = outcome_of(
        shell, "openai-compatible", YES_NO, *map(said, mostly * 3), strategy="sampled", concurrency=1
    )
    assert answer.label_mass == near(0.8)
    assert answer.probability < 0.2


@both
@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ('```json\n{"answer": "yes", "confidence": 0.63}\n```', 0.63),
        ('```\n{"Answer": "Yes", "Confidence": "63%"}\n```', 0.63),
        ('Sure!\n```JSON\n{"answer": "yes",\n "confidence": "0.63",}\n```\nDone.', 0.63),
        ('\ufeff{"result": {"answer": true, "confidence": 63}}', 0.63),
        ('<think>{"answer": "no"}</think>{"answer": "YES"}', None),
    ],
    ids=["fenced", "case", "prose", "nested", "thought"],
)
def test_a_json_answer_is_found_in_its_wrapping(shell, text, confidence):
    answer, _ = outcome_of(shell, "openai-compatible", YES_NO, said(text), strategy="sampled")
    assert answer.is_yes()
    assert answer.stated_confidence == (None if confidence is None else near(confidence))


@both
@pytest.mark.parametrize("text", ['{"answer": "yes"} or {"answer": "no"}', '{"answer": "maybe"}', "{}"])
def test_a_json_answer_that_is_none_gives_no_number(shell, text):
    outcome, _ = outcome_of(shell, "openai-compatible", YES_NO, said(text), strategy="sampled")
    assert outcome.reason == "no_json_answer"


@both
@pytest.mark.parametrize("reply", ["null", "missing", "empty", "legacy", "cloud"])
def test_a_host_that_leaves_log_probabilities_out_is_sampled_and_says_so(shell, reply):
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes"}}
    bodies = {
        "null": {"choices": [{**choice, "logprobs": None}]},
        "missing": {"choices": [choice]},
        "empty": {"choices": [{**choice, "logprobs": {"content": []}}]},
        "legacy": {"choices": [{"text": "Yes", "finish_reason": "length", "logprobs": None}]},
        "cloud": {"message": {"role": "assistant", "content": "Yes"}, "done": True, "done_reason": "stop"},
    }
    server = Server(httpx2.Response(200, json=bodies[reply]))
    response = shell(connected("ollama", server)).decide("x", {"q": YES_NO})
    answer = response.yes_no("q")
    assert (answer.method, answer.samples) == ("sampled", 5)
    assert answer.attempts[0].result == "no_logprobs"
    assert response.usage.fallbacks == {"no_logprobs": 1}
    with pytest.raises(ConfigError, match="no log-probabilities"):
        shell(connected("ollama", Server(httpx2.Response(200, json=bodies[reply]))), strict=True).decide(
            "x", YES_NO
        )


TOKEN = {
    "token": "Yes",
    "logprob": -0.105361,
    "top_logprobs": [{"token": "Yes", "logprob": -0.105361}, {"token": "No", "logprob": -2.302585}],
}


def streamed(*chunks, end="data: [DONE]\n\n"):
    text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return httpx2.Response(200, content=f": keep-alive\n\n{text}{end}".encode())


def delta(token=None, finish=None, **fields):
    logprobs = {"content": [token]} if token else None
    content = {"content": token["token"]} if token else {}
    return {
        "choices": [
            {"index": 0, "delta": {**content, **fields}, "logprobs": logprobs, "finish_reason": finish}
        ]
    }


FILTER_CHUNKS = (
    {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
    {"choices": [{"index": 0, "finish_reason": None, "content_filter_results": {}}]},
)


@both
@pytest.mark.parametrize(
    "reply",
    [
        streamed(*FILTER_CHUNKS, delta(TOKEN), end=""),
        streamed(delta(role="assistant"), delta(TOKEN), *FILTER_CHUNKS, delta(finish="stop")),
        streamed(
            delta(TOKEN, "stop"), {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 1}}
        ),
    ],
    ids=["azure", "filter_in_the_middle", "usage_at_the_end"],
)
def test_a_reply_that_came_as_a_stream_is_read_whole(shell, reply):
    answer, bodies = outcome_of(shell, "azure", YES_NO, reply)
    assert (answer.probability, len(bodies)) == (near(0.9, abs=1e-4), 1)


@both
def test_a_stream_that_breaks_off_or_is_filtered_is_no_answer(shell):
    letter = {**TOKEN, "token": "A", "top_logprobs": [{"token": "A", "logprob": -0.1}]}
    choice = Choice("?", ["one", "two"])
    outcome, _ = outcome_of(shell, "azure", choice, streamed(delta(letter), end=""), strategy="logprobs")
    assert outcome.reason == "truncated"
    cut = streamed(delta(TOKEN), end='data: {"choices": [{"delta"')
    assert outcome_of(shell, "azure", YES_NO, cut)[0].probability == near(0.9, abs=1e-4)
    outcome, _ = outcome_of(shell, "azure", YES_NO, streamed(delta(TOKEN), delta(finish="content_filter")))
    assert outcome.reason == "content_filter"


@both
def test_a_capability_is_decided_by_what_comes_back_not_by_a_name(shell):
    good = httpx2.Response(
        200, json={"choices": [{**delta(TOKEN)["choices"][0], "message": {"content": "Yes"}}]}
    )
    for provider, model in (("azure", "gpt-5.2"), ("openai", "gpt-5.1"), ("openai", "gpt-6-luna")):
        server = Server(good)
        answer = shell(connected(provider, server, model)).decide("x", YES_NO)
        assert answer.probability == near(0.9, abs=1e-4)
        assert server.bodies[0]["reasoning_effort"] == "none"
        assert server.bodies[0]["logprobs"] is True


@both
def test_a_model_that_must_think_is_asked_for_its_least_effort_and_sampled(shell):
    def handler(request):
        body = json.loads(request.content)
        bodies.append(body)
        if body.get("reasoning_effort") in ("none", "minimal"):
            return refused(
                400,
                f"Unsupported value: 'reasoning_effort' does not support '{body['reasoning_effort']}' with this model.",
                param="reasoning_effort",
                code="unsupported_value",
            )
        for name in ("temperature", "logprobs"):
            if name in body:
                return refused(
                    400, f"Unsupported parameter: '{name}' is not supported with this model.", param=name
                )
        return said('{"answer": "yes", "confidence": 90}')

    bodies = []
    model = shell(connected("openai", handler, "gpt-5.6-pro"), concurrency=1)
    answer = model.decide("x", YES_NO)
    assert answer.method == "sampled"
    assert [body["reasoning_effort"] for body in bodies[:3]] == ["none", "low", "low"]
    sent = len(bodies)
    assert model.decide("y", YES_NO).is_yes()
    assert len(bodies) - sent == 5
    assert all(body["reasoning_effort"] == "low" and "temperature" not in body for body in bodies[sent:])


def test_an_effort_that_the_error_offers_is_taken():
    said_so = "Unsupported value: 'none'. Supported values are: 'high', 'medium', and 'minimal'."
    server = Server(refused(400, said_so, param="reasoning_effort"), said("Yes"))
    DecisionModel(connected("openai", server, "gpt-5.5"), strategy="logprobs").decide("x", {"q": YES_NO})
    assert [body["reasoning_effort"] for body in server.bodies[:2]] == ["none", "minimal"]


@both
@pytest.mark.parametrize(
    ("error", "caps"),
    [
        (
            {
                "message": "Provider returned error",
                "code": 400,
                "metadata": {
                    "raw": json.dumps(
                        {
                            "error": {
                                "message": "Invalid 'max_output_tokens': integer below minimum value. "
                                "Expected a value >= 16, but got 4 instead.",
                                "param": "max_output_tokens",
                                "code": "integer_below_min_value",
                            }
                        }
                    )
                },
            },
            [4, 16],
        ),
        ({"message": "max_tokens must be at least 8", "param": "max_tokens"}, [4, 8]),
        (
            {
                "message": "Could not finish the message because max_tokens or model output limit was reached. "
                "Please try again with higher max_tokens."
            },
            [4, 2048],
        ),
    ],
    ids=["router", "least", "no_room"],
)
def test_a_cap_that_is_too_small_is_raised_once_and_remembered(shell, error, caps):
    good = httpx2.Response(
        200, json={"choices": [{**delta(TOKEN)["choices"][0], "message": {"content": "Yes"}}]}
    )
    server = Server(httpx2.Response(400, json={"error": error}), good)
    model = shell(connected("openrouter", server))
    for _ in range(2):
        assert model.decide("x", YES_NO).is_yes()
    assert [body["max_tokens"] for body in server.bodies] == [*caps, caps[-1]]


@both
def test_a_field_of_the_hosts_own_is_left_out_where_a_gateway_does_not_know_it(shell):
    good = httpx2.Response(
        200, json={"choices": [{**delta(TOKEN)["choices"][0], "message": {"content": "Yes"}}]}
    )
    server = Server(refused(400, "Unrecognized request argument supplied: thinking"), good)
    model = shell(connected("deepseek", server))
    assert model.decide("x", YES_NO).is_yes()
    assert ["thinking" in body for body in server.bodies] == [True, False]


@both
@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "This model does not support log probabilities."),
        (422, "Extra inputs are not permitted: logprobs"),
        (501, "logprobs is not implemented by this server"),
        (400, '{"error": {"message": "`logprobs` cannot be used with reasoning", "param": "logprobs"}}'),
    ],
)
def test_an_error_about_log_probabilities_is_about_the_host_and_never_tried_again(shell, status, message):
    server = Server(refused(status, message))
    outcome = shell(connected("openai-compatible", server), strategy="logprobs").decide("x", {"q": YES_NO})
    assert outcome.outcome("q").reason == "logprobs_unsupported"
    assert len(server.bodies) == 1


def good():
    message = {"message": {"role": "assistant", "content": "Yes"}}
    return httpx2.Response(200, json={"choices": [{**delta(TOKEN)["choices"][0], **message}]})


@both
@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("System role not supported", None),
        (
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            "messages[0].role",
        ),
    ],
)
def test_a_model_without_a_system_message_gets_it_as_the_users(shell, message, param):
    server = Server(refused(400, message, param=param), good())
    model = shell(connected("ollama", server))
    for _ in range(2):
        assert model.decide("x", YES_NO).is_yes()
    first, *later = ([turn["role"] for turn in body["messages"]] for body in server.bodies)
    assert (first, later) == (["system", "user"], [["user"], ["user"]])
    system, user = (turn["content"] for turn in server.bodies[0]["messages"])
    assert server.bodies[1]["messages"][0]["content"] == f"{system}\n\n{user}"


@both
def test_a_cap_that_is_too_large_is_lowered_once_and_remembered(shell):
    message = "max_tokens is too large: 1024. This model supports at most 512 completion tokens."
    server = Server(refused(400, message, param="max_tokens"), said('{"answer": "yes"}'))
    model = shell(connected("openai-compatible", server), strategy="sampled", concurrency=1)
    assert model.decide("x", YES_NO).is_yes()
    assert model.decide("y", YES_NO).is_yes()
    assert [server.bodies[0]["max_tokens"], *[body["max_tokens"] for body in server.bodies[-5:]]] == [
        1024,
        *[512] * 5,
    ]


@both
@pytest.mark.parametrize("text", ["No puedo ayudar", "Não posso responder", "Non posso"])
def test_a_refusal_that_begins_with_a_word_for_no_is_never_no(shell, text):
    first, rest = text.split(" ", 1)
    entries = [
        {"token": token, "logprob": -0.01, "top_logprobs": [{"token": token, "logprob": -0.01}]}
        for token in (first, f" {rest}")
    ]
    choice = {"message": {"content": text}, "finish_reason": "stop", "logprobs": {"content": entries}}
    outcome, _ = outcome_of(shell, "mistral", YES_NO, said(text))
    assert outcome.reason == "refusal"
    reply = httpx2.Response(200, json={"choices": [choice]})
    assert outcome_of(shell, "openai-compatible", YES_NO, reply)[0].reason == "refusal"


@both
def test_a_response_that_comes_as_events_is_read_from_the_last(shell):
    part = {"type": "output_text", "text": "Yes", "logprobs": [{**TOKEN, "bytes": None}]}
    whole = {"status": "completed", "output": [{"type": "message", "content": [part]}]}
    events = ({"type": "response.created", "response": {}}, {"type": "response.completed", "response": whole})
    answer, _ = outcome_of(shell, "openai-responses", YES_NO, streamed(*events, end=""))
    assert answer.probability == near(0.9, abs=1e-4)


@both
@pytest.mark.parametrize(
    "text", ["{'answer': 'yes', 'confidence': 90}", "Answer: Yes", "**Final answer:** yes."]
)
def test_an_answer_that_is_nearly_json_is_read(shell, text):
    answer, _ = outcome_of(shell, "mistral", YES_NO, said(text))
    assert answer.is_yes()
