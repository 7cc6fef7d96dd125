"""`yesno bench`: models, template sets and strategies on labelled sets, and reports of what came of it."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from yesno.cli.asking import Level, NoneText, NoWhen, Option, YesWhen
from yesno.cli.labelled import BudgetUsd, QuestionText, Split, question_from, set_from
from yesno.cli.notes import calibration_notes
from yesno.cli.options import Connection, Json, Without, cache_file
from yesno.cli.progress import late, working
from yesno.cli.session import INTERRUPTED, OK, PROVIDER, USAGE
from yesno.cli.values import whole, word
from yesno.cli.views import plain, screen, usage_text
from yesno.errors import QuestionError, YesnoError
from yesno.evidence import Usage
from yesno.settings import Settings

if TYPE_CHECKING:
    from rich.table import Table

    from yesno.bench.reporting import Report
    from yesno.bench.running import Progress, Tell
    from yesno.bench.runs import Run
    from yesno.engine.sqlite_cache import SqliteCache
    from yesno.labelled import LabelledSet
    from yesno.providers.base import Provider

__all__ = ["bench", "bench_progress", "report_runs", "show_report"]

Sets = Annotated[
    list[str], typer.Argument(metavar="[NAME=]SET…", help="Labelled items: JSONL, CSV, Parquet, JevBench.")
]
_Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model", "-m", metavar="PROVIDER:MODEL", help="Repeat it. [default: YESNO_MODEL, else local]"
    ),
]
_Templates = Annotated[
    list[str] | None,
    typer.Option(
        "--template", metavar="SET", help="Template set or folder; repeat it. [default: the model's own]"
    ),
]
_Strategies = Annotated[
    list[Any] | None,
    typer.Option(
        "--strategy",
        metavar="NAME",
        parser=word("auto", "native", "logprobs", "sampled"),
        help="auto, native, logprobs or sampled; repeat it. [default: auto]",
    ),
]
_Out = Annotated[
    Path, typer.Option("--out", metavar="RUN", help="Folder of the run; one that is there goes on.")
]
_Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", parser=whole, help="Only the first N items of each set.")
]
_CacheFile = Annotated[
    Path | None,
    typer.Option("--cache", metavar="FILE", help="Keep replies there. [default: in the user's cache folder]"),
]
_NoCache = Annotated[bool, typer.Option("--no-cache", help="Keep no replies, and use none.")]
_Threads = Annotated[
    int | None, typer.Option("--threads", metavar="N", parser=whole, help="Threads of local models.")
]
_NoTexts = Annotated[bool, typer.Option("--no-texts", help="Show no inputs in the report.")]


def bench(
    sets: Sets,
    model: _Models = None,
    template: _Templates = None,
    strategy: _Strategies = None,
    out: _Out = Path("bench"),
    limit: _Limit = None,
    split: Split = None,
    budget: BudgetUsd = None,
    cache: _CacheFile = None,
    no_cache: _NoCache = False,
    question: QuestionText = None,
    option: Option = None,
    none: NoneText = None,
    level: Level = None,
    yes_when: YesWhen = None,
    no_when: NoWhen = None,
    threads: _Threads = None,
    no_texts: _NoTexts = False,
    *,
    connection: Annotated[Connection, Without("model", "template", "strategy", "cache", "budget_usd")],
    as_json: Json = False,
) -> int:
    """Compare models, template sets and strategies on labelled items.

    Asks every model, with every template set and strategy, about every set, and writes rows.jsonl, report.md and
    report.html into the folder of the run. The same command goes on where an earlier one was stopped or killed.
    `yesno bench SET…` is short for `yesno bench run SET…`.
    """
    from yesno.bench import scoring  # noqa: F401 - what a report needs is missed before anything is spent

    asked = question_from(question, option, none, level, yes_when, no_when)
    loaded = [set_from(text, question=asked, split=split) for text in sets]
    models = list(dict.fromkeys(model or [Settings.from_env().model]))
    connection = replace(connection, budget_usd=budget)
    given: dict[str, Any] = {
        "model": models,
        "template": template,
        "strategy": strategy,
        "out": out,
        "limit": limit,
        "split": split,
    }
    given |= {"budget": budget, "question": question, "option": option, "none": none, "level": level}
    given |= {"yes-when": yes_when, "no-when": no_when, "threads": threads}
    words = _command(sets, given, connection)
    plan = {
        "templates": [*(template or (None,))],
        "strategies": strategy or ["auto"],
        "out": out,
        "limit": limit,
        "command": words,
    }
    try:
        providers = partial(_providers, models, connection, threads)
        done, spent = _asked(loaded, providers, connection, _cache(models, cache, off=no_cache), plan)
    except KeyboardInterrupt:
        print(f"yesno: stopped; the same command goes on in {str(out)!r}", file=sys.stderr)
        return INTERRUPTED
    return _told(done, spent, texts=not no_texts, as_json=as_json)


def _asked(
    sets: list[LabelledSet],
    providers: Callable[[], dict[str, Provider]],
    connection: Connection,
    cache: SqliteCache | None,
    plan: dict[str, Any],
) -> tuple[Run, Usage]:
    from yesno.bench.running import run

    spent = Usage()
    settings = connection.settings()
    for name in ("base_url", "template", "strategy"):
        settings.pop(name)
    with ExitStack() as held:
        if cache is not None:
            settings["cache"] = held.enter_context(cache)
        if connection.calibration:
            held.enter_context(calibration_notes())
        models = providers()
        if connection.memory and not _scripted([*models]):
            from yesno.engine.folder_memory import FolderMemory

            folder = Settings.from_env().cache_dir
            settings["memory"] = FolderMemory(None if folder is None else folder / "learned")
        show = held.enter_context(bench_progress())

        def note(progress: Progress) -> None:
            nonlocal spent
            spent = progress.spent
            show(progress)

        done = run(sets, models=models, on_row=note, **plan, **settings)
    return done, spent


def report_runs(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs, shown together.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Write the report there. [default: into the first run]"),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="[NAME=]FILE", help="A set to show inputs of; repeat it."),
    ] = None,
    no_texts: _NoTexts = False,
    as_json: Json = False,
) -> int:
    """Write the report of runs anew, of several together."""
    from yesno.bench.reporting import report_of
    from yesno.bench.runs import load_run
    from yesno.bench.writing import write_report

    known = {found.name: found for found in (set_from(text) for text in sets or ())}
    with working(quiet=as_json) as say:
        say("scoring")
        report = report_of([load_run(run) for run in runs], sets=known or None, texts=not no_texts)
        written = write_report(report, out or runs[0])
    show_report(report, written, as_json=as_json)
    return OK


def show_report(
    report: Report, written: tuple[Path, Path], *, as_json: bool, more: dict[str, Any] | None = None
) -> None:
    """Print a report, and where it was written."""
    if as_json:
        from yesno.bench.documents import report_document

        said = {**report_document(report), "report": [str(path) for path in written], **(more or {})}
        print(json.dumps(said, ensure_ascii=False, allow_nan=False))
        return
    from yesno.bench.tables import notes

    console = screen()
    console.print(_table(report))
    for note in notes(report):
        console.print(f"· {note}", markup=False)
    console.print(f"Report: {written[0]} and {written[1]}", markup=False, soft_wrap=True)


@contextmanager
def bench_progress() -> Iterator[Tell]:
    """Give what shows how far a run is and what it cost so far, on a terminal and once it takes long."""
    from rich import progress as shown
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda progress: None
        return
    bar = shown.Progress(
        shown.TextColumn("{task.description}"),
        shown.BarColumn(),
        shown.MofNCompleteColumn(),
        shown.TextColumn("{task.fields[cost]}"),
        shown.TimeElapsedColumn(),
        shown.TextColumn("left"),
        shown.TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    task = bar.add_task("opening", total=None, cost="")

    def show(progress: Progress) -> None:
        cost = progress.spent.cost_usd
        bar.update(
            task,
            completed=progress.done,
            total=progress.total,
            description="asking" if progress.row is None else progress.row.model,
            cost="cost unknown" if cost is None else f"${cost:.4f}",
        )

    with late(bar.start, bar.stop):
        yield show


def _told(done: Run, spent: Usage, *, texts: bool, as_json: bool) -> int:
    from yesno.bench.reporting import report_of
    from yesno.bench.writing import write_report

    failed = sum(row.outcome == "error" for row in done.rows)
    code = (
        PROVIDER
        if failed or any("left alone" in line for line in done.stopped)
        else USAGE
        if done.stopped
        else OK
    )
    if not done.rows:
        for line in done.stopped:
            print(f"yesno: {line}", file=sys.stderr)
        print(f"Nothing was answered. This time: {usage_text(spent)}", file=sys.stderr)
        return code
    with working(quiet=as_json) as say:
        say("scoring")
        report = report_of([done], texts=texts)
        written = write_report(report, done.folder)
    more = {"usage": plain(spent), "stopped": [*done.stopped], "exit_code": code}
    show_report(report, written, as_json=as_json, more=more)
    if not as_json:
        print(f"This time: {usage_text(spent)}")
        for line in done.stopped:
            print(f"yesno: {line}", file=sys.stderr)
        if failed:
            print(f"yesno: {failed:,} items failed; the same command asks them again", file=sys.stderr)
    return code


def _table(report: Report) -> Table:
    from rich.table import Table
    from rich.text import Text

    several = {part.set for part in report.parts if sum(part.set == other.set for other in report.parts) > 1}
    names = {
        part: f"{part.set} ({part.kind.replace('_', '/')})" if part.set in several else part.set
        for part in report.parts
    }
    paid = any(cell.cost_usd != 0 for cell in report.cells)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("set", overflow="fold", min_width=min(16, max(map(len, names.values()))))
    table.add_column("model", overflow="fold")
    for heading in ("answered", "log loss", "ECE (chance)", "right", *(["cost"] if paid else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    before = None
    for cell in report.cells:
        loss, noise = cell.scores["log_loss"], cell.noise
        mean, right = cell.points.get("log_loss"), cell.points.get("accuracy")
        table.add_row(
            Text("" if cell.part == before else names[cell.part]),
            Text(report.names[cell.way]),
            f"{cell.outcomes.get('answer', 0):,}/{cell.asked:,}",
            f"{loss.value:.2f} ({loss.low:.2f}–{loss.high:.2f})"
            if loss
            else "–"
            if mean is None
            else f"{mean:.2f}",
            "–" if cell.ece is None or noise is None else f"{cell.ece:.3f} (≤{noise.high:.3f})",
            "–" if right is None else f"{right:.2f}",
            *(["unknown" if cell.cost_usd is None else f"${cell.cost_usd:.4f}"] if paid else []),
        )
        before = cell.part
    return table


def _scripted(models: list[str]) -> bool:
    return all(name.partition(":")[0] == "fake" for name in models)


def _cache(models: list[str], file: Path | None, *, off: bool) -> SqliteCache | None:
    if off and file is not None:
        raise QuestionError("give either --cache or --no-cache, not both")
    if off or (file is None and _scripted(models)):
        return None
    from yesno.engine.sqlite_cache import SqliteCache

    return SqliteCache(file or cache_file(Settings.from_env().cache_dir))


def _providers(models: list[str], connection: Connection, threads: int | None) -> dict[str, Provider]:
    from yesno.cli.progress import download_progress
    from yesno.providers import load_provider

    found: dict[str, Provider] = {}
    try:
        for name in models:
            local = name.partition(":")[0] == "local"
            here = {"progress": download_progress(), "threads": threads} if local else {}
            found[name] = load_provider(name, base_url=connection.base_url, **here)
    except YesnoError:
        for provider in found.values():
            provider.close()
        raise
    return found


def _command(sets: list[str], given: dict[str, Any], connection: Connection) -> str:
    """Return the command line of a run, with the options that were given."""
    words = ["yesno", "bench", *sets]
    for name, value in given.items():
        for one in value if isinstance(value, list) else [] if value is None else [value]:
            words += [f"--{name}", str(one)]
    for held in fields(Connection):
        value = getattr(connection, held.name)
        if value == held.default or held.name in (
            "model",
            "template",
            "strategy",
            "cache",
            "budget_usd",
            "price",
        ):
            continue
        name = held.name.replace("_", "-")
        for one in value if isinstance(value, list) else [value]:
            words += (
                [f"--no-{name}"]
                if one is False
                else [f"--{name}"]
                if one is True
                else [f"--{name}", str(one)]
            )
    return shlex.join(words)
