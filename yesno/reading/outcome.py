"""What the reading room hands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Declined", "Reading", "Sampled", "Unread"]


@dataclass(frozen=True, slots=True)
class Sampled:
    """How shares came out of samples."""

    count: int
    """Samples that named a label."""
    errors: tuple[float, ...]
    """Standard deviation of the posterior of each label's share."""
    confidence: float | None = None
    """Mean of what the samples state about their own certainty (0..1); None when none does."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Probabilities of all labels, in the order of the labels."""

    probabilities: tuple[float, ...]
    """Share (0..1) of each label; sums to 1 within 1e-9."""
    low: tuple[float, ...]
    """Least share that the evidence allows for each."""
    high: tuple[float, ...]
    """Greatest share that the evidence allows for each."""
    mass: tuple[float, ...]
    """Probability seen on each label, not renormalised."""
    spare: tuple[float, ...]
    """Unseen probability that could belong to each label."""
    unseen: float
    """Unseen probability in all; no two labels can both have it."""
    label_mass: float
    """Probability (0..1) seen on labels at all, times that of the path to the answer."""
    missing: tuple[int, ...] = ()
    """Labels that the reply did not list with a usable value."""
    flags: tuple[str, ...] = ()
    uncorrected: tuple[float, ...] | None = None
    """The shares as read, before a prior was taken out or a calibration applied; None when neither was."""
    calibrated: bool = False
    sampled: Sampled | None = None
    """Set when the shares are those of samples."""


@dataclass(frozen=True, slots=True)
class Unread:
    """The reply holds no distribution over the labels."""

    reason: str
    reading: Reading | None = None
    """What little there is, when the label mass is low."""


@dataclass(frozen=True, slots=True)
class Declined:
    """The provider declined to answer."""

    reason: Literal["refusal", "content_filter"]
    category: str | None = None
    """The provider's own word for why."""
