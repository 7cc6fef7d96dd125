"""`yesno demo`: real questions to a real model, then a tool filter and a router from plain flows."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from yesno.cli.demo_items import ITEMS, MESSAGE, ROUTES, TOOLS, Item
from yesno.cli.options import Connection, Json, Without
from yesno.cli.progress import working
from yesno.cli.session import OK
from yesno.cli.views import answer_text, bounds_text, document, mass_text, screen
from yesno.flow import Flow, ask_all, outcome_of
from yesno.questions import Choice, ChoiceAnswer, Outcome, Scale, ScaleAnswer, YesNo, YesNoAnswer
from yesno.response import DecisionResponse
from yesno.templates.layers import layer_question

__all__ = ["demo", "filter_tools", "is_right", "route"]

NAME = "answer"
WIDE = 110
"""Columns from which the table shows the inputs too."""
FIXED = 35
"""Columns that bounds, mass, time, mark and the space between take."""
HOSTED = "To ask a hosted model instead, set its key and name it: OPENAI_API_KEY=... yesno demo --model openai:gpt-5.4-mini"


def demo(connection: Annotated[Connection, Without("cache")], as_json: Json = False) -> int:
    """Ask a model twelve questions, filter tools, route a request."""
    chosen = replace(connection, model=connection.model or "local")
    with working(quiet=as_json) as tell:
        rows = []
        with chosen.open() as model:
            for number, item in enumerate(ITEMS, start=1):
                tell(f"question {number} of {len(ITEMS)}")
                start = time.perf_counter()
                response = model.decide(item.given, {NAME: item.question})
                rows.append((item, response, time.perf_counter() - start))
            tell("filtering tools and routing")
            shares = model.run(filter_tools(TOOLS, MESSAGE))
            routed = model.run(route(ROUTES, MESSAGE))
    if as_json:
        print(json.dumps(_report(rows, shares, routed), ensure_ascii=False, allow_nan=False))
    else:
        _show(rows, shares, routed)
    return OK


def filter_tools(tools: Mapping[str, str], message: str) -> Flow[dict[str, float | None]]:
    """Ask about each tool at once; a tool without an answer maps to None."""
    questions = [YesNo(layer_question("tool", name=name, description=text)) for name, text in tools.items()]
    outcomes = yield from ask_all(questions, message)
    return {
        name: outcome.probability if isinstance(outcome, YesNoAnswer) else None
        for name, outcome in zip(tools, outcomes, strict=True)
    }


def route(routes: Mapping[str, str], message: str) -> Flow[Outcome]:
    """Choose the model that should answer a message."""
    return (yield from outcome_of(Choice("Which model should answer this request?", routes), message))


def is_right(item: Item, outcome: Outcome) -> bool:
    """Return whether an outcome is the right answer."""
    match outcome:
        case YesNoAnswer():
            return outcome.is_yes() == item.right
        case ChoiceAnswer(value=value):
            return bool(value == item.right)
        case ScaleAnswer() if isinstance(item.question, Scale):
            return item.question.levels[outcome.level()] == item.right
        case _:
            return False


def _report(
    rows: list[tuple[Item, DecisionResponse, float]], shares: dict[str, float | None], routed: Outcome
) -> dict[str, Any]:
    answers = [
        {
            "question": item.question.text,
            "right": is_right(item, r.outcome(NAME)),
            **document(r, r.outcome(NAME), s),
        }
        for item, r, s in rows
    ]
    return {
        "answers": answers,
        "right": sum(answer["right"] for answer in answers),
        "tools": shares,
        "route": dict(routed.probabilities) if isinstance(routed, ChoiceAnswer) else None,
    }


def _show(
    rows: list[tuple[Item, DecisionResponse, float]], shares: dict[str, float | None], routed: Outcome
) -> None:
    from rich.table import Table

    console = screen()
    table = Table(box=None, pad_edge=False, header_style="bold")
    wide = console.width >= WIDE
    room = min(66, console.width - FIXED - (36 if wide else 0))
    if wide:
        table.add_column("input", width=34, no_wrap=True, overflow="ellipsis", style="dim")
    for heading, width in (("question", room * 3 // 5), ("answer", room - room * 3 // 5)):
        table.add_column(heading, width=width, no_wrap=True, overflow="ellipsis")
    for heading, width in (("bounds", 13), ("mass", 5), ("time", 6)):
        table.add_column(heading, width=width, justify="right", no_wrap=True)
    table.add_column("", width=1, no_wrap=True)
    right = 0
    for item, response, seconds in rows:
        outcome = response.outcome(NAME)
        good = is_right(item, outcome)
        right += good
        table.add_row(
            *([_short(item.given)] if wide else []),
            item.question.text,
            _named(item, outcome),
            bounds_text(outcome),
            mass_text(outcome),
            f"{seconds:.1f} s",
            "[green]✓[/]" if good else "[red]✗[/]",
        )
    console.print(table)
    console.print(f"{right} of {len(rows)} right; {rows[0][1].model}\n")
    console.print(f"[bold]Tools for[/] “{MESSAGE}”")
    tools = Table(box=None, show_header=False, pad_edge=False)
    for name, share in shares.items():
        kept = share is not None and share >= 0.5
        tools.add_row("keep" if kept else "drop", name, "undecided" if share is None else f"{share:.3f}")
    console.print(tools)
    chances = ""
    if isinstance(routed, ChoiceAnswer):
        chances = f" ({', '.join(f'{name} {share:.3f}' for name, share in routed.probabilities.items())})"
    chosen = routed.value if isinstance(routed, ChoiceAnswer) else answer_text(routed)
    console.print(f"\n[bold]Route[/] {chosen}{chances}\n")
    console.print(HOSTED, soft_wrap=True, markup=False)


def _short(given: Any) -> str:  # noqa: ANN401 - an input
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _named(item: Item, outcome: Outcome) -> str:
    if isinstance(outcome, ScaleAnswer) and isinstance(item.question, Scale):
        return f"{item.question.levels[outcome.level()]} ({outcome.mean:.2f})"
    return answer_text(outcome)
