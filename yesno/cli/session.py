"""What commands share besides their options: the input, and the way out."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from yesno.errors import (
    ConfigError,
    DeadlineExceeded,
    GateUnavailable,
    ModelFileError,
    NoAnswer,
    ProviderError,
    QuestionError,
    YesnoError,
)

__all__ = ["EXIT_CODES", "exit_code", "in_options", "read_input", "read_stdin", "read_text"]

OK, NO, USAGE, NO_ANSWER, PROVIDER = 0, 1, 2, 3, 4
INTERRUPTED = 130
EXIT_CODES = (
    'Exit codes: 0 ok, 1 "no" under --check, blocked by guard or held back by calls check, 2 usage, 3 undecided or refused, '
    "4 provider failure."
)
_IN_OPTIONS = [
    (re.compile(pattern), words)
    for pattern, words in (
        (r" or pass api_key=\.\.\.", ""),  # a key on a command line can be seen by everybody on the machine
        (
            r"pass `price=Price\(\.\.\.\)`[\w .`]*, or limit `requests` or `tokens`",
            "give --price IN,OUT, or --budget-requests or --budget-tokens in its place",
        ),
        (r"raise `(usd|requests|tokens)`, or go on with a new Budget", r"raise --budget-\1"),
        (r"the budget's `(usd|requests|tokens)`", r"--budget-\1"),
        (r"with strict=True", "with --strict"),
        (r"with any_question=True", "with --any-question"),
        (r"\bstrategy='(\w+)'", r"--strategy \1"),
        (r"\bbase_url=(?!\w)|`base_url`", "--base-url"),
        (r"`(run_below|block_from)`", lambda found: "--" + found[1].replace("_", "-")),
        (r"set on_error='confirm'", "use --on-error confirm"),
        (r"`timeout_s`", "--timeout"),
        (r"`min_label_mass`", "--min-label-mass"),
        (r"`(orders|concurrency|template|calls|refine|review|shortlist|threshold)`", r"--\1"),
        (r"`min_probability`", "--min-probability"),
        (r"`max_results`", "--max-results"),
        (r"`top_k`", "--top-k"),
        (r"`sources`", "--source"),
        (r": Check\('(\w+)', (\w+)='…'\)", r"; give it in a file of --checks: [\1] \2 = …"),
        (r"For one of your own give its question too", "For one of your own write --check NAME=QUESTION"),
        (r"use it with `check_(input|output)`", r"use it with --side \1"),
    )
]
"""What the library calls its arguments -> what the program calls them."""


def in_options(text: str) -> str:
    """Return a message of the library with the program's options in place of arguments."""
    for pattern, words in _IN_OPTIONS:
        text = pattern.sub(words, text)
    return text


def exit_code(error: Exception) -> int:
    """Return the exit code for an error."""
    match error:
        case NoAnswer():
            return NO_ANSWER
        case ProviderError() | DeadlineExceeded() | ModelFileError():
            return PROVIDER
        case GateUnavailable(__cause__=Exception() as cause):
            return exit_code(cause)
        case YesnoError():
            return USAGE
        case _:
            return PROVIDER if isinstance(error, OSError) else USAGE


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
        text = read_text(file)
        return _parsed(file, text) if file.suffix == ".json" else text
    if argument is not None and argument != "-":
        return argument
    if argument is None and file is None and sys.stdin.isatty():
        raise QuestionError("there is no input; give it as an argument, with --file, or on standard input")
    return read_stdin()


def read_stdin() -> str:
    """Return all of standard input.

    Raises:
        ConfigError: It is no UTF-8.
    """
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise ConfigError("standard input is not UTF-8 text") from error


def read_text(file: Path) -> str:
    """Return the text of a file.

    Raises:
        ConfigError: The file cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{str(file)!r} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{str(file)!r} is not UTF-8 text") from error


def _parsed(file: Path, text: str) -> Any:  # noqa: ANN401 - text, mapping or messages
    try:
        return json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{str(file)!r} is not JSON: {error}") from error
