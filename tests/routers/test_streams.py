import asyncio
import threading

import pytest

from tests.routers.support import FAILURE, RESULT, Desk, Judge, Target, awaited, drained, pick, said
from tests.shells import Async, Sync
from yesno.errors import ConfigError, ProviderRejected, QuestionError, RoutingError
from yesno.routers import AsyncRoutingChatModel, ChatRouter, RoutingChatModel, current_route

ROUTES = {"small": "quick questions", "large": "proofs"}


def small(request):
    return "small"


class Pieces:
    """A model that streams pieces and notes how it went."""

    def __init__(self, *pieces, error=None):
        self.pieces = pieces
        self.error = error
        self.log = []

    def __call__(self, messages, **options):
        self.log.append("called")
        return self._each()

    def _each(self):
        try:
            for piece in self.pieces:
                self.log.append(piece)
                yield piece
            if self.error:
                raise self.error
        finally:
            self.log.append("closed")


class AsyncPieces(Pieces):
    async def __call__(self, messages, **options):
        return self._aeach(super().__call__(messages))

    async def _aeach(self, pieces):
        for piece in pieces:
            yield piece


def delta(**fields):
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": fields}]}


def tool_delta(index, name=None, arguments="", number=None):
    return delta(
        tool_calls=[{"index": index, "id": number, "function": {"name": name, "arguments": arguments}}]
    )


CHUNKS = [
    delta(role="assistant", content="Let me "),
    delta(content="see."),
    tool_delta(0, "search", '{"q"', "c1"),
    tool_delta(0, arguments=': "x"}'),
    tool_delta(1, "open", "{}", "c2"),
    {"object": "chat.completion.chunk", "choices": [], "usage": {"total_tokens": 9}},
]


def test_case_133_the_route_is_on_the_whole_response_when_the_stream_has_ended(shell):
    judge = Judge(shell, {"route": pick(small=0.9, large=0.1)})
    desk = judge.chat(ChatRouter(ROUTES, default="large"), {"small": Pieces("a", "b"), "large": Target()})
    pieces, stream = desk.stream()
    assert pieces == ["a", "b"]
    assert (stream.route, stream.result.route, stream.result.response) == ("small", "small", "ab")
    assert stream.choice.probabilities == {"small": 0.9, "large": 0.1}
    assert stream.result.messages == (
        {"role": "assistant", "content": "ab", "attributes": {"chat_model_route": "small"}},
    )


def test_case_133_a_tool_loop_keeps_its_route_in_streams_too(shell):
    judge = Judge(shell, {"route": pick(small=0.9, large=0.1)})
    desk = judge.chat(ChatRouter(ROUTES, default="large"), {"small": Pieces(*CHUNKS), "large": Target()})
    talk = said("find it")
    _, stream = desk.stream(talk)
    message = stream.result.messages[0]
    assert message["content"] == "Let me see."
    assert [call["function"] for call in message["tool_calls"]] == [
        {"name": "search", "arguments": '{"q": "x"}'},
        {"name": "open", "arguments": "{}"},
    ]
    assert [call["id"] for call in message["tool_calls"]] == ["c1", "c2"]
    judge.answers = FAILURE
    _, again = desk.stream([*talk, message, RESULT])
    assert (again.choice.route, again.choice.why) == ("small", "tool_loop")


def once(desk, error, match):
    """Check that a stream raises an error at its first piece, and nothing after it."""
    stream = desk.model.stream("hi")
    if desk.is_async:

        async def go():
            with pytest.raises(error, match=match):
                await anext(stream)
            return await drained(stream)

        assert asyncio.run(go()) == []
    else:
        with pytest.raises(error, match=match):
            next(stream)
        assert list(stream) == []
    assert stream.result is None


def test_case_134_what_fails_while_routing_is_raised_once_and_no_model_is_called(shell):
    model = Target()

    def router(request):
        raise OSError("no route to host")

    once(Desk(shell, router, {"small": model}, default="small"), OSError, "no route")
    once(Desk(shell, lambda request: None, {"small": model}, default="small"), RoutingError, "None")
    judge = Judge(shell, FAILURE)
    failing = ChatRouter(ROUTES, default="large", fallback="fail")
    once(judge.chat(failing, {"small": model, "large": model}), ProviderRejected, "other side")
    assert model.calls == []


def test_case_134_what_the_model_raises_is_raised_once(shell):
    def broken(messages):
        raise OSError("down")

    once(Desk(shell, small, {"small": broken}, default="small"), OSError, "down")
    once(Desk(shell, small, {"small": Pieces(error=OSError("late"))}, default="small"), OSError, "late")


def test_case_134_an_error_after_some_pieces_leaves_no_whole_response(shell):
    desk = Desk(shell, small, {"small": Pieces("a", error=OSError("late"))}, default="small")
    stream = desk.model.stream("hi")

    async def go():
        assert await anext(stream) == "a"
        with pytest.raises(OSError, match="late"):
            await anext(stream)
        assert await drained(stream) == []

    if desk.is_async:
        asyncio.run(go())
    else:
        assert next(stream) == "a"
        with pytest.raises(OSError, match="late"):
            next(stream)
        assert list(stream) == []
    assert stream.result is None


def test_case_135_a_blocking_stream_asks_the_blocking_model_only():
    judge = Judge(Sync, {"route": pick(small=0.9, large=0.1)})
    desk = judge.chat(ChatRouter(ROUTES, default="large"), {"small": Pieces("a"), "large": Target()})
    assert desk.stream()[0] == ["a"]
    assert len(judge.requests) == 1


def test_case_136_an_asynchronous_target_in_a_blocking_stream_fails_with_a_hint():
    async def pieces(messages):
        yield "a"

    for target in (pieces, AsyncPieces("a")):
        with pytest.raises(ConfigError, match="asynchronous"):
            Desk(Sync, small, {"small": target}, default="small").stream()


def test_case_137_one_piece_asked_for_is_one_piece_taken_from_the_model(shell):
    model = Pieces("a", "b", "c")
    stream = Desk(shell, small, {"small": model}, default="small").model.stream("hi")

    async def go():
        first = await anext(stream)
        await stream.aclose()
        return first

    if shell is Async:
        assert asyncio.run(go()) == "a"
    else:
        assert next(stream) == "a"
        stream.close()
    assert model.log == ["called", "a", "closed"]
    assert stream.result is None


def test_case_138_a_stream_of_nothing_to_answer_is_refused_at_once_and_calls_nothing(shell):
    model, asked = Target(), []
    chat = Desk(
        shell, lambda request: asked.append(request) or "small", {"small": model}, default="small"
    ).model
    with pytest.raises(QuestionError, match="no message"):
        chat.stream([])
    with pytest.raises(ConfigError, match="method `stream`"):
        chat.stream("hi", stream=True)
    assert (asked, model.calls) == ([], [])


def test_case_139_closing_before_the_first_piece_calls_neither_router_nor_model(shell):
    model, asked = Target(), []
    chat = Desk(
        shell, lambda request: asked.append(request) or "small", {"small": model}, default="small"
    ).model

    async def go():
        stream = chat.stream("hi")
        await stream.aclose()
        assert await drained(stream) == []
        async with chat.stream("hi"):
            pass

    if shell is Async:
        asyncio.run(go())
    else:
        stream = chat.stream("hi")
        stream.close()
        assert list(stream) == []
        with chat.stream("hi"):
            pass
    assert (asked, model.calls) == ([], [])


def test_case_139_cancelling_while_routing_cancels_it_and_calls_no_model():
    model, seen = Target(), []

    async def scenario():
        started = asyncio.Event()

        async def router(request):
            started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                seen.append("routing cancelled")
                raise

        stream = AsyncRoutingChatModel(router, {"small": model}, default="small").stream("hi")
        running = asyncio.create_task(awaited(drained(stream)))
        await started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await drained(stream) == []

    asyncio.run(scenario())
    assert (seen, model.calls) == (["routing cancelled"], [])


def test_case_140_routing_happens_at_the_first_piece_and_not_before(shell):
    asked = []
    chat = Desk(
        shell, lambda request: asked.append(1) or "small", {"small": Pieces("a")}, default="small"
    ).model
    stream = chat.stream("hi")
    assert (asked, stream.route, stream.choice) == ([], None, None)
    assert (asyncio.run(drained(stream)) if shell is Async else list(stream)) == ["a"]
    assert (asked, stream.route) == ([1], "small")


def test_a_target_that_does_not_stream_gives_one_piece(shell):
    message = {"role": "assistant", "content": "whole"}
    for reply in ("whole", message):
        pieces, stream = Desk(shell, small, {"small": Target(reply)}, default="small").stream()
        assert pieces == [reply]
        assert stream.result.response == reply
        assert stream.result.messages[0]["attributes"] == {"chat_model_route": "small"}


def test_asynchronous_pieces_stream_and_are_closed():
    model = AsyncPieces("a", "b")
    desk = Desk(Async, small, {"small": model}, default="small")
    assert desk.stream()[0] == ["a", "b"]
    assert model.log == ["called", "a", "b", "closed"]


def test_cancelling_while_a_blocking_model_works_does_not_wait_for_it():
    started, gate, done = threading.Event(), threading.Event(), []

    def pieces(messages):
        started.set()
        gate.wait(10)
        done.append(1)
        yield "late"

    async def scenario():
        stream = AsyncRoutingChatModel(small, {"small": pieces}, default="small").stream("hi")
        running = asyncio.create_task(awaited(drained(stream)))
        while not started.is_set():
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert done == []

    try:
        asyncio.run(scenario())
    finally:
        gate.set()


class Connection:
    """An iterator that must be closed, as those of the SDKs must."""

    def __init__(self):
        self.closed = 0

    def __iter__(self):
        return self

    def __next__(self):
        return "piece"

    def close(self):
        self.closed += 1


class AsyncConnection(Connection):
    __iter__ = None

    def __aiter__(self):
        return self

    async def __anext__(self):
        return "piece"

    async def close(self):
        self.closed += 1


def test_what_has_to_be_closed_is_closed_when_the_stream_is_left(shell):
    kept = [Connection(), AsyncConnection()] if shell is Async else [Connection()]
    for connection in kept:
        stream = Desk(shell, small, {"small": lambda m, c=connection: c}, default="small").model.stream("hi")

        async def go(stream=stream):
            async with stream:
                return await anext(stream)

        if shell is Async:
            assert asyncio.run(go()) == "piece"
        else:
            with stream:
                assert next(stream) == "piece"
        assert connection.closed == 1


def test_the_route_can_be_told_inside_and_not_between_the_pieces(shell):
    inside = []

    def pieces(messages):
        for _ in range(2):
            inside.append(current_route())
            yield "x"

    stream = Desk(shell, small, {"small": pieces}, default="small").model.stream("hi")
    between = []

    async def go():
        async for _ in stream:
            between.append(current_route())

    if shell is Async:
        asyncio.run(go())
    else:
        for _ in stream:
            between.append(current_route())
    assert (inside, between) == (["small", "small"], [None, None])


def test_pieces_of_an_unknown_shape_pass_and_their_whole_is_not_known(shell):
    pieces, stream = Desk(shell, small, {"small": Pieces(1, {"type": "ping"})}, default="small").stream()
    assert pieces == [1, {"type": "ping"}]
    assert (stream.result.response, stream.result.messages) == (None, ())


def test_a_stream_through_two_routing_models_is_one(shell):
    kind = AsyncRoutingChatModel if shell is Async else RoutingChatModel
    inner = kind(lambda request: "deep", {"deep": Pieces("a", "b")}, default="deep")
    pieces, stream = Desk(shell, lambda request: "inner", {"inner": inner}, default="inner").stream()
    assert pieces == ["a", "b"]
    assert stream.result.route == "inner"
