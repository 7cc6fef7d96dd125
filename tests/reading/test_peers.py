"""The same replies that other readers get wrong, with the right value."""

import math

import pytest

from tests.reading.build import YES_NO, letters, names, position, reply, yes_no
from yesno.evidence import Candidate, Position
from yesno.reading.labels import letter_labels
from yesno.reading.logprobs import read
from yesno.reading.outcome import Declined, Reading, Unread

near = pytest.approx
AB = ["first", "second"]


def test_a_clean_reply():
    assert yes_no(("Yes", 0.70), ("No", 0.25)).probabilities[0] == near(0.737, abs=1e-3)
    assert letters(AB, position(("A", 0.70), ("B", 0.25))).probabilities[0] == near(0.737, abs=1e-3)


def test_letters_in_all_spellings_are_summed():
    got = letters(
        AB, position(("A", 0.30), (" A", 0.20), ("a", 0.10), ("A.", 0.05), ("B", 0.20), (" B", 0.10))
    )
    assert got.probabilities[0] == near(0.684, abs=1e-3)


def test_a_split_rival_is_summed():
    got = letters(AB, position(("A", 0.50), ("B", 0.30), (" B", 0.10), ("b", 0.01)))
    assert got.probabilities[0] == near(0.549, abs=1e-3)


def test_five_percent_on_labels_is_not_an_answer():
    got = letters(AB, position(("The", 0.9), ("A", 0.04), ("B", 0.01)))
    assert (got.reason, got.reading.label_mass) == ("low_label_mass", near(0.05))


def test_no_label_among_twenty_is_not_an_answer():
    assert yes_no(*[(f"word{i}", 0.05) for i in range(20)]).reason == "low_label_mass"


@pytest.mark.parametrize(
    "text", ["I'm sorry, I can't", "I cannot help with that.", "Lo siento, pero", "抱歉"]
)
def test_a_refusal_as_text_is_a_refusal(text):
    first, rest = text[:1], text[1:]
    assert read(reply(position((first, 0.9)), position((rest, 0.9))), YES_NO) == Declined("refusal")


def test_a_refusal_never_becomes_the_option_that_begins_like_it():
    got = names(
        ["refund", "information"],
        position(("I", 0.95), ("refund", 0.01)),
        position(("'m", 0.99)),
        position((" sorry", 0.99)),
    )
    assert got == Declined("refusal")


def test_a_lone_sampled_token_leaves_the_rest_to_the_other_side():
    got = read(reply(Position(Candidate("Yes", math.log(0.9)), ())), YES_NO)
    assert got.probabilities == near((0.9, 0.1))
    assert (got.low[0], got.high[1]) == near((0.9, 0.1))


def test_a_rival_without_a_value_is_unseen_not_impossible_and_not_certain():
    top = (Candidate("A", math.log(0.9)), Candidate("B", None))
    got = letters(AB, Position(top[0], top))
    assert got.probabilities == near((0.9, 0.1))
    assert "censored" in got.flags


def test_one_candidate_at_almost_one_is_an_answer():
    assert yes_no(("Yes", 0.9999)).probabilities[0] == near(0.9999)


def test_97_percent_without_a_rival_among_twenty_is_at_least_97():
    others = [(f"word{i}", 0.001) for i in range(19)]
    got = yes_no(("Yes", 0.97), *others)
    assert 0.97 <= got.low[0] <= got.probabilities[0] < 1
    assert got.high[1] <= 0.012


def test_the_article_a_is_not_the_letter():
    got = letters(AB, position(("A", 0.9), ("B", 0.02)), position((" customer", 0.97), (".", 0.01)))
    assert isinstance(got, Unread)
    assert got.reading.mass[0] < 0.01


def test_not_a_but_is_no_label():
    got = letters(
        AB, position(("Not", 0.88), ("A", 0.09), ("B", 0.01)), position((" A", 0.9)), position((",", 0.9))
    )
    assert got.reason == "low_label_mass"


@pytest.mark.parametrize("word", ["Not", "Nothing", "Yesterday", "Nope sure", "Noted"])
def test_words_that_begin_like_a_label_are_not_labels(word):
    assert isinstance(yes_no((word, 0.95), ("Yes", 0.01), ("No", 0.01)), Unread)


def test_a_newline_before_the_letter_is_passed_over():
    got = letters(AB, position(("\n", 0.9), ("A", 0.06), ("B", 0.04)), position(("B", 0.80), ("A", 0.15)))
    assert got.probabilities[0] == near(0.158, abs=1e-3)


def test_a_letter_deep_in_the_reasoning_is_not_read():
    got = letters(
        AB,
        position(("<think>", 0.999)),
        position(("So", 0.9)),
        position((" it", 0.9), ("A", 0.01)),
        text="",
        finish="length",
    )
    assert got == Unread("reasoning_unfinished")


def test_a_rival_at_the_sentinel_leaves_nearly_one():
    top = (Candidate("A", math.log(0.9999)), Candidate("B", -9999.0))
    got = letters(AB, Position(top[0], top))
    assert 0.999 < got.probabilities[0] < 1


def test_raw_bpe_strings_are_not_lost():
    got = yes_no(("\u0120Yes", 0.5), ("\u0120No", 0.3), ("Yes", 0.1), text="Yes")
    assert got.probabilities[0] == near(2 / 3)
    assert got.label_mass == near(0.9)


def test_eleven_options_are_not_read_by_one_digit():
    options = [f"option {i}" for i in range(11)]
    got = read(reply(position(("K", 0.9), ("A", 0.05)), position((".", 0.99))), letter_labels(options))
    assert got.probabilities[10] == near(0.9, abs=0.06)


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        ("是", "否"),
        ("Ja", "Nein"),
        ("はい", "いいえ"),
        ("हाँ", "नहीं"),
        ("نعم", "لا"),
        ("예", "아니요"),
        ("Sim", "Não"),
        ("Oui", "Non"),
    ],
)
def test_answers_in_the_users_language_count(yes, no):
    assert yes_no((yes, 0.6), (no, 0.3)).probabilities[0] == near(2 / 3)


def test_a_whitespace_alternative_matches_no_label():
    got = names(["red", "blue"], position(("red", 0.6), (" ", 0.3), ("blue", 0.1)))
    assert got.mass == near((0.6, 0.1))


def test_text_and_tokens_that_disagree_are_not_read():
    assert read(reply(position(("Yes", 0.9), ("No", 0.1)), text="No"), YES_NO) == Unread("misaligned")


def test_a_tool_call_and_an_empty_reply_have_their_own_outcome():
    assert read(reply(text="", finish="tool_calls"), YES_NO) == Unread("tool_call")
    assert read(reply(text=""), YES_NO) == Unread("empty")
    assert read(reply(position(("<|im_end|>", 0.9)), text=""), YES_NO) == Unread("empty")


def test_markdown_and_quotes_before_the_label_are_passed_over():
    got = yes_no_after("**")
    assert isinstance(got, Reading)
    assert got.probabilities[0] == near(0.9)


def yes_no_after(mark):
    return read(
        reply(position((mark, 0.98)), position(("Yes", 0.9), ("No", 0.1)), position(("**", 0.99))), YES_NO
    )


def test_a_mark_that_was_sampled_against_the_odds_does_not_move_the_answer():
    sampled = position(("Yes", 0.9), ("No", 0.08), ("\n", 0.02), written="\n", p=0.02)
    got = read(reply(sampled, position(("No", 0.9), ("Yes", 0.1))), YES_NO)
    assert got.probabilities[0] == near(0.9 / 0.98)
