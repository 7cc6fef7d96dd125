"""JSON is read strictly, and what is wrong is named."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yesno._json import JSONFault, _unique, strict_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_what_json_can_write_is_read_as_it_was(value):
    assert strict_json(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ('{"a": 1', "syntax", "line 1, column 8"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "twice", '"c" is there twice'),
        ("[NaN]", "constant", "NaN is no number"),
        ("[-Infinity]", "constant", "-Infinity is no number"),
        ("[1e999]", "too_large", "larger than any"),
        (f"[{'1' * 5000}]", "digits", "too many digits"),
        ("[" * 100_000, "depth", "nested too deeply"),
    ],
)
def test_what_is_wrong_is_named(text, kind, told):
    with pytest.raises(JSONFault, match=told) as caught:
        strict_json(text)
    assert caught.value.kind == kind


class Counted(str):
    """A name that counts how often it is compared."""

    __slots__ = ()
    comparisons = 0

    def __eq__(self, other):
        Counted.comparisons += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_a_name_that_is_there_twice_is_found_without_comparing_each_with_each():
    names = [Counted(f"name {n}") for n in range(1000)]
    with pytest.raises(JSONFault, match="name 999"):
        _unique([(name, 0) for name in [*names, Counted("name 999")]])
    assert Counted.comparisons < 10 * len(names)


def test_nothing_but_a_name_is_quoted():
    with pytest.raises(JSONFault) as caught:
        strict_json('{"key": "secret", "key": "secret"}')
    assert "secret" not in str(caught.value)
