"""Answers of several questions out of one reply: each at its own number, or not at all."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reading.build import YES_NO, position, reply
from yesno.evidence import Completion
from yesno.reading.labels import yes_no_labels
from yesno.reading.outcome import Declined, Reading, Unread
from yesno.reading.packed import PackingCost, read_list, read_numbered_sample

EITHER = yes_no_labels(("Yes", "No"), ("en",))


def tokens(*pieces, **fields):
    """A reply of these tokens; a table of several lists alternatives, its first one was written."""
    places = [position((piece, 0.999)) if isinstance(piece, str) else position(*piece) for piece in pieces]
    return reply(*places, **fields)


def answer(p, mass=1.0):
    pair = [(" Yes", p * mass), (" No", (1 - p) * mass)]
    pair.sort(key=lambda item: -item[1])
    return [*pair, (" The", 1 - mass)] if mass < 1 else pair


def lines(numbered):
    """Tokens of a list of (number, P(yes)) pairs."""
    pieces = []
    for number, p in numbered:
        pieces += [str(number), ".", answer(p), "\n"]
    return pieces


def listed(*shares, **fields):
    return tokens(*lines(enumerate(shares, start=1)), **fields)


def yes_of(results):
    return [r.probabilities[0] if isinstance(r, Reading) else r.reason for r in results]


def read(completion, count, **settings):
    return yes_of(read_list(completion, YES_NO, count, **settings))


def test_each_answer_is_read_at_its_own_line():
    got = read(listed(0.9, 0.2, 0.6), 3)
    assert got == [pytest.approx(0.9), pytest.approx(0.2), pytest.approx(0.6)]


@pytest.mark.parametrize(
    "pieces",
    [
        ["1", ".", " ", [("Yes", 0.8), ("No", 0.2)], "\n", "2", ".", " ", [("No", 0.7), ("Yes", 0.3)]],
        ["1", ". ", [("Yes", 0.8), ("No", 0.2)], "\r\n", "2", ". ", [("No", 0.7), ("Yes", 0.3)]],
        ["1", ")", [(" Yes", 0.8), (" No", 0.2)], "\n\n", "2", ")", [(" No", 0.7), (" Yes", 0.3)], "."],
        ["**", "1", ".**", [(" yes", 0.8), (" no", 0.2)], "\n", "**2", ":**", [(" no", 0.7), (" yes", 0.3)]],
        ["1", ".", " **", [("Yes", 0.8), ("No", 0.2)], "**\n", "2", ".", " **", [("No", 0.7), ("Yes", 0.3)], "**"],
        ["- ", "1", ":", [(" Yes", 0.8), (" No", 0.2)], ".\n", "- ", "2", ":", [(" No", 0.7), (" Yes", 0.3)]],
        ["Here", ":\n", "1", ".", [(" Yes", 0.8), (" No", 0.2)], "\n", "2", ".", [(" No", 0.7), (" Yes", 0.3)]],
        ["<think>", "1. No\n2. Yes", "</think>", "1", ".", [(" Yes", 0.8), (" No", 0.2)], "\n2", ".", [(" No", 0.7), (" Yes", 0.3)]],
        ["1", ".", [(" Yes", 0.8), (" No", 0.2)], "\n", "2", ".", [(" No", 0.7), (" Yes", 0.3)], "<|im_end|>"],
    ],
    ids=["space", "wide", "bracket", "bold number", "bold word", "dash", "preamble", "reasoning", "end of turn"],
)  # fmt: skip
def test_marks_around_numbers_and_words_change_nothing(pieces):
    text = "".join(p if isinstance(p, str) else p[0][0] for p in pieces)
    text = text.rpartition("</think>")[2].removesuffix("<|im_end|>")
    got = read(tokens(*pieces, text=text), 2)
    assert got == [pytest.approx(0.8), pytest.approx(0.3)]


def test_marks_on_the_way_lower_the_label_mass_only():
    (first,) = read_list(tokens("1", ".", [(" **", 0.9), (" The", 0.1)], answer(0.8)), YES_NO, 1)
    assert (first.probabilities[0], first.label_mass) == (pytest.approx(0.8), pytest.approx(0.9))


def test_words_of_other_languages_count():
    got = read(
        tokens("1", ".", [(" Ja", 0.8), (" Nein", 0.2)], "\n", "2", ".", [(" non", 0.6), (" oui", 0.4)]), 2
    )
    assert got == [pytest.approx(0.8), pytest.approx(0.4)]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([1, 3], [0.9, "missing_answer", 0.9]),
        ([2, 3], ["missing_answer", 0.9, 0.9]),
        ([1, 2, 2, 3], [0.9, "misnumbered", 0.9]),
        ([1, 3, 2], [0.9, "misnumbered", "misnumbered"]),
        ([3, 2, 1], ["misnumbered"] * 3),
        ([1, 2, 3, 1, 2, 3], ["misnumbered"] * 3),
        ([0, 1, 2], ["misnumbered"] * 3),
        ([0, 1, 2, 3], ["misnumbered"] * 3),
        ([2, 3, 4], ["misnumbered"] * 3),
        ([1, 2, 3, 4, 5], [0.9, 0.9, 0.9]),
        ([4, 1, 2, 3], ["misnumbered"] * 3),
        ([], ["empty"] * 3),
    ],
    ids=str,
)
def test_only_numbers_in_their_order_are_trusted(numbers, expected):
    got = read(tokens(*lines((n, 0.9) for n in numbers)), 3)
    assert got == [pytest.approx(e) if isinstance(e, float) else e for e in expected]


@pytest.mark.parametrize(
    "line",
    [
        ["Yes"],
        ["1", " Yes"],
        ["1", ".", "\n", "Yes"],
        ["1", ".", " No", " smoking", " area", "?", answer(0.9)],
        ["1", ".", " Is it billing?", answer(0.9)],
        ["1", ".", answer(0.9), ", ", "2", ".", answer(0.9)],
        ["1", ".", answer(0.9), " or No"],
        ["1", ".", " Maybe"],
        ["Q", "1", ".", answer(0.9)],
        ['{"', "1", '":', ' "', "Yes", '"}'],
    ],
    ids=["bare", "no mark", "next line", "question repeated", "question", "one line", "both", "else", "word", "json"],
)  # fmt: skip
def test_a_line_that_holds_more_or_less_than_a_label_is_not_read(line):
    got = read(tokens(*line, "\n", "2", ".", answer(0.3)), 2)
    assert got[0] in ("missing_answer", "unclear_line", "misnumbered")
    assert got[1] in (pytest.approx(0.3), "misnumbered")


def test_answers_without_numbers_are_never_counted_off():
    pieces = [piece for p in (0.9, 0.2, 0.6) for piece in (answer(p), "\n")]
    assert read(tokens(*pieces), 3) == ["missing_answer"] * 3


def test_a_reply_cut_off_keeps_its_whole_lines():
    pieces = lines([(1, 0.9), (2, 0.2), (3, 0.6)])
    assert read(tokens(*pieces[:-1], finish="length"), 4) == [
        pytest.approx(0.9),
        pytest.approx(0.2),
        "truncated",
        "truncated",
    ]
    assert read(tokens(*pieces[:9], finish="length"), 3)[2] == "truncated"
    assert read(tokens(finish="length", text=""), 2) == ["truncated"] * 2


def test_tokens_that_end_before_the_text_are_like_a_cut():
    completion = listed(0.9, 0.2)
    short = Completion(completion.text + "3. No", completion.positions[:-1])
    assert read(short, 3) == [pytest.approx(0.9), "truncated", "truncated"]


def test_a_line_with_little_on_labels_is_weak_and_the_others_are_not():
    got = read(tokens("1", ".", answer(0.5, 0.4), "\n", "2", ".", answer(0.9)), 2)
    assert got == ["low_label_mass", pytest.approx(0.9)]
    assert read(tokens("1", ".", answer(0.5, 0.4)), 1, min_mass=0.3) == [pytest.approx(0.5)]


@pytest.mark.parametrize(
    ("fields", "kind", "reason"),
    [
        ({"finish": "content_filter"}, Declined, "content_filter"),
        ({"refusal": "I can't."}, Declined, "refusal"),
        ({"finish": "tool_calls"}, Unread, "tool_call"),
    ],
    ids=["filter", "refusal", "tool"],
)
def test_a_reply_that_must_not_be_read_is_read_for_no_question(fields, kind, reason):
    results = read_list(listed(0.9, 0.2, **fields), YES_NO, 2)
    assert [(type(r), r.reason) for r in results] == [(kind, reason)] * 2


def test_a_refusal_in_words_is_a_refusal_of_all_and_in_one_line_of_none():
    assert [type(r) for r in read_list(tokens("I'm sorry", ", I can't"), YES_NO, 2)] == [Declined] * 2
    got = read(tokens("1", ".", " I'm sorry, but I can't", "\n", "2", ".", answer(0.9)), 2)
    assert got == ["unclear_line", pytest.approx(0.9)]


def test_a_reply_without_tokens_or_with_garbled_ones_says_why():
    assert read(Completion("1. Yes\n2. No", None), 2) == ["no_logprobs"] * 2
    assert read(tokens("1", ".", "\ufffd", "\n", "2", ".", answer(0.9)), 2) == ["undecodable_tokens"] * 2
    assert read(tokens("1", ".", answer(0.9), text="something else"), 1) == ["misaligned"]


def test_a_place_without_a_real_distribution_is_not_read():
    got = read(tokens("1", ".", [(" Yes", -9999.0), (" No", -9999.0)], "\n", "2", ".", answer(0.9)), 2)
    assert got == ["sentinel_logprob", pytest.approx(0.9)]


@given(
    st.lists(st.floats(0.01, 0.99), min_size=2, max_size=20),
    st.randoms(use_true_random=False),
)
def test_whatever_is_dropped_repeated_or_moved_no_answer_lands_on_another_question(shares, chance):
    numbered = list(enumerate(shares, start=1))
    for _ in range(chance.randrange(3)):
        if len(numbered) > 1:
            place = chance.randrange(len(numbered))
            match chance.randrange(3):
                case 0:
                    del numbered[place]
                case 1:
                    numbered.insert(chance.randrange(len(numbered)), numbered[place])
                case _:
                    numbered.insert(chance.randrange(len(numbered)), numbered.pop(place))
    for p, got in zip(shares, read(tokens(*lines(numbered)), len(shares)), strict=True):
        assert got in (pytest.approx(p), "missing_answer", "misnumbered")


def test_a_packed_reading_is_that_of_the_same_tokens_alone():
    (packed,) = read_list(listed(0.7), YES_NO, 1)
    assert math.fsum(packed.probabilities) == pytest.approx(1)
    assert packed.low[0] <= packed.probabilities[0] <= packed.high[0]


def sample(text, count=3, **fields):
    return [s.label for s in read_numbered_sample(Completion(text, None, **fields), EITHER, count)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"1": "yes", "2": "no", "3": "Yes"}', [0, 1, 0]),
        ('```json\n{"3": "no", "1": true, "2": false,}\n```', [0, 1, 1]),
        ('{"1": {"answer": "yes"}, "2": "no", "3": "perhaps"}', [0, 1, None]),
        ('{"1": "yes", "1": "no", "2": "no"}', [None, 1, None]),
        ('{"1": "yes", " 1": "no", "2": "no"}', [None, 1, None]),
        ('{"0": "yes", "1": "no", "2": "no"}', [None] * 3),
        ('{"0": "yes", "1": "no", "2": "no", "3": "no"}', [None] * 3),
        ('{"2": "yes", "3": "no", "4": "no"}', [None] * 3),
        ('{"01": "yes", "2": "no"}', [None] * 3),
        ('{"1": "yes", "2": "no", "3": "no", "4": "yes"}', [0, 1, 1]),
        ('{"1": "yes"} … {"1": "yes", "2": "no", "3": "no"}', [0, 1, 1]),
        ('{"1": "yes", "2": "no"} … {"1": "no", "2": "no", "3": "no"}', [None, 1, 1]),
        ('{"1": "yes", "2": "no", "3": "n', [0, 1, None]),
        ('["yes", "no", "yes"]', [None] * 3),
        ("yes", [None] * 3),
        ("1. Yes\n2. No\n3. Yes", [None] * 3),
        ('<think>{"1": "no", "2": "no", "3": "no"}</think>{"1": "yes"}', [0, None, None]),
        ("", [None] * 3),
    ],
)  # fmt: skip
def test_a_sampled_answer_belongs_to_its_number(text, expected):
    assert sample(text) == expected


def test_declined_samples_are_declined_for_all():
    texts = [("I'm sorry, I can't", {}), ("", {"finish": "refusal", "refusal": "bio"}), ("{}", {"finish": "content_filter"})]  # fmt: skip
    for text, fields in texts:
        samples = read_numbered_sample(Completion(text, None, **fields), EITHER, 2)
        assert len(samples) == 2
        assert all(s.declined or s.filtered for s in samples)


@given(st.lists(st.booleans(), min_size=1, max_size=10), st.integers(0, 99))
def test_the_order_in_which_an_object_is_written_makes_no_difference(answers, seed):
    entries = [f'"{n}": "{"yes" if a else "no"}"' for n, a in enumerate(answers, start=1)]
    random.Random(seed).shuffle(entries)
    assert sample("{" + ", ".join(entries) + "}", len(answers)) == [0 if a else 1 for a in answers]


@pytest.mark.parametrize(("high", "bearable"), [(-1.0, True), (2.0, True), (2.1, False)])
def test_a_cost_is_bearable_when_its_whole_interval_is(high, bearable):
    cost = PackingCost("logprobs", "t@1#0", 20, -3.0, -9.0, high, 500, 50, "made", "2026-11-30")
    assert cost.is_bearable is bearable
