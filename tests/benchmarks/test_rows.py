"""Rows are kept as they come, and a run that was cut off goes on."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.rows import date_of, keep, kept

KEY = ("set", "id", "way")


def row(number):
    return {"set": "s", "id": f"i{number}", "way": "w", "value": number, "at": f"2026-11-0{number}T10:00:00"}


def test_no_file_and_no_path_hold_no_rows(tmp_path):
    assert kept(None, KEY) == kept(tmp_path / "rows.jsonl", KEY) == {}
    keep(None, row(1))


@given(texts=st.lists(st.text(), max_size=4))
def test_rows_of_any_text_come_back(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    for number, text in enumerate(texts):
        keep(path, {"set": text, "id": number, "way": "w"})
    assert list(kept(path, KEY)) == [(text, number, "w") for number, text in enumerate(texts)]


@pytest.mark.parametrize("torn", ['{"set": "s", "id": "i2", ', '{"set": "ü'])
def test_a_torn_last_row_is_cut_off_and_the_next_one_stands_alone(tmp_path, torn):
    path = tmp_path / "rows.jsonl"
    keep(path, row(1))
    with path.open("ab") as file:
        file.write(torn.encode()[:-1])
    assert list(kept(path, KEY)) == [("s", "i1", "w")]
    keep(path, row(3))
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == ["i1", "i3"]
    assert list(kept(path, KEY)) == [("s", "i1", "w"), ("s", "i3", "w")]


def test_a_report_is_dated_by_its_newest_row():
    assert date_of({("s", f"i{n}", "w"): row(n) for n in (2, 3, 1)}) == "2026-11-03"
    assert date_of({}) == "no rows"
