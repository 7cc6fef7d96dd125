"""The parts are fixed by rows and seed alone, and keep groups together."""

import random

from hypothesis import given
from hypothesis import strategies as st

from tests.tuner.build import SPAM, TEAM, rows
from yesno.labelled import Item
from yesno.tuner.splits import split


def ids(part):
    return [row.id for row in part]


def test_the_order_of_the_rows_changes_nothing():
    shuffled = random.Random(3).sample(rows(), 300)
    one, other = split(rows(), seed=1), split(shuffled, seed=1)
    assert [ids(part) for part in (one.train, one.select, one.held_out)] == [
        ids(part) for part in (other.train, other.select, other.held_out)
    ]


def test_another_seed_holds_out_other_rows():
    assert set(ids(split(rows(), seed=1).held_out)) != set(ids(split(rows(), seed=2).held_out))


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 1)), min_size=1, max_size=60), st.integers(0, 3))
def test_every_row_is_in_one_part_and_every_group_too(given_rows, seed):
    items = [Item(f"r{i}", "x", SPAM, label, f"g{group}") for i, (group, label) in enumerate(given_rows)]
    parts = split(items, seed=seed)
    whole = [*parts.train, *parts.select, *parts.held_out]
    assert sorted(ids(whole)) == sorted(ids(items))
    homes = [{row.group for row in part} for part in (parts.train, parts.select, parts.held_out)]
    assert sum(map(len, homes)) == len(set().union(*homes))


def test_each_part_has_its_share_of_each_answer():
    parts = split(rows(question=TEAM), seed=0)
    for part, share in ((parts.train, 0.2), (parts.select, 0.5), (parts.held_out, 0.3)):
        for label in range(3):
            assert abs(sum(row.label == label for row in part) - 100 * share) <= 2


def test_a_beginning_of_a_part_has_all_answers():
    assert {row.label for row in split(rows(question=TEAM), seed=0).select[:3]} == {0, 1, 2}
