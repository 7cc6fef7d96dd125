"""JSON is read strictly, and what is wrong is named."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yesno._json import JSONFault, strict_json

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


def test_nothing_but_a_name_is_quoted():
    with pytest.raises(JSONFault) as caught:
        strict_json('{"key": "secret", "key": "secret"}')
    assert "secret" not in str(caught.value)
