"""Write a decision procedure once; run it with or without an event loop.

A flow is a generator: it yields the questions it needs answered next and is sent their outcomes.
A `Refusal` or an `Undecided` is an outcome; a provider's failure is thrown into the flow, which may
catch it and fall back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, cast

from yesno.messages import InputLike, freeze_input
from yesno.questions import Answer, Outcome, Question
from yesno.response import unwrapped

__all__ = ["Ask", "Flow", "arun", "ask", "ask_all", "gather", "outcome_of", "run"]

T = TypeVar("T")
A = TypeVar("A", bound=Answer)


@dataclass(frozen=True, slots=True)
class Ask:
    """One question about one input."""

    question: Question[Any]
    input: InputLike

    def __post_init__(self) -> None:
        object.__setattr__(self, "input", freeze_input(self.input))


Flow: TypeAlias = Generator[Sequence[Ask], Sequence[Outcome], T]


def ask(question: Question[A], input: InputLike) -> Flow[A]:
    """Ask one question and return its answer: the smallest flow.

    Raises:
        Refused: The provider declined it.
        UndecidedError: The evidence did not suffice.
    """
    (outcome,) = yield [Ask(question, input)]
    return cast("A", unwrapped(outcome))


def outcome_of(question: Question[A], input: InputLike) -> Flow[Outcome]:
    """Ask one question and return its outcome, which may be a `Refusal` or an `Undecided`."""
    (outcome,) = yield [Ask(question, input)]
    return outcome


def ask_all(questions: Iterable[Question[Any]], input: InputLike) -> Flow[list[Outcome]]:
    """Ask several questions about one input in one batch and return their outcomes in order."""
    frozen = freeze_input(input)
    asks = [Ask(question, frozen) for question in questions]
    outcomes = (yield asks) if asks else []
    return list(outcomes)


def gather(flows: Sequence[Flow[T]]) -> Flow[list[T]]:
    """Advance several flows together, so that each round's questions travel in one batch."""
    results: dict[int, T] = {}
    inbox: dict[int, Sequence[Outcome] | Exception | None] = dict.fromkeys(range(len(flows)))
    while inbox:
        outbox: dict[int, Sequence[Ask]] = {}
        for i, news in inbox.items():
            try:
                outbox[i] = _advance(flows[i], news)
            except StopIteration as stop:
                results[i] = stop.value
        if not outbox:
            break
        try:
            batch = iter((yield [item for asks in outbox.values() for item in asks]))
        except Exception as error:  # noqa: BLE001 - each flow may have its own way to fall back
            inbox = dict.fromkeys(outbox, error)
        else:
            inbox = {i: [next(batch) for _ in asks] for i, asks in outbox.items()}
    return [results[i] for i in range(len(flows))]


def _advance(flow: Flow[Any], news: Sequence[Outcome] | Exception | None) -> Sequence[Ask]:
    if news is None:
        return next(flow)
    return flow.throw(news) if isinstance(news, Exception) else flow.send(news)


def run(flow: Flow[T], answer_all: Callable[[Sequence[Ask]], Sequence[Outcome]]) -> T:
    """Drive a flow to its end with a function that answers a batch."""
    step: Callable[[], Sequence[Ask]] = flow.__next__
    while True:
        try:
            asks = step()
        except StopIteration as stop:
            return cast("T", stop.value)
        try:
            outcomes = answer_all(asks)
        except Exception as error:  # noqa: BLE001 - a driver hands every failure to the flow
            step = _thrower(flow, error)
        else:
            step = _sender(flow, outcomes)


async def arun(flow: Flow[T], answer_all: Callable[[Sequence[Ask]], Awaitable[Sequence[Outcome]]]) -> T:
    """Drive a flow to its end with an asynchronous function that answers a batch."""
    step: Callable[[], Sequence[Ask]] = flow.__next__
    while True:
        try:
            asks = step()
        except StopIteration as stop:
            return cast("T", stop.value)
        try:
            outcomes = await answer_all(asks)
        except Exception as error:  # noqa: BLE001 - a driver hands every failure to the flow
            step = _thrower(flow, error)
        else:
            step = _sender(flow, outcomes)


def _sender(flow: Flow[Any], outcomes: Sequence[Outcome]) -> Callable[[], Sequence[Ask]]:
    return lambda: flow.send(outcomes)


def _thrower(flow: Flow[Any], error: Exception) -> Callable[[], Sequence[Ask]]:
    return lambda: flow.throw(error)
