"""Where the answer begins in what the model wrote."""

import pytest

from tests.reading.build import YES_NO, letters, position, reply
from yesno.reading.labels import name_labels, number_labels
from yesno.reading.logprobs import read
from yesno.reading.outcome import Reading, Unread
from yesno.reading.position import thinks

near = pytest.approx
ANSWER = position(("No", 0.8), ("Yes", 0.2))
LATER = position(("Yes", 0.9), ("No", 0.1))


def tokens(*words):
    return [position((word, 0.97)) for word in words]


def no(*positions, **fields):
    got = read(reply(*positions, **fields), YES_NO)
    return got.probabilities[1] if isinstance(got, Reading) else got.reason


@pytest.mark.parametrize("tag", ["think", "thinking", "thought", "reasoning", "THINK"])
def test_a_reasoning_span_is_passed_over(tag):
    span = [*tokens(f"<{tag}>", "so"), LATER, *tokens(f"</{tag}>", "\n\n")]
    assert no(*span, ANSWER, text="No") == near(0.8)
    assert no(*span, ANSWER) == near(0.8)


def test_a_reasoning_span_in_brackets_is_passed_over():
    assert no(*tokens("[THINK]"), LATER, *tokens("[/THINK]"), ANSWER) == near(0.8)


def test_a_reasoning_span_that_the_prompt_opened_is_passed_over():
    assert no(LATER, *tokens(" maybe", "</think>", "\n\n"), ANSWER) == near(0.8)
    assert no(LATER, *tokens(" maybe", "</think>", "\n\n"), ANSWER, text="No") == near(0.8)


def test_a_closing_tag_may_come_in_pieces():
    assert no(*tokens("<", "think", ">"), LATER, *tokens("</", "think", ">\n"), ANSWER, text="No") == near(
        0.8
    )


def test_a_reasoning_span_without_an_end_is_not_read():
    assert no(*tokens("<think>"), LATER, text="", finish="length") == "reasoning_unfinished"
    assert no(*tokens("<think>"), LATER, text=None, finish="length") == "reasoning_unfinished"


def test_reasoning_and_nothing_else_is_no_answer():
    assert no(*tokens("<think>"), LATER, *tokens("</think>"), text="") == "empty"
    assert no(*tokens("<think>"), LATER, *tokens("</think>"), text="", finish="length") == "truncated"


@pytest.mark.parametrize(
    "mark", ["\n", " ", "\ufeff", "**", "`", '"', "\u201c", "> ", "# ", "\u200b", "\t\n"]
)
def test_marks_before_the_answer_are_passed_over_at_their_price(mark):
    got = read(reply(*tokens(mark), ANSWER), YES_NO)
    assert got.probabilities[1] == near(0.8)
    assert got.label_mass == near(0.97)


def test_a_mark_where_labels_have_most_of_the_probability_is_read_there():
    sampled = position(("Yes", 0.7), ("No", 0.2), ("\n", 0.05), written="\n", p=0.05)
    assert no(sampled, ANSWER) == near(2 / 9)


def test_marks_that_were_unlikely_lower_the_label_mass():
    got = read(reply(position(("**", 0.4), ("The", 0.6)), ANSWER), YES_NO)
    assert (got.reason, got.reading.label_mass) == ("low_label_mass", near(0.4))


def test_a_mark_inside_the_first_token_is_cut_off():
    got = read(reply(position(('"No', 0.8), ('"Yes', 0.2)), *tokens('"')), YES_NO)
    assert got.probabilities[1] == near(0.8)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["{", '"answer"', ":", ' "'], ['"}']),
        (['{"', "answer", '":"'], ['"', "}"]),
        (["```", "json\n", '{"', "answer", '": "'], ['"}', "\n```"]),
        (['{"note": {"answer": "Yes"}, "answer": "'], ['"}']),
        (['{"reason": "Yes, \\"answer\\": really", "answer": "'], ['"}']),
        (['{"label": "'], ['", "confidence": 0.9}']),
        (['{"confidence": 0.9, "answer": "'], ['"}']),
    ],
)
def test_the_answer_of_a_json_reply_is_read_at_its_value(before, after):
    assert no(*tokens(*before), ANSWER, *tokens(*after)) == near(0.8)


def test_a_quote_in_the_token_of_a_json_value_is_cut_off():
    value = position((' "No', 0.8), (' "Yes', 0.15), (" null", 0.05))
    assert no(*tokens('{"answer":'), value, *tokens('"}')) == near(0.8 / 0.95)


def test_a_json_truth_value_and_number_are_answers():
    truth = position((" false", 0.8), (" true", 0.2))
    assert no(*tokens('{"answer":'), truth, *tokens("}")) == near(0.8)
    score = reply(*tokens('{"score":', " "), position(("2", 0.9), ("1", 0.1)), *tokens("}"))
    assert read(score, number_labels(["low", "high"], start=1)).probabilities[1] == near(0.9)


def test_a_json_reply_without_an_answer_field_is_not_read():
    assert no(*tokens('{"verdict": "'), ANSWER, *tokens('"}')) == "low_label_mass"


def test_a_json_value_that_was_cut_off_is_no_answer():
    cut = [*tokens('{"answer": "'), position(("y", 0.9), ("n", 0.1))]
    assert no(*cut, finish="length") == "truncated"
    assert no(*tokens('{"answer": "'), finish="length") == "truncated"


def test_what_is_no_text_before_a_json_value_does_not_shift_it():
    before = tokens('{"reason": "', "\ud83d", '", "answer": "')
    assert no(*before, ANSWER, *tokens('"}')) == near(0.8)


def test_lone_surrogates_do_not_break_the_reader():
    lone = "\ud83d"
    assert no(*tokens(lone), ANSWER) == "low_label_mass"
    assert no(ANSWER, text=f"No {lone}") == near(0.8)
    assert len(name_labels([f"{lone}x", "other"])) == 2
    assert letters([f"{lone}x", "other"], position(("A", 0.9), ("B", 0.1))).probabilities[0] == near(0.9)


def test_tokens_that_do_not_spell_the_text_are_not_read():
    assert no(ANSWER, text="Certainly") == "misaligned"
    assert no(ANSWER, text="No, because it is late") == near(0.8)


def test_a_chat_marker_after_the_answer_changes_nothing():
    assert no(ANSWER, *tokens("<|eot_id|>"), text="No") == near(0.8)
    assert no(ANSWER, *tokens("</s>", ""), text="No") == near(0.8)


def test_a_reply_of_chat_markers_and_space_is_empty():
    assert no(*tokens("<|im_end|>"), text="") == "empty"
    assert no(*tokens("\n\n"), text="\n\n") == "empty"
    assert no(*tokens("\n\n"), text="\n\n", finish="length") == "truncated"
    assert read(reply(text=None), YES_NO) == Unread("empty")


def test_words_that_the_server_cut_off_the_text_are_not_read():
    span = tokens("<think>", "so", "</think>", " Verdict", ":", " ")
    assert no(*span, ANSWER, text="No") == near(0.8)


@pytest.mark.parametrize(
    ("completion", "expected"),
    [
        (reply(ANSWER), False),
        (reply(*tokens("**", '"'), ANSWER), False),
        (reply(*tokens("\n\n"), ANSWER, text="No"), False),
        (reply(ANSWER, *tokens("<|im_end|>"), text="No"), False),
        (reply(text=""), False),
        (reply(*tokens("<think>", "\n\n", "</think>"), ANSWER, text="No"), True),
        (reply(*tokens("so", " it", " is"), ANSWER, text="No"), True),
        (reply(*tokens("<think>", "so", " it"), finish="length"), True),
        (reply(*tokens("so", " it", " is"), text="", finish="length"), True),
        (reply(text="<think>so</think>No"), True),
    ],
    ids=[
        "plain",
        "marks",
        "blank",
        "end",
        "nothing",
        "span",
        "left_out",
        "cut",
        "cut_left_out",
        "words_only",
    ],
)
def test_reasoning_is_seen_whether_marked_or_left_out(completion, expected):
    assert thinks(completion) is expected
