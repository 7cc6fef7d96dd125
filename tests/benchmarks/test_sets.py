"""The sets that are shipped for `yesno bench`."""

import json
from pathlib import Path

import pytest

from benchmarks.sets.__main__ import DATA, SETS
from yesno.labelled import kind_of, load_set

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
SHIPPED = sorted({*(ROOT / "benchmarks" / "quality" / "data").glob("*.jsonl"), *DATA.glob("*.jsonl")})


@pytest.mark.parametrize("name", SETS)
def test_a_set_holds_what_its_layer_asks_today(name):
    rows = [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows == json.loads(json.dumps([*SETS[name]()])), "run python -m benchmarks.sets"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_set_is_read_and_has_more_than_one_label_held_out(path):
    items = load_set(path, split="heldout").items
    assert len({item.label for item in items}) > 1


def test_what_people_disagree_about_has_their_shares():
    items = load_set(ROOT / "benchmarks" / "quality" / "data" / "sentiment.jsonl").items
    assert all(item.shares is not None for item in items)
    assert {kind_of(item.question) for item in items} == {"scale"}


def test_the_slice_of_make_test_takes_every_kind_of_set():
    named = [path for path in SHIPPED if path.relative_to(ROOT).as_posix() in MAKEFILE]
    kinds = [kind_of(load_set(path).items[0].question) for path in named]
    assert (kinds.count("yes_no") >= 5, kinds.count("choice"), kinds.count("scale")) == (True, 2, 2)
