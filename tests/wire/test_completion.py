import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yesno.evidence import Candidate, Completion, Position
from yesno.wire.completion import completion_from

YES = Candidate("Yes", -0.1, b"Yes")
NO = Candidate("No", -2.3, b"No")
ENTRY = {
    "token": "Yes",
    "logprob": -0.1,
    "bytes": [89, 101, 115],
    "top_logprobs": [
        {"token": "Yes", "logprob": -0.1, "bytes": [89, 101, 115]},
        {"token": "No", "logprob": -2.3, "bytes": [78, 111]},
    ],
}


def chat(message=None, **fields):
    choice = {"index": 0, "finish_reason": "stop", "message": message or {"content": "Yes"}, **fields}
    return completion_from({"choices": [choice]})


def test_chat_completions_are_read():
    got = chat(logprobs={"content": [ENTRY], "refusal": None})
    assert got == Completion("Yes", (Position(YES, (YES, NO)),), "stop")


def test_arrays_inside_a_chat_choice_are_read_and_lossy():
    table = {"Yes": -0.1, "No": -2.3}
    got = chat(logprobs={"tokens": ["Yes"], "token_logprobs": [-0.1], "top_logprobs": [table]})
    top = (Candidate("Yes", -0.1), Candidate("No", -2.3))
    assert got == Completion("Yes", (Position(top[0], top),), "stop", lossy=True)


def test_plain_completions_are_read_with_gaps_in_their_tables():
    arrays = {"tokens": ["Yes", "."], "token_logprobs": [-0.1, None], "top_logprobs": [None]}
    got = completion_from({"choices": [{"text": "Yes.", "finish_reason": "length", "logprobs": arrays}]})
    assert got.text == "Yes."
    assert got.finish == "length"
    assert got.positions == (Position(Candidate("Yes", -0.1)), Position(Candidate(".", None)))


def test_arrays_without_tables_are_not_lossy():
    got = chat(logprobs={"tokens": ["Yes"], "token_logprobs": [-0.1], "top_logprobs": None})
    assert not got.lossy


def test_llama_cpp_is_read_with_ids():
    entry = {**ENTRY, "id": 7, "top_logprobs": [{**ENTRY["top_logprobs"][0], "id": 7}]}
    got = completion_from({"content": "Yes", "completion_probabilities": [entry], "stop_type": "limit"})
    mine = Candidate("Yes", -0.1, b"Yes", 7)
    assert got == Completion("Yes", (Position(mine, (mine,)),), "length")


def test_llama_cpp_without_content_is_spelled_by_its_tokens():
    assert completion_from({"completion_probabilities": [ENTRY]}).text == "Yes"


def test_ollama_is_read():
    got = completion_from({"message": {"content": "Yes"}, "done_reason": "length", "logprobs": [ENTRY]})
    assert got == Completion("Yes", (Position(YES, (YES, NO)),), "length")
    assert completion_from({"message": {"content": "Yes"}, "done": True}).positions is None


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("SPII", "content_filter"),
        ("X", "other"),
    ],
)
def test_gemini_is_read_without_its_thoughts(reason, finish):
    parts = [{"text": "hm", "thought": True}, {"text": "No"}]
    result = {
        "chosenCandidates": [{"token": "No", "tokenId": 2, "logProbability": -0.2}, {"token": "."}],
        "topCandidates": [{"candidates": [{"token": "Yes", "tokenId": 1, "logProbability": -2}]}],
    }
    candidate = {"finishReason": reason, "content": {"parts": parts}, "logprobsResult": result}
    got = completion_from({"candidates": [candidate]})
    assert (got.text, got.finish) == ("No", finish)
    assert got.positions == (
        Position(Candidate("No", -0.2, None, 2), (Candidate("Yes", -2.0, None, 1),)),
        Position(Candidate(".", None)),
    )


def test_a_blocked_prompt_of_gemini_is_a_filters_verdict_and_nothing_at_all_is_not():
    for candidates in ({}, {"candidates": []}):
        blocked = {"promptFeedback": {"blockReason": "SAFETY"}, **candidates}
        assert completion_from(blocked) == Completion(None, finish="content_filter")
    for body in ({"candidates": []}, {"candidates": [{}]}):
        with pytest.raises((KeyError, IndexError)):
            completion_from(body)


def test_a_place_of_gemini_without_alternatives_is_kept():
    result = {"chosenCandidates": [{"token": "No", "logProbability": -0.2}], "topCandidates": [{}]}
    candidate = {"finishReason": "STOP", "content": {"parts": [{"text": "No"}]}, "logprobsResult": result}
    assert completion_from({"candidates": [candidate]}).positions == (Position(Candidate("No", -0.2)),)


@pytest.mark.parametrize(
    "logprobs", [None, {}, {"content": None}, {"content": []}, {"content": None, "refusal": [ENTRY]}]
)
def test_a_reply_without_token_values_has_no_positions(logprobs):
    assert chat(logprobs=logprobs).positions is None
    assert chat().positions is None


def test_content_in_parts_is_joined():
    parts = [{"type": "text", "text": "Ye"}, {"type": "image"}, {"type": "text", "text": "s"}]
    assert chat({"content": parts}).text == "Yes"


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "content_filter"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("end_turn", "stop"),
        ("new word", "other"),
        (None, "other"),
    ],
)
def test_how_a_reply_ended_is_one_of_few_words(word, finish):
    assert chat(finish_reason=word).finish == finish


def test_a_tool_call_in_place_of_a_text_is_one_whatever_the_reason_says():
    calls = [{"function": {"name": "f", "arguments": "{}"}}]
    assert chat({"content": None, "tool_calls": calls}).finish == "tool_calls"
    assert chat({"content": "Yes", "tool_calls": calls}).finish == "stop"


def test_a_refusal_field_is_kept_and_an_empty_one_is_none():
    assert chat({"content": None, "refusal": "no"}).refusal == "no"
    assert chat({"content": "Yes", "refusal": ""}).refusal is None


def test_a_filtered_message_may_lack_its_content():
    got = chat({"role": "assistant"}, finish_reason="content_filter")
    assert (got.text, got.finish) == (None, "content_filter")


def test_infinity_and_nan_pass_as_they_are():
    body = '{"choices":[{"message":{"content":"A"},"logprobs":{"content":[{"token":"A","logprob":-Infinity,'
    body += '"top_logprobs":[{"token":"B","logprob":NaN}]}]}}]}'
    (place,) = completion_from(json.loads(body)).positions
    assert place.chosen.logprob == -math.inf
    assert math.isnan(place.top[0].logprob)


@pytest.mark.parametrize(
    "change",
    [
        {"logprob": "-0.1"},
        {"logprob": True},
        {"logprob": [1]},
        {"logprob": 10**400},
        {"token": None},
        {"token": 5},
        {"bytes": "Yes"},
        {"bytes": 5},
        {"bytes": [300]},
        {"bytes": ["a"]},
    ],
)
def test_a_token_of_another_shape_is_refused(change):
    with pytest.raises((TypeError, ValueError)):
        chat(logprobs={"content": [{**ENTRY, **change}]})


@pytest.mark.parametrize("values", [["-0.1"], [-0.1, -0.2], [{}]])
def test_arrays_that_do_not_fit_are_refused(values):
    with pytest.raises((TypeError, ValueError)):
        chat(logprobs={"tokens": ["Yes"], "token_logprobs": values})


def test_an_id_of_another_type_is_no_id():
    place = chat(logprobs={"content": [{**ENTRY, "id": [1]}]}).positions[0]
    assert place.chosen.id is None


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"error": "x"},
        {"choices": []},
        {"choices": [{}]},
        {"choices": None},
        {"candidates": []},
        {"message": None},
    ],
)
def test_another_body_is_refused(body):
    with pytest.raises((KeyError, IndexError, TypeError)):
        completion_from(body)


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
names = st.sampled_from(
    [
        "choices",
        "message",
        "content",
        "logprobs",
        "token",
        "logprob",
        "top_logprobs",
        "bytes",
        "id",
        "finish_reason",
        "text",
        "tokens",
        "token_logprobs",
        "candidates",
        "parts",
        "logprobsResult",
        "chosenCandidates",
        "topCandidates",
        "completion_probabilities",
        "type",
    ]
)
junk = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=15,
)


@given(st.sampled_from(["choices", "candidates", "completion_probabilities", "message"]), junk, junk)
@settings(derandomize=True, max_examples=300, deadline=None)
def test_junk_is_a_completion_or_one_of_the_errors_promised(door, one, two):
    try:
        got = completion_from({door: one, "logprobs": two})
    except (KeyError, IndexError, TypeError, ValueError):
        return
    assert got.text is None or isinstance(got.text, str)
    for place in got.positions or ():
        for candidate in (place.chosen, *place.top):
            assert isinstance(candidate.token, str)
            assert candidate.logprob is None or isinstance(candidate.logprob, float)
            assert candidate.data is None or isinstance(candidate.data, bytes)
