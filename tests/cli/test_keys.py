import json
import re

import pytest

from yesno.serve.keys import read_keys


@pytest.fixture(autouse=True)
def _there(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def test_a_key_is_printed_once_and_alone(run, tmp_path):
    code, out, err = run("keys", "add", "alice")
    assert code == 0
    assert re.fullmatch(r"yesno-[\w-]{43}\n", out)
    assert "the only time it is shown; keys.txt holds its hash" in err
    assert read_keys(tmp_path / "keys.txt").holder(out.strip()) == "alice"


def test_keys_are_listed_by_name_and_day_and_nothing_else(run):
    key = run("keys", "add", "alice")[1].strip()
    run("keys", "add", "bob2")
    code, out, err = run("keys", "list")
    assert (code, err) == (0, "")
    assert re.fullmatch(r"alice  \d{4}-\d\d-\d\d\nbob2   \d{4}-\d\d-\d\d\n", out)
    listed = json.loads(run("keys", "list", "--json")[1])
    assert [set(entry) for entry in listed] == [{"name", "made"}] * 2
    assert key not in out


def test_a_revoked_key_is_gone(run, tmp_path):
    run("keys", "add", "alice", "-f", "own.txt")
    code, out, err = run("keys", "revoke", "alice", "-f", "own.txt")
    assert (code, out) == (0, "")
    assert "alice is revoked in own.txt" in err
    assert read_keys(tmp_path / "own.txt").keys == ()
    assert "own.txt holds no key" in run("keys", "list", "-f", "own.txt")[2]


def test_machines_get_the_key_as_json(run):
    code, out, err = run("keys", "add", "alice", "--json")
    assert (code, err) == (0, "")
    assert set(json.loads(out)) == {"name", "key", "file"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "a b"), "'a b' cannot be the name of a key"),
        (("revoke", "bob"), "the file of keys 'keys.txt' cannot be read: No such file or directory"),
        (("list", "-f", "."), "the file of keys '.' cannot be read: Is a directory"),
    ],
    ids=["name", "missing", "folder"],
)
def test_what_cannot_be_is_one_sentence_and_exit_code_2(run, words, said):
    code, out, err = run("keys", *words)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1
