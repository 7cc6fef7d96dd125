"""The asynchronous side's own way to post, against a server behind a Unix socket."""

import asyncio
import json

import aiohttp
import httpx2
import openai
import pytest
from aiohttp import web

from yesno import AsyncDecisionModel, ProviderError, RetryPolicy, YesNo
from yesno.providers import _aio
from yesno.providers._proxies import proxy_for
from yesno.providers.fake import chat_reply
from yesno.providers.openai_compatible import OpenAICompatible

BASE = "http://server.test/v1"
YES = chat_reply({"Yes": 0.8, "No": 0.2})


class Server:
    """Answers every request alike and keeps what came."""

    def __init__(self, status=200, body=YES, headers=None, wait_s=0.0):
        self.status, self.body, self.headers, self.wait_s = status, body, headers, wait_s
        self.requests = []

    async def answer(self, request):
        self.requests.append((request.path, dict(request.headers), await request.read()))
        await asyncio.sleep(self.wait_s)
        body = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        return web.Response(
            status=self.status, body=body, headers=self.headers, content_type="application/json"
        )


@pytest.fixture
def play(tmp_path, monkeypatch):
    """Run a coroutine function with a provider whose requests reach a server."""

    def run(server, work, *, path=str(tmp_path / "s"), **options):
        monkeypatch.setattr(_aio.AioPoster, "connector", lambda self: aiohttp.UnixConnector(path))

        async def go():
            app = web.Application()
            app.router.add_route("*", "/{tail:.*}", server.answer)
            runner = web.AppRunner(app)
            await runner.setup()
            site = web.UnixSite(runner, str(tmp_path / "s"))
            await site.start()
            provider = OpenAICompatible("m", base_url=BASE, api_key="sk-secret", **options)
            try:
                return await work(provider)
            finally:
                await provider.aclose()
                await runner.cleanup()

        return asyncio.run(go())

    return run


async def _failure(provider):
    try:
        await provider.asend({"model": "m", "messages": [{"role": "user", "content": "a private matter"}]})
    except ProviderError as error:
        return error
    except openai.OpenAIError as error:
        return provider.classify(error)
    raise AssertionError("nothing failed")


def test_a_decision_travels_with_the_sdks_address_key_and_headers(play):
    server = Server()

    async def work(provider):
        return await AsyncDecisionModel(provider).decide("héllo", YesNo("Is it?"))

    assert play(server, work).probability == pytest.approx(0.8)
    ((path, headers, body),) = server.requests
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer sk-secret"
    assert headers["Content-Type"] == "application/json"
    assert headers["User-Agent"].startswith("AsyncOpenAI/Python")
    assert "héllo" in body.decode()


def test_the_bytes_are_those_that_the_sdk_would_send(play):
    server = Server()
    payload = {
        "model": "m",
        "messages": [{"role": "user", "content": 'a "quoted" ü 漢\n'}],
        "temperature": 1.0,
    }

    play(server, lambda provider: provider.asend(payload))
    sent = []

    def keep(request):
        sent.append(request.content)
        return httpx2.Response(200, json=YES)

    client = httpx2.Client(transport=httpx2.MockTransport(keep))
    OpenAICompatible("m", base_url=BASE, http_client=client).send(payload)
    assert [server.requests[0][2]] == sent


def test_headers_that_the_sdk_leaves_out_are_left_out(play):
    server = Server()
    play(server, lambda provider: provider.asend({}))
    assert not [name for name in server.requests[0][1] if name.startswith("OpenAI-")]


@pytest.mark.parametrize(
    ("status", "retryable"), [(400, False), (401, False), (404, False), (429, True), (500, True), (503, True)]
)
def test_an_error_status_is_named_like_the_sdks(play, status, retryable):
    error = {"error": {"message": "no such thing", "param": "top_logprobs"}}
    headers = {"x-request-id": "r-1", "retry-after": "7"}
    failure = play(Server(status, error, headers), _failure)
    assert (failure.status, failure.retryable) == (status, retryable)
    assert "no such thing" in str(failure)
    assert (failure.request_id, failure.retry_after) == ("r-1", 7.0)
    assert "sk-secret" not in str(failure)


def test_an_error_that_quotes_the_prompt_is_left_out(play):
    failure = play(Server(400, {"error": {"message": "bad: a private matter"}}), _failure)
    assert "private" not in str(failure)


def test_an_error_that_is_not_json_keeps_its_text(play):
    failure = play(Server(502, b"upstream is away"), _failure)
    assert "upstream is away" in str(failure)


def test_an_encoding_that_was_not_asked_for_is_named_and_can_be_tried_again(play):
    failure = play(Server(200, b"no frame of zstd", {"content-encoding": "zstd"}), _failure)
    assert failure.retryable
    assert "cannot be decoded" in str(failure)


def test_a_redirect_is_not_followed(play):
    server = Server(302, b"", {"location": "http://elsewhere.test/"})
    failure = play(server, _failure)
    assert failure.status == 302
    assert len(server.requests) == 1


def test_a_body_that_is_not_json_is_unreadable(play):
    assert "not JSON" in str(play(Server(200, b"<html>"), _failure))


def test_a_server_that_is_away_can_be_tried_again(play, tmp_path):
    failure = play(Server(), _failure, path=str(tmp_path / "nobody"))
    assert failure.retryable
    assert "cannot reach" in str(failure)


def test_a_slow_server_can_be_tried_again(play, monkeypatch):
    made = _aio.AioPoster.__init__
    monkeypatch.setattr(_aio.AioPoster, "__init__", lambda self, *a: made(self, *a, timeout_s=0.01))
    failure = play(Server(wait_s=0.2), _failure)
    assert failure.retryable
    assert "in time" in str(failure)


def test_cookies_are_not_kept(play):
    server = Server(headers={"set-cookie": "a=b"})

    async def work(provider):
        await provider.asend({})
        await provider.asend({})

    play(server, work)
    assert "Cookie" not in server.requests[1][1]


def test_one_provider_serves_one_event_loop_after_another(play):
    server = Server()

    async def first(provider):
        await provider.asend({})
        return provider

    provider = play(server, first)

    async def second(_):
        await provider.asend({})
        await provider.aclose()

    play(server, second)
    assert len(server.requests) == 2


def test_many_decisions_share_the_connections(play):
    server = Server()

    async def work(provider):
        model = AsyncDecisionModel(provider, concurrency=4, retry=RetryPolicy(attempts=1))
        return [outcome async for outcome in model.map([f"text {n}" for n in range(40)], YesNo("Is it?"))]

    assert {round(outcome.probability, 6) for outcome in play(server, work)} == {0.8}
    assert len(server.requests) == 40


def test_a_proxy_of_the_environment_is_used(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://proxy.test:3128")
    monkeypatch.setenv("no_proxy", "localhost")
    assert proxy_for("http://server.test/v1") == "http://proxy.test:3128"
    assert proxy_for("http://localhost/v1") is None
