"""Rows from elsewhere become a run like any other, or nothing is written and the row is named."""

import csv
import json
import math

import pytest

from tests.bench.made import right, spam_set
from yesno import FakeProvider
from yesno.bench.importing import import_rows
from yesno.bench.running import run
from yesno.errors import ConfigError


def given(**changes):
    return {"id": "1", "model": "theirs", "label": "yes", "probability": 0.75, **changes}


@pytest.fixture
def saved(tmp_path):
    def save(*rows, name="theirs.jsonl"):
        file = tmp_path / name
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return file

    return save


def test_rows_with_an_id_a_label_and_a_probability_are_a_run(saved, tmp_path):
    done = import_rows(saved(given(), given(id="2", label="no", probability=0)), out=tmp_path / "run")
    assert [(row.id, row.label, row.probabilities, row.outcome) for row in done.rows] == [
        ("1", 0, (0.75, 0.25), "answer"),
        ("2", 1, (0.0, 1.0), "answer"),
    ]
    assert {row.way for row in done.rows} == {("theirs", "elsewhere", "elsewhere")}
    assert (done.card.imported, done.planned, [*done.card.sets]) == (True, 2, ["theirs"])
    assert {row.cost_usd for row in done.rows} == {None}


def test_choices_take_a_mapping_by_name_and_scales_a_list_by_level(saved, tmp_path):
    choice = given(label="b", options=["a", "b"], probabilities={"b": 0.8, "a": 0.2}, probability=None)
    scale = given(id="2", label=1, levels=["bad", "good"], probabilities=[0.4, 0.6], probability=None)
    rows = import_rows(saved(choice, scale), out=tmp_path / "run").rows
    assert [(row.kind, row.label, row.probabilities) for row in rows] == [
        ("choice", 1, (0.2, 0.8)),
        ("scale", 1, (0.4, 0.6)),
    ]


def test_what_came_back_without_an_answer_keeps_its_reason(saved, tmp_path):
    without = given(probability=None, outcome="undecided", reason="low_label_mass")
    [row] = import_rows(saved(without), out=tmp_path / "run").rows
    assert (row.outcome, row.reason, row.probabilities) == ("undecided", "low_label_mass", None)


def test_rounding_is_divided_out_and_flagged(saved, tmp_path):
    rounded = given(
        label="a", options=["a", "b", "c"], probabilities=[0.33, 0.33, 0.33], probability=None, latency_s=1.5
    )
    [row] = import_rows(saved(rounded), out=tmp_path / "run").rows
    assert row.probabilities == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert row.flags == ("renormalised",)
    assert row.latency_s == 1.5


def test_a_set_brings_labels_groups_and_the_version_that_runs_here_have(saved, tmp_path):
    items = spam_set()
    rows = [{"id": f"i{n}", "model": "theirs", "probability": 0.5} for n in range(1, 9)]
    theirs = import_rows(saved(*rows), out=tmp_path / "theirs", labelled=items)
    ours = run([items], models={"ours": FakeProvider(right)}, out=tmp_path / "ours")
    assert theirs.card.sets["spam"].version == ours.card.sets["spam"].version
    assert [row.label for row in theirs.rows] == [item.label for item in items.items]


def test_the_rows_of_a_run_are_read_as_they_are(tmp_path):
    ours = run([spam_set()], models={"ours": FakeProvider(right)}, out=tmp_path / "ours")
    again = import_rows(tmp_path / "ours" / "rows.jsonl", out=tmp_path / "again")
    assert again.rows == ours.rows


def test_csv_and_parquet_are_read(tmp_path, saved):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    from pyarrow import Table

    rows = [given(tokens_in=7), given(id="2", label="no", probability=0.1, tokens_in=8)]
    table = tmp_path / "theirs.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    columns = tmp_path / "theirs.parquet"
    parquet.write_table(Table.from_pylist(rows), columns)
    files = [saved(*rows), table, columns]
    found = [import_rows(file, out=tmp_path / f"run{n}").rows for n, file in enumerate(files)]
    assert found[0] == found[1] == found[2]


CHOICE = {"options": ["a", "b"], "probability": None, "label": "a"}


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (given(id="2", probability=math.nan), "it is not JSON: it has NaN"),
        (given(id="2", probability=1.25), "`probability` must be from 0 to 1, not 1.25"),
        (given(id="2", probability="high"), "`probability` must be a number, not 'high'"),
        (given(id="2", probability=None), "an answer needs `probabilities`"),
        (given(id="2", label="maybe"), "`label` is 'maybe', and the options are 'yes', 'no'"),
        (given(id="2", label=None), "it has no `label`"),
        (given(id=None), "it has no `id`"),
        (given(id="1"), "the id '1' is that of row 1 too"),
        (given(id="2", model=None), "it has no `model`"),
        (given(id="2", **{**CHOICE, "probabilities": [0.5, 0.3]}), "sum to 0.8, not to 1"),
        (
            given(id="2", **{**CHOICE, "probabilities": {"a": 1.0}}),
            "has none for 'b'; what is not known is not 0",
        ),
        (
            given(id="2", **{**CHOICE, "probabilities": {"a": 0.5, "c": 0.5}}),
            "has 'c', which is none of the options",
        ),
        (given(id="2", **{**CHOICE, "label": "c", "probabilities": [0.5, 0.5]}), "`label` is 'c'"),
        (given(id="2", **{**CHOICE, "probabilities": [0.5, 0.25, 0.25]}), "3 numbers for 2 options"),
        (given(id="2", colour="red"), "unknown field 'colour'"),
        (given(id="2", outcome="guess"), "`outcome` is 'guess'"),
        (given(id="2", latency_s=-1), "`latency_s`"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_row_is_named_and_nothing_is_written(saved, tmp_path, bad, said):
    file = saved(given(), bad)
    with pytest.raises(ConfigError, match=r"theirs\.jsonl', row 2: ") as caught:
        import_rows(file, out=tmp_path / "run")
    assert said in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["theirs.jsonl"]


def test_nan_in_other_formats_is_refused_as_a_number(tmp_path):
    file = tmp_path / "theirs.csv"
    file.write_text("id,model,label,probability\n1,m,yes,NaN\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="row 1: `probability` must be from 0 to 1, not nan"):
        import_rows(file, out=tmp_path / "run")


def test_an_item_or_a_label_that_the_set_does_not_have_is_refused(saved, tmp_path):
    rows = saved({"id": "i9", "model": "m", "probability": 0.5})
    with pytest.raises(ConfigError, match="row 1: the set 'spam' has no item 'i9'"):
        import_rows(rows, out=tmp_path / "run", labelled=spam_set())
    rows = saved({"id": "i1", "model": "m", "probability": 0.5, "label": "no"})
    with pytest.raises(ConfigError, match="row 1: `label` is 'no', and the set says 'yes'"):
        import_rows(rows, out=tmp_path / "run", labelled=spam_set())


def test_two_models_may_not_disagree_about_the_label_of_an_item(saved, tmp_path):
    with pytest.raises(ConfigError, match="item '1' of set 'theirs' has two labels"):
        import_rows(saved(given(), given(model="other", label="no")), out=tmp_path / "run")


def test_a_run_that_is_there_is_left_alone(saved, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "letter.txt").write_text("dear", encoding="utf-8")
    with pytest.raises(ConfigError, match="is there already"):
        import_rows(saved(given()), out=tmp_path / "run")


def test_cells_of_csv_are_read_as_what_they_mean(tmp_path):
    file = tmp_path / "theirs.csv"
    file.write_text(
        "id,model,label,probability,calibrated,flags\n1,m,yes,0.7,False,prior\n2,m,no,0.2,true,\n"
    )
    done = import_rows(file, out=tmp_path / "run")
    assert [(row.calibrated, row.flags) for row in done.rows] == [(False, ("prior",)), (True, ())]


def test_calibrated_is_true_or_false(saved, tmp_path):
    with pytest.raises(ConfigError, match="calibrated"):
        import_rows(saved(given(calibrated="perhaps")), out=tmp_path / "run")


def test_a_label_may_be_true_beside_a_set_that_says_yes(saved, tmp_path):
    items = spam_set()
    rows = [given(id=item.id, label=item.label == 0) for item in items.items]
    assert len(import_rows(saved(*rows), out=tmp_path / "run", labelled=items).rows) == len(rows)
