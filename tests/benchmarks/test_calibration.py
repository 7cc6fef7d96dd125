"""Halves are of whole groups, and a table says what the fitted half did for the other."""

import re

from benchmarks.calibration.__main__ import halves, main
from tests.bench.test_fitting import rows
from tests.calibration.calibrators.support import yes_no
from yesno import FakeProvider, YesNo
from yesno._rows import Row as Line
from yesno.bench.running import run
from yesno.labelled import set_of


def test_groups_are_never_torn():
    from dataclasses import replace

    many = [replace(row, group=f"g{i % 20}") for i, row in enumerate(rows(120))]
    first, second = halves(many, seed=1)
    assert {row.group for row in first} & {row.group for row in second} == set()
    assert (len({row.group for row in first}), len(first) + len(second)) == (10, 120)
    assert halves(many, seed=2)[0] != first


def says(prompt):
    p = float(re.search(r"text ([0-9.]+)", prompt)[1])
    return {"Yes": p, "No": 1 - p}


def boasting(count, folder):
    """Make a run of a model that is surer than it is right, and return its folder."""
    pairs = enumerate(zip(*yes_no(count, lambda z: z / 4), strict=True))
    lines = [
        Line(i + 1, {"id": f"i{i}", "input": f"text {p:.4f}", "label": label}) for i, (p, label) in pairs
    ]
    spam = set_of(lines, "spam", question=YesNo("Is it?"))
    run([spam], models={"m": FakeProvider(says)}, out=folder)
    return folder


def test_the_table_shows_a_gain_on_rows_that_were_not_fitted_to(tmp_path, capsys):
    main([str(boasting(400, tmp_path / "run"))])
    (line,) = capsys.readouterr().out.splitlines()[2:]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[:4] == ["spam", "fake:fake", "200", "200"]
    assert re.fullmatch(r"-0\.\d+ \(-0\.\d+ to -0\.\d+\)", cells[5])
    assert re.fullmatch(r"\d\d% → \d\d%", cells[8])
    assert cells[9] in ("platt", "temperature")


def test_many_splits_are_counted(tmp_path, capsys):
    main([str(boasting(200, tmp_path / "run")), "--splits", "3"])
    (line,) = capsys.readouterr().out.splitlines()[2:]
    _, _, splits, lower, higher, neither, change, within = (
        cell.strip() for cell in line.strip("|").split("|")
    )
    assert (splits, higher) == ("3", "0")
    assert int(lower) + int(neither) == 3
    assert float(change) < 0
    assert 0 <= int(within) <= 3


def test_a_half_that_is_too_small_says_so(tmp_path, capsys):
    lines = [Line(i + 1, {"id": f"i{i}", "input": "text 0.6", "label": i % 2 == 0}) for i in range(20)]
    run(
        [set_of(lines, "spam", question=YesNo("Is it?"))],
        models={"m": FakeProvider(says)},
        out=tmp_path / "run",
    )
    main([str(tmp_path / "run")])
    assert "none: 10 labels are too few" in capsys.readouterr().out
