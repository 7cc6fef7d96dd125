"""The result is there as a whole or not at all."""

from pathlib import Path

import pytest

from yesno.errors import ConfigError
from yesno.tuner.folders import check_place, put_folder


def test_files_are_put_in_place_together(tmp_path):
    put_folder({"a.j2": "one", "b.json": "two"}, tmp_path / "deep" / "out")
    assert {path.name: path.read_text() for path in (tmp_path / "deep" / "out").iterdir()} == {
        "a.j2": "one",
        "b.json": "two",
    }
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]


def test_an_earlier_result_is_replaced_whole(tmp_path):
    put_folder({"old": "1"}, tmp_path / "out")
    put_folder({"new": "2"}, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["new"]


def test_what_cannot_be_written_leaves_everything_as_it_was(tmp_path):
    put_folder({"old": "1"}, tmp_path / "out")
    with pytest.raises(ConfigError, match="cannot be written"):
        put_folder({"good": "2", "no/such/place": "3"}, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["old"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_place_that_is_taken_is_refused_before_anything_is_spent(tmp_path):
    check_place(tmp_path / "new", overwrite=False)
    (tmp_path / "mine").mkdir()
    check_place(tmp_path / "mine", overwrite=False)
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(ConfigError, match="there is something in"):
        check_place(tmp_path / "mine", overwrite=False)
    with pytest.raises(ConfigError, match="holds no result of `yesno tune`"):
        check_place(tmp_path / "mine", overwrite=True)
    (tmp_path / "mine" / "report.json").write_text("{}")
    check_place(tmp_path / "mine", overwrite=True)
    with pytest.raises(ConfigError, match="is a file"):
        check_place(tmp_path / "mine" / "report.json", overwrite=True)


def test_an_earlier_result_is_there_still_when_the_new_one_cannot_be_put_there(tmp_path, monkeypatch):
    put_folder({"a": "old"}, tmp_path / "out")
    rename = Path.rename

    def failing(self, target):
        if self.name == "new":
            raise OSError("no")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(ConfigError, match="cannot be written"):
        put_folder({"a": "new"}, tmp_path / "out")
    assert (tmp_path / "out" / "a").read_text() == "old"
