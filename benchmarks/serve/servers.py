"""Servers in processes of their own: start, address, memory, end."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Event, Thread

import httpx2

__all__ = ["BARE", "READING", "YESNO", "Server", "started", "watched_memory"]

BARE = ("-m", "benchmarks.serve.bare")
YESNO = ("-m", "yesno", "serve", "--model", "fake", "--port", "0")
"""The stand-in for a decision endpoint: its answers are ready."""
READING = (*YESNO, "--strategy", "logprobs")
"""With prompts to write and log-probabilities to read, as for a model of tokens."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs."""

    url: str
    process: subprocess.Popen[bytes]

    def post(self, path: str, body: bytes) -> bytes:
        """Return the body of one reply; anything but a success is an error."""
        reply = httpx2.post(f"{self.url}{path}", content=body, headers={"content-type": "application/json"})
        return reply.raise_for_status().content

    def memory_mb(self) -> float:
        """Return the resident memory."""
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())
        assert found is not None
        return int(found.group(1)) / 1024

    def cpu_s(self) -> float:
        """Return the CPU time that it has used so far, in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def started(command: Sequence[str], *more: str) -> Iterator[Server]:
    """Start a server with this Python, its log in a file, and wait until it says where it is."""
    with NamedTemporaryFile() as log:
        process = subprocess.Popen([sys.executable, *command, *more], stdout=log, stderr=log)
        try:
            yield Server(_address(process, Path(log.name)), process)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    while (found := re.search(r"http://[\d.]+:\d+", log.read_text())) is None:
        if process.poll() is not None:
            raise RuntimeError(f"the server did not start: {log.read_text()}")
        time.sleep(0.05)
    return found.group()


@contextmanager
def watched_memory(server: Server) -> Iterator[list[float]]:
    """Fill a list with the server's memory in MB, every half a second."""
    seen: list[float] = []
    ended = Event()

    def watch() -> None:
        while not ended.wait(0.5):
            seen.append(server.memory_mb())

    thread = Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()
