"""A 400 that names a parameter is an answer about the host, not a failure."""

import httpx2
import pytest

from tests.engine.support import SHELLS, Server, compatible, refused
from yesno import Choice, DecisionModel, YesNo
from yesno.errors import ProviderRejected, Refused, UndecidedError

GOOD = {"Yes": 0.70, "No": 0.25}
both = pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell.name)


@both
@pytest.mark.parametrize(
    ("error", "allowed"),
    [
        (refused(400, "top_logprobs must be less than or equal to 5", param="top_logprobs"), 5),
        (refused(400, "Invalid value for 'top_logprobs': must be <= 8"), 8),
        (
            httpx2.Response(
                400,
                json={
                    "object": "error",
                    "message": "Requested sample logprobs of 20, which is greater than max allowed: 10",
                    "type": "BadRequestError",
                    "param": None,
                    "code": 400,
                },
            ),
            10,
        ),
    ],
    ids=["param", "words", "vllm"],
)
def test_fewer_alternatives_are_asked_for_and_remembered(shell, error, allowed):
    server = Server(error, GOOD)
    model = shell(compatible(server))
    assert model.decide("x", YesNo("q?")).probability == pytest.approx(0.737, abs=1e-3)
    model.decide("y", YesNo("q?"))
    assert [body["top_logprobs"] for body in server.bodies] == [20, allowed, allowed]


def test_a_smaller_list_makes_smaller_heats():
    server = Server(
        refused(400, "top_logprobs must be at most 5", param="top_logprobs"), {"A": 0.9, "B": 0.1}
    )
    model = DecisionModel(compatible(server))
    with pytest.raises(UndecidedError):
        model.decide("x", YesNo("q?"))
    server.bodies.clear()
    model.decide("x", Choice("Which?", [f"option {i}" for i in range(10)]))
    assert len(server.bodies) == 3


@both
@pytest.mark.parametrize(
    ("first", "message", "second"),
    [
        (
            "max_tokens",
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "max_completion_tokens",
        )
    ],
    ids=["renamed"],
)
def test_a_renamed_cap_is_swapped_once_and_remembered(shell, first, message, second):
    server = Server(refused(400, message, param=first, code="unsupported_parameter"), GOOD)
    model = shell(compatible(server))
    model.decide("x", YesNo("q?"))
    model.decide("y", YesNo("q?"))
    assert [first in body for body in server.bodies] == [True, False, False]
    assert [body.get(second) for body in server.bodies] == [None, 4, 4]


def test_a_refused_temperature_is_left_out_and_remembered():
    server = Server(refused(400, "`temperature` is deprecated for this model."), GOOD)
    model = DecisionModel(compatible(server))
    model.decide("x", YesNo("q?"))
    model.decide("y", YesNo("q?"))
    assert ["temperature" in body for body in server.bodies] == [True, False, False]


def test_an_upstreams_error_inside_a_routers_error_is_unwrapped():
    raw = '{"error": {"message": "Unsupported parameter: temperature", "param": "temperature"}}'
    wrapped = httpx2.Response(
        400, json={"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}}
    )
    server = Server(wrapped, GOOD)
    assert DecisionModel(compatible(server)).decide("x", YesNo("q?")).is_yes()
    assert "temperature" not in server.bodies[1]


@both
def test_a_model_without_logprobs_is_undecided_and_not_asked_again(shell):
    server = Server(refused(400, "`logprobs` is not supported with this model"))
    model = shell(compatible(server))
    for _ in range(2):
        with pytest.raises(UndecidedError) as info:
            model.decide("x", YesNo("q?"))
        assert info.value.outcome.reason == "logprobs_unsupported"
        assert info.value.outcome.low is None
    assert len(server.bodies) == 1


@both
def test_a_400_about_something_else_is_final(shell):
    server = Server(refused(400, "messages: too long", param="messages"))
    with pytest.raises(ProviderRejected):
        shell(compatible(server)).decide("x", YesNo("q?"))
    assert len(server.bodies) == 1


def test_a_server_that_always_complains_ends_the_conversation():
    server = Server(
        *(refused(400, f"top_logprobs must be <= {n}", param="top_logprobs") for n in (9, 8, 7, 6, 5, 4, 3))
    )
    with pytest.raises(UndecidedError):
        DecisionModel(compatible(server)).decide("x", YesNo("q?"))
    assert len(server.bodies) == 5


@both
def test_a_429_is_answered_by_the_next_try(shell):
    server = Server(refused(429, headers={"retry-after-ms": "1"}), GOOD)
    assert shell(compatible(server)).decide("x", YesNo("q?")).is_yes()


def chat(message, logprobs=None, finish="stop"):
    return {
        "model": "m",
        "choices": [{"index": 0, "finish_reason": finish, "message": message, "logprobs": logprobs}],
    }


@both
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (chat({"role": "assistant", "content": "Yes"}), "no_logprobs"),
        (chat({"role": "assistant", "content": ""}), "empty"),
        (chat({"role": "assistant", "content": None}, finish="length"), "truncated"),
        (
            chat({"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}, finish="tool_calls"),
            "tool_call",
        ),
    ],
    ids=["null", "empty", "truncated", "tool"],
)
def test_a_reply_without_a_distribution_is_undecided_with_its_reason(shell, body, reason):
    with pytest.raises(UndecidedError) as info:
        shell(compatible(Server(body))).decide("x", YesNo("q?"))
    assert info.value.outcome.reason == reason


@both
@pytest.mark.parametrize(
    "body",
    [
        chat({"role": "assistant", "content": None, "refusal": "I'm sorry, I can't assist with that."}),
        chat({"role": "assistant", "content": "I'm sorry, but I can't help with that."}),
        chat({"role": "assistant"}, finish="content_filter"),
    ],
    ids=["field", "text", "filter"],
)
def test_a_refusal_in_any_form_is_a_refusal(shell, body):
    with pytest.raises(Refused):
        shell(compatible(Server(body))).decide("x", YesNo("q?"))


def test_a_reply_cut_off_in_its_reasoning_gets_room_for_a_second_try():
    thinking = chat(
        {"role": "assistant", "content": ""}, {"content": [{"token": "<think>", "logprob": -0.1}]}, "length"
    )
    server = Server(thinking, GOOD)
    answer = DecisionModel(compatible(server)).decide("x", YesNo("q?"))
    assert [attempt.result for attempt in answer.attempts] == ["reasoning_unfinished", "answered"]
    assert [body["max_tokens"] for body in server.bodies] == [4, 2048]
