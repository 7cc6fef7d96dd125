"""Who may ask, how often, and what for; the first thing that a request meets."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from structlog.contextvars import bind_contextvars, reset_contextvars

from yesno.errors import RequestProblem
from yesno.serve.callers import CALLER, Caller, Denial
from yesno.serve.config import is_loopback
from yesno.serve.keys import KeyRing
from yesno.serve.openapi import OPEN
from yesno.serve.problems import MOST_RETRY_S

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from yesno.serve.exchange import Exchange

__all__ = ["Guard", "Policy"]

KEY_HEADERS = (b"x-api-key", b"api-key")
"""Besides `authorization: Bearer …`."""
_PORT = re.compile(r":\d*$")
BUSY_RETRY_S = 1


@dataclass(slots=True)
class Policy:
    """What the guard goes by."""

    ring: KeyRing | None = field(default=None, repr=False)
    """None asks for no key."""
    callers: Mapping[str | None, Caller] = field(default_factory=dict)
    """Name of a key -> what it may use; None stands for all who ask without one."""
    max_concurrency: int | None = None
    timeout_s: float = 60.0
    """Seconds for a body to arrive."""
    local: bool = False
    """It listens on this machine alone; without keys it then answers to names of this machine alone, so that a web
    page cannot reach it by a name of its own that leads here (DNS rebinding)."""

    def follow(self, other: Policy) -> None:
        """Be what another is, for requests that begin from now on."""
        self.ring, self.callers = other.ring, other.callers
        self.max_concurrency, self.timeout_s = other.max_concurrency, other.timeout_s
        self.local = other.local


class Guard:
    """Lets a request in when its key is known and has something left; a middleware of the application."""

    def __init__(self, app: ASGIApp, policy: Policy) -> None:
        self._app = app
        self.policy = policy
        self.under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it.

        Raises:
            RequestProblem: 401 without a key that is known, 403 by a name that is not this machine's, 429 with one that has used what it may, 503 when the
                server has enough to do, 408 when the body does not arrive in time.
        """
        policy, exchange = self.policy, scope["yesno"]
        if scope["path"] in OPEN:
            await self._app(scope, receive, send)
            return
        caller = policy.callers.get(_holder(policy, exchange))
        if caller is not None:
            exchange.allowed = caller.allowance.models
        if caller is None or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        if policy.max_concurrency is not None and self.under_way >= policy.max_concurrency:
            raise _busy(self.under_way)
        denial = caller.enter()
        if denial is not None:
            raise _denied(denial)
        token = CALLER.set(caller)
        bound = bind_contextvars(request_id=exchange.request_id)  # for what the rooms below log
        self.under_way += 1
        try:
            await self._app(scope, _in_time(receive, policy.timeout_s), send)
        finally:
            self.under_way -= 1
            caller.leave()
            CALLER.reset(token)
            reset_contextvars(**bound)


def _holder(policy: Policy, exchange: Exchange) -> str | None:
    ring = policy.ring
    if ring is None:
        if policy.local and not _is_here(exchange.headers.get(b"host", b"localhost")):
            raise RequestProblem(
                "without keys this server answers to names of its own machine alone, such as localhost; a proxy "
                "before it has to set `host`, or the server needs keys",
                status=403,
                kind="permission",
                code="host_not_allowed",
            )
        return None
    presented = _presented(exchange.headers)
    name = None if presented is None else ring.holder(presented)
    if name is None:
        lack = "needs an API key, as the header `authorization: Bearer KEY`"
        words = f"this server {lack}" if presented is None else "the API key is not one of this server's"
        raise RequestProblem(
            words,
            status=401,
            kind="authentication",
            code="missing_api_key" if presented is None else "invalid_api_key",
            headers=(("www-authenticate", "Bearer"),),
        )
    exchange.caller = name
    return name


@lru_cache(maxsize=64)
def _is_here(host: bytes) -> bool:
    """Return whether a `host` header names this machine."""
    name = _PORT.sub("", host.decode("latin-1").lower())
    return is_loopback(name) or name.endswith(".localhost")


def _presented(headers: Mapping[bytes, bytes]) -> str | None:
    scheme, _, credentials = headers.get(b"authorization", b"").partition(b" ")
    if scheme.lower() == b"bearer" and credentials.strip():
        return credentials.strip().decode("latin-1")
    given = next((headers[name] for name in KEY_HEADERS if headers.get(name)), None)
    return None if given is None else given.strip().decode("latin-1")


def _denied(denial: Denial) -> RequestProblem:
    wait = denial.retry_after_s
    if wait is None:
        headers: tuple[tuple[str, str], ...] = (("x-should-retry", "false"),)
    else:
        headers = (
            ("retry-after", str(min(MOST_RETRY_S, math.ceil(wait)))),
            ("retry-after-ms", str(min(MOST_RETRY_S * 1000, math.ceil(wait * 1000)))),
        )
    return RequestProblem(denial.message, status=429, kind="rate_limit", code=denial.code, headers=headers)


def _busy(under_way: int) -> RequestProblem:
    return RequestProblem(
        f"the server has {under_way} requests under way, which is as many as it takes; try again",
        status=503,
        kind="server",
        code="overloaded",
        headers=(("retry-after", str(BUSY_RETRY_S)),),
    )


def _in_time(receive: Receive, limit_s: float) -> Receive:
    """Return what receives a body that must be whole within a time; what comes after it may take longer."""
    loop = asyncio.get_running_loop()
    end = loop.time() + limit_s
    whole = False

    async def receiving() -> Message:
        nonlocal whole
        if whole:
            return await receive()
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            raise RequestProblem(
                f"the body did not arrive within {limit_s:g} s",
                status=408,
                kind="usage",
                code="body_timeout",
                headers=(("connection", "close"),),
            ) from None
        whole = not message.get("more_body")
        return message

    return receiving
