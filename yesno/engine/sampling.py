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
from yesno.reading.samples import Sample, common_problem, is_settled, read_sample, share_of

__all__ = ["CAP", "MOST", "ROUND", "numbered_schema_of", "original_label", "rotated", "sampled", "schema_of"]

ROUND = 5
"""Samples asked for at once."""
MOST = 15
"""Most samples of one question."""
CAP = 1024
"""Output tokens of a sample: room for a reasoning model to finish."""
LONG_CAP = 4096
"""The same for one that did not."""

Q = TypeVar("Q", bound=Question[Any])
MakeTask: TypeAlias = Callable[[Q, int], PromptTask]


def sampled(
    question: Q, make_task: MakeTask[Q], labels_of: Callable[[Q], LabelSet], *, min_mass: float
) -> Generator[Sequence[PromptTask], Sequence[Reply], tuple[Reading | Unread | Declined, int]]:
    """Ask in rounds until the leading label is beyond chance, and return the shares and the requests.

    Sample `i` shows the options of a `Choice` rotated by `i`, so that no place in the list is favoured. When a whole
    first round is empty or cut off, it says nothing about the model's answer: it is asked once more, with more room
    where it was cut off, and not counted.
    """
    samples: list[Sample] = []
    requests = asked = 0
    cap, again = 0, True
    size = len(labels_of(question))
    while len(samples) < MOST and not is_settled(samples, size):
        numbers = range(asked, asked + ROUND)
        asked += ROUND
        turned = [rotated(question, number) for number in numbers]
        tasks = [make_task(variant, number + 1) for variant, number in zip(turned, numbers, strict=True)]
        replies = yield [replace(task, max_tokens=max(cap, task.max_tokens)) for task in tasks]
        requests += sum(reply.usage.requests for reply in replies)
        found = [
            _sample(question, variant, number, reply, labels_of)
            for number, variant, reply in zip(numbers, turned, replies, strict=True)
        ]
        if all(sample.label is None for sample in found):
            problem = common_problem(found)
            if samples or not again or problem not in ("truncated", "empty"):
                samples += found
                break
            cap, again = (LONG_CAP if problem == "truncated" else cap), False
            continue
        samples += found
    return share_of(samples, size, min_mass), requests


def _sample(question: Q, variant: Q, number: int, reply: Reply, labels_of: Callable[[Q], LabelSet]) -> Sample:
    if not isinstance(reply.evidence, Completion):
        return Sample()
    found = read_sample(reply.evidence, labels_of(variant))
    return replace(found, label=original_label(question, found.label, number))


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
