"""What the benchmarks share: sets, splits, the loop that resumes."""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.runs import count, left_out, limits, measured, mixed, opened, options_of, spent, way_of
from benchmarks.splits import split_of
from yesno import UsageListener, YesNo

QUALITY = Path(__file__).parents[2] / "benchmarks" / "quality" / "data"


@dataclass(frozen=True)
class Item:
    id: str


def options(*given):
    return options_of("x", "about", limit=2).parse_args(["--model", "fake", *given])


def ask(model, usage, item):
    before = usage.total
    answer = model.decide(item.id, YesNo("Is it?"))
    return {"probability": answer.probability, **spent(before, usage.total, 0.0)}


def test_items_are_split_as_those_of_the_quality_benchmark_are():
    for name in ("snips", "strategyqa", "sms_spam", "toolrisk"):
        rows = map(json.loads, (QUALITY / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
        assert all(split_of(row["id"]) == row["split"] for row in rows)


def test_each_set_may_have_a_limit_of_its_own():
    assert limits("a, b:20,", 3, ["a", "b"]) == {"a": 3, "b": 20}


@pytest.mark.parametrize(
    ("sets", "said"), [("a,c", "no set 'c', only a, b"), ("b:x", "'x' is no number of items; write b:3")]
)
def test_a_set_that_cannot_be_is_named(sets, said):
    with pytest.raises(SystemExit, match=said):
        limits(sets, 3, ["a", "b"])


@pytest.mark.parametrize("text", ["-1", "x", "", "1.5"])
def test_an_option_that_is_no_count_is_named(text):
    with pytest.raises(argparse.ArgumentTypeError, match="no whole number"):
        count(text)
    assert count("0") == 0


def test_sets_take_turns_so_that_each_has_some():
    lists = {"a": [Item("1"), Item("2")], "b": [Item("3")]}
    assert mixed(lists) == [("a", Item("1")), ("b", Item("3")), ("a", Item("2"))]


def test_a_run_asks_only_for_what_is_not_in_its_rows(tmp_path):
    path = tmp_path / "rows.jsonl"
    todo = [("s", Item("1")), ("s", Item("2"))]
    asked = []

    def heard(model, usage, item):
        asked.append(item.id)
        return ask(model, usage, item)

    first = measured(options("--rows", str(path)), "w", todo[:1], heard)
    both = measured(options("--rows", str(path)), "w", todo, heard)
    again = measured(options("--rows", str(path)), "w", todo, heard)
    assert asked == ["1", "2"]
    assert list(first) == [("s", "1", "w")]
    assert again == both
    assert [row["requests"] for row in both.values()] == [1, 1]  # what opens the model is not counted
    measured(options("--rows", str(path)), "another way", todo[:1], heard)
    assert asked == ["1", "2", "1"]


def test_nothing_new_is_asked_when_the_time_is_up():
    assert measured(options("--minutes", "0"), "w", [("s", Item("1"))], ask) == {}


def test_rows_are_told_apart_by_what_changes_their_answers():
    assert way_of(options(), shortlist=None) == "fake, packing separate"
    assert way_of(options("--packing", "auto"), shortlist=5) == "fake, packing auto, shortlist 5"
    assert way_of(options("--threads", "1")) == way_of(options())


def test_the_model_is_opened_as_the_options_say():
    with opened(options("--packing", "packed"), UsageListener()) as model:
        assert model.provider.name == "fake"
        assert model.packer.template is not None


def test_a_report_says_what_the_time_did_not_suffice_for():
    assert left_out({"own": 20, "pool": 8}, {"own": 5, "pool": 8}) == [
        "Not asked about when the time was up: 15 of 20 of own.",
        "",
    ]
    assert left_out({"own": 20}, {"own": 20}) == []
