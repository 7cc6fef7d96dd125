"""Where an answer ends: a label counts only when the reply does not go on to say something else."""

import math

import pytest

from tests.reading.build import YES_NO, letters, names, position, reply
from yesno.evidence import Candidate, Position
from yesno.reading.labels import letter_labels, number_labels
from yesno.reading.logprobs import read
from yesno.reading.outcome import Reading, Unread

near = pytest.approx
AB = ["first", "second"]
LEVELS = number_labels(["calm", "cross", "angry"], start=1)
END = position(("<|im_end|>", 0.99))


def sure(token):
    """A token of which the server says that no other was possible."""
    return Position(Candidate(token, 0.0), (Candidate(token, 0.0),))


@pytest.mark.parametrize(
    "after", [".", ")", "\n", "\n\n", " \n", ":", ",", "<|im_end|>", "", "**", " -", " ("]
)
def test_a_letter_before_what_ends_it_is_an_answer(after):
    got = letters(AB, position(("A", 0.9), ("B", 0.1)), position((after, 0.9)))
    assert got.probabilities[0] == near(0.9)


@pytest.mark.parametrize("after", [" customer", "'m", "-1", "/B", "&B", " & B", "_x", "b"])
def test_a_letter_that_a_word_or_a_sign_continues_is_no_answer(after):
    got = letters(AB, position(("A", 0.9), ("B", 0.1)), position((after, 0.9)))
    assert got.reason == "low_label_mass"


@pytest.mark.parametrize("after", [" customer", "customer", "B"])
def test_a_blank_token_after_a_letter_does_not_end_it(after):
    got = letters(AB, position(("A", 0.9), ("B", 0.1)), position((" ", 0.9)), position((after, 0.9)))
    assert got.reason == "low_label_mass"


def test_a_letter_a_blank_and_the_end_of_the_turn_are_an_answer():
    got = letters(AB, position(("A", 0.9), ("B", 0.1)), position((" ", 0.9)), END)
    assert got.probabilities[0] > 0.85


@pytest.mark.parametrize(
    "rest", [[".", "5"], [".5"], [",", "5"], [",5"], [" and"], [" out", " of"], ["/", "3"]]
)
def test_a_number_that_goes_on_is_no_level(rest):
    places = [position((token, 0.99)) for token in rest]
    got = read(reply(position(("2", 0.9), ("3", 0.1)), *places, END), LEVELS)
    assert got.reason == "low_label_mass"


@pytest.mark.parametrize("rest", [["."], [".", "\n"], [".", " Cross"], [")"], ["\n", "Because"]])
def test_a_number_and_a_full_stop_are_a_level(rest):
    places = [position((token, 0.99)) for token in rest]
    got = read(reply(position(("2", 0.9), ("3", 0.1)), *places, END), LEVELS)
    assert got.probabilities[1] == near(0.9, abs=0.02)


def test_a_name_that_begins_a_longer_one_is_not_taken_for_it():
    options = ["credit", "credit card"]
    longer = letters(
        options, position(("credit", 0.9), ("A", 0.05)), position((" card", 0.98), (".", 0.02)), END
    )
    assert longer.probabilities[1] == near(0.882 / 0.95, abs=0.01)
    split = letters(options, position(("credit", 0.9)), position((" ", 0.98)), position(("card", 0.99)), END)
    assert split.probabilities[1] > 0.8
    shorter = letters(
        options, position(("credit", 0.9)), position((".", 0.9), (" card", 0.1)), text="credit."
    )
    assert shorter.probabilities[0] == near(0.9, abs=0.03)


def test_a_word_may_be_followed_by_its_reason():
    for after in (",", " because", ".", "\n", " -"):
        got = read(reply(position(("No", 0.9), ("Yes", 0.1)), position((after, 0.9))), YES_NO)
        assert got.probabilities[1] == near(0.9)


@pytest.mark.parametrize("after", ["body", "'s", "-one", "pe"])
def test_a_word_that_goes_on_is_another_word(after):
    got = read(reply(position(("No", 0.9), ("Yes", 0.05)), position((after, 0.9))), YES_NO)
    assert got.reason == "low_label_mass"


def test_a_certain_second_token_still_belongs_to_the_answer():
    got = names(["1", "10"], position(("1", 0.7), ("2", 0.3)), sure("0"), sure("<|end|>"), text="10")
    assert got.probabilities[1] > 0.999
    article = letters(AB, position(("A", 0.9), ("B", 0.1)), sure(" customer"))
    assert article.reason == "low_label_mass"


def test_a_second_token_without_a_value_may_end_an_answer_but_not_continue_one():
    unknown = Position(Candidate("\n", None), ())
    assert letters(AB, position(("A", 0.9), ("B", 0.1)), unknown).probabilities[0] == near(0.9)
    forced = Position(Candidate("0", -9999.0), ())
    assert names(["1", "10"], position(("1", 0.9)), forced, text="10") == Unread("sentinel_logprob")


def test_an_end_without_a_value_beside_measured_ones_ends_the_answer():
    end = Position(Candidate("<|im_end|>", -9999.0), (Candidate(" customer", math.log(0.01)),))
    assert letters(AB, position(("A", 0.9), ("B", 0.1)), end).probabilities[0] == near(0.9, abs=0.01)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("y", YES_NO),
        ("N", YES_NO),
        ("A", letter_labels(AB)),
        ("2", LEVELS),
        ("s", letter_labels(["side", "sea"])),
    ],
)
def test_one_letter_at_a_cut_is_no_answer(text, labels):
    cut = reply(position((text, 0.9), ("The", 0.1)), finish="length")
    assert read(cut, labels).reason in ("truncated", "low_label_mass")
    assert not isinstance(read(cut, labels, min_mass=0.0), Reading)


def test_a_whole_word_at_a_cut_is_an_answer():
    got = read(reply(position(("Yes", 0.9), ("No", 0.1)), finish="length"), YES_NO)
    assert got.probabilities[0] == near(0.9)


def test_a_name_at_a_cut_that_could_go_on_is_no_answer():
    options = ["credit", "credit card"]
    assert letters(options, position(("credit", 0.9)), finish="length") == Unread("truncated")
    assert letters(options, position(("credit", 0.9))).probabilities[0] > 0.5


def test_half_a_label_is_no_label():
    options = ["refund", "replace"]
    assert names(options, position(("ref", 0.9), ("rep", 0.1)), finish="length") == Unread("truncated")
    assert names(options, position(("ref", 0.9), ("rep", 0.1))).reason == "low_label_mass"
