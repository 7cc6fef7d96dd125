"""`yesno doctor`: how a model's host behaves, as a table with advice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

from yesno.cli.options import Connection, Json, Without
from yesno.cli.progress import working
from yesno.cli.session import NO_ANSWER, OK, PROVIDER, in_options
from yesno.cli.views import plain, screen

if TYPE_CHECKING:
    from yesno.engine.diagnosis import Diagnosis

__all__ = ["doctor"]

CODES = {"ok": OK, "no_answer": NO_ANSWER, "failed": PROVIDER}
COLOURS = {"ok": "green", "warn": "yellow", "fail": "red", "unknown": "dim"}


def doctor(
    connection: Annotated[
        Connection, Without("calibration", "orders", "prior", "packing", "cache", "concurrency")
    ],
    as_json: Json = False,
) -> int:
    """Check how a model's host behaves, and what to do about it.

    It takes about a dozen requests.
    """
    from yesno.engine.retry import RetryPolicy

    # who checks a host wants to hear of its failures, not to wait until they pass
    impatient = RetryPolicy(attempts=2)
    with working(quiet=as_json) as tell, connection.open(retry=impatient) as model:
        diagnosis: Diagnosis = model.probe(lambda number: tell(f"request {number}"))
    if as_json:
        document = {**plain(diagnosis), "verdict": diagnosis.verdict}
        print(json.dumps(document, ensure_ascii=False, allow_nan=False))
    else:
        _show(diagnosis)
    return CODES[diagnosis.verdict]


def _show(diagnosis: Diagnosis) -> None:
    from rich.markup import escape
    from rich.table import Table

    console = screen()
    console.print(f"{diagnosis.provider}: {diagnosis.model}, by {diagnosis.strategy}", markup=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("check", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("found", overflow="fold")
    for check in diagnosis.checks:
        quiet = check.status == "unknown"
        value = f"[dim]{escape(check.value)}[/]" if quiet else escape(check.value)
        advice = "" if check.advice is None else f"\n→ {escape(in_options(check.advice))}"
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
