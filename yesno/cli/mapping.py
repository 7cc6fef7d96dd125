"""`yesno map`: the same questions about every row of a file, in order, resumable."""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from yesno._rows import Format, Row, csv_rows, json_rows, picked
from yesno.cli.asked import named, question_file
from yesno.cli.asking import Level, NoneText, NoWhen, Option, YesWhen, parse_option
from yesno.cli.options import Connection, Json
from yesno.cli.progress import row_progress
from yesno.cli.session import INTERRUPTED
from yesno.cli.streams import after, check_files, opened, sink
from yesno.cli.values import names, word
from yesno.cli.written import Result, Tally, csv_header, csv_line, line_of
from yesno.engine.ending import ends_run
from yesno.errors import ConfigError, QuestionError, YesnoError
from yesno.questions import Choice, Question, Scale, YesNo
from yesno.response import Failure

if TYPE_CHECKING:
    from yesno.engine.sync import DecisionModel

__all__ = ["Plan", "decided", "format_of", "map_rows", "questions_from"]

_FORMATS: dict[str, Format] = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv"}


@dataclass(frozen=True, slots=True)
class Plan:
    """What to ask of which rows, and how to write it."""

    questions: dict[str, Question[Any]]
    read_as: Format
    write_as: Format
    text_field: str | None = None
    fields: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.text_field is not None and self.fields:
            raise QuestionError("give either --input-field or --fields, not both")

    def needed(self) -> list[str]:
        """Return the fields that a row must have."""
        return [*([] if self.text_field is None else [self.text_field]), *self.fields, *self.copied]


_Rows = Annotated[
    Path | None,
    typer.Argument(metavar="FILE", help="JSONL or CSV; '-' or nothing reads standard input."),
]
_Ask = Annotated[
    list[str] | None, typer.Option("--ask", metavar="QUESTION", help="A yes/no question; repeat it.")
]
_Choice = Annotated[str | None, typer.Option(metavar="QUESTION", help="A choice among each --option.")]
_Scale = Annotated[str | None, typer.Option(metavar="QUESTION", help="A scale of each --level.")]
_Questions = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Named questions in a .toml or .json file instead.")
]
_InputField = Annotated[
    str | None, typer.Option(metavar="NAME", help="Ask about this field. [default: the whole row]")
]
_Fields = Annotated[list[str] | None, typer.Option(metavar="A,B,…", help="Ask about these fields together.")]
_Copy = Annotated[list[str] | None, typer.Option(metavar="A,B,…", help="Copy these fields to the output.")]
_Output = Annotated[Path | None, typer.Option(metavar="FILE", help="Write there. [default: standard output]")]
_From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        parser=word("jsonl", "csv"),
        help="Format of the input: jsonl or csv. [default: by its name, else jsonl]",
    ),
]
_To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="FORMAT",
        parser=word("jsonl", "csv"),
        help="Format of the output. [default: by its name, else as the input]",
    ),
]
_Resume = Annotated[bool, typer.Option("--resume", help="Go on behind the last whole row of the output.")]
_Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")]


def map_rows(
    input: _Rows = None,
    ask: _Ask = None,
    yes_when: YesWhen = None,
    no_when: NoWhen = None,
    choice: _Choice = None,
    option: Option = None,
    none: NoneText = None,
    scale: _Scale = None,
    level: Level = None,
    questions: _Questions = None,
    input_field: _InputField = None,
    fields: _Fields = None,
    copy: _Copy = None,
    output: _Output = None,
    read_as: _From = None,
    write_as: _To = None,
    resume: _Resume = False,
    overwrite: _Overwrite = False,
    *,
    connection: Connection,
    as_json: Json = False,
) -> int:
    """Ask the same questions about every row of a file.

    Rows keep their order; one that fails is written with its error. With --json, the summary on standard error
    is JSON too.
    """
    asked = questions_from(ask, yes_when, no_when, choice, option, none, scale, level, questions)
    source = None if input is None or str(input) == "-" else input
    came = format_of(source, read_as, "--from", "jsonl")
    goes = format_of(output, write_as, "--to", came)
    plan = Plan(asked, came, goes, input_field, tuple(names(fields)), tuple(names(copy)))
    check_files(source, output, resume=resume, overwrite=overwrite)
    tally = Tally()
    try:
        _run(plan, connection, tally, source, output, resume=resume)
    except KeyboardInterrupt:
        tally.code = INTERRUPTED
    except YesnoError:
        if tally.rows:
            _tell(tally, as_json=as_json)
        raise
    _tell(tally, as_json=as_json)
    return tally.code


def _tell(tally: Tally, *, as_json: bool) -> None:
    print(json.dumps(tally.document(), ensure_ascii=False) if as_json else tally.text(), file=sys.stderr)


def questions_from(
    ask: list[str] | None,
    yes_when: str | None,
    no_when: str | None,
    choice: str | None,
    option: list[str] | None,
    none: str | None,
    scale: str | None,
    level: list[str] | None,
    file: Path | None,
) -> dict[str, Question[Any]]:
    """Return the named questions that the options, or the file, ask.

    Raises:
        QuestionError: There is none, or an option belongs to a question that is not there.
    """
    if file is not None:
        if any((ask, yes_when, no_when, choice, option, none, scale, level)):
            raise QuestionError("give the questions in --questions or as options, not both")
        return question_file(file)
    if (yes_when or no_when) and len(ask or ()) != 1:
        raise QuestionError("--yes-when and --no-when belong to one --ask; for several use --questions FILE")
    if (option or none) and choice is None:
        raise QuestionError("--option and --none belong to a --choice, and there is none")
    if level and scale is None:
        raise QuestionError("--level belongs to a --scale, and there is none")
    found = named(
        [YesNo(text, yes_when=yes_when, no_when=no_when) for text in ask or ()],
        None if choice is None else Choice(choice, [parse_option(text) for text in option or ()], none=none),
        None if scale is None else Scale(scale, level or ()),
    )
    if not found:
        raise QuestionError("there is no question; give --ask, --choice, --scale or --questions FILE")
    return found


def format_of(file: Path | None, chosen: str | None, option: str, default: Format) -> Format:
    """Return the format of a file: the chosen one, else by its name; `default` where there is no file.

    Raises:
        ConfigError: The name does not say.
    """
    if chosen is not None:
        return cast("Format", chosen)
    if file is None:
        return default
    if file.suffix.lower() not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise ConfigError(f"{str(file)!r} does not end in {known}; say {option} jsonl or {option} csv")
    return _FORMATS[file.suffix.lower()]


def decided(model: DecisionModel, rows: Iterable[Row], plan: Plan) -> Iterator[tuple[Row, Result]]:
    """Ask about each row and yield it with what came back, in order; a few rows are held at a time.

    Raises:
        ConfigError: The input broke off; all rows before that are yielded first.
    """
    waiting: deque[tuple[Row, QuestionError | None]] = deque()
    broken: list[ConfigError] = []

    def inputs() -> Iterator[Any]:
        try:
            for row in rows:
                given, problem = None, None
                try:
                    given = picked(row, text_field=plan.text_field, fields=plan.fields)
                except QuestionError as error:
                    problem = error
                waiting.append((row, problem))
                yield given  # None is refused before anything is sent, and keeps the row's place
        except ConfigError as error:
            broken.append(error)

    for result in model.map(inputs(), plan.questions):
        row, problem = waiting.popleft()
        yield row, result if problem is None else Failure(problem)
    if broken:
        raise broken[0]


def _run(
    plan: Plan,
    connection: Connection,
    tally: Tally,
    source: Path | None,
    output: Path | None,
    *,
    resume: bool,
) -> None:
    with ExitStack() as held:
        lines = held.enter_context(opened(source, plan.read_as))
        rows = csv_rows(lines, plan.needed()) if plan.read_as == "csv" else json_rows(lines)
        model = held.enter_context(connection.open())
        part, write = held.enter_context(
            sink(output, plan.write_as, plan.questions, plan.copied, resume=resume)
        )
        rows = after(part.rows, rows)
        tell = held.enter_context(row_progress(lines.size))
        if plan.write_as == "csv" and part.size == 0:
            write(csv_line(csv_header(plan.questions, plan.copied)))
        for row, result in decided(model, rows, plan):
            if isinstance(result, Failure) and ends_run(result.error):
                raise _stopped(result.error, row, output)
            write(line_of(row, result, plan.questions, plan.copied, plan.write_as))
            tally.add(row, result)
            tell(tally.rows, lines.read)


def _stopped(error: Exception, row: Row, output: Path | None) -> Exception:
    way = "" if output is None else "; --resume goes on there"
    error.args = (f"stopped before row {row.number}{way}: {error}", *error.args[1:])
    return error
