"""The questions of `yesno map`: from options, or from a file."""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from yesno.cli.session import read_text
from yesno.errors import ConfigError, QuestionError
from yesno.questions import Choice, Question, Scale, YesNo

__all__ = ["named", "question_file", "questions_in"]

_KEYS = {
    "yes_no": ("question", "yes_when", "no_when", "examples"),
    "choice": ("question", "options", "none", "examples"),
    "scale": ("question", "levels", "examples"),
}


def named(yes_no: Sequence[YesNo], choice: Choice | None, scale: Scale | None) -> dict[str, Question[Any]]:
    """Return questions under the names of their options: `ask`, `ask_2` and so on, `choice`, `scale`."""
    found: dict[str, Question[Any]] = {
        "ask" if number == 1 else f"ask_{number}": question for number, question in enumerate(yes_no, start=1)
    }
    found |= {} if choice is None else {"choice": choice}
    return found | ({} if scale is None else {"scale": scale})


def question_file(file: Path) -> dict[str, Question[Any]]:
    """Return the questions in a TOML or JSON file.

    Raises:
        ConfigError: The file cannot be read.
        QuestionError: A question in it cannot be asked.
    """
    text = read_text(file)
    try:
        document = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    except ValueError as error:
        kind = "JSON" if file.suffix == ".json" else "TOML"
        raise ConfigError(f"{str(file)!r} is not {kind}: {error}") from error
    try:
        return questions_in(document)
    except QuestionError as error:
        raise QuestionError(f"{str(file)!r}: {error}") from error


def questions_in(document: Any) -> dict[str, Question[Any]]:  # noqa: ANN401 - parsed JSON or TOML
    """Return named questions from name -> table.

    A table has a `question`. With `options` (a list of names, or name -> description) and perhaps `none` it is a
    choice, with `levels` a scale, otherwise a yes/no question, perhaps with `yes_when` and `no_when`. All may have
    `examples`: pairs of an input and its answer.

    Raises:
        QuestionError: There is no question, or one has another form; the message names it.
    """
    if not isinstance(document, Mapping) or not document:
        raise QuestionError("there is no question; give each a name and a table with a `question`")
    return {name: _question(name, table) for name, table in document.items()}


def _question(name: str, table: Any) -> Question[Any]:  # noqa: ANN401 - parsed JSON or TOML
    if not isinstance(table, Mapping):
        raise QuestionError(f"question {name!r} must be a table, not {type(table).__name__}")
    kind = "choice" if "options" in table else "scale" if "levels" in table else "yes_no"
    for key in table:
        if key not in _KEYS[kind]:
            close = difflib.get_close_matches(key, _KEYS[kind], n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(_KEYS[kind])}"
            raise QuestionError(f"question {name!r} has an unknown key {key!r}; {hint}")
    if "question" not in table:
        raise QuestionError(f"question {name!r} has no `question`: the words to ask")
    rest = {key: value for key, value in table.items() if key != "question"}
    try:
        match kind:
            case "choice":
                return Choice(table["question"], **{**rest, "options": _options(rest["options"])})
            case "scale":
                return Scale(table["question"], **rest)
            case _:
                return YesNo(table["question"], **rest)
    except QuestionError as error:
        raise QuestionError(f"question {name!r}: {error}") from error
    except TypeError:
        raise QuestionError(f"question {name!r} has a value of the wrong type") from None


def _options(options: Any) -> Any:  # noqa: ANN401 - checked by Choice
    if isinstance(options, Mapping):
        return {name: description or None for name, description in options.items()}
    return options
