"""Turn a question into prompts and their replies into its outcome, without doing any I/O."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar, cast

from yesno.engine.calibrating import Calibrations
from yesno.engine.exact import Vocabulary, by_codes, with_tokens
from yesno.engine.labelling import BuiltIn, labels_of, shown_in_json, shown_labels
from yesno.engine.ladder import Ladder
from yesno.engine.orders import Orders, averaged, further_orders
from yesno.engine.priors import Priors
from yesno.engine.sampling import CAP as SAMPLE_CAP
from yesno.engine.sampling import sampled, schema_of
from yesno.engine.tournament import combine, final_of, groups_of
from yesno.errors import QuestionError
from yesno.evidence import Completion, NativeAnswers, NoEvidence, Reply, TokenIds
from yesno.messages import Input
from yesno.providers.base import PromptTask, TokenTask, Turn
from yesno.providers.profiles import Profile
from yesno.questions import Attempt, Choice, Outcome, Question, Refusal, Scale, Undecided, YesNo
from yesno.reading.answers import make_answer, number_bounds
from yesno.reading.labels import LETTERS, LabelSet
from yesno.reading.logprobs import read
from yesno.reading.outcome import Declined, Reading, Unread
from yesno.reading.priors import PROBES, Prior, corrected, prior_of
from yesno.templates.render import ShowLabels, render_turns
from yesno.templates.sets import TemplateSet

__all__ = ["LONGER", "LONG_CAP", "Asking", "Conversation", "Result", "outcome_from", "word_for"]

Conversation: TypeAlias = Generator[Sequence[PromptTask | TokenTask], Sequence[Reply], Outcome]
"""Yields prompts to send at once and is sent their replies; returns the outcome."""

Result: TypeAlias = Reading | Unread | Declined
T = TypeVar("T")
_Turn: TypeAlias = Generator[Sequence[PromptTask | TokenTask], Sequence[Reply], T]

LONGER = {"truncated", "reasoning_unfinished"}
"""Reasons for which the second try gets room to finish."""
SHORT_CAP = 4
"""Output tokens for a label: room for a mark before it and for what ends it."""
LONG_CAP = 2048
FINAL = {"no_logprobs", "logprobs_unsupported", "probabilities_in_logprob_field"}
"""Reasons that a second try with other words cannot change."""
LEAST_HEAT = 4
"""Options asked for at once however short a host's lists are: what a list leaves out is bounded, not lost."""
MAX_LEVELS = 20
"""Most levels of a scale that fit into one list of top log-probabilities (20 on most hosts; 2026-11)."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How questions are asked of one model."""

    templates: TemplateSet
    min_label_mass: float = 0.5
    priors: Priors = field(default_factory=Priors)
    ladder: Ladder = field(default_factory=Ladder)
    orders: Orders = 1
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    calibrations: Calibrations = field(default_factory=Calibrations)

    def check(self, question: Question[Any]) -> None:
        """Refuse a question that cannot be asked, before anything is sent."""
        if not isinstance(question, YesNo | Choice | Scale):
            raise QuestionError(
                f"questions of type {type(question).__name__} cannot be asked through log-probabilities; "
                "use YesNo, Choice or Scale"
            )
        if isinstance(question, Scale) and len(question.levels) > MAX_LEVELS:
            raise QuestionError(
                f"a scale of {len(question.levels)} levels cannot be read; use at most {MAX_LEVELS}, or a Choice"
            )

    def task(
        self,
        question: BuiltIn,
        given: Input,
        model_name: str,
        profile: Profile,
        *,
        cap: int,
        strict: bool = False,
        swapped: bool = False,
        show: ShowLabels = shown_labels,
    ) -> PromptTask:
        """Return the prompt whose answer token is to be read."""
        turns = render_turns(
            self.templates.template(question.kind),
            question,
            given,
            show,
            strict=strict,
            prefill=profile.prefill,
            swapped=swapped,
        )
        return PromptTask(tuple(Turn(role, text) for role, text in turns), model_name, cap)

    def json_task(self, question: BuiltIn, given: Input, model_name: str, number: int) -> PromptTask:
        """Return the prompt for the sample of this number, from 1."""
        template = self.templates.template(question.kind)
        turns = render_turns(template, question, given, shown_in_json, as_json=True)
        return PromptTask(
            tuple(Turn(role, text) for role, text in turns),
            model_name,
            SAMPLE_CAP,
            schema=schema_of(self.labels(question, whole=True)),
            sample=number,
        )

    def labels(self, question: BuiltIn, *, whole: bool = False) -> LabelSet:
        """Return the labels that a question's template asks for; see `labels_of`."""
        return labels_of(question, self.templates.template(question.kind), whole=whole)

    def converse(
        self, question: Question[Any], given: Input, model_name: str, profile: Profile
    ) -> Conversation:
        """Ask one question, step by step down the ladder until a reply says enough.

        Log-probabilities are asked for twice, the second time with a stricter prompt; then samples.
        """
        self.check(question)
        asked = cast("BuiltIn", question)
        interview = _Interview(self, profile, given, model_name)
        template = self.templates.template(question.kind).id
        attempts: list[Attempt] = []
        result: Result = Unread("no_strategy")
        for step in self.ladder.steps(model_name):
            if step == "logprobs":
                result = yield from interview.by_logprobs(asked, attempts)
            else:
                result, requests = yield from interview.by_samples(asked)
                attempts.append(Attempt("sampled", word_for(result), requests))
            if not isinstance(result, Unread):
                break
            self.ladder.fell(step, model_name, result.reason)
        result = self.calibrations.applied(result, asked, model_name, template)
        return outcome_from(asked, result, tuple(attempts), template)


@dataclass(frozen=True, slots=True)
class _Interview:
    """One input and one model; each method asks and returns what was read."""

    asking: Asking
    profile: Profile
    given: Input
    model_name: str
    swapped: bool = False

    def by_logprobs(self, question: BuiltIn, attempts: list[Attempt]) -> _Turn[Result]:
        """Ask in the given order, and in others where they are wanted; note each attempt."""
        facts = self.profile.prior
        measured_for = facts.standing if facts else frozenset()
        stands = self.asking.priors.wanted(question, self.given, measured_for)
        if self.asking.priors.policy == "auto" and question.kind in measured_for:
            stands = self._as_calibrated(question, stands=stands)
        first = yield from self._in_order(question, attempts, stands=stands)
        readings = [first] if isinstance(first, Reading) else []
        for order in further_orders(question, first, self.asking.orders):
            turned = replace(self, swapped=order.swapped)
            result = yield from turned._in_order(order.of(question), attempts, stands=stands)
            if isinstance(result, Reading):
                readings.append(order.undone(question, result))
        return averaged(readings) if readings else first

    def _as_calibrated(self, question: BuiltIn, *, stands: bool) -> bool:
        """Return whether the prior of a question is taken out: as in the readings that its card was fitted to."""
        template = self.asking.templates.template(question.kind).id
        wanted = self.asking.calibrations.prior_wanted(question, self.model_name, template)
        return stands if wanted is None else wanted

    def _in_order(self, question: BuiltIn, attempts: list[Attempt], *, stands: bool) -> _Turn[Result]:
        """Ask once, a second time with a stricter prompt when the reply says too little; note each attempt."""
        prior, probes = yield from self.prior(question, stands=stands)
        if probes:
            attempts.append(Attempt("logprobs", "prior", probes))
        cap, strict = SHORT_CAP, False
        while True:
            result, requests = yield from self.ask(question, prior, strict=strict, cap=cap)
            attempts.append(Attempt("logprobs", word_for(result), requests))
            if strict or not isinstance(result, Unread) or result.reason in FINAL:
                return result
            cap, strict = (LONG_CAP if result.reason in LONGER else cap), True

    def by_samples(self, question: BuiltIn) -> _Turn[tuple[Result, int]]:
        """Ask for JSON answers; see `yesno.engine.sampling`."""

        def task(variant: BuiltIn, number: int) -> PromptTask:
            return self.asking.json_task(variant, self.given, self.model_name, number)

        def labels(variant: BuiltIn) -> LabelSet:
            return self.asking.labels(variant, whole=True)

        return (yield from sampled(question, task, labels, min_mass=self.asking.min_label_mass))

    def prior(self, question: BuiltIn, *, stands: bool) -> _Turn[tuple[Prior | None, int]]:
        """Return the prior to take out of the answers, if any, and the number of requests that measuring it took.

        The prior of a question that `stands` is measured; else the model's favourite letters are all there is.
        """
        if not self._in_one(question):
            return None, 0
        if not stands:
            return self._letters(question), 0
        priors = self.asking.priors
        template = self.asking.templates.template(question.kind).id
        name = repr((question, self.model_name, template, self.swapped))
        known = priors.known(name, len(self.asking.labels(question)))
        if known != "unmeasured":
            return known, 0
        replies = yield [replace(self, given=probe)._task(question, cap=SHORT_CAP) for probe in PROBES]
        labels = self.asking.labels(question)
        results = [self._read(reply, labels) for reply in replies]
        readings = [result for result in results if isinstance(result, Reading)]
        prior = prior_of(readings) if len(readings) == len(PROBES) else None
        priors.keep(name, prior)
        return prior, sum(reply.usage.requests for reply in replies)

    def ask(
        self, question: BuiltIn, prior: Prior | None = None, *, strict: bool, cap: int
    ) -> _Turn[tuple[Result, int]]:
        """Return the reading and the number of requests it took."""
        if isinstance(question, Choice) and not self._in_one(question):
            most = self._most_tokens(strict=strict)
            make = partial(self._task, question, cap=cap, strict=strict)
            vocabulary = self.asking.vocabulary
            found, spent = yield from by_codes(question, make, self._read, self.model_name, most, vocabulary)
            if found is not None:
                return found, spent
            result, requests = yield from self._tournament(question, strict=strict, cap=cap)
            return result, spent + requests
        (result,), requests = yield from self._round([question], prior, strict=strict, cap=cap)
        return result, requests

    def _most_tokens(self, *, strict: bool) -> int:
        """Return how many tokens of its own a request may ask for: none in a second try, which reads the most probable."""
        return 0 if strict else self.profile.exact_labels

    @property
    def _limit(self) -> int:
        return min(len(LETTERS), max(LEAST_HEAT, self.profile.top_logprobs))

    def _in_one(self, question: BuiltIn) -> bool:
        if not isinstance(question, Choice):
            return True
        return len(question.options) + (question.none is not None) <= self._limit

    def _tournament(self, question: Choice, *, strict: bool, cap: int) -> _Turn[tuple[Result, int]]:
        groups = groups_of(question, self._limit)
        heats, requests = yield from self._round(groups, None, strict=strict, cap=cap)
        readings = [heat for heat in heats if isinstance(heat, Reading)]
        if len(readings) < len(heats):
            return next(heat for heat in heats if not isinstance(heat, Reading)), requests
        last, more = yield from self.ask(final_of(question, groups, readings), strict=strict, cap=cap)
        result = combine(readings, last) if isinstance(last, Reading) else last
        return result, requests + more

    def _round(
        self, questions: Sequence[BuiltIn], prior: Prior | None, *, strict: bool, cap: int
    ) -> _Turn[tuple[list[Result], int]]:
        tasks = [self._task(question, strict=strict, cap=cap) for question in questions]
        most, vocabulary = self._most_tokens(strict=strict), self.asking.vocabulary
        sets = [self.asking.labels(question) for question in questions]
        tasks, spent = yield from with_tokens(tasks, sets, self.model_name, most, vocabulary)
        replies = yield tasks
        vocabulary.note(tasks, replies)
        results: list[Result] = []
        for question, reply in zip(questions, replies, strict=True):
            result = self._read(reply, self.asking.labels(question))
            if prior is not None and not strict and isinstance(result, Reading):
                # a stricter prompt is another prompt, with a prior of its own
                result = corrected(result, prior)
            results.append(result)
        return results, spent + sum(reply.usage.requests for reply in replies)

    def _task(
        self, question: BuiltIn, *, cap: int, strict: bool = False, show: ShowLabels = shown_labels
    ) -> PromptTask:
        return self.asking.task(
            question,
            self.given,
            self.model_name,
            self.profile,
            cap=cap,
            strict=strict,
            swapped=self.swapped,
            show=show,
        )

    def _letters(self, question: BuiltIn) -> Prior | None:
        facts = self.profile.prior
        if facts is None or self.asking.priors.policy != "auto" or not isinstance(question, Choice):
            return None
        labels = self.asking.labels(question).labels
        lettered = [label.shown for label in labels] == list(LETTERS[: len(labels)])
        template = self.asking.templates.template(question.kind).id
        return facts.of_letters(len(labels), template) if lettered else None

    def _read(self, reply: Reply, labels: LabelSet) -> Result:
        match reply.evidence:
            case Completion():
                return read(reply.evidence, labels, min_mass=self.asking.min_label_mass)
            case NoEvidence(reason):
                return Unread(reason)
            case NativeAnswers() | TokenIds():
                raise TypeError("something else than a completion came back for a prompt")


def outcome_from(question: BuiltIn, result: Result, attempts: tuple[Attempt, ...], template: str) -> Outcome:
    """Turn what was read into the outcome of a question."""
    match result:
        case Reading():
            return make_answer(question, result, attempts=attempts, template=template)
        case Declined(reason, category):
            return Refusal(reason, category, attempts)
        case Unread(reason, partial):
            low, high = number_bounds(question, partial)
            return Undecided(reason, low, high, None if partial is None else partial.label_mass, attempts)


def word_for(result: Result) -> str:
    """Return how an attempt with this result is noted."""
    return "answered" if isinstance(result, Reading) else result.reason
