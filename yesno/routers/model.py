"""Chat models that hand each conversation to one of several."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping
from functools import partial
from typing import Any

from yesno.errors import ConfigError
from yesno.flow import Runner
from yesno.routers.calls import END, acollected, checked_call, collected, each_of, refuse_asynchronous
from yesno.routers.chat import ConversationRouter
from yesno.routers.parallel import acalled, called
from yesno.routers.replies import RoutedResponse, routed
from yesno.routers.routes import RouteChoice, Routes
from yesno.routers.streams import AsyncRoutedStream, RoutedStream
from yesno.routers.switch import ChooseRoute, Switch, on_route

__all__ = ["AsyncRoutingChatModel", "RoutingChatModel"]


class RoutingChatModel(Switch):
    """A chat model that asks a router which of several others should answer.

    Args:
        router: A `ChatRouter`, a `CostRouter`, or a function of your own from a `RouteRequest` to a route's name.
        routes: Name -> target, or routes with targets; may be left out when those of the router have theirs. A
            target is called with the messages and your options: a function, a generator, another routing model, or
            `openai_chat`, `openai_responses` and `anthropic_messages` for a client.
        default: The name of the default route; by default the router's own.
        model: The `DecisionModel` for the router's questions; by default the router's own.

    When the conversation ends with a tool's result, the route that asked for the tool answers and no router is
    asked: append `RoutedResponse.messages` to the conversation, they carry the route. When the options ask for JSON
    of a schema, routes that do not declare the capability `"json_schema"` are not offered, unless none does.
    Messages are passed on in the shape they come in; routes that share conversations must share it.

    Raises:
        ConfigError: The router, a route, a target or the default is missing, unknown or given twice.
    """

    def __init__(
        self,
        router: ConversationRouter | ChooseRoute | None,
        routes: Routes | None = None,
        *,
        default: str | None = None,
        model: Runner | None = None,
    ) -> None:
        super().__init__(router, routes, default=default, model=model, asynchronous=False)

    def __call__(self, messages: Any, /, **options: Any) -> RoutedResponse:  # noqa: ANN401 - any conversation
        """Answer a conversation.

        Args:
            messages: A text, or messages in the shape that the targets take.
            options: Passed on to the target.

        Raises:
            RoutingError: The router returned no route that can be taken.
            ConfigError: The router or the target is asynchronous.
            Exception: Whatever the router or the target raises.
        """
        given = checked_call(messages, options)
        choice = self._chosen(given, options)
        with on_route(choice.route):
            answer = called(partial(self.target(choice), self.given(given), **options), choice.route)
            return routed(collected(answer, choice.route), choice)

    def stream(self, messages: Any, /, **options: Any) -> RoutedStream:  # noqa: ANN401 - any conversation
        """Answer a conversation piece by piece; a target that does not stream gives one piece."""
        return RoutedStream(self._pieces(checked_call(messages, options), options))

    def choose(self, messages: Any, /, **options: Any) -> RouteChoice:  # noqa: ANN401 - any conversation
        """Return the route that would answer, without calling its target."""
        return self._chosen(checked_call(messages, options), options)

    def _chosen(self, messages: list[Any], options: Mapping[str, Any]) -> RouteChoice:
        kept = self.kept(messages)
        if kept is not None:
            return kept
        request = self.request(messages, options)
        flow = self.question(request)
        answer: Any = called(partial(self.router, request), "the router") if flow is None else flow
        if isinstance(answer, Generator):
            answer = _without_asking(answer) if self.model is None else self.model.run(answer)
        return self.settled(answer, request)

    def _pieces(self, messages: list[Any], options: Mapping[str, Any]) -> Generator[Any, None, None]:
        choice = self._chosen(messages, options)
        yield choice
        target = self.target(choice)
        with on_route(choice.route):
            source = getattr(target, "stream", target)
            pieces = called(partial(source, self.given(messages), **options), choice.route)
        refuse_asynchronous(pieces, choice.route)
        if not isinstance(pieces, Iterator):
            yield pieces
            return
        try:
            while True:
                with on_route(choice.route):
                    piece = next(pieces, END)
                if piece is END:
                    return
                yield piece
        finally:
            close = getattr(pieces, "close", None)
            if callable(close):
                close()


class AsyncRoutingChatModel(Switch):
    """What `RoutingChatModel` is, for asyncio; its decision model is an `AsyncDecisionModel`.

    Targets and routers that are not asynchronous run in threads. Cancelling a call cancels the routing, or the call
    of the target.
    """

    def __init__(
        self,
        router: ConversationRouter | ChooseRoute | None,
        routes: Routes | None = None,
        *,
        default: str | None = None,
        model: Runner | None = None,
    ) -> None:
        super().__init__(router, routes, default=default, model=model, asynchronous=True)

    async def __call__(self, messages: Any, /, **options: Any) -> RoutedResponse:  # noqa: ANN401 - any conversation
        """Do what `RoutingChatModel` does when it is called, awaited."""
        given = checked_call(messages, options)
        choice = await self._chosen(given, options)
        with on_route(choice.route):
            answer = await acalled(partial(self.target(choice), self.given(given), **options))
            return routed(await acollected(answer), choice)

    def stream(self, messages: Any, /, **options: Any) -> AsyncRoutedStream:  # noqa: ANN401 - any conversation
        """Answer a conversation piece by piece; a target that does not stream gives one piece."""
        return AsyncRoutedStream(self._pieces(checked_call(messages, options), options))

    async def choose(self, messages: Any, /, **options: Any) -> RouteChoice:  # noqa: ANN401 - any conversation
        """Return the route that would answer, without calling its target."""
        return await self._chosen(checked_call(messages, options), options)

    async def _chosen(self, messages: list[Any], options: Mapping[str, Any]) -> RouteChoice:
        kept = self.kept(messages)
        if kept is not None:
            return kept
        request = self.request(messages, options)
        flow = self.question(request)
        answer: Any = await acalled(partial(self.router, request)) if flow is None else flow
        if isinstance(answer, Generator):
            if self.model is None:
                answer = _without_asking(answer)
            else:
                answer = await self.model.run(answer)
        return self.settled(answer, request)

    async def _pieces(self, messages: list[Any], options: Mapping[str, Any]) -> AsyncGenerator[Any, None]:
        choice = await self._chosen(messages, options)
        yield choice
        target = self.target(choice)
        with on_route(choice.route):
            pieces = await acalled(
                partial(getattr(target, "stream", target), self.given(messages), **options)
            )
        if not isinstance(pieces, AsyncIterator | Iterator):
            yield pieces
            return
        each = each_of(pieces)
        try:
            while True:
                with on_route(choice.route):
                    piece = await anext(each, END)
                if piece is END:
                    return
                yield piece
        finally:
            await each.aclose()


def _without_asking(flow: Generator[Any, Any, Any]) -> Any:  # noqa: ANN401 - what the flow returns
    try:
        next(flow)
    except StopIteration as stop:
        return stop.value
    flow.close()
    raise ConfigError("the router asks a question, and there is no model to ask; pass `model=`")
