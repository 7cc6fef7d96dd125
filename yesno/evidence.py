"""What a provider can tell us, before anyone interprets it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from yesno._frozen import FrozenDict
from yesno.questions import Outcome

__all__ = [
    "Candidate",
    "Completion",
    "Evidence",
    "Finish",
    "NativeAnswers",
    "NoEvidence",
    "Position",
    "Reply",
    "TokenIds",
    "Usage",
]

Finish: TypeAlias = Literal["stop", "length", "content_filter", "refusal", "tool_calls", "other"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One token the model could have written at a position."""

    token: str
    logprob: float | None
    """Natural logarithm of its probability; None when the server sent null."""
    data: bytes | None = None
    """The token's bytes, when the server sent them."""
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """One generated token with the alternatives the server listed for it."""

    chosen: Candidate
    top: tuple[Candidate, ...] = ()
    exact: bool = False
    """Tokens were listed because they were asked for: one that is not may be more probable than any of them."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A text reply as the server sent it, in one shape for all servers."""

    text: str | None
    """The final content, without a reasoning span; None when there is none."""
    positions: tuple[Position, ...] | None = None
    """The generated tokens in order, a reasoning span included; None without log-probabilities."""
    finish: Finish = "stop"
    refusal: str | None = None
    """The provider's own refusal text or category."""
    lossy: bool = False
    """Alternatives came as a table keyed by text, so tokens with equal text collapsed."""
    exact: bool = False
    """The tokens that were asked for are listed at every place, however improbable they are."""


@dataclass(frozen=True, slots=True)
class NativeAnswers:
    """Answers that came ready from a decision endpoint, by question name."""

    answers: Mapping[str, Outcome]


@dataclass(frozen=True, slots=True)
class NoEvidence:
    """The provider cannot give what was asked for, and said so."""

    reason: str


@dataclass(frozen=True, slots=True)
class TokenIds:
    """Texts that are one token of the model's vocabulary, with their numbers."""

    ids: Mapping[str, int]


Evidence: TypeAlias = Completion | NativeAnswers | NoEvidence | TokenIds


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and requests spent; adding two usages adds their fields."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Part of `input_tokens` that a prompt cache served."""
    requests: int = 0
    """Requests that were answered, one with a 400 about a parameter among them; failed tries are not counted.
    One that served several equal questions at once is counted where it was sent."""
    cache_hits: int = 0
    """Replies that came from a cache: no request and no tokens."""
    cost_usd: float | None = None
    """Price of the tokens in US dollars; None when any part of it is unknown, 0 when nothing was sent."""
    reasoning_tokens: int = 0
    """Part of `output_tokens` that was spent on thinking, where the host says so."""
    fallbacks: Mapping[str, int] = FrozenDict()
    """Reason, such as `logprobs_unsupported` -> questions that were answered by a second-best way because of it, or
    not even by that. One whose model is known to lack the best way counts too."""

    def __post_init__(self) -> None:
        if not isinstance(self.fallbacks, FrozenDict):
            object.__setattr__(self, "fallbacks", FrozenDict(self.fallbacks))
        if self.cost_usd is None and not (self.requests or self.input_tokens or self.output_tokens):
            object.__setattr__(self, "cost_usd", 0.0)

    def __add__(self, other: Usage) -> Usage:
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.requests + other.requests,
            self.cache_hits + other.cache_hits,
            (self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
            self.reasoning_tokens + other.reasoning_tokens,
            _sum(self.fallbacks, other.fallbacks),
        )


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> Mapping[str, int]:
    if not other or not one:
        return one or other
    return FrozenDict({reason: one.get(reason, 0) + other.get(reason, 0) for reason in {**one, **other}})


@dataclass(frozen=True, slots=True)
class Reply:
    """What one request brought back."""

    evidence: Evidence
    model: str | None = None
    """The model name that the server reports."""
    usage: Usage = field(default_factory=Usage)
