"""The blocking model."""

from __future__ import annotations

import contextvars
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import islice
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from yesno.engine.batches import SINGLE, outcomes_of, requests_of
from yesno.engine.core import NO_LIMIT_S, Core
from yesno.engine.flights import Flights
from yesno.engine.metering import Spent, Tally
from yesno.engine.packing import Talk
from yesno.engine.tries import Tries, wait_until
from yesno.engine.waiting import Term
from yesno.errors import YesnoError
from yesno.evidence import Reply
from yesno.flow import Ask, Flow, Outcomes, run
from yesno.messages import InputLike
from yesno.providers.base import Payload, PromptTask, Provider, Task
from yesno.questions import Answer, Outcome, Question, Refusal, Undecided
from yesno.request import DecisionRequest, Parameters, Questions
from yesno.response import DecisionResponse, Failure, unwrapped

if TYPE_CHECKING:
    from yesno.engine.diagnosis import Diagnosis
    from yesno.engine.probe import Shot

__all__ = ["DecisionModel"]

A = TypeVar("A", bound=Answer)
T = TypeVar("T")
R = TypeVar("R")


class DecisionModel(Core):
    """Any LLM API as a model that answers typed questions with probabilities.

    Args:
        model: `provider:model`, such as `openai:gpt-5.4-mini`, `local`, or a provider object; by default
            `YESNO_MODEL`, else `local`.
        base_url: Address of an OpenAI-compatible server.
        api_key: By default the vendor's own environment variable.
        template: Name of a shipped template set, a folder of your own, or a `TemplateSet`.
        min_label_mass: Least probability (0..1) on the offered labels for an answer; below it a question is
            asked a second time and then `Undecided`.
        orders: (log-probabilities only, as `prior`) In how many orders to show the options of a `Choice` or the words yes and no, and average; `"auto"`
            asks in another order only when the first answer is unsure.
        packing: `"packed"` asks the yes/no questions of a request together, up to 20 in one completion by
            log-probabilities and up to 10 in one sampled JSON object, and asks again alone what such a reply does not
            answer beyond doubt. A packed answer depends on the questions beside it: `flags` say `packed`, `template`
            names the packed prompt, and no calibration or prior of separate answers holds for it. Questions with
            worked examples and other types stay separate; `orders` must be 1 and `prior` not `"content_free"`.
            `"auto"`: where that was measured to cost the model at most 2 % log loss; `"separate"`: never.
        strategy: `"auto"` walks down what the provider offers; else the one way to take: `"native"`, `"logprobs"`
            or `"sampled"`.
        strict: Take no second-best way; a model without log-probabilities is then a `ConfigError`.
        prior: Whether a model's favourites among the labels are taken out of its answers. `"auto"`: where that was
            measured to help the model (embedded ones so far), of questions that many inputs are asked;
            `"content_free"`: of every question; `"off"`. It costs three requests per question, once.
        timeout_s: Seconds that a decision may take, retries included; `math.inf` for no limit.
        concurrency: Most requests under way at once; fewer while the server says that it has too much to do.
        retry: When to try again.
        listeners: Who is told of requests, responses and errors.
        cache: Where replies are kept, such as a `SqliteCache`, so that an equal request is not sent again.
        budget: Limits on dollars, requests and tokens, which may be shared between models.
        price: What the model's tokens cost, when the table in `yesno.prices` does not say.
        memory: Where what was learned is kept for other runs, such as a `FolderMemory`: what `probe` found, for 30
            days, and priors of questions. Nothing is remembered across objects without one.
        limits: What is known of servers, by default that of all models of this process; see `Limits`.
        hedge: Seconds, or a `Hedge`, after which a request without a reply is sent a second time; off by default.
        calibration: A `yesno.calibration.Calibration`, the file of one, a folder of them, or a list of these. A
            card is applied to answers of its model, template, method and type of question only; other answers have
            `calibrated` False, and a warning says why once.
        options: Passed on to the provider.

    Equal requests that are under way at the same time go out once. Safe to share between threads. Use it as a
    context manager, or `close` it.

    Raises:
        ConfigError: The provider or template set is unknown, or a setting is missing or impossible.
    """

    def __init__(self, model: str | Provider | None = None, **settings: Any) -> None:
        super().__init__(model, **settings)
        self._tries = Tries(self)
        self._pools: dict[str, ThreadPoolExecutor] = {}
        self._lock = Lock()
        self._flights = Flights()

    @overload
    def decide(
        self, input: DecisionRequest, questions: None = None, *, parameters: Parameters | None = None
    ) -> DecisionResponse: ...
    @overload
    def decide(
        self, input: InputLike, questions: Question[A], *, parameters: Parameters | None = None
    ) -> A: ...
    @overload
    def decide(
        self, input: InputLike, questions: Questions, *, parameters: Parameters | None = None
    ) -> DecisionResponse: ...
    def decide(
        self,
        input: InputLike | DecisionRequest,
        questions: Question[Any] | Questions | None = None,
        *,
        parameters: Parameters | None = None,
    ) -> Any:
        """Answer one question, or several named ones, about an input.

        Args:
            input: A text, a mapping of plain values, a list of messages, or a whole `DecisionRequest`.
            questions: One question, or a mapping of names to questions.
            parameters: Settings for this call.

        Returns:
            The answer to one question; for several a `DecisionResponse` that holds an answer, a `Refusal`
            or an `Undecided` under each name.

        Raises:
            QuestionError: The input or a question cannot be asked.
            Refused, UndecidedError: One question was asked and there is no answer.
            ProviderError: The provider failed, after retries.
            DeadlineExceeded: `timeout_s` passed.
            BudgetExceeded: A request does not fit into the budget.
        """
        response = self._decide(self.request(input, questions, parameters))
        return unwrapped(response.outcome(SINGLE)) if isinstance(questions, Question) else response

    def run(self, flow: Flow[T], *, parameters: Parameters | None = None) -> T:
        """Run a flow to its end and return its result.

        Args:
            flow: What to run.
            parameters: Settings for each decision of the flow.
        """
        return run(flow, partial(self._answer_all, parameters=parameters))

    @overload
    def map(
        self, inputs: Iterable[InputLike], questions: Question[A], *, concurrency: int | None = None
    ) -> Iterator[A | Refusal | Undecided | Failure]: ...
    @overload
    def map(
        self, inputs: Iterable[InputLike], questions: Questions, *, concurrency: int | None = None
    ) -> Iterator[DecisionResponse | Failure]: ...
    def map(
        self,
        inputs: Iterable[InputLike],
        questions: Question[Any] | Questions,
        *,
        concurrency: int | None = None,
    ) -> Iterator[Any]:
        """Answer the same question, or questions, about each of many inputs, in their order.

        Takes inputs from any iterable as it goes and holds at most twice `concurrency` of them. Yields an
        outcome for each; what goes wrong with one item is its `Failure`, and the others go on. What it has spent,
        failures included, is `usage` afterwards minus `usage` before.
        """
        width = self.width(concurrency)
        self.announce(questions)
        pool = self._pool("items", width)
        pending: deque[Future[Any]] = deque()
        items = iter(inputs)
        try:
            pending.extend(
                self._submit(pool, self._item, item, questions) for item in islice(items, 2 * width)
            )
            while pending:
                yield pending.popleft().result()
                pending.extend(self._submit(pool, self._item, item, questions) for item in islice(items, 1))
        finally:
            for future in pending:
                future.cancel()

    def reply(self, task: PromptTask) -> Reply:
        """Send a prompt of your own as decisions are sent (cache, budget, retries), and return what came back unread.

        Raises:
            ProviderError: The provider failed, after retries.
            DeadlineExceeded: `timeout_s` passed.
            BudgetExceeded: The request does not fit into the budget.
        """
        deadline = None if self.timeout_s is None else time.monotonic() + min(self.timeout_s, NO_LIMIT_S)
        return self._send(task, Term(deadline, self.attempt_s(self.timeout_s)))

    def probe(self, on_request: Callable[[int], None] = lambda number: None) -> Diagnosis:
        """Find out with about a dozen requests how the model's host behaves, past any cache.

        What is found, such as a smaller list of alternatives or no log-probabilities at all, is remembered by
        this model and its provider. A host that fails is part of the diagnosis, not an error. Listeners are not
        told; a budget counts it.

        Args:
            on_request: Told the number of each request before it goes out.

        Raises:
            BudgetExceeded: A request does not fit into the budget.
        """
        sent: list[int] = []

        def note() -> None:
            sent.append(len(sent) + 1)
            on_request(len(sent))

        def reply_to(shot: Shot) -> Reply:
            deadline = None if self.timeout_s is None else time.monotonic() + min(self.timeout_s, NO_LIMIT_S)
            term = Term(deadline, self.attempt_s(self.timeout_s))

            def ask(payload: Payload) -> Reply:
                return self._ask(shot.task, payload, term, Tally(note), self._tries.once)[1]

            return run(self.exchange.begin(shot.task, shot.fields), ask)

        return run(self.probing(sent), reply_to)

    def close(self) -> None:
        """Release threads, connections and an embedded model."""
        with self._lock:
            pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            pool.shutdown(wait=True, cancel_futures=True)
        self._tries.close()
        self.provider.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _item(
        self, given: InputLike, questions: Question[Any] | Questions
    ) -> Outcome | DecisionResponse | Failure:
        try:
            response = self._decide(self.request(given, questions, None))
        except YesnoError as error:
            return Failure(error)
        return response.outcome(SINGLE) if isinstance(questions, Question) else response

    def _answer_all(self, asks: Sequence[Ask], *, parameters: Parameters | None) -> Outcomes:
        grouped = requests_of(asks)
        requests = [self.request(r, None, parameters) for r, _ in grouped]
        responses = self._each("flows", self._decide, requests)
        return outcomes_of(asks, [places for _, places in grouped], responses)

    def _decide(self, request: DecisionRequest) -> DecisionResponse:
        call = self.call(request)
        try:
            self.check(request)
            response = self.validated(request, self._respond(request))
            self.keeper.flush()
        except Exception as error:
            self.tell_error(call, error)
            raise
        self.tell_response(call, response)
        return response

    def _respond(self, request: DecisionRequest) -> DecisionResponse:
        timeout = request.parameters.timeout_s
        deadline = None if timeout is None else time.monotonic() + timeout
        term = Term(deadline, self.attempt_s(timeout))
        spent = Spent()
        native, first, left = self.is_native(request), None, request.questions
        era = self.era
        if not native and (recent := self.recent(request)) is not None:
            return recent
        if native:
            reply = self._send(self.native_task(request), term)
            first = self.native_response(request, reply)
            left = self.left_by(request, first)
            if first is not None and not left:
                return first
            spent.add(reply)
        talks = self.talks(request, left)
        parts = self._each("questions", lambda talk: self._hold(talk, spent, term), talks)
        outcomes = self.joined(request, first, parts, native=native)
        if not native:
            self.note_recent(era, request, outcomes, spent)
        return self.response(request, outcomes, spent)

    def _hold(self, talk: Talk, spent: Spent, term: Term) -> Mapping[str, Outcome]:
        def replies_to(tasks: Sequence[Task]) -> list[Reply]:
            replies = self._each("requests", lambda task: self._send(task, term), tasks)
            with self._lock:
                for reply in replies:
                    spent.add(reply)
            return replies

        return run(talk, replies_to)

    def _send(self, task: Task, term: Term) -> Reply:
        return self.heard(run(self.exchange.begin(task), lambda payload: self._deliver(task, payload, term)))

    def _deliver(self, task: Task, payload: Payload, term: Term) -> Reply:
        key = self.delivery.key(task, payload)
        if key is None or not self.provider.merges:
            return self._fetch(task, payload, key, term)
        return self._flights.share(
            key, lambda: self._fetch(task, payload, key, term), partial(wait_until, term.deadline)
        )

    def _fetch(self, task: Task, payload: Payload, key: str | None, term: Term) -> Reply:
        kept = self.delivery.recall(task, key)
        if kept is not None:
            return kept
        raw, reply = self._ask(task, payload, term, Tally(), self._tries.send)
        self.delivery.keep(key, raw, reply)
        return reply

    def _ask(
        self,
        task: Task,
        payload: Payload,
        term: Term,
        tally: Tally,
        send: Callable[[Task, Payload, Term, Tally], Payload],
    ) -> tuple[Payload, Reply]:
        try:
            raw = self.retry_for(task).call(partial(send, task, payload, term, tally), deadline=term.deadline)
            reply = tally.answered(self.delivery.read(task, raw))
        except BaseException as error:
            self.count_in_vain(tally, error)
            raise
        self.meter.add(reply.usage)
        return raw, reply

    def _each(self, level: str, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Do the same for all items at once; the first failure, in their order, is raised."""
        if len(items) == 1:
            return [work(items[0])]
        pool = self._pool(level, self.concurrency)
        futures = [self._submit(pool, work, item) for item in items]
        try:
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()

    def _pool(self, level: str, width: int) -> ThreadPoolExecutor:
        # one pool per level: a thread that waits for others must never hold a place that they need
        key = f"{level}-{width}"
        with self._lock:
            if key not in self._pools:
                self._pools[key] = ThreadPoolExecutor(max_workers=width, thread_name_prefix=f"yesno-{level}")
            return self._pools[key]

    @staticmethod
    def _submit(pool: ThreadPoolExecutor, work: Callable[..., R], *arguments: Any) -> Future[R]:
        return pool.submit(contextvars.copy_context().run, work, *arguments)
