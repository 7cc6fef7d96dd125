"""The command `filter-tools`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from yesno.cli.layers import Done, conversation, printed, read_json, run_flow
from yesno.cli.options import Connection, Given, Json
from yesno.cli.session import OK, in_options
from yesno.cli.values import number, whole
from yesno.cli.views import counted, screen
from yesno.errors import QuestionError
from yesno.filters import ToolFilter, ToolSelection

__all__ = ["filter_tools", "selection_document", "tools_in"]


def filter_tools(
    tools: Annotated[
        Path,
        typer.Argument(metavar="TOOLS", help="JSON file with a list of tools, or an object with `tools`."),
    ],
    input: Given = None,
    messages: Annotated[
        Path | None,
        typer.Option("--messages", "--file", "-f", metavar="FILE", help="JSON file with the conversation."),
    ] = None,
    min_probability: Annotated[
        float, typer.Option(metavar="SHARE", parser=number, help="Least probability that a tool helps.")
    ] = 0.5,
    max_results: Annotated[
        int | None, typer.Option(metavar="N", parser=whole, help="Most tools to keep.")
    ] = None,
    shortlist: Annotated[
        int | None, typer.Option(metavar="N", parser=whole, help="Most tools to ask about.")
    ] = None,
    always: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Keep this tool in any case; repeat it.")
    ] = None,
    *,
    connection: Connection,
    as_json: Json = False,
) -> int:
    """Keep the tools that help with what the user asks for."""
    if str(tools) == "-" and (input == "-" or str(messages) == "-" or (input is None and messages is None)):
        raise QuestionError(
            "standard input is either the tools or the messages; give the other one as a file"
        )
    chosen = ToolFilter(
        min_probability=min_probability,
        max_results=max_results,
        shortlist=shortlist,
        always_include=always or (),
        fallback="fail",
    )
    flow = chosen.explain(tools_in(read_json(tools)), conversation(input, messages))
    done = run_flow(connection, flow, as_json=as_json)
    if as_json:
        printed({**selection_document(done.result), **done.document()})
    else:
        _show(done)
    return OK


def tools_in(document: Any) -> list[Any]:  # noqa: ANN401 - JSON
    """Return the tools that a document holds: itself, or what is under `tools`.

    Raises:
        QuestionError: It is of another form.
    """
    found = document.get("tools") if isinstance(document, Mapping) else document
    if not isinstance(found, list):
        raise QuestionError("the tools must be a list, or an object with a list under `tools`")
    return found


def selection_document(selection: ToolSelection[Any]) -> dict[str, Any]:
    """Return a selection as plain JSON values; `tools` are those that were kept, as they were given."""
    verdicts = [
        {"name": v.name, "kept": v.kept, "probability": v.probability, "reason": v.reason}
        for v in selection.verdicts
    ]
    return {"type": "tools", "tools": selection.tools, "verdicts": verdicts}


def _show(done: Done[ToolSelection[Any]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    console = screen()
    table = Table(box=None, show_header=False, pad_edge=False)
    for justify in ("left", "left", "right", "left"):
        table.add_column(justify=justify, overflow="fold")
    for verdict in done.result.verdicts:
        share = "–" if verdict.probability is None else f"{verdict.probability:.3f}"
        word = "[bold]keep[/]" if verdict.kept else "[dim]drop[/]"
        table.add_row(word, escape(verdict.name), share, f"[dim]{_told(verdict.why)}[/]")
    console.print(table)
    kept = f"{len(done.result.tools)} of {counted(len(done.result.verdicts), 'tool')} kept"
    console.print(f"[dim]{escape(f'{kept} · {done.text()}')}[/]")


def _told(why: str) -> str:
    words = {"min_probability": "`min_probability`", "max_results": "`max_results`"}
    for name, quoted in words.items():
        why = why.replace(name, quoted)
    return in_options(why).replace("in always_include", "--always")
