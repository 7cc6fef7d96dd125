"""From a configuration file to what it describes, and from one file to the next while the server runs."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from yesno.engine.aio import AsyncDecisionModel
from yesno.errors import ConfigError, YesnoError
from yesno.filters import ToolFilter
from yesno.routers import ChatRouter
from yesno.routers.routes import Route
from yesno.serve.callers import Allowance, Caller, CallersBudget
from yesno.serve.config import ServeConfig, is_loopback
from yesno.serve.guard import Policy
from yesno.serve.keys import KeyRing
from yesno.serve.proxy import Chat, Target
from yesno.serve.settings import Settings
from yesno.serve.tables import ChatTable, LimitsTable, ModelTable, RouteTable, ServerTable
from yesno.serve.turns import Turns
from yesno.serve.upstreams import Upstream

__all__ = ["Parts", "assemble", "policy_of", "settings_of", "unlimited"]

Variable = Callable[[str], str | None]
Closing = Callable[[], Awaitable[None]]


@dataclass(slots=True)
class Parts:
    """What serves requests under one configuration."""

    server: ServerTable
    models: Mapping[str, AsyncDecisionModel]
    policy: Policy
    settings: Settings
    chat: Chat | None = None
    _prints: dict[str, Any] = field(default_factory=dict, repr=False)
    """Alias or route -> what its model or upstream was made from, to see whether it is still the same."""

    def closings(self, kept: Parts | None = None) -> list[Closing]:
        """Return what closes the parts, without those that others use too."""
        users: list[Any] = [*self.models.values(), *self._upstreams()]
        others = {id(part) for part in ([] if kept is None else [*kept.models.values(), *kept._upstreams()])}
        return [part.close for part in users if id(part) not in others]

    def _upstreams(self) -> list[Upstream]:
        return [] if self.chat is None else [target.upstream for target in self.chat.targets.values()]


def assemble(
    config: ServeConfig,
    variable: Variable,
    before: Parts | None = None,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> Parts:
    """Make what a configuration describes; nothing is sent anywhere and no model is loaded.

    Args:
        config: The file.
        variable: Returns the value of an environment variable.
        before: Parts of an earlier file: models and upstreams that stay the same are taken over, and what callers
            have used counts on.
        clock: Returns seconds.

    Raises:
        ConfigError: A model, a route or the router cannot be made; the line is named.
    """
    prints: dict[str, Any] = {}
    models = {
        alias: _model(config, alias, table, variable, before, prints)
        for alias, table in config.file.models.items()
    }
    file = config.file
    callers = _callers(config, None if before is None else before.policy, clock)
    chat = None if file.chat is None else _chat(config, file.chat, models, variable, before, prints)
    return Parts(
        file.server,
        models,
        policy_of(file.server, config.ring, callers),
        settings_of(file.server),
        chat,
        prints,
    )


def policy_of(server: ServerTable, ring: KeyRing | None, callers: Mapping[str | None, Caller]) -> Policy:
    """Return what the guard goes by."""
    return Policy(ring, callers, server.max_concurrency, server.timeout_s, is_loopback(server.host))


def settings_of(server: ServerTable) -> Settings:
    """Return the limits of the application."""
    return Settings(max_body_bytes=server.max_body_bytes, max_questions=server.max_questions)


def unlimited(ring: KeyRing | None) -> dict[str | None, Caller]:
    """Return callers without limits, one for each key."""
    names: list[str | None] = [None] if ring is None else [key.name for key in ring.keys]
    return {name: Caller(name or "", Allowance(), time.monotonic) for name in names}


def _model(
    config: ServeConfig,
    alias: str,
    table: ModelTable,
    variable: Variable,
    before: Parts | None,
    prints: dict[str, Any],
) -> AsyncDecisionModel:
    key = None if table.api_key_env is None else variable(table.api_key_env)
    folder = None if table.template is None else config.folder / table.template
    cards = None if table.calibration is None else config.folder / table.calibration
    files = tuple(stamp for path in (folder, cards) if path is not None for stamp in _stamps(path))
    name = f"model {alias}"
    timeout_s = config.file.server.timeout_s if table.timeout_s is None else table.timeout_s
    prints[name] = (table, key, files, timeout_s)
    if before is not None and before._prints.get(name) == prints[name]:
        return before.models[alias]
    given = table.model_dump(
        exclude={"api_key_env", "price", "template", "calibration", "model"}, exclude_none=True
    )
    if key is not None:
        given["api_key"] = key
    if table.price is not None:
        given["price"] = table.price.price()
    if table.model.partition(":")[0] == "fake":
        given.update(keep=0, native=table.strategy in ("auto", "native"))  # as with `--model`
    if cards is not None:
        given["calibration"] = cards
    if folder is not None:
        given["template"] = folder if folder.is_dir() else table.template
    try:
        return AsyncDecisionModel(table.model, budget=CallersBudget(), **{**given, "timeout_s": timeout_s})
    except (YesnoError, TypeError) as error:
        told = error if isinstance(error, YesnoError) else ConfigError(str(error))
        raise config.at_fault(("models", alias), told) from error


def _stamps(path: Path) -> Iterator[tuple[str, int, int]]:
    """Yield name, time and size of each file, so that a change is seen."""
    for file in sorted(path.rglob("*") if path.is_dir() else [path]):
        if file.is_file():
            status = file.stat()
            yield str(file), status.st_mtime_ns, status.st_size


def _callers(
    config: ServeConfig, before: Policy | None, clock: Callable[[], float]
) -> dict[str | None, Caller]:
    names: list[str | None] = [None] if config.ring is None else [key.name for key in config.ring.keys]
    callers: dict[str | None, Caller] = {}
    for name in names:
        caller = callers[name] = Caller(name or "", _allowance(config.limits_of(name)), clock)
        earlier = None if before is None else before.callers.get(name)
        if earlier is not None:
            if earlier.allowance == caller.allowance:
                callers[name] = earlier
            else:
                caller.inherit(earlier)
    return callers


def _allowance(table: LimitsTable) -> Allowance:
    models = getattr(table, "models", None)  # only limits of one key have it
    return Allowance(
        requests_per_minute=table.requests_per_minute,
        burst=table.burst,
        concurrency=table.concurrency,
        budget_usd=table.budget_usd,
        budget_requests=table.budget_requests,
        budget_tokens=table.budget_tokens,
        period=table.budget_period,
        models=None if models is None else frozenset(models),
    )


def _chat(
    config: ServeConfig,
    table: ChatTable,
    models: Mapping[str, AsyncDecisionModel],
    variable: Variable,
    before: Parts | None,
    prints: dict[str, Any],
) -> Chat:
    model = models[table.decide_with]
    prints["chat"] = (table, id(model))
    if before is not None and before.chat is not None and before._prints.get("chat") == prints["chat"]:
        turns = before.chat.turns
    else:
        turns = _turns(config, table, model)
    targets = {name: _target(name, route, variable, before, prints) for name, route in table.routes.items()}
    return Chat(table.name, turns, targets, table.timeout_s)


def _turns(config: ServeConfig, table: ChatTable, model: AsyncDecisionModel) -> Turns:
    routes = [
        Route(name, route.description, capabilities=route.capabilities)
        for name, route in table.routes.items()
    ]
    try:
        router = ChatRouter(
            routes,
            default=table.default,
            min_probability=table.min_probability,
            question=table.question,
            fallback=table.fallback,
        )
    except YesnoError as error:
        raise config.at_fault(("chat",), error) from error
    if table.tool_filter is None:
        return Turns(model, router, table.name, None)
    try:
        tools = ToolFilter(**table.tool_filter.model_dump())
    except YesnoError as error:
        raise config.at_fault(("chat", "tool_filter"), error) from error
    return Turns(model, router, table.name, tools)


def _target(
    name: str, route: RouteTable, variable: Variable, before: Parts | None, prints: dict[str, Any]
) -> Target:
    key = None if route.api_key_env is None else variable(route.api_key_env)
    print_ = (route.base_url, key, route.connect_timeout_s, route.timeout_s)
    prints[f"route {name}"] = print_
    if before is not None and before.chat is not None and before._prints.get(f"route {name}") == print_:
        upstream = before.chat.targets[name].upstream
    else:
        upstream = Upstream(
            name,
            route.base_url,
            key,
            connect_timeout_s=route.connect_timeout_s,
            timeout_s=route.timeout_s,
        )
    price = None if route.price is None else route.price.price()
    return Target(upstream, route.model, tuple(route.forward_headers), price, route.max_output_tokens)
