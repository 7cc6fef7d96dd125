"""`yesno doctor`: how a model's host behaves, as a table with advice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from yesno.cli.session import NO_ANSWER, OK, PROVIDER, Connection
from yesno.cli.views import plain
from yesno.engine.diagnosis import Check, Diagnosis

__all__ = ["run_doctor"]

CODES = {"ok": OK, "no_answer": NO_ANSWER, "failed": PROVIDER}
COLOURS = {"ok": "green", "warn": "yellow", "fail": "red", "unknown": "dim"}


def run_doctor(connection: Connection, *, as_json: bool) -> int:
    """Check a model, print what was found and return the exit code."""
    with connection.open() as model, _status(quiet=as_json) as tell:
        diagnosis: Diagnosis = model.probe(tell)
    if as_json:
        print(json.dumps(_document(diagnosis), ensure_ascii=False, allow_nan=False))
    else:
        _show(diagnosis)
    return CODES[diagnosis.verdict]


def _document(diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "provider": diagnosis.provider,
        "model": diagnosis.model,
        "strategy": diagnosis.strategy,
        "verdict": diagnosis.verdict,
        "checks": [_row(check) for check in diagnosis.checks],
        "requests": diagnosis.requests,
        "usage": plain(diagnosis.usage),
    }


def _row(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "status": check.status,
        "value": check.value,
        "advice": check.advice,
        "numbers": dict(check.numbers),
    }


@contextmanager
def _status(*, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Give a function that shows which request is under way, on a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda number: None
        return
    with console.status("opening the model") as status:
        yield lambda number: status.update(f"request {number}")


def _show(diagnosis: Diagnosis) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    console.print(f"{diagnosis.provider}: {diagnosis.model}, by {diagnosis.strategy}", markup=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("check", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("found", overflow="fold")
    for check in diagnosis.checks:
        quiet = check.status == "unknown"
        value = f"[dim]{escape(check.value)}[/]" if quiet else escape(check.value)
        advice = "" if check.advice is None else f"\n→ {escape(check.advice)}"
        colour = COLOURS[check.status]
        table.add_row(check.name, f"[{colour}]{check.status}[/]", value + advice)
    console.print(table)
    console.print(f"[dim]{_spent(diagnosis)}[/]")


def _spent(diagnosis: Diagnosis) -> str:
    usage = diagnosis.usage
    parts = [f"{diagnosis.requests} request{'' if diagnosis.requests == 1 else 's'}"]
    if usage.input_tokens or usage.output_tokens:
        parts.append(f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out")
    else:
        parts.append("no tokens counted")
    if usage.cost_usd:
        parts.append(f"${usage.cost_usd:.4f}")
    return " · ".join(parts)
