"""How many threads a model may use."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["default_threads"]

_SYSTEM = Path("/sys")


def default_threads(system: Path = _SYSTEM) -> int:
    """Return the number of physical cores that this process may use, as far as the system tells.

    More threads than cores make llama.cpp many times slower, since its threads wait for one another actively.
    """
    allowed = _allowed()
    cores = {_siblings(system, number) for number in allowed}
    return max(1, min(len(cores), _quota(system, len(allowed))))


def _allowed() -> list[int]:
    try:
        return sorted(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return list(range(os.cpu_count() or 1))


def _siblings(system: Path, number: int) -> str:
    path = system / f"devices/system/cpu/cpu{number}/topology/thread_siblings_list"
    try:
        return path.read_text("ascii").strip()
    except OSError:
        return str(number)


def _quota(system: Path, most: int) -> int:
    """Return the processors that a container may use."""
    try:
        allowed, period = (system / "fs/cgroup/cpu.max").read_text("ascii").split()
        return max(1, round(int(allowed) / int(period)))
    except (OSError, ValueError, ZeroDivisionError):
        return most
