"""Ask for the answer in words, several times, where a host shows no log-probabilities."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar, cast

from yesno.evidence import Completion, Reply
from yesno.providers.base import PromptTask
from yesno.questions import Choice, Question
from yesno.reading.labels import LabelSet
from yesno.reading.outcome import Declined, Reading, Unread
from yesno.reading.samples import Sample, is_settled, read_sample, share_of

__all__ = ["CAP", "MOST", "ROUND", "numbered_schema_of", "original_label", "rotated", "sampled", "schema_of"]

ROUND = 5
"""Samples asked for at once."""
MOST = 15
"""Most samples of one question."""
CAP = 1024
"""Output tokens of a sample: room for a reasoning model to finish."""

Q = TypeVar("Q", bound=Question[Any])
MakeTask: TypeAlias = Callable[[Q, int], PromptTask]


def sampled(
    question: Q, make_task: MakeTask[Q], labels_of: Callable[[Q], LabelSet], *, min_mass: float
) -> Generator[Sequence[PromptTask], Sequence[Reply], tuple[Reading | Unread | Declined, int]]:
    """Ask in rounds until the leading label is beyond chance, and return the shares and the requests.

    Sample `i` shows the options of a `Choice` rotated by `i`, so that no place in the list is favoured.
    """
    samples: list[Sample] = []
    requests = 0
    size = len(labels_of(question))
    while len(samples) < MOST and not is_settled(samples, size):
        numbers = range(len(samples), len(samples) + ROUND)
        turned = [rotated(question, number) for number in numbers]
        tasks = [make_task(variant, number + 1) for variant, number in zip(turned, numbers, strict=True)]
        replies = yield tasks
        requests += sum(reply.usage.requests for reply in replies)
        for number, variant, reply in zip(numbers, turned, replies, strict=True):
            if isinstance(reply.evidence, Completion):
                found = read_sample(reply.evidence, labels_of(variant))
                samples.append(replace(found, label=original_label(question, found.label, number)))
            else:
                samples.append(Sample())
        if all(sample.label is None for sample in samples):
            break
    return share_of(samples, size, min_mass), requests


def schema_of(labels: LabelSet) -> dict[str, Any]:
    """Return the JSON schema of one answer."""
    return {
        "type": "object",
        "properties": {
            "answer": {"type": "string", "enum": [label.shown for label in labels.labels]},
            "confidence": {"type": "integer"},
        },
        "required": ["answer", "confidence"],
        "additionalProperties": False,
    }


def numbered_schema_of(labels: LabelSet, count: int) -> dict[str, Any]:
    """Return the JSON schema of the answers to questions numbered from 1."""
    answer = {"type": "string", "enum": [label.shown for label in labels.labels]}
    numbers = [str(number) for number in range(1, count + 1)]
    return {
        "type": "object",
        "properties": dict.fromkeys(numbers, answer),
        "required": numbers,
        "additionalProperties": False,
    }


def rotated(question: Q, number: int) -> Q:
    """Return the question with its options moved up by `number` places; other types stay as they are."""
    if not isinstance(question, Choice):
        return question
    items = list(question.options.items())
    shift = number % len(items)
    return cast("Q", question.with_options([*items[shift:], *items[:shift]]))


def original_label(question: Question[Any], label: int | None, number: int) -> int | None:
    """Return which answer of the question a label of its rotation stands for."""
    if label is None or not isinstance(question, Choice) or label >= len(question.options):
        return label
    return (label + number) % len(question.options)
