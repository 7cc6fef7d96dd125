import pickle
import unicodedata
from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from yesno.errors import ConfigError
from yesno.messages import (
    Attachment,
    Message,
    TextPart,
    ToolCall,
    Window,
    as_input,
    freeze_input,
    last_user_message,
    with_user_text,
)
from yesno.messages.shorten import shortened


def user(text):
    return Message("user", text)


def bot(text="", *calls):
    return Message("assistant", text, tool_calls=[ToolCall(f"t{n}", "{}", n) for n in calls])


def result(number, text="done"):
    return Message("tool", text, tool_call_id=number, name=f"t{number}")


SYSTEM = Message("system", "Be brief.")
CHAT = [SYSTEM, user("1"), bot("2"), user("3"), bot("4"), user("5")]


def texts(messages):
    return [message.text for message in messages]


def test_the_last_messages_stay_and_system_messages_come_in_addition_at_their_places():
    late = Message("developer", "Be kind.")
    assert texts(Window(2).cut([*CHAT[:4], late, *CHAT[4:]])) == ["Be brief.", "Be kind.", "4", "5"]
    assert texts(Window().cut(CHAT)) == texts(CHAT)
    assert texts(Window(1).cut(CHAT)) == ["Be brief.", "5"]


def test_the_newest_user_message_is_added_when_it_came_before_the_window():
    loop = [user("old"), bot("a"), user("now"), bot("", "c1"), result("c1"), bot("", "c2"), result("c2")]
    assert texts(Window(2).cut(loop)) == ["now", "", "done"]
    assert len(Window(2).cut(loop)) == 3


def test_a_result_whose_call_lies_before_the_window_is_left_out():
    loop = [user("now"), bot("", "c1", "c2"), result("c1"), result("c2"), bot("", "c3"), result("c3")]
    assert [m.tool_call_id for m in Window(4).cut(loop) if m.role == "tool"] == ["c3"]
    assert [m.tool_call_id for m in Window(5).cut(loop) if m.role == "tool"] == ["c1", "c2", "c3"]


def test_a_result_without_an_id_belongs_to_the_assistants_message_right_before_it():
    kept = Message("tool", "sunny", name="weather")
    assert texts(Window(3).cut([user("now"), bot("Let me see."), kept])) == ["now", "Let me see.", "sunny"]
    assert texts(Window(1).cut([user("now"), bot("Let me see."), kept])) == ["now"]
    assert texts(Window(3).cut([user("now"), kept])) == ["now"]


def test_the_filter_comes_before_everything_else():
    window = Window(2, message_filter=lambda m: m.role in ("user", "assistant") and not m.tool_calls)
    loop = [SYSTEM, user("now"), bot("a"), bot("", "c1"), result("c1")]
    assert texts(window.cut(loop)) == ["now", "a"]
    no_calls = Window(5, message_filter=lambda m: not m.tool_calls)
    assert texts(no_calls.cut(loop)) == ["Be brief.", "now", "a"]  # a result without its call says nothing
    assert Window(message_filter=lambda m: False).cut(loop) == ()
    assert texts(Window(message_filter=lambda m: m.role != "user").cut(CHAT)) == ["Be brief.", "2", "4"]


def test_long_texts_and_arguments_are_shortened_one_by_one_and_system_messages_never():
    long, calls = "x" * 30, [ToolCall("a", "y" * 30, "1"), ToolCall("b", "{}", "2")]
    system, said, called = Window(max_message_length=10).cut(
        [Message("system", long), user(long), Message("assistant", "ok", tool_calls=calls)]
    )
    assert system.text == long
    assert said.text.startswith("xxxxx\n[20 characters")
    assert called.text == "ok"
    assert called.tool_calls[0].arguments.startswith("yyyyy\n[20 characters")
    assert called.tool_calls[1] == calls[1]
    assert Window(max_message_length=None).cut([user(long)]) == (user(long),)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"max_messages": 0}, "max_messages"),
        ({"max_messages": True}, "max_messages"),
        ({"max_messages": 2.5}, "max_messages"),
        ({"max_message_length": 0}, "max_message_length"),
        ({"message_filter": "user"}, "message_filter"),
    ],
)
def test_an_impossible_setting_is_refused_by_its_name(settings, named):
    with pytest.raises(ConfigError, match=named):
        Window(**settings)


def test_a_text_of_just_the_limit_is_unchanged():
    assert shortened("abcdef", 6) == "abcdef"


def test_a_longer_text_keeps_its_beginning_and_end_and_says_how_much_is_gone():
    short = shortened("a" * 3000 + "b" * 2000, 2001)
    head, note, tail = short.split("\n")
    assert (len(head), len(tail)) == (1001, 1000)
    assert "2999 characters" in note
    assert 80 <= len(note) <= 110
    assert shortened("abc", 1).startswith("a\n[2 ")
    assert shortened("abc", 1).endswith("]\n")


FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
PIECES = [
    *"ab 1é中カ가กำ่",
    "e\u0301\u0323",
    FAMILY,
    "\U0001f1e9\U0001f1ea",
    "\U0001f44d\U0001f3fd",
    "\u1112\u1161\u11ab",
    "\u0915\u094d\u0937",
    "\r\n",
    "\ud83d\ude00",
    "\ud800",
    "\u0d4e\u0d15",
    "©️",
]


@given(st.lists(st.sampled_from(PIECES), max_size=60), st.integers(1, 40))
def test_no_visible_character_is_ever_split(pieces, limit):
    text = "".join(pieces)
    short = shortened(text, limit)
    if len(text) <= limit:
        assert short == text
        return
    note = regex.search(r"\n\[(\d+) characters[^\]]*\]\n", short)
    head, tail = short[: note.start()], short[note.end() :]
    assert text == head + text[len(head) : len(head) + int(note[1])] + tail
    ends = {found.end() for found in regex.finditer(r"\X", text)} | {0}
    pairs = {found.start() + 1 for found in regex.finditer("[\ud800-\udbff][\udc00-\udfff]", text)}
    whole = ends - pairs
    assert len(head) == max(cut for cut in whole if cut <= limit - limit // 2)
    assert len(text) - len(tail) == min(cut for cut in whole if cut >= len(text) - limit // 2)


def test_a_cut_through_very_many_marks_ends_and_splits_nothing():
    assert shortened("e" + "\u0301" * 5000 + "z", 10) == shortened("e" + "\u0301" * 5000 + "z", 11)
    assert shortened(FAMILY * 300, 100).startswith(FAMILY)


def test_the_letters_taken_to_stand_alone_do_so_in_unicode_too():
    plain = [chr(n) for n in range(0x20, 0xD7B0) if unicodedata.category(chr(n))[0] in "LN"]
    for one, other in pairwise(plain):
        if "\u1100" <= one <= "\u11ff" or "\ua960" <= one <= "\ua97f" or other in "\u0e33\u0eb3\u1100\ua960":
            continue
        if one != "\u0d4e":
            assert len(regex.findall(r"\X", one + other)) == 2, (one, other)


def test_the_newest_user_message_is_found():
    assert last_user_message(CHAT).text == "5"
    assert last_user_message([SYSTEM]) is None


def test_the_users_own_text_stands_in_for_the_unanswered_message_and_keeps_what_it_brought():
    loop = [
        user("a"),
        bot("b"),
        Message("user", ["c + passages", Attachment("image")]),
        bot("", "c1"),
        result("c1"),
    ]
    assert texts(with_user_text(loop, "c")) == ["a", "b", "c\n[attached image]", "", "done"]
    assert texts(with_user_text(loop[:2], "c")) == ["a", "b", "c"]
    assert texts(with_user_text([], "c")) == ["c"]


def test_one_user_message_is_written_as_its_text():
    assert as_input([user("hello")]) == "hello"
    assert as_input([Message("user", [TextPart("look"), Attachment("pdf")])]) == "look\n[attached pdf]"


def test_a_conversation_is_written_without_what_is_empty():
    late = Message("developer", "Be kind.")
    given = [SYSTEM, late, user("hi"), bot("", "c1"), result("c1"), Message("tool", "?")]
    assert as_input(given) == {
        "messages": [
            {"role": "system", "text": "Be brief."},
            {"role": "system", "text": "Be kind."},
            {"role": "user", "text": "hi"},
            {"role": "assistant", "tool_calls": [{"name": "tc1", "arguments": "{}"}]},
            {"role": "tool", "text": "done", "tool": "tc1"},
            {"role": "tool", "text": "?"},
        ]
    }
    assert freeze_input(as_input(given)) is not None


def test_attributes_are_kept_through_copies_pickles_and_dicts_and_stay_out_of_prompts():
    routed = bot("hi").with_attributes(route="small").with_attributes(tries=[1, 2])
    assert routed.attributes == {"route": "small", "tries": [1, 2]}
    assert routed.changed(content="other").attributes == routed.attributes
    assert pickle.loads(pickle.dumps(routed)) == routed  # noqa: S301 - our own bytes
    assert Window(max_message_length=1).cut([routed])[0].attributes == routed.attributes
    assert "small" not in str(as_input([user("x"), routed]))
    assert hash(routed) != hash(bot("hi"))
