"""Two shells, one way to call them; servers and listeners to call them with."""

import asyncio
import json

import httpx2
import pytest

from yesno import AsyncDecisionModel, DecisionModel, Listener, RetryPolicy
from yesno.providers.base import Provider
from yesno.providers.fake import chat_reply
from yesno.providers.openai_compatible import OpenAICompatible
from yesno.providers.profiles import Profile


class Sync:
    """A `DecisionModel`."""

    name = "sync"
    kind = DecisionModel

    def __init__(self, provider, **settings):
        self.model = self.kind(provider, **settings)

    def decide(self, *args, **kwargs):
        return self.model.decide(*args, **kwargs)

    def run(self, flow):
        return self.model.run(flow)

    def map(self, *args, **kwargs):
        return list(self.model.map(*args, **kwargs))


class Async(Sync):
    """An `AsyncDecisionModel`, in an event loop of its own per call."""

    name = "async"
    kind = AsyncDecisionModel

    def decide(self, *args, **kwargs):
        return asyncio.run(self.model.decide(*args, **kwargs))

    def run(self, flow):
        return asyncio.run(self.model.run(flow))

    def map(self, *args, **kwargs):
        async def collect():
            return [outcome async for outcome in self.model.map(*args, **kwargs)]

        return asyncio.run(collect())


SHELLS = [Sync, Async]
both = pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell.name)


class Native(Provider):
    """A decision endpoint whose calls a test writes itself."""

    profile = Profile(strategies=("native",))

    def build(self, task):
        return {}


class Recorder(Listener):
    """Keeps the names of the events it hears, and what came with them."""

    def __init__(self):
        self.names = []
        self.calls = []
        self.heard = []

    def on_request(self, call):
        self._note("request", call, None)

    def on_response(self, call, response):
        self._note("response", call, response)

    def on_error(self, call, error):
        self._note("error", call, error)

    def _note(self, name, call, what):
        self.names.append(name)
        self.calls.append(call)
        self.heard.append(what)


def compatible(handler, **options):
    """Return an `openai-compatible` provider whose requests go to a function."""
    transport = httpx2.MockTransport(handler)
    return OpenAICompatible(
        "m",
        base_url="http://server.test/v1",
        http_client=httpx2.Client(transport=transport),
        async_http_client=httpx2.AsyncClient(transport=transport),
        **options,
    )


class Server:
    """Plays replies in order, the last one for ever, and keeps the request bodies."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.bodies = []

    def __call__(self, request):
        self.bodies.append(json.loads(request.content))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, httpx2.Response):
            return httpx2.Response(reply.status_code, headers=dict(reply.headers), content=reply.content)
        return httpx2.Response(200, json=chat_reply(reply) if "choices" not in reply else reply)


def refused(status, message="no", headers=None, **fields):
    """Return an error response in OpenAI's shape."""
    return httpx2.Response(status, json={"error": {"message": message, **fields}}, headers=headers or {})


def patient(waits, **settings):
    """Return a policy that notes how long it would wait, and waits for nothing."""

    async def asleep(seconds):
        waits.append(seconds)

    return RetryPolicy(sleep=waits.append, asleep=asleep, **settings)
