"""Try a cheap model, check its answer, and go on to a better one."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, cast

from yesno._checks import checked_count, checked_share
from yesno.errors import AsyncUnsupported, ConfigError
from yesno.evidence import Usage
from yesno.flow import Runner, arun, run
from yesno.messages import Window, as_input, messages_of
from yesno.prices import Price, price_for
from yesno.questions import YesNo
from yesno.response import DecisionResponse
from yesno.routers.base import FAILURES, Router, checked_word, failure_word, is_async, warn, yes_of
from yesno.routers.calls import acollected, checked_call, collected
from yesno.routers.parallel import acalled, called
from yesno.routers.replies import RoutedResponse, final_text, recorded_route, routed, usage_of, without_route
from yesno.routers.routes import Route, RouteChoice, Routes, routes_of
from yesno.routers.switch import on_route
from yesno.templates.layers import layer_question

__all__ = ["Cascade", "CascadeReply", "Step"]

CHECK = "answered"


class Decider(Runner, Protocol):
    """A model that can be asked directly, so that what an answer costs is known."""

    def decide(self, input: Any, questions: Any, /) -> Any:  # noqa: ANN401 - a response, or an awaitable of it
        """Answer named questions about an input."""


@dataclass(frozen=True, slots=True)
class Step:
    """One route that was tried."""

    route: str
    response: Any = field(repr=False)
    """What its target returned."""
    why: Literal["accepted", "rejected", "unchecked", "last", "refused", "undecided", "failed"]
    """`accepted` or `rejected` by the check; `unchecked` because it has no text, such as a call of a tool; the `last`
    that may be tried; else how the check failed."""
    probability: float | None = None
    """Probability (0..1) that the answer is good enough; None when it was not checked."""
    usage: Usage | None = None
    """Tokens of the answer; None when it does not say."""
    cost_usd: float | None = None
    """What the answer cost in US dollars; None when its tokens or their price are unknown."""
    check_cost_usd: float | None = 0.0
    """What the check cost; None when that is unknown."""


@dataclass(frozen=True, slots=True)
class CascadeReply(RoutedResponse):
    """The answer that was taken, and every step on the way to it."""

    steps: tuple[Step, ...] = ()

    @property
    def cost_usd(self) -> float | None:
        """What all steps and checks cost in US dollars; None when a part of it is unknown."""
        parts = [cost for step in self.steps for cost in (step.cost_usd, step.check_cost_usd)]
        known = [cost for cost in parts if cost is not None]
        return sum(known) if len(known) == len(parts) else None

    def __str__(self) -> str:
        width = max(len(step.route) for step in self.steps)
        return "\n".join([*(_row(step, width) for step in self.steps), f"{_dollars(self.cost_usd)} in all"])


@dataclass(frozen=True, slots=True)
class _Send:
    route: Route


@dataclass(frozen=True, slots=True)
class _Check:
    reply: str


_Plan: TypeAlias = Generator[_Send | _Check, Any, CascadeReply]


class Cascade(Router):
    """Answer with the first route whose answer passes a check, in the order configured: cheap ones first.

    Each answer but the last that may be tried is judged by a yes/no question. One without text, such as a call of a
    tool, is taken as it is, and the route goes on when the tool's result is there.

    Args:
        routes: Routes with targets; `price` or `model` says what they cost.
        min_probability: Least probability (0..1) of being good enough.
        question: Text of the yes/no question about the input, which holds the conversation and the reply.
        max_steps: Most routes to try; by default all.
        fallback: What happens when a check fails or is refused: `"escalate"`, `"accept"`, or `"fail"` to raise.
        max_messages: Most messages that the check sees, as for a `ChatRouter`.
        max_message_length: Most characters of each; the reply is seen whole.
        model: Whom to ask. With an `AsyncDecisionModel` a call is awaited.

    What a target raises is raised. An answer is not streamed, since it is checked as a whole.

    Raises:
        ConfigError: There is no route, one has no target, or a setting is impossible.
    """

    name: ClassVar[str] = "cascade"

    def __init__(
        self,
        routes: Routes,
        *,
        min_probability: float = 0.7,
        question: str | None = None,
        max_steps: int | None = None,
        fallback: Literal["escalate", "accept", "fail"] = "escalate",
        max_messages: int = 10,
        max_message_length: int | None = 2000,
        model: Decider | None = None,
    ) -> None:
        super().__init__(model)
        self.routes = routes_of(routes)
        for route in self.routes:
            if route.target is None:
                raise ConfigError(f"route {route.name!r} has no target to call; give one")
        if question is not None and (not isinstance(question, str) or not question.strip()):
            raise ConfigError(f"`question` must be a text with something in it, not {question!r}")
        most = len(self.routes)
        self.max_steps = most if max_steps is None else min(checked_count("max_steps", max_steps), most)
        self.min_probability = checked_share("min_probability", min_probability)
        self.question = YesNo(layer_question("answered") if question is None else question)
        self.fallback = checked_word("fallback", fallback, ("escalate", "accept", "fail"))
        self.window = Window(max_messages, max_message_length)

    def __call__(self, messages: Any, /, **options: Any) -> Any:  # noqa: ANN401 - a reply, or an awaitable of it
        """Return the `CascadeReply` to a conversation.

        Args:
            messages: A text, or messages in the shape that the targets take.
            options: Passed on to each target.
        """
        model = cast("Decider", self._asked())
        given = checked_call(messages, options)
        plan = self._plan(given)
        if is_async(model):
            return arun(plan, partial(self._aanswer, model, given, options))
        return run(plan, partial(self._answer, model, given, options))

    def _plan(self, messages: list[Any]) -> _Plan:
        steps: list[Step] = []
        for route in self._tried(messages):
            response = yield _Send(route)
            last = len(steps) + 1 == self.max_steps or route is self.routes[-1]
            step = yield from self._judged(route, response, last=last)
            steps.append(step)
            if step.why not in ("rejected", "refused", "undecided", "failed"):
                break
            if step.why != "rejected" and self.fallback == "accept":
                break
        why: Literal["tool_loop", "chosen"] = "tool_loop" if recorded_route(messages) else "chosen"
        done = routed(steps[-1].response, RouteChoice(steps[-1].route, why=why))
        return CascadeReply(done.response, done.choice, done.messages, tuple(steps))

    def _tried(self, messages: list[Any]) -> Iterator[Route]:
        """Yield the routes in order, from the one on whose behalf a tool has just answered."""
        kept = recorded_route(messages)
        first = next((place for place, route in enumerate(self.routes) if route.name == kept), 0)
        yield from self.routes[first : first + self.max_steps]

    def _judged(self, route: Route, response: Any, *, last: bool) -> Generator[_Check, Any, Step]:  # noqa: ANN401
        usage = usage_of(response)
        price = _price(route)
        cost = None if usage is None or price is None else price.cost(usage)
        step = partial(Step, route.name, response, usage=usage, cost_usd=cost)
        reply = None if last else final_text(response)
        if last or reply is None:
            return step(why="last" if last else "unchecked")
        spent: float | None = None
        try:
            decided: DecisionResponse = yield _Check(reply)
            spent = None if decided.usage is None else decided.usage.cost_usd
            share = yes_of(decided.outcome(CHECK))
        except AsyncUnsupported:
            raise
        except FAILURES as error:
            if self.fallback == "fail":
                raise
            warn(self.name, self.fallback, error)
            return step(why=failure_word(error), check_cost_usd=spent)
        verdict: Literal["accepted", "rejected"] = "accepted" if share >= self.min_probability else "rejected"
        return step(why=verdict, probability=share, check_cost_usd=spent)

    def _answer(
        self, model: Decider, messages: list[Any], options: Mapping[str, Any], asked: _Send | _Check
    ) -> Any:  # noqa: ANN401 - an answer, or a response
        match asked:
            case _Send(route):
                call = self._call(route, messages, options)
                with on_route(route.name):
                    return collected(called(call, route.name), route.name)
            case _Check(reply):
                return model.decide(*self._question(messages, reply))

    async def _aanswer(
        self, model: Decider, messages: list[Any], options: Mapping[str, Any], asked: _Send | _Check
    ) -> Any:  # noqa: ANN401 - an answer, or a response
        match asked:
            case _Send(route):
                with on_route(route.name):
                    return await acollected(await acalled(self._call(route, messages, options)))
            case _Check(reply):
                return await model.decide(*self._question(messages, reply))

    def _call(self, route: Route, messages: list[Any], options: Mapping[str, Any]) -> Callable[[], Any]:
        assert route.target is not None  # noqa: S101 - checked when the routes were
        return partial(route.target, [without_route(message) for message in messages], **options)

    def _question(self, messages: list[Any], reply: str) -> tuple[Mapping[str, Any], Mapping[str, YesNo]]:
        seen = as_input(self.window.cut(messages_of(messages)))
        given = {"request": seen} if isinstance(seen, str) else dict(cast("Mapping[str, Any]", seen))
        return {**given, "reply": reply}, {CHECK: self.question}


def _price(route: Route) -> Price | None:
    provider, _, model = (route.model or "").partition(":")
    return route.price or price_for(provider, model)


def _row(step: Step, width: int) -> str:
    share = "–" if step.probability is None else f"{step.probability:.3f}"
    costs = f"answer {_dollars(step.cost_usd)}, check {_dollars(step.check_cost_usd)}"
    return f"{step.route:<{width}}  {step.why:<9}  {share:>5}  {costs}"


def _dollars(cost: float | None) -> str:
    return "unknown" if cost is None else f"${cost:.6f}"
