"""Render the turns of a prompt."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from yesno.errors import ConfigError, QuestionError
from yesno.messages import Input, freeze_input
from yesno.questions import Choice, Question, Scale, YesNo
from yesno.templates.encoding import encode_line, encode_name, encode_text, render_input
from yesno.templates.sets import FileTemplate

__all__ = ["Row", "Turn", "Turns", "render_turns", "rows_of"]

Turn: TypeAlias = tuple[Literal["system", "user", "assistant"], str]
"""Role and content of a message."""
Turns: TypeAlias = tuple[Turn, ...]
JSON_LINE = 'Reply with JSON only: {"answer": your answer, "confidence": how sure you are, from 0 to 100}'
"""How a template without a block `json` asks for it."""


ShowLabels: TypeAlias = Callable[[Any, FileTemplate], Sequence[str]]
"""From a question and its template to what the model is asked to write, in the order of the answers."""


@dataclass(frozen=True, slots=True)
class Row:
    """One possible answer as the prompt shows it."""

    label: str
    """What the model is asked to write."""
    name: str
    """The option or level, encoded to one line."""
    description: str | None = None
    """What it means, encoded to one line; None when that is the name."""


def rows_of(question: Question[Any], labels: Sequence[str]) -> tuple[Row, ...]:
    """Pair a question's possible answers with their labels, in order."""
    match question:
        case Choice():
            names: list[tuple[str, str | None]] = list(question.options.items())
            if question.none is not None:
                names.append((question.none, None))
        case Scale():
            names = [(level, None) for level in question.levels]
        case _:
            names = [(label, None) for label in labels]
    return tuple(
        Row(label, encode_name(name), None if text is None or text == name else encode_line(text))
        for label, (name, text) in zip(labels, names, strict=True)
    )


def render_turns(
    template: FileTemplate,
    question: Question[Any],
    given: Input,
    show: ShowLabels,
    *,
    strict: bool = False,
    prefill: bool = False,
    as_json: bool = False,
    swapped: bool = False,
) -> Turns:
    """Render system, worked examples and question; with `prefill` also the start of the answer.

    Args:
        template: The file for the question's type.
        question: The question.
        given: What it is about.
        show: The labels of this question and of the template's own examples.
        strict: Insist on the label, for a second try.
        prefill: The provider continues a last assistant turn.
        as_json: Ask for the answer as a JSON object, worked examples included.
        swapped: Name the labels of the question in the opposite order.
    """
    rows = rows_of(question, show(question, template))
    turns = [*_set_prefix(template, show), *_example_turns(template, question, rows)]
    variables = _variables(question, render_input(given), rows, strict=strict)
    if swapped:
        variables["labels"].reverse()
    turns.append(("user", template.render("user", variables)))
    if as_json:
        return tuple(_as_json(turns, _json_line(template, variables)))
    if prefill and "prefill" in template.jinja.blocks:
        start = template.render("prefill", _variables(question, "", rows, strict=strict))
        if start:
            turns.append(("assistant", start))
    return tuple(turns)


def _json_line(template: FileTemplate, variables: Mapping[str, Any]) -> str:
    return template.render("json", variables) if "json" in template.jinja.blocks else JSON_LINE


def _as_json(turns: Iterable[Turn], line: str) -> Iterator[Turn]:
    """Ask for JSON in each user turn and answer with it in each assistant turn."""
    for role, content in turns:
        if role == "user":
            yield role, f"{content}\n{line}"
        else:
            yield role, json.dumps({"answer": content}) if role == "assistant" else content


def _variables(question: Question[Any], given: str, rows: Sequence[Row], *, strict: bool) -> dict[str, Any]:
    return {
        "input": given,
        "question": encode_text(question.text).strip(),
        "yes_when": _criterion(question, "yes_when"),
        "no_when": _criterion(question, "no_when"),
        "rows": rows,
        "labels": [row.label for row in rows],
        "strict": strict,
    }


def _criterion(question: Question[Any], name: Literal["yes_when", "no_when"]) -> str | None:
    if not isinstance(question, YesNo):
        return None
    text = question.yes_when if name == "yes_when" else question.no_when
    return None if text is None else encode_line(text)


def _example_turns(
    template: FileTemplate, question: Question[Any], rows: tuple[Row, ...]
) -> Iterator[tuple[Literal["user", "assistant"], str]]:
    examples = question.examples if isinstance(question, YesNo | Choice | Scale) else ()
    for given, answer in examples:
        shown = render_input(freeze_input(given))
        yield "user", template.render("user", _variables(question, shown, rows, strict=False))
        yield "assistant", rows[_index(question, answer)].label


def _index(question: Question[Any], answer: Any) -> int:  # noqa: ANN401 - checked by the question
    match question:
        case Choice():
            names = [*question.options, *([question.none] if question.none is not None else [])]
            return names.index(answer)
        case Scale():
            return question.levels.index(answer)
        case _:
            return 0 if answer else 1


@lru_cache(maxsize=64)
def _set_prefix(template: FileTemplate, show: ShowLabels) -> Turns:
    """Return the turns that are the same for all questions: system text and the set's own examples."""
    turns: list[tuple[Literal["system", "user", "assistant"], str]] = []
    system = template.render("system", {})
    if system:
        turns.append(("system", system))
    for number, example in enumerate(template.front.get("examples", ()), start=1):
        try:
            question = _set_example(template, example)
            rows = rows_of(question, show(question, template))
            turns.extend(_example_turns(template, question, rows))
        except KeyError as error:
            raise ConfigError(f"template {template.name!r}: its example {number} lacks {error}") from None
        except QuestionError as error:
            raise ConfigError(f"template {template.name!r}, its example {number}: {error}") from error
    return tuple(turns)


def _set_example(template: FileTemplate, example: Mapping[str, Any]) -> Question[Any]:
    text, pairs = example["question"], [(example["input"], example["answer"])]
    match template.name.rpartition("/")[2]:
        case "choice":
            return Choice(text, example["options"], none=example.get("none"), examples=pairs)
        case "scale":
            return Scale(text, example["levels"], examples=pairs)
        case _:
            return YesNo(
                text, yes_when=example.get("yes_when"), no_when=example.get("no_when"), examples=pairs
            )
