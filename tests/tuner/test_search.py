"""Halving asks each row once per template, keeps to its size, and finds what is better; no model takes part."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tuner.build import rows
from yesno.templates.sets import TemplateSet
from yesno.tuner.candidates import Candidate, Example, pool
from yesno.tuner.judging import Judge
from yesno.tuner.objective import losses
from yesno.tuner.plan import SIZES
from yesno.tuner.search import Found, search

POOL = pool(TemplateSet.load("default"), "yes_no")
ITEMS = tuple(rows(150))


def grown(parent: Candidate) -> list[Candidate]:
    example = Example("e", {"input": "x", "question": "y", "answer": True})
    return [parent.with_examples([example] * k, f"{parent.name}+{k}a") for k in (1, 2)]


def played(skill_of, *, size=SIZES[-2], items=ITEMS, allowed=10**6, blank=lambda name, item: False):
    """Run a search with answers that lean to the label by the template's skill; return it and all that was asked."""
    asked: list[tuple[str, str]] = []

    def answer(name, item):
        lean = skill_of(name) + random.Random(name + item.id).gauss(0, 0.05)
        right = min(0.98, max(0.02, 0.5 + lean))
        return None if blank(name, item) else (right, 1 - right) if item.label == 0 else (1 - right, right)

    run = search(POOL, items, size, Judge(losses, draws=20), grown)
    trial = next(run)
    while True:
        names = [(trial.candidate.name, item.id) for item in trial.items]
        affordable = len(asked) + len(names) <= allowed
        asked += names if affordable else []
        try:
            trial = run.send(
                {item.id: answer(trial.candidate.name, item) for item in trial.items} if affordable else None
            )
        except StopIteration as ended:
            found: Found = ended.value
            return found, asked


def test_the_best_template_wins():
    found, _ = played(lambda name: 0.4 if name == "few_shot" else 0.1)
    assert found.winner is not None
    assert found.winner.candidate.name == "few_shot"
    assert found.winner.rounds[-1].advantage.low > 0


def test_worked_examples_of_a_good_wording_can_win():
    found, _ = played(lambda name: 0.4 if name == "labelled+2a" else 0.2 if name == "labelled" else 0.1)
    assert found.winner is not None
    assert found.winner.candidate.name == "labelled+2a"


def test_nothing_wins_against_the_best():
    found, _ = played(lambda name: 0.4 if name == "default" else 0.1)
    assert found.winner is None
    assert not found.stopped
    assert found.tracks[0].candidate is POOL[0]
    assert found.tracks[0].answered(ITEMS)


def test_no_row_is_asked_twice_with_a_template():
    _, asked = played(lambda name: 0.1 + len(name) / 100)
    assert len(asked) == len(set(asked))


@settings(max_examples=12, deadline=None)
@given(st.integers(60, 150), st.integers(0, 99))
def test_a_search_keeps_to_its_size(count, salt):
    for size in SIZES[-3:]:
        _, asked = played(
            lambda name: random.Random(name + str(salt)).uniform(0, 0.4), size=size, items=ITEMS[:count]
        )
        assert len(asked) + 2 * 90 <= size.decisions(count, 90)


def test_what_leaves_rows_without_an_answer_is_dropped_however_good_it_is():
    found, _ = played(
        lambda name: 0.45 if name == "few_shot" else 0.1,
        blank=lambda name, item: name == "few_shot" and int(item.id[1:]) % 3 == 0,
    )
    track = next(one for one in found.tracks if one.candidate.name == "few_shot")
    assert not track.rounds[-1].kept
    assert track.rounds[-1].advantage.answered == pytest.approx(2 / 3, abs=0.05)


def test_a_template_that_answers_nothing_is_dropped():
    found, _ = played(lambda name: 0.1, blank=lambda name, item: name == "few_shot")
    track = next(one for one in found.tracks if one.candidate.name == "few_shot")
    assert (track.rounds[-1].advantage.n, track.rounds[-1].kept) == (0, False)


@pytest.mark.parametrize("allowed", [10, 60, 150, 300])
def test_used_up_calls_end_a_search_without_a_winner_that_was_not_seen_through(allowed):
    found, asked = played(lambda name: 0.1 + len(name) / 100, allowed=allowed)
    assert found.stopped
    assert len(asked) <= allowed
    assert found.winner is None


def test_the_same_answers_lead_the_same_way():
    one, other = (played(lambda name: 0.1 + len(name) / 100) for _ in range(2))
    assert one[1] == other[1]
    assert replace(one[0].tracks[0].rounds[0]) == other[0].tracks[0].rounds[0]
