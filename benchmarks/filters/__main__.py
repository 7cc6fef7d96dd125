"""What a tool filter costs beside its requests, and what its shortlist finds; `python -m benchmarks.filters --help`."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from yesno import DecisionModel, FakeProvider, YesNo
from yesno.filters import ToolFilter
from yesno.filters._shortlist import Shortlist
from yesno.filters.tool_filter import query_of
from yesno.flow import Ask, run
from yesno.messages import Message
from yesno.questions import Answer
from yesno.templates import layers
from yesno.tools import Tool, tool_of

DATA = Path(__file__).parent / "data"
TOOLS, MESSAGES, MOST_MS = 500, 200, 20.0
COUNTS = (10, 20, 30)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both parts, print their tables and return the exit code: 1 when the filter takes too long."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.filters", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="runs of each; medians are shown")
    options = parser.parse_args(arguments)
    catalogue, rows = _lines("tools"), _lines("turns")
    first, again, whole = _overhead(catalogue, rows, options.rounds)
    table = Table(f"{TOOLS} tools, a chat of {MESSAGES} messages", "ms of CPU", "most")
    table.add_row("the filter, tools seen for the first time", f"{first:.1f}", f"{MOST_MS:.0f}")
    table.add_row("the filter, tools seen before", f"{again:.1f}", f"{MOST_MS:.0f}")
    table.add_row(f"all, with {TOOLS} requests to a scripted provider", f"{whole:.1f}", "")
    table.add_row("share of the filter", f"{again / whole:.0%}", "")
    Console().print(table)
    found = Table("share of the called tools on the shortlist", *map(str, COUNTS))
    found.add_row("of 51 to 60 tools", *(f"{_recall(catalogue, rows, count):.3f}" for count in COUNTS))
    Console().print(found)
    return int(max(first, again) > MOST_MS)


def _lines(name: str) -> list[dict[str, Any]]:
    text = (DATA / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _overhead(
    catalogue: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], rounds: int
) -> tuple[float, float, float]:
    tools = [
        {"type": "function", "function": {**catalogue[n % len(catalogue)], "name": f"tool_{n}"}}
        for n in range(TOOLS)
    ]
    messages = _chat(rows)
    flow = ToolFilter()
    model = DecisionModel(FakeProvider())
    answer: Answer = model.decide("x", YesNo("q?"))

    def alone() -> None:
        def answers(asks: Sequence[Ask]) -> list[Answer]:
            return [answer] * len(asks)

        run(flow.select(tools, messages), answers)

    def fresh() -> None:
        layers._text.cache_clear()
        alone()

    def whole() -> None:
        model.run(flow.select(tools, messages))

    return _cpu_ms(fresh, rounds), _cpu_ms(alone, rounds), _cpu_ms(whole, max(rounds // 5, 1))


def _chat(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a chat of rounds of four messages: question, call, result, answer; the last is the user's."""
    said = [turn["user"] for row in rows for turn in row["turns"]]
    messages: list[dict[str, Any]] = []
    for number, text in enumerate(said):
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": "other", "arguments": '{"at": 1}'},
        }
        messages += [
            {"role": "user", "content": text},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": text * 20},
            {"role": "assistant", "content": text},
        ]
        if len(messages) >= MESSAGES:
            break
    return [*messages[: MESSAGES - 1], {"role": "user", "content": said[-1]}]


def _cpu_ms(work: Callable[[], None], rounds: int) -> float:
    times = []
    for _ in range(rounds + 1):
        start = time.process_time()
        work()
        times.append((time.process_time() - start) * 1000)
    return statistics.median(times[1:])  # the first fills caches


def _recall(
    catalogue: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    count: int,
) -> float:
    described = {row["id"]: tool_of(row) for row in catalogue}
    shares = [
        len(wanted.intersection(picked)) / len(wanted)
        for row in rows
        for wanted, picked in _picked(row, described, Shortlist(count))
    ]
    return statistics.mean(shares)


def _picked(
    row: Mapping[str, Any], described: Mapping[str, Tool], shortlist: Shortlist
) -> Iterator[tuple[set[str], list[str]]]:
    said: list[Message] = []
    for turn in row["turns"]:
        said.append(Message("user", turn["user"]))
        if turn["called"]:
            places = shortlist.pick(
                query_of(said[-10:], said[-1]), [described[name] for name in row["tools"]]
            )
            yield set(turn["called"]), [row["tools"][place] for place in places]


if __name__ == "__main__":
    sys.exit(main())
