"""Everything about a decision that does no I/O, shared by both models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from yesno._checks import checked_count, checked_positive, checked_share
from yesno._log import get_logger
from yesno.calibration.files import CardSource
from yesno.engine import gates
from yesno.engine.asking import Asking
from yesno.engine.batches import SINGLE
from yesno.engine.budget import Budget
from yesno.engine.caching import Cache
from yesno.engine.calibrating import calibrations_for
from yesno.engine.delivery import Delivery
from yesno.engine.exchange import Exchange
from yesno.engine.gates import Gate, Limits, Party
from yesno.engine.hedging import Hedge, checked_hedge
from yesno.engine.ladder import NO_ENDPOINT, NO_LOGPROBS, StrategyName, ladder_for
from yesno.engine.listeners import Call, Listener, notify
from yesno.engine.memory import Facts, Keeper, Memory, checked_memory
from yesno.engine.metering import Meter, Spent, Tally
from yesno.engine.native import joined, left_by, native_response
from yesno.engine.orders import Orders, checked_orders
from yesno.engine.packing import Packing, Talk, packer_for
from yesno.engine.priors import PriorPolicy, Priors, checked_policy
from yesno.engine.recents import Era, Recent, Recents
from yesno.engine.retry import RetryPolicy
from yesno.engine.validation import validated
from yesno.errors import (
    ConfigError,
    ProviderError,
    ProviderUnavailable,
    QuestionError,
)
from yesno.evidence import NoEvidence, Reply, Usage
from yesno.prices import Price
from yesno.providers import load_provider
from yesno.providers.base import NativeTask, Provider, Task, TokenTask
from yesno.questions import (
    Outcome,
    Question,
)
from yesno.request import DecisionRequest, Parameters, Questions
from yesno.response import DecisionResponse
from yesno.settings import Settings
from yesno.templates.sets import TemplateSet

if TYPE_CHECKING:
    from yesno.engine.diagnosis import Diagnosis
    from yesno.engine.probe import Probing

__all__ = ["Core"]

NO_LIMIT_S = 1e7
"""A longer timeout, such as `math.inf`, is none: sockets cannot count that far."""
PASSABLE_ATTEMPTS = 2
"""Most tries of what is done without when it fails."""


class Core:
    """A model's settings and its pure steps."""

    def __init__(
        self,
        model: str | Provider | None = None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        template: str | Path | TemplateSet | None = None,
        min_label_mass: float = 0.5,
        prior: PriorPolicy = "auto",
        orders: Orders = 1,
        packing: Packing = "separate",
        strategy: StrategyName = "auto",
        strict: bool = False,
        timeout_s: float | None = None,
        concurrency: int | None = None,
        retry: RetryPolicy | None = None,
        listeners: Sequence[Listener] = (),
        cache: Cache | None = None,
        budget: Budget | None = None,
        price: Price | None = None,
        memory: Memory | None = None,
        limits: Limits | None = None,
        hedge: float | Hedge | None = None,
        calibration: CardSource | None = None,
        **options: Any,
    ) -> None:
        settings = Settings.from_env()
        self.provider = _provider(model or settings.model, base_url=base_url, api_key=api_key, **options)
        profile = self.provider.profile
        chosen = template or settings.template or profile.template
        self._own_template = bool(template or settings.template)
        templates = chosen if isinstance(chosen, TemplateSet) else TemplateSet.load(chosen)
        self.keeper = Keeper(checked_memory(memory), self.provider)
        self.priors = Priors(checked_policy(prior), self.keeper)
        self.ladder = ladder_for(
            strategy, profile.strategies, strict=strict, place=self.provider.name, on_fall=self._tell_fall
        )
        mass, ordered = checked_share("min_label_mass", min_label_mass), checked_orders(orders)
        cards = calibrations_for(calibration, self.provider.name, self._warn)
        self.asking = Asking(templates, mass, self.priors, self.ladder, ordered, calibrations=cards)
        self.packer = packer_for(packing, self.asking, self.provider.model)
        self.timeout_s = profile.timeout_s if timeout_s is None else checked_positive("timeout_s", timeout_s)
        width = profile.concurrency if concurrency is None else concurrency
        self.concurrency = checked_count("concurrency", width)
        self.retry = retry or RetryPolicy()
        self.limits = _limits(limits)
        self.party = Party(self.concurrency)
        self.hedge = checked_hedge(hedge, provider=self.provider.name, remote=self.provider.remote)
        self.meter = Meter()
        self.listeners = tuple(listeners)
        self.delivery = Delivery(self.provider, cache, budget, price)
        self._warned: set[tuple[str, str]] = set()
        self.exchange = Exchange(self.provider, self.ladder, self._warn)
        self.recents = Recents()
        self._recall()

    def with_template(self, template: str | Path | TemplateSet) -> Self:
        """Return this model with other prompts: everything else is shared, and to close one is to close both.

        Raises:
            ConfigError: There is no such set or folder.
        """
        other = copy(self)
        templates = template if isinstance(template, TemplateSet) else TemplateSet.load(template)
        other.asking = replace(self.asking, templates=templates)
        other.packer = self.packer.asking_by(other.asking)
        other._own_template = True
        other.recents = Recents()
        return other

    def _recall(self) -> None:
        """Take over what an earlier check of the host has shown."""
        facts = self.keeper.facts()
        if facts is None:
            return
        self.provider.learn(facts.profile)
        if facts.blind is not None:
            self.ladder.note_blind(self.model_name, facts.blind)
            self._tell_fall(self.model_name, f"{facts.blind}, as found before")

    @property
    def provider_name(self) -> str:
        """Name of the provider; `"other"` when it has none."""
        return self.provider.name

    @property
    def model_name(self) -> str:
        """The model asked when a request names none."""
        return self.provider.model

    @property
    def usage(self) -> Usage:
        """All that this model object has spent so far, on decisions that failed too.

        Take one before and one after, and their difference (`after - before`) is what was spent in between, such as
        by a `map`; it includes what other threads and tasks asked of the same object meanwhile.
        """
        return self.meter.total

    def reset_usage(self) -> Usage:
        """Set `usage` back to nothing, and return what it was."""
        return self.meter.reset()

    def gate(self, model_name: str) -> Gate:
        """Return where requests to a model wait for their place."""
        return self.party.gates.get(model_name) or self.limits.gate(self.provider, model_name, self.party)

    def request(self, given: Any, questions: Any, parameters: Parameters | None) -> DecisionRequest:  # noqa: ANN401
        """Return the request for what `decide` was called with, defaults filled in."""
        if isinstance(given, DecisionRequest):
            if questions is not None:
                raise QuestionError("a DecisionRequest holds its questions already; pass nothing else")
            return given.with_parameters(self._merged(given.parameters, parameters))
        if isinstance(questions, Question):
            asked: Questions = {SINGLE: questions}
        elif questions is None:
            raise QuestionError("there is no question; pass a YesNo, a Choice, a Scale or a mapping of them")
        else:
            asked = questions
        return DecisionRequest(given, asked, self._merged(None, parameters))

    def _merged(self, own: Parameters | None, given: Parameters | None) -> Parameters:
        merged = self._defaults.overridden_by(own).overridden_by(given)
        if merged.timeout_s is not None and checked_positive("timeout_s", merged.timeout_s) > NO_LIMIT_S:
            return Parameters(merged.model_name)
        return merged

    @cached_property
    def _defaults(self) -> Parameters:
        return Parameters(self.provider.model or None, self.timeout_s)

    def width(self, concurrency: int | None) -> int:
        """Return how many items `map` may have under way."""
        return self.concurrency if concurrency is None else checked_count("concurrency", concurrency)

    def announce(self, questions: Any) -> None:  # noqa: ANN401 - what `map` was called with
        """Note that many inputs will be asked these questions."""
        asked = questions.values() if isinstance(questions, Mapping) else [questions]
        for question in asked:
            if isinstance(question, Question):
                self.priors.announce(question)

    def is_native(self, request: DecisionRequest) -> bool:
        """Return whether a decision endpoint is given the whole request first.

        One that has prompts of its own is passed over where the caller has wishes about them.
        """
        wishes = self.asking.orders != 1 or self.priors.policy == "content_free" or self._own_template
        if wishes and self.ladder.goes_on:
            return False
        return self.ladder.begins_native(request.parameters.model_name or "")

    def check(self, request: DecisionRequest) -> None:
        """Refuse what the provider cannot answer, before anything is sent."""
        if self.ladder.goes_on or not self.is_native(request):
            for question in request.questions.values():
                self.asking.check(question)

    def talks(self, request: DecisionRequest, questions: Mapping[str, Question[Any]]) -> list[Talk]:
        """Start asking these questions of a request, packed or each alone."""
        return self.packer.talks(
            questions, request.input, request.parameters.model_name or "", self.provider.profile
        )

    def native_task(self, request: DecisionRequest) -> NativeTask:
        """Return a request as one task for a decision endpoint."""
        return NativeTask(request, request.parameters.model_name or "")

    def native_response(self, request: DecisionRequest, reply: Reply) -> DecisionResponse | None:
        """Turn a decision endpoint's reply into a response, its answers marked as such; None when it refused."""
        if isinstance(reply.evidence, NoEvidence) and self.ladder.goes_on:
            return None
        response = native_response(request, reply, self.provider.name, self.asking.min_label_mass)
        return self.asking.calibrations.in_response(request, response)

    def left_by(
        self, request: DecisionRequest, response: DecisionResponse | None
    ) -> Mapping[str, Question[Any]]:
        """Return the questions that a decision endpoint leaves to the next step, where there is one."""
        return left_by(request, response) if self.ladder.goes_on else {}

    def joined(
        self,
        request: DecisionRequest,
        response: DecisionResponse | None,
        parts: Sequence[Mapping[str, Outcome]],
        *,
        native: bool,
    ) -> Mapping[str, Outcome]:
        """Return the outcomes of all questions in the order asked, what a decision endpoint said among them."""
        later = {name: outcome for part in parts for name, outcome in part.items()}
        if native:
            return joined(request, response, later, NO_ENDPOINT)
        return {name: later[name] for name in request.questions}

    def recent(self, request: DecisionRequest) -> DecisionResponse | None:
        """Return the response that was made of the cache alone lately, as long as the cache still says the same."""
        if self.delivery.cache is None:
            return None
        found = self.recents.find(request, self.era, self.delivery.get)
        if found is None:
            return None
        spent = Spent(Usage(cache_hits=len(found.kept)), found.model)
        self.meter.add(spent.usage)
        return self.response(request, found.outcomes, spent)

    def note_recent(
        self, era: Era, request: DecisionRequest, outcomes: Mapping[str, Outcome], spent: Spent
    ) -> None:
        """Remember what was decided in an era, where the cache held it whole."""
        if spent.kept:
            self.recents.note(era, Recent(request, outcomes, spent.model, spent.kept))

    @property
    def era(self) -> Era:
        """What the model has learned so far; see `recents`. Read it before a decision: others may teach it meanwhile."""
        return self.priors.era, self.ladder.era

    def response(
        self, request: DecisionRequest, outcomes: Mapping[str, Outcome], spent: Spent
    ) -> DecisionResponse:
        """Put the outcomes of all questions together."""
        asked = request.parameters.model_name
        falls = [
            reason
            for outcome in outcomes.values()
            for reason in self.ladder.falls(asked or "", outcome.attempts)
        ]
        usage = spent.usage
        if falls:
            fallen = Usage(fallbacks=Counter(falls))
            self.meter.add(fallen)
            usage += fallen
        return DecisionResponse(outcomes, model=spent.model or asked, usage=usage)

    def validated(self, request: DecisionRequest, response: DecisionResponse) -> DecisionResponse:
        """Let the doorman look at a response."""
        return validated(request, response, self.provider.name)

    def known(self, error: Exception) -> Exception:
        """Return the typed error for whatever the provider raised, or the error itself."""
        return self.provider.classify(error) or error

    def attempt_s(self, timeout_s: float | None) -> float | None:
        """Return the seconds that one try of a decision may take; None for no limit of its own."""
        return self.retry.attempt_s(timeout_s if self.provider.remote else None)

    def overdue(self, attempt_s: float | None) -> ProviderUnavailable:
        """Return the error for a try that took too long."""
        return ProviderUnavailable(
            f"provider {self.provider.name!r} did not answer in time ({attempt_s:g} s for one try)",
            provider=self.provider.name,
        )

    def retry_for(self, task: Task) -> RetryPolicy:
        """Return how a task is tried again: less often where there is another way to its answer."""
        return self._brief if isinstance(task, TokenTask) else self.retry

    @cached_property
    def _brief(self) -> RetryPolicy:
        return replace(self.retry, attempts=min(self.retry.attempts, PASSABLE_ATTEMPTS))

    def probing(self, sent: Sequence[object]) -> Probing[Diagnosis]:
        """Yield the requests that show how the host behaves; judge their replies and remember what they say.

        Args:
            sent: Grows by one with each request that goes out, tries that fail included.
        """
        # a tenth of what importing a model takes, and few programs ask for it
        from yesno.engine.diagnosis import Diagnosis, diagnose, learned
        from yesno.engine.probe import probe

        if self.keeper.memory is not None:  # what was remembered is what has to be checked
            self.provider.learn(self.keeper.row)
            self.ladder.forget(self.model_name)
        found = yield from probe(self.provider, self.asking, self.model_name)
        blind = found.strategy == "logprobs" and found.blind
        self.provider.learn(learned(self.provider.profile, found))
        if blind:
            self.ladder.note_blind(self.model_name, NO_LOGPROBS)
        diagnosis = Diagnosis(
            self.provider_name,
            found.model or self.model_name,
            found.strategy,
            diagnose(found),
            requests=len(sent),
            usage=found.usage,
        )
        if diagnosis.verdict == "ok":
            self.keeper.keep_facts(Facts(self.provider.profile, NO_LOGPROBS if blind else None))
        return diagnosis

    def call(self, request: DecisionRequest) -> Call | None:
        """Tell the listeners of a request; None when there are none."""
        if not self.listeners:
            return None
        call = Call(request, self.provider.name)
        notify(self.listeners, lambda listener: listener.on_request(call))
        return call

    def heard(self, reply: Reply) -> Reply:
        """Count a reply that came from a cache in the running total, where those that were sent are already."""
        if reply.usage.cache_hits:
            self.meter.add(Usage(cache_hits=reply.usage.cache_hits))
        return reply

    def count_in_vain(self, tally: Tally, error: BaseException) -> None:
        """Count requests that brought no reply in the running total, and tell by the error what they were."""
        usage = tally.in_vain()
        self.meter.add(usage)
        if isinstance(error, ProviderError):
            error.usage = usage

    def tell_response(self, call: Call | None, response: DecisionResponse) -> None:
        """Tell the listeners of a response."""
        if call is not None:
            notify(self.listeners, lambda listener: listener.on_response(call, response))

    def tell_error(self, call: Call | None, error: Exception) -> None:
        """Tell the listeners of an error."""
        if call is not None:
            notify(self.listeners, lambda listener: listener.on_error(call, error))

    def _tell_fall(self, model_name: str, reason: str) -> None:
        self._warn("sampled_instead", f"{model_name}: {reason}")

    def _warn(self, event: str, reason: str) -> None:
        if (event, reason) not in self._warned:
            self._warned.add((event, reason))
            get_logger("engine").warning(
                event, provider=self.provider.name, model=self.model_name, reason=reason
            )


def _provider(named: str | Provider, **options: Any) -> Provider:
    return named if isinstance(named, Provider) else load_provider(named, **options)


def _limits(value: Any) -> Limits:  # noqa: ANN401 - the check is the point
    if value is not None and not isinstance(value, Limits):
        raise ConfigError(f"`limits` must be a Limits, not {type(value).__name__}")
    return gates.SHARED if value is None else value
