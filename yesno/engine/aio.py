"""The model for asyncio."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from yesno.engine.aio_flights import AsyncFlights
from yesno.engine.aio_tries import AsyncTries
from yesno.engine.batches import SINGLE, outcomes_of, requests_of
from yesno.engine.core import Core
from yesno.engine.metering import Spent, Tally
from yesno.engine.packing import Talk
from yesno.errors import DeadlineExceeded, YesnoError
from yesno.evidence import Reply
from yesno.flow import Ask, Flow, Later, Outcomes, arun
from yesno.messages import InputLike
from yesno.providers.base import Payload, PromptTask, Provider, Task
from yesno.questions import Answer, Outcome, Question, Refusal, Undecided
from yesno.request import DecisionRequest, Parameters, Questions
from yesno.response import DecisionResponse, Failure, unwrapped

if TYPE_CHECKING:
    from yesno.engine.diagnosis import Diagnosis
    from yesno.engine.probe import Shot

__all__ = ["AsyncDecisionModel"]

A = TypeVar("A", bound=Answer)
T = TypeVar("T")
R = TypeVar("R")


class AsyncDecisionModel(Core):
    """What `DecisionModel` is, for asyncio; it takes the same arguments.

    One object may serve several event loops, one after the other. Use it as an asynchronous context
    manager, or `await` its `close`.
    """

    def __init__(self, model: str | Provider | None = None, **settings: Any) -> None:
        super().__init__(model, **settings)
        self._tries = AsyncTries(self)
        self._flights = AsyncFlights()

    @overload
    async def decide(
        self, input: DecisionRequest, questions: None = None, *, parameters: Parameters | None = None
    ) -> DecisionResponse: ...
    @overload
    async def decide(
        self, input: InputLike, questions: Question[A], *, parameters: Parameters | None = None
    ) -> A: ...
    @overload
    async def decide(
        self, input: InputLike, questions: Questions, *, parameters: Parameters | None = None
    ) -> DecisionResponse: ...
    async def decide(
        self,
        input: InputLike | DecisionRequest,
        questions: Question[Any] | Questions | None = None,
        *,
        parameters: Parameters | None = None,
    ) -> Any:
        """Do what `DecisionModel.decide` does, awaited. Cancelling it cancels the requests."""
        response = await self._decide(self.request(input, questions, parameters))
        return unwrapped(response.outcome(SINGLE)) if isinstance(questions, Question) else response

    @overload
    async def run(self, flow: Flow[Later[T]], *, parameters: Parameters | None = None) -> T: ...
    @overload
    async def run(self, flow: Flow[T], *, parameters: Parameters | None = None) -> T: ...
    async def run(self, flow: Flow[Any], *, parameters: Parameters | None = None) -> Any:
        """Do what `DecisionModel.run` does, awaited. A failure cancels the other requests of its round."""
        return await arun(flow, partial(self._answer_all, parameters=parameters))

    @overload
    def map(
        self,
        inputs: Iterable[Any] | AsyncIterable[Any],
        questions: Question[A],
        *,
        concurrency: int | None = None,
    ) -> AsyncIterator[A | Refusal | Undecided | Failure]: ...
    @overload
    def map(
        self,
        inputs: Iterable[Any] | AsyncIterable[Any],
        questions: Questions,
        *,
        concurrency: int | None = None,
    ) -> AsyncIterator[DecisionResponse | Failure]: ...
    async def map(
        self,
        inputs: Iterable[InputLike] | AsyncIterable[InputLike],
        questions: Question[Any] | Questions,
        *,
        concurrency: int | None = None,
    ) -> AsyncIterator[Any]:
        """Do what `DecisionModel.map` does, for `async for`; inputs may come from an asynchronous iterable."""
        width = self.width(concurrency)
        self.announce(questions)
        gate = asyncio.Semaphore(width)
        pending: deque[asyncio.Task[Any]] = deque()
        try:
            async for item in _each_of(inputs):
                pending.append(asyncio.create_task(self._item(item, questions, gate)))
                if len(pending) >= 2 * width:
                    yield await pending.popleft()
            while pending:
                yield await pending.popleft()
        finally:
            for task in pending:
                task.cancel()

    async def reply(self, task: PromptTask) -> Reply:
        """Do what `DecisionModel.reply` does, awaited."""
        return await self._in_time(self._send(self.attempt_s(self.timeout_s), task), self.timeout_s)

    async def probe(self, on_request: Callable[[int], None] = lambda number: None) -> Diagnosis:
        """Do what `DecisionModel.probe` does, awaited."""
        sent: list[int] = []

        def note() -> None:
            sent.append(len(sent) + 1)
            on_request(len(sent))

        async def reply_to(shot: Shot) -> Reply:
            attempt_s = self.attempt_s(self.timeout_s)

            async def ask(payload: Payload) -> Reply:
                return (await self._ask(attempt_s, shot.task, payload, Tally(note), self._tries.once))[1]

            return await self._in_time(arun(self.exchange.begin(shot.task, shot.fields), ask), self.timeout_s)

        return await arun(self.probing(sent), reply_to)

    async def close(self) -> None:
        """Release connections and an embedded model."""
        await self.provider.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _item(
        self, given: InputLike, questions: Question[Any] | Questions, gate: asyncio.Semaphore
    ) -> Outcome | DecisionResponse | Failure:
        try:
            async with gate:
                response = await self._decide(self.request(given, questions, None))
        except YesnoError as error:
            return Failure(error)
        return response.outcome(SINGLE) if isinstance(questions, Question) else response

    async def _answer_all(self, asks: Sequence[Ask], *, parameters: Parameters | None) -> Outcomes:
        grouped = requests_of(asks)
        requests = [self.request(r, None, parameters) for r, _ in grouped]
        responses = await _each(self._decide, requests)
        return outcomes_of(asks, [places for _, places in grouped], responses)

    async def _decide(self, request: DecisionRequest) -> DecisionResponse:
        call = self.call(request)
        try:
            self.check(request)
            response = self.validated(request, await self._within(request))
            if self.keeper.is_behind:
                await asyncio.to_thread(self.keeper.flush)
        except Exception as error:
            self.tell_error(call, error)
            raise
        self.tell_response(call, response)
        return response

    async def _within(self, request: DecisionRequest) -> DecisionResponse:
        return await self._in_time(self._respond(request), request.parameters.timeout_s)

    async def _in_time(self, work: Awaitable[T], limit_s: float | None) -> T:
        if limit_s is None:
            return await work
        try:
            async with asyncio.timeout(limit_s) as scope:
                return await work
        except TimeoutError as error:
            if not scope.expired():
                raise
            raise DeadlineExceeded(
                f"the decision took longer than {limit_s:g} s; raise `timeout_s` or ask less at once"
            ) from error

    async def _respond(self, request: DecisionRequest) -> DecisionResponse:
        attempt_s = self.attempt_s(request.parameters.timeout_s)
        spent = Spent()
        native, first, left = self.is_native(request), None, request.questions
        era = self.era
        if not native and self.delivery.reads_at_once and (recent := self.recent(request)) is not None:
            return recent
        if native:
            reply = await self._send(attempt_s, self.native_task(request))
            first = self.native_response(request, reply)
            left = self.left_by(request, first)
            if first is not None and not left:
                return first
            spent.add(reply)
        parts = await _each(lambda talk: self._hold(talk, spent, attempt_s), self.talks(request, left))
        outcomes = self.joined(request, first, parts, native=native)
        if not native:
            self.note_recent(era, request, outcomes, spent)
        return self.response(request, outcomes, spent)

    async def _hold(self, talk: Talk, spent: Spent, attempt_s: float | None) -> Mapping[str, Outcome]:
        async def replies_to(tasks: Sequence[Task]) -> list[Reply]:
            replies = await _each(partial(self._send, attempt_s), tasks)
            for reply in replies:
                spent.add(reply)
            return replies

        return await arun(talk, replies_to)

    async def _send(self, attempt_s: float | None, task: Task) -> Reply:
        return self.heard(await arun(self.exchange.begin(task), partial(self._deliver, attempt_s, task)))

    async def _deliver(self, attempt_s: float | None, task: Task, payload: Payload) -> Reply:
        key = self.delivery.key(task, payload)
        if key is None or not self.provider.merges:
            return await self._fetch(attempt_s, task, payload, key)
        return await self._flights.share(key, partial(self._fetch, attempt_s, task, payload, key))

    async def _fetch(self, attempt_s: float | None, task: Task, payload: Payload, key: str | None) -> Reply:
        kept = await self.delivery.arecall(task, key)
        if kept is not None:
            return kept
        raw, reply = await self._ask(attempt_s, task, payload, Tally(), self._tries.send)
        await self.delivery.akeep(key, raw, reply)
        return reply

    async def _ask(
        self,
        attempt_s: float | None,
        task: Task,
        payload: Payload,
        tally: Tally,
        send: Callable[[Task, Payload, float | None, Tally], Awaitable[Payload]],
    ) -> tuple[Payload, Reply]:
        try:
            raw = await self.retry_for(task).acall(partial(send, task, payload, attempt_s, tally))
            reply = tally.answered(self.delivery.read(task, raw))
        except BaseException as error:
            self.count_in_vain(tally, error)
            raise
        self.meter.add(reply.usage)
        return raw, reply


async def _each(work: Callable[[T], Awaitable[R]], items: Sequence[T]) -> list[R]:
    """Do the same for all items at once; a failure cancels the others and is raised when these have ended.

    Of several failures the first in the order of the items is raised.
    """
    if len(items) < 2:
        return [await work(item) for item in items]

    async def one(item: T) -> R:
        return await work(item)

    # no TaskGroup: in Python 3.11 one that fails leaves its task marked as being cancelled, which breaks anyio's scopes
    tasks = [asyncio.create_task(one(item)) for item in items]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error
    return [task.result() for task in tasks]


async def _each_of(inputs: Iterable[Any] | AsyncIterable[Any]) -> AsyncIterator[Any]:
    if isinstance(inputs, AsyncIterable):
        async for item in inputs:
            yield item
    else:
        for item in inputs:
            yield item
