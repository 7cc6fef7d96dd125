"""Bounds must hold for every distribution that fits what a reply lists."""

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reading.build import letters, names, position
from yesno.evidence import Candidate, Completion, Position
from yesno.questions import Choice, Scale, YesNo
from yesno.reading.answers import make_answer, number_bounds
from yesno.reading.intervals import RESOLUTION, mean_bounds
from yesno.reading.labels import FORMS_PER_LABEL, name_labels
from yesno.reading.logprobs import read
from yesno.reading.outcome import Reading

KEYS = ("red", "green", "blue")
LABELS = name_labels(KEYS)
FORMS = {key: [pad + word for pad in ("", " ") for word in (key, key.title(), key.upper())] for key in KEYS}
NOISE = [f"word{i}" for i in range(40)]
ROUNDING = 2 * RESOLUTION
many = settings(derandomize=True, max_examples=150, deadline=None)


@st.composite
def whole_distributions(draw):
    """Return every token of a distribution, most probable first; a label has up to six spellings."""
    labels = [form for key in KEYS for form in FORMS[key][: draw(st.integers(1, FORMS_PER_LABEL))]]
    tokens = labels + NOISE[: draw(st.integers(0, len(NOISE)))]
    exponents = draw(st.lists(st.integers(-24, 0), min_size=len(tokens), max_size=len(tokens)))
    weights = [1.7**exponent for exponent in exponents]
    total = sum(weights)
    table = ((token, weight / total) for token, weight in zip(tokens, weights, strict=True))
    return sorted(table, key=lambda row: (-row[1], row[0]))


def truth(table):
    mass = {key: sum(p for token, p in table if token in FORMS[key]) for key in KEYS}
    total = sum(mass.values())
    return [mass[key] / total for key in KEYS]


def seen(table, k):
    top = tuple(Candidate(token, math.log(p)) for token, p in table[:k])
    return read(Completion(table[0][0], (Position(top[0], top),)), LABELS, min_mass=0.0)


def readings(table):
    """Return what the first 1, 2, 3, ... tokens say, from where they name a label at all."""
    results = [seen(table, k) for k in range(1, len(table) + 1)]
    return [result for result in results if isinstance(result, Reading)]


def test_the_six_spellings_are_those_that_the_bounds_allow_for():
    assert {len(forms) for forms in FORMS.values()} == {FORMS_PER_LABEL}


@many
@given(whole_distributions())
def test_a_part_of_a_distribution_bounds_the_whole(table):
    whole = truth(table)
    for part in readings(table):
        for low, share, high in zip(part.low, whole, part.high, strict=True):
            assert low - ROUNDING <= share <= high + ROUNDING


@many
@given(whole_distributions())
def test_one_more_token_never_widens_a_bound(table):
    steps = readings(table)
    for less, more in pairwise(steps):
        assert all(b >= a - ROUNDING for a, b in zip(less.low, more.low, strict=True))
        assert all(b <= a + ROUNDING for a, b in zip(less.high, more.high, strict=True))


@many
@given(whole_distributions())
def test_the_bounds_of_a_mean_hold_the_mean_of_the_whole(table):
    whole = sum(i * p for i, p in enumerate(truth(table)))
    for part in readings(table):
        low, high = mean_bounds(part)
        assert low - 3 * ROUNDING <= whole <= high + 3 * ROUNDING


@many
@given(whole_distributions())
def test_a_point_lies_within_its_bounds(table):
    for part in readings(table):
        assert sum(part.probabilities) == pytest.approx(1, abs=1e-9)
        for low, share, high in zip(part.low, part.probabilities, part.high, strict=True):
            assert 0 <= low <= share <= high <= 1


@many
@given(whole_distributions())
def test_the_whole_distribution_leaves_no_doubt(table):
    part = seen(table, len(table))
    assert part.probabilities == pytest.approx(truth(table), abs=1e-9)
    assert max(b - a for a, b in zip(part.low, part.high, strict=True)) <= ROUNDING


def test_a_written_token_outside_the_list_says_nothing_about_the_rest():
    got = letters(
        ["one", "two", "three"],
        position(("A", 0.80), ("word", 0.05), written="B", p=1e-4),
        position(("", 0.9)),
    )
    assert got.high[2] == pytest.approx(0.1499 / 0.95, abs=1e-3)


def test_a_lone_written_token_may_hide_a_rival_as_probable_as_all_the_rest():
    only = Position(Candidate("A", math.log(0.55)), ())
    got = letters(["one", "two"], only, position(("", 0.9)))
    assert got.high[1] == pytest.approx(0.45)


def test_what_a_later_token_leaves_open_widens_the_bounds():
    got = names(
        ["1", "10"],
        position(("1", 0.99), ("x", 1e-5)),
        position(("0", 0.60)),
        position(("<|end|>", 0.99)),
        text="10",
    )
    assert got.probabilities[1] == pytest.approx(0.6, abs=0.01)
    assert got.high[0] >= 0.39


def test_a_reply_that_ends_where_a_longer_label_could_go_on_leaves_that_label_room():
    got = names(["1", "10"], position(("1", 0.99), ("x", 1e-5)), position(("<|end|>", 0.60)), text="1")
    assert got.probabilities[0] > 0.5
    assert got.high[1] >= 0.39
    assert got.low[0] <= 0.61


def test_a_weak_reading_still_bounds_a_yes_no_answer_and_nothing_else():
    weak = seen([("red", 0.04), ("green", 0.01), ("word", 0.95)], 3)
    assert number_bounds(YesNo("q"), weak) == (weak.low[0], weak.high[0])
    assert number_bounds(Choice("q", KEYS), weak) == (None, None)
    assert number_bounds(YesNo("q"), None) == (None, None)


@many
@given(whole_distributions())
def test_answers_keep_the_numbers_of_the_reading(table):
    part = readings(table)[-1]
    choice = make_answer(Choice("q", KEYS), part, template="t")
    assert dict(choice.probabilities) == dict(zip(KEYS, part.probabilities, strict=True))
    assert choice.bounds == dict(zip(KEYS, zip(part.low, part.high, strict=True), strict=True))
    assert choice.raw == choice.probabilities
    assert choice.probabilities[choice.value] == max(part.probabilities)
    assert (choice.low, choice.high) == choice.bounds[choice.value]
    scale = make_answer(Scale("q", KEYS), part)
    assert scale.probabilities == part.probabilities == scale.raw
    assert scale.low <= scale.mean <= scale.high
    assert scale.mean == pytest.approx(sum(i * p for i, p in enumerate(part.probabilities)))
    for answer in (choice, scale):
        assert (answer.label_mass, answer.method, answer.calibrated) == (part.label_mass, "logprobs", False)


def test_a_missing_label_is_worth_one_unlisted_token_at_most():
    got = names(["red", "blue"], position(("red", 0.97), *[(f"word{i}", 0.001) for i in range(10)]))
    assert got.probabilities[1] == pytest.approx(0.001 / 0.971)
    assert got.high[1] == pytest.approx(FORMS_PER_LABEL * 0.001 / 0.976)


def test_what_a_later_token_leaves_open_belongs_to_labels_that_begin_as_written():
    got = names(
        ["1", "10", "2"],
        position(("1", 0.7), ("2", 0.3)),
        position(("0", 0.6)),
        position(("\n", 0.9)),
        text="10",
    )
    assert got.high[2] == pytest.approx(0.3 / 0.72, abs=1e-5)
    assert got.high[0] == pytest.approx(0.28, abs=1e-5)
