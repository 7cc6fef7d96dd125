"""What hosts are known to do and to leave out, through the public door."""

import math

import httpx2
import pytest

from tests.engine.support import Server, both, compatible, patient
from tests.providers.test_anthropic import connected as anthropic
from tests.providers.test_hosts import connected
from yesno import Choice, Refusal, Undecided, YesNo
from yesno.errors import UnreadableReply

near = pytest.approx
YES_NO = YesNo("Is it?")
AB = Choice("Which?", ["first", "second"])


def entry(token, p):
    logprob = p if p is None or p < 0 else math.log(p)
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}


def reply(*positions, text=None, finish="stop", **message):
    """Return a chat reply; a position is a list of (token, p), its first the written one."""
    content = [
        {**entry(*listed[0]), "top_logprobs": [entry(*pair) for pair in listed]} for listed in positions
    ]
    written = "".join(listed[0][0] for listed in positions) if text is None else text
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": written, **message},
        "logprobs": {"content": content},
    }
    return httpx2.Response(200, json={"choices": [choice]})


def asked(shell, question, body, **settings):
    model = shell(compatible(Server(body)), **{"strategy": "logprobs", **settings})
    return model.decide("x", {"q": question}).outcome("q")


@both
@pytest.mark.parametrize(
    ("question", "body", "share"),
    [
        (YES_NO, reply([("Yes", 0.70), ("No", 0.25)]), 0.737),
        (
            AB,
            reply([("A", 0.3), (" A", 0.2), ("a", 0.1), ("A.", 0.05), ("B", 0.2), (" B", 0.1)]),
            0.684,
        ),
        (AB, reply([("A", 0.50), ("B", 0.30), (" B", 0.10), ("b", 0.01)]), 0.549),
        (YES_NO, reply([("Yes", 0.9), ("No", None)]), 0.9),
        (YES_NO, reply([("Yes", 0.9999)]), 0.9999),
        (YES_NO, reply([("Yes", 0.9999), ("No", -9999.0)]), 0.9999),
        (AB, reply([("\n", 0.9), ("A", 0.06)], [("B", 0.80), ("A", 0.15)]), 0.158),
        (YES_NO, reply([("\u0120Yes", 0.5), ("\u0120No", 0.3), ("Yes", 0.1)], text="Yes"), 0.667),
        (YES_NO, reply([("是", 0.6), ("否", 0.3)]), 0.667),
        (YES_NO, reply([("Yes", 0.6), ("No", 0.3)], [(".", 1.0)], [(" Sure", 1.0)]), 0.667),
    ],
    ids=[
        "clean",
        "spellings",
        "split rival",
        "null rival",
        "alone",
        "sentinel rival",
        "line break",
        "raw tokens",
        "language",
        "speculative zeros",
    ],
)
def test_one_reply_has_one_right_value(shell, question, body, share):
    answer = asked(shell, question, body)
    found = answer.probability if question is YES_NO else answer.probabilities["first"]
    assert found == near(share, abs=1e-3)
    assert 0 < found < 1


@both
@pytest.mark.parametrize(
    ("question", "body", "reason"),
    [
        (AB, reply([("The", 0.9), ("A", 0.04), ("B", 0.01)]), "low_label_mass"),
        (YES_NO, reply([(f"word{i}", 0.05) for i in range(20)]), "low_label_mass"),
        (AB, reply([("A", 0.9), ("B", 0.02)], [(" customer", 0.97), (".", 0.01)]), "low_label_mass"),
        (AB, reply([("Not", 0.88), ("A", 0.09)], [(" A", 0.9)], [(",", 0.9)]), "low_label_mass"),
        (AB, reply([("<think>", 0.999)], [("So", 0.9)], text="", finish="length"), "reasoning_unfinished"),
        (YES_NO, reply(text="", finish="tool_calls", tool_calls=[{"id": "1"}]), "tool_call"),
        (YES_NO, reply(text=""), "empty"),
    ],
    ids=["five percent", "none of twenty", "article", "not a", "thinking", "tool call", "nothing"],
)
def test_a_reply_that_says_too_little_is_undecided_and_never_half(shell, question, body, reason):
    outcome = asked(shell, question, body)
    assert isinstance(outcome, Undecided)
    assert outcome.reason == reason


@both
@pytest.mark.parametrize(
    "body",
    [
        reply([("I", 0.95), ("refund", 0.01)], [("'m", 0.99)], [(" sorry", 0.99)]),
        reply(text=None, refusal="I can't help with that."),
        reply([("Yes", 0.9), ("No", 0.1)], finish="content_filter"),
    ],
    ids=["words", "field", "filter"],
)
def test_a_refusal_is_one_whatever_its_tokens_say(shell, body):
    assert isinstance(asked(shell, Choice("Which?", ["refund", "information"]), body), Refusal)


@both
def test_a_first_entry_above_zero_is_no_log_probability_and_the_model_is_sampled(shell):
    arrays = {"tokens": ["Yes"], "token_logprobs": [0.7], "top_logprobs": None}
    choice = {"index": 0, "finish_reason": "stop", "message": {"content": "Yes"}, "logprobs": arrays}
    server = Server(httpx2.Response(200, json={"choices": [choice]}))
    answer = shell(connected("together", server)).decide("x", YES_NO)
    assert (answer.method, answer.attempts[0].result) == ("sampled", "invalid_logprob")


@both
def test_deepseeks_own_count_of_cached_tokens_is_read(shell):
    body = {**reply([("Yes", 0.9), ("No", 0.1)]).json()}
    body["usage"] = {"prompt_tokens": 90, "completion_tokens": 1, "prompt_cache_hit_tokens": 64}
    model = shell(connected("deepseek", Server(httpx2.Response(200, json=body))))
    assert model.decide("x", {"q": YES_NO}).usage.cached_tokens == 64


@both
@pytest.mark.parametrize(
    ("stop", "reason"),
    [("max_tokens", "truncated"), ("model_context_window_exceeded", "truncated"), ("pause_turn", "empty")],
)
def test_anthropics_other_ends_are_no_answers(shell, stop, reason):
    thought = {"type": "thinking", "thinking": "…", "signature": "s"}
    body = {"model": "m", "stop_reason": stop, "content": [thought], "usage": {}}
    outcome = (
        shell(anthropic(Server(httpx2.Response(200, json=body)))).decide("x", {"q": YES_NO}).outcome("q")
    )
    assert (type(outcome), outcome.reason) == (Undecided, reason)


@both
def test_azures_old_versions_name_no_code_for_what_they_do_not_know(shell):
    error = {"error": {"message": "Unrecognized request argument supplied: logprobs", "code": None}}
    outcome = (
        shell(connected("azure", Server(httpx2.Response(400, json=error))), strategy="logprobs")
        .decide("x", {"q": YES_NO})
        .outcome("q")
    )
    assert outcome.reason == "logprobs_unsupported"


@both
def test_a_model_that_always_thinks_is_asked_for_its_least_effort_at_once(shell):
    server = Server(reply([("Yes", 0.9), ("No", 0.1)]))
    shell(connected("openai", server, "gpt-6-astra")).decide("x", YES_NO)
    assert server.bodies[0]["reasoning_effort"] == "low"


@both
@pytest.mark.parametrize("content", [b"event: ping\n\n", b"data: {}\n\n", b"data: [DONE]\n\n", b"id: 4\n"])
def test_a_stream_without_a_choice_is_no_reply(shell, content):
    model = shell(compatible(lambda _: httpx2.Response(200, content=content)), retry=patient([]))
    with pytest.raises(UnreadableReply):
        model.decide("x", YES_NO)
