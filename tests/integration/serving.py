"""`yesno serve` in a process of its own, and an upstream in this one."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import asynccontextmanager

from aiohttp import web

__all__ = ["Serving", "lines_of", "upstream"]

START_S = 60


class Serving:
    """A server that has begun to listen."""

    def __init__(self, folder, *words, **environment):
        self.log = folder / "log.txt"
        self._file = self.log.open("w")
        command = [sys.executable, "-m", "yesno", "serve", "--port", "0", "--log", "json", *map(str, words)]
        self.process = subprocess.Popen(  # noqa: S603
            command, stderr=self._file, stdout=self._file, cwd=folder, env={**os.environ, **environment}
        )
        self.url = ""

    async def started(self):
        """Wait until it listens."""
        async with asyncio.timeout(START_S):
            while not (found := re.search(r"at (http://\S+)/v1", self.log.read_text())):
                assert self.process.poll() is None, self.log.read_text()
                await asyncio.sleep(0.05)
        self.url = found[1]
        return self

    def send(self, number):
        self.process.send_signal(number)

    async def logged(self, event, count=1):
        """Wait until an event was logged so often, and return the last."""
        async with asyncio.timeout(START_S):
            while len(found := lines_of(self.log, event)) < count:
                await asyncio.sleep(0.02)
        return found[-1]

    async def ended(self):
        return await asyncio.to_thread(self.process.wait, START_S)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        self._file.close()


def lines_of(log, event):
    """Return the lines of a log that tell of an event."""
    parsed = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    return [line for line in parsed if line["event"] == event]


@asynccontextmanager
async def upstream(handler):
    """Serve `/v1/chat/completions` on a port of its own."""
    app = web.Application()
    app.router.add_post("/v1/chat/completions", handler)
    runner = web.AppRunner(app, shutdown_timeout=0, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()
