"""Which labels a template asks for, and what the model is asked to write for each."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from yesno.errors import ConfigError, QuestionError
from yesno.questions import Choice, Scale, YesNo
from yesno.reading.labels import (
    LabelSet,
    column_labels,
    letter_labels,
    name_labels,
    number_labels,
    yes_no_labels,
)
from yesno.reading.languages import LANGUAGES
from yesno.templates.sets import FileTemplate

__all__ = ["BuiltIn", "labels_of", "shown_in_json", "shown_labels"]

BuiltIn: TypeAlias = YesNo | Choice | Scale
"""The question types that can be asked in a prompt."""


def labels_of(question: BuiltIn, template: FileTemplate, *, whole: bool = False) -> LabelSet:
    """Return the labels that a template asks for; `whole` replies may hold more of them than there are letters.

    Options and levels go by letter or number. Options that are single letters or digits already go by
    themselves, so that none is shown under another one's letter.
    """
    match question:
        case YesNo():
            return _yes_no(template)
        case Choice():
            names = tuple(question.options) if question.none is None else (*question.options, question.none)
            single = all(len(name) == 1 and name.isascii() and name.isalnum() for name in names)
            return _labels(names, "names" if single else "columns" if whole else "letters", 0)
        case Scale():
            first = template.front.get("first", 1)
            numbered = template.front.get("labels") == "numbers" and len(question.levels) + first <= 10
            # a level that is itself a number would be shown beside another one's
            numbered = numbered and not any(level.strip().isdecimal() for level in question.levels)
            return _labels(
                question.levels, "numbers" if numbered else "columns" if whole else "letters", first
            )


def shown_labels(question: BuiltIn, template: FileTemplate) -> list[str]:
    """Return what the model is asked to write for each possible answer, in order."""
    return [label.shown for label in labels_of(question, template).labels]


def shown_in_json(question: BuiltIn, template: FileTemplate) -> list[str]:
    """Do what `shown_labels` does for a reply that is read as a whole."""
    return [label.shown for label in labels_of(question, template, whole=True).labels]


@lru_cache(maxsize=64)
def _yes_no(template: FileTemplate) -> LabelSet:
    yes, no = template.front.get("labels", ("Yes", "No"))
    try:
        return yes_no_labels((yes, no), tuple(template.front.get("languages", ("en",))))
    except KeyError as error:
        known = ", ".join(LANGUAGES)
        raise ConfigError(
            f"template {template.name!r}: language {error} is unknown; known are {known}"
        ) from None
    except QuestionError as error:
        raise ConfigError(f"template {template.name!r}: {error}") from error


@lru_cache(maxsize=256)
def _labels(names: tuple[str, ...], style: str, first: int) -> LabelSet:
    match style:
        case "names":
            return name_labels(names)
        case "numbers":
            return number_labels(names, start=first)
        case "columns":
            return column_labels(names)
        case _:
            return letter_labels(names)
