"""From a whole completion to a reading, or to a typed reason for why there is none."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reading.build import YES_NO, position, reply
from yesno.evidence import Candidate, Completion, Position
from yesno.questions import Undecided
from yesno.reading.labels import letter_labels, name_labels
from yesno.reading.logprobs import read
from yesno.reading.outcome import Declined, Reading, Unread
from yesno.response import no_answer_error

near = pytest.approx
CLEAR = position(("Yes", 0.7), ("No", 0.2))


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"finish": "content_filter"}, Declined("content_filter")),
        ({"finish": "refusal"}, Declined("refusal")),
        ({"refusal": "bio"}, Declined("refusal")),
        ({"finish": "tool_calls"}, Unread("tool_call")),
    ],
)
def test_how_a_reply_ended_is_recognised_before_any_token_is_read(fields, outcome):
    assert read(reply(CLEAR, **fields), YES_NO) == outcome


def test_too_little_label_mass_gives_a_reason_and_what_there_was():
    weak = reply(position(("Yes", 0.4), ("Well", 0.5)))
    got = read(weak, YES_NO)
    assert (got.reason, got.reading.label_mass) == ("low_label_mass", near(0.4))
    assert isinstance(read(weak, YES_NO, min_mass=0.4), Reading)
    assert isinstance(read(reply(CLEAR), YES_NO, min_mass=0.95), Unread)


def test_no_label_at_all_gives_no_partial_reading():
    assert read(reply(position(("Well", 0.9), ("So", 0.1))), YES_NO) == Unread("low_label_mass")


def test_a_table_keyed_by_text_is_read_and_marked_lossy():
    got = read(reply(CLEAR, lossy=True), YES_NO)
    assert (got.probabilities[0], got.flags) == (near(7 / 9), ("lossy",))


def test_a_refusal_in_words_is_one_only_where_no_label_was_read():
    sorry = reply(position(("I", 0.9)), position((" cannot", 0.9)), text="I cannot answer that")
    assert read(sorry, YES_NO) == Declined("refusal")
    answered = reply(position(("No", 0.9), ("Yes", 0.1)), position((", I can't", 0.9)))
    assert read(answered, YES_NO).probabilities[1] == near(0.9)
    assert read(Completion("I'm sorry, I can't"), YES_NO) == Declined("refusal")


def test_an_option_that_reads_like_a_refusal_is_an_option():
    labels = name_labels(["I can't tell", "I can tell"])
    assert read(Completion("I can't tell"), labels) == Unread("no_logprobs")


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        (Completion("Yes"), "no_logprobs"),
        (Completion("Yes", ()), "no_logprobs"),
        (Completion(None), "empty"),
        (Completion(" \n"), "empty"),
        (Completion("", None, "length"), "truncated"),
        (Completion("Yes", (Position(Candidate("Yes", None)),)), "sentinel_logprob"),
    ],
)
def test_a_reply_without_token_values_gives_no_number(completion, reason):
    assert read(completion, YES_NO) == Unread(reason)
    assert reason in str(no_answer_error(Undecided(reason)))


def test_every_reason_of_the_reading_room_is_explained_to_people():
    reasons = {
        "low_label_mass", "no_logprobs", "truncated", "reasoning_unfinished", "empty", "tool_call",
        "invalid_logprob", "probabilities_in_logprob_field", "degenerate", "sentinel_logprob",
        "undecodable_tokens", "misaligned",
    }  # fmt: skip
    for reason in reasons:
        message = str(no_answer_error(Undecided(reason), "q"))
        assert "'q'" in message
        assert len(message) > len(f"question 'q' is undecided: {reason} ({reason})")


def test_a_written_label_without_a_value_is_not_taken_for_impossible():
    top = (Candidate("Yes", None), Candidate("No", math.log(0.3)))
    got = read(reply(Position(top[0], top)), YES_NO)
    assert got.reason == "low_label_mass"
    assert got.reading.high[0] > 0.5
    assert got.reading.flags == ("censored",)


FRAGMENTS = [
    "Yes", "No", " yes", "n", "A", "B.", " customer", "red", "gre", "en", "\n", " ", "**", '"', "<think>", "</think>",
    '{"answer": "', '"}', "<|im_end|>", "", "I'm", " sorry", "\ufffd", "\ud800", "\u0120No", "<0xE6>", "是", "1", ".", "5",
]  # fmt: skip
LABELS = [YES_NO, letter_labels(["red", "green"]), name_labels(["red", "green", "1", "15"])]
values = st.none() | st.floats(allow_nan=True, allow_infinity=True) | st.floats(-12, 0) | st.just(0.0)
candidates = st.builds(Candidate, st.sampled_from(FRAGMENTS), values, st.none() | st.binary(max_size=3))
positions = st.builds(Position, candidates, st.lists(candidates, max_size=4).map(tuple))


@given(
    st.lists(positions, max_size=6).map(tuple),
    st.none() | st.sampled_from([*FRAGMENTS, "<think>x</think>No", '{"answer": "yes"}']),
    st.sampled_from(["stop", "length", "other"]),
    st.sampled_from(LABELS),
)
@settings(derandomize=True, max_examples=400, deadline=None)
def test_junk_gives_a_distribution_or_a_word_and_never_an_exception(places, text, finish, labels):
    written = "".join(place.chosen.token for place in places) if text is None else text
    got = read(Completion(written, places, finish), labels, min_mass=0.0)
    if not isinstance(got, Reading):
        assert got.reason
        return
    assert sum(got.probabilities) == near(1, abs=1e-9)
    assert 0 < got.label_mass <= 1
    for low, share, high in zip(got.low, got.probabilities, got.high, strict=True):
        assert 0 <= low <= share <= high <= 1
    for i in got.missing:
        assert got.probabilities[i] > 0
        assert got.high[i] > 0
    assert not got.missing or max(got.probabilities) < 1
