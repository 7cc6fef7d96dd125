import tomllib

from hypothesis import given
from hypothesis import strategies as st

from yesno.serve.toml_lines import lines_of, nearest_line

TEXT = '''\
title = "x"  # a comment with [brackets]
# another

[server]
port = 1
note = """
[not.a.table]
port = 2
"""
many = [
  1,  # ]
  2,
]
a.b = 3

[[key]]
name = "one"
[key.deep]
x = 1

[[key]]
name = "two"
[key.deep]
x = 2
["with space".'and.dot']
y = 1
'''


def test_every_key_is_found_on_its_own_line():
    assert lines_of(TEXT) == {
        ("title",): 1,
        ("server",): 4,
        ("server", "port"): 5,
        ("server", "note"): 6,
        ("server", "many"): 10,
        ("server", "a"): 14,
        ("server", "a", "b"): 14,
        ("key",): 16,
        ("key", 0): 16,
        ("key", 0, "name"): 17,
        ("key", 0, "deep"): 18,
        ("key", 0, "deep", "x"): 19,
        ("key", 1): 21,
        ("key", 1, "name"): 22,
        ("key", 1, "deep"): 23,
        ("key", 1, "deep", "x"): 24,
        ("with space",): 25,
        ("with space", "and.dot"): 25,
        ("with space", "and.dot", "y"): 26,
    }


def test_lines_end_in_either_way():
    assert lines_of(TEXT.replace("\n", "\r\n")) == lines_of(TEXT)


def test_the_fields_of_an_inline_table_are_on_its_line():
    assert lines_of("\nprice = { input = 1, more = { x = 2 } }") == {
        ("price",): 2,
        ("price", "input"): 2,
        ("price", "more"): 2,
        ("price", "more", "x"): 2,
    }


def test_what_is_missing_is_told_by_what_holds_it():
    lines = lines_of(TEXT)
    assert nearest_line(lines, ("server", "port", "deeper")) == 5
    assert nearest_line(lines, ("server", "host")) == 4
    assert nearest_line(lines, ("server", "many", 1)) == 10
    assert nearest_line(lines, ("models", "x")) is None


def places(value, before=()):
    if isinstance(value, dict):
        for name, inside in value.items():
            yield (*before, name)
            yield from places(inside, (*before, name))


KEYS = st.text(alphabet="ab \"'#[]=.\\", max_size=4)
TABLES = st.dictionaries(KEYS, st.dictionaries(KEYS, st.integers(), max_size=3), max_size=4)


def quoted(name):
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@given(TABLES)
def test_any_names_are_found(tables):
    text = "".join(
        f"[{quoted(name)}]\n" + "".join(f"{quoted(key)} = {value}\n" for key, value in table.items())
        for name, table in tables.items()
    )
    assert tomllib.loads(text) == tables
    found = lines_of(text)
    assert set(found) == set(places(tables))
    assert sorted(found.values()) == list(range(1, len(found) + 1))
