"""Routes, and what a router says about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from yesno._frozen import FrozenDict
from yesno.errors import ConfigError
from yesno.prices import Price

__all__ = ["DEFAULT_ROUTE", "Route", "RouteChoice", "Routes", "Target", "checked_default", "routes_of"]

Target: TypeAlias = Callable[..., Any]
"""Called with the messages and the caller's options: a function, a coroutine function or a generator."""

_FALLBACKS = ("no_user_text", "below_minimum", "refused", "undecided", "failed")


@dataclass(frozen=True, slots=True, init=False)
class Route:
    """One way to answer a conversation, such as a model.

    Args:
        name: Its name, which the deciding model reads.
        descriptions: What it is good for, in one text or several; each becomes an option of its own, so a route
            with many has more chances.
        target: Whom to call; needed by a `RoutingChatModel` and a `Cascade`.
        capabilities: What not all routes can do, such as `"json_schema"`.
        price: What its tokens cost; by default that of `model` in `yesno.prices`.
        model: `provider:model`, to find the price.

    Raises:
        ConfigError: The name or a description is blank, or a value is of another type.
    """

    name: str
    descriptions: tuple[str, ...]
    target: Target | None = field(repr=False)
    capabilities: frozenset[str]
    price: Price | None
    model: str | None

    def __init__(
        self,
        name: str,
        descriptions: str | Iterable[str] | None = (),
        *,
        target: Target | None = None,
        capabilities: Iterable[str] = (),
        price: Price | None = None,
        model: str | None = None,
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ConfigError(f"a route's name must be a text that is not blank, not {name!r}")
        if target is not None and not callable(target):
            raise ConfigError(f"the target of route {name!r} must be callable, not a {type(target).__name__}")
        if price is not None and not isinstance(price, Price):
            raise ConfigError(f"the price of route {name!r} must be a Price, not a {type(price).__name__}")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "descriptions", _checked_descriptions(name, descriptions))
        object.__setattr__(self, "target", target)
        object.__setattr__(
            self, "capabilities", frozenset([capabilities] if isinstance(capabilities, str) else capabilities)
        )
        object.__setattr__(self, "price", price)
        object.__setattr__(self, "model", model)


Routes: TypeAlias = Mapping[str, Any] | Iterable[Route | str]
"""Name -> description, descriptions, None or a target; or a list of routes and names."""


@dataclass(frozen=True, slots=True)
class RouteChoice:
    """The route that a router chose, how likely each was, and why it is this one.

    Raises:
        ConfigError: The route's name is blank.
    """

    route: str
    probabilities: Mapping[str, float] = FrozenDict()
    """Route -> probability (0..1), summed over its descriptions; empty when nothing was asked or reported."""
    why: Literal[
        "chosen",
        "only_route",
        "tool_loop",
        "default",
        "none_suffices",
        "no_user_text",
        "below_minimum",
        "refused",
        "undecided",
        "failed",
    ] = "chosen"
    """`chosen` by the router, the `only_route` there is, kept in a `tool_loop`, the router's explicit `default`, or
    the best where `none_suffices`; else the reason for falling back to the default route."""
    expected_usd: Mapping[str, float] = FrozenDict()
    """Route -> what the answer is expected to cost; only from a `CostRouter`."""
    error: Exception | None = field(default=None, compare=False)
    """The failure of the decision, when that is the reason."""

    def __post_init__(self) -> None:
        if not isinstance(self.route, str) or not self.route.strip():
            raise ConfigError(f"a route's name must be a text that is not blank, not {self.route!r}")

    @property
    def fell_back(self) -> bool:
        """Whether the default route answers for want of a decision."""
        return self.why in _FALLBACKS

    def __str__(self) -> str:
        shares = ", ".join(f"{name} {share:.3f}" for name, share in self.probabilities.items())
        reason = "" if self.why == "chosen" else self.why.replace("_", " ")
        note = "; ".join(part for part in (reason, shares) if part)
        return f"{self.route} ({note})" if note else self.route


class _Default:
    """A router's explicit word for the default route."""

    def __repr__(self) -> str:
        return "DEFAULT_ROUTE"

    def __reduce__(self) -> str:
        return "DEFAULT_ROUTE"  # copies and pickles are this very object


DEFAULT_ROUTE = _Default()
"""Returned by a router of one's own for: take the default route."""


def routes_of(routes: Any) -> tuple[Route, ...]:  # noqa: ANN401 - user input
    """Return routes in any of their forms as a tuple.

    Raises:
        ConfigError: There is none, two have one name, or one is of another type.
    """
    if isinstance(routes, Mapping):
        found = [_named(name, given) for name, given in routes.items()]
    elif isinstance(routes, Iterable) and not isinstance(routes, str | bytes):
        found = [route if isinstance(route, Route) else _named(route, None) for route in routes]
    else:
        raise ConfigError(f"`routes` must be a mapping or a list of routes, not a {type(routes).__name__}")
    if not found:
        raise ConfigError("there is no route; give at least one")
    names: set[str] = set()
    for route in found:
        if route.name in names:
            raise ConfigError(f"there are two routes named {route.name!r}; rename one")
        names.add(route.name)
    return tuple(found)


def checked_default(default: Any, routes: tuple[Route, ...]) -> str:  # noqa: ANN401 - user input
    """Return the name of the default route.

    Raises:
        ConfigError: It is missing, or is none of the routes.
    """
    names = [route.name for route in routes]
    if default is None:
        raise ConfigError(
            f"the default route is missing; give `default`, one of {', '.join(map(repr, names))}"
        )
    if default not in names:
        raise ConfigError(
            f"the default route {default!r} is unknown; it must be one of {', '.join(map(repr, names))}"
        )
    return str(default)


def _named(name: Any, given: Any) -> Route:  # noqa: ANN401 - user input
    if isinstance(given, Route):
        if given.name != name:
            raise ConfigError(f"the route under {name!r} is named {given.name!r}; give it one name")
        return given
    if callable(given):
        return Route(name, target=given)
    return Route(name, given)


def _checked_descriptions(name: str, given: Any) -> tuple[str, ...]:  # noqa: ANN401 - user input
    if given is None:
        return ()
    if not isinstance(given, str | list | tuple):
        raise ConfigError(
            f"the descriptions of route {name!r} must be a text or a list of texts, not a {type(given).__name__}"
        )
    found = (given,) if isinstance(given, str) else tuple(given)
    for text in found:
        if not isinstance(text, str) or not text.strip():
            raise ConfigError(
                f"a description of route {name!r} is blank; leave it out or say what it is good for"
            )
    return found
