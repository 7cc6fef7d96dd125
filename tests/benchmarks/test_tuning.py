"""The sets that tuning is measured on, and the table that comes of it."""

import pytest

from benchmarks.tuning.__main__ import main
from benchmarks.tuning.sets import QUESTIONS, loaded
from tests.tuner.build import scripted
from yesno.tuner.plan import planned


@pytest.mark.parametrize("name", QUESTIONS)
def test_each_set_can_be_searched(name):
    items = loaded(name).items
    assert len(items) == (181 if name == "injection" else 300)
    assert planned(items).size is not None


def test_a_set_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SystemExit, match="no set 'nope'"):
        main(["--sets", "nope", "--cache", str(tmp_path / "c.db"), "--out", str(tmp_path)])


def test_a_run_leaves_a_table_and_a_folder_for_each_set(tmp_path, monkeypatch, capsys):
    fake = scripted(lambda prompt: 1.0)
    fake._script = lambda prompt: {"A": 0.5, "Yes": 0.2, "No": 0.1, "True": 0.05, "B": 0.05, "False": 0.05}
    monkeypatch.setattr("yesno.engine.core.load_provider", lambda spec, **options: fake)
    words = [
        "--sets",
        "injection",
        "--calls",
        "400",
        "--cache",
        str(tmp_path / "c.db"),
        "--out",
        str(tmp_path),
    ]
    assert main(words) == 0
    table = (tmp_path / "report.md").read_text()
    assert "| injection |" in table
    assert table in capsys.readouterr().out
    assert (tmp_path / "injection" / "report.md").is_file()
    assert len(fake.requests) <= 400
