"""A server that can be given another configuration while it runs, and that leaves in peace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from yesno._log import get_logger
from yesno.errors import YesnoError
from yesno.serve.access import AccessLog, Draining, Generation, LogLine
from yesno.serve.app import create_app
from yesno.serve.assembly import Closing, Parts
from yesno.serve.guard import Guard, Policy
from yesno.serve.models import Models
from yesno.serve.proxy import ChatProxy

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["CHAT_PATH", "Service"]

CHAT_PATH = "/v1/chat/completions"
EXPOSED = ("x-request-id", "retry-after", "x-yesno-route", "x-yesno-route-why")
"""Headers that a web page may read."""


class Service:
    """The application with all that surrounds it.

    Args:
        parts: What serves requests.
        reread: Returns the parts of the configuration as it is now, given those in use; blocks, and raises
            `ConfigError` when the configuration cannot be used.
        log_line: Where the access log goes; see `AccessLog`.
    """

    def __init__(
        self, parts: Parts, reread: Callable[[Parts], Parts], log_line: LogLine | None = None
    ) -> None:
        self._parts = parts
        self._reread = reread
        self._policy = Policy()
        self._policy.follow(parts.policy)
        self._proxy = ChatProxy(parts.chat)
        self.app = create_app(
            parts.models,
            settings=parts.settings,
            middleware=[Middleware(Guard, self._policy)],
            routes={CHAT_PATH: {"POST": self._proxy}},
            on_shutdown=[self._close],
        )
        self._proxy.measure(self.app.metrics.registry)
        self._tell(parts)
        self._draining = Draining(self._with_cors())
        self.asgi: ASGIApp = self._draining
        if parts.server.access_log:
            self.asgi = AccessLog(self._draining, log_line)
        """What a server runs."""
        self._reloading = asyncio.Lock()
        self._closing: asyncio.Task[None] | None = None

    @property
    def parts(self) -> Parts:
        """What serves requests that begin now."""
        return self._parts

    def leave(self) -> None:
        """Say that no more requests are wanted, and ask clients to close their connections."""
        self.app.ready = False
        self._draining.leaving = True

    async def reload(self) -> bool:
        """Read the configuration again; requests under way end as they began.

        Returns:
            Whether it is in use; where it cannot be, the old one stays, and the log says why.
        """
        async with self._reloading:
            before = self._parts
            try:
                parts = await asyncio.to_thread(self._reread, before)
            except (YesnoError, OSError) as error:
                get_logger("serve").error("reload_refused", error=str(error))
                return False
            self._take(parts)
            left = before.closings(parts)
            generation, self._draining.generation = self._draining.generation, Generation()
            self._closing = asyncio.create_task(_retired(generation, left, self._closing))
            restart = _needing_restart(before, parts)
            if restart:
                get_logger("serve").warning("restart_needed", changed=restart)
            get_logger("serve").info("configuration_reloaded", models=list(parts.models))
            return True

    def _take(self, parts: Parts) -> None:
        """Put parts to use: without a pause, so that no request sees some old and some new."""
        self._parts = parts
        self.app.models = Models(parts.models)
        self.app.settings = parts.settings
        self._tell(parts)
        self._proxy.chat = parts.chat
        self._policy.follow(parts.policy)
        self._draining.app = self._with_cors()

    def _tell(self, parts: Parts) -> None:
        self.app.chat_models = () if parts.chat is None else parts.chat.names
        self.app.keys = parts.policy.ring is not None

    def _with_cors(self) -> ASGIApp:
        origins = self._parts.server.cors_origins
        if not origins:
            return self.app
        return CORSMiddleware(
            self.app,
            allow_origins=origins,
            allow_methods=["GET", "POST"],
            allow_headers=["*"],
            expose_headers=EXPOSED,
        )

    async def _close(self) -> None:
        if self._closing is not None:
            await self._closing
        await _closed(self._parts.closings())


async def _retired(generation: Generation, left: list[Closing], before: asyncio.Task[None] | None) -> None:
    """Close what is left of a configuration once its last request has ended, and those before it."""
    if before is not None:
        await before
    await generation.retire()
    await _closed(left)


async def _closed(closings: Iterable[Closing]) -> None:
    """Close all; one that fails keeps none of the others open."""
    ended = await asyncio.gather(*(close() for close in closings), return_exceptions=True)
    for error in ended:
        if isinstance(error, Exception):
            get_logger("serve").error("close_failed", error=type(error).__name__)


def _needing_restart(before: Parts, after: Parts) -> list[str]:
    names = ("host", "port", "access_log")
    return [name for name in names if getattr(before.server, name) != getattr(after.server, name)]
