"""`yesno tune`: the template that a model answers a question best with, its calibration and its thresholds."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from yesno.cli.asking import Level, NoneText, NoWhen, Option, YesWhen
from yesno.cli.labelled import BudgetUsd, QuestionText, Split, question_from
from yesno.cli.options import Connection, Json, Without
from yesno.cli.progress import late
from yesno.cli.session import OK
from yesno.cli.values import whole
from yesno.cli.views import counted, screen, usage_text

if TYPE_CHECKING:
    from rich.console import Console

    from yesno.engine.sync import DecisionModel
    from yesno.tuner.forecast import Forecast
    from yesno.tuner.plan import Plan
    from yesno.tuner.tuning import Step, Tuned

__all__ = ["tune_rows"]

_Rows = Annotated[
    Path,
    typer.Argument(metavar="ROWS", help="Labelled rows: JSONL, CSV or Parquet, with `input` and `label`."),
]
_Out = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the result goes.")]
_Calls = Annotated[
    int,
    typer.Option(
        "--calls",
        metavar="N",
        parser=whole,
        help="Most requests to send; the search is as large as they allow.",
    ),
]
_Seed = Annotated[int, typer.Option("--seed", metavar="N", parser=whole, help="Fixes all that is drawn.")]
_Proposer = Annotated[
    str | None,
    typer.Option(
        "--proposer",
        metavar="PROVIDER:MODEL",
        help="Ask it, once, for other wordings; it is shown inputs and labels that went wrong.",
    ),
]
_Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an earlier result.")]
_Plan = Annotated[bool, typer.Option("--plan", help="Say what would be spent, and spend nothing.")]


def tune_rows(
    rows: _Rows,
    out: _Out,
    question: QuestionText = None,
    option: Option = None,
    none: NoneText = None,
    level: Level = None,
    yes_when: YesWhen = None,
    no_when: NoWhen = None,
    calls: _Calls = 2100,
    budget: BudgetUsd = None,
    seed: _Seed = 0,
    split: Split = None,
    proposer: _Proposer = None,
    overwrite: _Overwrite = False,
    plan: _Plan = False,
    *,
    connection: Annotated[Connection, Without("budget_usd", "budget_requests", "packing", "calibration")],
    as_json: Json = False,
) -> int:
    """Find the template that a model answers a question best with.

    Compares wordings, label words, orders and worked examples on a part of the rows, and the best of them with today's
    template on rows held out. Writes a template folder with a calibration card, thresholds and a report. When nothing
    is shown to be better, it holds today's template; that is a result too, with exit code 0. A second run takes its
    replies from the cache (those of a model that is sampled are not kept).
    """
    from yesno.calibration import intervals  # noqa: F401 - a missing extra is told before anything is spent
    from yesno.labelled import load_set
    from yesno.tuner import PROPOSALS, check_place, document, forecast, plan_for, save, tune

    check_place(out, overwrite=overwrite)
    asked = question_from(question, option, none, level, yes_when, no_when)
    loaded = load_set(rows, question=asked, split=split)
    held = replace(connection, budget_requests=calls, budget_usd=budget)
    with ExitStack() as opened:
        model = opened.enter_context(held.open())
        other = None if proposer is None else opened.enter_context(_opened(held, proposer, model))
        made = plan_for(
            model,
            loaded.items,
            calls=calls,
            seed=seed,
            data=loaded.version,
            proposals=0 if other is None else PROPOSALS,
        )
        cost = forecast(made, model)
        if plan and as_json:
            print(json.dumps(_plan_document(made, cost)))
        elif not as_json:
            _tell_plan(made, cost, model, other, screen(stderr=not plan))
        if plan:
            return OK
        with _progress(quiet=as_json) as step:
            tuned = tune(made, model, proposer=other, on_step=step)
        base = model.asking.templates
    line = save(tuned, base, out, command=_command(), settings=_settings(connection))
    if as_json:
        print(
            json.dumps(
                {**document(tuned), "folder": str(out), "use": line}, ensure_ascii=False, allow_nan=False
            )
        )
    else:
        _show(tuned, out, line)
    return OK


def _command() -> str:
    return shlex.join(["yesno", *sys.argv[1:]])


def _settings(connection: Connection) -> dict[str, Any]:
    """Return the arguments of `DecisionModel` that matter to an answer and are not the default."""
    plain = Connection()
    names = ("base_url", "strategy", "orders", "prior", "min_label_mass")
    return {
        name: getattr(connection, name) for name in names if getattr(connection, name) != getattr(plain, name)
    }


def _opened(connection: Connection, spec: str, model: DecisionModel) -> AbstractContextManager[DecisionModel]:
    """Return another model to open, on the same budget."""
    plain = Connection(model=spec, cache=connection.cache, memory=connection.memory)
    return plain.open(budget=model.delivery.budget)


def _plan_document(plan: Plan, cost: Forecast) -> dict[str, Any]:
    parts = plan.split
    rows = {"examples": len(parts.train), "comparing": len(parts.select), "held_out": len(parts.held_out)}
    return {"rows": rows, "templates": plan.templates, "why_not": plan.why_not, **asdict(cost)}


def _tell_plan(
    plan: Plan, cost: Forecast, model: DecisionModel, other: DecisionModel | None, console: Console
) -> None:
    parts = plan.split
    usd = "price unknown" if cost.usd is None else f"at most ${cost.usd:.4f}" if cost.usd else "free"
    templates = "today's template only" if plan.size is None else f"up to {plan.templates} templates"
    console.print(
        f"{len(parts.train)} rows for examples, {len(parts.select)} for comparing, {len(parts.held_out)} held out; "
        f"{templates}\n"
        f"at most {counted(cost.calls, 'call')} of {plan.calls:,} to {model.provider_name}:{model.model_name}, "
        f"about {cost.tokens:,} tokens, {usd}",
        markup=False,
        highlight=False,
    )
    if other is not None and plan.size is not None:
        console.print(
            f"one more call to {other.provider_name}:{other.model_name}, which is shown inputs and labels of up to "
            "10 rows",
            markup=False,
            highlight=False,
        )
    if plan.why_not:
        console.print(f"no search: {plan.why_not}", markup=False, highlight=False)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[Step], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda step: None
        return
    bar = Progress(
        TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
        BarColumn(),
        TextColumn("{task.fields[name]} · {task.fields[sent]:,} sent{task.fields[usd]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    task = bar.add_task("rows", total=0, name="", sent=0, usd="")

    def show(step: Step) -> None:
        cost = step.usage.cost_usd
        usd = f" · ${cost:.4f}" if cost else ""
        bar.update(
            task, completed=step.done, total=step.total, name=step.name, sent=step.usage.requests, usd=usd
        )

    with late(bar.start, bar.stop):
        yield show


def _show(tuned: Tuned, out: Path, line: str) -> None:
    from rich.table import Table

    from yesno.tuner.report import dropped, gained, ordered, signed

    console = screen()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("template", no_wrap=True)
    for name in ("rows", "log loss", "better by", "calls"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("ended", overflow="fold")
    for track in ordered(tuned.tracks)[:12]:
        last = track.rounds[-1].advantage if track.rounds else None
        own = track.candidate is tuned.today.candidate
        table.add_row(
            track.candidate.name,
            str(last.n if last else len(track.answers)),
            f"{last.loss:.3f}" if last else "",
            signed(last, digits=2) if last and not own else "",
            str(tuned.calls.get(track.candidate.name, 0)),
            dropped(track, tuned),
        )
    console.print(table)
    more = len(tuned.tracks) - 12
    if more > 0:
        console.print(f"[dim]and {counted(more, 'template')} that ended earlier, in the report[/]")
    verdict = "[green]accepted[/]" if tuned.verdict == "accepted" else "[bold]keep what you have[/]"
    console.print(f"\n{verdict}: ", end="")
    console.print(tuned.why, markup=False, highlight=False)
    if tuned.held_out is not None:
        raw = tuned.held_out.raw
        console.print(f"as read, without calibration: {signed(raw)}", highlight=False)
    console.print(f"calibration: {tuned.chosen.why}", markup=False, highlight=False)
    if told := gained(tuned):
        console.print(told, markup=False, highlight=False)
    for threshold in tuned.thresholds:
        console.print(threshold.sentence(), markup=False, highlight=False)
    console.print(f"[dim]{usage_text(tuned.usage)}[/]", highlight=False)
    console.print(f"\n{out}/report.md has all of it. Use it:", markup=False, highlight=False)
    console.print(line, markup=False, highlight=False, soft_wrap=True)
