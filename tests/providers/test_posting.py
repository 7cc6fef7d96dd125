"""What is the caller's stays the caller's, and no reply and no redirect leads anywhere it should not."""

import asyncio
import json
import time

import httpx2
import pytest

from yesno import AsyncDecisionModel, DecisionModel, RetryPolicy, YesNo
from yesno.errors import DeadlineExceeded, ProviderRejected
from yesno.providers.anthropic import AnthropicMessages
from yesno.providers.fake import chat_reply
from yesno.providers.gemini import Gemini
from yesno.providers.openai_compatible import OpenAICompatible

KINDS = [OpenAICompatible, AnthropicMessages, Gemini]
each = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


class Closing(httpx2.MockTransport):
    """Notes whether it was closed."""

    closed = False

    def close(self):
        self.closed = True

    async def aclose(self):
        self.closed = True


def made(kind, handler):
    one, other = Closing(handler), Closing(handler)
    provider = kind(
        "m",
        api_key="k" * 30,
        base_url="http://server.test/v1",
        http_client=httpx2.Client(transport=one, follow_redirects=True),
        async_http_client=httpx2.AsyncClient(transport=other, follow_redirects=True),
    )
    return provider, one, other


def failing(handler_seen, status):
    def handler(request):
        handler_seen.append(str(request.url))
        return httpx2.Response(status, headers={"location": "http://elsewhere.test/"}, json={})

    return handler


@each
@pytest.mark.parametrize("status", [302, 307, 308])
def test_a_key_does_not_follow_a_redirect_through_a_client_that_would(kind, status):
    seen = []
    provider, _, _ = made(kind, failing(seen, status))
    once = RetryPolicy(attempts=1)
    with pytest.raises(ProviderRejected, match=str(status)):
        DecisionModel(provider, retry=once).decide("x", YesNo("q?"))
    with pytest.raises(ProviderRejected, match=str(status)):
        asyncio.run(AsyncDecisionModel(provider, retry=once).decide("x", YesNo("q?")))
    assert {httpx2.URL(url).host for url in seen} == {"server.test"}


@each
def test_closing_a_model_leaves_the_callers_clients_open(kind):
    seen = []
    provider, one, other = made(kind, failing(seen, 401))
    with DecisionModel(provider) as model, pytest.raises(ProviderRejected):
        model.decide("x", YesNo("q?"))

    async def go():
        async with AsyncDecisionModel(provider) as model:
            with pytest.raises(ProviderRejected):
                await model.decide("x", YesNo("q?"))

    asyncio.run(go())
    assert not one.closed
    assert not other.closed
    before = len(seen)
    with pytest.raises(ProviderRejected):
        DecisionModel(provider).decide("x", YesNo("q?"))
    assert len(seen) > before


def test_closing_a_model_closes_its_own_client():
    provider = OpenAICompatible("m", base_url="http://127.0.0.1:9/v1")
    http = provider._own_http
    provider.close()
    assert http.is_closed


class Dripping(httpx2.SyncByteStream):
    """A body that never ends: a byte a second, by a clock that nobody waits for."""

    def __init__(self, clock):
        self.clock = clock

    def __iter__(self):
        while True:
            self.clock[0] += 1
            yield b" "


@each
@pytest.mark.parametrize("status", [200, 500], ids=str)
def test_bodies_that_never_end_are_a_missed_deadline(kind, status, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: clock.__setitem__(0, clock[0] + seconds))
    provider, _, _ = made(kind, lambda _: httpx2.Response(status, stream=Dripping(clock)))
    with pytest.raises(DeadlineExceeded):
        DecisionModel(provider, timeout_s=20).decide("x", YesNo("q?"))
    assert clock[0] <= 22


def test_what_is_left_of_the_time_bounds_the_wait_for_a_piece_of_the_body(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    limits = []

    class Watching(httpx2.SyncByteStream):
        def __iter__(self):
            limits.append(request_seen[0].extensions["timeout"]["read"])
            yield b"{}"

    request_seen = []

    def handler(request):
        request_seen.append(request)
        clock[0] += 7
        return httpx2.Response(200, stream=Watching())

    provider, _, _ = made(OpenAICompatible, handler)
    provider.send({}, timeout_s=10)
    assert limits == [3.0]


def test_a_body_in_pieces_is_read_whole():
    whole = json.dumps(chat_reply({"Yes": 0.8, "No": 0.2})).encode()

    class Pieces(httpx2.SyncByteStream):
        def __iter__(self):
            yield from (whole[:40], whole[40:])

    provider, _, _ = made(OpenAICompatible, lambda _: httpx2.Response(200, stream=Pieces()))
    assert DecisionModel(provider).decide("x", YesNo("q?")).is_yes()
