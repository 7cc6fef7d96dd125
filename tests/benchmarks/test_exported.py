"""What the quality benchmark measured becomes runs of `yesno bench`."""

import json

import pytest

from benchmarks.quality.exported import exported
from benchmarks.quality.items import DATA, load
from yesno.bench.importing import import_rows
from yesno.labelled import load_set

ROW = {
    "set": "sms_spam",
    "reader": "naive",
    "at": "2026-11-30T06:06:05+00:00",
    "seconds": 1.25,
    "requests": 1,
}


def test_exported_rows_are_imported_with_the_labels_of_their_set(tmp_path):
    first, second = load("sms_spam", "heldout", 2)
    rows = [
        {**ROW, "id": first.id, "shares": [0.75, 0.25], "mass": 0.9},
        {**ROW, "id": second.id, "shares": None, "mass": None},
    ]
    file = tmp_path / "sms_spam.jsonl"
    file.write_text("".join(json.dumps(exported(row, "local")) + "\n" for row in rows), encoding="utf-8")
    done = import_rows(file, out=tmp_path / "run", labelled=load_set(DATA / "sms_spam.jsonl")).rows
    assert [(row.model, row.outcome, row.latency_s) for row in done] == [
        ("local, naive", "answer", 1.25),
        ("local, naive", "undecided", 1.25),
    ]
    assert done[0].probabilities == pytest.approx((0.75, 0.25))
    assert (done[0].label, done[1].label) == (first.label, second.label)
