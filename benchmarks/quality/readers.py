"""Two ways to get probabilities from the same model: the naive one, and yesno with default settings."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass

from benchmarks.quality.items import Item
from yesno import Choice, ChoiceAnswer, DecisionModel, Scale, ScaleAnswer, YesNo, YesNoAnswer
from yesno.evidence import Completion
from yesno.providers.base import PromptTask, Turn

__all__ = ["Result", "naive", "with_yesno"]

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Result:
    """Probabilities of the possible answers in order; None when there is no answer."""

    shares: list[float] | None
    mass: float | None
    seconds: float
    requests: int

    def row(self) -> dict[str, object]:
        """Return the fields as JSON values."""
        return asdict(self)


def with_yesno(model: DecisionModel, item: Item) -> Result:
    """Ask with yesno's default settings."""
    start = time.perf_counter()
    response = model.decide(item.input, {"q": item.question})
    seconds = time.perf_counter() - start
    outcome = response.outcome("q")
    shares: list[float] | None
    match outcome:
        case YesNoAnswer(probability=p):
            shares = [p, 1 - p]
        case ChoiceAnswer(probabilities=options):
            shares = list(options.values())
        case ScaleAnswer(probabilities=levels):
            shares = list(levels)
        case _:
            shares = None
    requests = response.usage.requests if response.usage else 0
    return Result(shares, getattr(outcome, "label_mass", None), seconds, requests)


def naive(model: DecisionModel, item: Item) -> Result:
    """Ask zero-shot without a system text and read only the first token.

    Only tokens that are the label once stripped and lower-cased count, renormalised; what is not listed
    has probability 0.
    """
    prompt, labels = _naive_prompt(item)
    task = PromptTask((Turn("user", prompt),), model.model_name, 1)
    start = time.perf_counter()
    reply = model.provider.parse(task, model.provider.send(model.provider.build(task)))
    seconds = time.perf_counter() - start
    evidence = reply.evidence
    if not isinstance(evidence, Completion) or not evidence.positions:
        return Result(None, None, seconds, 1)
    mass = [0.0] * len(labels)
    for candidate in evidence.positions[0].top:
        word = candidate.token.strip().lower()
        if word in labels and candidate.logprob is not None:
            mass[labels.index(word)] += math.exp(candidate.logprob)
    total = sum(mass)
    return Result([m / total for m in mass] if total > 0 else None, total, seconds, 1)


def _naive_prompt(item: Item) -> tuple[str, list[str]]:
    question = item.question
    match question:
        case YesNo():
            return f"{item.input}\n\n{question.text} Answer yes or no.", ["yes", "no"]
        case Choice():
            options = [name if text == name else f"{name}: {text}" for name, text in question.options.items()]
        case Scale():
            options = list(question.levels)
    lines = "\n".join(f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=False))
    prompt = f"{item.input}\n\n{question.text}\nOptions:\n{lines}\nAnswer with the letter."
    return prompt, list(LETTERS[: len(options)].lower())
