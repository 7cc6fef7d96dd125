import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yesno.errors import RequestProblem
from yesno.serve.chats import count_left, read_chat, sent_on, tools_of_request, turn_key, turn_of

USER = {"role": "user", "content": "Where is my order?"}
CALL = {
    "role": "assistant",
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "on its way"}


def function(name):
    return {"type": "function", "function": {"name": name, "description": f"does {name}"}}


FIND, SEND, PAY = function("find"), function("send"), function("pay")


def chat(**fields):
    return read_chat({"model": "auto", "messages": [USER], **fields})


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ([], ()),
        ("x", ()),
        ({}, ("model",)),
        ({"model": "", "messages": [USER]}, ("model",)),
        ({"model": 3, "messages": [USER]}, ("model",)),
        ({"model": "auto"}, ("messages",)),
        ({"model": "auto", "messages": []}, ("messages",)),
        ({"model": "auto", "messages": "hi"}, ("messages",)),
        ({"model": "auto", "messages": [USER], "stream": "yes"}, ("stream",)),
    ],
    ids=["list", "text", "empty", "blank_model", "number", "no_messages", "none", "text_messages", "stream"],
)
def test_a_body_that_is_no_request_is_refused_at_its_place(body, where):
    with pytest.raises(RequestProblem) as info:
        read_chat(body)
    assert (info.value.status, info.value.where) == (400, where)


def test_what_is_sent_on_differs_in_the_model_alone():
    body = {
        "model": "auto",
        "messages": [USER],
        "temperature": 0.2,
        "seed": 12345678901234567890,
        "unknown_field": {"ä": [None, True]},
        "tools": [FIND],
    }
    assert json.loads(sent_on(read_chat(body), "tiny")) == {**body, "model": "tiny"}


def test_a_turn_ends_with_the_newest_message_of_the_user():
    assert turn_of([USER, CALL, RESULT]) == [USER]
    assert turn_of([USER, CALL, RESULT, USER]) == [USER, CALL, RESULT, USER]
    assert turn_of([CALL]) == [CALL]
    assert turn_of(["odd", USER, 3]) == ["odd", USER]


def test_equal_turns_have_equal_keys_whatever_the_order_of_names():
    assert turn_key([{"a": 1, "b": 2}]) == turn_key([{"b": 2, "a": 1}])
    assert turn_key([USER], ["a"]) != turn_key([USER], ["b"])


def names_sent(kept, **fields):
    request = chat(**fields)
    tools = tools_of_request(request)
    sent = json.loads(sent_on(request, "tiny", tools, kept))
    left = sent.get("tools", [])
    assert count_left(tools, kept) == len(left)
    return [tool.get("function", tool.get("custom", tool)).get("name") for tool in left], sent


def test_the_tools_that_help_are_sent_in_their_order():
    assert names_sent({"pay", "find"}, tools=[FIND, SEND, PAY])[0] == ["find", "pay"]


def test_without_a_tool_the_choice_among_them_is_left_out_too():
    names, sent = names_sent(set(), tools=[FIND], tool_choice="auto", parallel_tool_calls=True)
    assert names == []
    assert set(sent) == {"model", "messages"}


def test_where_a_tool_must_be_called_all_stay_when_none_helps():
    assert names_sent(set(), tools=[FIND, SEND], tool_choice="required")[0] == ["find", "send"]
    assert names_sent({"send"}, tools=[FIND, SEND], tool_choice="required")[0] == ["send"]


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "function", "function": {"name": "send"}},
        {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [SEND]}},
    ],
    ids=["one", "allowed"],
)
def test_a_tool_that_the_request_chooses_stays(choice):
    assert names_sent(set(), tools=[FIND, SEND], tool_choice=choice)[0] == ["send"]


def test_a_tool_that_the_conversation_calls_stays():
    assert names_sent(set(), tools=[FIND, SEND], messages=[USER, CALL, RESULT])[0] == ["find"]


def test_what_the_upstream_brings_itself_is_not_judged():
    hosted = {"type": "web_search"}
    custom = {"type": "custom", "custom": {"name": "code"}}
    assert names_sent(set(), tools=[hosted, FIND, custom])[1]["tools"] == [hosted]
    assert tools_of_request(chat(tools=[hosted])) is None


@pytest.mark.parametrize(
    "fields",
    [{}, {"tools": []}, {"tools": None}, {"tools": "x"}, {"tools": [FIND], "tool_choice": "none"}, {"tools": [3, {}]}],
    ids=["none", "empty", "null", "text", "choice_none", "odd"],
)  # fmt: skip
def test_where_there_is_nothing_to_choose_nothing_is_asked(fields):
    assert tools_of_request(chat(**fields)) is None


@pytest.mark.parametrize(
    ("fields", "most"),
    [
        ({}, None),
        ({"max_tokens": 10}, 10),
        ({"max_completion_tokens": 20, "max_tokens": 10}, 20),
        ({"max_tokens": 10, "n": 3}, 30),
        ({"max_tokens": True, "n": 3}, None),
        ({"max_tokens": -1}, None),
    ],
    ids=["none", "one", "greater", "several", "bool", "negative"],
)
def test_the_most_that_may_be_written_counts_all_choices(fields, most):
    assert chat(**fields).output_tokens == most


def test_a_request_shows_no_content():
    request = chat(tools=[FIND])
    assert "order" not in repr(request)
    assert "find" not in repr(tools_of_request(request))


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["a", "b", "c"])
ODD = st.sampled_from(
    [{"type": "web_search"}, {"type": "function"}, {"type": "custom", "custom": {"name": "d"}}, {}, 3]
)


@given(
    st.dictionaries(TEXT.filter(lambda name: name not in ("model", "messages", "stream")), JSON, max_size=4)
)
def test_fields_that_nobody_here_knows_pass_as_they_are(fields):
    body = {**fields, "model": "auto", "messages": [USER]}
    request = read_chat(body)
    assert json.loads(sent_on(request, "tiny", None)) == {**body, "model": "tiny"}


@given(
    st.lists(NAMES.map(function) | ODD, max_size=6),
    st.sets(NAMES),
    st.sampled_from([None, "auto", "required"]),
)
def test_a_filter_only_ever_takes_tools_away_and_never_what_it_did_not_judge(offered, kept, choice):
    request = chat(tools=offered, tool_choice=choice)
    tools = tools_of_request(request)
    if tools is None:
        return
    sent = json.loads(sent_on(request, "tiny", tools, kept)).get("tools", [])
    assert count_left(tools, kept) == len(sent)
    assert [tool for tool in offered if tool in sent] == sent
    unjudged = [tool for tool in offered if tool not in tools.judged]
    assert [tool for tool in sent if tool in unjudged] == unjudged
    assert choice != "required" or sent


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens", "n"])
def test_a_number_that_no_price_can_be_computed_for_is_refused(name):
    with pytest.raises(RequestProblem, match=name):
        chat(**{name: 10**400})
    assert chat(**{name: 2**31 - 1}).body[name] == 2**31 - 1
