"""Which ways to a probability are tried, in which order, and what was learned on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from yesno.errors import ConfigError
from yesno.providers.profiles import Strategy
from yesno.questions import Attempt

__all__ = ["BLIND", "NO_ENDPOINT", "NO_LOGPROBS", "Ladder", "StrategyName", "ladder_for"]

StrategyName: TypeAlias = Literal["auto", "native", "logprobs", "sampled"]
_NAMES = ("auto", "native", "logprobs", "sampled")
NO_LOGPROBS = "logprobs_unsupported"
"""Why there is no evidence where a host has no log-probabilities; a provider may give it as an error's code."""
NO_ENDPOINT = "endpoint_refused"
"""Why there is no answer of a decision endpoint that its server does not have, or that refuses the model or request."""
BLIND = {"no_logprobs", NO_LOGPROBS}
"""Reasons that hold for a model, not for one reply."""


class Ladder:
    """The steps of one model object, and the models of its host that were found to show no log-probabilities."""

    def __init__(
        self,
        strategies: Sequence[Strategy] = ("logprobs",),
        *,
        strict: bool = False,
        place: str = "the provider",
        on_fall: Callable[[str, str], None] = lambda model_name, reason: None,
    ) -> None:
        self.strategies = tuple(strategies)
        self._strict = strict
        self._place = place
        self._on_fall = on_fall
        self._blind: dict[str, str] = {}
        self._no_endpoint: set[str] = set()
        self.era = 0
        """How often something was learned of a model, or forgotten."""

    @property
    def goes_on(self) -> bool:
        """Whether something else may be tried after the best way."""
        return len(self.strategies) > 1

    def begins_native(self, model_name: str) -> bool:
        """Return whether a whole request is given to a decision endpoint first."""
        return self.strategies[0] == "native" and model_name not in self._no_endpoint

    def note_no_endpoint(self, model_name: str) -> None:
        """Note that the decision endpoint does not take a model: it is not asked again."""
        self.era += model_name not in self._no_endpoint
        self._no_endpoint.add(model_name)

    def steps(self, model_name: str) -> tuple[Strategy, ...]:
        """Return what to try for a question of a model, best first, without the way of whole requests."""
        steps = tuple(step for step in self.strategies if step != "native") or self.strategies
        if model_name in self._blind and "sampled" in steps:
            return tuple(step for step in steps if step != "logprobs")
        return steps

    def note_blind(self, model_name: str, reason: str) -> None:
        """Note that a model shows no log-probabilities, and why."""
        self.era += model_name not in self._blind
        self._blind.setdefault(model_name, reason)

    def forget(self, model_name: str) -> None:
        """Forget that a model shows no log-probabilities, so that it is asked for them again."""
        self.era += 1
        self._blind.pop(model_name, None)

    def refuses_logprobs(self, model_name: str) -> bool:
        """Return whether the host has said that it has no log-probabilities for a model: it is not asked again."""
        return self._blind.get(model_name) == NO_LOGPROBS

    def fell(self, step: Strategy, model_name: str, reason: str) -> None:
        """Note that a step gave no answer, and tell of the fall when there is a next step.

        Raises:
            ConfigError: The model shows no log-probabilities and nothing else may be tried.
        """
        if step != "logprobs":
            return
        if reason in BLIND:
            if self._strict:
                raise ConfigError(
                    f"{self._place}:{model_name} gives no log-probabilities ({reason}), and with strict=True nothing "
                    "else is tried; it can be sampled with strategy='sampled', or name a model that shows them"
                )
            self.note_blind(model_name, reason)
        if "sampled" in self.strategies:
            self._on_fall(model_name, reason)

    def falls(self, model_name: str, attempts: Sequence[Attempt]) -> Iterator[str]:
        """Yield why the attempts at a question left one step for the next, or began below the best one."""
        if attempts and attempts[0].method != self.strategies[0]:
            if model_name in self._no_endpoint:
                yield NO_ENDPOINT
            if attempts[0].method == "sampled" and model_name in self._blind:
                yield self._blind[model_name]
        for attempt, later in pairwise(attempts):
            if attempt.method != later.method:
                yield attempt.result


def ladder_for(
    strategy: Any,  # noqa: ANN401 - the check is the point
    offered: Sequence[Strategy],
    *,
    strict: bool,
    place: str,
    on_fall: Callable[[str, str], None],
) -> Ladder:
    """Return the ladder that a caller asked for.

    Raises:
        ConfigError: There is no such strategy, or the provider does not offer it.
    """
    if strategy not in _NAMES:
        raise ConfigError(f"`strategy` must be one of {', '.join(map(repr, _NAMES))}, not {strategy!r}")
    if strategy != "auto":
        if strategy not in offered:
            raise ConfigError(
                f"provider {place!r} does not offer strategy {strategy!r}; it offers {', '.join(map(repr, offered))}"
            )
        chosen: Sequence[Strategy] = (strategy,)
    else:
        chosen = offered[:1] if strict else offered
    return Ladder(chosen, strict=strict, place=place, on_fall=on_fall)
