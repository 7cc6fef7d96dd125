"""Load by wrk, which keeps every connection busy and waits for each reply before it posts again."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Load", "found_wrk", "loaded"]

SCRIPT = Path(__file__).with_name("post.lua")


@dataclass(frozen=True, slots=True)
class Load:
    """What wrk counted."""

    requests: int
    seconds: float
    p50_ms: float
    p99_ms: float
    worst_ms: float
    errors: int
    """Refused, broken and late connections, and replies that are no success."""

    cpu_ms: float = 0.0
    """CPU time of the server per request, in milliseconds."""

    @property
    def rate(self) -> float:
        """Requests per second."""
        return self.requests / self.seconds


def found_wrk() -> str:
    """Return the program; without it there is no measurement."""
    found = shutil.which("wrk")
    if found is None:
        raise SystemExit("this benchmark needs wrk; apt-get install wrk, or brew install wrk")
    return found


def loaded(url: str, body: Path, *, seconds: int, connections: int) -> Load:
    """Post a body as fast as replies come, from one thread."""
    command = [
        found_wrk(),
        "-t1",
        f"-c{connections}",
        f"-d{seconds}s",
        "--timeout",
        "10s",
        "-s",
        str(SCRIPT),
        url,
    ]
    done = subprocess.run([*command, "--", str(body)], capture_output=True, text=True, check=True)
    return Load(**json.loads(done.stdout.strip().splitlines()[-1]))
