"""The SDKs themselves, over transports that answer in place of a server."""

import asyncio
import json
import pickle

import anthropic
import httpx2
import openai
import pytest

from tests.routers.support import Desk, awaited, said
from tests.shells import Async, Sync
from yesno import Message
from yesno.errors import ConfigError, QuestionError
from yesno.routers import Route, anthropic_messages, openai_chat, openai_responses

CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
CHAT = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "Let me see.",
                "refusal": None,
                "annotations": [],
                "tool_calls": [CALL],
            },
        }
    ],
    "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
}
RESPONSE = {
    "id": "r1",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "status": "completed",
    "output": [
        {"type": "reasoning", "id": "rs1", "summary": []},
        {
            "type": "message",
            "id": "m1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Let me see.", "annotations": []}],
        },
        {"type": "function_call", "id": "f1", "call_id": "c1", "name": "search", "arguments": "{}"},
    ],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
MESSAGE = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "c1", "name": "search", "input": {"parsed": 1}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 5, "output_tokens": 2},
}


def chunk(**fields):
    choice = {"index": 0, "delta": fields, "finish_reason": None}
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


CHAT_EVENTS = [
    chunk(role="assistant", content="Let me "),
    chunk(content="see."),
    chunk(tool_calls=[{"index": 0, **CALL}]),
]
RESPONSE_EVENTS = [
    {"type": "response.created", "sequence_number": 0, "response": {**RESPONSE, "status": "in_progress"}},
    {"type": "response.completed", "sequence_number": 1, "response": RESPONSE},
]
MESSAGE_EVENTS = [
    {"type": "message_start", "message": {**MESSAGE, "content": [], "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Let me see."}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "c1", "name": "search", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": '{"parsed": 1}'},
    },
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
]


class Api:
    """One of the three APIs: a client of either kind, a target on it, and the requests that reach its server."""

    def __init__(self, kind, *, is_async, status=200):
        self.kind, self.is_async, self.status = kind, is_async, status
        self.bodies = []
        sdk = anthropic if kind is anthropic_messages else openai
        names = ("AsyncAnthropic", "AsyncOpenAI") if is_async else ("Anthropic", "OpenAI")
        client = getattr(sdk, names[0] if sdk is anthropic else names[1])
        transport = httpx2.MockTransport(self._serve)
        http = httpx2.AsyncClient(transport=transport) if is_async else httpx2.Client(transport=transport)
        self.client = client(api_key="k" * 20, http_client=http, max_retries=0)

    def target(self, **defaults):
        return self.kind(self.client, "m", **defaults)

    def _serve(self, request):
        body = json.loads(request.content)
        self.bodies.append(body)
        if self.status != 200:
            return httpx2.Response(self.status, json={"error": {"message": "busy", "type": "x"}})
        reply, events = {
            openai_chat: (CHAT, CHAT_EVENTS),
            openai_responses: (RESPONSE, RESPONSE_EVENTS),
            anthropic_messages: (MESSAGE, MESSAGE_EVENTS),
        }[self.kind]
        if not body.get("stream"):
            return httpx2.Response(200, json=reply)
        lines = "".join(f"event: {e.get('type', 'x')}\ndata: {json.dumps(e)}\n\n" for e in events)
        if self.kind is openai_chat:
            lines = "".join(f"data: {json.dumps(e)}\n\n" for e in events) + "data: [DONE]\n\n"
        return httpx2.Response(200, text=lines, headers={"content-type": "text/event-stream"})


APIS = [openai_chat, openai_responses, anthropic_messages]
every_api = pytest.mark.parametrize("kind", APIS, ids=lambda kind: kind.__name__)


def results(kind):
    """Return what the caller appends when the tool has answered."""
    if kind is openai_chat:
        return [{"role": "tool", "tool_call_id": "c1", "content": "found"}]
    if kind is openai_responses:
        return [{"type": "function_call_output", "call_id": "c1", "output": "found"}]
    return [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "found"}]}]


def objects(kind, response):
    """Return the SDK's own objects as a caller would append them."""
    if kind is openai_chat:
        return [response.choices[0].message]
    if kind is openai_responses:
        return list(response.output)
    return [{"role": "assistant", "content": response.content}]


def told(api):
    return api.bodies[-1]["input" if api.kind is openai_responses else "messages"]


def desk(shell, api, **defaults):
    other = Route("other", target=lambda messages, **options: pytest.fail("the wrong route"))
    asked = []

    def router(request):
        asked.append(request)
        return "mine"

    made = Desk(
        shell,
        router,
        [other, Route("mine", target=api.target(**defaults))],
        default="other",
    )
    made.asked = asked
    return made


@every_api
def test_a_reply_is_the_sdks_object_and_its_messages_are_plain(shell, kind):
    api = Api(kind, is_async=shell is Async)
    reply = desk(shell, api, metadata={"user_id": "a"})(said("find it"), metadata={"user_id": "b"})
    assert type(reply.response).__module__.startswith(("openai", "anthropic"))
    assert api.bodies[0]["model"] == "m"
    assert api.bodies[0]["metadata"] == {"user_id": "b"}
    assert json.loads(json.dumps(reply.messages))[-1]["attributes"] == {"chat_model_route": "mine"}
    assert "chat_model_route" not in reply.response.to_json()


@every_api
@pytest.mark.parametrize("way", ["dicts", "stored", "objects", "pickled objects"])
def test_a_tool_loop_stays_with_its_route_and_the_server_gets_what_it_sent(shell, kind, way):
    api = Api(kind, is_async=shell is Async)
    chat = desk(shell, api)
    talk = said("find it")
    reply = chat(talk)
    if way == "dicts":
        talk += reply.messages
    elif way == "stored":
        talk += json.loads(json.dumps(reply.messages))
    else:
        found = objects(kind, reply.response)
        talk += found if way == "objects" else pickle.loads(pickle.dumps(found))  # noqa: S301 - our own bytes
    chat([*talk, *results(kind)])
    assert len(chat.asked) == 1
    sent = told(api)
    assert "chat_model_route" not in json.dumps(sent)
    assert "attributes" not in json.dumps(sent)
    assert sent[-len(results(kind)) :] == results(kind)
    if kind is openai_chat:
        assert sent[1]["tool_calls"] == [CALL]
        assert sent[1]["content"] == "Let me see."
    elif kind is openai_responses:
        assert [item["type"] for item in sent[1:4]] == ["reasoning", "message", "function_call"]
    else:
        assert sent[1]["content"] == MESSAGE["content"]


@every_api
def test_a_stream_brings_the_sdks_events_and_ends_with_messages_for_the_tool_loop(shell, kind):
    api = Api(kind, is_async=shell is Async)
    chat = desk(shell, api)
    talk = said("find it")
    pieces, stream = chat.stream(talk)
    assert len(pieces) >= 2
    assert api.bodies[0]["stream"] is True
    whole = stream.result
    assert whole.route == "mine"
    chat.stream([*talk, *whole.messages, *results(kind)])
    assert len(chat.asked) == 1
    assert "search" in json.dumps(told(api)[1:])


@every_api
def test_an_error_of_the_sdk_is_raised_as_it_is(shell, kind):
    api = Api(kind, is_async=shell is Async, status=503)
    sdk = anthropic if kind is anthropic_messages else openai
    with pytest.raises(sdk.InternalServerError):
        desk(shell, api)("hi")
    with pytest.raises(sdk.InternalServerError):
        desk(shell, api).stream("hi")


@every_api
def test_a_client_without_the_method_is_refused(kind):
    with pytest.raises(ConfigError, match=r"a object has no `\w+\."):
        kind(object(), "m")


def test_an_asynchronous_client_in_a_blocking_model_fails_with_a_hint():
    api = Api(openai_chat, is_async=True)
    with pytest.raises(ConfigError, match="asynchronous"):
        desk(Sync, api)("hi")
    with pytest.raises(ConfigError, match="asynchronous"):
        desk(Sync, api).stream("hi")
    assert api.bodies == []


def test_leaving_a_stream_early_closes_the_connection():
    closed = []

    class Body(httpx2.AsyncByteStream):
        async def __aiter__(self):
            for event in CHAT_EVENTS:
                yield f"data: {json.dumps(event)}\n\n".encode()

        async def aclose(self):
            closed.append(True)

    def serve(request):
        return httpx2.Response(200, stream=Body(), headers={"content-type": "text/event-stream"})

    client = openai.AsyncOpenAI(
        api_key="k" * 20, http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(serve)), max_retries=0
    )
    chat = Desk(Async, lambda request: "a", {"a": openai_chat(client, "m")}, default="a").model

    async def go():
        async with chat.stream("hi") as stream:
            await anext(stream)

    asyncio.run(awaited(go()))
    assert closed == [True]


def test_max_tokens_are_always_sent_to_an_api_that_wants_them(shell):
    api = Api(anthropic_messages, is_async=shell is Async)
    desk(shell, api)("hi")
    desk(shell, api)("hi", max_tokens=9)
    assert [body["max_tokens"] for body in api.bodies] == [4096, 9]


@every_api
def test_messages_of_our_own_are_sent_as_the_api_takes_them(shell, kind):
    api = Api(kind, is_async=shell is Async)
    chat = desk(shell, api)
    chat([Message("user", "find it", attributes={"mine": 1})])
    assert told(api) == [{"role": "user", "content": "find it"}]
    calling = Message("assistant", tool_calls=[CALL], attributes={"chat_model_route": "mine"})
    loop = [Message("user", "find it"), calling, Message("tool", "found", tool_call_id="c1")]
    if kind is openai_chat:
        chat(loop)
        assert told(api)[1:] == [
            {"role": "assistant", "content": "", "tool_calls": [CALL]},
            {"role": "tool", "content": "found", "tool_call_id": "c1"},
        ]
        assert len(chat.asked) == 1
    else:
        with pytest.raises(QuestionError, match="own shapes"):
            chat(loop)
