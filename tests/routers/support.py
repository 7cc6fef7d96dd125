"""A decision model whose answers a test writes itself, and routing chat models of both kinds to go with it."""

import asyncio

from tests.shells import Heard, Recorder
from yesno import ChoiceAnswer, FakeProvider, YesNoAnswer
from yesno.errors import ProviderRejected
from yesno.messages.plain import thawed
from yesno.routers import AsyncRoutingChatModel, RoutingChatModel

FAILURE = ProviderRejected("the other side failed", provider="fake", status=400)


def likely(probability):
    return YesNoAnswer(probability=probability)


def pick(**probabilities):
    """Return a choice answer whose value is the most probable option."""
    return ChoiceAnswer(value=max(probabilities, key=probabilities.get), probabilities=probabilities)


class Judge(Heard):
    """A decision model of either kind that answers by the names of questions.

    Args:
        shell: `Sync` or `Async`, from the fixture `shell`.
        answers: Name -> answer, `Refusal` or `Undecided`; a list of such, one per decision; or an error.
    """

    def __init__(self, shell, answers=FAILURE, **settings):
        self.kind = shell
        self.ear = Recorder()
        self.left = list(answers) if isinstance(answers, list) else None
        self.answers = answers
        self.shell = shell(FakeProvider(self._reply, native=True), listeners=[self.ear], **settings)

    @property
    def inputs(self):
        return [thawed(request.input) for request in self.requests]

    def chat(self, router, routes=None, **settings):
        """Return a routing chat model of the same kind, which asks this judge."""
        return Desk(self.kind, router, routes, model=self.model, **settings)

    def _reply(self, payload):
        reply = self.left.pop(0) if self.left is not None else self.answers
        if isinstance(reply, Exception):
            return reply
        return {name: reply[name] for name in payload["questions"]}


class Desk:
    """A routing chat model of either kind, called the same way."""

    def __init__(self, shell, router, routes=None, **settings):
        self.is_async = shell.name == "async"
        self.model = (AsyncRoutingChatModel if self.is_async else RoutingChatModel)(
            router, routes, **settings
        )

    def __call__(self, messages="hello", **options):
        reply = self.model(messages, **options)
        return asyncio.run(awaited(reply)) if self.is_async else reply

    def stream(self, messages="hello", **options):
        """Return the pieces of a stream that has ended, and the stream."""
        stream = self.model.stream(messages, **options)
        return (asyncio.run(drained(stream)) if self.is_async else list(stream)), stream


async def awaited(value):
    return await value


async def drained(stream):
    return [piece async for piece in stream]


class Target:
    """A model that answers with a text and keeps what it was called with."""

    def __init__(self, reply="ok"):
        self.reply = reply
        self.calls = []

    def __call__(self, messages, **options):
        self.calls.append((messages, options))
        return self.reply(messages) if callable(self.reply) else self.reply


class AsyncTarget(Target):
    """The same as a coroutine function."""

    async def __call__(self, messages, **options):
        return super().__call__(messages, **options)


def said(*texts):
    """Return a conversation that alternates between user and assistant."""
    return [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]


CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
ASKED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "found"}
