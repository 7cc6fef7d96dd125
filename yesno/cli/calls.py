"""The command `calls check`: which calls of a reply would run, which wait, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from yesno.cli.filtering import tools_in
from yesno.cli.layers import Done, printed, read_json, run_flow
from yesno.cli.options import Connection, Json
from yesno.cli.session import NO, OK
from yesno.cli.values import number, word
from yesno.cli.views import screen
from yesno.errors import QuestionError

if TYPE_CHECKING:
    from yesno.toolcalls import Plan, PlannedCall, ToolSet

__all__ = ["check_calls"]

COLOURS = {"run": "green", "wait": "yellow"}
WHY = {
    "confirm": "a person is always asked about this tool",
    "policy": "a person is always asked about this tool",
    "hint": "its server does not say that it only reads",
    "gate": "the judge did not let it run",
}


def check_calls(
    reply: Annotated[
        Path,
        typer.Argument(
            metavar="REPLY", help="The model's reply as its API gave it, JSON; '-' reads standard input."
        ),
    ],
    tools: Annotated[
        Path, typer.Option("--tools", metavar="FILE", help="The tools of the request, a JSON list.")
    ],
    messages: Annotated[
        Path | None,
        typer.Option("--messages", metavar="FILE", help="The conversation: what the user wrote is evidence."),
    ] = None,
    confirm: Annotated[
        list[str] | None,
        typer.Option("--confirm", metavar="TOOL", help="Always ask a person about this tool; repeat it."),
    ] = None,
    run_below: Annotated[
        float,
        typer.Option(metavar="RISK", parser=number, help="Calls below this probability of risk run."),
    ] = 0.2,
    block_from: Annotated[
        float | None,
        typer.Option(metavar="RISK", parser=number, help="Calls from this one on are refused unasked."),
    ] = None,
    on_error: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            parser=word("confirm", "block", "raise"),
            help="What could not be judged: confirm (ask a person), block, or raise (fail).",
        ),
    ] = "confirm",
    *,
    connection: Connection,
    as_json: Json = False,
) -> int:
    """Say which calls of a reply would run, which wait, and why.

    Nothing is run. Exits with 1 when a call would not run by itself.
    """
    from yesno.toolcalls import RiskGate, ToolCallingManager, ToolSet

    if sum(str(path) == "-" for path in (reply, tools, messages)) > 1:
        raise QuestionError("standard input can be only one of reply, tools and messages")
    offered = ToolSet(tools_in(read_json(tools)))
    always = _known(confirm or (), offered)
    gate = RiskGate(run_below=run_below, block_from=block_from, on_error=on_error)  # type: ignore[arg-type]  # a known word
    manager = ToolCallingManager(
        gate=gate, policy=lambda call, tool, context: True if tool.name in always else "auto"
    )
    said = [] if messages is None else read_json(messages)
    flow = manager.plan(said, read_json(reply), tools=offered)
    done = run_flow(connection, flow, as_json=as_json)
    if as_json:
        printed({**_document(done.result), **done.document()})
    else:
        _show(done)
    return OK if all(planned.action == "run" for planned in done.result) else NO


def _known(names: Any, offered: ToolSet) -> frozenset[str]:  # noqa: ANN401 - a sequence of texts
    for name in names:
        if name not in offered:
            close = offered.close_to(name)
            hint = f"did you mean {close[0]!r}?" if close else f"they are {', '.join(offered.names)}"
            raise QuestionError(f"no tool is called {name!r}; {hint}")
    return frozenset(names)


def _document(plan: Plan) -> dict[str, Any]:
    return {"type": "plan", "calls": [_call_document(planned) for planned in plan]}


def _call_document(planned: PlannedCall) -> dict[str, Any]:
    result = planned.result
    return {
        "id": planned.call.id,
        "name": planned.call.name,
        "arguments_text": planned.call.arguments_text,
        "action": planned.action,
        "why": planned.why,
        "reason": planned.reason,
        "risk": planned.risk,
        "status": None if result is None else result.status,
        "result": None if result is None else result.content,
    }


def _show(done: Done[Plan]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from yesno.toolcalls.pending import call_summary

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("", "risk"):
        table.add_column(heading, no_wrap=True)
    table.add_column("call", overflow="fold")
    table.add_column("why", overflow="fold")
    for planned in done.result:
        doing = planned.action if planned.result is None else planned.result.status.replace("_", " ")
        risk = "–" if planned.risk is None else f"{planned.risk:.3f}"
        call = call_summary(planned.call.name, planned.call.arguments_text)
        colour = COLOURS.get(doing, "red")
        table.add_row(f"[{colour}]{doing}[/]", risk, escape(call), escape(_why(planned)))
    console = screen()
    console.print(table)
    console.print(f"[dim]{escape(done.text())}[/]")


def _why(planned: PlannedCall) -> str:
    if planned.result is not None:
        return " ".join(planned.result.content.split())
    if planned.reason:
        return planned.reason
    return WHY[planned.why] if planned.why else ""
