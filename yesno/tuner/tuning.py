"""Tune: search, compare once on the rows held out, and keep what is shown to be better."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from yesno._log import get_logger
from yesno.calibration.applying import shares_read
from yesno.engine.sync import DecisionModel
from yesno.errors import BudgetExceeded, DeadlineExceeded, ProviderError
from yesno.evidence import Usage
from yesno.labelled import Item
from yesno.questions import Outcome
from yesno.response import Failure
from yesno.templates.sets import TemplateSet
from yesno.tuner.asking import asked
from yesno.tuner.candidates import Candidate, Example, pool
from yesno.tuner.carding import Carded, carded
from yesno.tuner.examples import draws
from yesno.tuner.folders import tried_set
from yesno.tuner.judging import Advantage, Answers, Judge, compared
from yesno.tuner.objective import Shares, losses
from yesno.tuner.plan import Plan
from yesno.tuner.proposing import proposals_of
from yesno.tuner.search import Found, Track, Trial, search
from yesno.tuner.thresholds import Line, thresholds_of

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
    gain: Advantage | None
    """The chosen template with its calibration against today's as it is read, on the rows held out: what changes for
    those who use the result. None when the calls were used up before."""
    thresholds: tuple[Line, ...]
    """Of the chosen template, on the rows held out."""
    stopped: bool
    """The calls were used up before the end."""
    usage: Usage
    calls: Mapping[str, int]
    """Name of a template -> requests that were sent with it or that a cache answered."""


def tune(
    plan: Plan,
    model: DecisionModel,
    *,
    proposer: DecisionModel | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
) -> Tuned:
    """Run a plan.

    Templates are compared by log loss, calibrated on other folds; see `yesno.tuner.search`. The rows held out are asked
    once, with today's template and the winner. The winner is accepted when the 95 % interval of the paired difference
    of their log losses, each with its own calibration, lies above zero. Every answer is asked for with the settings of
    the model; give it a cache and a second run costs nothing, give it a `Budget` and no request goes past it.

    Args:
        plan: What to ask.
        model: Whom to ask; its template is today's.
        proposer: Who is asked, once, for other wordings; it is shown inputs and labels of rows that went wrong.
        on_step: Told of every decision.

    Raises:
        BudgetExceeded: The model's own budget ended before today's template was asked.
        ConfigError, ProviderError: No row can be answered.
    """
    with tempfile.TemporaryDirectory(prefix="yesno-tune-") as place:
        return _Run(plan, model, Path(place), on_step, proposer).go()


@dataclass(slots=True)
class _Run:
    plan: Plan
    model: DecisionModel
    place: Path
    on_step: Callable[[Step], None]
    proposer: DecisionModel | None = None
    judge: Judge = field(default_factory=Judge)
    sets: dict[str, TemplateSet] = field(default_factory=dict)
    outcomes: dict[str, dict[str, Outcome | Failure]] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    done: int = 0
    last: bool = False
    """The rows held out are being asked about."""
    before: Usage = field(init=False)

    def __post_init__(self) -> None:
        self.before = self.model.usage

    def go(self) -> Tuned:
        base = self.model.asking.templates
        candidates = pool(base, self.plan.kind)
        self.sets[candidates[0].name] = base
        found = self._searched(candidates)
        first, winner = found.tracks[0], found.winner
        if len(first.answers) < len(self.plan.split.select):
            raise BudgetExceeded(
                f"the budget ended before today's template was asked about all {len(self.plan.split.select)} rows",
                limit="requests",
                spent=self._spent,
            )
        today = self._carded(first)
        rival = None if winner is None else self._carded(winner)
        held_out = self._held_out(today, rival)
        verdict, why = _verdict(self.plan, found, held_out)
        chosen = rival if verdict == "accepted" and rival is not None else today
        return Tuned(
            plan=self.plan,
            model=f"{self.model.provider_name}:{self.model.model_name}",
            verdict=verdict,
            why=why,
            tracks=found.tracks,
            chosen=chosen,
            today=today,
            winner=rival,
            held_out=held_out,
            gain=self._gain(today, chosen),
            thresholds=thresholds_of(chosen, self._answers(chosen.candidate.name), self.plan.split.held_out),
            stopped=found.stopped,
            usage=self.model.usage - self.before,
            calls=self.calls,
        )

    def _carded(self, track: Track) -> Carded:
        return carded(
            track.candidate,
            self.outcomes[track.candidate.name],
            self.plan.split.select,
            provider=self.model.provider_name,
            model=self.model.model_name,
            data=self.plan.data,
        )

    def _held_out(self, today: Carded, rival: Carded | None) -> HeldOut | None:
        """Ask about the rows held out, once; None when there is nothing to compare, or the calls are used up."""
        items = self.plan.split.held_out
        self.last = True
        first = self._ask(Trial(today.candidate, items))
        if rival is None or first is None:
            return None
        second = self._ask(Trial(rival.candidate, items))
        if second is None:
            return None
        return HeldOut(
            compared(second, first, items, rival.loss, today.loss), compared(second, first, items, losses)
        )

    def _gain(self, today: Carded, chosen: Carded) -> Advantage | None:
        items = self.plan.split.held_out
        first, own = self._answers(today.candidate.name), self._answers(chosen.candidate.name)
        if not all(item.id in first and item.id in own for item in items):
            return None
        return compared(own, first, items, chosen.loss, losses)

    def _answers(self, name: str) -> Answers:
        return _read(self.outcomes[name], self.plan.split.held_out)

    def _searched(self, candidates: Sequence[Candidate]) -> Found:
        size, parts = self.plan.size, self.plan.split
        if size is None:
            track = Track(candidates[0])
            answers = self._ask(Trial(candidates[0], parts.select))
            track.answers.update(answers or {})
            return Found((track,), None, stopped=answers is None)

        def variants(parent: Candidate) -> list[Candidate]:
            lists = draws(parts.train, variants=size.variants, seed=self.plan.seed)
            return [
                parent.with_examples(one, f"{parent.name}+{len(one)}{letter}")
                for one, letter in _lettered(lists)
            ]

        def propose(best: Track) -> list[Candidate]:
            if self.proposer is None or not size.proposals:
                return []
            try:
                return proposals_of(self.proposer, best, parts.select, size.proposals)
            except (BudgetExceeded, DeadlineExceeded, ProviderError) as error:
                # what was measured so far is worth more than further wordings
                get_logger("tuner").warning("proposals_left_out", error=type(error).__name__)
                return []

        run = search(candidates, parts.select, size, self.judge, variants, propose)
        trial = next(run)
        while True:
            try:
                trial = run.send(self._ask(trial))
            except StopIteration as ended:
                found: Found = ended.value
                return found

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
        self.outcomes.setdefault(name, {}).update(outcomes)
        return _read(outcomes, trial.items)

    def _affords(self, decisions: int) -> bool:
        per = max(float(self.plan.per_decision), self._spent / self.done if self.done else 0.0)
        size = self.plan.size
        templates = 1 if size is None else 2  # that the rows held out are put to
        reserve = 0.0 if self.last else templates * len(self.plan.split.held_out) * per
        proposing = self.proposer is not None and size is not None and size.proposals > 0
        needed = decisions * per + self.plan.probes + reserve + proposing
        return self._spent + needed <= self.plan.calls

    @property
    def _spent(self) -> int:
        """Requests so far, those that a cache answered among them, so that a second run goes the same way."""
        usage = self.model.usage - self.before
        return usage.requests - usage.retries - usage.hedges + usage.cache_hits

    def _step(self, name: str) -> None:
        self.done += 1
        self.on_step(Step(name, self.done, self.plan.decisions, self.model.usage - self.before))


def _read(outcomes: Mapping[str, Outcome | Failure], items: Sequence[Item]) -> dict[str, Shares | None]:
    return {item.id: shares_read(item.question, outcomes[item.id]) for item in items if item.id in outcomes}


def _verdict(plan: Plan, found: Found, held_out: HeldOut | None) -> tuple[Verdict, str]:
    if plan.size is None:
        return "kept", plan.why_not or "templates were not compared"
    if found.winner is None:
        end = "; the calls were used up before the last round" if found.stopped else ""
        return "kept", f"no template was better than today's on the rows for comparing{end}"
    name = found.winner.candidate.name
    if held_out is None:
        return "kept", f"the calls were used up before {name!r} was compared on the rows held out"
    by = held_out.calibrated
    shown = f"{by.value:+.3f} nats, 95 % interval {by.low:+.3f} to {by.high:+.3f}, on {by.n} rows held out"
    if not by.covers:
        return "kept", f"{name!r} leaves too many rows without an answer ({by.answered:.0%} answered)"
    if by.low > 0:
        return "accepted", f"{name!r} lowers the log loss by {shown}"
    return "kept", f"{name!r} is not shown to be better: it lowers the log loss by {shown}"


def _lettered(lists: Sequence[tuple[Example, ...]]) -> list[tuple[tuple[Example, ...], str]]:
    counts: dict[int, int] = {}
    named = []
    for one in lists:
        counts[len(one)] = counts.get(len(one), 0) + 1
        named.append((one, "abcdefgh"[counts[len(one)] - 1]))
    return named
