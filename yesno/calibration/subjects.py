"""What a card is about, and whether an answer is of that kind."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from yesno.errors import ConfigError
from yesno.questions import Choice, Method, Question, Scale, YesNo

__all__ = ["BANDS", "Asked", "AskedQuestion", "Kind", "Subject", "band_of", "labels_in", "question_digest"]

Kind: TypeAlias = Literal["yes_no", "choice", "scale"]

BANDS = ((2, 2), (3, 5), (6, 10), (11, 20), (21, 50), (51, 256))
"""Least and most labels of the answers that one card may hold for; a way out counts as a label."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One question that a card holds for."""

    text: str | None
    """None when only the digest is known."""
    digest: str
    """First 12 hexadecimal digits of the SHA-256 of all that a prompt shows of it: see `question_digest`."""

    @classmethod
    def of(cls, question: Question[Any]) -> AskedQuestion:
        """Return what a card keeps of a question."""
        return cls(question.text, question_digest(question))


@dataclass(frozen=True, slots=True)
class Asked:
    """How an answer was got: what a card's subject is compared with."""

    provider: str
    model: str
    method: Method
    template: str | None
    kind: str
    labels: int
    digest: str
    """Of the question."""
    prior: bool
    """Whether a prior was taken out of the reading."""
    orders: bool = False
    """Whether it is a mean over several orders."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a card is about; it is applied to nothing else.

    Raises:
        ConfigError: The label counts are no band.
    """

    provider: str
    model: str
    """The name that is asked for, without the provider."""
    method: Method
    template: str | None
    """Name, version and hash, as answers carry it; only the hash counts. None for decision endpoints."""
    kind: Kind
    least_labels: int = 2
    most_labels: int = 2
    question: AskedQuestion | None = None
    """The only question it holds for; None for every question of this type."""
    prior: bool | None = None
    """Whether a prior had been taken out of the readings that it was fitted to; None when that is not known."""
    orders: bool | None = None
    """Whether they were means over several orders of the labels; None when that is not known."""

    def __post_init__(self) -> None:
        if not 2 <= self.least_labels <= self.most_labels:
            raise ConfigError(
                f"the label counts of a card must be from 2 upwards, not {self.least_labels} to {self.most_labels}"
            )

    def comparable(self) -> Subject:
        """Return it without what is there for people only, so that two for the same are equal."""
        question = None if self.question is None else replace(self.question, text=None)
        return replace(self, template=_hash(self.template), question=question)

    def alike(self, asked: Asked) -> tuple[bool, ...]:
        """Return what an answer shares with it, the weightiest first, to find the subject that comes closest."""
        return (
            (self.provider, self.model) == (asked.provider, asked.model),
            self.kind == asked.kind,
            self.method == asked.method,
            _hash(self.template) == _hash(asked.template),
            self.least_labels <= asked.labels <= self.most_labels,
            self.question is None or self.question.digest == asked.digest,
        )

    def difference(self, asked: Asked) -> str | None:
        """Return in words the first thing that an answer differs in; None when the card holds for it."""
        if (self.provider, self.model) != (asked.provider, asked.model):
            return f"the card is for model {self.provider}:{self.model}"
        if self.kind != asked.kind:
            return f"the card is for {self.kind} questions, not {asked.kind}"
        if self.method != asked.method:
            return f"the card is for method {self.method!r}, and the answer was got by {asked.method!r}"
        if _hash(self.template) != _hash(asked.template):
            return f"the card is for template {self.template}, and the answer was got with {asked.template}"
        if not self.least_labels <= asked.labels <= self.most_labels:
            return f"the card is for {self.least_labels} to {self.most_labels} labels, and there are {asked.labels}"
        if self.question is not None and self.question.digest != asked.digest:
            return "the card is for another question"
        if self.prior is not None and self.prior != asked.prior:
            return f"the card is for readings {'with' if self.prior else 'without'} a prior taken out"
        if self.orders is not None and self.orders != asked.orders:
            return f"the card is for readings in {'several orders' if self.orders else 'one order'}"
        return None


def band_of(labels: int) -> tuple[int, int]:
    """Return the band of `BANDS` that a number of labels lies in.

    Raises:
        ConfigError: It lies in none.
    """
    for least, most in BANDS:
        if least <= labels <= most:
            return least, most
    raise ConfigError(f"a question has 2 to {BANDS[-1][1]} labels, not {labels}")


def labels_in(question: Question[Any]) -> int:
    """Return how many labels a question has, its way out among them; 2 for a type of your own."""
    match question:
        case Choice():
            return len(question.options) + (question.none is not None)
        case Scale():
            return len(question.levels)
        case _:
            return 2


def question_digest(question: Question[Any]) -> str:
    """Return a digest of all that a prompt shows of a question: words, options, descriptions, worked examples."""
    shown: dict[str, Any] = {"type": question.kind, "text": question.text}
    match question:
        case YesNo():
            shown |= {"yes_when": question.yes_when, "no_when": question.no_when}
        case Choice():
            shown |= {"options": [*question.options.items()], "none": question.none}
        case Scale():
            shown |= {"levels": question.levels}
        case _:
            shown |= {"whole": repr(question)}
    examples = getattr(question, "examples", ())
    if examples:
        shown["examples"] = repr(examples)
    written = json.dumps(shown, ensure_ascii=False, sort_keys=True)
    return sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _hash(template: str | None) -> str | None:
    return None if template is None else template.rpartition("#")[2]
