"""What to ask a model in order to learn how its host behaves, without doing any I/O.

About a dozen small requests: an even and an obvious question, the even one again at two temperatures and as it
was, and two questions about one long input. `yesno.engine.diagnosis` judges what was found.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from yesno._frozen import FrozenDict
from yesno.engine.asking import LONG_CAP, LONGER, SHORT_CAP, Asking
from yesno.engine.batches import SINGLE
from yesno.engine.ladder import BLIND
from yesno.errors import DeadlineExceeded, ProviderError, ProviderRejected
from yesno.evidence import Completion, NativeAnswers, NoEvidence, Position, Reply, TokenIds, Usage
from yesno.providers.base import NativeTask, PromptTask, Provider, Task
from yesno.providers.profiles import Strategy
from yesno.questions import Refusal, Undecided, YesNo, YesNoAnswer
from yesno.reading.logprobs import read
from yesno.reading.outcome import Reading, Unread
from yesno.reading.position import thinks
from yesno.reading.samples import read_sample
from yesno.request import DecisionRequest

__all__ = ["WIDE", "Findings", "Probing", "Seen", "Shot", "probe"]

WIDE = 20
"""Alternatives to ask for where fewer are known: the most that most hosts list (2026-11)."""
REPEATS = 3
"""Times that the even question is asked again as it was."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Item:
    """A question and what it is about."""

    given: str
    question: YesNo


EVEN = Item("A fair coin is tossed once.", YesNo("Does it land on heads?"))
OBVIOUS = Item(
    "I was charged twice for my March invoice. Please send one of the payments back.",
    YesNo("Is this about billing?"),
)
_LONG = "\n".join(
    f"Day {day}: the van left the depot in the morning, brought {day + 3} parcels to the shops and came back empty."
    for day in range(1, 57)
)
"""Longer than 1,024 tokens, from which OpenAI keeps a beginning by itself
(https://developers.openai.com/api/docs/guides/prompt-caching; 2026-11)."""
LONG = (
    Item(_LONG, YesNo("Is this about deliveries?")),
    Item(_LONG, YesNo("Did the van come back on every day?")),
)


@dataclass(frozen=True, slots=True)
class Shot:
    """One request: a task, and fields of its body that are sent with other values."""

    task: Task
    fields: Mapping[str, Any] = FrozenDict()


Probing: TypeAlias = Generator[Shot, Reply, T]
"""Yields requests and is sent their replies, or thrown what went wrong."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one reply says about its question."""

    word: str
    """`answered`, or why there is no answer."""
    probability: float | None = None
    mass: float | None = None
    one_sided: bool = False
    """One of the labels has no value at all."""


@dataclass(slots=True)
class Findings:
    """What the replies show; nothing is judged yet."""

    strategies: tuple[Strategy, ...]
    min_label_mass: float
    temperature: float | None = None
    """The temperature that is sent; None when none is."""
    failure: ProviderError | DeadlineExceeded | None = None
    """What ended the check early."""
    replies: int = 0
    model: str | None = None
    usage: Usage = field(default_factory=Usage)
    even: list[Seen] = field(default_factory=list)
    """The first reply to the even question, then its repeats."""
    obvious: Seen | None = None
    sample: Seen | None = None
    """A sampled JSON answer to the obvious question."""
    wanted: int = 0
    """Most alternatives that were asked for and not refused."""
    listed: int = 0
    """Most alternatives that any place listed."""
    wide_refused: bool = False
    hot: Position | None = None
    """First place of a reply at temperature 1."""
    cold: Position | None = None
    """The same at temperature 0.5."""
    temperature_refused: bool = False
    thinks: bool = False
    needs_room: bool = False
    """The even question was answered only with room to think."""
    long_tokens: int | None = None
    """Input tokens of the second long request; None when it was not answered."""
    cached_tokens: int = 0
    """Those of them that came from a prompt cache."""
    long_refused: bool = False

    @property
    def strategy(self) -> Strategy:
        """The best way to a probability that the provider offers."""
        return self.strategies[0]

    @property
    def asked(self) -> list[Seen]:
        """Everything that was asked of the even and the obvious question, without samples."""
        return [*self.even, *([] if self.obvious is None else [self.obvious])]

    @property
    def blind(self) -> bool:
        """Whether the model shows no log-probabilities."""
        return bool(self.asked) and all(seen.word in BLIND for seen in self.asked)


def probe(provider: Provider, asking: Asking, model_name: str) -> Probing[Findings]:
    """Ask everything and return what was found, as far as the provider went along."""
    # an endpoint that may refuse is the server's own affair; what is read in its place has to be known
    prompted = tuple(step for step in asking.ladder.strategies if step != "native")
    found = Findings(prompted or asking.ladder.strategies, asking.min_label_mass)
    check = _Check(provider, asking, model_name, found)
    try:
        yield from check.go()
    except (ProviderError, DeadlineExceeded) as error:
        found.failure = error
    return found


@dataclass(slots=True)
class _Check:
    """One check of one model; each method asks and notes what was found."""

    provider: Provider
    asking: Asking
    model_name: str
    found: Findings
    cap: int = SHORT_CAP

    def go(self) -> Probing[None]:
        found = self.found
        match found.strategy:
            case "sampled":
                found.sample = yield from self.sample(OBVIOUS)
            case "native":
                found.even.append((yield from self.ask(EVEN)))
                found.obvious = yield from self.ask(OBVIOUS)
                yield from self.repeats()
            case "logprobs":
                yield from self.logprobs()
        yield from self.long()

    def logprobs(self) -> Probing[None]:
        found = self.found
        body = self.provider.build(self.task(EVEN))
        found.temperature = body.get("temperature")
        first, position = yield from self.first()
        found.even.append(first)
        found.obvious = yield from self.wide()
        if not found.blind:
            yield from self.temperatures(position)
            yield from self.repeats()
        if "sampled" in found.strategies and not any(seen.word == "answered" for seen in found.asked):
            found.sample = yield from self.sample(OBVIOUS)

    def first(self) -> Probing[tuple[Seen, Position | None]]:
        """Ask the even question, with more room when the reply was cut off."""
        reply = yield from self.shoot(Shot(self.task(EVEN)))
        seen = self.seen(reply, EVEN)
        if seen.word in LONGER:
            self.cap = LONG_CAP
            reply = yield from self.shoot(Shot(self.task(EVEN)))
            seen = self.seen(reply, EVEN)
            self.found.needs_room = seen.word == "answered"
        return seen, _place(reply)

    def wide(self) -> Probing[Seen]:
        """Ask the obvious question for at least `WIDE` alternatives."""
        task, found = self.task(OBVIOUS), self.found
        body, name = self.provider.build(task), self.provider.profile.count_name
        if name in body and not found.blind and self.provider.profile.top_logprobs < WIDE:
            wider = Shot(task, FrozenDict({str(name): WIDE}))
            try:
                reply = yield from self.shoot(wider)
            except ProviderRejected as error:
                found.wide_refused = True
                self.provider.adapt({**body, **wider.fields}, error)  # notes the number that it names
            else:
                found.wanted = WIDE
                return self.seen(reply, OBVIOUS)
        reply = yield from self.shoot(Shot(task))
        found.wanted = self.provider.profile.top_logprobs if name in body else 0
        return self.seen(reply, OBVIOUS)

    def temperatures(self, first: Position | None) -> Probing[None]:
        """Ask the even question at 1, unless it was, and at 0.5."""
        found = self.found
        if found.temperature is None:
            return
        try:
            if found.temperature == 1.0:
                found.hot = first
            else:
                found.hot = _place((yield from self.at_temperature(1.0)))
            found.cold = _place((yield from self.at_temperature(0.5)))
        except ProviderRejected:
            found.temperature_refused = True

    def at_temperature(self, value: float) -> Probing[Reply]:
        return (yield from self.shoot(Shot(self.task(EVEN, SHORT_CAP), FrozenDict({"temperature": value}))))

    def repeats(self) -> Probing[None]:
        for _ in range(REPEATS):
            self.found.even.append((yield from self.ask(EVEN)))

    def long(self) -> Probing[None]:
        found = self.found
        try:
            for item in LONG:
                reply = yield from self.shoot(Shot(self.long_task(item)))
        except ProviderRejected:
            found.long_refused = True
        else:
            if not isinstance(reply.evidence, NoEvidence):
                found.long_tokens, found.cached_tokens = reply.usage.input_tokens, reply.usage.cached_tokens

    def ask(self, item: Item) -> Probing[Seen]:
        reply = yield from self.shoot(Shot(self.task(item)))
        return self.seen(reply, item)

    def sample(self, item: Item) -> Probing[Seen]:
        """Ask for one answer in words."""
        reply = yield from self.shoot(Shot(self.sample_task(item)))
        if not isinstance(reply.evidence, Completion):
            return Seen("no_sample")
        sample = read_sample(reply.evidence, self.asking.labels(item.question, whole=True))
        if sample.label is not None:
            return Seen("answered")
        return Seen("refusal" if sample.declined or sample.filtered else "no_json_answer")

    def shoot(self, shot: Shot) -> Probing[Reply]:
        """Send one request and note what every reply shows."""
        reply = yield shot
        found = self.found
        found.replies += not isinstance(reply.evidence, NoEvidence)
        found.usage += reply.usage
        found.model = reply.model or found.model
        found.thinks |= reply.usage.reasoning_tokens > 0
        if isinstance(reply.evidence, Completion):
            found.thinks |= thinks(reply.evidence)
            for position in reply.evidence.positions or ():
                found.listed = max(found.listed, len(position.top))
        return reply

    def long_task(self, item: Item) -> Task:
        by_sample = self.found.strategy == "sampled" or (self.found.blind and self.found.sample is not None)
        return self.sample_task(item) if by_sample else self.task(item, SHORT_CAP)

    def task(self, item: Item, cap: int | None = None) -> Task:
        """Return a question as a task; where no answer is needed, with a cap of its own."""
        if self.found.strategy == "native":
            return NativeTask(DecisionRequest(item.given, {SINGLE: item.question}), self.model_name)
        profile = self.provider.profile
        return self.asking.task(item.question, item.given, self.model_name, profile, cap=cap or self.cap)

    def sample_task(self, item: Item) -> PromptTask:
        return self.asking.json_task(item.question, item.given, self.model_name, 1)

    def seen(self, reply: Reply, item: Item) -> Seen:
        """Return what a reply says about its question."""
        match reply.evidence:
            case Completion():
                labels = self.asking.labels(item.question)
                result = read(reply.evidence, labels, min_mass=self.asking.min_label_mass)
                if isinstance(result, Reading):
                    one_sided = bool(result.missing)
                    return Seen("answered", result.probabilities[0], result.label_mass, one_sided)
                partial = result.reading if isinstance(result, Unread) else None
                return Seen(result.reason, mass=None if partial is None else partial.label_mass)
            case NoEvidence(reason):
                return Seen(reason)
            case NativeAnswers(answers):
                return _native(answers.get(SINGLE))
            case TokenIds():
                return Seen("missing_answer")


def _native(outcome: object) -> Seen:
    match outcome:
        case YesNoAnswer(probability=p, label_mass=mass):
            return Seen("answered", p, mass)
        case Refusal(reason=reason) | Undecided(reason=reason):
            return Seen(reason)
        case _:
            return Seen("missing_answer")


def _place(reply: Reply) -> Position | None:
    """Return the first place: whatever is written later, its probabilities depend on the prompt alone."""
    completion = reply.evidence
    if not isinstance(completion, Completion) or not completion.positions:
        return None
    return completion.positions[0]
