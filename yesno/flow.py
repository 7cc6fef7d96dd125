"""Write a decision procedure once; run it with or without an event loop.

A flow is a generator: it yields the questions it needs answered next and is sent their outcomes.
A `Refusal` or an `Undecided` is an outcome; a provider's failure is thrown into the flow, which may
catch it and fall back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast

from yesno.errors import ConfigError
from yesno.evidence import Usage
from yesno.messages import InputLike, freeze_input
from yesno.questions import Answer, Outcome, Question
from yesno.response import Metadata, unwrapped

__all__ = [
    "Ask",
    "AsyncRunner",
    "Flow",
    "Later",
    "Outcomes",
    "Runner",
    "SyncRunner",
    "arun",
    "ask",
    "ask_all",
    "gather",
    "outcome_of",
    "run",
    "run_with",
    "spent_on",
]

T = TypeVar("T")
Q = TypeVar("Q")
N = TypeVar("N")
S = TypeVar("S")
R = TypeVar("R")
A = TypeVar("A", bound=Answer)


@dataclass(frozen=True, slots=True)
class Ask:
    """One question about one input."""

    question: Question[Any]
    input: InputLike
    name: str | None = None
    """What the question is called; a decision endpoint and listeners see it. Two of a batch that share both name and
    input travel apart."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "input", freeze_input(self.input))


class Outcomes(tuple[Outcome, ...]):
    """What a batch brought back, in the order asked, and the response that each outcome came in."""

    metadata: tuple[Metadata, ...] = ()
    """Of each outcome's response; the same object for outcomes that came together."""

    @classmethod
    def of(cls, outcomes: Iterable[Outcome], metadata: Iterable[Metadata]) -> Outcomes:
        """Put outcomes together with where they came from."""
        made = cls(outcomes)
        made.metadata = tuple(metadata)
        return made


def spent_on(*batches: Sequence[Outcome]) -> Usage | None:
    """Return what the responses behind some outcomes have used; None when that is not known.

    Questions of several flows in one `gather` may share a response, whose usage then counts for each of them.
    """
    responses = {id(m): m for batch in batches if isinstance(batch, Outcomes) for m in batch.metadata}
    used = [m.usage for m in responses.values() if m.usage is not None]
    return sum(used[1:], used[0]) if used else None


class Later(Generic[T]):
    """What a flow leaves to be awaited after its last question: the end of one that asks, then does something.

    A generator cannot await. Only `arun`, and so an `AsyncDecisionModel`, runs a flow that returns one, and gives what
    its work gives.
    """

    __slots__ = ("work",)

    def __init__(self, work: Callable[[], Awaitable[T]]) -> None:
        self.work = work


Flow: TypeAlias = Generator[Sequence[Ask], Sequence[Outcome], T]


class SyncRunner(Protocol):
    """What runs flows and returns their results, such as a `DecisionModel`."""

    def run(self, flow: Flow[T]) -> T:
        """Run a flow to its end."""
        ...


class AsyncRunner(Protocol):
    """What runs flows and is awaited, such as an `AsyncDecisionModel`."""

    def run(self, flow: Flow[T]) -> Awaitable[T]:
        """Run a flow to its end."""
        ...


class Runner(Protocol):
    """What runs a flow: a `DecisionModel`, which returns its result, or an `AsyncDecisionModel`, awaited."""

    def run(self, flow: Flow[Any]) -> Any:  # noqa: ANN401 - the flow's result, or an awaitable of it
        """Run a flow to its end."""


def run_with(model: Runner | None, flow: Flow[T]) -> Any:  # noqa: ANN401 - as `Runner.run`
    """Run a flow with the model that its maker was given; the result is awaited with an asynchronous one.

    Raises:
        ConfigError: There is no model, or it runs no flows.
    """
    if not callable(getattr(model, "run", None)):
        flow.close()
        kind = "there is no model" if model is None else f"`model` is a {type(model).__name__}"
        raise ConfigError(
            f"{kind}; pass model=DecisionModel(...), or run the flow yourself with model.run(...)"
        )
    return cast("Runner", model).run(flow)


def ask(question: Question[A], input: InputLike) -> Flow[A]:
    """Ask one question and return its answer: the smallest flow.

    Raises:
        Refused: The provider declined it.
        UndecidedError: The evidence did not suffice.
    """
    (outcome,) = yield [Ask(question, input)]
    return cast("A", unwrapped(outcome))


def outcome_of(question: Question[Any], input: InputLike, *, name: str | None = None) -> Flow[Outcome]:
    """Ask one question and return its outcome, which may be a `Refusal` or an `Undecided`."""
    (outcome,) = yield [Ask(question, input, name)]
    return outcome


def ask_all(
    questions: Iterable[Question[Any]] | Mapping[str, Question[Any]], input: InputLike
) -> Flow[list[Outcome]]:
    """Ask several questions, which may have names, about one input in one batch; return their outcomes in order."""
    frozen = freeze_input(input)
    if isinstance(questions, Mapping):
        asks = [Ask(question, frozen, name) for name, question in questions.items()]
    else:
        asks = [Ask(question, frozen) for question in questions]
    outcomes = (yield asks) if asks else []
    return list(outcomes)


def gather(
    flows: Sequence[Generator[Sequence[Q], Sequence[N], T]],
) -> Generator[Sequence[Q], Sequence[N], list[T]]:
    """Advance several flows together, so that each round's questions travel in one batch.

    Other generators that yield lists and are sent a list of the same length can be gathered too.
    """
    results: dict[int, T] = {}
    inbox: dict[int, Sequence[N] | Exception | None] = dict.fromkeys(range(len(flows)))
    while inbox:
        outbox: dict[int, Sequence[Q]] = {}
        for i, news in inbox.items():
            try:
                outbox[i] = _advance(flows[i], news)
            except StopIteration as stop:
                results[i] = stop.value
        if not outbox:
            break
        try:
            batch = yield [item for asks in outbox.values() for item in asks]
        except Exception as error:  # noqa: BLE001 - each flow may have its own way to fall back
            inbox = dict.fromkeys(outbox, error)
        else:
            ends = list(accumulate(len(asks) for asks in outbox.values()))
            inbox = {
                i: _part(batch, start, end) for i, start, end in zip(outbox, [0, *ends], ends, strict=False)
            }
    return [results[i] for i in range(len(flows))]


def _part(batch: Sequence[N], start: int, end: int) -> Sequence[N]:
    if isinstance(batch, Outcomes):
        return cast("Sequence[N]", Outcomes.of(batch[start:end], batch.metadata[start:end]))
    return list(batch[start:end])


def _advance(
    flow: Generator[Sequence[Q], Sequence[N], Any], news: Sequence[N] | Exception | None
) -> Sequence[Q]:
    if news is None:
        return next(flow)
    return flow.throw(news) if isinstance(news, Exception) else flow.send(news)


def run(flow: Generator[S, R, T], answer: Callable[[S], R]) -> T:
    """Drive a flow, or another generator of this kind, to its end with a function that answers what it yields.

    Raises:
        ConfigError: The flow has an end to await.
    """
    step: Callable[[], S] = flow.__next__
    while True:
        try:
            asked = step()
        except StopIteration as stop:
            if isinstance(stop.value, Later):
                raise ConfigError(
                    "this flow has an end to await; run it with an AsyncDecisionModel, or take its blocking form"
                ) from None
            return cast("T", stop.value)
        try:
            step = partial(flow.send, answer(asked))
        except Exception as error:  # noqa: BLE001 - a driver hands every failure to the flow
            step = partial(flow.throw, error)


async def arun(flow: Generator[S, R, T], answer: Callable[[S], Awaitable[R]]) -> T:
    """Do what `run` does with an asynchronous function, and await the end of a flow that has one."""
    step: Callable[[], S] = flow.__next__
    while True:
        try:
            asked = step()
        except StopIteration as stop:
            result = stop.value
            break
        try:
            step = partial(flow.send, await answer(asked))
        except Exception as error:  # noqa: BLE001 - a driver hands every failure to the flow
            step = partial(flow.throw, error)
    return cast("T", await result.work() if isinstance(result, Later) else result)
