"""Run a service until it is told to leave: SIGTERM drains, SIGINT stops, SIGHUP reads the configuration again."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from yesno._log import get_logger
from yesno.serve.service import Service

__all__ = ["Runner"]

SETTLE_S = 0.1
"""Between closing the listener and closing idle connections: what was accepted last still sends its request."""


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
        task.add_done_callback(self._reloads.discard)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the listener, let what was accepted be read, and wait for what is under way."""
        self.config.timeout_graceful_shutdown = self._service.parts.server.drain_timeout_s  # type: ignore[assignment]  # as above
        for server in self.servers:
            server.close()
        await asyncio.sleep(SETTLE_S)
        await super().shutdown(sockets)
        get_logger("serve").info("server_left")

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Listen to our signals in place of uvicorn's, which would end the process by the signal."""
        if threading.current_thread() is not threading.main_thread():
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
