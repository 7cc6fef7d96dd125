"""Measure a model's favourite letters: questions whose options are shown in every rotation.

Over all rotations each option stands at each letter once, so what is left of the mean log share of a letter is the
letter's own. Only `dev` items are asked and no label is looked at.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence

from benchmarks.quality.items import load
from yesno import Choice, ChoiceAnswer, DecisionModel
from yesno.engine.sampling import rotated

SETS = ("snips", "clinc150", "toolrisk")
WIDEST = 26


def main() -> None:
    """Ask and print the shares as a line for `catalogue.toml`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.letters", description=__doc__)
    parser.add_argument("--model", default="local")
    parser.add_argument("--items", type=int, default=3, help="questions per set (default 3)")
    arguments = parser.parse_args()
    per_set: list[list[float]] = []
    with DecisionModel(arguments.model, prior="off") as model:
        for name, asked in _questions(arguments.items):
            means = [_centred(_mean_logs(model, given, question)) for given, question in asked]
            per_set.append([sum(column) / len(means) for column in zip(*means, strict=True)])
            print(f"{name}: " + " ".join(f"{value:+.2f}" for value in per_set[-1]), flush=True)
    letters = _over_sets(per_set)
    total = sum(map(math.exp, letters))
    print("letters = [" + ", ".join(f"{math.exp(value) / total:.4f}" for value in letters) + "]")


def _questions(count: int) -> Iterator[tuple[str, list[tuple[str, Choice]]]]:
    for name in SETS:
        items = load(name, "dev", count)
        yield name, [(item.input, item.question) for item in items if isinstance(item.question, Choice)]
    yield "clinc150, two domains", list(_widened(count))


def _widened(count: int) -> Iterator[tuple[str, Choice]]:
    """Yield CLINC150 questions with the intents of other items added, up to 26."""
    items = load("clinc150", "dev")
    everything: dict[str, str] = {}
    for item in items:
        if isinstance(item.question, Choice):
            everything |= item.question.options
    for item in items[count : 2 * count]:
        if isinstance(item.question, Choice):
            options = dict(item.question.options)
            options |= {name: text for name, text in everything.items() if name not in options}
            yield item.input, item.question.with_options(list(options.items())[:WIDEST])


def _mean_logs(model: DecisionModel, given: str, question: Choice) -> list[float]:
    names = list(question.options)
    sums = [0.0] * len(names)
    for number in range(len(names)):
        for place, share in enumerate(_shares(model.decide(given, rotated(question, number)))):
            sums[place] += math.log(share)
    return [total / len(names) for total in sums]


def _shares(answer: ChoiceAnswer) -> list[float]:
    if answer.missing:
        raise SystemExit("the model's lists leave letters out; nothing can be said about them")
    return list(answer.probabilities.values())


def _centred(logs: Sequence[float]) -> list[float]:
    mean = sum(logs) / len(logs)
    return [value - mean for value in logs]


def _over_sets(per_set: Sequence[Sequence[float]]) -> list[float]:
    """Average over the sets that reach a letter, each shifted to agree with the widest on what they share."""
    widest = max(per_set, key=len)
    shifted = []
    for logs in per_set:
        shift = sum(widest[: len(logs)]) / len(logs)
        shifted.append([value + shift for value in logs])
    return [
        sum(column) / len(column)
        for column in ([logs[i] for logs in shifted if i < len(logs)] for i in range(len(widest)))
    ]


if __name__ == "__main__":
    main()
