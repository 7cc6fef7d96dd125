"""Which sources of documents to search for a query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

from yesno._checks import checked_count, checked_share
from yesno._log import get_logger
from yesno.errors import ConfigError, QuestionError
from yesno.flow import Flow, Runner, ask_all
from yesno.messages import messages_of
from yesno.questions import YesNo
from yesno.routers.base import Router, attempt, checked_word, failure_word, warn, yes_of
from yesno.templates.layers import QuestionTemplate

__all__ = ["QueryRoute", "QueryRouter"]

R = TypeVar("R")

Fallback: TypeAlias = Literal["none", "all", "fail"]


@dataclass(frozen=True, slots=True)
class QueryRoute(Generic[R]):
    """The sources to search, and how likely each holds something useful."""

    sources: tuple[R, ...]
    """Those that were chosen, in the order configured; empty when none is worth a search."""
    probabilities: tuple[float, ...] = ()
    """Of each configured source (0..1), in their order; empty when the decision failed."""
    why: Literal["chosen", "refused", "undecided", "failed"] = "chosen"
    """How it came to be: chosen by probability, or by falling back because the decision failed that way."""
    error: Exception | None = field(default=None, compare=False)
    """The failure behind a fallback."""

    @property
    def fell_back(self) -> bool:
        """Whether the decision failed and the router's `fallback` applied."""
        return self.why != "chosen"


class QueryRouter(Router, Generic[R]):
    """Choose the sources that are worth searching for a query, each judged on its own.

    Args:
        sources: Name -> description; or pairs of anything, such as a retriever, and its description.
        min_probability: Least probability (0..1) of a source that is searched.
        max_messages: Messages that the model sees, the query included; 1 shows the query alone.
        question_template: Your own question in Jinja; it must name `{{description}}`.
        fallback: What to search when the decision fails or is refused: `"none"`, `"all"`, or `"fail"` to raise.
        model: For calling the router directly.

    Raises:
        ConfigError: There is no source, a description is blank, or a setting is impossible.
    """

    name: ClassVar[str] = "query"

    def __init__(
        self,
        sources: Mapping[R, str] | Iterable[tuple[R, str]],
        *,
        min_probability: float = 0.5,
        max_messages: int = 3,
        question_template: str | None = None,
        fallback: Fallback = "none",
        model: Runner | None = None,
    ) -> None:
        super().__init__(model)
        pairs = _pairs(sources)
        self.sources = tuple(source for source, _ in pairs)
        """What was configured, in order."""
        self.min_probability = checked_share("min_probability", min_probability)
        self.max_messages = checked_count("max_messages", max_messages)
        self.fallback = checked_word("fallback", fallback, ("none", "all", "fail"))
        asked = QuestionTemplate("retriever", question_template, ["description"], ["description"])
        self._questions = {
            f"source{number}": YesNo(asked.text(description=description))
            for number, (_, description) in enumerate(pairs, start=1)
        }

    def __call__(self, query: str, memory: Any = ()) -> Any:  # noqa: ANN401 - see `Runner`
        """Return the `QueryRoute` of a query; to be awaited when the model is asynchronous."""
        return self._run(self.route(query, memory))

    def route(self, query: str, memory: Any = ()) -> Flow[QueryRoute[R]]:  # noqa: ANN401
        """Choose sources for a query.

        Args:
            query: What is searched for.
            memory: The conversation so far, for what the query refers to; it may end with the query.

        Raises:
            QuestionError: The query is blank.
            Refused, UndecidedError, ProviderError: With `fallback="fail"`.
        """
        found = yield from attempt(self._judged(query, memory))
        if isinstance(found, Exception):
            return self.fall_back(found)
        for number, probability in enumerate(found, start=1):
            get_logger("routers").debug("source_judged", number=number, probability=probability)
        chosen = tuple(
            source for source, p in zip(self.sources, found, strict=True) if p >= self.min_probability
        )
        return QueryRoute(chosen, found)

    def fall_back(self, error: Exception) -> QueryRoute[R]:
        """Return what to search after a failed decision; override it for a rule of your own."""
        if self.fallback == "fail":
            raise error
        warn(self.name, self.fallback, error)
        return QueryRoute(
            self.sources if self.fallback == "all" else (),
            why=failure_word(error),
            error=error,
        )

    def _judged(self, query: str, memory: Any) -> Flow[tuple[float, ...]]:  # noqa: ANN401
        outcomes = yield from ask_all(self._questions, self._input(query, memory))
        return tuple(yes_of(outcome) for outcome in outcomes)

    def _input(self, query: str, memory: Any) -> Mapping[str, Any]:  # noqa: ANN401 - any shape of messages
        if not isinstance(query, str) or not query.strip():
            raise QuestionError("the query is blank; give it some words")
        said = [m for m in messages_of(memory) if m.role in ("user", "assistant") and m.has_text]
        if said and said[-1].role == "user" and said[-1].text.strip() == query.strip():
            said.pop()
        before = said[len(said) - self.max_messages + 1 :] if self.max_messages <= len(said) else said
        if self.max_messages == 1 or not before:
            return {"query": query}
        return {"query": query, "messages": [{"role": m.role, "text": m.text} for m in before]}


def _pairs(sources: Any) -> list[tuple[Any, str]]:  # noqa: ANN401 - user input
    try:
        pairs = [
            (source, text) for source, text in (sources.items() if isinstance(sources, Mapping) else sources)
        ]
    except (TypeError, ValueError):
        raise ConfigError(
            "`sources` must be a mapping of names to descriptions, or pairs of a source and its description"
        ) from None
    if not pairs:
        raise ConfigError("there is no source to choose; give at least one, with its description")
    for number, (source, text) in enumerate(pairs, start=1):
        if source is None:
            raise ConfigError(f"source {number} is None; give a name or a retriever")
        if not isinstance(text, str) or not text.strip():
            raise ConfigError(f"the description of source {number} is blank; say what it holds")
        before = [other for other, _ in pairs[: number - 1]]
        if any(source is other or (isinstance(source, str) and source == other) for other in before):
            raise ConfigError(f"source {number} is given twice; name each source once")
    return pairs
