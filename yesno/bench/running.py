"""Ask models about the items of labelled sets, and keep a row of each; a run that was killed goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from yesno.bench.outcomes import Place, failed_row, row_of
from yesno.bench.planning import Models, Opened, Plan, now
from yesno.bench.rows import Row, Way, collected, read_rows
from yesno.bench.runs import ROWS, Run, load_run, merged, read_card, write_card
from yesno.bench.writer import RowWriter
from yesno.engine.ending import ends_run
from yesno.engine.ladder import StrategyName
from yesno.engine.sync import DecisionModel
from yesno.errors import BudgetExceeded, ConfigError, ProviderUnavailable, YesnoError
from yesno.evidence import Usage
from yesno.labelled import Item, LabelledSet, kind_of

__all__ = ["GIVE_UP_AFTER", "Progress", "Tell", "ask_items", "run"]

GIVE_UP_AFTER = 10
"""Failures one after the other after which a model is left alone."""
QUESTION = "question"

_Decided: TypeAlias = tuple[Item, Place, Row | YesnoError]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    done: int
    """Rows that are there, those of earlier calls among them."""
    total: int
    spent: Usage
    """What this call has spent so far."""
    row: Row | None = field(default=None, repr=False)
    """The newest row; None at the beginning."""


Tell: TypeAlias = Callable[[Progress], None]


def run(
    sets: Sequence[LabelledSet | str | Path],
    *,
    models: Models,
    out: str | Path,
    templates: Sequence[str | Path | None] = (None,),
    strategies: Sequence[StrategyName] = ("auto",),
    limit: int | None = None,
    command: str | None = None,
    on_row: Tell = lambda progress: None,
    **settings: Any,
) -> Run:
    """Ask each model, with each template set and strategy, about the items of each set.

    What has a row in the folder already is not asked again, unless it failed: a run that was stopped or killed
    goes on when this is called again with the same folder, and more models, sets, templates and items may come.

    Args:
        sets: Labelled sets, or files that `load_set` reads.
        models: Whom to ask; a provider that is given is closed at the end.
        out: Folder of the run.
        templates: Template sets; None for the one that suits the model.
        strategies: As `DecisionModel` takes them.
        limit: Most items of each set, the first ones.
        command: The command line to report.
        on_row: Told of each row, one after the other.
        settings: Further arguments of `DecisionModel`, such as `cache`, `budget` and `concurrency`.

    Returns:
        The run with all its rows, and in `stopped` why there are not more.

    Raises:
        ConfigError: A set cannot be read, two sets have one name, a setting is impossible, or the folder holds
            something else.
        ProviderError: The host knows neither the key nor the model, so that no item could fare better.
    """
    plan = Plan.of(sets, models, templates, strategies, limit, settings)
    folder = Path(out)
    _check_folder(folder)
    with ExitStack() as held:
        opened = plan.opened(held)
        card = merged(read_card(folder), plan.card(opened, command))
        folder.mkdir(parents=True, exist_ok=True)
        writer = held.enter_context(RowWriter(folder / ROWS))
        write_card(folder, card)
        stopped = _ask_all(plan, opened, writer, on_row)
    done = load_run(folder)
    return replace(done, stopped=tuple(stopped), sets={found.name: found for found in plan.sets})


def ask_items(
    model: DecisionModel,
    found: LabelledSet,
    *,
    limit: int | None = None,
    on_row: Tell = lambda progress: None,
) -> tuple[Row, ...]:
    """Ask an open model about the items of a set, and return their rows without keeping them anywhere.

    Args:
        model: Whom to ask.
        found: The items.
        limit: Most items, the first ones.
        on_row: Told of each row.

    Raises:
        ProviderError: The host failed ten times in a row, or no item could fare better.
        BudgetExceeded, ConfigError: No further item could be asked about.
    """
    asked = f"{model.provider_name}:{model.model_name}"
    one = Opened(Way(asked, model.asking.templates.name, "auto"), model)
    todo = [
        (item, Place(found.name, found.version, one.way, one.digest(kind_of(item.question))))
        for item in found.items[:limit]
    ]
    rows: list[Row] = []
    before = model.usage
    on_row(Progress(0, len(todo), Usage()))
    try:
        for row in _asked(one, todo):
            rows.append(row)
            on_row(Progress(len(rows), len(todo), model.usage - before, row))
    except _LeftAlone as error:
        raise ProviderUnavailable(str(error), provider=model.provider_name) from error
    return tuple(rows)


def _ask_all(plan: Plan, opened: Sequence[Opened], writer: RowWriter, on_row: Tell) -> list[str]:
    """Ask for all rows that are missing; return why some still are."""
    kept = collected(read_rows(writer.path))
    done = {key for key, row in kept.items() if row.outcome != "error"}
    todo = [(one, [*plan.left(one, done)]) for one in opened]
    total = len(opened) * sum(len(plan.items(found)) for found in plan.sets)
    count, before = total - sum(len(left) for _, left in todo), Usage()
    on_row(Progress(count, total, before))
    stopped: list[str] = []
    for one, left in todo:
        try:
            for row in _asked(one, left):
                writer.write(row)
                count += 1
                on_row(Progress(count, total, before + one.model.usage, row))
        except BudgetExceeded as error:
            return [*stopped, f"{' · '.join(one.way)}: {error}"]
        except _LeftAlone as error:
            stopped.append(str(error))
        before += one.model.usage
    return stopped


class _LeftAlone(Exception):
    """A model failed too often in a row."""


def _asked(one: Opened, todo: Sequence[tuple[Item, Place]]) -> Iterator[Row]:
    """Yield rows as they come; what was sent before a failure that ends it all is waited for, since it was paid for.

    Raises:
        BudgetExceeded, ConfigError, ProviderError: No further item could be asked about.
        _LeftAlone: Too many failed one after the other.
    """
    _announce(one.model, [item for item, _ in todo])
    failures, ends = 0, list[YesnoError | _LeftAlone]()
    for item, place, result in _decided(one.model, todo, lambda: bool(ends)):
        if isinstance(result, Row):
            failures = 0
            yield result
            continue
        if ends_run(result):
            ends.append(result)
        if ends:  # what failed is asked again by the next run
            continue
        yield failed_row(item, place, result, at=now())
        failures += 1
        if failures >= GIVE_UP_AFTER:
            way = " · ".join(one.way)
            ends.append(_LeftAlone(f"{way}: left alone after {failures} failures in a row: {result}"))
    if ends:
        raise ends[0]


def _announce(model: DecisionModel, items: Sequence[Item]) -> None:
    """Say which questions many inputs are asked, as `map` does, so that the first is not read otherwise."""
    seen: dict[str, int] = {}
    for item in items:
        name = repr(item.question)
        seen[name] = seen.get(name, 0) + 1
        if seen[name] == 2:
            model.announce(item.question)


def _decided(
    model: DecisionModel, todo: Iterable[tuple[Item, Place]], is_over: Callable[[], bool]
) -> Iterator[_Decided]:
    """Ask about items, as many at once as the model may have under way, and yield them as they are decided.

    Once it is over, none are begun, and those under way are waited for.
    """

    def decide(item: Item, place: Place) -> _Decided:
        start = time.perf_counter()
        try:
            response = model.decide(item.input, {QUESTION: item.question})
        except YesnoError as error:
            return item, place, error
        seconds = time.perf_counter() - start
        return item, place, row_of(item, place, response, name=QUESTION, latency_s=seconds, at=now())

    waiting = iter(todo)
    width = model.concurrency
    with ThreadPoolExecutor(width, thread_name_prefix="yesno-bench") as pool:
        pending: set[Future[_Decided]] = set()
        try:
            pending |= {pool.submit(decide, *pair) for pair in islice(waiting, 2 * width)}
            while pending:
                ready, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in ready:
                    yield future.result()
                if is_over():
                    pending = {future for future in pending if not future.cancel()}
                    continue
                pending |= {pool.submit(decide, *pair) for pair in islice(waiting, len(ready))}
        finally:
            for future in pending:
                future.cancel()


def _check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{str(folder)!r} is a file; a run needs a folder")
    if folder.is_dir() and read_card(folder) is None and any(folder.iterdir()):
        raise ConfigError(f"{str(folder)!r} holds other files and no run; take another --out")
