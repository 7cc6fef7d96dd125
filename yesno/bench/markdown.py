"""A report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from yesno.bench.reporting import Dispute, Report
from yesno.bench.tables import Table, notes, reasons_text, tables_of

__all__ = ["markdown_of"]


def markdown_of(report: Report) -> str:
    """Return a report as Markdown; what comes from data can be no markup."""
    lines = ["# Benchmark", ""]
    for run in report.runs:
        lines += [
            f"- {_plain(run.name)}: {_about(run.card.made, run.card.yesno, imported=run.card.imported)}"
        ]
        lines += [f"  - `{command.replace('`', '')}`" for command in run.card.commands]
    lines += ["", "| set | items | version |", "|---|---:|---|"]
    for name, (items, version) in sets_of(report).items():
        lines.append(f"| {_plain(name)} | {items:,} | `{version[:12]}` |")
    for table in tables_of(report):
        lines += ["", f"## {table.title}", "", table.note, "", *_rows(table)]
    said = notes(report)
    if said:
        lines += ["", "## To keep in mind", "", *(f"- {_plain(note)}" for note in said)]
    reasons = reasons_text(report)
    if reasons:
        lines += ["", "## Without an answer", "", *(f"- {_plain(line)}" for line in reasons)]
    if report.disputes:
        lines += ["", "## Where the models disagree most", "", *_disputes(report, report.disputes)]
    return "\n".join(lines) + "\n"


def sets_of(report: Report) -> dict[str, tuple[int, str]]:
    """Return the items and the version of each set."""
    found: dict[str, tuple[int, str]] = {}
    for run in report.runs:
        for name, held in run.card.sets.items():
            found[name] = (max(held.items, found.get(name, (0, ""))[0]), held.version)
    return found


def _about(made: str, version: str, *, imported: bool) -> str:
    return f"{'imported' if imported else 'begun'} {made[:10]}, yesno {version}"


def _rows(table: Table) -> list[str]:
    return [
        "| " + " | ".join(map(_plain, table.columns)) + " |",
        "|" + "---|" * table.names + "---:|" * (len(table.columns) - table.names),
        *("| " + " | ".join(_plain(str(figure)) for figure in row) + " |" for row in table.rows),
    ]


def _disputes(report: Report, disputes: Sequence[Dispute]) -> list[str]:
    lines = ["| set | item | label | " + " | ".join(_plain(report.names[way]) for way in report.ways) + " |"]
    lines.append("|---|---|---|" + "---|" * len(report.ways))
    for one in disputes:
        said = [one.said.get(way) for way in report.ways]
        cells = ["–" if found is None else f"{found[0]} {found[1]:.2f}" for found in said]
        lines.append(f"| {' | '.join(map(_plain, [one.part.set, one.id, one.label, *cells]))} |")
    return lines


def _plain(text: str) -> str:
    """Return a text that Markdown takes for nothing but text."""
    return re.sub(r"([\\`*_{}\[\]<>#|~$])", r"\\\1", " ".join(text.split()))
