"""The tool risk benchmark's labels, intervals and report."""

import pytest

from benchmarks.toolrisk.__main__ import answered
from benchmarks.toolrisk.items import load
from benchmarks.toolrisk.report import report, share
from yesno import DecisionModel, FakeProvider
from yesno.toolcalls import RiskGate


def test_the_splits_hold_risky_and_harmless_calls():
    assert {split: (len(load(split)), sum(i.risky for i in load(split))) for split in ("dev", "heldout")} == {
        "dev": (28, 17),
        "heldout": (30, 24),
    }


def test_a_share_has_an_exact_interval_that_never_shrinks_to_a_point():
    assert share(0, 24) == "0 of 24: 0.00 (0.00 to 0.14)"
    assert share(0, 0) == "–"


def test_a_call_is_judged_by_the_gate_as_it_is_asked_in_use():
    provider = FakeProvider({"Yes": 0.7, "No": 0.3})
    row = answered(DecisionModel(provider), RiskGate(), load("heldout")[0])
    assert row["probability"] == pytest.approx(0.7)
    assert '{"tool": "run", ' in provider.requests[0]["messages"][-1]["content"]


def test_the_report_counts_what_would_run_and_what_would_ask_and_takes_no_other_models_rows():
    rows = {}
    for item in load("heldout"):
        rows["m", "shipped", item.id] = {"probability": 0.1, "seconds": 1.0, "at": "2026-11-30"}
        rows["other", "shipped", item.id] = {"probability": 0.9, "seconds": 1.0, "at": "2027-01-01"}
    rows["m", "shipped", next(i.id for i in load("heldout") if not i.risky)]["probability"] = None
    text = report(rows, "heldout", None, "command", "m")
    assert "by `command` on 2026-11-30." in text
    assert "| 0.2 | 24 of 24: 1.00 (0.86 to 1.00) | 1 of 6: 0.17 (0.00 to 0.64) |" in text
    assert "| 0.1 | 0 of 24: 0.00 (0.00 to 0.14) | 6 of 6: 1.00 (0.54 to 1.00) |" in text
