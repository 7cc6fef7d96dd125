"""Tune: search, compare once on the rows held out, and keep what is shown to be better."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from yesno.engine.sync import DecisionModel
from yesno.errors import BudgetExceeded
from yesno.evidence import Usage
from yesno.labelled import Item
from yesno.questions import Outcome
from yesno.response import Failure
from yesno.templates.sets import TemplateSet
from yesno.tuner.asking import asked, checked
from yesno.tuner.candidates import Candidate, pool
Carded = object
from yesno.tuner.examples import draws
from yesno.tuner.folders import tried_set
from yesno.tuner.judging import Advantage, Judge
from yesno.tuner.objective import Shares, shares_of
from yesno.tuner.plan import Plan
from yesno.tuner.search import Found, Track, Trial, search

__all__ = ["HeldOut", "Step", "Tuned", "Verdict", "tune"]

Verdict: TypeAlias = Literal["accepted", "kept"]


@dataclass(frozen=True, slots=True)
class Step:
    """How far a run is."""

    name: str
    """Of the template that is asked with."""
    done: int
    """Decisions so far."""
    total: int
    """Decisions that the plan allows."""
    usage: Usage
    """What was spent so far."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The one comparison on the rows held out, the winner's template against today's."""

    calibrated: Advantage
    """Each with the calibration that was chosen for it, in the same way and on the same rows."""
    raw: Advantage
    """Both as read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """What came of it."""

    plan: Plan
    model: str
    verdict: Verdict
    why: str
    """In words."""
    tracks: tuple[Track, ...]
    """All templates that were tried, today's first."""
    chosen: Carded
    """The template to use, with its calibration and thresholds."""
    today: Carded
    winner: Carded | None
    """What was compared with today's template on the rows held out; None when nothing was better before that."""
    held_out: HeldOut | None
    stopped: bool
    """The calls were used up before the end."""
    usage: Usage
    calls: Mapping[str, int]
    """Name of a template -> requests that were sent with it or that a cache answered."""


def tune(
    plan: Plan, model: DecisionModel, *, on_step: Callable[[Step], None] = lambda step: None
) -> Tuned:
    """Run a plan.

    Templates are compared by log loss, calibrated on other folds; see `yesno.tuner.search`. The rows held out are asked
    once, with today's template and the winner. The winner is accepted when the 95 % interval of the paired difference
    of their log losses, each with its own calibration, lies above zero. Every answer is asked for with the settings of
    the model; give it a cache and a second run costs nothing, give it a `Budget` and no request goes past it.

    Args:
        plan: What to ask.
        model: Whom to ask; its template is today's.
        on_step: Told of every decision.

    Raises:
        BudgetExceeded: The model's own budget ended before today's template was asked.
        ConfigError, ProviderError: No row can be answered.
    """
    with tempfile.TemporaryDirectory(prefix="yesno-tune-") as place:
        return _Run(plan, model, Path(place), on_step).go()


@dataclass(slots=True)
class _Run:
    plan: Plan
    model: DecisionModel
    place: Path
    on_step: Callable[[Step], None]
    judge: Judge = field(default_factory=Judge)
    sets: dict[str, TemplateSet] = field(default_factory=dict)
    outcomes: dict[str, dict[str, Outcome | Failure]] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    done: int = 0
    before: Usage = field(init=False)

    def __post_init__(self) -> None:
        self.before = self.model.usage

    def go(self) -> Tuned:
        base = self.model.asking.templates
        candidates = pool(base, self.plan.kind)
        today = candidates[0]
        self.sets[today.name] = base
        found = self._searched(candidates)
        ...

    def _searched(self, candidates: Sequence[Candidate]) -> Found:
        size, parts = self.plan.size, self.plan.split
        if size is None:
            track = Track(candidates[0])
            answers = self._ask(Trial(candidates[0], parts.select))
            track.answers.update(answers or {})
            return Found((track,), None, stopped=answers is None)

        def variants(parent: Candidate) -> list[Candidate]:
            lists = draws(parts.train, variants=size.variants, seed=self.plan.seed)
            return [parent.with_examples(one, f"{parent.name}+{len(one)}{letter}") for one, letter in _lettered(lists)]

        run = search(candidates, parts.select, size, self.judge, variants)
        trial = next(run)
        while True:
            try:
                trial = run.send(self._ask(trial))
            except StopIteration as ended:
                return ended.value

    def _ask(self, trial: Trial) -> dict[str, Shares | None] | None:
        """Ask; None when the calls do not suffice."""
        name = trial.candidate.name
        if not self._affords(len(trial.items)):
            return None
        if name not in self.sets:
            self.sets[name] = tried_set(trial.candidate, self.place, len(self.sets))
        spent = self._spent
        try:
            outcomes = asked(self.model.with_template(self.sets[name]), trial.items, lambda: self._step(name))
        except BudgetExceeded:
            return None
        finally:
            self.calls[name] = self.calls.get(name, 0) + self._spent - spent
        checked(outcomes)
        self.outcomes.setdefault(name, {}).update(outcomes)
        return {id: shares_of(outcome) for id, outcome in outcomes.items()}

    def _affords(self, decisions: int) -> bool:
        per = max(float(self.plan.per_decision), self._spent / self.done if self.done else 0.0)
        reserve = 2 * len(self.plan.split.held_out) * per
        return self._spent + decisions * per + self.plan.probes + reserve <= self.plan.calls

    @property
    def _spent(self) -> int:
        """Requests so far, those that a cache answered among them, so that a second run goes the same way."""
        usage = self.model.usage - self.before
        return usage.requests - usage.retries - usage.hedges + usage.cache_hits

    def _step(self, name: str) -> None:
        self.done += 1
        self.on_step(Step(name, self.done, self.plan.decisions, self.model.usage - self.before))


def _lettered(lists: Sequence[Sequence[object]]) -> list[tuple[Sequence[object], str]]:
    counts: dict[int, int] = {}
    named = []
    for one in lists:
        counts[len(one)] = counts.get(len(one), 0) + 1
        named.append((one, "abcdefgh"[counts[len(one)] - 1]))
    return named
