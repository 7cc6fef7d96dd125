"""Which model answers a conversation and which of its tools go along; decided once per turn."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from yesno._log import get_logger
from yesno.engine.aio import AsyncDecisionModel
from yesno.errors import QuestionError, ToolDefinitionError, YesnoError
from yesno.evidence import Usage
from yesno.filters import ToolFilter
from yesno.flow import Flow, spent_on
from yesno.request import Parameters
from yesno.routers import ChatRouter
from yesno.routers.routes import Route, RouteChoice
from yesno.routers.switch import JSON_SCHEMA, needs_json_schema
from yesno.serve.chats import ChatRequest, Tools, offered_tools, tools_of_request, turn_key, turn_of

__all__ = ["Plan", "Turns"]

T = TypeVar("T")

REMEMBERED = 1024
"""Turns whose decisions are kept, the newest."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of a request."""

    route: str
    why: str
    """A word of `RouteChoice.why`, `named` when the request named the route, or `unreadable`."""
    probabilities: Mapping[str, float] = field(default_factory=dict)
    tools: Tools | None = None
    """The tools that a filter chose among; None leaves the tools alone."""
    kept: frozenset[str] = frozenset()
    """Names of the tools that help."""
    tools_why: str | None = None
    """`filtered`, or `fallback` when the filter could not judge; None when it was not asked."""
    usage: Usage = field(default_factory=Usage)
    """What the decisions used; nothing for a turn that is remembered."""


class Turns:
    """Decides about requests by asking a model.

    Every request of a turn (the user's message, then calls and results of tools) gets the route and the tools that
    its first one got, as long as the turn is remembered; a decision that fell back is not.

    Args:
        model: Whom to ask.
        router: Chooses among all routes.
        name: The model's name that has a request routed.
        tool_filter: Chooses tools; None sends all.
    """

    def __init__(
        self, model: AsyncDecisionModel, router: ChatRouter, name: str, tool_filter: ToolFilter | None
    ) -> None:
        self._model = model
        self._router = router
        self._name = name
        self._filter = tool_filter
        self._routes: Recent[RouteChoice] = Recent()
        self._kept: Recent[frozenset[str]] = Recent()

    async def plan(self, chat: ChatRequest, timeout_s: float | None = None) -> Plan:
        """Decide about one request, whose model is the router's name or a route.

        Args:
            chat: The request.
            timeout_s: Seconds that a decision may take; None leaves it to the model.

        Raises:
            QuestionError: The conversation or a tool is of an unknown shape, and the router or the filter may not
                fall back.
            YesnoError: The decision failed, with the same condition.
        """
        turn = turn_of(chat.messages)
        asking = _Asking(self._model, Parameters(timeout_s=timeout_s))
        tasks = (
            asyncio.create_task(self._route(chat, turn, asking)),
            asyncio.create_task(self._tools(chat, turn, asking)),
        )
        try:
            choice, (tools, kept, tools_why) = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        found, why = choice
        return Plan(found.route, why, found.probabilities, tools, kept, tools_why, asking.usage)

    async def _route(self, chat: ChatRequest, turn: list[object], asking: _Asking) -> tuple[RouteChoice, str]:
        if chat.model != self._name:
            return RouteChoice(chat.model), "named"
        among = [route.name for route in _able(self._router.routes, chat)]
        key = turn_key(turn, among)
        known = self._routes.get(key)
        if known is not None:
            return known, known.why
        try:
            choice = await asking.run(self._router.route(turn, among))
        except QuestionError:
            if self._router.fallback == "fail":
                raise
            default = self._router.default if self._router.default in among else among[0]
            get_logger("serve").warning("conversation_unreadable", fallback="default_route")
            return RouteChoice(default), "unreadable"
        if choice.error is None:
            self._routes.put(key, choice)
        return choice, choice.why

    async def _tools(
        self, chat: ChatRequest, turn: list[object], asking: _Asking
    ) -> tuple[Tools | None, frozenset[str], str | None]:
        if self._filter is None:
            return None, frozenset(), None
        try:
            tools = tools_of_request(chat)
            if tools is None:
                return None, frozenset(), None
            key = turn_key(turn, tools.judged)
            known = self._kept.get(key)
            if known is not None:
                return tools, known, "filtered"
            selection = await asking.run(self._filter.explain(list(tools.judged), turn))
        except (QuestionError, ToolDefinitionError):
            fallback = self._filter.fallback
            if fallback == "fail":
                raise
            get_logger("serve").warning("conversation_unreadable", fallback=fallback)
            left = offered_tools(chat) if fallback == "no_tools" else None
            return left, frozenset(self._filter.always_include), "fallback"
        kept = frozenset(verdict.name for verdict in selection.verdicts if verdict.kept)
        if selection.error is None:
            self._kept.put(key, kept)
        return tools, kept, "filtered" if selection.error is None else "fallback"


class _Asking:
    """Runs flows for one request and adds up what they use."""

    def __init__(self, model: AsyncDecisionModel, parameters: Parameters) -> None:
        self._model = model
        self._parameters = parameters
        self.usage = Usage()

    async def run(self, flow: Flow[T]) -> T:
        return await self._model.run(self._counted(flow), parameters=self._parameters)

    def _counted(self, flow: Flow[T]) -> Flow[T]:
        try:
            asks = next(flow)
            while True:
                try:
                    outcomes = yield asks
                except YesnoError as error:
                    asks = flow.throw(error)
                else:
                    self.usage += spent_on(outcomes) or Usage()
                    asks = flow.send(outcomes)
        except StopIteration as end:
            result: T = end.value
            return result


class Recent(Generic[T]):
    """The newest values under their keys."""

    def __init__(self, most: int = REMEMBERED) -> None:
        self._most = most
        self._values: OrderedDict[bytes, T] = OrderedDict()

    def get(self, key: bytes) -> T | None:
        """Return a value that is still there."""
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def put(self, key: bytes, value: T) -> None:
        """Keep a value, and forget the one that was asked for longest ago."""
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._most:
            self._values.popitem(last=False)


def _able(routes: tuple[Route, ...], chat: ChatRequest) -> tuple[Route, ...]:
    """Return the routes that can do what a request needs; all of them where none says so."""
    if not needs_json_schema(chat.body):
        return routes
    return tuple(route for route in routes if JSON_SCHEMA in route.capabilities) or routes
