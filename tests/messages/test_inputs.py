import enum
import pickle

import pytest

from yesno._frozen import FrozenDict, FrozenList
from yesno.errors import QuestionError
from yesno.messages import Message, TextPart, ToolCall, freeze_input

CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}


def test_messages_in_openais_shape_become_messages():
    given = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Find"}, {"type": "text", "text": "it"}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "content": "3 hits", "tool_call_id": "c1", "name": "search"},
    ]
    assert freeze_input(given) == (
        Message("system", "Be brief."),
        Message("user", ["Find", "it"]),
        Message("assistant", tool_calls=[ToolCall("search", '{"q": "x"}', "c1")]),
        Message("tool", "3 hits", tool_call_id="c1", name="search"),
    )


def test_messages_pass_as_they_are_and_mix_with_mappings():
    mine = Message("user", "hello", name="ann")
    assert freeze_input((mine, {"role": "assistant", "content": "hi"})) == (mine, Message("assistant", "hi"))


def test_the_text_of_a_message_is_its_parts_on_lines():
    assert (
        Message("user", [TextPart("one"), {"type": "input_text", "text": "two"}, "three"]).text
        == "one\ntwo\nthree"
    )
    assert Message("assistant").text == ""


@pytest.mark.parametrize(
    ("part", "named"),
    [
        ({"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}, "'image_url'"),
        ({"type": "input_audio"}, "'input_audio'"),
        ({"text": "untyped"}, "None"),
        (b"bytes", "'bytes'"),
        (5, "'int'"),
    ],
)
def test_a_part_that_is_no_text_is_refused_by_its_type(part, named):
    with pytest.raises(QuestionError, match=named) as caught:
        Message("user", ["fine", part])
    assert "https" not in str(caught.value)


@pytest.mark.parametrize("content", [5, {"type": "text", "text": "one part, no list"}])
def test_content_that_is_neither_text_nor_list_is_refused(content):
    with pytest.raises(QuestionError, match=type(content).__name__):
        Message("user", content)


def test_an_unknown_role_is_refused_with_the_known_ones():
    with pytest.raises(QuestionError, match=r"'bot'.*system, developer, user, assistant, tool"):
        freeze_input([{"role": "bot", "content": "x"}])


def test_arguments_given_as_a_mapping_become_json():
    call = {"function": {"name": "search", "arguments": {"q": "größe"}}}
    assert Message("assistant", tool_calls=[call]).tool_calls == (ToolCall("search", '{"q": "größe"}'),)
    flat = {"name": "ping", "id": "7"}
    assert Message("assistant", tool_calls=[flat]).tool_calls == (ToolCall("ping", "{}", "7"),)


@pytest.mark.parametrize("call", ["search", {}, {"function": {"arguments": "{}"}}, {"function": "search"}])
def test_a_tool_call_without_a_name_is_refused(call):
    with pytest.raises(QuestionError, match="tool call"):
        Message("assistant", tool_calls=[call])


@pytest.mark.parametrize("given", ["", " \n", {}, [], (), None, 5, {1, 2}, object()])
def test_what_is_no_input_is_refused(given):
    with pytest.raises(QuestionError, match="input"):
        freeze_input(given)


def test_a_list_of_plain_values_is_refused_with_the_item():
    with pytest.raises(QuestionError, match=r"item 2 .* str without a role"):
        freeze_input([{"role": "user", "content": "x"}, "plain"])


class Level(enum.IntEnum):
    LOW = 1


class Word(enum.StrEnum):
    LOW = "low"


@pytest.mark.parametrize(
    ("value", "path", "named"),
    [
        (object(), "input.a", "object"),
        (Level.LOW, "input.a", "Level"),
        (Word.LOW, "input.a", "Word"),
        ({"b": [1, b"x"]}, r"input\.a\.b\[1\]", "bytes"),
        ([{"c": 1j}], r"input\.a\[0\]\.c", "complex"),
        (float("nan"), "input.a", "nan"),
        ([float("inf")], r"input\.a\[0\]", "inf"),
    ],
)
def test_a_value_of_another_type_is_refused_with_its_place_and_type(value, path, named):
    with pytest.raises(QuestionError, match=rf"`{path}`.*{named}"):
        freeze_input({"a": value})


def test_the_copy_is_deep_and_equals_what_was_given():
    given = {"a": [1, {"b": None}], 2: (True, 1.5)}
    frozen = freeze_input(given)
    assert frozen == {"a": [1, {"b": None}], "2": [True, 1.5]}
    given["a"][1]["b"] = "changed"
    assert frozen["a"][1]["b"] is None
    assert list(frozen) == ["a", "2"]
    assert isinstance(frozen["a"], FrozenList)
    assert hash(frozen) == hash(freeze_input({"a": [1, {"b": None}], "2": [True, 1.5]}))


def test_freezing_twice_changes_nothing():
    for given in ("text", {"a": [1]}, [Message("user", "x")]):
        once = freeze_input(given)
        assert freeze_input(once) == once


def test_frozen_containers_refuse_changes_and_pickle():
    frozen = freeze_input({"a": [1, 2]})
    with pytest.raises(TypeError):
        frozen["b"] = 1
    with pytest.raises(TypeError):
        frozen["a"][0] = 1
    for value in (frozen, (Message("user", "x", name="n"),)):
        assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own bytes


def test_a_frozen_mapping_compares_like_a_mapping():
    assert FrozenDict({"a": 1}) == {"a": 1} == FrozenDict([("a", 1)])
    assert FrozenDict({"a": 1}) != {"a": 2}
    assert FrozenDict({"a": 1}) != [("a", 1)]
    assert repr(FrozenDict({"a": 1})) == "{'a': 1}"
    assert FrozenList([1]) == [1]
    assert FrozenList([1]) != [2]
    assert FrozenList([1]) == (1,)


def test_a_set_is_frozen_in_the_same_order_everywhere():
    assert list(freeze_input({"tags": {"b", "a", "c"}})["tags"]) == ["a", "b", "c"]
