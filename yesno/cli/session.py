"""What all commands share: the model, the input, the way out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from yesno.errors import (
    ConfigError,
    DeadlineExceeded,
    ModelFileError,
    NoAnswer,
    ProviderError,
    QuestionError,
    YesnoError,
)

__all__ = ["EXIT_CODES", "Connection", "exit_code", "read_input"]

OK, NO, USAGE, NO_ANSWER, PROVIDER = 0, 1, 2, 3, 4
EXIT_CODES = (
    """Exit codes: 0 ok, 1 "no" under --check, 2 usage, 3 undecided or refused, 4 provider failure."""
)


def exit_code(error: YesnoError) -> int:
    """Return the exit code for an error."""
    match error:
        case NoAnswer():
            return NO_ANSWER
        case ProviderError() | DeadlineExceeded() | ModelFileError():
            return PROVIDER
        case _:
            return USAGE


@dataclass(frozen=True, slots=True)
class Connection:
    """Which model to ask, from the command's options."""

    model: str | None = None
    base_url: str | None = None
    template: str | None = None
    timeout_s: float | None = None

    @contextmanager
    def open(self) -> Iterator[Any]:
        """Open the model, with a progress bar while one is downloaded, and close it at the end."""
        from yesno.engine.sync import DecisionModel
        from yesno.settings import Settings

        spec = self.model or Settings.from_env().model
        options: dict[str, Any] = {}
        if spec.partition(":")[0] == "local":
            from yesno.cli.progress import download_progress

            options = {"progress": download_progress()}
        with DecisionModel(
            spec, base_url=self.base_url, template=self.template, timeout_s=self.timeout_s, **options
        ) as model:
            yield model


def read_input(argument: str | None, file: Path | None) -> Any:  # noqa: ANN401 - text, mapping or messages
    """Return the input from an argument, a file or standard input.

    A file whose name ends in `.json` is read as a mapping or a list of messages.

    Raises:
        QuestionError: There is no input, or both an argument and a file.
        ConfigError: The file cannot be read.
    """
    if argument is not None and file is not None:
        raise QuestionError("give the input as an argument or with --file, not both")
    if file is not None and str(file) != "-":
        return _from_file(file)
    if argument is not None and argument != "-":
        return argument
    if argument is None and file is None and sys.stdin.isatty():
        raise QuestionError("there is no input; give it as an argument, with --file, or on standard input")
    return sys.stdin.read()


def _from_file(file: Path) -> Any:  # noqa: ANN401 - text, mapping or messages
    try:
        text = file.read_text(encoding="utf-8")
        return json.loads(text) if file.suffix == ".json" else text
    except OSError as error:
        raise ConfigError(f"{str(file)!r} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{str(file)!r} is not UTF-8 text") from error
    except ValueError as error:
        raise ConfigError(f"{str(file)!r} is not JSON: {error}") from error
