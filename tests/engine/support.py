"""Two shells, one way to call them."""

import asyncio
import json

import httpx2

from yesno import AsyncDecisionModel, DecisionModel
from yesno.providers.fake import chat_reply
from yesno.providers.openai_compatible import OpenAICompatible


class Sync:
    """A `DecisionModel`, closed after each call."""

    name = "sync"

    def __init__(self, provider, **settings):
        self.model = DecisionModel(provider, **settings)

    def decide(self, *args, **kwargs):
        return self.model.decide(*args, **kwargs)

    def run(self, flow):
        return self.model.run(flow)

    def map(self, *args, **kwargs):
        return list(self.model.map(*args, **kwargs))


class Async(Sync):
    """An `AsyncDecisionModel` in an event loop of its own per call."""

    name = "async"

    def __init__(self, provider, **settings):
        self.model = AsyncDecisionModel(provider, **settings)

    def decide(self, *args, **kwargs):
        return asyncio.run(self.model.decide(*args, **kwargs))

    def run(self, flow):
        return asyncio.run(self.model.run(flow))

    def map(self, *args, **kwargs):
        async def collect():
            return [outcome async for outcome in self.model.map(*args, **kwargs)]

        return asyncio.run(collect())


SHELLS = [Sync, Async]


def compatible(handler, **options):
    """An `openai-compatible` provider whose requests go to a function."""
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
        self.headers = []

    def __call__(self, request):
        self.bodies.append(json.loads(request.content))
        self.headers.append(request.headers)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, httpx2.Response):
            return httpx2.Response(reply.status_code, headers=dict(reply.headers), content=reply.content)
        return httpx2.Response(200, json=chat_reply(reply) if "choices" not in reply else reply)


def refused(status, message="no", **fields):
    """An error response in OpenAI's shape."""
    headers = fields.pop("headers", {})
    return httpx2.Response(status, json={"error": {"message": message, **fields}}, headers=headers)
