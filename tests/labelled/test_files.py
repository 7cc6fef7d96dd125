"""Labelled files of all formats give the same items, and what is wrong with one names its row."""

import csv
import json

import pytest

from yesno import Choice, Scale, YesNo
from yesno.errors import ConfigError
from yesno.labelled import kind_of, load_set, options_of

SPAM = {"type": "yesno", "text": "Is it spam?", "yes_when": "it sells something"}
TEAM = {"type": "choice", "text": "Which team?", "options": [{"name": "a", "description": "an A"}, "b"]}
MOOD = {
    "type": "scale",
    "text": "How glad?",
    "levels": [{"value": 0, "name": "sad"}, {"value": 1, "name": "glad"}],
}


def item(**changes):
    return {"id": "1", "input": "Buy now", "question": SPAM, "label": "yes", **changes}


@pytest.fixture
def saved(tmp_path):
    def save(*rows, name="set.jsonl"):
        file = tmp_path / name
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return file

    return save


def test_questions_of_all_types_are_read(saved):
    found = load_set(
        saved(
            item(),
            item(id="2", question=TEAM, label="b"),
            item(id="3", question=MOOD, label=1, label_dist=[0.25, 0.75]),
            item(id="4", question={**TEAM, "none": "neither"}, label="neither"),
        )
    )
    assert [one.question for one in found.items] == [
        YesNo("Is it spam?", yes_when="it sells something"),
        Choice("Which team?", [("a", "an A"), ("b", None)]),
        Scale("How glad?", ["sad", "glad"]),
        Choice("Which team?", [("a", "an A"), ("b", None)], none="neither"),
    ]
    assert [one.label for one in found.items] == [0, 1, 1, 2]
    assert [kind_of(one.question) for one in found.items] == ["yes_no", "choice", "scale", "choice"]
    assert options_of(found.items[3].question) == ("a", "b", "neither")
    assert found.items[2].shares == (0.25, 0.75)
    assert [one.group for one in found.items] == ["1", "2", "3", "4"]


def as_csv(file, rows, columns):
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, columns)
        writer.writeheader()
        writer.writerows(rows)
    return file


def test_csv_and_parquet_give_the_items_and_the_version_that_json_lines_give(tmp_path, saved):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    from pyarrow import Table

    rows = [item(), item(id="2", input="Hello", label="no"), item(id="3", question=TEAM, label="a")]
    cells = [{**row, "question": json.dumps(row["question"])} for row in rows]
    table = as_csv(tmp_path / "set.csv", cells, ["id", "input", "question", "label"])
    columns = tmp_path / "set.parquet"
    parquet.write_table(Table.from_pylist(cells), columns)
    sets = [load_set(file) for file in (saved(*rows), table, columns)]
    assert sets[0] == sets[1] == sets[2]


def test_a_question_may_be_spread_over_columns_or_given_for_all_rows(tmp_path):
    spread = as_csv(
        tmp_path / "spread.csv",
        [{"input": "x", "question": "Which?", "options": '["a", "b"]', "label": "b"}],
        ["input", "question", "options", "label"],
    )
    assert load_set(spread).items[0].question == Choice("Which?", ["a", "b"])
    plain = as_csv(tmp_path / "plain.csv", [{"input": "x", "label": "TRUE"}], ["input", "label"])
    found = load_set(plain, question=YesNo("Is it?"))
    assert (found.items[0].id, found.items[0].label) == ("row-1", 0)
    with pytest.raises(ConfigError, match=r"plain\.csv', row 1: it has no `question`"):
        load_set(plain)


@pytest.mark.parametrize("label", ["yes", "Yes", True, 1, "1", "true"], ids=repr)
def test_yes_is_read_however_it_is_written(saved, label):
    assert load_set(saved(item(label=label))).items[0].label == 0


@pytest.mark.parametrize("label", ["no", "NO", False, 0, "0", "false"], ids=repr)
def test_no_is_read_however_it_is_written(saved, label):
    assert load_set(saved(item(label=label))).items[0].label == 1


def test_rows_of_jevbench_are_known_by_their_fields(saved):
    choice = {
        "id": "i-0",
        "state": "Where is it?",
        "expected": "track",
        "labels": ["track", "cancel"],
        "question": {
            "type": "choice",
            "instructions": "Which?",
            "criteria": {"cancel": "No more", "track": "Where"},
        },
        "group": None,
    }
    noul = {
        **choice,
        "id": "i-1",
        "expected": "no",
        "labels": ["no", "yes"],
        "question": {"type": "noul", "instructions": "Is it?", "criteria": {"false": "not so", "true": "so"}},
        "group": "pair-1",
    }
    score = {
        **noul,
        "id": "i-2",
        "expected": 2,
        "question": {"type": "score", "instructions": "How bad?", "criteria": ["a", "b", "c"]},
    }
    found = load_set(saved(choice, noul, score)).items
    assert [one.question for one in found] == [
        Choice("Which?", [("track", "Where"), ("cancel", "No more")]),
        YesNo("Is it?", yes_when="so", no_when="not so"),
        Scale("How bad?", ["a", "b", "c"]),
    ]
    assert [(one.label, one.group) for one in found] == [(0, "i-0"), (1, "pair-1"), (2, "pair-1")]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (item(id="2", label="maybe"), "`label` is 'maybe', and the options are 'yes', 'no'"),
        (item(id="2", label=None), "it has no `label`"),
        (item(id="2", input=None), "it has no `input`"),
        (item(id="2", question={"type": "essay"}), "the type of its question is 'essay'"),
        (item(id="2", question=TEAM, label="c"), "`label` is 'c', and the options are 'a', 'b'"),
        (item(id="2", question=MOOD, label=2), "`label` is 2"),
        (item(id="2", question=MOOD, label=1, label_dist=[1]), "a list of 2 shares"),
        (item(id="2", question=MOOD, label=1, label_dist=[0.5, 0.2]), "sums to 0.7"),
        (item(id="2", question={"type": "yesno", "text": " "}), "`text` is blank"),
        (item(id="1"), "the id '1' is that of row 1 too"),
        ([1], "it is a list, not an object"),
    ],
)
def test_a_bad_row_is_named_by_its_number_and_what_is_wrong(saved, bad, said):
    with pytest.raises(ConfigError, match=r"set\.jsonl', row 2: ") as caught:
        load_set(saved(item(), bad))
    assert said in str(caught.value)
    assert "Buy now" not in str(caught.value)


def test_nothing_is_read_from_files_that_are_not_there_or_empty(saved, tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        load_set(tmp_path / "no.jsonl")
    with pytest.raises(ConfigError, match="has no rows"):
        load_set(saved())


def test_the_version_changes_with_what_is_asked_and_not_with_the_format_or_the_split(saved):
    one = load_set(saved(item(split="dev"), item(id="2", split="heldout")))
    part = load_set(saved(item(split="dev"), item(id="2", split="heldout")), split="heldout")
    other = load_set(saved(item(split="dev"), item(id="2", split="heldout", label="no")))
    assert (len(part.items), part.version) == (1, one.version)
    assert other.version != one.version
    with pytest.raises(ConfigError, match="no items of the split 'test'; it has dev, heldout"):
        load_set(saved(item(split="dev"), item(id="2", split="heldout")), split="test")
