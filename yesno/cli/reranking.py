"""The command `rerank`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from yesno.cli.layers import Done, json_or_text, printed, run_flow
from yesno.cli.options import Connection, Json
from yesno.cli.session import NO_ANSWER, OK, read_stdin, read_text
from yesno.cli.values import whole
from yesno.cli.views import answer_text, outcome_document, screen
from yesno.errors import ConfigError, QuestionError
from yesno.filters import Ranking, Reranker
from yesno.filters._passages import text_of

__all__ = ["documents_in", "ranking_document", "rerank"]

_ALARMS = {
    "constant_scores": "all scores are equal, as when the model never saw the documents",
    "tie_at_cut": "equal scores at a cut; the order of the input decided",
    "unscored": "some documents have no score",
    "unread_comparisons": "some pairs could not be compared and do not count",
}


def rerank(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What is looked for.")],
    documents: Annotated[
        Path | None,
        typer.Argument(
            metavar="DOCUMENTS", help="File with the documents; '-' or nothing reads standard input."
        ),
    ] = None,
    top_k: Annotated[
        int | None, typer.Option("--top-k", "-k", metavar="N", parser=whole, help="Most documents to show.")
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option("--level", "-l", metavar="NAME", help="Ask for grades, worst first; repeat it."),
    ] = None,
    refine: Annotated[
        int, typer.Option(metavar="N", parser=whole, help="How many of the best to compare in pairs.")
    ] = 0,
    text_field: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Where the text of documents that are JSON objects is."),
    ] = None,
    *,
    connection: Connection,
    as_json: Json = False,
) -> int:
    """Order documents by how probably they help to answer a query.

    A file, or standard input, holds a JSON list or one document per line; lines of a file that is called .jsonl, and
    all lines with --text-field, are JSON.
    """
    given = _read(documents, by_line=text_field is not None)
    ranker = Reranker(levels=level or None, refine=refine, text=text_field)
    done = run_flow(connection, ranker.rerank(query, given, top_k), as_json=as_json)
    if as_json:
        printed({**ranking_document(done.result), **done.document()})
    else:
        _show(done, text_field)
    return NO_ANSWER if done.result.unscored else OK


def documents_in(text: str, *, as_json: bool) -> list[Any]:
    """Return the documents in a text: those of a JSON list, else its lines that are not blank.

    Args:
        text: What a file or standard input holds.
        as_json: Whether each line is JSON.

    Raises:
        ConfigError: A line should be JSON and is not.
        QuestionError: There is no document.
    """
    whole_text = json_or_text(text)
    found = whole_text if isinstance(whole_text, list) else list(_lines(text, as_json=as_json))
    if not found:
        raise QuestionError("there is no document to rank")
    return found


def _lines(text: str, *, as_json: bool) -> list[Any]:
    documents = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            documents.append(json.loads(line) if as_json else line)
        except ValueError as error:
            raise ConfigError(f"line {number} of the documents is not JSON: {error}") from error
    return documents


def _read(file: Path | None, *, by_line: bool) -> list[Any]:
    if file is None and sys.stdin.isatty():
        raise QuestionError("there are no documents; name a file, or give them on standard input")
    if file is None or str(file) == "-":
        return documents_in(read_stdin(), as_json=by_line)
    return documents_in(read_text(file), as_json=by_line or file.suffix == ".jsonl")


def ranking_document(ranking: Ranking[Any]) -> dict[str, Any]:
    """Return a ranking as plain JSON values; documents are as they were given, `index` counts them from 0."""
    return {
        "type": "ranking",
        "ranked": [
            {
                "index": item.index,
                "score": item.score,
                "preference": item.preference,
                "low": item.answer.low,
                "high": item.answer.high,
                "document": item.document,
            }
            for item in ranking.ranked
        ],
        "unscored": [
            {"index": item.index, "outcome": outcome_document(item.outcome), "document": item.document}
            for item in ranking.unscored
        ],
        "alarms": list(ranking.alarms),
    }


def _show(done: Done[Ranking[Any]], text_field: str | None) -> None:
    from rich.markup import escape
    from rich.table import Table

    console, ranking = screen(), done.result
    compared = any(item.preference is not None for item in ranking.ranked)
    table = Table(box=None, pad_edge=False, header_style="bold")
    widths = {"": len(str(len(ranking.ranked))), "score": 5} | ({"preferred": 9} if compared else {})
    for heading, width in widths.items():
        table.add_column(heading, justify="right", no_wrap=True, width=width)
    room = console.width - sum(width + 2 for width in widths.values())
    table.add_column("document", no_wrap=True, overflow="ellipsis", max_width=max(room, 20))
    for place, item in enumerate(ranking.ranked, start=1):
        preferred = "–" if item.preference is None else f"{item.preference:.3f}"
        cells = [str(place), f"{item.score:.3f}", *([preferred] if compared else [])]
        table.add_row(*cells, escape(_line_of(item.document, text_field)))
    for left in ranking.unscored:
        said = f"[dim]{escape(answer_text(left.outcome))}:[/] {escape(_line_of(left.document, text_field))}"
        table.add_row("", "–", *(["–"] if compared else []), said)
    console.print(table)
    for alarm in ranking.alarms:
        console.print(f"[yellow]warning[/] {_ALARMS[alarm]}")
    console.print(f"[dim]{escape(done.text())}[/]")


def _line_of(document: Any, text_field: str | None) -> str:  # noqa: ANN401 - a text or a mapping
    return " ".join(text_of(document, 1, text_field).split())
