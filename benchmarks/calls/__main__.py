"""Time what a manager adds to a call of a tool, without a gate; `python -m benchmarks.calls --help`."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from yesno.toolcalls import (
    Audit,
    ConfirmationRequired,
    InMemoryPendingStore,
    PendingSigner,
    ToolCallingManager,
    ToolLimits,
    ToolSet,
    run_without_model,
    tool,
)

MOST_MS = 0.5


@tool
def find_order(order: str, limit: int = 10, fields: list[str] | None = None) -> dict[str, Any]:
    """Find an order by its number."""
    return {"order": order, "cents": 900, "state": "delivered"}


@tool(confirm=True)
def refund(order: str, cents: int) -> str:
    """Pay money back for an order."""
    return f"{cents} cents were paid back for {order}"


TOOLS = ToolSet([find_order, refund])
USER: list[Any] = [{"role": "user", "content": "Where is my order?"}]
PLAIN = ToolCallingManager()
TIMED = ToolCallingManager(limits=ToolLimits(seconds=60))
AUDITED = ToolCallingManager(audit=Audit([].append, include_arguments=True, chain=True))
SEALED = ToolCallingManager(signer=PendingSigner(b"k" * 32), store=InMemoryPendingStore())


def reply(count: int, name: str = "find_order", **more: Any) -> dict[str, Any]:
    """Return a reply of Chat Completions that asks for a tool this many times."""
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps({"order": f"A{number}", **more})},
        }
        for number in range(count)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}


def history(rounds: int) -> list[Any]:
    """Return a conversation of this many questions, each with a call, its result and an answer."""
    said: list[Any] = []
    for number in range(rounds):
        asked = reply(1, order=f"B{number}")["choices"][0]["message"]
        result = {"role": "tool", "tool_call_id": "call_0", "content": '{"state": "delivered"}'}
        said += [*USER, asked, result, {"role": "assistant", "content": "It is delivered."}]
    return [*said, *USER]


def executed(
    manager: ToolCallingManager,
    asked: Mapping[str, Any],
    messages: Sequence[Any] = USER,
    tools: ToolSet | Sequence[Any] = TOOLS,
) -> None:
    """Run the calls of a reply."""
    run_without_model(manager.execute_tool_calls(messages, asked, tools=tools))


def confirmed(asked: Mapping[str, Any]) -> None:
    """Stop for a person, write the record, read it and go on."""
    try:
        executed(SEALED, asked)
    except ConfirmationRequired as stop:
        kept = stop.pending.model_dump_json()
    run_without_model(
        SEALED.execute_tool_calls(USER, asked, tools=TOOLS, pending=kept, decisions={"call_0": True})
    )


def cases() -> Mapping[str, tuple[int, Callable[[], None]]]:
    """Return what is timed: the number of calls, and what makes them."""
    one, eight, long, pay = reply(1), reply(8), history(50), reply(1, "refund", cents=900)
    return {
        "one call": (1, lambda: executed(PLAIN, one)),
        "eight calls of one reply": (8, lambda: executed(PLAIN, eight)),
        "one call, seconds limited": (1, lambda: executed(TIMED, one)),
        "one call after 201 messages": (1, lambda: executed(PLAIN, one, long)),
        "one call, tools read anew": (1, lambda: executed(PLAIN, one, tools=[find_order, refund])),
        "one call, a chained log with arguments": (1, lambda: executed(AUDITED, one)),
        "one call that a person allows, signed": (1, lambda: confirmed(pay)),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print its table and return the exit code: 1 when a plain call takes too long."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calls", description=__doc__)
    parser.add_argument("--rounds", type=int, default=21, help="rounds of each; medians are shown")
    parser.add_argument("--count", type=int, default=100, help="replies in a round")
    options = parser.parse_args(arguments)
    made = cases()
    times: dict[str, list[float]] = {name: [] for name in made}
    for _ in range(options.rounds + 1):
        for name, (calls, work) in made.items():
            times[name].append(_milliseconds(work, options.count) / calls)
    table = Table("a tool that does nothing", "CPU ms per call", "worst round")
    for name, found in times.items():
        kept = found[1:]  # the first fills caches
        table.add_row(name, f"{statistics.median(kept):.3f}", f"{max(kept):.3f}")
    Console().print(table)
    plain = (statistics.median(times[name][1:]) for name in ("one call", "eight calls of one reply"))
    return int(max(plain) >= MOST_MS)


def _milliseconds(work: Callable[[], None], count: int) -> float:
    begun = time.process_time()
    for _ in range(count):
        work()
    return (time.process_time() - begun) * 1000 / count


if __name__ == "__main__":
    raise SystemExit(main())
