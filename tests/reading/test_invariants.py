import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.reading.build import YES_NO, reply
from yesno.evidence import Candidate, Completion, Position
from yesno.questions import Choice, Scale, YesNo
from yesno.reading.answers import make_answer
from yesno.reading.intervals import mean_bounds
from yesno.reading.labels import letter_labels, name_labels
from yesno.reading.logprobs import read
from yesno.reading.outcome import Reading

WORDS = [
    "Yes",
    "No",
    " yes",
    "NO",
    "yes.",
    " No",
    "The",
    "I",
    "Not",
    "Maybe",
    "\u0120Yes",
    "Yesterday",
    "ja",
    "Nein",
]
OPTIONS = ["red", "green", "blue"]


@st.composite
def distributions(draw, words=WORDS):
    """A whole distribution over some words, most probable first; sums to 1."""
    chosen = draw(st.lists(st.sampled_from(words), min_size=2, max_size=len(words), unique=True))
    weights = draw(st.lists(st.floats(1e-4, 1), min_size=len(chosen), max_size=len(chosen)))
    total = sum(weights)
    return sorted(((w, p / total) for w, p in zip(chosen, weights, strict=True)), key=lambda item: -item[1])


def top(distribution, k):
    listed = tuple(Candidate(word, math.log(p)) for word, p in distribution[:k])
    return reply(Position(listed[0], listed), text=distribution[0][0].replace("\u0120", " "))


def reading(distribution, k, labels=YES_NO):
    result = read(top(distribution, k), labels, min_mass=0.0)
    assume(isinstance(result, Reading))
    return result


@given(distributions(), st.integers(1, 14))
def test_shares_sum_to_one_and_lie_within_their_bounds(distribution, k):
    got = reading(distribution, k)
    assert sum(got.probabilities) == pytest.approx(1, abs=1e-9)
    for low, share, high in zip(got.low, got.probabilities, got.high, strict=True):
        assert 0 <= low <= share <= high <= 1
    assert 0 < got.label_mass <= 1


@given(distributions([*OPTIONS, "Red", " blue", "grey", "The"]), st.integers(1, 7))
def test_the_mean_lies_within_its_bounds(distribution, k):
    got = reading(distribution, k, name_labels(OPTIONS))
    low, high = mean_bounds(got)
    mean = sum(i * p for i, p in enumerate(got.probabilities))
    assert -1e-9 <= low <= mean + 1e-9
    assert mean - 1e-9 <= high <= 2 + 1e-9


@given(distributions(), st.integers(1, 14), st.randoms(use_true_random=False))
def test_the_order_of_the_list_does_not_matter(distribution, k, random):
    listed = top(distribution, k).positions[0]
    shuffled = list(listed.top)
    random.shuffle(shuffled)
    text = top(distribution, k).text
    one = read(Completion(text, (listed,)), YES_NO, min_mass=0.0)
    two = read(Completion(text, (Position(listed.chosen, tuple(shuffled)),)), YES_NO, min_mass=0.0)
    assume(isinstance(one, Reading))
    assert two.probabilities == pytest.approx(one.probabilities, abs=1e-12)
    assert two.low == pytest.approx(one.low, abs=1e-12)


@given(distributions([*OPTIONS, "Red", " blue", "grey"]), st.permutations(OPTIONS))
def test_the_order_of_the_options_only_permutes_the_result(distribution, order):
    straight = reading(distribution, 6, name_labels(OPTIONS))
    turned = reading(distribution, 6, name_labels(order))
    for place, option in enumerate(order):
        assert turned.probabilities[place] == pytest.approx(
            straight.probabilities[OPTIONS.index(option)], abs=1e-12
        )
        assert turned.high[place] == pytest.approx(straight.high[OPTIONS.index(option)], abs=1e-12)


@given(distributions(), st.integers(1, 13))
def test_seeing_more_never_widens_a_bound(distribution, k):
    assume(k < len(distribution))
    less, more = reading(distribution, k), reading(distribution, k + 1)
    for i in range(2):
        assert more.low[i] >= less.low[i] - 1e-5
        assert more.high[i] <= less.high[i] + 1e-5


@given(distributions(), st.integers(1, 14))
def test_the_whole_truth_lies_within_the_bounds_of_a_part(distribution, k):
    truth = reading(distribution, len(distribution))
    part = reading(distribution, k)
    for i in range(2):
        share = truth.mass[i] / sum(truth.mass)
        assert part.low[i] - 1e-5 <= share <= part.high[i] + 1e-5


@given(distributions(["Yes", "No", "The", "Maybe"]), st.floats(0.05, 0.95))
def test_two_spellings_of_a_label_are_one(distribution, part):
    assume(any(word == "Yes" for word, _ in distribution))
    split = [item for item in distribution if item[0] != "Yes"]
    p = dict(distribution)["Yes"]
    split = sorted([*split, ("Yes", p * part), (" yes", p * (1 - part))], key=lambda item: -item[1])
    assert reading(split, 9).probabilities == pytest.approx(reading(distribution, 9).probabilities, abs=1e-9)


@given(
    st.lists(
        st.tuples(
            st.text(max_size=4) | st.sampled_from(["Yes", "No", "<think>", "\ud800", '{"answer": "', "**"]),
            st.none() | st.floats(allow_nan=True, allow_infinity=True) | st.floats(-20, 0),
        ),
        max_size=6,
    ),
    st.none() | st.text(max_size=8) | st.sampled_from(["Yes", '{"answer": "yes"}', "<think>x</think>No"]),
    st.sampled_from(["stop", "length", "tool_calls", "content_filter", "other"]),
)
def test_junk_never_raises_and_never_gives_a_certain_answer(tokens, text, finish):
    places = tuple(
        Position(Candidate(t, p), tuple(Candidate(t2, p2) for t2, p2 in tokens)) for t, p in tokens
    )
    got = read(Completion(text, places or None, finish), letter_labels(["one", "two"]))
    if isinstance(got, Reading):
        assert all(0 < p < 1 for p in got.probabilities) or not got.missing
        assert sum(got.probabilities) == pytest.approx(1)


@given(st.sampled_from([-9999.0, -100.0, -math.inf, None, -1e308]), st.floats(0.5, 0.999999))
def test_a_censored_rival_is_neither_impossible_nor_certain(value, p):
    listed = (Candidate("Yes", math.log(p)), Candidate("No", value))
    got = read(reply(Position(listed[0], listed)), YES_NO)
    assert 0 < got.probabilities[1] <= got.probabilities[0] < 1
    assert got.missing == (1,)


@given(distributions(), st.integers(2, 14))
def test_answers_keep_the_readings_numbers(distribution, k):
    got = reading(distribution, k)
    answer = make_answer(YesNo("q"), got)
    assert (answer.probability, answer.low, answer.high) == (got.probabilities[0], got.low[0], got.high[0])
    assert (answer.raw, answer.calibrated, answer.method) == (answer.probability, False, "logprobs")
    choice = make_answer(Choice("q", ["first", "second"]), got)
    assert choice.value == max(choice.probabilities, key=choice.probabilities.__getitem__)
    scale = make_answer(Scale("q", ["first", "second"]), got)
    assert scale.low - 1e-9 <= scale.mean <= scale.high + 1e-9
