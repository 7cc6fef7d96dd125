"""Rows whose right calibration is known."""

import math
import random

from yesno.calibration.calibrators._rows import rows_of


def sigmoid(z):
    return 1 / (1 + math.exp(-z))


def yes_no(count, true_odds, *, spread=2.5, seed=1):
    """Return probabilities of yes and labels; `true_odds` maps what is read, in log-odds, to what holds."""
    rng = random.Random(seed)
    read = [rng.gauss(0, spread) for _ in range(count)]
    return [sigmoid(z) for z in read], [rng.random() < sigmoid(true_odds(z)) for z in read]


def options(count, true_logits, *, size=3, spread=2.0, seed=1):
    """Return distributions over options and the numbers of the right ones."""
    rng = random.Random(seed)
    probabilities, labels = [], []
    for _ in range(count):
        z = [rng.gauss(0, spread) for _ in range(size)]
        probabilities.append(softmax(z))
        labels.append(rng.choices(range(size), softmax(true_logits(z)))[0])
    return probabilities, labels


def softmax(z):
    weights = [math.exp(value) for value in z]
    return [weight / sum(weights) for weight in weights]


def as_rows(probabilities, labels):
    """Return rows of either kind as calibrators are fitted with."""
    if isinstance(labels[0], bool):
        return rows_of([(p, 1 - p) for p in probabilities], [1 - label for label in labels], directed=True)
    return rows_of(probabilities, labels, directed=False)
