"""Inputs that nobody would write: never a crash, and nothing unsigned is accepted."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.toolcalls.fuzzing import (
    SHAPES,
    STREAMS,
    Paused,
    check_arguments,
    check_reply,
    check_stream,
    mangled_text,
    mangled_values,
)

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def paused():
    return Paused()


@given(st.text() | st.binary().map(lambda data: data.decode("utf-8", "surrogateescape")))
def test_no_text_breaks_the_reader(text):
    check_arguments(text)


@given(st.randoms(use_true_random=False))
def test_no_broken_json_breaks_the_reader(rng):
    check_arguments(mangled_text(rng))


@given(st.dictionaries(st.text(), PLAIN, max_size=4))
def test_what_json_writes_is_read_back(value):
    text = json.dumps(value)
    assert check_arguments(text) == _is_whole(value)


def _is_whole(value):
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


@given(PLAIN)
def test_no_value_is_a_reply_that_crashes(value):
    check_reply(value)


@given(st.randoms(use_true_random=False), st.sampled_from(SHAPES))
def test_no_mangled_reply_crashes_or_loses_a_call(rng, reply):
    check_reply(mangled_values(rng, reply))


@given(st.randoms(use_true_random=False), st.sampled_from(STREAMS))
def test_no_mangled_stream_crashes(rng, chunks):
    check_stream(mangled_values(rng, chunks))


@pytest.mark.parametrize("chunks", STREAMS, ids=["chat", "anthropic", "responses", "plain"])
def test_the_streams_themselves_are_read(chunks):
    assert check_stream(chunks)


@given(st.randoms(use_true_random=False))
def test_no_mangled_answer_allows_anything(paused, rng):
    paused.check_answers(mangled_values(rng, paused.answers))


def test_the_answers_themselves_are_read(paused):
    assert paused.check_answers(paused.answers)


@given(st.randoms(use_true_random=False))
def test_no_mangled_record_is_accepted(paused, rng):
    paused.check(mangled_values(rng, paused.values))


@given(st.integers(min_value=0), st.sampled_from(list('{}[]",:0a ')))
def test_no_record_with_another_character_is_accepted(paused, place, letter):
    place %= len(paused.text)
    paused.check(paused.text[:place] + letter + paused.text[place + 1 :])


def test_the_record_itself_passes_the_signature(paused):
    assert paused.check(paused.text)
    assert paused.check(paused.values)
