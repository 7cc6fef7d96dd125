"""From a handful of sampled replies to shares of the labels, with an honest width.

Each sample is one vote. A share is the mean of the posterior under a prior worth one vote in all, spread evenly
over the labels (for two labels Jeffreys' Beta(1/2, 1/2); for more Perks' prior), so that three equal votes do not
make a certainty. The bounds are Wilson's 95 % score interval: unlike those of a log-probability they are a
statement about chance, not about what a reply left out.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from yesno.evidence import Completion
from yesno.reading.json_reply import Stated, stated_in
from yesno.reading.labels import LabelSet
from yesno.reading.outcome import Declined, Reading, Sampled, Unread
from yesno.reading.refusals import is_refusal

__all__ = ["Sample", "common_problem", "declined_sample", "is_settled", "read_sample", "share_of"]

_CATEGORY = re.compile(r"(?!refusal$)\w[\w-]{0,39}")
"""One word, such as Anthropic's `bio`; a sentence is the refusal itself."""
_PROBLEMS = {"tool_calls": "tool_call", "length": "truncated"}
Z = 1.959964
"""Standard normal quantile of a two-sided 95 % interval."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What one reply says; nothing when `label` is None."""

    label: int | None = None
    declined: bool = False
    filtered: bool = False
    category: str | None = None
    """The provider's own word for why it declined."""
    confidence: float | None = None
    problem: str | None = None
    """Why it says nothing: `truncated`, `empty` or `tool_call`; None where words came that name no label."""


def read_sample(completion: Completion, labels: LabelSet) -> Sample:
    """Read one sampled reply."""
    declined = declined_sample(completion)
    if declined is not None:
        return declined
    text = completion.text or ""
    stated: Stated | None = stated_in(text, labels)
    if stated is not None:
        return Sample(stated.label, confidence=stated.confidence)
    if is_refusal(text):
        return Sample(declined=True)
    return Sample(problem=_PROBLEMS.get(completion.finish, None if text.strip() else "empty"))


def declined_sample(completion: Completion) -> Sample | None:
    """Return the sample for a reply that the provider itself marks as declined."""
    if completion.finish == "content_filter":
        return Sample(filtered=True)
    if completion.finish == "refusal" or (completion.refusal and not (completion.text or "").strip()):
        word = completion.refusal or ""
        return Sample(declined=True, category=word if _CATEGORY.fullmatch(word) else None)
    return None


def is_settled(samples: Sequence[Sample], size: int) -> bool:
    """Return whether the leading label's interval lies wholly above that of each other."""
    counts = _counts(samples, size)
    total = sum(counts)
    if not total:
        return False
    first, second, *_ = sorted(counts, reverse=True)
    return _wilson(first, total)[0] > _wilson(second, total)[1]


def share_of(samples: Sequence[Sample], size: int, min_mass: float) -> Reading | Unread | Declined:
    """Return the labels' shares among the samples.

    Args:
        samples: All samples of one question.
        size: How many labels there are.
        min_mass: Least share (0..1) of samples that name a label.

    Returns:
        Shares; `Declined` when fewer say something than decline, or than that; else `Unread`.
    """
    counts = _counts(samples, size)
    total = sum(counts)
    mass = total / len(samples)
    filtered, declined = sum(s.filtered for s in samples), sum(s.declined for s in samples)
    if (not total or mass < min_mass) and filtered + declined > len(samples) - total - filtered - declined:
        category = next((s.category for s in samples if s.category), None)
        return Declined("content_filter" if filtered > declined else "refusal", category)
    if not total:
        return Unread(common_problem(samples) or "no_json_answer")
    weight = 1.0 / size
    shares = [(count + weight) / (total + 1.0) for count in counts]
    bounds = [_wilson(count, total) for count in counts]
    stated = [s.confidence for s in samples if s.confidence is not None]
    reading = Reading(
        probabilities=tuple(shares),
        low=tuple(min(low, share) for (low, _), share in zip(bounds, shares, strict=True)),
        high=tuple(max(high, share) for (_, high), share in zip(bounds, shares, strict=True)),
        mass=tuple(shares),
        spare=tuple(0.0 for _ in shares),
        unseen=0.0,
        label_mass=mass,
        sampled=Sampled(
            total,
            tuple(math.sqrt(p * (1.0 - p) / (total + 2.0)) for p in shares),
            math.fsum(stated) / len(stated) if stated else None,
        ),
    )
    return reading if mass >= min_mass else Unread("low_label_mass", reading)


def common_problem(samples: Sequence[Sample]) -> str | None:
    """Return what most of the samples that say nothing have in common; None when they wrote other words."""
    problems = Counter(sample.problem for sample in samples if sample.label is None and not sample.declined)
    return problems.most_common(1)[0][0] if problems else None


def _counts(samples: Sequence[Sample], size: int) -> list[int]:
    counts = [0] * size
    for sample in samples:
        if sample.label is not None:
            counts[sample.label] += 1
    return counts


def _wilson(count: int, total: int) -> tuple[float, float]:
    p, z2 = count / total, Z * Z
    centre = (p + z2 / (2 * total)) / (1 + z2 / total)
    half = Z * math.sqrt(p * (1 - p) / total + z2 / (4 * total * total)) / (1 + z2 / total)
    return max(0.0, centre - half), min(1.0, centre + half)
