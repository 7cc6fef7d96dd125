"""Render several yes/no questions about one input as one prompt."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from yesno.errors import ConfigError, QuestionError
from yesno.messages import Input, freeze_input
from yesno.questions import YesNo
from yesno.templates.encoding import encode_line, render_input
from yesno.templates.render import Turn, Turns
from yesno.templates.sets import FileTemplate

__all__ = ["PackedRow", "render_packed"]


@dataclass(frozen=True, slots=True)
class PackedRow:
    """One question as the prompt shows it; every text is encoded to one line."""

    number: int
    """From 1."""
    question: str
    yes_when: str | None
    no_when: str | None


def render_packed(
    template: FileTemplate,
    questions: Sequence[YesNo],
    given: Input,
    labels: tuple[str, str],
    *,
    as_json: bool = False,
) -> Turns:
    """Render system, the set's worked examples and the numbered questions.

    Args:
        template: The set's file `packed`.
        questions: What is asked, in the order of their numbers; worked examples of their own are left out.
        given: What it is about.
        labels: What the model is asked to write for yes and for no.
        as_json: Ask for a JSON object in place of a list.
    """
    prefix = _prefix(template, labels, as_json=as_json)
    return (*prefix, ("user", _asked(template, questions, render_input(given), labels, as_json=as_json)))


def _asked(
    template: FileTemplate, questions: Sequence[YesNo], given: str, labels: tuple[str, str], *, as_json: bool
) -> str:
    rows = [
        PackedRow(number, encode_line(question.text), _line(question.yes_when), _line(question.no_when))
        for number, question in enumerate(questions, start=1)
    ]
    variables = {"input": given, "rows": rows, "labels": list(labels)}
    form = template.render("json" if as_json else "lines", variables)
    return f"{template.render('user', variables)}\n{form}"


def _line(text: str | None) -> str | None:
    return None if text is None else encode_line(text)


@lru_cache(maxsize=64)
def _prefix(template: FileTemplate, labels: tuple[str, str], *, as_json: bool) -> Turns:
    """Return the turns that are the same for all questions."""
    turns: list[Turn] = []
    system = template.render("system", {})
    if system:
        turns.append(("system", system))
    for number, example in enumerate(template.front.get("examples", ()), start=1):
        try:
            turns.extend(_worked(template, example, labels, as_json=as_json))
        except KeyError as error:
            raise ConfigError(f"template {template.name!r}: its example {number} lacks {error}") from None
        except (QuestionError, TypeError, ValueError) as error:
            raise ConfigError(f"template {template.name!r}, its example {number}: {error}") from error
    return tuple(turns)


def _worked(
    template: FileTemplate, example: Mapping[str, Any], labels: tuple[str, str], *, as_json: bool
) -> Iterator[Turn]:
    questions = [YesNo(text) for text in example["questions"]]
    pairs = list(zip(questions, example["answers"], strict=True))
    given = render_input(freeze_input(example["input"]))
    yield "user", _asked(template, questions, given, labels, as_json=as_json)
    said = {number: labels[0] if answer else labels[1] for number, (_, answer) in enumerate(pairs, start=1)}
    if as_json:
        yield "assistant", json.dumps({str(number): word for number, word in said.items()})
    else:
        yield "assistant", "\n".join(f"{number}. {word}" for number, word in said.items())
