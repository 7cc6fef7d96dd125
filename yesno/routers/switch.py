"""The thinking of a routing chat model, shared by its blocking and its asynchronous form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from yesno._frozen import FrozenDict
from yesno.errors import ConfigError, RoutingError
from yesno.flow import Flow, Runner
from yesno.routers.base import Router, is_async
from yesno.routers.chat import ConversationRouter
from yesno.routers.replies import recorded_route, without_route
from yesno.routers.routes import (
    DEFAULT_ROUTE,
    Route,
    RouteChoice,
    Routes,
    Target,
    checked_default,
    routes_of,
)

__all__ = ["ChooseRoute", "RouteRequest", "Switch", "current_route", "on_route"]

JSON_SCHEMA = "json_schema"

_CURRENT: ContextVar[str | None] = ContextVar("yesno_route", default=None)


@dataclass(frozen=True, slots=True)
class RouteRequest:
    """What a router of one's own is asked."""

    messages: Sequence[Any] = field(repr=False)
    """The conversation as the caller gave it."""
    routes: tuple[Route, ...]
    """The routes that can be chosen, in the order configured."""
    default: str
    """The name of the default route."""
    options: Mapping[str, Any] = field(default=FrozenDict(), repr=False)
    """The caller's options for the model, such as `temperature`."""


ChooseRoute: TypeAlias = Callable[[RouteRequest], Any]
"""A router of one's own: returns a route's name, a `RouteChoice`, `DEFAULT_ROUTE`, or a flow that does."""


def current_route() -> str | None:
    """Return the route whose target is being called here; None outside.

    For what hears of a call but is not told its route: hooks of an SDK, loggers, tracers.
    """
    return _CURRENT.get()


@contextmanager
def on_route(name: str) -> Iterator[None]:
    """Say that what happens inside is done for a route."""
    token = _CURRENT.set(name)
    try:
        yield
    finally:
        _CURRENT.reset(token)


class Switch:
    """Routes with their targets, and the one who chooses among them.

    Args:
        router: A `ChatRouter`, a `CostRouter`, or a function of one's own (see `ChooseRoute`), which may have a
            method `check` that is given the routes and raises when it cannot work with them.
        routes: Name -> target, or routes with targets; may be left out when those of the router have theirs.
        default: The name of the default route; by default the router's own.
        model: A model for the router's questions; by default the router's own.
        asynchronous: Whether the model must be.

    Raises:
        ConfigError: Something is missing, unknown, given twice or of another type.
    """

    def __init__(
        self,
        router: ConversationRouter | ChooseRoute | None,
        routes: Routes | None = None,
        *,
        default: str | None = None,
        model: Runner | None = None,
        asynchronous: bool = False,
    ) -> None:
        if router is None:
            raise ConfigError("the router is missing; give a ChatRouter, a CostRouter or a function")
        if isinstance(router, Router) and not isinstance(router, ConversationRouter):
            raise ConfigError(
                f"a {type(router).__name__} does not choose among chat models; give a ChatRouter"
            )
        if not callable(router):
            raise ConfigError(f"the router must be a router or a function, not a {type(router).__name__}")
        self.router = router
        self.routes = _checked_routes(router, routes)
        """The routes, in the order configured."""
        own = router.default if isinstance(router, ConversationRouter) else None
        self.default = checked_default(own if default is None else default, self.routes)
        """The name of the default route."""
        if own is not None and self.default != own:
            raise ConfigError(f"the router's default route is {own!r}; give `default` to one of them alone")
        self.model = _checked_model(
            model or (router.model if isinstance(router, Router) else None), asynchronous=asynchronous
        )
        if isinstance(router, ConversationRouter) and router.asks and self.model is None:
            raise ConfigError(f"the {router.name} router needs a model to ask; pass `model=`")
        check = None if isinstance(router, ConversationRouter) else getattr(router, "check", None)
        if callable(check):
            check(self.routes)

    @property
    def capabilities(self) -> frozenset[str]:
        """What at least one route can do."""
        return frozenset().union(*(route.capabilities for route in self.routes))

    def kept(self, messages: Sequence[Any]) -> RouteChoice | None:
        """Return the route of a tool loop that goes on; None when the router has to choose."""
        name = recorded_route(messages)
        return None if name is None or name not in self._names else RouteChoice(name, why="tool_loop")

    def request(self, messages: Sequence[Any], options: Mapping[str, Any]) -> RouteRequest:
        """Return what the router is asked: routes that lack what the options need are not offered."""
        able = self.routes
        if needs_json_schema(options):
            able = tuple(r for r in self.routes if JSON_SCHEMA in r.capabilities) or self.routes
        return RouteRequest(messages, able, self._default_among(able), FrozenDict(options))

    def question(self, request: RouteRequest) -> Flow[RouteChoice] | None:
        """Return the flow that chooses a route; None when the router is a function."""
        if not isinstance(self.router, ConversationRouter):
            return None
        return self.router.route(list(request.messages), [route.name for route in request.routes])

    def settled(self, answer: Any, request: RouteRequest) -> RouteChoice:  # noqa: ANN401 - the check is the point
        """Return the choice that a router's answer stands for.

        Raises:
            RoutingError: The answer is None or of another type, or names no route, or one that was not offered.
        """
        names = [route.name for route in request.routes]
        if answer is DEFAULT_ROUTE:
            return RouteChoice(request.default, why="default")
        if answer is None:
            raise RoutingError(
                "the router returned None; return a route's name, or DEFAULT_ROUTE for the default"
            )
        if not isinstance(answer, RouteChoice | str):
            raise RoutingError(
                f"the router returned a {type(answer).__name__}; return a route's name, a RouteChoice or DEFAULT_ROUTE"
            )
        name = answer.route if isinstance(answer, RouteChoice) else answer
        if name not in self._names:
            known = ", ".join(repr(route.name) for route in self.routes)
            raise RoutingError(
                f"the router returned the route {name!r}, which is unknown; the routes are {known}"
            )
        if name not in names:
            raise RoutingError(
                f"the router returned the route {name!r}, which lacks a capability that this request needs; "
                f"it was offered {', '.join(map(repr, names))}"
            )
        return answer if isinstance(answer, RouteChoice) else RouteChoice(name)

    def target(self, choice: RouteChoice) -> Target:
        """Return whom to call for a choice."""
        target = self._names[choice.route].target
        assert target is not None  # noqa: S101 - checked when the routes were
        return target

    def given(self, messages: Sequence[Any]) -> list[Any]:
        """Return the messages as the target gets them."""
        return [without_route(message) for message in messages]

    @property
    def _names(self) -> dict[str, Route]:
        return {route.name: route for route in self.routes}

    def _default_among(self, routes: tuple[Route, ...]) -> str:
        names = [route.name for route in routes]
        return self.default if self.default in names else names[0]


def needs_json_schema(options: Mapping[str, Any]) -> bool:
    """Return whether options ask for JSON of a schema.

    Knows `response_format` (Chat Completions), `text` and `text_format` (Responses), `output_config` and
    `output_format` (Messages), as in openai 3.57.0 and anthropic 2.14.0 (2026-11).
    """
    for name in ("response_format", "text_format", "output_format", "text", "output_config"):
        given = options.get(name)
        if isinstance(given, type):
            return True
        if isinstance(given, Mapping):
            inner = given.get("format", given)
            if isinstance(inner, type) or (isinstance(inner, Mapping) and inner.get("type") == JSON_SCHEMA):
                return True
    return False


def _checked_routes(router: Any, given: Routes | None) -> tuple[Route, ...]:  # noqa: ANN401 - user input
    own: tuple[Route, ...] = router.routes if isinstance(router, ConversationRouter) else ()
    if given is None and not own:
        raise ConfigError("there is no route; give `routes`")
    routes = own if given is None else routes_of(given)
    if own and given is not None:
        if {route.name for route in own} != {route.name for route in routes}:
            raise ConfigError(
                f"the router knows the routes {', '.join(repr(r.name) for r in own)}, and the targets are for "
                f"{', '.join(repr(r.name) for r in routes)}; they must be the same"
            )
        targets = {route.name: route for route in routes}
        routes = tuple(_with_target(route, targets[route.name]) for route in own)
    for route in routes:
        if route.target is None:
            raise ConfigError(
                f"route {route.name!r} has no target; give a function, or one for an SDK's client"
            )
    return routes


def _with_target(route: Route, other: Route) -> Route:
    return Route(
        route.name,
        route.descriptions,
        target=other.target or route.target,
        capabilities=route.capabilities | other.capabilities,
        price=route.price or other.price,
        model=route.model or other.model,
    )


def _checked_model(model: Any, *, asynchronous: bool) -> Runner | None:  # noqa: ANN401 - user input
    if model is None:
        return None
    if not callable(getattr(model, "run", None)):
        raise ConfigError(
            f"`model` must be a DecisionModel or an AsyncDecisionModel, not a {type(model).__name__}"
        )
    if is_async(model) is not asynchronous:
        wanted = "an AsyncDecisionModel" if asynchronous else "a DecisionModel"
        other = "RoutingChatModel" if asynchronous else "AsyncRoutingChatModel"
        raise ConfigError(f"`model` must be {wanted} here, not a {type(model).__name__}; or use {other}")
    return model  # type: ignore[no-any-return]  # has `run`
