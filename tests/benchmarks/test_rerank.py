"""The reranking benchmark's data, metric and report."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.rerank.__main__ import main, ranked
from benchmarks.rerank.items import Item, load
from benchmarks.rerank.report import ndcg_of_order, ndcg_of_words, report
from yesno import DecisionModel, FakeProvider, UsageListener
from yesno.filters import Reranker

ITEM = Item("i1", "Is the shop open?", ["By the river.", "The shop opens at 9.", "We open."], [0, 2, 1])


def by_hand(grades, order):
    def gain(ordered):
        return sum(grade / math.log2(rank + 2) for rank, grade in enumerate(ordered[:10]))

    return gain([grades[place] for place in order]) / gain(sorted(grades, reverse=True))


@pytest.fixture
def usage():
    return UsageListener()


@pytest.fixture
def model(usage):
    return DecisionModel(
        FakeProvider(
            lambda text: {"Yes": 0.9, "No": 0.1} if "opens at 9" in text else {"Yes": 0.2, "No": 0.8}
        ),
        listeners=[usage],
    )


def test_every_query_has_twenty_graded_passages():
    items = load()
    assert len(items) == len(load("dev")) + len(load("heldout")) == 21
    assert all(len(item.documents) == len(item.grades) == 20 for item in items)
    assert all({0, 2} <= {*item.grades} <= {0, 1, 2} for item in items)


def test_words_alone_order_the_passages_as_well_as_a_plain_bm25():
    assert np.mean([ndcg_of_words(item) for item in load()]) >= 0.55


@given(st.lists(st.integers(0, 2), min_size=2, max_size=20).filter(any), st.randoms())
def test_ndcg_of_an_order_is_the_one_by_hand(grades, random):
    order = list(range(len(grades)))
    random.shuffle(order)
    item = Item("i", "q", ["text"] * len(grades), grades)
    assert ndcg_of_order(item, order) == pytest.approx(by_hand(grades, order))


def test_documents_without_a_place_share_what_is_left():
    both = (by_hand(ITEM.grades, [1, 0, 2]) + by_hand(ITEM.grades, [1, 2, 0])) / 2
    assert ndcg_of_order(ITEM, [1]) == pytest.approx(both)


def test_a_query_without_known_words_has_all_passages_equal():
    assert ndcg_of_words(Item("i", "Χαίρε", ["a", "b"], [1, 0])) == pytest.approx((1 + 1 / math.log2(3)) / 2)


def test_a_row_holds_the_order_its_scores_and_its_alarms(model, usage):
    row = ranked(Reranker(), None, model, usage, ITEM)
    assert (row["order"], row["requests"], row["alarms"]) == ([1, 0, 2], 3, [])
    assert row["scores"] == [pytest.approx(0.9), pytest.approx(0.2), pytest.approx(0.2)]


def test_only_the_shortlist_is_asked_about_in_the_order_given(model, usage):
    row = ranked(Reranker(), 2, model, usage, ITEM)
    assert (row["order"], row["requests"]) == ([1, 2], 2)


def test_a_passage_without_an_answer_is_in_no_place(usage):
    silent = lambda text: {"Yes": 0.9} if "opens at 9" in text else {"Well": 1.0}  # noqa: E731
    row = ranked(Reranker(), None, DecisionModel(FakeProvider(silent), listeners=[usage]), usage, ITEM)
    assert (row["order"], row["unscored"], row["alarms"]) == ([1], [0, 2], ["unscored"])


def test_a_run_writes_its_report_and_says_what_alarmed(tmp_path, capsys):
    rows, out = tmp_path / "rows.jsonl", tmp_path / "report.md"
    command = ["--model", "fake", "--limit", "2", "--rows", str(rows), "--out", str(out)]
    assert main(command) == main(command) == 0
    assert len(rows.read_text(encoding="utf-8").splitlines()) == 2
    text = out.read_text(encoding="utf-8")
    assert text in capsys.readouterr().out
    assert "| 2 | 20 | yesno | " in text
    assert "Alarms: `constant_scores` for 2 of 2 queries." in text
    assert "not said with fewer than 5 groups" in text
    assert "BM25 on all 21 shipped queries, both splits: nDCG@10 0.564." in text


def test_a_report_without_rows_still_has_bm25_on_all():
    text = report({}, 5, "w", "heldout", "command")
    assert "no rows" in text
    assert "nDCG@10 0.564" in text
