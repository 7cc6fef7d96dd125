"""Run a service until it is told to leave: SIGTERM drains, SIGINT stops, SIGHUP reads the configuration again."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import uvicorn

from yesno._log import get_logger
from yesno.serve.service import Service

__all__ = ["Runner"]

SETTLE_S = 1.0
"""The longest wait for the first request of connections that were accepted last."""
PAUSE_S = 0.02
GC_THRESHOLDS = (10_000, 20, 20)
"""A request makes about 700 objects, which is Python's own first threshold: it looked for garbage once per request."""


class Runner(uvicorn.Server):
    """uvicorn's server with our signals.

    After the first SIGTERM, `/readyz` answers 503 and every response asks for its connection to be closed; new
    requests are still taken for `drain_delay_s`, so that a load balancer can look away. Then the listener is
    closed, and what is under way has `drain_timeout_s` to end. A second signal ends the delay, a third the wait.
    """

    def __init__(self, service: Service) -> None:
        config = uvicorn.Config(
            service.asgi,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="on",
            timeout_graceful_shutdown=service.parts.server.drain_timeout_s,  # type: ignore[arg-type]  # seconds for asyncio
        )
        super().__init__(config)
        self._service = service
        self._signals = 0
        self._reloads: set[asyncio.Task[bool]] = set()

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until told to leave; what is loaded by now is never looked through for garbage again."""
        gc.collect()
        gc.freeze()
        gc.set_threshold(*GC_THRESHOLDS)
        super().run(sockets)

    def leave(self, *, delay_s: float) -> None:
        """Begin to leave, or go on with it when that has begun."""
        self._signals += 1
        if self._signals == 1:
            get_logger("serve").info("draining_began", delay_s=delay_s)
            self._service.leave()
            asyncio.get_running_loop().call_later(delay_s, self._stop)
        elif self._signals == 2:
            self._stop()
        else:
            self.force_exit = True

    def reload(self) -> None:
        """Read the configuration again."""
        task = asyncio.create_task(self._service.reload())
        self._reloads.add(task)
        task.add_done_callback(self._reloaded)

    def _reloaded(self, task: asyncio.Task[bool]) -> None:
        self._reloads.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            get_logger("serve").error("reload_failed", error=type(error).__name__)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the listener, let all that connected before be read, and wait for what is under way."""
        self.config.timeout_graceful_shutdown = self._service.parts.server.drain_timeout_s  # type: ignore[assignment]  # as above
        loop = asyncio.get_running_loop()
        for listener in sockets or []:
            loop.remove_reader(listener)
        # asyncio drops a connection that it is about to serve when its listener is closed (Python 3.11)
        await asyncio.sleep(PAUSE_S)
        for waiting in self._last_accepted(sockets or []):
            await loop.connect_accepted_socket(self._protocol, waiting)
        end = loop.time() + SETTLE_S
        while self._silent() and loop.time() < end:  # noqa: ASYNC110 - uvicorn tells nobody
            await asyncio.sleep(PAUSE_S)
        await super().shutdown(sockets)
        get_logger("serve").info("server_left")

    def _last_accepted(self, sockets: list[socket.socket]) -> list[socket.socket]:
        """Close the listener and return the connections that waited at it, which closing it would break."""
        listeners = [listener.dup() for listener in sockets]
        for server in self.servers:
            server.close()
        accepted = []
        for listener in listeners:
            listener.settimeout(0.0)
            with listener, suppress(OSError):  # nobody waits any more
                while True:
                    accepted.append(listener.accept()[0])
        return accepted

    def _protocol(self) -> asyncio.Protocol:
        """Return what serves a connection, as `uvicorn.Server.startup` makes it (0.54)."""
        return self.config.http_protocol_class(  # type: ignore[call-arg]  # as uvicorn itself
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )

    def _silent(self) -> bool:
        """Return whether a connection has sent no request yet; uvicorn would close it unread."""
        return any(getattr(c, "cycle", c) is None for c in self.server_state.connections)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Listen to our signals in place of uvicorn's, which would end the process by the signal."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        if not hasattr(signal, "SIGHUP"):  # Windows
            with super().capture_signals():
                yield
            return
        loop = asyncio.get_running_loop()
        calls: dict[signal.Signals, Callable[[], None]] = {
            signal.SIGTERM: lambda: self.leave(delay_s=self._service.parts.server.drain_delay_s),
            signal.SIGINT: lambda: self.leave(delay_s=0.0),
            signal.SIGHUP: self.reload,
        }
        for number, call in calls.items():
            loop.add_signal_handler(number, call)
        try:
            yield
        finally:
            for number in calls:
                loop.remove_signal_handler(number)

    def _stop(self) -> None:
        self.should_exit = True
