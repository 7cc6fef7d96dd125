"""Labelled rows, and a scripted model that is better with some templates than with others."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from yesno import Choice, FakeProvider, Scale, YesNo
from yesno.labelled import Asked, Item

SPAM = YesNo("Is it spam?", yes_when="it sells something")
TEAM = Choice("Which team?", {"billing": "money", "support": "using it", "sales": None})
MOOD = Scale("How angry?", ["calm", "annoyed", "angry"])


def rows(count: int = 300, question: Asked = SPAM, *, shares: bool = False) -> list[Item]:
    size = len(question.options) if isinstance(question, Choice) else 3 if isinstance(question, Scale) else 2
    soft = tuple(0.8 if i == 0 else 0.2 / (size - 1) for i in range(size))
    return [
        Item(
            f"r{i}",
            f"text {i} is kind{i % size}",
            question,
            i % size,
            f"g{i // 2 if i < 40 else i}",
            shares=tuple(soft[(j - i) % size] for j in range(size)) if shares else None,
        )
        for i in range(count)
    ]


def said(prompt: str, skill: float, labels: list[str]) -> dict[str, float]:
    """Return a reply that leans to the right label by so much, with noise that the prompt alone decides."""
    noise = random.Random(prompt)
    kind = int(prompt.rsplit("is kind", 1)[1][0])
    logits = [skill * (i == kind) + noise.gauss(0, 1) for i in range(len(labels))]
    total = sum(map(math.exp, logits))
    return {label: 0.98 * math.exp(z) / total for label, z in zip(labels, logits, strict=True)}


def scripted(skill_of: Callable[[str], float], *, yes_no: bool = True, size: int = 3) -> FakeProvider:
    """Return a provider whose skill depends on the last turn of the prompt."""

    def script(prompt: str) -> dict[str, float]:
        skill = skill_of(prompt)
        if "Answer with the number" in prompt or "Answer with one number" in prompt:
            first = 0 if "0 = " in prompt else 1
            return said(prompt, skill, [str(first + i) for i in range(size)])
        if not yes_no:
            return said(prompt, skill, list("ABCDEF"[:size]))
        if "letter" in prompt:
            return said(prompt, skill, ["A", "B"] if "A. Yes" in prompt else ["B", "A"])
        if "Proposed answer: no" in prompt:
            return said(prompt, skill, ["False", "True"])
        if "Proposed answer: yes" in prompt:
            return said(prompt, skill, ["True", "False"])
        if 'Would "no"' in prompt:
            return said(prompt, skill, ["No", "Yes"])
        return said(prompt, skill, ["Yes", "No"])

    return FakeProvider(script)
