"""What the commands of the layers share: running a flow, reading conversations and tables, and what was spent."""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from yesno.cli.options import Connection
from yesno.cli.progress import working
from yesno.cli.session import read_input, read_stdin, read_text
from yesno.cli.views import outcome_document, plain, usage_text
from yesno.engine.listeners import Call, UsageListener
from yesno.errors import ConfigError, NoAnswer
from yesno.evidence import Usage
from yesno.flow import Flow
from yesno.response import DecisionResponse

__all__ = ["Done", "conversation", "json_or_text", "printed", "read_json", "read_table", "run_flow"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """What came of a flow, and what it took."""

    result: T
    model: str | None
    usage: Usage
    seconds: float

    def document(self) -> dict[str, Any]:
        """Return model, usage and seconds as plain JSON values."""
        return _spent_document(self.model, self.usage, self.seconds)

    def text(self) -> str:
        """Return them on a line."""
        parts = [usage_text(self.usage), f"{self.seconds:.2f} s"]
        return " · ".join([*parts, *([] if self.model is None else [self.model])])


class _Meter(UsageListener):
    """Adds up what all decisions of a command use, and notes who answered."""

    model: str | None = None

    def on_response(self, call: Call, response: DecisionResponse) -> None:
        super().on_response(call, response)
        self.model = response.model or self.model


def run_flow(connection: Connection, flow: Flow[T], *, as_json: bool) -> Done[T]:
    """Run a flow with the model of a connection.

    Raises:
        NoAnswer: A question was refused or is undecided; with `as_json` its outcome has been printed.
    """
    meter = _Meter()
    start = time.perf_counter()
    try:
        with working(quiet=as_json), connection.open(listeners=[meter]) as model:
            start = time.perf_counter()
            result = model.run(flow)
    except NoAnswer as error:
        if as_json:
            spent = _spent_document(meter.model, meter.total, time.perf_counter() - start)
            printed({**outcome_document(error.outcome), **spent})
        raise
    return Done(result, meter.model, meter.total, time.perf_counter() - start)


def printed(document: Mapping[str, Any]) -> None:
    """Print a document as one line of strict JSON."""
    print(json.dumps(document, ensure_ascii=False, allow_nan=False))


def conversation(argument: str | None, file: Path | None) -> Any:  # noqa: ANN401 - a text or messages
    """Return a conversation from an argument, a file or standard input.

    An argument is what the user wrote. What comes from standard input, or from a file that is called `.json`, is
    read as messages where it is a list or an object of JSON.

    Raises:
        QuestionError: There is nothing, or both an argument and a file.
        ConfigError: The file cannot be read.
    """
    if file is not None and str(file) == "-" and argument is None:
        argument, file = "-", None
    given = read_input(argument, file)
    return json_or_text(given) if file is None and argument in (None, "-") else given


def json_or_text(text: str) -> Any:  # noqa: ANN401 - a text or JSON
    """Return a list or an object where a text is one in JSON, else the text."""
    if text.lstrip()[:1] not in ("[", "{"):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def read_json(file: Path) -> Any:  # noqa: ANN401 - JSON
    """Return what a JSON file holds; `-` is standard input.

    Raises:
        ConfigError: It cannot be read, or is no JSON.
    """
    text = read_stdin() if str(file) == "-" else read_text(file)
    name = "standard input" if str(file) == "-" else repr(str(file))
    try:
        return json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{name} is not JSON: {error}") from error


def read_table(file: Path) -> dict[str, Any]:
    """Return what a TOML file holds, or a JSON file with an object.

    Raises:
        ConfigError: It cannot be read, or is of another form.
    """
    if file.suffix == ".json":
        found = read_json(file)
        if not isinstance(found, dict):
            raise ConfigError(f"{str(file)!r} must hold an object, not a {type(found).__name__}")
        return found
    try:
        return tomllib.loads(read_text(file))
    except ValueError as error:
        raise ConfigError(f"{str(file)!r} is not TOML: {error}") from error


def _spent_document(model: str | None, usage: Usage, seconds: float) -> dict[str, Any]:
    return {"model": model, "usage": plain(usage), "seconds": round(seconds, 3)}
