"""Servers to call the two shells with."""

import json

import httpx2

from tests.shells import SHELLS, Async, Recorder, Sync, both
from yesno import RetryPolicy
from yesno.providers.base import Provider
from yesno.providers.fake import chat_reply
from yesno.providers.openai_compatible import OpenAICompatible
from yesno.providers.profiles import Profile

__all__ = [
    "SHELLS",
    "Async",
    "Native",
    "Recorder",
    "Server",
    "Sync",
    "both",
    "compatible",
    "patient",
    "refused",
]


class Native(Provider):
    """A decision endpoint whose calls a test writes itself."""

    profile = Profile(strategies=("native",))

    def build(self, task):
        return {}


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
