"""Two shells for one signature, an endpoint that keeps what it was asked, and types to ask for."""

import asyncio
import functools
from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated

import pytest

from yesno import AsyncDecisionModel, ChoiceAnswer, DecisionModel, FakeProvider, ScaleAnswer, YesNoAnswer
from yesno.functions import Asks, Option


class Sync:
    """A plain function and a `DecisionModel`."""

    name = "sync"
    kind = DecisionModel
    other = AsyncDecisionModel

    @staticmethod
    def form(stub):
        return stub

    @staticmethod
    def call(function, *args, **kwargs):
        return function(*args, **kwargs)

    @staticmethod
    def map(function, items, **settings):
        return list(function.map(items, **settings))


class Async:
    """An `async def` of the same signature and an `AsyncDecisionModel`."""

    name = "async"
    kind = AsyncDecisionModel
    other = DecisionModel

    @staticmethod
    def form(stub):
        @functools.wraps(stub)
        async def later(*args, **kwargs): ...

        return later

    @staticmethod
    def call(function, *args, **kwargs):
        return asyncio.run(function(*args, **kwargs))

    @staticmethod
    def map(function, items, **settings):
        async def collected():
            return [outcome async for outcome in function.map(items, **settings)]

        return asyncio.run(collected())


both = pytest.mark.parametrize("shell", [Sync, Async], ids=lambda shell: shell.name)


class Endpoint(FakeProvider):
    """A decision endpoint that keeps the requests it is asked, answers in turn, and may not say who answered."""

    def __init__(self, *replies, reports="reported"):
        super().__init__(list(replies), native=True, model="default")
        self.reports = reports
        self.asked = []

    def build(self, task):
        self.asked.append(task.request)
        return super().build(task)

    def parse(self, task, reply):
        return replace(super().parse(task, reply), model=self.reports)


class Team(Enum):
    BILLING = Option("payments, payouts")
    SUPPORT = Option("using the product")
    OTHER = "elsewhere"


class Severity(Enum):
    LOW = Option("can wait")
    MEDIUM = 2
    HIGH = 3


@dataclass
class Ticket:
    urgent: Annotated[bool, Asks("Does this need attention today?")]
    team: Annotated[Team, Asks("Which team should handle this?")]
    severity: Annotated[ScaleAnswer[Severity], Asks("How severe is this?")]


def yes(probability):
    return YesNoAnswer(probability)


def chosen(value, **probabilities):
    return ChoiceAnswer(value, probabilities)


TICKET_ANSWERS = {
    "urgent": yes(0.7),
    "team": chosen("SUPPORT", SUPPORT=0.9, BILLING=0.1),
    "severity": ScaleAnswer(1.6, (0.1, 0.2, 0.7)),
}


def returning(hint, *, shell=Sync):
    """Return a function of one parameter with this return type."""

    def judge(message): ...

    judge.__annotations__["return"] = hint
    return shell.form(judge)
