"""What the findings of a probe mean: one row each, with advice where something is not as it should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from yesno._frozen import FrozenDict
from yesno.engine.asking import LEAST_HEAT, LONG_CAP
from yesno.engine.probe import WIDE, Findings, Seen
from yesno.errors import (
    DeadlineExceeded,
    ProviderError,
    ProviderRejected,
    ProviderUnavailable,
    UnreadableReply,
)
from yesno.evidence import Usage
from yesno.providers.profiles import Profile
from yesno.reading.intervals import RESOLUTION
from yesno.reading.temperature import NEAR, temperature_slope

__all__ = ["Check", "Diagnosis", "Status", "diagnose", "learned"]

Status: TypeAlias = Literal["ok", "warn", "fail", "unknown"]

STEADY = 0.02
"""Repeats of one request further apart than this are worth a warning."""
RAW, SCALED = 1.0, 2.0
"""What log-probabilities relative to the best are multiplied by when the temperature goes from 1 to 0.5."""
_BROKEN: Mapping[str, str] = {
    "degenerate": "every token is shown as certain; turn off speculative or guided decoding on the server, "
    "or ask with strategy='sampled'",
    "sentinel_logprob": "the answer token has a placeholder for its value; update the server",
    "invalid_logprob": "log-probabilities cannot be positive or sum to more than 1; update the server",
    "probabilities_in_logprob_field": "these are probabilities, not their logarithms; update the server",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One row."""

    name: str
    status: Status
    value: str
    """What was measured, in words."""
    advice: str | None = None
    """What to do about it; None where nothing has to be done."""
    numbers: Mapping[str, Any] = FrozenDict()
    """What was measured, for machines: plain JSON values."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything that was checked."""

    provider: str
    model: str
    strategy: str
    """The best way to a probability that the provider offers."""
    checks: tuple[Check, ...]
    requests: int
    """Requests that were sent, tries that failed included."""
    usage: Usage
    """What the replies count."""

    @property
    def verdict(self) -> Literal["ok", "no_answer", "failed"]:
        """`failed` when the provider did, `no_answer` when no answer can be read or trusted, else `ok`."""
        bad = {check.name for check in self.checks if check.status == "fail"}
        return "failed" if bad & {"reachable", "reply format"} else "no_answer" if bad else "ok"


def diagnose(found: Findings) -> tuple[Check, ...]:
    """Judge what a probe found, row by row."""
    rows = (
        _reachable,
        _format,
        _answers,
        _logprobs,
        _alternatives,
        _mass,
        _temperature,
        _degenerate,
        _reasoning,
        _cache,
        _repeats,
    )
    return tuple(row(found) for row in rows)


def learned(profile: Profile, found: Findings) -> Profile:
    """Return the profile with what was found to be otherwise."""
    if found.strategy != "logprobs":
        return profile
    if found.blind:
        rest = tuple(step for step in profile.strategies if step != "logprobs")
        return replace(profile, strategies=rest or profile.strategies)
    if found.listed and found.wanted and not found.listed == found.wanted == profile.top_logprobs:
        profile = replace(profile, top_logprobs=min(found.listed, found.wanted))
    if _semantics(found)[0] == "scaled" and found.temperature != 1.0:
        profile = replace(profile, temperature=1.0)
    if found.needs_room:
        profile = replace(profile, min_tokens=max(profile.min_tokens, LONG_CAP))
    return profile


def _semantics(found: Findings) -> tuple[Literal["raw", "scaled", "unclear"], float | None]:
    slope = None if found.hot is None or found.cold is None else temperature_slope(found.hot, found.cold)
    if slope is not None and abs(slope - RAW) <= NEAR * RAW:
        return "raw", slope
    if slope is not None and abs(slope - SCALED) <= NEAR * SCALED:
        return "scaled", slope
    return "unclear", slope


def _reachable(found: Findings) -> Check:
    name, error = "reachable", found.failure
    numbers = FrozenDict({"replies": found.replies, "status": getattr(error, "status", None)})
    if error is None or (isinstance(error, UnreadableReply) and not found.replies):
        return Check(name, "ok", "it answers", None, numbers)
    after = f"failed after {found.replies} replies: " if found.replies else ""
    return Check(name, "fail", f"{after}{error}", _way_out(error), numbers)


def _way_out(error: ProviderError | DeadlineExceeded) -> str:
    status = getattr(error, "status", None)
    if status in (401, 403):
        return "set the right key; the README names the variable of each provider"
    if status == 429:
        return "wait, or look at your limits and credit with the vendor"
    if isinstance(error, DeadlineExceeded):
        return "raise --timeout, or see why the server is slow"
    if isinstance(error, ProviderUnavailable):
        return "start the server or check --base-url, then run this again"
    if isinstance(error, ProviderRejected):
        return "check the model's name and --base-url, which ends in /v1 on most hosts"
    return "check --base-url: it has to be the address of the API"


def _format(found: Findings) -> Check:
    name = "reply format"
    if isinstance(found.failure, UnreadableReply):
        advice = "check --base-url, which ends in /v1 on most hosts: a web page or another API answers there"
        return Check(name, "fail", str(found.failure), advice)
    if not found.replies:
        return _not_asked(name, "the provider failed" if found.failure else "no request was taken")
    return Check(name, "ok", f"{found.replies} replies were read")


def _answers(found: Findings) -> Check:
    name = "answers"
    if found.strategy == "sampled" or not found.asked:
        return _sample_answers(name, found) if found.sample else _not_asked(name, "the provider failed")
    shown = [("even", found.even[0])] if found.even else []
    shown += [] if found.obvious is None else [("obvious", found.obvious)]
    value = ", ".join(f"{_answer_text(seen)} {label}" for label, seen in shown)
    numbers = FrozenDict({label: seen.probability for label, seen in shown})
    answered = sum(seen.word == "answered" for seen in found.asked)
    if answered == len(found.asked):
        return Check(name, "ok", f"P(yes) {value}", None, numbers)
    if answered:
        advice = "questions may be asked twice, or stay undecided; see the rows below"
        return Check(
            name, "warn", f"P(yes) {value}; {answered} of {len(found.asked)} replies", advice, numbers
        )
    if found.sample is not None:
        return _sample_answers(name, found)
    advice = "try --template few_shot, or a model that follows instructions better"
    return Check(name, "fail", f"none: {value}", advice, numbers)


def _answer_text(seen: Seen) -> str:
    return seen.word if seen.probability is None else f"{seen.probability:.3f}"


def _sample_answers(name: str, found: Findings) -> Check:
    if found.sample is None or found.sample.word != "answered":
        word = "none" if found.sample is None else found.sample.word
        return Check(name, "fail", f"no sampled JSON answer: {word}", "take a model that can reply in JSON")
    if found.asked and not found.blind:
        value = f"by a sampled JSON answer only: {found.even[0].word}"
        return Check(name, "warn", value, "each question takes 7 to 17 requests; see the rows below")
    return Check(name, "ok", "a sampled JSON answer was read")


def _logprobs(found: Findings) -> Check:
    name = "log-probabilities"
    if found.strategy != "logprobs" or not found.asked:
        return _without(name, found)
    if not found.blind:
        return Check(name, "ok", "present")
    word = found.even[0].word if found.even else "no_logprobs"
    if "sampled" in found.strategies:
        advice = "answers are sampled, 5 to 15 requests each; another model or host may show them"
        return Check(name, "warn", f"none ({word})", advice)
    return Check(name, "fail", f"none ({word})", "take a model or a host that shows them")


def _alternatives(found: Findings) -> Check:
    name = "alternatives"
    if not _has_logprobs(found) or found.obvious is None:
        return _without(name, found)
    if not found.wanted:
        return _not_asked(name, "no number is sent")
    numbers = FrozenDict({"listed": found.listed, "asked_for": found.wanted})
    value = f"{found.listed} of {found.wanted} asked for"
    if found.wide_refused:
        value += f"; {WIDE} were refused"
    if found.listed >= WIDE:
        return Check(name, "ok", value, None, numbers)
    if found.listed < 2:
        return Check(name, "warn", value, "bounds will be wide; another host may list more", numbers)
    most = max(LEAST_HEAT, found.listed)
    advice = f"a Choice of more than {most} options takes several requests"
    return Check(name, "warn", value, advice, numbers)


def _mass(found: Findings) -> Check:
    name = "label mass"
    if not _has_logprobs(found):
        return _without(name, found)
    shown = {"even": found.even[0] if found.even else None, "obvious": found.obvious}
    masses = {label: seen.mass for label, seen in shown.items() if seen is not None and seen.mass is not None}
    if not masses:
        return Check(name, "unknown", "nothing was read", "see the row answers")
    value = ", ".join(f"{mass:.3f} {label}" for label, mass in masses.items())
    if min(masses.values()) >= found.min_label_mass:
        return Check(name, "ok", value, None, FrozenDict(masses))
    advice = "the model writes other words than Yes and No; try --template few_shot or another model"
    return Check(name, "warn", value, advice, FrozenDict(masses))


def _temperature(found: Findings) -> Check:
    name = "temperature"
    if not _has_logprobs(found):
        return _without(name, found)
    if found.temperature is None:
        return _not_asked(name, "none is sent")
    if found.temperature_refused:
        return Check(name, "unknown", "the host refuses another one", "leave the temperature to the host")
    if found.cold is None and found.failure is not None:
        return _not_asked(name, "the provider failed")
    kind, slope = _semantics(found)
    numbers = FrozenDict({"kind": kind, "slope": slope, "sent": found.temperature})
    if kind == "raw":
        return Check(name, "ok", "raw: values at 1 and 0.5 are equal", None, numbers)
    if kind == "scaled" and found.temperature == 1.0:
        return Check(name, "ok", "scaled: logits double at 0.5; 1 is sent", None, numbers)
    if kind == "scaled":
        advice = "at 1 the values are the model's own; this model object sends 1 from now on"
        return Check(
            name, "warn", f"scaled: logits double at 0.5; {found.temperature:g} was sent", advice, numbers
        )
    value = (
        "unclear: too few values to compare" if slope is None else f"unclear: logits times {slope:.2f} at 0.5"
    )
    advice = "nothing to do: 1 is sent, at which values are the model's own"
    if found.temperature != 1.0:
        advice = (
            f"run this again; until it is clear, values at {found.temperature:g} may not be the model's own"
        )
    return Check(name, "unknown", value, advice, numbers)


def _degenerate(found: Findings) -> Check:
    name = "degenerate"
    if not found.even or found.strategy == "sampled" or found.blind:
        return _without(name, found)
    first = found.even[0]
    p = first.probability
    if first.word in _BROKEN:
        return Check(name, "fail", f"the values cannot be used: {first.word}", _BROKEN[first.word])
    if p is None:
        return Check(name, "unknown", f"the even question has no answer: {first.word}", "see the row answers")
    numbers = FrozenDict({"probability": p})
    if min(p, 1 - p) > 2 * RESOLUTION:
        return Check(name, "ok", f"no: P(yes) is {p:.3f} on an even question", None, numbers)
    value = f"yes: P(yes) is {p:.6g} on an even question"
    advice = "a coin toss is not certain; turn off speculative decoding, or ask with strategy='sampled'"
    status: Status = "fail" if first.one_sided or p in (0.0, 1.0) else "warn"
    if found.strategy == "native":
        status, advice = "warn", "the endpoint rounds, or is sure of what nobody knows; compare another model"
    return Check(name, status, value, advice, numbers)


def _reasoning(found: Findings) -> Check:
    name = "reasoning"
    if not found.replies:
        return _without(name, found)
    tokens = found.usage.reasoning_tokens
    numbers = FrozenDict({"before_answer": found.thinks, "reasoning_tokens": tokens})
    if not found.thinks:
        return Check(name, "ok", "none before the answer", None, numbers)
    count = f", {tokens:,} tokens of it" if tokens else ""
    advice = (
        "turn thinking off on the server or take a model without it: it costs time and tokens, and the answer "
        "follows what was thought in one run"
    )
    return Check(name, "warn", f"written before the answer{count}", advice, numbers)


def _cache(found: Findings) -> Check:
    name = "prompt cache"
    if found.long_refused:
        return Check(name, "unknown", "the long prompt was refused", "the context may be too small for it")
    if found.long_tokens is None:
        return _not_asked(name, "the provider failed" if found.failure else "no request was taken")
    numbers = FrozenDict({"input_tokens": found.long_tokens, "cached_tokens": found.cached_tokens})
    if not found.long_tokens:
        return Check(
            name, "unknown", "the host counts no input tokens", "look at the vendor's own counts", numbers
        )
    value = f"{found.cached_tokens:,} of {found.long_tokens:,} tokens"
    if found.cached_tokens:
        return Check(name, "ok", value, None, numbers)
    advice = "none is reported: each question about one long input is paid in full; see the host's settings"
    return Check(name, "warn", value, advice, numbers)


def _repeats(found: Findings) -> Check:
    name = "repeats"
    if found.strategy == "sampled" or found.blind:
        return _without(name, found)
    shares = [seen.probability for seen in found.even if seen.probability is not None]
    if len(shares) < 2:
        if found.failure is not None:
            return _not_asked(name, "the provider failed")
        return Check(
            name, "unknown", f"{len(shares)} of {len(found.even)} gave an answer", "see the row answers"
        )
    spread = max(shares) - min(shares)
    numbers = FrozenDict({"deviation": spread, "answers": len(shares), "requests": len(found.even)})
    value = f"P differs by {spread:.4f} in {len(shares)} equal requests"
    if spread <= STEADY and len(shares) == len(found.even):
        return Check(name, "ok", value, None, numbers)
    advice = "an answer this near to a threshold may fall on either side of it"
    if len(shares) < len(found.even):
        value, advice = (
            f"{value}; {len(found.even) - len(shares)} gave none",
            "a question may be undecided in one run and not in the next",
        )
    return Check(name, "warn", value, advice, numbers)


def _has_logprobs(found: Findings) -> bool:
    return found.strategy == "logprobs" and bool(found.asked) and not found.blind


def _without(name: str, found: Findings) -> Check:
    """Return the row of what does not apply, or was not reached."""
    if found.strategy == "native":
        why = "the endpoint answers with probabilities itself"
    elif found.strategy == "sampled":
        why = "this provider's answers are sampled"
    else:
        why = "there are no log-probabilities"
    no_reply = not found.asked and found.sample is None
    return _not_asked(name, "the provider failed" if no_reply else why)


def _not_asked(name: str, why: str) -> Check:
    return Check(name, "unknown", f"not asked: {why}")
