"""The options that commands share, each declared once, and how a command gets them.

A command is a function that returns an exit code, in a file of its own, and one line in `COMMANDS` of
`yesno/cli/main.py`. `prepared` makes of it what typer takes:

- a parameter annotated `Connection` becomes all the options of a model; the function gets them as one object,
  and `with connection.open() as model:` gives the `DecisionModel`. A command for which some mean nothing says so:
  `Annotated[Connection, Without("cache", "orders")]`.
- `--debug` is added to every command.
- `Question`, `Given`, `File` and `Json` are the other parameters that several commands have.
- an option with a `parser` may have any type; typer hands over what the parser returns.

An option of all models is one field of `Connection`: its annotation declares it, its name is the argument of
`DecisionModel` unless `settings` says otherwise.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import typer

from yesno.cli.values import number, orders, price, whole, word

if TYPE_CHECKING:
    from yesno.engine.sync import DecisionModel

__all__ = ["Connection", "File", "Given", "Json", "Question", "Without", "cache_file", "prepared"]

Question = Annotated[str, typer.Argument(metavar="QUESTION", help="The question, in plain words.")]
Given = Annotated[
    str | None,
    typer.Argument(metavar="INPUT", help="What it is about; '-' or nothing reads standard input."),
]
File = Annotated[
    Path | None,
    typer.Option(
        "--file", "-f", metavar="FILE", help="Read the input from a file; .json holds fields or messages."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
_Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def cache_file(folder: Path | None) -> Path:
    """Return the file that keeps replies: in the folder given, else in the user's cache folder."""
    if folder is None:
        from platformdirs import user_cache_path

        folder = user_cache_path("yesno")
    return folder / "replies.db"


@dataclass(frozen=True, slots=True)
class Connection:
    """Which model to ask and how, from a command's options."""

    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="PROVIDER:MODEL",
            help="Such as openai:gpt-5.4-mini. [default: YESNO_MODEL, else local]",
        ),
    ] = None
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="Address of the server.")
    ] = None
    template: Annotated[
        str | None,
        typer.Option("--template", metavar="SET", help="Template set, or a folder of your own."),
    ] = None
    calibration: Annotated[
        list[Path] | None,
        typer.Option(
            "--calibration", metavar="CARD", help="Calibration card, or folder of cards; may be repeated."
        ),
    ] = None
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            metavar="NAME",
            parser=word("auto", "native", "logprobs", "sampled"),
            help="How to get probabilities: auto, native, logprobs or sampled.",
        ),
    ] = "auto"
    strict: Annotated[bool, typer.Option("--strict", help="Take no second-best way.")] = False
    orders: Annotated[
        int | str,
        typer.Option(
            "--orders", metavar="N|auto", parser=orders, help="Average over N orders of the possible answers."
        ),
    ] = 1
    prior: Annotated[
        str,
        typer.Option(
            "--prior",
            metavar="NAME",
            parser=word("auto", "content_free", "off"),
            help="Take out the model's favourites: auto, content_free or off.",
        ),
    ] = "auto"
    packing: Annotated[
        str,
        typer.Option(
            "--packing",
            metavar="NAME",
            parser=word("separate", "packed", "auto"),
            help="Yes/no questions on one input: separate, packed in one request, or auto.",
        ),
    ] = "separate"
    min_label_mass: Annotated[
        float,
        typer.Option(
            "--min-label-mass",
            metavar="SHARE",
            parser=number,
            help="Least probability on the answers asked for.",
        ),
    ] = 0.5
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", metavar="SECONDS", parser=number, help="Longest time for one decision."),
    ] = None
    concurrency: Annotated[
        int | None,
        typer.Option("--concurrency", metavar="N", parser=whole, help="Most requests under way at once."),
    ] = None
    budget_usd: Annotated[
        float | None,
        typer.Option("--budget-usd", metavar="DOLLARS", parser=number, help="Stop before more is spent."),
    ] = None
    budget_requests: Annotated[
        int | None,
        typer.Option("--budget-requests", metavar="N", parser=whole, help="Stop before more are sent."),
    ] = None
    budget_tokens: Annotated[
        int | None,
        typer.Option("--budget-tokens", metavar="N", parser=whole, help="Stop before more are used."),
    ] = None
    price: Annotated[
        Any,
        typer.Option(
            "--price",
            metavar="IN,OUT[,CACHED]",
            parser=price,
            help="Dollars per million tokens, where yesno does not know them.",
        ),
    ] = None
    cache: Annotated[
        bool,
        typer.Option("--cache/--no-cache", help="Keep replies, and send no equal request twice."),
    ] = True
    memory: Annotated[
        bool,
        typer.Option("--memory/--no-memory", help="Keep what is learned of the model for later runs."),
    ] = True

    def settings(self) -> dict[str, Any]:
        """Return the arguments of `DecisionModel`, apart from the model and the cache.

        Raises:
            ConfigError: A limit of the budget is impossible.
        """
        names = ("base_url", "template", "strategy", "strict", "orders", "prior", "packing", "min_label_mass")
        given = {name: getattr(self, name) for name in (*names, "concurrency", "price")}
        given["timeout_s"] = self.timeout
        given["calibration"] = self.calibration or None
        limits = {"usd": self.budget_usd, "requests": self.budget_requests, "tokens": self.budget_tokens}
        if any(limit is not None for limit in limits.values()):
            from yesno.engine.budget import Budget

            given["budget"] = Budget(**limits)  # type: ignore[arg-type]  # each has the type its parser gives
        return given

    @contextmanager
    def open(self, **more: Any) -> Iterator[DecisionModel]:
        """Open the model, with a progress bar while one is downloaded, and close it at the end.

        Args:
            more: Further arguments of `DecisionModel`, such as `listeners`.
        """
        from yesno.engine.sync import DecisionModel

        with ExitStack() as held:
            spec, options = self.resolved(held)
            yield held.enter_context(DecisionModel(spec, **{**options, **more}))

    def resolved(self, held: ExitStack) -> tuple[str, dict[str, Any]]:
        """Return which model is meant, and the arguments of `DecisionModel`.

        Args:
            held: Closes what the arguments hold open, such as the cache.
        """
        from yesno.settings import Settings

        environment = Settings.from_env()
        spec = self.model or environment.model
        options = self.settings()
        if self.calibration:
            from yesno.cli.notes import calibration_notes

            held.enter_context(calibration_notes())
        provider = spec.partition(":")[0]
        if provider == "local":
            from yesno.cli.progress import download_progress

            options["progress"] = download_progress()
        if self.cache and provider != "fake":
            from yesno.engine.sqlite_cache import SqliteCache

            options["cache"] = held.enter_context(SqliteCache(cache_file(environment.cache_dir)))
        if self.memory and provider != "fake":
            from yesno.engine.folder_memory import FolderMemory

            folder = environment.cache_dir
            options["memory"] = FolderMemory(None if folder is None else folder / "learned")
        return spec, options


class Without:
    """Options of a model that mean nothing to a command; it gets their defaults, and no cache."""

    def __init__(self, *left_out: str) -> None:
        unknown = {*left_out} - {field.name for field in fields(Connection)}
        assert not unknown, unknown  # noqa: S101 - written by hand, once, next to the command
        self.left_out = left_out

    def options(self) -> list[str]:
        """Return the names of the options that remain."""
        return [field.name for field in fields(Connection) if field.name not in self.left_out]


def prepared(command: Callable[..., int]) -> Callable[..., None]:
    """Return a command in the form that typer takes: with all its options, ending in an exit code."""
    shown: list[inspect.Parameter] = []
    own = inspect.signature(command, eval_str=True).parameters
    holder, without = "", Without()
    for parameter in own.values():
        kind, *notes = _parts(parameter.annotation)
        if kind is not Connection:
            shown.append(_shown(parameter.name, parameter.annotation, parameter.default))
            continue
        holder, without = parameter.name, next((n for n in notes if isinstance(n, Without)), Without())
        hints = get_type_hints(Connection, include_extras=True)
        defaults = {field.name: field.default for field in fields(Connection)}
        shown += [_shown(name, hints[name], defaults[name]) for name in without.options()]
    shown.append(_shown("debug", _Debug, False))

    def run(**given: Any) -> None:
        del given["debug"]  # `main` looks for it, and needs it where an option cannot be read too
        if holder:
            chosen = {name: given.pop(name) for name in without.options()}
            if "cache" in without.left_out:
                chosen["cache"] = False
            given[holder] = Connection(**chosen)
        raise typer.Exit(command(**given))

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]  # what `inspect` looks at first
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return run


def _shown(name: str, annotation: Any, default: Any) -> inspect.Parameter:  # noqa: ANN401 - any type
    _, *notes = _parts(annotation)
    if any(
        getattr(note, "parser", None) for note in notes
    ):  # typer allows fewer types than a parser may return
        annotation = Annotated[str | None, *notes]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _parts(annotation: Any) -> tuple[Any, ...]:  # noqa: ANN401 - any type
    return get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
