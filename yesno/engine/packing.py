"""Ask several yes/no questions about one input in one completion.

By log-probabilities the model writes a numbered list, and each answer is read on its own line. By samples it writes
JSON objects, the questions shuffled in each. What a packed reply does not answer beyond doubt is asked again alone.

An answer of a list is conditioned on those before it, and on the other questions in any case, so a packed answer is
another measurement than a separate one: it says so in `flags`, `attempts` and `template`.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from yesno.engine.asking import LONG_CAP, LONGER, Asking, Result, outcome_from, word_for
from yesno.engine.labelling import labels_of
from yesno.engine.ladder import BLIND
from yesno.engine.sampling import CAP as SAMPLE_CAP
from yesno.engine.sampling import MOST as MOST_SAMPLES
from yesno.engine.sampling import ROUND, numbered_schema_of
from yesno.errors import ConfigError
from yesno.evidence import Completion, NativeAnswers, NoEvidence, Reply, TokenIds
from yesno.flow import gather
from yesno.messages import Input
from yesno.providers.base import PromptTask, TokenTask, Turn
from yesno.providers.profiles import Profile, Strategy
from yesno.questions import Attempt, Method, Outcome, Question, YesNo
from yesno.reading.labels import LabelSet
from yesno.reading.outcome import Reading, Unread
from yesno.reading.packed import read_list, read_numbered_sample
from yesno.reading.samples import Sample, is_settled, share_of
from yesno.templates.packed import render_packed
from yesno.templates.sets import FileTemplate

__all__ = ["MOST_LISTED", "MOST_SAMPLED", "Packer", "Packing", "Talk", "packer_for"]

Packing: TypeAlias = Literal["separate", "packed", "auto"]
_POLICIES = ("separate", "packed", "auto")

MOST_LISTED = 20
"""Most questions of one numbered list: 60 are three requests, and longer lists were not measured
(`benchmarks/packing`)."""
MOST_SAMPLED = 10
"""Most questions of one sampled JSON object."""
LEAST = 3
"""Of a smaller limit than this an even split could leave one question in a list of its own."""
PER_LINE = 8
"""Output tokens for a line: five are needed for `12. Yes`, and a model may add marks."""
SPARE = 8

Talk: TypeAlias = Generator[Sequence[PromptTask | TokenTask], Sequence[Reply], Mapping[str, Outcome]]
"""Yields prompts to send at once and is sent their replies; returns name -> outcome."""
_Part: TypeAlias = tuple[list[Result], list[list[Attempt]]]
"""What was read and what was tried, for each question."""
_Turns: TypeAlias = Generator[Sequence[PromptTask | TokenTask], Sequence[Reply], _Part]


def packer_for(packing: Any, asking: Asking, measured: str) -> Packer:  # noqa: ANN401 - the check is the point
    """Return who decides what is asked together.

    Args:
        packing: The policy.
        asking: How questions are asked.
        measured: The model that the rows of the profile are about.

    Raises:
        ConfigError: There is no such policy, the template set has no file for it, or what else was asked for cannot be
            done with packed questions.
    """
    if packing not in _POLICIES:
        raise ConfigError(f"`packing` must be one of {', '.join(map(repr, _POLICIES))}, not {packing!r}")
    clash = _clash(asking)
    if packing == "packed" and clash is not None:
        raise ConfigError(clash)
    if packing == "separate" or clash is not None:
        return Packer(asking)
    if packing == "auto" and not asking.templates.has("packed"):
        return Packer(asking)
    return Packer(asking, asking.templates.template("packed"), None if packing == "packed" else measured)


def _clash(asking: Asking) -> str | None:
    if asking.orders != 1:
        return (
            "packed questions are asked once, in the order given, so packing='packed' does not go with "
            f"orders={asking.orders!r}; use orders=1 or packing='separate'"
        )
    if asking.priors.policy == "content_free":
        return (
            "a prior holds for a question that is asked alone, so packing='packed' does not go with "
            "prior='content_free'; use prior='auto' or packing='separate'"
        )
    return None


@dataclass(frozen=True, slots=True)
class Packer:
    """Which questions of a request are asked together."""

    asking: Asking
    template: FileTemplate | None = None
    """The prompt of packed questions; None when none are ever packed."""
    measured: str | None = None
    """The only model for which anything is packed, as far as its profile allows it; None packs for every model."""

    def asking_by(self, asking: Asking) -> Packer:
        """Return the same policy for other templates; raises as `packer_for` does."""
        if self.template is None:
            return Packer(asking)
        return packer_for("packed" if self.measured is None else "auto", asking, self.measured or "")

    def talks(
        self, questions: Mapping[str, Question[Any]], given: Input, model_name: str, profile: Profile
    ) -> list[Talk]:
        """Return conversations that together answer all questions of a request."""
        packed = self._packable(questions, model_name, profile)
        talks = [
            self._alone(name, question, given, model_name, profile)
            for name, question in questions.items()
            if name not in packed
        ]
        if packed and self.template is not None:
            talks.append(_Table(self, self.template, given, model_name, profile).talk(packed))
        return talks

    def most(self, step: Strategy, profile: Profile, model_name: str) -> int:
        """Return how many questions one request may hold on a step of the ladder; 0 where none are packed."""
        limit = {"logprobs": MOST_LISTED, "sampled": MOST_SAMPLED}.get(step, 0)
        if self.template is None:
            return 0
        if self.measured is None:
            return limit
        if self.measured != model_name:
            return 0
        rows = [r for r in profile.packing if (r.method, r.template) == (step, self.template.id)]
        most = min(limit, max((row.most for row in rows if row.is_bearable), default=0))
        return most if most >= LEAST else 0

    def _packable(
        self, questions: Mapping[str, Question[Any]], model_name: str, profile: Profile
    ) -> Mapping[str, YesNo]:
        if self.template is None or len(questions) < 2:
            return {}
        if not self.most(self.asking.ladder.steps(model_name)[0], profile, model_name):
            return {}
        found = {name: q for name, q in questions.items() if type(q) is YesNo and not q.examples}
        return found if len(found) > 1 else {}

    def _alone(
        self, name: str, question: Question[Any], given: Input, model_name: str, profile: Profile
    ) -> Talk:
        outcome = yield from self.asking.converse(question, given, model_name, profile)
        return {name: outcome}


@dataclass(frozen=True, slots=True)
class _Table:
    """One input and one model, with several questions on the table."""

    packer: Packer
    template: FileTemplate
    given: Input
    model_name: str
    profile: Profile

    @property
    def labels(self) -> LabelSet:
        return labels_of(YesNo("any"), self.template)

    def talk(self, asked: Mapping[str, YesNo]) -> Talk:
        """Ask all packed, and again alone what that leaves open."""
        asking, questions = self.packer.asking, list(asked.values())
        results, attempts = yield from self._packed(questions)
        blind = _blindness(results)
        lost = blind is not None and "sampled" not in asking.ladder.strategies
        outcomes: dict[str, Outcome] = {}
        left: dict[str, list[Attempt]] = {}
        for name, result, tried in zip(asked, results, attempts, strict=True):
            if not isinstance(result, Reading) and not lost:
                left[name] = tried
                continue
            if isinstance(result, Reading):
                result = replace(result, flags=tuple(sorted({*result.flags, "packed"})))
            result = asking.calibrations.applied(result, asked[name], self.model_name, self.template.id)
            outcomes[name] = outcome_from(asked[name], result, tuple(tried), self.template.id)
        alone = [asking.converse(asked[name], self.given, self.model_name, self.profile) for name in left]
        again = yield from gather(alone)
        for (name, tried), outcome in zip(left.items(), again, strict=True):
            outcomes[name] = replace(outcome, attempts=(*tried, *outcome.attempts))
        return outcomes

    def _packed(self, questions: Sequence[YesNo]) -> _Turns:
        """Go down the ladder as long as questions are packed and the model is found to show no log-probabilities."""
        ladder = self.packer.asking.ladder
        results: list[Result] = []
        attempts: list[list[Attempt]] = [[] for _ in questions]
        for step in ladder.steps(self.model_name):
            most = self.packer.most(step, self.profile, self.model_name)
            if not most:
                break
            ask = self._listed if step == "logprobs" else self._sampled
            results, more = yield from ask(questions, most)
            attempts = _joined(attempts, more)
            blind = _blindness(results)
            if blind is None:
                break
            ladder.fell(step, self.model_name, blind)
        return results, attempts

    def _listed(self, questions: Sequence[YesNo], most: int) -> _Turns:
        """Ask for numbered lists; one that ran out of tokens before its first line is asked for with more."""
        groups = spread(questions, most)
        parts = yield from self._lists(groups, room=0)
        slow = [i for i, (results, _) in enumerate(parts) if all(map(_ran_out, results))]
        longer = (yield from self._lists([groups[i] for i in slow], room=LONG_CAP)) if slow else []
        for i, (results, more) in zip(slow, longer, strict=True):
            parts[i] = (results, _joined(parts[i][1], more))
        return _flat(parts)

    def _lists(
        self, groups: Sequence[Sequence[YesNo]], *, room: int
    ) -> Generator[Sequence[PromptTask], Sequence[Reply], list[_Part]]:
        replies = yield [
            PromptTask(self._turns(group), self.model_name, SPARE + PER_LINE * len(group) + room)
            for group in groups
        ]
        parts: list[_Part] = []
        for group, reply in zip(groups, replies, strict=True):
            results = self._read(reply, len(group))
            parts.append((results, _attempts("logprobs", results, reply.usage.requests)))
        return parts

    def _read(self, reply: Reply, count: int) -> list[Result]:
        match reply.evidence:
            case Completion():
                least = self.packer.asking.min_label_mass
                return list(read_list(reply.evidence, self.labels, count, min_mass=least))
            case NoEvidence(reason):
                return [Unread(reason)] * count
            case NativeAnswers() | TokenIds():
                raise TypeError("a decision endpoint's answers came back for a prompt")

    def _sampled(self, questions: Sequence[YesNo], most: int) -> _Turns:
        parts = yield from gather([self._samples(group) for group in spread(questions, most)])
        return _flat(parts)

    def _samples(self, questions: Sequence[YesNo]) -> _Turns:
        """Sample in rounds until every question that gets answers at all is beyond chance."""
        count, labels = len(questions), self.labels
        votes: list[list[Sample]] = [[] for _ in questions]
        requests = done = 0
        while done < MOST_SAMPLES and any(map(_is_open, votes)):
            orders = {number: shuffled(count, number) for number in range(done + 1, done + ROUND + 1)}
            replies = yield [self._sample([questions[i] for i in o], n) for n, o in orders.items()]
            for order, reply in zip(orders.values(), replies, strict=True):
                requests += reply.usage.requests
                for place, sample in zip(order, _samples_in(reply, labels, count), strict=True):
                    votes[place].append(sample)
            done += ROUND
        results = [share_of(own, len(labels), self.packer.asking.min_label_mass) for own in votes]
        return list(results), _attempts("sampled", results, requests)

    def _sample(self, questions: Sequence[YesNo], number: int) -> PromptTask:
        return PromptTask(
            self._turns(questions, as_json=True),
            self.model_name,
            SAMPLE_CAP,
            schema=numbered_schema_of(self.labels, len(questions)),
            sample=number,
        )

    def _turns(self, questions: Sequence[YesNo], *, as_json: bool = False) -> tuple[Turn, ...]:
        yes, no = (label.shown for label in self.labels.labels)
        turns = render_packed(self.template, questions, self.given, (yes, no), as_json=as_json)
        return tuple(Turn(role, text) for role, text in turns)


def spread(items: Sequence[YesNo], most: int) -> list[Sequence[YesNo]]:
    """Cut a list into as few parts of at most `most` as there can be, of even size."""
    parts = -(-len(items) // most)
    cuts = [len(items) * i // parts for i in range(parts + 1)]
    return [items[start:end] for start, end in pairwise(cuts)]


def shuffled(count: int, number: int) -> list[int]:
    """Return the places 0 to `count` - 1 in the order of the sample of this number, always the same."""
    order = list(range(count))
    random.Random(number).shuffle(order)  # noqa: S311 - no secret
    return order


def _is_open(votes: Sequence[Sample]) -> bool:
    return not votes or (any(v.label is not None for v in votes) and not is_settled(votes, 2))


def _ran_out(result: Result) -> bool:
    return isinstance(result, Unread) and result.reason in LONGER


def _blindness(results: Sequence[Result]) -> str | None:
    """Return why a model shows no log-probabilities, when that is what the replies say."""
    if any(isinstance(result, Reading) for result in results):
        return None
    reasons = [result.reason for result in results if isinstance(result, Unread)]
    return next((reason for reason in reasons if reason in BLIND), None)


def _samples_in(reply: Reply, labels: LabelSet, count: int) -> list[Sample]:
    if isinstance(reply.evidence, Completion):
        return read_numbered_sample(reply.evidence, labels, count)
    return [Sample()] * count


def _attempts(method: Method, results: Sequence[Result], requests: int) -> list[list[Attempt]]:
    return [[Attempt(method, word_for(result), requests, len(results))] for result in results]


def _joined(earlier: Sequence[list[Attempt]], later: Sequence[list[Attempt]]) -> list[list[Attempt]]:
    return [[*one, *other] for one, other in zip(earlier, later, strict=True)]


def _flat(parts: Sequence[_Part]) -> _Part:
    return [r for results, _ in parts for r in results], [a for _, attempts in parts for a in attempts]
