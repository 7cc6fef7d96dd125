import pytest

from yesno.evidence import Candidate, Completion, Position
from yesno.wire.openai_responses import completion_from_items, least_cap, named_field, responses_body

ENTRY = {
    "token": "Yes",
    "bytes": [89, 101, 115],
    "logprob": -0.1,
    "top_logprobs": [{"token": "No", "bytes": [78, 111], "logprob": -2.3}],
}
PLACE = Position(Candidate("Yes", -0.1, b"Yes"), (Candidate("No", -2.3, b"No"),))


def text(words="Yes", entries=(ENTRY,)):
    return {"type": "output_text", "text": words, "annotations": [], "logprobs": list(entries)}


def message(*parts, **fields):
    return {"type": "message", "role": "assistant", "content": list(parts), **fields}


def read(*items, **fields):
    return completion_from_items({"status": "completed", "output": list(items), **fields})


def test_a_message_is_its_text_and_its_tokens():
    assert read(message(text())) == Completion("Yes", (PLACE,), "stop")


def test_reasoning_is_located_and_never_read():
    thought = {"type": "reasoning", "summary": [], "content": [text("No", [{**ENTRY, "token": "No"}])]}
    assert read(thought, message(text())) == read(message(text()))


def test_commentary_is_no_answer():
    assert read(message(text("No"), phase="commentary"), message(text(), phase="final_answer")) == read(
        message(text())
    )
    assert read(message(text("No"), phase="commentary")) == Completion(None, finish="other")


def test_parts_are_one_text_with_the_tokens_of_all():
    got = read(message(text(), text(" it is")))
    assert (got.text, got.positions) == ("Yes it is", (PLACE, PLACE))


@pytest.mark.parametrize("entries", [(), None])
def test_tokens_of_a_part_only_are_none(entries):
    part = {**text(" more"), "logprobs": entries}
    assert read(message(text(), part)).positions is None
    assert read(message({**text(), "logprobs": entries})) == Completion("Yes", None, "stop")
    assert read(message(text(), {**text(""), "logprobs": entries})).positions == (PLACE,)


def test_a_refusal_is_one_whatever_else_is_there():
    got = read(message({"type": "refusal", "refusal": "I can't."}))
    assert (got.text, got.refusal) == (None, "I can't.")
    assert read(message(text(), {"type": "refusal", "refusal": ""})).refusal == "refusal"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("max_output_tokens", "length"),
        ("content_filter", "content_filter"),
        ("steered", "other"),
        (None, "other"),
    ],
)
def test_why_a_response_is_incomplete(reason, finish):
    got = read(message(text()), status="incomplete", incomplete_details={"reason": reason})
    assert (got.finish, got.text) == (finish, "Yes")
    assert read(status="incomplete", incomplete_details=None).finish == "other"


def test_a_call_in_place_of_a_text_is_no_answer():
    assert read({"type": "function_call", "name": "f"}).finish == "tool_calls"
    assert read({"type": "reasoning", "summary": []}).finish == "other"


@pytest.mark.parametrize("status", ["in_progress", "queued", "cancelled", "failed"])
def test_a_response_that_is_not_finished_is_not_read(status):
    with pytest.raises(ValueError, match="not finished"):
        read(message(text()), status=status)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"output": None},
        {"output": "Yes"},
        {"output": ["Yes"]},
        {"output": [{}]},
        {"output": [{"type": "message"}]},
        {"output": [message({"type": "output_text"})]},
        {"output": [message({**text(), "text": 3})]},
        {"output": [message({**text(), "logprobs": [{"token": "Yes", "logprob": "x"}]})]},
        {"output": [message({**text(), "logprobs": "Yes"})]},
    ],
)
def test_another_shape_is_an_error_of_shape(body):
    with pytest.raises((KeyError, TypeError, ValueError)):
        completion_from_items(body)


def test_what_is_refused_is_left_out():
    body = responses_body(
        [("user", "x")],
        model="m",
        cap=16,
        top_logprobs=20,
        temperature=0.0,
        effort="none",
        refuses=frozenset({"temperature", "reasoning"}),
    )
    assert body == {
        "model": "m",
        "input": [{"role": "user", "content": "x"}],
        "max_output_tokens": 16,
        "include": ["message.output_text.logprobs"],
        "top_logprobs": 20,
        "store": False,
    }


@pytest.mark.parametrize(
    ("message", "param", "field"),
    [
        ("no", "include", "logprobs"),
        ("no", "include[0]", "logprobs"),
        ("no", "body.top_logprobs", "top_logprobs"),
        ("no", "reasoning.effort", "reasoning"),
        ("Unsupported value: 'reasoning_effort' does not support 'none'", None, "reasoning"),
        ("Invalid 'max_output_tokens': too small", None, "max_output_tokens"),
        ("message.output_text.logprobs are not available", None, "logprobs"),
        ("log probabilities are not supported", None, "logprobs"),
        ("Unsupported parameter: 'include'", None, "logprobs"),
        ("the input is too long", "input", None),
        ("your input must include a temperature", "input", None),
        ("your input must include a user message", None, None),
        ("temperature is not supported with this reasoning model", None, "temperature"),
        ("this reasoning model is overloaded", None, None),
        ("no", None, None),
    ],
)
def test_the_field_an_error_is_about(message, param, field):
    assert named_field(message, param) == field


@pytest.mark.parametrize(
    ("message", "least"),
    [
        ("Expected a value >= 16, but got 1 instead.", 16),
        ("must be at least 32", 32),
        ("must be greater than or equal to 16", 16),
        ("minimum value: 20", 20),
        ("must be at least 2", None),
        ("too small", None),
    ],
)
def test_the_least_cap_an_error_allows(message, least):
    assert least_cap(message, 4) == least
