"""What surrounds the application: one line per request in the log, and leaving in peace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

from yesno._log import get_logger

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from yesno.serve.exchange import Exchange

__all__ = ["AccessLog", "Draining", "Generation", "LogLine"]

LogLine: TypeAlias = Callable[[str, str, Mapping[str, object]], None]
"""Takes the level, `debug` or `info`, the event and the fields of one line."""
EVENT = "request_served"

_QUIET = frozenset(("/healthz", "/readyz", "/metrics"))
"""Asked every few seconds by machines; logged at the level DEBUG while all is well."""


class AccessLog:
    """Logs each request when it has ended: who asked, what for, how it went; never what was asked or answered.

    Args:
        app: What answers.
        log_line: Where lines go; by default to the logger `yesno.access`. Logging takes a tenth of the server's time,
            so that a program that only prints lines does better to write them itself.
    """

    def __init__(self, app: ASGIApp, log_line: LogLine | None = None) -> None:
        self._app = app
        self._log_line = log_line or _logged

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, taken, given, status = perf_counter(), 0, 0, 0

        async def receiving() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            return message

        async def sending(message: Message) -> None:
            nonlocal given, status
            status = message.get("status", status)
            given += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receiving, sending)
        finally:
            quiet = scope["path"] in _QUIET and status == 200
            fields = {
                "method": scope["method"],
                "path": scope["path"],  # without the query, which may hold anything
                "status": status or None,
                "duration_ms": round((perf_counter() - began) * 1000, 3),
                "bytes_in": taken,
                "bytes_out": given,
                "client": (scope.get("client") or (None,))[0],
                **_noted(scope.get("yesno")),
            }
            self._log_line("debug" if quiet else "info", EVENT, fields)


def _logged(level: str, event: str, fields: Mapping[str, object]) -> None:
    log = get_logger("access")
    (log.debug if level == "debug" else log.info)(event, **fields)


def _noted(exchange: Exchange | None) -> dict[str, object]:
    if exchange is None:
        return {}
    usage = exchange.usage
    noted = {
        "request_id": exchange.request_id,
        "key": exchange.caller,
        "alias": exchange.alias,
        "problem": exchange.problem,
        "questions": exchange.questions or None,
        "input_tokens": usage.input_tokens or None,
        "output_tokens": usage.output_tokens or None,
        **exchange.notes,
    }
    return {name: value for name, value in noted.items() if value is not None}


class Generation:
    """The requests that began under one configuration."""

    def __init__(self) -> None:
        self.under_way = 0
        self._retired = False
        self._over = asyncio.Event()

    def leave(self) -> None:
        """Count a request that ends."""
        self.under_way -= 1
        if self._retired and not self.under_way:
            self._over.set()

    async def retire(self) -> None:
        """Wait for the last of its requests, once no more begin."""
        self._retired = True
        if self.under_way:
            await self._over.wait()


class Draining:
    """Counts the requests under way; once the server is leaving, asks every client to connect elsewhere.

    A client that keeps its connection would lose a request that it sends just when the connection is closed.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.leaving = False
        self.generation = Generation()
        """That of requests that begin now."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if self.leaving and message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            await send(message)

        generation = self.generation
        generation.under_way += 1
        try:
            await self.app(scope, receive, sending)
        finally:
            generation.leave()
