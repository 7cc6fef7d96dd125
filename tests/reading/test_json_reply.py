"""Finding the answer in a reply that was asked for as JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yesno.reading.json_reply import Stated, stated_in
from yesno.reading.labels import column_labels, letter_labels, number_labels, yes_no_labels

YES_NO = yes_no_labels()
WRAPPED = {
    "alone": '{"answer": "yes", "confidence": 63}',
    "fenced": '```json\n{"answer": "yes", "confidence": 0.63}\n```',
    "in prose": 'Sure! Here it is: {"answer": "Yes", "confidence": 63} I hope this helps.',
    "trailing comma": '{"answer": "YES", "confidence": 63,}',
    "behind thoughts": '<think>maybe {"answer": "no"}</think>\n{"answer": "yes", "confidence": 63}',
    "nested braces before": 'Format {like this}: {"answer": "yes", "confidence": 63}',
    "said twice": '{"answer": "yes", "confidence": 20} or rather {"answer": "yes", "confidence": 63}',
    "a line break in a text": '{"answer": "yes", "confidence": 63, "why": "because\nso"}',
    "a line break and cut off": '{"answer": "yes", "confidence": 63, "why": "because\nso", "more": "',
    "an escape that is none": '{"why": "\\q", "answer": "yes", "confidence": 63}',
    "no space": '{"answer":"yes","confidence":63}',
    "another key": '{"decision": "yes", "confidence": 63}',
    "a boolean": '{"answer": true, "confidence": 63}',
    "cut off behind a comma": '{"answer": "yes", "confidence": 63, "why": "becau',
}


@pytest.mark.parametrize("text", WRAPPED.values(), ids=WRAPPED)
def test_an_answer_is_found_however_it_is_wrapped(text):
    assert stated_in(text, YES_NO) == Stated(0, pytest.approx(0.63))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"answer": "ye',
        '{"answer": "maybe"}',
        '{"answer": null}',
        '{"answer": ["yes"]}',
        '{"answer": {"value": "yes"}}',
        '{"confidence": 99}',
        '{"answer": "yes"} {"answer": "no"}',
        "It is hard to say whether yes or no.",
        '<think>{"answer": "yes"}',
        '"answer": 0.5',
    ],
)
def test_what_names_no_answer_or_two_is_none(text):
    assert stated_in(text, YES_NO) is None


def test_a_reply_that_is_a_label_counts_without_json():
    assert stated_in(" No.\n", YES_NO) == Stated(1)


def test_an_answer_cut_off_behind_its_value_is_whole():
    assert stated_in('{"answer": "no", "confid', YES_NO) == Stated(1)
    assert stated_in('{"answer": "no", "confidence": 6', YES_NO) == Stated(1, None)


@pytest.mark.parametrize(
    ("value", "confidence"),
    [
        ("1", 0.01),
        ("1.0", 1.0),
        ("0", 0.0),
        ("100", 1.0),
        ("0.5", 0.5),
        ("101", None),
        ("-3", None),
        ('"high"', None),
    ],
)
def test_confidence_is_a_whole_number_of_hundredths_or_a_fraction(value, confidence):
    assert stated_in(f'{{"answer": "no", "confidence": {value}}}', YES_NO).confidence == confidence


def test_a_reply_nested_without_end_is_survived():
    assert stated_in('{"answer": ' + "[" * 100_000, YES_NO) is None


def test_letters_numbers_and_names_are_read():
    letters = letter_labels(["billing", "support"])
    assert stated_in('{"answer": "B"}', letters).label == 1
    assert stated_in('{"answer": "b."}', letters).label == 1
    assert stated_in('{"answer": "Billing"}', letters).label == 0
    assert stated_in('{"answer": "C"}', letters) is None
    assert stated_in('{"answer": 2}', number_labels(["low", "high"], start=1)).label == 1


def test_more_labels_than_letters_go_on_as_columns_do():
    labels = column_labels(f"option {i}" for i in range(255))
    assert [label.shown for label in labels.labels[24:29]] == ["Y", "Z", "AA", "AB", "AC"]
    assert stated_in('{"answer": "AB"}', labels).label == 27
    assert len({label.shown for label in labels.labels}) == 255


@given(st.text(st.sampled_from('{}[]",:\\\n\x00 aeyns0')))
def test_any_text_is_survived(text):
    for wrapped in (
        text,
        "{" + text,
        '{"answer": ' + text,
        '{"answer": "' + text,
        '{"why": "' + text + '", "answer"',
    ):
        stated = stated_in(wrapped, YES_NO)
        assert stated is None or stated.label in (0, 1)


@given(
    st.sampled_from(["yes", "no"]),
    st.dictionaries(st.text(), st.none() | st.integers() | st.text(), max_size=3),
)
def test_other_members_do_not_matter(answer, others):
    entry = {**others, "answer": answer}
    assert stated_in(json.dumps(entry), YES_NO).label == (0 if answer == "yes" else 1)
