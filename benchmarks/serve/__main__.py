"""Measure the server's requests per second beside a bare starlette app; `python -m benchmarks.serve --help`."""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.serve.bodies import BODIES, PATHS
from benchmarks.serve.drain import Drain, drained
from benchmarks.serve.load import Load, found_wrk, loaded
from benchmarks.serve.servers import BARE, READING, YESNO, Server, started, watched_memory

LEAST_SHARE = 0.5
"""Share of the bare app's requests per second that the server has to reach, in every round."""
CLEAN = (0, -signal.SIGTERM)
"""How a server ends that was asked to: uvicorn hands the signal on once all is answered."""
MOST_GROWTH_MB = 8.0
"""How far memory may grow between the first and the last fifth of a run."""


BARE_APP, APP, READING_APP = "bare", "yesno", "logprobs"


@dataclass(frozen=True, slots=True)
class Row:
    """One app under one protocol's requests, in one round."""

    protocol: str
    round: int
    app: str
    load: Load
    share: float
    """Requests per second over those of the bare app in the same round."""
    cpu_share: float
    """The bare app's CPU time per request over that of this one."""
    memory_mb: list[float]

    @property
    def growth_mb(self) -> float:
        """How much more memory the server has in the last fifth of a run than in the first."""
        fifth = max(1, len(self.memory_mb) // 5)
        return statistics.median(self.memory_mb[-fifth:]) - statistics.median(self.memory_mb[:fifth])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print its table and return the exit code."""
    options = _options(arguments)
    found_wrk()
    with tempfile.TemporaryDirectory() as name:
        rows = _measured(options, Path(name))
    drain = drained(
        PATHS["systemone"], _body("systemone"), clients=options.connections, seconds=min(3, options.seconds)
    )
    if options.json:
        shown = [{**asdict(row), "growth_mb": row.growth_mb} for row in rows]
        print(json.dumps({"rows": shown, "drain": asdict(drain)}, indent=2))
    else:
        _print(rows, drain, options)
    misses = _misses(rows, drain)
    for miss in misses:
        print(miss, file=sys.stderr)
    return 1 if misses else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serve", description=__doc__)
    parser.add_argument("--seconds", type=int, default=30, help="length of each measurement")
    parser.add_argument("--connections", type=int, default=32, help="connections that are kept busy")
    parser.add_argument("--rounds", type=int, default=1, help="rounds through both apps and protocols")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the tables")
    return parser.parse_args(arguments)


def _body(protocol: str) -> bytes:
    return json.dumps(BODIES[protocol]).encode()


def _measured(options: argparse.Namespace, folder: Path) -> list[Row]:
    with started(YESNO) as yesno, started(READING) as reading:
        for name, path in PATHS.items():
            (folder / name).write_bytes(yesno.post(path, _body(name)))
            (folder / f"{name}.json").write_bytes(_body(name))
        with started(BARE, str(folder)) as bare:
            servers = {BARE_APP: bare, APP: yesno, READING_APP: reading}
            pairs = [(number, name) for number in range(1, options.rounds + 1) for name in PATHS]
            return [row for number, name in pairs for row in _rows(name, number, servers, options, folder)]


def _rows(
    protocol: str, number: int, servers: Mapping[str, Server], options: argparse.Namespace, folder: Path
) -> list[Row]:
    rows: list[Row] = []
    for app, server in servers.items():
        url, body = f"{server.url}{PATHS[protocol]}", folder / f"{protocol}.json"
        loaded(url, body, seconds=min(2, options.seconds), connections=options.connections)
        used_s = server.cpu_s()
        with watched_memory(server) as memory:
            load = loaded(url, body, seconds=options.seconds, connections=options.connections)
        load = replace(load, cpu_ms=(server.cpu_s() - used_s) / load.requests * 1000)
        bare = rows[0].load if rows else load
        shares = load.rate / bare.rate, bare.cpu_ms / load.cpu_ms
        rows.append(Row(protocol, number, app, load, *shares, memory))
    return rows


def _misses(rows: Sequence[Row], drain: Drain) -> list[str]:
    misses = []
    for row in rows:
        where = f"{row.app}, {row.protocol}"
        if row.share < LEAST_SHARE and row.app != READING_APP:
            misses.append(f"{where}: {row.share:.2f} of the bare app's rate; it has to be {LEAST_SHARE}")
        if row.load.errors:
            misses.append(f"{where}: {row.load.errors} requests failed")
        if row.growth_mb > MOST_GROWTH_MB:
            misses.append(f"{where}: memory grew by {row.growth_mb:.1f} MB")
    if drain.lost or drain.exit_code not in CLEAN or not drain.after_signal:
        misses.append(
            f"SIGTERM: exit code {drain.exit_code}, {drain.after_signal} answered after it, lost {drain.lost[:3]}"
        )
    return misses


def _print(rows: Sequence[Row], drain: Drain, options: argparse.Namespace) -> None:
    for protocol, path in PATHS.items():
        table = Table(
            title=f"{path}, {options.seconds} s each, {options.connections} connections, one worker"
        )
        table.add_column("app", no_wrap=True)
        for heading in ("req/s", "share", "p99 ms", "CPU ms", "share", "errors", "MB"):
            table.add_column(heading, justify="right")
        for row in (row for row in rows if row.protocol == protocol):
            table.add_row(
                row.app,
                f"{row.load.rate:,.0f}",
                f"{row.share:.2f}",
                f"{row.load.p99_ms:.1f}",
                f"{row.load.cpu_ms:.3f}",
                f"{row.cpu_share:.2f}",
                str(row.load.errors),
                f"{row.memory_mb[-1]:.0f} {row.growth_mb:+.1f}",
            )
        Console().print(table)
    print(
        f"SIGTERM under load: {drain.answered:,} answered, {drain.after_signal} of them after the signal, "
        f"{drain.turned_away} turned away, {len(drain.lost)} lost"
    )


if __name__ == "__main__":
    raise SystemExit(main())
