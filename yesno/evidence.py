"""What a provider can tell us, before anyone interprets it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from yesno._frozen import FrozenDict
from yesno.questions import Outcome

__all__ = [
    "Candidate",
    "Completion",
    "Evidence",
    "Finish",
    "Kept",
    "NativeAnswers",
    "NoEvidence",
    "Position",
    "Reply",
    "TokenIds",
    "Usage",
]

Finish: TypeAlias = Literal["stop", "length", "content_filter", "refusal", "tool_calls", "other"]


class Candidate(NamedTuple):
    """One token the model could have written at a position; a tuple, since a reply holds twenty and more."""

    token: str
    logprob: float | None
    """Natural logarithm of its probability; None when the server sent null."""
    data: bytes | None = None
    """The token's bytes, when the server sent them."""
    id: int | None = None
    """Number of the token in the model's vocabulary, when the server sent it."""


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
    """Tokens and requests spent; adding two usages adds their fields, and an earlier total can be subtracted."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Part of `input_tokens` that a prompt cache served."""
    requests: int = 0
    """Requests that were sent: those that failed or were given up are among them, and those of `retries` and `hedges`.
    One that served several equal questions at once is counted where it was sent."""
    cache_hits: int = 0
    """Replies that came from a cache: no request and no tokens."""
    cost_usd: float | None = None
    """Price of the tokens in US dollars; None when any part of it is unknown, 0 when nothing was sent. A request that
    was answered with an error costs nothing; what one costs that was given up or broke off is unknown."""
    reasoning_tokens: int = 0
    """Part of `output_tokens` that was spent on thinking, where the host says so."""
    fallbacks: Mapping[str, int] = FrozenDict()
    """Reason, such as `logprobs_unsupported` -> questions that were answered by a second-best way because of it, or
    not even by that. One whose model is known to lack the best way counts too."""
    retries: int = 0
    """Requests that were sent again because one before them had failed."""
    hedges: int = 0
    """Requests that were sent beside an equal one that took long."""
    cache_written_tokens: int = 0
    """Part of `input_tokens` that the host wrote to its prompt cache, where it says so; some charge more for it."""

    def __post_init__(self) -> None:
        if not isinstance(self.fallbacks, FrozenDict):
            object.__setattr__(self, "fallbacks", FrozenDict(self.fallbacks))
        if self.cost_usd is None and not (self.requests or self.input_tokens or self.output_tokens):
            object.__setattr__(self, "cost_usd", 0.0)

    def __add__(self, other: Usage) -> Usage:
        return _combined(self, other, 1)

    def __sub__(self, earlier: Usage) -> Usage:
        """Return what was spent since an earlier total of the same kind."""
        return _combined(self, earlier, -1)


def _combined(one: Usage, other: Usage, sign: int) -> Usage:
    known = one.cost_usd is not None and other.cost_usd is not None
    return Usage(
        one.input_tokens + sign * other.input_tokens,
        one.output_tokens + sign * other.output_tokens,
        one.cached_tokens + sign * other.cached_tokens,
        one.requests + sign * other.requests,
        one.cache_hits + sign * other.cache_hits,
        (one.cost_usd or 0.0) + sign * (other.cost_usd or 0.0) if known else None,
        one.reasoning_tokens + sign * other.reasoning_tokens,
        _counts(one.fallbacks, other.fallbacks, sign) if other.fallbacks else one.fallbacks,
        one.retries + sign * other.retries,
        one.hedges + sign * other.hedges,
        one.cache_written_tokens + sign * other.cache_written_tokens,
    )


def _counts(one: Mapping[str, int], other: Mapping[str, int], sign: int) -> Mapping[str, int]:
    sums = {reason: one.get(reason, 0) + sign * other.get(reason, 0) for reason in {**one, **other}}
    return FrozenDict({reason: count for reason, count in sums.items() if count})


class Kept(NamedTuple):
    """What a cache holds of a reply."""

    key: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """What one request brought back."""

    evidence: Evidence
    model: str | None = None
    """The model name that the server reports."""
    usage: Usage = field(default_factory=Usage)
    kept: Kept | None = field(default=None, repr=False, compare=False)
    """Where it came from, when that was a cache."""
