import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yesno.evidence import Candidate
from yesno.reading.refusals import is_refusal
from yesno.reading.tokens import data_of, fold, is_mark, is_special, is_undecodable, reading_text


@pytest.mark.parametrize(
    ("token", "data", "means"),
    [
        ("Yes", None, b"Yes"),
        ("\u0120Yes", None, b" Yes"),
        ("\u0120Yes", b"\xc4\xa0Yes", b" Yes"),
        ("\u2581No", None, b" No"),
        ("\u2581\u2581No", None, b"  No"),
        ("\u010a", None, b"\n"),
        ("\u010a\u010a", None, b"\n\n"),
        ("<0x0A>", None, b"\n"),
        ("<0xF0>", None, b"\xf0"),
        (r"\xf0\x9f", b"\xf0\x9f", b"\xf0\x9f"),
        ("", None, b""),
        ("\ud83d", None, b"\xed\xa0\xbd"),
    ],
)
def test_a_token_is_the_bytes_that_it_adds(token, data, means):
    assert data_of(Candidate(token, -1.0, data)) == means


def test_a_replacement_character_is_undecodable_unless_the_bytes_are_known():
    assert is_undecodable(Candidate("\ufffd", -1.0))
    assert is_undecodable(Candidate("\ufffd", -1.0, b"\xef\xbf\xbd"))
    assert not is_undecodable(Candidate("\ufffd", -1.0, b"\xf0\x9f"))
    assert reading_text(b"\xf0\x9f") == "\ufffd"


@pytest.mark.parametrize(
    "text", ["Yes", " YES ", '"yes."', "**Yes**", "ＹＥＳ", "(yes)", "\u201cYes!\u201d", "yes\u200b"]
)
def test_folding_forgets_case_width_space_and_marks(text):
    assert fold(text) == "yes"


@given(st.text(max_size=12))
@settings(derandomize=True, max_examples=200, deadline=None)
def test_folding_twice_changes_nothing(text):
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize("text", ["", " ", "\n", "**", '"', "> ", "#", "\ufeff", "\u200b", "\x07"])
def test_marks_carry_no_answer(text):
    assert is_mark(text)


@pytest.mark.parametrize("text", ["a", "1", "-", "**A", "是", "."])
def test_what_may_be_an_answer_is_no_mark(text):
    assert not is_mark(text)


@pytest.mark.parametrize(
    "text",
    ["", "<|im_end|>", "</s>", "<s>", "<eos>", "<end_of_turn>", " <|eot_id|>\n", "<｜end▁of▁sentence｜>"],
)
def test_chat_markers_are_known(text):
    assert is_special(text)


@pytest.mark.parametrize("text", [" ", "\n", "<think>", "<|", "<b>", "Yes"])
def test_space_and_words_are_no_chat_markers(text):
    assert not is_special(text)


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I\u2019m sorry, I can\u2019t assist.",
        "I cannot answer this",
        "Sorry, I am not able to",
        "**I can't** do that",
        "As an AI, I have no opinion",
        "Es tut mir leid, das kann ich nicht",
        "Je suis désolé, mais",
        "Lo siento, no puedo",
        "Desculpe, não posso",
        "Mi dispiace",
        "抱歉，我无法",
        "申し訳ありません",
        "죄송합니다",
    ],
)
def test_refusals_are_known_by_how_they_open(text):
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text", ["", "No", "No, I can't see a refund here.", "Yes", "I", "It can't be", "A", "Sorry"]
)
def test_an_answer_is_no_refusal(text):
    assert not is_refusal(text)
