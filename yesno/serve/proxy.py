"""`POST /v1/chat/completions`: to the route that a decision chose, and back as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from yesno.engine.budget import Amounts, Reservation
from yesno.errors import ProviderError, ProviderUnavailable, RequestProblem
from yesno.evidence import Usage
from yesno.prices import Price
from yesno.serve.bodies import read_json
from yesno.serve.callers import CALLER
from yesno.serve.chats import ChatRequest, count_left, read_chat, sent_on
from yesno.serve.headers import Headers, passed_back, passed_on
from yesno.serve.problems import RETRY_S
from yesno.serve.turns import Plan, Turns
from yesno.serve.upstreams import Answer, Upstream, UsageWatch

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter
    from starlette.types import Receive, Scope, Send

    from yesno.serve.exchange import Exchange

__all__ = ["Chat", "ChatProxy", "Target"]

SHOWN = 80
"""Characters of a name that an error shows."""


@dataclass(frozen=True, slots=True)
class Target:
    """What stands behind a route."""

    upstream: Upstream
    model: str
    """The model's name there."""
    forward_headers: tuple[str, ...] = ()
    price: Price | None = None
    max_output_tokens: int = 4096
    """What a budget reserves for an answer whose request sets no limit."""

    def most(self, body: bytes, chat: ChatRequest) -> Amounts:
        """Return the most that a request can use: as many input tokens as its body has bytes.

        An image that is named by its address can use more; then what the answer says counts, and the budget ends late.
        """
        output = chat.output_tokens or self.max_output_tokens
        usd = None if self.price is None else self.price.most(len(body), output)
        return Amounts(usd, 1, len(body) + output)

    def used(self, usage: Usage | None, most: Amounts) -> Amounts:
        """Return what a request has used, by what its answer says; all it could where that says nothing."""
        if usage is None:
            return most
        usd = None if self.price is None else self.price.cost(usage)
        return Amounts(most.usd if usd is None else usd, 1, usage.input_tokens + usage.output_tokens)


@dataclass(frozen=True, slots=True)
class Chat:
    """What the proxy goes by; a reload puts another in its place."""

    name: str
    """The model's name that has a request routed."""
    turns: Turns = field(repr=False)
    targets: Mapping[str, Target]
    """Route -> what stands behind it."""
    timeout_s: float | None = None
    """Seconds that a decision may take; None leaves it to the application's settings."""

    @property
    def names(self) -> tuple[str, ...]:
        """What requests may call a model."""
        return (self.name, *self.targets)


class ChatProxy:
    """The endpoint; it answers 404 while there is no `chat`."""

    def __init__(self, chat: Chat | None = None) -> None:
        self.chat = chat
        self._routed: Counter | None = None
        self._tools: Counter | None = None

    def measure(self, registry: CollectorRegistry) -> None:
        """Count routes and tools in the server's metrics."""
        from prometheus_client import Counter

        self._routed = Counter(
            "chats", "Chats by route.", ["route", "why"], namespace="yesno", registry=registry
        )
        self._tools = Counter(
            "chat_tools",
            "Tools that callers offer, and that are sent on.",
            ["what"],
            namespace="yesno",
            registry=registry,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; one whose client goes away ends at the upstream too.

        Raises:
            RequestProblem: The body is no request, the model is unknown, or the upstream does not answer.
            YesnoError: The decision failed and may not fall back, or a budget is spent.
        """
        exchange: Exchange = scope["yesno"]
        setup = self.chat
        if setup is None:
            raise RequestProblem(
                "this server routes no chats; its operator can set up [chat] in the configuration file",
                status=404,
                kind="usage",
                code="not_found",
            )
        chat = read_chat(await read_json(exchange, receive))
        _check_model(chat.model, setup, exchange)
        exchange.alias = chat.model
        work = asyncio.create_task(self._answer(setup, chat, scope, send))
        gone = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                exchange.notes["client_left"] = True
                work.cancel()
                with suppress(asyncio.CancelledError):
                    await work
                return
            await work
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.wait((work, gone))

    async def _answer(self, setup: Chat, chat: ChatRequest, scope: Scope, send: Send) -> None:
        exchange: Exchange = scope["yesno"]
        plan = await setup.turns.plan(chat, setup.timeout_s or exchange.settings.timeout_s)
        target = setup.targets[plan.route]
        told = _told(plan)
        self._count(plan)
        exchange.notes.update(_noted(plan))
        body = sent_on(chat, target.model, plan.tools, plan.kept)
        most = target.most(body, chat)
        budget = None if (caller := CALLER.get()) is None else caller.budget()
        held = None if budget is None else budget.reserve(most)
        watch = UsageWatch(stream=chat.stream)
        headers = passed_on(scope["headers"], target.forward_headers)
        headers.append((b"x-request-id", exchange.request_id.encode()))
        failed = False
        try:
            async with target.upstream.ask(body, headers) as answer:
                failed = answer.status >= 400
                _check_key(answer, plan.route, told)
                await _pass_back(answer, told, watch, send)
        except ProviderError as error:
            failed = failed or _was_never_sent(error)
            if exchange.status is None:
                raise _problem(error, told) from error
            exchange.problem = "upstream_broke_off"  # the client sees that the body is not whole
        finally:
            usage = watch.end()
            if usage is not None:
                exchange.usage = usage
            _settle(held, target, usage, failed=failed)

    def _count(self, plan: Plan) -> None:
        if self._routed is not None:
            self._routed.labels(plan.route, plan.why).inc()
        if self._tools is not None and plan.tools is not None:
            self._tools.labels("offered").inc(len(plan.tools.offered))
            self._tools.labels("sent").inc(count_left(plan.tools, plan.kept))


async def _gone(receive: Receive) -> None:
    """Return when the client has gone away."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _check_model(model: str, setup: Chat, exchange: Exchange) -> None:
    allowed = [name for name in setup.names if exchange.allowed is None or name in exchange.allowed]
    if model not in allowed:
        raise RequestProblem(
            f"there is no chat model {model[:SHOWN]!r}; this server has {', '.join(allowed) or 'none for this key'}",
            status=404,
            kind="model",
            code="model_not_found",
            where=("model",),
        )


def _told(plan: Plan) -> dict[str, str]:
    """Return the headers that say what became of a request."""
    noted = {name: value for name, value in _noted(plan).items() if not name.startswith("decision_")}
    return {f"x-yesno-{name.replace('_', '-')}": str(value) for name, value in noted.items()}


def _noted(plan: Plan) -> dict[str, str | int | float | bool]:
    """Return what the log says about a request."""
    noted: dict[str, str | int | float | bool] = {"route": plan.route, "route_why": plan.why}
    if plan.route in plan.probabilities:
        noted["route_probability"] = round(plan.probabilities[plan.route], 4)
    if plan.tools is not None:
        noted["tools_offered"] = len(plan.tools.offered)
        noted["tools_sent"] = count_left(plan.tools, plan.kept)
    if plan.tools_why is not None:
        noted["tools_why"] = plan.tools_why
    if plan.usage.requests:
        noted["decision_requests"] = plan.usage.requests
        noted["decision_tokens"] = plan.usage.input_tokens + plan.usage.output_tokens
    return noted


def _check_key(answer: Answer, route: str, told: Mapping[str, str]) -> None:
    """Refuse to pass a 401 on: it is about the operator's key, and may show a part of it."""
    if answer.status == 401:
        raise RequestProblem(
            f"the upstream of route {route!r} refuses the key of this server; its operator has to set another",
            status=502,
            kind="server",
            code="upstream_key_refused",
            headers=(("x-should-retry", "false"), *told.items()),
        )


async def _pass_back(answer: Answer, told: Mapping[str, str], watch: UsageWatch, send: Send) -> None:
    headers: Headers = passed_back(answer.headers)
    headers += [(name.encode(), value.encode()) for name, value in told.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    async with aclosing(answer.pieces) as pieces:
        async for piece in pieces:
            watch.see(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def _was_never_sent(error: ProviderError) -> bool:
    import aiohttp

    return isinstance(error.__cause__, aiohttp.ClientConnectorError)


def _problem(error: ProviderError, told: Mapping[str, str]) -> RequestProblem:
    """Return what a client is told of an upstream that does not answer."""
    again = isinstance(error, ProviderUnavailable)
    advice = ("retry-after", str(RETRY_S)) if again else ("x-should-retry", "false")
    code = (
        "upstream_timeout"
        if error.status == 504
        else "upstream_unavailable"
        if again
        else "upstream_redirects"
    )
    return RequestProblem(
        str(error), status=error.status or 502, kind="server", code=code, headers=(advice, *told.items())
    )


def _settle(held: Reservation | None, target: Target, usage: Usage | None, *, failed: bool) -> None:
    if held is not None:
        held.settle(Amounts(requests=1) if failed else target.used(usage, held.most))
