"""The tool benchmark's data, metrics and tables."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, top_k_accuracy_score

from benchmarks.tools.__main__ import asked, main
from benchmarks.tools.items import SETS, Item, load
from benchmarks.tools.report import by_model, by_words, report
from benchmarks.tools.scores import CUTS, Difference, Judged, auroc, compared, picked_share, ranking, score
from yesno import DecisionModel, FakeProvider, UsageListener
from yesno.filters import ToolFilter

FOUND = Judged((0.2, 0.9, None, 0.7), (False, True, False, True), kept=(1, 3))
MISSED = Judged((0.6, 0.1), (False, True), kept=(0,))
NEEDS_NONE = Judged((0.5, 0.3), (False, False), kept=(0,))

ITEM = Item(
    "i1",
    "g1",
    [{"role": "user", "content": "Will it rain in Lisbon?"}],
    [
        {"name": "send_email", "description": "Send an e-mail"},
        {"name": "forecast", "description": "Tell whether it will rain"},
    ],
    frozenset({"forecast"}),
)


@pytest.fixture(scope="module")
def everything():
    return {name: load(name) for name in SETS}


def test_every_needed_tool_is_on_offer_under_one_name(everything):
    for items in everything.values():
        assert len({item.id for item in items}) == len(items)
        for item in items:
            assert item.relevant <= set(item.names)
            assert len(set(item.names)) == len(item.names)


def test_the_splits_share_no_request_and_a_limit_takes_the_first(everything):
    for name, items in everything.items():
        dev, heldout = load(name, "dev"), load(name, "heldout")
        assert len(dev) + len(heldout) == len(items)
        assert not {item.id for item in dev} & {item.id for item in heldout}
        assert load(name, "heldout", 2) == heldout[:2]


def test_words_alone_find_what_a_plain_bm25_found_when_the_data_were_made(everything):
    own = score([by_words(item, 0) for item in everything["own"]])
    pool = score([by_words(item, 0) for item in everything["pool"]])
    assert (own.n, own.needing, pool.n, pool.needing) == (306, 280, 100, 82)
    assert own.recall_at[0] >= 0.738
    assert pool.recall_at[2] >= 0.95


def test_scores_of_a_small_example():
    found = score([FOUND, MISSED, NEEDS_NONE])
    assert (found.n, found.needing) == (3, 2)
    assert found.recall_at == (pytest.approx(0.25), 1.0, 1.0)
    assert found.recall == pytest.approx(0.5)
    assert found.precision == pytest.approx(2 / 4)
    assert found.kept == pytest.approx(4 / 3)
    assert found.offered == pytest.approx(8 / 3)


def test_what_is_not_defined_is_no_number():
    found = score([Judged((0.5,), (False,))])
    assert all(map(math.isnan, [*found.recall_at, found.recall, found.precision, found.auroc_tools]))


def test_equals_stay_in_order_and_unscored_tools_come_last():
    assert ranking([None, 0.5, 0.0, 0.5, None]) == [1, 3, 2, 0, 4]


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.lists(st.floats(0, 1), min_size=4, max_size=4, unique=True)),
        min_size=1,
    ),
    st.sampled_from(CUTS),
)
def test_recall_at_a_cut_is_the_top_k_accuracy_of_one_needed_tool(rows, cut):
    ours = [
        picked_share([place == right for place in range(4)], ranking(scores)[:cut]) for right, scores in rows
    ]
    theirs = top_k_accuracy_score(
        [right for right, _ in rows], [scores for _, scores in rows], k=min(cut, 3), labels=range(4)
    )
    if cut < 4:
        assert sum(ours) / len(ours) == pytest.approx(theirs)
    else:
        assert set(ours) == {1.0}


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([-1.0, 0.0, 0.1, 0.5, 2.0])), min_size=1))
def test_auroc_by_ranks_is_that_of_scikit_learn(pairs):
    truth, scores = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if len(set(truth)) < 2:
        assert math.isnan(auroc(truth, scores))
    else:
        assert auroc(truth, scores) == pytest.approx(roc_auc_score(truth, scores))


def test_a_reader_that_is_better_everywhere_is_said_to_be():
    good, bad = [Judged((0.9, 0.1), (True, False), (0,))] * 6, [Judged((0.1, 0.9), (True, False), (1,))] * 6
    found = {one.name: one for one in compared(good, bad, list("abcdef"), draws=20)}
    assert set(found) == {"R@1", "R@3", "R@5", "recall", "AUROC, tools"}  # no request without a needed tool
    assert found["R@1"].interval == (1.0, 1.0)
    assert (found["R@1"].verdict, found["R@3"].verdict) == ("better", "no difference shown")
    assert {one.verdict for one in compared(bad, good, list("abcdef"), draws=20)} >= {"worse"}


def test_few_groups_get_no_interval():
    found = Difference.of("R@1", lambda picked: float(len(picked)), ["a", "a", "b", "c", "d"])
    assert (found.value, found.interval) == (5.0, None)
    assert str(found) == "| R@1 | +5.000 | – | not said with fewer than 5 groups |"


def test_a_difference_of_rounding_is_none():
    assert Difference("x", 1e-17, (1e-17, 1e-17)).verdict == "no difference shown"
    assert Difference("x", -0.2, (-0.3, -0.1)).verdict == "worse"


def test_whole_groups_are_drawn():
    drawn = []
    Difference.of("x", lambda picked: drawn.append(list(picked)) or 0.0, list("aabcde"), draws=30)
    assert len(drawn) == 31
    assert all(picked.count(0) == picked.count(1) for picked in drawn)


def test_a_row_holds_what_the_filter_says():
    usage = UsageListener()
    model = DecisionModel(
        FakeProvider(
            lambda text: {"Yes": 0.9, "No": 0.1} if '"forecast"' in text else {"Yes": 0.2, "No": 0.8}
        ),
        listeners=[usage],
    )
    row = asked(ToolFilter(fallback="fail"), model, usage, ITEM)
    assert (row["kept"], row["fell_back"], row["requests"]) == ([1], None, 2)
    assert by_model(ITEM, row) == Judged((pytest.approx(0.2), pytest.approx(0.9)), (False, True), (1,))


def test_a_question_without_an_answer_keeps_all_tools_and_says_nothing_about_any():
    usage = UsageListener()
    model = DecisionModel(FakeProvider({"Well": 1.0}), listeners=[usage])
    row = asked(ToolFilter(fallback="fail"), model, usage, ITEM)
    assert (row["kept"], row["probabilities"], row["fell_back"]) == ([0, 1], [None, None], "UndecidedError")
    assert row["requests"] >= 2


def test_words_keep_as_many_as_they_are_allowed():
    judged = by_words(ITEM, 1)
    assert judged.kept == (1,)
    assert judged.relevant == (False, True)


@pytest.fixture
def few(monkeypatch):
    """Pretend that ten requests are all that are shipped."""

    def loaded(name, split=None, limit=None):
        return load(name, split, limit or 10)

    monkeypatch.setattr("benchmarks.tools.report.load", loaded)
    return loaded


@pytest.mark.usefixtures("few")
def test_a_run_writes_its_report_and_reports_again_without_asking(tmp_path, capsys):
    rows, out = tmp_path / "rows.jsonl", tmp_path / "report.md"
    command = ["--model", "fake", "--sets", "own:2", "--rows", str(rows), "--out", str(out)]
    assert main(command) == 0
    written = rows.read_text(encoding="utf-8")
    assert main(command) == 0
    assert rows.read_text(encoding="utf-8") == written
    text = out.read_text(encoding="utf-8")
    assert text in capsys.readouterr().out
    assert "asked: fake, packing separate, shortlist 10." in text
    assert "| own | 2 (2) |" in text
    assert "| own | 10 (" in text
    assert "not said with fewer than 5 groups" in text


def test_rows_of_another_way_are_not_reported(few):
    rows = {("own", item.id, "theirs"): {"at": "2026-11-30"} for item in few("own", "heldout", 2)}
    assert "| own | yesno |" not in report(rows, {"own": 2}, "ours", "heldout", "command")
