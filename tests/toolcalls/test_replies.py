"""Replies in every shape, and the conversations that come of them."""

import json
import sys
from types import ModuleType, SimpleNamespace

import pytest
from anthropic.types import Message as AnthropicMessage
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from tests.toolcalls.support import (
    SHAPES,
    USER,
    Log,
    anthropic,
    chat,
    contents,
    langchain,
    plain,
    responses,
    statuses,
)
from yesno import Message, ToolCall
from yesno.errors import NoToolCallsError, QuestionError, ReplyError
from yesno.toolcalls import Reply, ToolCallingManager, ToolErrors

MANAGER = ToolCallingManager()
EMPTY = {
    "chat": chat(text="hello", finish="stop"),
    "anthropic": anthropic(stop="end_turn"),
    "responses": responses(),
    "plain": plain(text="hello"),
    "langchain": langchain(),
}


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def tools(log):
    return [log.tool("a"), log.tool("b"), log.tool("c", raises=OSError("no"))]


@pytest.mark.parametrize("shape", SHAPES)
def test_case_015_a_reply_without_calls_is_no_reply_to_run(bench, tools, shape):
    with pytest.raises(NoToolCallsError):
        bench.execute(MANAGER, EMPTY[shape], tools)


def test_case_016_two_calls_with_one_id_are_refused(bench, tools, log):
    with pytest.raises(ReplyError, match="'c1'"):
        bench.execute(MANAGER, chat(("a", {}, "c1"), ("b", {}, "c1")), tools)
    assert log == []


@pytest.mark.parametrize("number", ["", None, 7, "a\nb"])
def test_a_call_without_an_id_is_refused(bench, tools, log, number):
    with pytest.raises(ReplyError, match="id"):
        bench.execute(MANAGER, chat(("a", {}, "c1"), ("b", {}, number)), tools)
    assert log == []


@pytest.mark.parametrize(
    "reply",
    [
        chat(("a", {}), finish="length"),
        anthropic(("a", {}), stop="max_tokens"),
        responses(("a", {}), status="incomplete"),
        langchain(("a", {}), finish="MAX_TOKENS"),
    ],
    ids=["chat", "anthropic", "responses", "langchain"],
)
def test_case_017_a_reply_that_was_cut_off_is_refused(bench, tools, log, reply):
    with pytest.raises(ReplyError, match="cut off"):
        bench.execute(MANAGER, reply, tools)
    assert log == []
    assert statuses(bench.execute(ToolCallingManager(allow_cut_off=True), reply, tools)) == ["ran"]


def test_case_018_reply_and_results_follow_the_conversation_in_order(bench, tools):
    reply = chat(("a", {}), ("b", {}))
    run = bench.execute(MANAGER, reply, tools)
    message = reply["choices"][0]["message"]
    assert run.messages[:2] == [*USER, message]
    assert run.messages[1] is message
    assert run.messages[2:] == [
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "tool", "tool_call_id": "c2", "content": "done"},
    ]
    assert run.new_messages == run.messages[1:]


@pytest.mark.parametrize("shape", SHAPES)
def test_case_019_a_reply_that_is_there_already_is_not_doubled(bench, tools, shape):
    reply = SHAPES[shape](("a", {"n": 1}), ("b", {}))
    first = bench.execute(MANAGER, reply, tools)
    count = {"responses": 3}.get(shape, 1)
    again = bench.execute(MANAGER, reply, tools, messages=[*USER, *first.new_messages[:count]])
    assert again.messages == first.messages
    assert len(again.new_messages) == len(first.new_messages) - count


def test_case_020_anthropic_results_are_one_user_message(bench, tools):
    reply = anthropic(("a", {}), ("b", {}), ("c", {}))
    run = bench.execute(MANAGER, reply, tools)
    said, results = run.new_messages
    assert said == {"role": "assistant", "content": reply["content"]}
    assert results["role"] == "user"
    assert [block["type"] for block in results["content"]] == ["tool_result"] * 3
    assert [block["tool_use_id"] for block in results["content"]] == ["c1", "c2", "c3"]
    assert [block.get("is_error") for block in results["content"]] == [None, None, True]


def test_responses_results_are_output_items(bench, tools):
    reply = responses(("a", {}))
    reply["output"].append({"type": "custom_tool_call", "call_id": "c9", "name": "b", "input": "free text"})
    run = bench.execute(MANAGER, reply, tools)
    assert run.new_messages[:3] == reply["output"]
    assert run.new_messages[3:] == [
        {"type": "function_call_output", "call_id": "c1", "output": "done"},
        {"type": "custom_tool_call_output", "call_id": "c9", "output": "done"},
    ]


def test_our_own_messages_stay_our_own(bench, tools):
    reply = Message("assistant", tool_calls=[ToolCall("a", "{}", "c1")])
    run = bench.execute(MANAGER, reply, tools, messages=[Message("user", "hi")])
    assert run.new_messages == [reply, Message("tool", "done", tool_call_id="c1", name="a")]


def test_langchain_results_are_tool_messages(bench, tools, monkeypatch):
    module = ModuleType("langchain_core.messages")
    module.ToolMessage = SimpleNamespace
    monkeypatch.setitem(sys.modules, "langchain_core", ModuleType("langchain_core"))
    monkeypatch.setitem(sys.modules, "langchain_core.messages", module)
    broken = [{"id": "c8", "name": "b", "args": "{oops", "type": "invalid_tool_call"}]
    reply = langchain(("a", {}), invalid=broken)
    run = bench.execute(MANAGER, reply, tools)
    assert run.new_messages[0] is reply
    assert [(m.tool_call_id, m.name, m.status) for m in run.new_messages[1:]] == [
        ("c1", "a", "success"),
        ("c8", "b", "error"),
    ]


def test_the_objects_of_the_sdks_are_read_and_handed_back(bench, tools):
    made = chat(("a", {"n": 1}))
    completion = ChatCompletion.model_validate(
        {**made, "created": 1, "model": "m", "object": "chat.completion"}
    )
    run = bench.execute(MANAGER, completion, tools)
    assert run.new_messages[0] is completion.choices[0].message
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = AnthropicMessage.model_validate({**anthropic(("a", {"n": 1})), "usage": usage})
    run = bench.execute(MANAGER, message, tools)
    assert run.new_messages[0] == {"role": "assistant", "content": message.content}
    fields = {"created_at": 1, "model": "m", "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    response = Response.model_validate({**responses(("a", {"n": 1})), **fields})
    run = bench.execute(MANAGER, response, tools)
    assert run.new_messages[1] is response.output[1]
    assert (
        bench.execute(MANAGER, response, tools, messages=[*USER, *response.output]).messages == run.messages
    )


def pieces(text, size=3):
    return [text[i : i + size] for i in range(0, len(text), size)]


def chat_chunks(*calls):
    chunks = []
    for place, (name, arguments) in enumerate(calls):
        start = {
            "index": place,
            "id": f"c{place + 1}",
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
        chunks.append({"choices": [{"index": 0, "delta": {"tool_calls": [start]}}]})
        for piece in pieces(json.dumps(arguments)):
            part = {"index": place, "function": {"arguments": piece}}
            chunks.append({"choices": [{"index": 0, "delta": {"tool_calls": [part]}}]})
    return [*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}, {"choices": []}]


def anthropic_events(*calls):
    events = [{"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}]
    block = {"type": "text", "text": ""}
    events.append({"type": "content_block_start", "index": 0, "content_block": block})
    events += [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
        for piece in pieces("I will.")
    ]
    for place, (name, arguments) in enumerate(calls, start=1):
        block = {"type": "tool_use", "id": f"c{place}", "name": name, "input": {}}
        events.append({"type": "content_block_start", "index": place, "content_block": block})
        for piece in pieces(json.dumps(arguments)):
            delta = {"type": "input_json_delta", "partial_json": piece}
            events.append({"type": "content_block_delta", "index": place, "delta": delta})
    return [
        *events,
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]


CALLS = (("a", {"n": 1, "s": "ä {"}), ("b", {}))


@pytest.mark.parametrize(
    ("chunks", "whole"),
    [
        (chat_chunks(*CALLS), chat(*CALLS)),
        (anthropic_events(*CALLS), anthropic(*CALLS)),
        (
            [{"type": "response.created"}, {"type": "response.completed", "response": responses(*CALLS)}],
            responses(*CALLS),
        ),
    ],
    ids=["chat", "anthropic", "responses"],
)
def test_case_021_a_streamed_reply_asks_for_the_same(bench, tools, chunks, whole):
    streamed, unstreamed = Reply.from_chunks(chunks), Reply.parse(whole)
    assert [(c.id, c.name, c.arguments) for c in streamed.calls] == [
        (c.id, c.name, c.arguments) for c in unstreamed.calls
    ]
    assert streamed.text == unstreamed.text
    assert contents(bench.execute(MANAGER, streamed, tools)) == contents(bench.execute(MANAGER, whole, tools))


@pytest.mark.parametrize(
    "chunks",
    [[], chat_chunks(*CALLS)[:-2], anthropic_events(*CALLS)[:-2], [{"type": "response.created"}], ["text"]],
)
def test_a_stream_that_broke_off_is_refused(chunks):
    with pytest.raises(ReplyError):
        Reply.from_chunks(chunks)


def test_broken_arguments_in_a_stream_of_anthropic_stay_a_matter_of_their_call(bench, tools):
    events = [e for e in anthropic_events(("a", {"n": 1})) if e.get("delta", {}).get("partial_json") != "}"]
    events = [*events[:-3], *events[-2:]]
    assert statuses(bench.execute(MANAGER, Reply.from_chunks(events), tools)) == ["invalid_arguments"]


def test_the_first_choice_that_calls_counts(bench, tools, log):
    reply = chat(("b", {}))
    reply["choices"].insert(
        0, {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}
    )
    bench.execute(MANAGER, reply, tools)
    assert log.names == ["b"]


def test_calls_that_the_provider_runs_itself_are_none_of_ours(bench, tools, log):
    reply = anthropic(("a", {}))
    reply["content"][1:1] = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
    ]
    first = bench.execute(MANAGER, reply, tools)
    assert log.names == ["a"]
    assert bench.execute(MANAGER, reply, tools, messages=first.messages[:-1]).messages == first.messages
    hosted = responses(("a", {}))
    hosted["output"].insert(
        1, {"type": "web_search_call", "id": "ws1", "status": "completed", "action": {"type": "s"}}
    )
    first = bench.execute(MANAGER, hosted, tools)
    assert bench.execute(MANAGER, hosted, tools, messages=first.messages[:-1]).messages == first.messages


@pytest.mark.parametrize("shape", SHAPES)
def test_calls_that_have_results_already_are_not_run_again(bench, tools, log, shape):
    reply = SHAPES[shape](("a", {}))
    run = bench.execute(MANAGER, reply, tools)
    with pytest.raises(ReplyError, match="results of these calls already"):
        bench.execute(MANAGER, reply, tools, messages=run.messages)
    assert log.names == ["a"]


def test_a_conversation_that_ends_with_another_reply_of_the_same_ids_is_refused(bench, tools, log):
    other = chat(("a", {"n": 2}))["choices"][0]["message"]
    with pytest.raises(ReplyError, match="another reply"):
        bench.execute(MANAGER, chat(("a", {"n": 1})), tools, messages=[*USER, other])
    assert log == []


@pytest.mark.parametrize(
    "reply",
    [
        None,
        7,
        "text",
        [],
        [{"role": "assistant"}],
        {},
        {"choices": []},
        {"choices": [{"message": None}]},
        {"choices": ["x"]},
        {"role": "assistant", "content": None, "function_call": {"name": "a", "arguments": "{}"}},
        {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": None}}]},
        {"role": "assistant", "tool_calls": ["x"]},
        {"calls": [{"id": "c1"}]},
    ],
)
def test_a_reply_of_no_known_shape_is_refused(bench, tools, log, reply):
    with pytest.raises(ReplyError):
        bench.execute(MANAGER, reply, tools)
    assert log == []


@pytest.mark.parametrize("messages", [[{"role": "wizard", "content": "x"}], None, 5, b"x"])
def test_a_conversation_that_cannot_be_read_is_refused_before_anything_runs(bench, tools, log, messages):
    with pytest.raises(QuestionError):
        bench.execute(MANAGER, chat(("a", {})), tools, messages=messages)
    assert log == []


def test_a_text_is_a_conversation_of_one_message(bench, tools):
    assert bench.execute(MANAGER, chat(("a", {})), tools, messages="hi").messages[0] == {
        "role": "user",
        "content": "hi",
    }


def test_values_that_json_has_no_form_for_stay_a_matter_of_their_call(bench, tools):
    run = bench.execute(MANAGER, anthropic(("a", {"n": float("nan")}), ("b", {})), tools)
    assert statuses(run) == ["invalid_arguments", "ran"]


def test_nothing_of_a_reply_shows_in_a_repr(bench, tools):
    manager = ToolCallingManager(errors=ToolErrors(show_message=True))
    run = bench.execute(manager, chat(("a", {"key": "my secret"}), text="my secret"), tools)
    assert "secret" not in repr(run)
    assert "secret" not in repr(Reply.parse(chat(("a", {"key": "my secret"}), text="my secret")))
