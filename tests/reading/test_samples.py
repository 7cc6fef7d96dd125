"""From sampled replies to shares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yesno import Choice, Scale, YesNo
from yesno.evidence import Completion
from yesno.reading.answers import make_answer
from yesno.reading.labels import yes_no_labels
from yesno.reading.outcome import Declined, Reading, Unread
from yesno.reading.samples import Sample, is_settled, read_sample, share_of

YES_NO = yes_no_labels()


def votes(*counts, declined=0, filtered=0, silent=0):
    return [
        *(Sample(label) for label, count in enumerate(counts) for _ in range(count)),
        *([Sample(declined=True)] * declined),
        *([Sample(filtered=True)] * filtered),
        *([Sample()] * silent),
    ]


def test_five_equal_votes_are_no_certainty():
    answer = make_answer(YesNo("q?"), share_of(votes(5, 0), 2, 0.5))
    assert answer.probability == pytest.approx(5.5 / 6)  # mean of Beta(5.5, 0.5)
    assert answer.standard_error == pytest.approx((5.5 / 6 * 0.5 / 6 / 7) ** 0.5)
    assert (answer.method, answer.samples, answer.calibrated) == ("sampled", 5, False)
    assert (answer.low, answer.high) == (pytest.approx(0.5655, abs=1e-4), 1.0)  # Wilson, 5 of 5


def test_the_interval_is_wilsons():
    answer = make_answer(YesNo("q?"), share_of(votes(7, 3), 2, 0.5))
    assert (answer.low, answer.high) == (pytest.approx(0.3968, abs=1e-4), pytest.approx(0.8922, abs=1e-4))


def test_what_a_model_says_of_itself_is_kept_apart():
    samples = [Sample(0, confidence=0.9), Sample(0, confidence=0.7), Sample(0)]
    answer = make_answer(YesNo("q?"), share_of(samples, 2, 0.5))
    assert answer.stated_confidence == pytest.approx(0.8)
    assert answer.probability == pytest.approx(3.5 / 4)


@given(st.permutations([0.1, 0.7, 0.8, 0.8, 0.95]))
def test_the_order_in_which_samples_arrive_does_not_matter(stated):
    samples = [Sample(0, confidence=value) for value in stated]
    assert share_of(samples, 2, 0.5) == share_of(sorted(samples, key=lambda s: s.confidence), 2, 0.5)


def test_a_choice_and_a_scale_say_how_many_samples_and_how_wide():
    choice = make_answer(Choice("q?", ["a", "b", "c"]), share_of(votes(1, 4, 0), 3, 0.5))
    assert (choice.value, choice.samples) == ("b", 5)
    assert choice.probabilities["c"] == pytest.approx(1 / 3 / 6)
    assert choice.low < choice.probabilities["b"] < choice.high
    scale = make_answer(Scale("q?", ["low", "mid", "high"]), share_of(votes(0, 2, 3), 3, 0.5))
    assert 0 <= scale.low < scale.mean < scale.high <= 2
    assert scale.standard_error > 0


@pytest.mark.parametrize(
    ("samples", "outcome"),
    [
        (votes(0, 0, declined=5), Declined("refusal")),
        (votes(0, 0, filtered=5), Declined("content_filter")),
        (votes(1, 0, declined=4), Declined("refusal")),
        (votes(0, 0, silent=5), Unread("no_json_answer")),
        (votes(0, 0, silent=4, declined=1), Unread("no_json_answer")),
    ],
    ids=["refused", "filtered", "mostly refused", "no answer", "mostly no answer"],
)
def test_samples_that_say_nothing_are_no_half(samples, outcome):
    assert share_of(samples, 2, 0.5) == outcome


def test_too_few_samples_with_an_answer_are_a_low_label_mass():
    outcome = share_of(votes(2, 0, silent=3), 2, 0.5)
    assert isinstance(outcome, Unread)
    assert (outcome.reason, outcome.reading.label_mass) == ("low_label_mass", pytest.approx(0.4))
    assert isinstance(share_of(votes(3, 0, silent=2), 2, 0.5), Reading)


@pytest.mark.parametrize(
    ("counts", "settled"),
    [((5, 0), True), ((4, 1), False), ((9, 1), True), ((7, 3), False), ((0, 0), False), ((3, 2, 0), False)],
)
def test_votes_are_settled_when_the_leader_is_beyond_chance(counts, settled):
    assert is_settled(votes(*counts), len(counts)) is settled


@given(st.lists(st.integers(0, 8), min_size=2, max_size=5))
def test_shares_are_a_distribution_within_their_bounds_and_votes_order_them(counts):
    outcome = share_of(votes(*counts, silent=0 if sum(counts) else 1), len(counts), 0.0)
    if not sum(counts):
        assert isinstance(outcome, Unread)
        return
    assert sum(outcome.probabilities) == pytest.approx(1)
    for low, p, high in zip(outcome.low, outcome.probabilities, outcome.high, strict=True):
        assert 0 <= low <= p <= high <= 1
    by_votes = sorted(range(len(counts)), key=lambda i: (counts[i], i))
    assert by_votes == sorted(range(len(counts)), key=lambda i: (round(outcome.probabilities[i], 12), i))


@pytest.mark.parametrize(
    ("completion", "sample"),
    [
        (Completion('{"answer": "yes", "confidence": 80}'), Sample(0, confidence=0.8)),
        (Completion("I'm sorry, but I can't help with that."), Sample(declined=True)),
        (Completion(None, finish="refusal", refusal="policy"), Sample(declined=True, category="policy")),
        (Completion(None, refusal="No."), Sample(declined=True)),
        (Completion('{"answer": "yes"}', finish="content_filter"), Sample(filtered=True)),
        (Completion('{"answer": "ye', finish="length"), Sample(problem="truncated")),
        (Completion("", finish="tool_calls"), Sample(problem="tool_call")),
        (Completion(None), Sample(problem="empty")),
        (Completion("Perhaps."), Sample()),
    ],
    ids=["json", "words", "finish", "field", "filter", "cut", "tool", "empty", "prose"],
)
def test_one_reply_is_one_vote_a_refusal_or_nothing(completion, sample):
    assert read_sample(completion, YES_NO) == sample
