import copy
import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.routers.support import ASKED, RESULT, Desk, Target, said
from yesno import Message
from yesno.evidence import Usage
from yesno.routers import RouteChoice
from yesno.routers.chunks import Chunks
from yesno.routers.replies import final_text, recorded_route, routed, usage_of, without_route

CHOICE = RouteChoice("small")
NOTE = {"chat_model_route": "small"}


class AIMessage:
    """A message of LangChain, as far as anyone here looks."""

    type = "ai"

    def __init__(self, content, tool_calls=(), additional_kwargs=None):
        self.content = content
        self.tool_calls = list(tool_calls)
        self.additional_kwargs = additional_kwargs or {}

    def model_copy(self, update):
        made = copy.copy(self)
        made.__dict__.update(update)
        return made


class ToolMessage(AIMessage):
    type = "tool"


def test_a_message_of_langchain_is_copied_with_its_route_in_a_place_that_it_keeps(shell):
    answer = AIMessage("", [{"name": "f", "args": {}, "id": "c1"}], {"refusal": None})
    target = Target(answer)
    asked = []
    desk = Desk(shell, lambda request: asked.append(1) or "small", {"small": target}, default="small")
    reply = desk("find it")
    (message,) = reply.messages
    assert reply.response is answer
    assert answer.additional_kwargs == {"refusal": None}
    assert message.additional_kwargs == {"refusal": None, "attributes": NOTE}
    assert recorded_route([message, ToolMessage("found")]) == "small"
    desk([*said("find it"), message, ToolMessage("found")])
    assert len(asked) == 1


@pytest.mark.parametrize(
    "response",
    [
        "text",
        {"role": "assistant", "content": "text"},
        {"choices": [{"message": {"role": "assistant", "content": "text", "annotations": []}}]},
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "text"}], "id": "m"},
        {"object": "response", "output": [{"type": "message", "role": "assistant", "content": "text"}]},
    ],
    ids=["text", "message", "chat", "anthropic", "responses"],
)
def test_answers_of_all_shapes_become_messages_that_survive_json(response):
    before = copy.deepcopy(response)
    done = routed(response, CHOICE)
    assert response == before
    (message,) = json.loads(json.dumps(done.messages))
    assert message["attributes"] == NOTE
    assert "annotations" not in message
    assert final_text(response) == "text"
    assert recorded_route([message, RESULT]) == "small"
    assert "attributes" not in without_route(message)


@pytest.mark.parametrize(
    "response", [None, 3, b"x", {}, {"choices": []}, object(), SimpleNamespace(choices=[3])]
)
def test_answers_of_an_unknown_shape_pass_without_messages(response):
    done = routed(response, CHOICE)
    assert (done.response, done.messages, done.route) == (response, (), "small")
    assert final_text(response) is None


def test_a_message_of_our_own_keeps_its_attributes_beside_the_route():
    done = routed(Message("assistant", "hi", attributes={"mine": 1}), CHOICE)
    assert dict(done.messages[0].attributes) == {"mine": 1, **NOTE}


def test_an_object_with_fixed_fields_has_its_route_on_its_dict_alone():
    class Fixed:
        __slots__ = ("content", "role")

        def model_dump(self, **_):
            return {"role": self.role, "content": self.content}

    answer = Fixed()
    answer.role, answer.content = "assistant", "hi"
    assert routed(answer, CHOICE).messages == ({"role": "assistant", "content": "hi", "attributes": NOTE},)


@pytest.mark.parametrize(
    "talk",
    [
        [],
        said("hi"),
        [RESULT],
        [*said("hi"), ASKED, RESULT],
        [*said("hi"), {**ASKED, "attributes": NOTE}, RESULT, *said("and?")],
        [{**ASKED, "attributes": NOTE}, ASKED, RESULT],
        [{**ASKED, "attributes": "small"}, RESULT],
        [{**ASKED, "attributes": {"chat_model_route": 3}}, RESULT],
        ["text", 3, None],
    ],
    ids=range(9),
)
def test_without_a_note_on_the_nearest_answer_before_a_result_no_route_is_recorded(talk):
    assert recorded_route(talk) is None


def test_results_of_a_vendors_own_tools_are_part_of_the_answer_and_end_no_conversation():
    answer = {
        "role": "assistant",
        "content": [{"type": "web_search_tool_result", "content": []}],
        "attributes": NOTE,
    }
    assert recorded_route([answer, answer]) is None


def test_what_an_sdk_adds_to_a_reply_is_not_sent_back_and_data_of_the_same_name_is():
    arguments = {"parsed": 1}
    call = {"id": "c", "function": {"name": "f", "arguments": "{}", "parsed_arguments": arguments}}
    message = {
        "role": "assistant",
        "content": None,
        "parsed": {"x": 1},
        "annotations": [],
        "audio": {"id": "a1", "data": "AAAA", "transcript": "hi"},
        "tool_calls": [call],
    }
    (sent,) = routed({"choices": [{"message": message}]}, CHOICE).messages
    assert sent == {
        "role": "assistant",
        "content": None,
        "audio": {"id": "a1"},
        "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
        "attributes": NOTE,
    }
    blocks = [
        {"type": "text", "text": "x", "parsed_output": 3},
        {"type": "tool_use", "id": "c", "name": "f", "input": arguments},
    ]
    (sent,) = routed({"type": "message", "role": "assistant", "content": blocks}, CHOICE).messages
    assert sent["content"] == [{"type": "text", "text": "x"}, blocks[1]]


def test_of_several_answers_in_a_stream_the_first_is_kept():
    chunks = Chunks()
    for index, text in ((0, "a"), (1, "b"), (0, "c")):
        chunks.add({"choices": [{"index": index, "delta": {"content": text}}]})
    assert chunks.response() == {"role": "assistant", "content": "ac"}


@given(st.text(), st.lists(st.integers(0, 5), max_size=6))
def test_however_a_text_is_cut_the_pieces_make_it_up(text, cuts):
    for wrap in (lambda piece: piece, lambda piece: {"choices": [{"index": 0, "delta": {"content": piece}}]}):
        chunks, start = Chunks(), 0
        for size in [*cuts, len(text)]:
            chunks.add(wrap(text[start : start + size]))
            start += size
        whole = chunks.response()
        assert (whole if isinstance(whole, str) else whole["content"]) == text[:start]


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 9, "completion_tokens": -500},
        {"prompt_tokens": True, "completion_tokens": 1},
        {"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": "4"}},
        {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": "many"},
    ],
    ids=str,
)
def test_counts_that_are_none_are_no_usage(usage):
    assert usage_of({"usage": usage}) is None


def test_details_of_another_shape_are_passed_over():
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": [1]}
    assert usage_of({"usage": usage}) == Usage(9, 2, requests=1)
