import re
import stat
from datetime import date

import pytest

from yesno.errors import ConfigError
from yesno.serve.keys import add_key, read_keys, revoke_key

TODAY = date(2026, 11, 30)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "keys.txt"


def test_a_key_that_was_made_is_known_by_its_name(path):
    one, two = add_key(path, "alice", TODAY), add_key(path, "bob", TODAY)
    ring = read_keys(path)
    assert (ring.holder(one), ring.holder(two)) == ("alice", "bob")
    assert one != two
    assert re.fullmatch(r"yesno-[\w-]{43}", one)


@pytest.mark.parametrize("form", ["{upper}", "{key}x", " {key}", "", "ä\udcff"])
def test_nothing_else_is_a_key(path, form):
    key = add_key(path, "alice", TODAY)
    assert read_keys(path).holder(form.format(key=key, upper=key.upper())) is None
    assert read_keys(path).holder(key[:-1]) is None


def test_the_file_holds_no_key_and_is_for_its_owner(path):
    key = add_key(path, "alice", TODAY)
    text = path.read_text()
    assert key not in text
    assert key.removeprefix("yesno-") not in text
    assert re.search(r"^alice sha256:[0-9a-f]{64} 2026-11-30$", text, re.MULTILINE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_rights_that_a_file_has_are_kept(path):
    add_key(path, "alice", TODAY)
    path.chmod(0o640)
    add_key(path, "bob", TODAY)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_revoked_key_is_none_and_the_rest_of_the_file_stays(path):
    gone, kept = add_key(path, "alice", TODAY), add_key(path, "alice2", TODAY)
    path.write_text(path.read_text() + "# by hand\n")
    revoke_key(path, "alice")
    ring = read_keys(path)
    assert (ring.holder(gone), ring.holder(kept)) == (None, "alice2")
    assert path.read_text().endswith("# by hand\n")
    assert path.read_text().startswith("# API keys")


def test_a_line_without_an_end_is_not_joined_with_the_next_key(path):
    add_key(path, "alice", TODAY)
    path.write_text(path.read_text().rstrip("\n"))
    add_key(path, "bob", TODAY)
    assert [key.name for key in read_keys(path).keys] == ["alice", "bob"]


def test_a_key_shows_no_digest(path):
    add_key(path, "alice", TODAY)
    assert "digest" not in repr(read_keys(path))


@pytest.mark.parametrize("name", ["", " ", "a b", "-a", "a" * 65, "ä", "a/b", "a\n"])
def test_a_name_that_cannot_stand_in_the_file_is_refused(path, name):
    with pytest.raises(ConfigError, match="cannot be the name of a key"):
        add_key(path, name, TODAY)
    assert not path.exists()


def test_a_name_is_taken_once(path):
    add_key(path, "alice", TODAY)
    before = path.read_text()
    with pytest.raises(ConfigError, match="'alice' already; revoke it first"):
        add_key(path, "alice", TODAY)
    assert path.read_text() == before


def test_an_unknown_key_cannot_be_revoked(path):
    add_key(path, "alice", TODAY)
    with pytest.raises(ConfigError, match="no key named 'bob'; there are alice"):
        revoke_key(path, "bob")


HASH = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("alice", r"line 1: this is not `NAME sha256:… DAY`"),
        (f"\n# x\nalice {HASH[:-1]} 2026-11-30", "line 3: this is not"),
        (f"alice {HASH} 2026-13-30", "line 1: '2026-13-30' is no day"),
        (
            f"alice {HASH} 2026-11-30\nalice sha256:{'1' * 64} 2026-11-30",
            "line 2: 'alice' and an earlier key",
        ),
        (f"alice {HASH} 2026-11-30\nbob {HASH} 2026-11-30", "line 2: 'bob' and an earlier key"),
        ("alice yesno-abcdef 2026-11-30", "a key itself does not belong here"),
    ],
)
def test_a_broken_line_is_named_and_not_shown(path, text, said):
    path.write_text(text)
    with pytest.raises(ConfigError, match=said) as info:
        read_keys(path)
    assert "yesno-abcdef" not in str(info.value)


def test_a_file_that_is_not_there_is_named_with_the_way_to_make_it(path):
    with pytest.raises(ConfigError, match="No such file or directory; `yesno keys add NAME --file"):
        read_keys(path)


def test_a_file_that_cannot_be_written_stays_as_it_was(path, monkeypatch):
    add_key(path, "alice", TODAY)
    before = path.read_text()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ConfigError, match="cannot be written: No space left on device"):
        add_key(path, "bob", TODAY)
    assert path.read_text() == before
    assert [file.name for file in path.parent.iterdir()] == ["keys.txt"]
