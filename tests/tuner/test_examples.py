"""Worked examples are balanced, short, and drawn the same way each time."""

from collections import Counter
from dataclasses import replace

from tests.tuner.build import MOOD, SPAM, TEAM, rows
from yesno import Choice
from yesno.messages import freeze_input
from yesno.tuner.examples import draws, sizes


def test_sizes_are_about_one_and_two_of_each_answer():
    assert sizes(rows()) == (4, 8)
    assert sizes(rows(question=TEAM)) == (3, 6)
    assert sizes(rows(question=Choice("Which?", [f"o{i}" for i in range(7)]))) == (7, 14)
    assert sizes(rows(question=Choice("Which?", [f"o{i}" for i in range(30)]))) == (8, 16)


def test_lists_are_balanced_and_differ():
    lists = draws(rows(60), variants=4, seed=0)
    assert [len(one) for one in lists] == [4, 8, 4, 8]
    assert len({frozenset(example.id for example in one) for one in lists}) == 4
    for one in lists:
        assert len(set(Counter(example.fields["answer"] for example in one).values())) == 1


def test_a_second_time_they_are_the_same():
    assert draws(rows(60), variants=4, seed=5) == draws(rows(60)[::-1], variants=4, seed=5)


def test_long_rows_are_none():
    long = [
        replace(row, input=f"{row.input} {'x' * 900}") if i % 3 else row for i, row in enumerate(rows(60))
    ]
    short = {row.id for i, row in enumerate(rows(60)) if i % 3 == 0}
    lists = draws(long[: len(long) // 2], variants=2, seed=0)
    assert lists
    limit = 2 * 900
    assert all(len(str(example.fields["input"])) < limit for one in lists for example in one)
    assert short


def test_messages_are_none_and_a_mapping_is_its_json():
    talks = [replace(row, input=freeze_input([{"role": "user", "content": "hi"}])) for row in rows(60)]
    assert draws(talks, variants=2, seed=0) == []
    mapped = [replace(row, input=freeze_input({"text": row.input})) for row in rows(60)]
    assert draws(mapped, variants=1, seed=0)[0][0].fields["input"].startswith('{"text": "text ')


def test_an_example_asks_what_its_row_asks():
    example = draws(rows(60, TEAM), variants=1, seed=0)[0][0].fields
    assert example["question"] == "Which team?"
    assert example["options"] == [["billing", "money"], ["support", "using it"], ["sales", "sales"]]
    assert draws(rows(60, MOOD), variants=1, seed=0)[0][0].fields["levels"] == ["calm", "annoyed", "angry"]
    assert draws(rows(60, SPAM), variants=1, seed=0)[0][0].fields["yes_when"] == "it sells something"


def test_fewer_rows_give_fewer_lists():
    assert len(draws(rows(4), variants=4, seed=0)) <= 2
