"""`yesno calibrate`: from labelled rows, or a run of `yesno bench`, to calibration cards."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from yesno.cli.asking import Level, NoneText, NoWhen, Option, YesWhen
from yesno.cli.benching import bench_progress
from yesno.cli.cards import cards_document, show_cards, subject_text
from yesno.cli.labelled import QuestionText, Split, question_from, set_from
from yesno.cli.options import Connection, Json, Without
from yesno.cli.session import OK
from yesno.cli.values import whole
from yesno.errors import ConfigError, QuestionError
from yesno.evidence import Usage

if TYPE_CHECKING:
    from yesno.bench.fitting import Fitted
    from yesno.bench.rows import Row
    from yesno.labelled import LabelledSet

__all__ = ["calibrate"]

Source = Annotated[
    Path,
    typer.Argument(metavar="ROWS|RUN", help="Labelled items as for yesno bench, or the folder of a run."),
]
_Out = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="CARD", help="File for one card, or folder for several. [default: card.json]"
    ),
]
_Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", parser=whole, help="Only the first N items.")
]
_Among = Annotated[
    list[str] | None,
    typer.Option(
        "--calibrator", metavar="NAME", help="Try only this one; repeat it. [default: all that fit the rows]"
    ),
]
_AnyQuestion = Annotated[
    bool, typer.Option("--any-question", help="Make a card for every question of the type, not for this one.")
]
_Again = Annotated[
    Path | None,
    typer.Option("--again", metavar="RUN", help="A second run of the same items: how much answers differ."),
]
_Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="PROVIDER:MODEL",
        help="Whom to ask; of a run, whose rows to take. [default: YESNO_MODEL, else local; all of a run]",
    ),
]


def calibrate(
    source: Source,
    out: _Out = None,
    model: _Model = None,
    question: QuestionText = None,
    option: Option = None,
    none: NoneText = None,
    level: Level = None,
    yes_when: YesWhen = None,
    no_when: NoWhen = None,
    limit: _Limit = None,
    split: Split = None,
    calibrator: _Among = None,
    any_question: _AnyQuestion = False,
    again: _Again = None,
    *,
    connection: Annotated[Connection, Without("model", "calibration", "packing")],
    as_json: Json = False,
) -> int:
    """Fit calibration cards to labelled rows, or to a run.

    Asks about the rows of a file, or takes a run of yesno bench. Tries every calibrator that so many labels allow by
    grouped cross-validation, and keeps the readings as they are unless the interval shows a gain. A card is for one
    model, template, method and question; `--calibration CARD` applies it.
    """
    from yesno.bench.fitting import cards_of

    place = _checked_out(out or Path("card.json"))
    asked = question_from(question, option, none, level, yes_when, no_when)
    given = _of_run(source, model, limit) if _is_run(source) else None
    if given is None:
        found = set_from(str(source), question=asked, split=split)
        given = _ask(found, replace(connection, model=model), limit)
    elif asked is not None or split is not None:
        raise QuestionError(
            "a run was asked its questions already; --question and --split are for labelled rows"
        )
    second = None if again is None else _of_run(again, None, None)
    made = cards_of(
        given.rows,
        models=given.models,
        questions=given.questions,
        any_question=any_question,
        among=calibrator,
        again=() if second is None else second.rows,
        again_models=None if second is None else second.models,
    )
    written = _write(made.fitted, place)
    if as_json:
        print(json.dumps(cards_document(made, written, given.usage), ensure_ascii=False, allow_nan=False))
    else:
        show_cards(made, written, given.usage)
    return OK


@dataclass(frozen=True, slots=True)
class _Given:
    """What there is to fit to."""

    rows: Sequence[Row]
    models: Mapping[str, str]
    """Name of a model in the rows -> `provider:model`."""
    questions: Mapping[str, str]
    """Digest -> text, of the questions that are at hand."""
    usage: Usage | None = None
    """What was asked for it; None for a run."""


def _is_run(source: Path) -> bool:
    if not source.is_dir():
        return False
    from yesno.bench.runs import CARD

    if not (source / CARD).exists():
        raise ConfigError(
            f"the folder {str(source)!r} holds no run of yesno bench; give one, or a file of labelled items"
        )
    return True


def _of_run(folder: Path, model: str | None, limit: int | None) -> _Given:
    """Return the rows of a run.

    Raises:
        ConfigError: A set has changed since, or the run has no row of the model.
    """
    from yesno.bench.runs import load_run
    from yesno.labelled import load_set

    run = load_run(folder)
    questions: dict[str, str] = {}
    for name, held in run.card.sets.items():
        if held.path is None or not Path(held.path).is_file():
            continue
        try:
            found = load_set(held.path, name=name)
        except ConfigError:
            continue  # its rows have no questions of their own, so the file alone does not tell
        if found.version != held.version:
            raise ConfigError(
                f"{held.path!r} is another version of set {name!r} than the run {str(folder)!r} is about; make the run "
                "again"
            )
        questions |= _texts(found)
    rows = [row for row in run.rows if model in (None, row.model, run.card.models.get(row.model))]
    if not rows:
        names = ", ".join(sorted({row.model for row in run.rows})) or "no model"
        raise ConfigError(f"the run {str(folder)!r} has no rows of {model!r}; it has those of {names}")
    return _Given(_firsts(rows, limit), run.card.models, questions)


def _firsts(rows: Iterable[Row], limit: int | None) -> list[Row]:
    """Return the first rows of each set and way."""
    counts: dict[Any, int] = {}
    kept = []
    for row in rows:
        counts[row.set, row.way] = counts.get((row.set, row.way), 0) + 1
        if limit is None or counts[row.set, row.way] <= limit:
            kept.append(row)
    return kept


def _texts(found: LabelledSet) -> dict[str, str]:
    from yesno.calibration.subjects import question_digest

    return {question_digest(item.question): item.question.text for item in found.items}


def _ask(found: LabelledSet, connection: Connection, limit: int | None) -> _Given:
    from yesno.bench.running import ask_items

    with connection.open() as model, bench_progress() as show:
        rows = ask_items(model, found, limit=limit, on_row=show)
        return _Given(rows, {}, _texts(found), model.usage)


def _checked_out(out: Path) -> Path:
    """Return where cards go, unless something else is there already.

    Raises:
        ConfigError: There is a file that is no card.
    """
    from yesno.calibration.files import load_calibration

    if out.is_file():
        try:
            load_calibration(out)
        except ConfigError:
            raise ConfigError(
                f"{str(out)!r} is there and holds no calibration card; give another --out"
            ) from None
    elif out.suffix == ".json" and out.is_dir():
        raise ConfigError(
            f"{str(out)!r} is a folder; name a file in it, or a folder that does not end in .json"
        )
    return out


def _write(fitted: tuple[Fitted, ...], out: Path) -> list[Path]:
    """Write the cards, all of them fitted before, and return their files.

    Raises:
        ConfigError: There are several for one file, or one cannot be written.
    """
    from yesno.calibration.files import save_calibration

    if out.suffix == ".json":
        if len(fitted) > 1:
            told = "; ".join(f"{', '.join(one.sets)}: {subject_text(one.card.subject)}" for one in fitted)
            raise ConfigError(
                f"there would be {len(fitted)} cards ({told}); give a folder as --out, or one --model of the run"
            )
        places = [out]
    else:
        places = [out / f"{name}.json" for name in _names(fitted)]
    for one, place in zip(fitted, places, strict=True):
        save_calibration(one.card, place)
    return places


def _names(fitted: Iterable[Fitted]) -> list[str]:
    names: list[str] = []
    for one in fitted:
        subject = one.card.subject
        parts = ("+".join(one.sets), subject.kind, subject.model, subject.method)
        name = re.sub(r"[^\w.+-]+", "-", "-".join(parts)).strip("-.")[:120]
        names.append(name if name not in names else f"{name}-{len(names) + 1}")
    return names
