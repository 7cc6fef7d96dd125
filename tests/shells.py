"""Two shells, one way to call them; a model that answers by what a question names."""

import asyncio
from collections.abc import Mapping

import pytest

from yesno import AsyncDecisionModel, DecisionModel, FakeProvider, Listener


class Sync:
    """A `DecisionModel`."""

    name = "sync"
    kind = DecisionModel

    def __init__(self, provider, **settings):
        self.model = self.kind(provider, **settings)

    def result(self, value):
        """Return what a call with a model gave back, awaited where it must be."""
        return value

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

    def result(self, value):
        async def wait():
            return await value

        return asyncio.run(wait())

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

REFUSED = {"<refusal>": 1}
UNDECIDED = {"Perhaps": 0.9}


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


class Heard:
    """What models with scripted answers have in common; subclasses set `shell` and `ear`."""

    @property
    def model(self):
        """The `DecisionModel` or `AsyncDecisionModel` itself."""
        return self.shell.model

    def run(self, flow):
        """Run a flow to its end."""
        return self.shell.run(flow)

    def result(self, value):
        """Return what a call with the model gave back, awaited where it must be."""
        return self.shell.result(value)

    @property
    def requests(self):
        """The decisions asked for, in order: `input` and `questions`."""
        heard = zip(self.ear.calls, self.ear.names, strict=True)
        return [call.request for call, name in heard if name == "request"]


class Scripted(Heard):
    """A model of either kind with a script per question, and all that was asked of it.

    Args:
        shell: `Sync` or `Async`, from the fixture `shell`.
        answers: What a question's text holds -> the probability of yes, `REFUSED`, `UNDECIDED`, token
            probabilities, or an error; the longest that fits counts.
        default: The same for all other questions.
    """

    def __init__(self, shell, answers=None, default=0.05, **settings):
        self.answers = dict(answers or {})
        self.default = default
        self.ear = Recorder()
        self.provider = FakeProvider(self._reply)
        self.shell = shell(self.provider, listeners=[self.ear], **settings)

    @property
    def questions(self):
        """The texts of all questions asked, in order, per decision."""
        return [[question.text for question in request.questions.values()] for request in self.requests]

    def _reply(self, prompt):
        question = prompt.rpartition("</input>")[2]
        fitting = [key for key in self.answers if key in question]
        reply = self.answers[max(fitting, key=len)] if fitting else self.default
        return reply if isinstance(reply, Mapping | Exception) else {"Yes": reply, "No": 1 - reply}
