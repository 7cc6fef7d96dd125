"""More options than one list of log-probabilities holds."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.support import both
from yesno import Choice, DecisionModel, FakeProvider, Undecided
from yesno.engine.tournament import groups_of
from yesno.errors import Refused

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def named(count):
    return [f"option {i}" for i in range(count)]


def listed(prompt):
    """Return letter -> option of a prompt."""
    return {line[0]: line[3:] for line in prompt.splitlines() if line[1:3] == ". "}


def preferring(weights, default=1.0):
    """Return a script that shares the probability of a prompt's options out by weight, and lists the 20 best."""

    def script(prompt):
        shown = {letter: weights.get(name, default) for letter, name in listed(prompt).items()}
        total = sum(shown.values())
        best = sorted(shown, key=shown.get, reverse=True)[:20]
        return {letter: shown[letter] / total for letter in best}

    return script


def limited(script, limit):
    provider = FakeProvider(script)
    provider.profile = replace(provider.profile, top_logprobs=limit)
    return provider


@both
@pytest.mark.parametrize(("count", "requests"), [(20, 1), (21, 3), (30, 3), (77, 5), (255, 14)], ids=str)
def test_the_winner_wins_and_the_shares_are_a_distribution(shell, count, requests):
    options = named(count)
    target = options[count * 2 // 3]
    provider = FakeProvider(preferring({target: 5.0 * count}))
    answer = shell(provider).decide("x", Choice("Which?", options))
    assert len(provider.requests) == requests == (math.ceil(count / 20) + (count > 20))
    assert answer.value == target
    assert list(answer.probabilities) == options
    assert sum(answer.probabilities.values()) == pytest.approx(1)
    assert ("tournament" in answer.flags) == (count > 20)
    assert answer.attempts[0].requests == requests
    for name, share in answer.probabilities.items():
        low, high = answer.bounds[name]
        assert low <= share <= high


@given(st.lists(st.floats(0.01, 1), min_size=21, max_size=60))
def test_shares_that_follow_weights_come_back_as_they_are(weights):
    options = named(len(weights))
    provider = FakeProvider(preferring(dict(zip(options, weights, strict=True))))
    answer = DecisionModel(provider).decide("x", Choice("Which?", options))
    expected = {name: weight / sum(weights) for name, weight in zip(options, weights, strict=True)}
    assert dict(answer.probabilities) == pytest.approx(expected, abs=1e-6)


@both
@pytest.mark.parametrize("count", [20, 40])
def test_the_way_out_takes_part_in_the_final_only_and_is_reported_apart(shell, count):
    asked = []

    def script(prompt):
        asked.append(listed(prompt))
        return preferring({"none of these": 100.0 * count})(prompt)

    answer = shell(FakeProvider(script)).decide("x", Choice("Which?", named(count), none="none of these"))
    assert answer.is_none
    assert answer.none_probability > 0.9
    assert sum(answer.probabilities.values()) + answer.none_probability == pytest.approx(1)
    assert [("none of these" in options.values()) for options in asked] == [False, False, True]


@both
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8, 20])
@pytest.mark.parametrize("count", [2, 3, 5, 9, 26, 27, 130, 255])
def test_any_number_of_options_can_be_asked_of_any_host(shell, limit, count):
    options = named(count)
    provider = limited(preferring({options[-1]: 20.0 * count}), limit)
    answer = shell(provider).decide("x", Choice("Which?", options, none="none of these"))
    assert answer.value == options[-1]
    assert sum(answer.probabilities.values()) + answer.none_probability == pytest.approx(1)
    most = max(len(listed(payload["messages"][-1]["content"])) for payload in provider.requests)
    assert most <= max(4, limit)


def test_winners_that_are_too_many_meet_in_heats_again():
    provider = limited(preferring({"option 7": 1000.0}), 5)
    answer = DecisionModel(provider).decide("x", Choice("Which?", named(125)))
    assert answer.value == "option 7"
    assert len(provider.requests) == answer.attempts[0].requests == 25 + 5 + 1


@given(st.integers(5, 255), st.integers(4, 26))
def test_groups_are_even_and_hold_each_option_once(count, limit):
    groups = groups_of(Choice("Which?", named(count)), limit)
    sizes = [len(group.options) for group in groups]
    assert [name for group in groups for name in group.options] == named(count)
    assert max(sizes) <= max(limit, math.ceil(count / 2))
    assert min(sizes) >= 2
    assert max(sizes) - min(sizes) <= 1


def test_descriptions_stay_with_their_options_in_heats_and_final():
    provider = FakeProvider(preferring({"option 3: words about 3": 500.0}))
    options = {name: f"words about {i}" for i, name in enumerate(named(30))}
    assert DecisionModel(provider).decide("x", Choice("Which?", options)).value == "option 3"
    final = listed(provider.requests[-1]["messages"][-1]["content"])
    assert "option 3: words about 3" in final.values()


@both
@pytest.mark.parametrize("place", [0, 1, 2], ids=["first heat", "second heat", "final"])
def test_a_refusal_in_any_heat_refuses_the_question(shell, place):
    replies = [{"A": 0.9, "B": 0.1}] * 3
    replies[place] = {"<refusal>": 1}
    provider = FakeProvider(replies)
    with pytest.raises(Refused):
        shell(provider, concurrency=1).decide("x", Choice("Which?", named(30)))
    assert len(provider.requests) == (2 if place < 2 else 3)


@both
def test_a_weak_heat_is_a_weak_question_and_is_asked_again_strictly(shell):
    provider = FakeProvider({"Well": 0.9, "A": 0.1})
    outcome = shell(provider).decide("x", {"q": Choice("Which?", named(30))}).outcome("q")
    assert isinstance(outcome, Undecided)
    assert outcome.reason == "low_label_mass"
    assert [attempt.requests for attempt in outcome.attempts] == [2, 2]
    texts = [payload["messages"][-1]["content"] for payload in provider.requests]
    assert [("exactly one letter" in text) for text in texts] == [False, False, True, True]


def test_worked_examples_go_where_their_answer_is_offered():
    options = [f"option {i}" for i in range(40)]
    question = Choice(
        "Which?", options, none="neither", examples=[("grass", "option 39"), ("rock", "neither")]
    )
    provider = FakeProvider({"A": 0.9, "B": 0.1})
    DecisionModel(provider).decide("x", question)
    inputs = [
        [word for message in body["messages"] for word in ("grass", "rock") if word in message["content"]]
        for body in provider.requests
    ]
    assert inputs == [[], ["grass"], ["rock"]]
