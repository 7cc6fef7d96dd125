"""`yesno bench compare` and `yesno bench import`: runs against each other, and runs from elsewhere."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from yesno.cli.benching import show_report
from yesno.cli.labelled import set_from
from yesno.cli.options import Json
from yesno.cli.session import NO, OK
from yesno.cli.values import number, word
from yesno.cli.views import screen

if TYPE_CHECKING:
    from rich.table import Table

    from yesno.bench.comparing import Changes

__all__ = ["compare_runs", "import_run"]

_Metric = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        parser=word("log_loss", "brier", "rps", "accuracy"),
        help="Must not get worse: log_loss, brier, rps or accuracy; repeat it. [default: log_loss]",
    ),
]


def compare_runs(
    before: Annotated[Path, typer.Argument(metavar="RUN1", help="The run that was before.")],
    after: Annotated[Path, typer.Argument(metavar="RUN2", help="The run that is judged.")],
    metric: _Metric = None,
    margin: Annotated[
        float, typer.Option("--margin", metavar="AMOUNT", parser=number, help="How much worse is still good.")
    ] = 0.0,
    level: Annotated[
        float, typer.Option("--level", metavar="SHARE", parser=number, help="Of the paired intervals.")
    ] = 0.95,
    as_json: Json = False,
) -> int:
    """Compare two runs; exit with 1 when the second is worse.

    Item by item. Worse is a score, or the share of items that were answered, whose whole paired interval lies on the bad side of the
    margin. Runs of different items or labels are refused.
    """
    from yesno.bench.comparing import compare
    from yesno.bench.documents import changes_document

    changes = compare(before, after, metrics=metric or ["log_loss"], margin=margin, level=level)
    code = NO if changes.regressed else OK
    if as_json:
        print(
            json.dumps({**changes_document(changes), "exit_code": code}, ensure_ascii=False, allow_nan=False)
        )
        return code
    console = screen()
    console.print(_table(changes))
    for line in changes.unmatched:
        console.print(f"· {line}", markup=False)
    worse = sum(bool(change.regressions) for change in changes.changes)
    console.print(
        f"Worse than chance explains: {worse} of {len(changes.changes)}"
        if worse
        else "Nothing is worse than chance explains."
    )
    return code


def import_run(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Rows with probabilities: JSONL, CSV or Parquet.")
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="RUN", help="Folder of the run, which must not be there.")
    ],
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="The model, for rows that do not say it.")
    ] = None,
    set_name: Annotated[
        str | None, typer.Option("--set-name", metavar="NAME", help="Name of the set, by default the file's.")
    ] = None,
    labelled: Annotated[
        str | None,
        typer.Option("--set", metavar="[NAME=]SET", help="The labelled items that the rows are about."),
    ] = None,
    as_json: Json = False,
) -> int:
    """Make a run of rows from elsewhere, and report it.

    A row has `id` and `probability` of yes, or `probabilities`, a list in the order of the options or an object by
    name. Without --set it has `label` too, and `options` or `levels` where it is no yes/no. A bad row is named, and
    nothing is written then.
    """
    from yesno.bench.importing import import_rows
    from yesno.bench.reporting import report_of
    from yesno.bench.writing import write_report

    words = ["yesno", "bench", "import", str(file), "--out", str(out)]
    words += [] if model is None else ["--model", model]
    words += [] if labelled is None else ["--set", labelled]
    words += [] if set_name is None else ["--set-name", set_name]
    held = None if labelled is None else set_from(labelled)
    run = import_rows(file, out=out, model=model, labelled=held, set_name=set_name, command=shlex.join(words))
    report = report_of([run], sets=None if held is None else {held.name: held})
    show_report(report, write_report(report, run.folder), as_json=as_json)
    return OK


def _table(changes: Changes) -> Table:
    from rich.table import Table
    from rich.text import Text

    from yesno.bench.reporting import way_names
    from yesno.bench.tables import difference_text, verdict

    names = way_names([change.after for change in changes.changes])
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("set", "model", "what", "second − first", "items", ""):
        table.add_column(heading, justify="right" if heading in ("second − first", "items") else "left")
    for change in changes.changes:
        first = True
        for metric, found in change.differences.items():
            said = "WORSE" if metric in change.regressions else verdict(found, metric)
            table.add_row(
                Text(change.part.set if first else ""),
                Text(names[change.after] if first else ""),
                metric.replace("_", " "),
                difference_text(found),
                f"{found.n:,}",
                Text(said, style="bold red" if metric in change.regressions else ""),
            )
            first = False
    return table
