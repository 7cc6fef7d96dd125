"""Whole replies through the engine: what other readers get wrong, with the right value."""

import math

import httpx2
import pytest

from tests.engine.support import Server, both, compatible, refused
from yesno import Choice, YesNo
from yesno.errors import Refused, UndecidedError, UnreadableReply

AB = Choice("Which?", ["first one", "second one"])
REST = [(f"word{i}", 0.05) for i in range(19)]


def entry(token, p):
    return {
        "token": token,
        "bytes": list(token.encode()),
        "logprob": p if p is None or p < 0 else math.log(p),
    }


def position(*tokens):
    """One token with its alternatives; a negative number is a log-probability as it is, None a null."""
    top = [entry(*token) for token in tokens]
    return {**top[0], "top_logprobs": top}


def reply(*positions, text=None, finish="stop", **message):
    written = "".join(p["token"] for p in positions) if text is None else text
    return {
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": written, **message},
                "logprobs": {"content": list(positions)} if positions else None,
            }
        ],
    }


VALUES = {
    "clean": (position(("A", 0.70), ("B", 0.25)), 0.737),
    "variants": (
        position(("A", 0.30), (" A", 0.20), ("a", 0.10), ("A.", 0.05), ("B", 0.20), (" B", 0.10)),
        0.684,
    ),
    "split rival": (position(("A", 0.50), ("B", 0.30), (" B", 0.10), ("b", 0.01)), 0.549),
    "one candidate": (position(("A", 0.9999)), 0.9999),
    "sentinel rival": (position(("A", 0.9999), ("B", -9999.0)), 0.9999),
}


@both
@pytest.mark.parametrize("name", VALUES)
def test_a_reply_gives_the_share_that_its_tokens_imply(shell, name):
    tokens, expected = VALUES[name]
    answer = shell(compatible(Server(reply(tokens)))).decide("x", AB)
    assert answer.probabilities["first one"] == pytest.approx(expected, abs=1e-3)
    low, high = answer.bounds["first one"]
    assert low <= answer.probabilities["first one"] <= high


@both
def test_leading_white_space_is_skipped(shell):
    body = reply(position(("\n", 0.99)), position(("B", 0.80), ("A", 0.15)))
    answer = shell(compatible(Server(body))).decide("x", AB)
    assert answer.probabilities["first one"] == pytest.approx(0.158, abs=1e-3)


@both
@pytest.mark.parametrize(
    ("tokens", "least"),
    [
        ([("A", 0.97), *((word, 0.001) for word, _ in REST)], 0.97),
        ([("A", 0.9), ("B", None)], 0.9),
    ],
    ids=["no rival in twenty", "null rival"],
)
def test_a_rival_that_is_not_known_is_bounded_and_not_invented(shell, tokens, least):
    answer = shell(compatible(Server(reply(position(*tokens))))).decide("x", AB)
    assert answer.value == "first one"
    assert answer.low >= least - 1e-9
    assert answer.low <= answer.probabilities["first one"] <= answer.high <= 1
    assert answer.missing == ("second one",)


@both
def test_an_empty_list_of_alternatives_leaves_what_was_written_and_a_bound(shell):
    body = reply({**entry("Yes", 0.9), "top_logprobs": []})
    answer = shell(compatible(Server(body))).decide("x", YesNo("q?"))
    assert answer.low == pytest.approx(0.9)
    assert answer.low <= answer.probability <= answer.high
    assert "no" in answer.missing


UNDECIDED = {
    "five percent": (reply(position(("The", 0.9), ("A", 0.04), ("B", 0.01))), "low_label_mass"),
    "no label in twenty": (reply(position(("word", 0.05), *REST)), "low_label_mass"),
    "article": (
        reply(position(("A", 0.99), ("B", 0.005)), position((" customer", 0.9), (" bill", 0.05))),
        "low_label_mass",
    ),
    "null": (reply(text="A"), "no_logprobs"),
    "empty": (reply(text=""), "empty"),
    "blank": (reply(text=" \n"), "empty"),
    "cut off": (reply(text="", finish="length"), "truncated"),
    "tool call": (reply(text="", finish="tool_calls", tool_calls=[{"id": "1"}]), "tool_call"),
    "reasoning": (
        reply(position(("<think>", 0.999)), position(("A", 0.01), ("Well", 0.9)), finish="length"),
        "reasoning_unfinished",
    ),
    "positive": (reply({**entry("A", 0.9), "logprob": 0.5, "top_logprobs": []}), "invalid_logprob"),
    "all zero": (reply(position(("A", 1.0), ("B", 1.0))), "degenerate"),
}


@both
@pytest.mark.parametrize("name", UNDECIDED)
def test_a_reply_without_a_distribution_is_undecided_and_says_why(shell, name):
    body, reason = UNDECIDED[name]
    server = Server(body)
    outcome = shell(compatible(server), strategy="logprobs").decide("x", {"q": AB}).outcome("q")
    assert getattr(outcome, "reason", outcome) == reason
    assert len(server.bodies) == len(outcome.attempts) == (1 if reason == "no_logprobs" else 2)
    with pytest.raises(UndecidedError, match=reason):
        shell(compatible(Server(body)), strategy="logprobs").decide("x", AB)


@both
@pytest.mark.parametrize(
    "body",
    [
        reply(text=None, content=None, refusal="I'm sorry, I can't assist with that."),
        reply(text="I'm sorry, but I can't help with that."),
        reply(position(("I", 0.99), ("A", 0.005)), position(("'m", 0.99)), position((" sorry", 0.99))),
        reply(text="", finish="content_filter"),
        reply(text="", finish="refusal"),
    ],
    ids=["field", "text", "tokens", "filter", "reason"],
)
def test_a_refusal_in_any_form_is_a_refusal_and_asked_once(shell, body):
    server = Server(body)
    with pytest.raises(Refused):
        shell(compatible(server)).decide("x", AB)
    assert len(server.bodies) == 1


@both
def test_a_refusal_never_becomes_the_option_that_begins_like_it(shell):
    body = reply(position(("I", 0.99), ("refund", 0.005)), position(("'m", 0.99)), position((" sorry", 0.99)))
    with pytest.raises(Refused):
        shell(compatible(Server(body))).decide("x", Choice("Which?", ["refund", "information"]))


@both
def test_a_negation_is_not_the_option_in_it(shell):
    body = reply(position(("Not", 0.9), ("A", 0.05)), position((" A", 0.9), (" B", 0.1)), text="Not A, but")
    with pytest.raises(UndecidedError):
        shell(compatible(Server(body))).decide("x", AB)


@both
def test_ranks_that_name_one_number_are_not_read_digit_by_digit(shell):
    options = [str(number) for number in range(1, 13)]
    answer = shell(compatible(Server(reply(position(("K", 0.9), ("A", 0.05)))))).decide(
        "x", Choice("q?", options)
    )
    assert answer.value == "11"


@both
@pytest.mark.parametrize(
    "content",
    [b"[]", b'{"choices": []}', b'{"object": "x"}'],
    ids=["list", "none", "other"],
)
def test_a_success_without_a_reply_is_unreadable_and_not_tried_again(shell, content):
    calls = []

    def handler(request):
        calls.append(1)
        return httpx2.Response(200, content=content)

    with pytest.raises(UnreadableReply):
        shell(compatible(handler)).decide("x", AB)
    assert len(calls) == 1


@both
def test_a_busy_server_and_a_smaller_limit_and_a_vague_reply_are_all_got_over(shell):
    server = Server(
        refused(429, headers={"retry-after-ms": "0"}),
        refused(400, "top_logprobs must be <= 5", param="top_logprobs"),
        reply(position(("Well", 0.9), ("A", 0.05))),
        reply(position(("A", 0.70), ("B", 0.25))),
    )
    answer = shell(compatible(server)).decide("x", AB)
    assert answer.probabilities["first one"] == pytest.approx(0.737, abs=1e-3)
    assert [attempt.result for attempt in answer.attempts] == ["low_label_mass", "answered"]
    assert len(server.bodies) == 4
