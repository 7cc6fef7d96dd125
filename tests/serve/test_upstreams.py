"""Against a real HTTP server at a socket in the file system."""

import asyncio
import json
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from yesno.errors import ProviderUnavailable, UnreadableReply
from yesno.evidence import Usage
from yesno.serve.upstreams import Upstream, UsageWatch


class Local(Upstream):
    """Reaches every address through one socket."""

    def __init__(self, path, key="a-key", timeout_s=5.0):
        super().__init__("small", "http://upstream/v1/", key, connect_timeout_s=5.0, timeout_s=timeout_s)
        self._path = path

    def connector(self):
        return aiohttp.UnixConnector(self._path)


@asynccontextmanager
async def served(handler, folder, **settings):
    app = web.Application()
    app.router.add_post("/v1/chat/completions", handler)
    runner = web.AppRunner(app, shutdown_timeout=0, handler_cancellation=True)
    await runner.setup()
    path = str(folder / "up")
    await web.UnixSite(runner, path).start()
    upstream = Local(path, **settings)
    try:
        yield upstream
    finally:
        await upstream.close()
        await runner.cleanup()


def run(handler, folder, work, **settings):
    async def go():
        async with served(handler, folder, **settings) as upstream:
            return await work(upstream)

    return asyncio.run(asyncio.wait_for(go(), 20))


async def whole(upstream, headers=()):
    async with upstream.ask(b'{"a": 1}', [*headers]) as answer:
        return answer.status, dict(answer.headers), [piece async for piece in answer.pieces]


@pytest.fixture
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("u")  # the path of a socket is short


def test_a_request_arrives_with_the_key_and_the_headers_given(folder):
    seen = {}

    async def handler(request):
        seen.update({name.lower(): value for name, value in request.headers.items()})
        seen["body"] = await request.read()
        return web.json_response({}, status=418, headers={"x-own": "1"})

    status, headers, pieces = run(handler, folder, lambda up: whole(up, [(b"user-agent", b"me/1")]))
    assert (status, headers[b"x-own"], pieces) == (418, b"1", [b"{}"])
    del seen["content-length"]
    assert seen == {
        "host": "upstream",
        "user-agent": "me/1",
        "content-type": "application/json",
        "accept-encoding": "identity",
        "authorization": "Bearer a-key",
        "body": b'{"a": 1}',
    }


def test_without_a_key_none_is_sent(folder):
    async def handler(request):
        return web.json_response("authorization" in request.headers)

    assert run(handler, folder, whole, key=None)[2] == [b"false"]


def test_pieces_come_before_the_answer_is_whole(folder):
    async def work(upstream):
        first = asyncio.Event()

        async with upstream.ask(b"{}", []) as answer:
            got = []
            async for piece in answer.pieces:
                got.append(piece)
                first.set()
                go_on.set()
            return got

    go_on = asyncio.Event()

    async def handler(request):
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"data: 1\n\n")
        await go_on.wait()
        await response.write(b"data: 2\n\n")
        return response

    assert run(handler, folder, work) == [b"data: 1\n\n", b"data: 2\n\n"]


def test_leaving_early_ends_the_request_there_too(folder):
    ended = asyncio.Event()

    async def handler(request):
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"x")
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def work(upstream):
        async with upstream.ask(b"{}", []) as answer:
            assert await anext(answer.pieces) == b"x"
        await ended.wait()

    run(handler, folder, work)


def test_cancelling_before_the_answer_ends_the_request_there_too(folder):
    began, ended = asyncio.Event(), asyncio.Event()

    async def handler(request):
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def work(upstream):
        task = asyncio.create_task(whole(upstream))
        await began.wait()
        task.cancel()
        await ended.wait()
        assert (await asyncio.gather(task, return_exceptions=True))[0].__class__ is asyncio.CancelledError

    run(handler, folder, work)


def test_a_body_that_breaks_off_is_told(folder):
    async def handler(request):
        response = web.StreamResponse(headers={"content-length": "100"})
        await response.prepare(request)
        await response.write(b"half")
        request.transport.abort()
        return response

    async def work(upstream):
        async with upstream.ask(b"{}", []) as answer:
            first = await anext(answer.pieces)
            with pytest.raises(ProviderUnavailable, match="'small' broke off its answer") as info:
                await anext(answer.pieces)
        return first, info.value.status

    assert run(handler, folder, work) == (b"half", 502)


def test_an_answer_that_stops_is_given_up(folder):
    async def handler(request):
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"x")
        await asyncio.Event().wait()

    async def work(upstream):
        async with upstream.ask(b"{}", []) as answer:
            with pytest.raises(ProviderUnavailable, match="in the middle of its answer") as info:
                [piece async for piece in answer.pieces]
        return info.value.status

    assert run(handler, folder, work, timeout_s=0.05) == 504


def test_one_that_does_not_answer_is_given_up(folder):
    async def handler(request):
        await asyncio.Event().wait()

    async def work(upstream):
        with pytest.raises(ProviderUnavailable, match="did not answer in time") as info:
            await whole(upstream)
        return info.value.status

    assert run(handler, folder, work, timeout_s=0.05) == 504


def test_one_that_is_not_there_is_told_without_its_address(folder):
    async def go():
        upstream = Local(str(folder / "nothing"))
        with pytest.raises(ProviderUnavailable) as info:
            await whole(upstream)
        await upstream.close()
        return info.value

    error = asyncio.run(go())
    assert error.status == 502
    assert str(error).startswith("the upstream of route 'small' cannot be reached (")
    assert str(folder) not in str(error)


def test_a_redirect_is_not_followed_with_the_key(folder):
    async def handler(request):
        raise web.HTTPFound("http://elsewhere/v1/chat/completions")

    async def work(upstream):
        with pytest.raises(UnreadableReply, match="answers with a redirect"):
            await whole(upstream)

    run(handler, folder, work)


def test_nothing_shows_a_key():
    assert repr(Local("x", key="sk-secret")) == "Upstream('small')"


EVENT = b'data: {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 7}}\n\n'


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_counts_in_a_stream_are_found_however_it_is_cut(size):
    stream = b'data: {"choices": [{}], "usage":null}\n\n' * 3 + EVENT + b"data: [DONE]\n\n"
    watch = UsageWatch(stream=True)
    for start in range(0, len(stream), size):
        watch.see(stream[start : start + size])
    assert watch.end() == Usage(5, 7, requests=1)


def test_counts_in_a_whole_answer_are_found():
    watch = UsageWatch(stream=False)
    body = json.dumps({"usage": {"prompt_tokens": 5, "completion_tokens": 7}}).encode()
    watch.see(body[:10])
    watch.see(body[10:])
    assert watch.end() == Usage(5, 7, requests=1)


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[1]", b'"usage"', b'{"usage": 3}', b'{"usage": {"prompt_tokens": "x"}}', b'{"usage": {', b"\xff\xfe"],
    ids=["empty", "none", "list", "text", "number", "odd", "cut", "binary"],
)  # fmt: skip
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_an_answer_without_counts_has_none(body, stream):
    watch = UsageWatch(stream=stream)
    watch.see(b"data: " * stream + body)
    assert watch.end() is None


def test_an_answer_without_end_is_not_kept(monkeypatch):
    monkeypatch.setattr("yesno.serve.upstreams.LONGEST_EVENT", 100)
    watch = UsageWatch(stream=False)
    for _ in range(50):
        watch.see(b"x" * 10)
    assert len(watch._rest) == 0
    assert watch.end() is None
