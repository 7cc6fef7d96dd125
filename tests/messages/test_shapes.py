"""The same conversation in every shape is the same conversation."""

import json
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yesno.errors import QuestionError
from yesno.messages import Attachment, Message, TextPart, ToolCall, Window, as_input, messages_of

CALL = ToolCall("weather", '{"city": "Lisbon"}', "c1")
EXPECTED = (
    Message("system", "Be brief."),
    Message("user", ["Rain?", Attachment("image")]),
    Message("assistant", "Let me see.", tool_calls=[CALL, ToolCall("clock", "{}", "c2")]),
    Message("tool", "sunny", tool_call_id="c1", name="weather"),
    Message("tool", "noon", tool_call_id="c2", name="clock"),
    Message("assistant", "No."),
)
IMAGE = "data:image/png;base64,SECRET"

CHAT = [
    {"role": "system", "content": "Be brief."},
    {
        "role": "user",
        "content": [{"type": "text", "text": "Rain?"}, {"type": "image_url", "image_url": {"url": IMAGE}}],
    },
    {
        "role": "assistant",
        "content": "Let me see.",
        "reasoning_content": "hmm",
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "weather", "arguments": '{"city": "Lisbon"}'},
            },
            {"id": "c2", "type": "function", "function": {"name": "clock", "arguments": "{}"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "noon"}]},
    {"role": "assistant", "content": "No."},
]
RESPONSES = {
    "instructions": "Be brief.",
    "input": [
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "Rain?"}, {"type": "input_image", "image_url": IMAGE}],
        },
        {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "hmm"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me see."}]},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Lisbon"}'},
        {"type": "reasoning", "id": "r2", "summary": []},
        {"type": "function_call", "call_id": "c2", "id": "fc2", "name": "clock", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
        {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "noon"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "No."}]},
    ],
}
ANTHROPIC = {
    "system": [{"type": "text", "text": "Be brief."}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Rain?"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "SECRET"}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hmm", "signature": "s"},
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Lisbon"}},
                {"type": "tool_use", "id": "c2", "name": "clock", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "sunny"},
                {"type": "tool_result", "tool_use_id": "c2", "content": [{"type": "text", "text": "noon"}]},
            ],
        },
        {"role": "assistant", "content": "No."},
    ],
}


def lc(kind, content, **fields):
    """Return an object with the attributes of a LangChain message."""
    return SimpleNamespace(type=kind, content=content, additional_kwargs={}, name=None, **fields)


LANGCHAIN = [
    lc("system", "Be brief."),
    lc(
        "human",
        [{"type": "text", "text": "Rain?"}, {"type": "image", "base64": "SECRET", "mime_type": "image/png"}],
    ),
    lc(
        "ai",
        [
            {"type": "reasoning", "reasoning": "hmm"},
            {"type": "text", "text": "Let me see."},
            {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Lisbon"}},
        ],
        tool_calls=[
            {"name": "weather", "args": {"city": "Lisbon"}, "id": "c1", "type": "tool_call"},
            {"name": "clock", "args": {}, "id": "c2", "type": "tool_call"},
        ],
        invalid_tool_calls=[],
    ),
    lc("tool", "sunny", tool_call_id="c1"),
    lc("tool", "noon", tool_call_id="c2"),
    lc("AIMessageChunk", "No.", tool_calls=[], invalid_tool_calls=[]),
]
PLAIN = [
    ("system", "Be brief."),
    {"role": "user", "content": ["Rain?", Attachment("image")]},
    {
        "role": "assistant",
        "text": "Let me see.",
        "tool_calls": [CALL, {"name": "clock", "arguments": {}, "id": "c2"}],
    },
    {"role": "tool", "text": "sunny", "tool_call_id": "c1"},
    EXPECTED[4],
    ("ai", "No."),
]
SHAPES = {
    "chat": CHAT,
    "responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "langchain": LANGCHAIN,
    "plain": PLAIN,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_conversation_reads_the_same_in_every_shape(shape):
    found = messages_of(SHAPES[shape])
    assert found == EXPECTED
    assert "SECRET" not in repr(found)
    assert "hmm" not in repr(found)


def test_what_was_read_is_read_again_unchanged_also_from_json():
    assert messages_of(EXPECTED) == EXPECTED
    assert messages_of(iter(EXPECTED)) == EXPECTED
    kept = json.dumps([message.as_dict() for message in EXPECTED])
    assert messages_of(json.loads(kept)) == EXPECTED


TEXTS = st.text(max_size=8)
MESSAGES = st.builds(
    Message,
    st.sampled_from(["system", "developer", "user", "assistant", "tool"]),
    st.lists(
        TEXTS.map(TextPart) | st.sampled_from(["image", "audio", "video", "pdf", "file"]).map(Attachment)
    ),
    tool_calls=st.lists(
        st.builds(ToolCall, st.text(min_size=1, max_size=5), TEXTS, st.none() | TEXTS.filter(bool))
    ),
    name=st.none() | TEXTS.filter(bool),
    attributes=st.dictionaries(TEXTS, TEXTS | st.integers() | st.lists(st.booleans()), max_size=2),
)


@given(st.lists(MESSAGES, max_size=5))
def test_every_message_survives_its_dict_form(messages):
    assert messages_of(json.loads(json.dumps([m.as_dict() for m in messages]))) == tuple(messages)


def test_one_text_message_or_item_is_a_conversation_of_one():
    assert messages_of("hi") == (Message("user", "hi"),)
    assert messages_of(EXPECTED[0]) == EXPECTED[:1]
    assert messages_of(CHAT[0]) == EXPECTED[:1]
    assert messages_of(LANGCHAIN[0]) == EXPECTED[:1]
    assert messages_of(SimpleNamespace(role="system", content="Be brief.")) == EXPECTED[:1]
    assert messages_of([SimpleNamespace(role="system", text="Be brief.")]) == EXPECTED[:1]
    assert messages_of([]) == ()
    assert messages_of({"messages": "hi"}) == (Message("user", "hi"),)


def test_the_objects_of_openais_and_anthropics_sdks_are_read_like_their_dicts():
    from anthropic.types import Message as Reply
    from openai.types.chat import ChatCompletionMessage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage

    assert messages_of([ChatCompletionMessage.model_validate(CHAT[2])]) == EXPECTED[2:3]
    reply = Reply.model_validate(
        {
            **ANTHROPIC["messages"][1],
            "id": "m",
            "type": "message",
            "model": "m",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )
    assert messages_of([reply]) == EXPECTED[2:3]
    said = {"type": "output_text", "text": "Let me see.", "annotations": []}
    items = [
        ResponseOutputMessage.model_validate(
            {**RESPONSES["input"][2], "id": "m", "status": "completed", "content": [said]}
        ),
        ResponseFunctionToolCall.model_validate(RESPONSES["input"][3]),
        ResponseFunctionToolCall.model_validate(RESPONSES["input"][5]),
    ]
    assert messages_of(items) == EXPECTED[2:3]


def test_langchains_dict_forms_are_read():
    saved = [
        {"type": "human", "data": {"content": "hi", "type": "human"}},
        {
            "type": "ai",
            "content": "",
            "tool_calls": [{"name": "weather", "args": {"city": "Lisbon"}, "id": "c1"}],
        },
        {"type": "chat", "data": {"role": "user", "content": "so?"}},
    ]
    assert messages_of(saved) == (
        Message("user", "hi"),
        Message("assistant", tool_calls=[CALL]),
        Message("user", "so?"),
    )


def test_a_langchain_message_with_a_role_of_its_own_has_that_role():
    assert messages_of(lc("chat", "so?", role="user")) == (Message("user", "so?"),)
    odd = SimpleNamespace(type="human", content="hi", role="assistant")  # not LangChain's: these have no role
    assert messages_of([odd]) == (Message("assistant", "hi"),)


def test_a_route_in_a_langchain_message_is_kept():
    message = lc("ai", "hi", tool_calls=[])
    message.additional_kwargs = {"attributes": {"route": "small"}}
    assert messages_of([message])[0].attributes == {"route": "small"}


def test_results_among_a_users_words_are_messages_of_their_own_in_order():
    blocks = [
        {"type": "text", "text": "before"},
        {
            "type": "tool_result",
            "tool_use_id": "x",
            "content": [{"type": "image", "source": {}}],
            "is_error": True,
        },
        {"type": "text", "text": "after"},
    ]
    assert messages_of([{"role": "user", "content": blocks}]) == (
        Message("user", "before"),
        Message("tool", [Attachment("image")], tool_call_id="x"),
        Message("user", "after"),
    )


def test_what_a_server_ran_itself_is_a_call_and_its_result():
    blocks = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "rain"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s1",
            "content": [
                {"type": "web_search_result", "title": "Weather", "url": "u", "encrypted_content": "SECRET"}
            ],
        },
        {"type": "text", "text": "No rain."},
    ]
    search = ToolCall("web_search", '{"query": "rain"}', "s1")
    assert messages_of([{"role": "assistant", "content": blocks}]) == (
        Message("assistant", tool_calls=[search]),
        Message("tool", "Weather", tool_call_id="s1", name="web_search"),
        Message("assistant", "No rain."),
    )
    items = [
        {"type": "web_search_call", "id": "w1", "status": "completed", "action": {"query": "rain"}},
        {"type": "mcp_call", "id": "m1", "name": "ask", "arguments": "{}", "output": "yes"},
        {"type": "image_generation_call", "id": "i1", "result": "SECRET"},
    ]
    found = messages_of(items)
    assert [(m.role, m.text, [c.name for c in m.tool_calls]) for m in found] == [
        ("assistant", "", ["web_search", "ask"]),
        ("tool", "yes", []),
        ("assistant", "", ["image_generation"]),
        ("tool", "[attached image]", []),
    ]
    assert "SECRET" not in repr(found)


def test_an_approval_of_a_hosted_call_and_its_reason_are_in_the_conversation():
    asked = {"type": "mcp_approval_request", "id": "a1", "name": "pay", "arguments": '{"cents": 5}'}
    for answer, text in [
        ({"approve": True}, "approved"),
        ({"approve": False, "reason": "too much"}, "not approved: too much"),
    ]:
        given = [asked, {"type": "mcp_approval_response", "approval_request_id": "a1", **answer}]
        assert messages_of(given) == (
            Message("assistant", tool_calls=[ToolCall("pay", '{"cents": 5}', "a1")]),
            Message("tool", text, tool_call_id="a1", name="pay"),
        )


def test_custom_and_hosted_calls_keep_what_they_were_called_with():
    items = [
        {"type": "custom_tool_call", "call_id": "c1", "name": "run", "input": "1+1"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "2"},
        {
            "type": "code_interpreter_call",
            "id": "c2",
            "code": "2+2",
            "outputs": [{"type": "logs", "logs": "4"}],
        },
        {"type": "compaction", "encrypted_content": "SECRET"},
    ]
    assert messages_of(items) == (
        Message("assistant", tool_calls=[ToolCall("run", '{"input": "1+1"}', "c1")]),
        Message("tool", "2", tool_call_id="c1", name="run"),
        Message("assistant", tool_calls=[ToolCall("code_interpreter", '{"code": "2+2"}', "c2")]),
        Message("tool", '{"type": "logs", "logs": "4"}', tool_call_id="c2", name="code_interpreter"),
    )


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ({"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}}, "audio"),
        ({"type": "video_url", "video_url": {"url": "x"}}, "video"),
        ({"type": "file", "file": {"file_data": "x", "filename": "a.txt"}}, "file"),
        ({"type": "input_file", "filename": "a.PDF", "file_id": "f"}, "pdf"),
        (
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "x"}},
            "pdf",
        ),
        ({"type": "file", "file": {"file_data": "data:application/pdf;base64,x"}}, "pdf"),
        ({"type": "image", "url": "https://x.example/scan.pdf"}, "image"),
    ],
)
def test_an_attachment_keeps_its_kind_alone(block, kind):
    assert messages_of([{"role": "user", "content": [block]}]) == (Message("user", [Attachment(kind)]),)


def test_a_refusal_and_a_spoken_answer_are_what_the_assistant_said():
    assert messages_of([{"role": "assistant", "content": None, "refusal": "I can't."}])[0].text == "I can't."
    assert (
        messages_of([{"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}])[0].text
        == "No."
    )
    spoken = {"role": "assistant", "content": None, "audio": {"id": "a", "data": "x", "transcript": "Hello"}}
    assert messages_of([spoken])[0].text == "[attached audio]\nHello"


def test_a_message_of_thoughts_alone_is_no_message_and_an_empty_one_is():
    thought = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hmm"}]}
    assert messages_of([thought, {"role": "user", "content": ""}]) == (Message("user"),)


def test_old_function_calls_and_tools_without_ids_are_read():
    given = [
        {"role": "assistant", "content": None, "function_call": {"name": "clock", "arguments": "{}"}},
        {"role": "function", "name": "clock", "content": "noon"},
        {"role": "tool", "tool_name": "clock", "content": "noon"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "x", "type": "custom", "custom": {"name": "run", "input": "1+1"}}],
        },
    ]
    assert messages_of(given) == (
        Message("assistant", tool_calls=[ToolCall("clock", "{}")]),
        Message("tool", "noon", name="clock"),
        Message("tool", "noon", name="clock"),
        Message("assistant", tool_calls=[ToolCall("run", '{"input": "1+1"}', "x")]),
    )


SEARCH = {"type": "search_result", "title": "T", "source": "u"}
SEARCH["content"] = [{"type": "text", "text": "found"}, SEARCH, "x"]
BODY = {}
BODY["messages"] = BODY


def test_a_search_result_is_its_title_and_texts_also_when_it_holds_itself():
    assert messages_of([{"role": "user", "content": [SEARCH]}])[0].text == "T\nfound\n[search_result]\nx"


KEYS = [
    *[
        "role",
        "content",
        "text",
        "type",
        "tool_calls",
        "name",
        "arguments",
        "id",
        "call_id",
        "tool_use_id",
        "output",
        "input",
    ]
]
KEYS += [
    *[
        "messages",
        "system",
        "refusal",
        "audio",
        "attributes",
        "data",
        "args",
        "function",
        "function_call",
        "custom",
        "source",
        "results",
    ]
]
WORDS = [
    "user",
    "assistant",
    "tool",
    "text",
    "image",
    "tool_use",
    "tool_result",
    "function_call",
    "reasoning",
    "human",
]
WORDS += [
    "function_call_output",
    "message",
    "custom",
    "document",
    "mcp_call",
    "search_result",
    "attachment",
    "ai",
    "",
]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.binary(max_size=1),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS), inner | st.sampled_from(WORDS), max_size=5)
        | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3).map(
            lambda fields: SimpleNamespace(**fields)
        )
    ),
    max_leaves=12,
)


@settings(max_examples=300)
@given(ANYTHING)
def test_anything_at_all_is_read_or_refused_by_a_typed_error(value):
    try:
        found = messages_of(value)
    except QuestionError:
        return
    assert all(isinstance(message, Message) for message in found)
    assert messages_of(found) == found
    Window(2, 3).cut(found)
    as_input(found)


LOOP = {"a": 1}
LOOP["self"] = LOOP
DEEP = []
for _ in range(100_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (None, "NoneType"),
        (5, "int"),
        (b"bytes", "bytes"),
        ({"user", "hi"}, "set"),
        ({"text": "hi"}, "role"),
        pytest.param(BODY, "role", id="a body in itself"),
        ([{"role": "assistant", "content": "x", "tool_calls": 5}], "`tool_calls` must be a list, not int"),
        ([{"role": "user", "content": "x", "attributes": "y"}], "`attributes` must be a mapping, not str"),
        (["hi"], "message 1 is a str without a role"),
        ([CHAT[0], 5], "message 2 is a int"),
        ([{"content": "hi"}], "neither `role` nor `type`"),
        ([{"role": "user"}], "neither `content` nor `text`"),
        ([{"role": "bot", "content": "x"}], "'bot'"),
        ([{"role": "user", "content": 5}], "content of type int"),
        ([{"role": "user", "content": [{"type": "hologram", "data": "SECRET"}]}], '"hologram"'),
        ([{"role": "user", "content": [{"text": "untyped"}]}], "type None"),
        ([{"role": "user", "content": [5]}], '"int"'),
        ([{"role": "user", "content": [{"type": "text"}]}], '"text"'),
        ([{"role": "user", "content": [{"type": "hologram", "text": "SECRET"}]}], '"hologram"'),
        ([{"type": "item_reference", "id": "i"}], "refers to an item"),
        ([{"type": "telepathy", "text": "SECRET"}], "'telepathy'"),
        ([{"role": "assistant", "tool_calls": ["clock"]}], "tool call of type str"),
        ([{"role": "assistant", "tool_calls": [{"function": {"arguments": "SECRET"}}]}], "without a name"),
        ([{"type": "function_call", "arguments": "SECRET"}], "without a name"),
        ([{"role": "assistant", "tool_calls": [{"name": ""}]}], "without a name"),
        ([{"role": "assistant", "tool_calls": [{"name": 5}]}], "without a name"),
        ([{"role": "assistant", "tool_calls": [{"name": "t", "args": LOOP}]}], "'t'.*hold themselves"),
        ([{"role": "assistant", "tool_calls": [{"name": "t", "args": {"x": DEEP}}]}], "'t'.*RecursionError"),
        ([{"role": "assistant", "tool_calls": [{"name": "t", "args": {"x": object()}}]}], "'t'.*TypeError"),
        ([{"role": "user", "content": "x", "attributes": LOOP}], "attributes"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_place_or_type_and_never_shown(given, named):
    with pytest.raises(QuestionError, match=named) as caught:
        messages_of(given)
    assert "SECRET" not in str(caught.value)


def test_lone_surrogates_and_megabytes_pass_unchanged():
    text = "\ud800" + "x" * 2_000_000
    assert messages_of([{"role": "user", "content": text}])[0].text == text
